import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files.table import checked, checked_names, finite, listed, opening, peek, unheld
from sfumato.errors import DataError, FileError


def test_many_columns_are_not_all_listed():
    assert listed([f"c{i}" for i in range(50)]).count("'c") == 10
    assert "others" in listed([f"c{i}" for i in range(11)])
    assert "others" not in listed([f"c{i}" for i in range(10)])


@pytest.mark.parametrize("names", [["a", ""], ["a", "  "], ["a", "b", "a"], ["a", 1]])
def test_names_must_be_different_texts(names):
    with pytest.raises(DataError, match="name"):
        checked_names(names)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
@pytest.mark.parametrize("bad", [float("inf"), float("-inf")])
def test_infinite_values_are_refused_by_column_only(dtype, bad):
    frame = pl.DataFrame({"ok": [1.0, 2.0], "income": [123456.75, bad]}, schema={"ok": dtype, "income": dtype})
    with pytest.raises(DataError, match="'income'") as caught:
        finite(frame)
    assert "123456" not in str(caught.value)
    assert "'ok'" not in str(caught.value)


def test_nan_is_null():
    assert checked(pl.DataFrame({"a": [1.0, float("nan"), None]}))["a"].to_list() == [1.0, None, None]


@pytest.mark.parametrize("column", [[[1], [2]], [{"a": 1}, None], [b"x", b"y"]])
def test_nested_columns_are_refused(column):
    with pytest.raises(DataError, match="'deep'"):
        checked(pl.DataFrame({"a": [1, 2], "deep": column}))


@pytest.mark.parametrize("frame", [pl.DataFrame(), pl.DataFrame({"a": []}, schema={"a": pl.Int64})])
def test_tables_without_rows_are_refused(frame):
    with pytest.raises(DataError, match="rows"):
        checked(frame)


def test_every_fact_of_a_codebook_that_is_not_held_is_told():
    variable = Variable(
        label="Age",
        labels={1: "one"},
        missing=[-9],
        unit="years",
        range=(0, 120),
        order=(1, 2),
        hierarchy={1: ("low",)},
        measure="scale",
        format="F8.0",
    )
    facts = set(Variable.model_fields) - {"role", "sensitive", "kind", "missing_from_file", "multiple"}
    assert len(unheld(Codebook({"age": variable}), (), ".x")) == len(facts)
    assert unheld(Codebook({"age": variable}), sorted(facts), ".x") == ()
    assert unheld(Codebook({"age": Variable()}), (), ".x") == ()


def test_a_library_text_is_never_passed_on(tmp_path):
    for fault in (
        ValueError("PLANTED"),
        OSError("PLANTED"),
        UnicodeError("PLANTED"),
        pl.exceptions.ComputeError("PLANTED"),
    ):
        with pytest.raises(FileError) as caught, opening(tmp_path / "a.csv"):
            raise fault
        assert "PLANTED" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


def test_an_interruption_passes_through(tmp_path):
    with pytest.raises(KeyboardInterrupt), opening(tmp_path / "a.csv"):
        raise KeyboardInterrupt


def test_what_is_no_file_is_told(tmp_path):
    (tmp_path / "empty").touch()
    for path, word in ((tmp_path / "none", "There is no"), (tmp_path, "is a folder"), (tmp_path / "empty", "is empty")):
        with pytest.raises(FileError, match=word):
            peek(path)


def test_a_file_without_permission(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    monkeypatch.setattr("pathlib.Path.open", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "denied")))
    with pytest.raises(FileError, match="no permission"):
        peek(path)
