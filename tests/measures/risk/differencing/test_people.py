import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure, Imputed
from sfumato.errors import DataError
from sfumato.measures.risk.differencing.people import KEY, tell_apart

BOOK = Codebook({"id": Variable(role="record"), "w": Variable(role="weight")})
NOW = pl.DataFrame({"id": [1, 2, 3], "sex": ["f", "m", "f"], "town": ["A", "A", "B"], "pay": [1.0, 2.0, 3.0]})
THEN = pl.DataFrame({"id": ["3", "4"], "sex": ["f", "m"], "town": ["B", "B"], "pay": [3.5, 4.0]})
TRUTH = pl.concat([NOW.with_columns(pl.col("id").cast(pl.String)), THEN.filter(pl.col("id") == "4")])
SAID = [Disclosure([Imputed(columns=("pay",), method="median")])] * 2


def test_people_are_known_by_their_ids_whatever_their_type():
    told = tell_apart([NOW, THEN], [TRUTH, TRUTH], SAID, BOOK, "id")
    assert [t[KEY].to_list() for t in told.tables] == [["1", "2", "3"], ["3", "4"]]
    assert set(told.columns) == {"sex", "town", "pay"}


def test_without_ids_by_what_no_step_masked_and_none_who_are_alike():
    tables = [NOW.drop("id"), THEN.drop("id")]
    told = tell_apart(tables, [TRUTH.drop("id")] * 2, SAID, Codebook(), None)
    assert told.by == ("sex", "town")
    assert told.columns == ("pay",)
    assert told.tables[1][KEY].to_list() == [told.tables[0][KEY][2], "m\x1fB"]
    twins = pl.concat([NOW, NOW.head(1)]).drop("id")
    again = tell_apart([twins, tables[1]], [TRUTH.drop("id")] * 2, SAID, Codebook(), None)
    assert again.tables[0][KEY].null_count() == 2


@pytest.mark.parametrize(
    ("tables", "record", "says"),
    [
        ([NOW, THEN.drop("id")], "id", "not in all releases"),
        ([NOW.with_columns(id=pl.lit(1)), THEN], "id", "more than once"),
        ([NOW.with_columns(id=pl.lit(None)), THEN], "id", "missing ids"),
        ([NOW.select("pay"), THEN], None, "Nothing tells"),
    ],
)
def test_what_cannot_be_told_apart(tables, record, says):
    with pytest.raises(DataError, match=says) as told:
        tell_apart(tables, [TRUTH, TRUTH], SAID, BOOK, record)
    assert "'4'" not in str(told.value)
