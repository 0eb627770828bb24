"""From a data set to codes; what is wrong is said without a value of the data."""

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError, FileError
from sfumato.gate.margin import Node
from sfumato.gate.reading import MISSING, read_levels, read_never, records_of

ROWS = pl.DataFrame({"id": [1, 2, 3], "A": ["planted1", "planted2", "planted1"], "B": [1.0, None, 2.0], "n": [1, 0, 4]})


def refused(match, **keywords):
    with pytest.raises(DataError, match=match) as caught:
        records_of(keywords.pop("frame", ROWS), **keywords)
    assert "planted" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_counts_and_rows_say_the_same():
    table = pl.DataFrame({"A": ["x", "y", "x"], "n": [2, 0, 1]})
    people = pl.DataFrame({"A": ["x", "x", "x"]})
    one, other = records_of(table, count="n").scope(["v1"]), records_of(people).scope(["v1"])
    assert one.total == other.total == 3
    assert one.structure.codes["A"] == ("x", "y")  # a cell of nobody keeps its code
    assert one.margin([Node("A")]).count.tolist() == [3, 0]


def test_missing_values_are_a_code():
    told = records_of(ROWS.with_columns(pl.Series("B", [float("nan"), None, 2.0])))
    assert told.structure.codes["B"][-1] == MISSING
    assert told.scope(["v1"]).margin([Node("B")]).count.tolist() == [1, 2]


@pytest.mark.parametrize("n", [[1, 2, -1], [1, 2, 0.5], [1, 2, None], [1.0, 2.0, float("inf")], ["planted", "2", "3"]])
def test_counts_are_whole_numbers(n):
    refused("counts", frame=ROWS.with_columns(pl.Series("n", n, strict=False)), count="n")


def test_unknown_columns():
    refused("no column 'm'", count="m")
    refused("leaves codes", levels={"A": {"top": {"planted1": "g"}}})
    refused("no variable with codes", levels={"Q": {"top": {}}})
    refused("occurs", never=[{"A": "planted1", "B": "1"}])
    refused("a variable 'Q'", never=[{"Q": "1"}])
    refused("begin with @", frame=ROWS.rename({"A": "@A"}))
    refused("has the name", cohorts={"A": "n > 1"})


def second(**columns):
    return [("v2", ROWS.with_columns(**{name: pl.Series(name, own) for name, own in columns.items()}))]


def test_versions_that_cannot_be_paired():
    refused("record id", versions=second())
    refused("missing or stand twice", record="id", versions=second(id=[1, 1, 2]))
    refused("missing or stand twice", record="id", versions=second(id=[1, None, 2]))
    refused("same columns", record="id", versions=[("v2", ROWS.drop("B"))])
    refused("no column 'key'", record="key", versions=second())
    refused("another kind", record="id", versions=second(id=["planted", "b", "c"]))
    refused("another kind", record="id", versions=second(n=[0.5, 1.0, 2.0]))
    assert records_of(ROWS, record="id", versions=second(n=[1.0, 0.0, 4.0])).arrivals.sum() == 0


def test_cells_of_two_tables_of_counts_share_as_many_as_both_have():
    first = pl.DataFrame({"A": ["x", "y", "z"], "n": [5, 3, 0]})
    later = pl.DataFrame({"A": ["x", "y", "w"], "n": [7, 1, 2]})
    told = records_of(first, count="n", versions=[("v2", later)])
    assert told.arrivals.tolist() == [[0, 2], [4, 0]]
    assert told.structure.codes["A"] == ("w", "x", "y", "z")
    assert [told.scope(v).total for v in (["v1"], ["v2"], ["v1", "v2"])] == [8, 10, 12]


def test_a_cohort_has_the_codes_that_it_could_have():
    rows = pl.DataFrame({"A": [1, 2], "B": [1, 2]})  # nobody has A 1 and B 2
    told = records_of(rows, cohorts={"same": "A == B", "sum": "A + B"})
    assert told.structure.codes["same"] == ("false", "true")
    assert told.structure.codes["sum"] == ("2", "3", "4")
    cells = told.structure.impossible([Node("A"), Node("sum")])
    assert cells.tolist() == [[False, False, True], [True, False, False]]


def test_levels_are_read_from_files_beside(tmp_path):
    (tmp_path / "bands.csv").write_text("code,group\n1,low\n2,high\n")
    (tmp_path / "levels.yaml").write_text("A:\n  band: bands.csv\n  own: {1: a, 2: b}\n")
    wanted = {"A": {"band": {"1": "low", "2": "high"}, "own": {"1": "a", "2": "b"}}}
    assert read_levels(tmp_path / "levels.yaml", tmp_path / "elsewhere") == wanted
    assert read_levels({"A": {"band": "bands.csv"}}, tmp_path)["A"]["band"] == wanted["A"]["band"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("A: [", DataError),
        ("A: 5", DataError),
        ("- A", DataError),
        ("A: {b: 5}", DataError),
        ("A: {b: no.csv}", FileError),
    ],
)
def test_levels_that_cannot_be_read(tmp_path, text, error):
    (tmp_path / "levels.yaml").write_text(text)
    with pytest.raises(error):
        read_levels(tmp_path / "levels.yaml", tmp_path)
    with pytest.raises(FileError):
        read_levels(tmp_path / "none.yaml", tmp_path)


@pytest.mark.parametrize("text", ["code\n1\n", "code,group\nplanted,a\nplanted,b\n", "code,group\nplanted,\n"])
def test_groups_that_cannot_be_read(tmp_path, text):
    (tmp_path / "bands.csv").write_text(text)
    with pytest.raises(DataError) as caught:
        read_levels({"A": {"band": "bands.csv"}}, tmp_path)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "A", "A=", "=x", "A=x,", "A=x,B"])
def test_a_never_out_of_form(text):
    with pytest.raises(DataError, match="written"):
        read_never(text)


def test_codes_that_mean_missing_and_numbers_that_are_categories():
    frame = pl.DataFrame({"x": [1, -9, None], "ward": [1, 2, 3], "age": [30, 40, 50]})
    book = Codebook({"x": Variable(missing=[-9]), "ward": Variable(kind="categorical")})
    told = records_of(frame, book)
    assert told.structure.missing["x"] == {"-9", MISSING}
    assert told.structure.missing["age"] == frozenset()
    assert told.factors == {"ward"}
