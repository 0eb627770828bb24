import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.methods.impute import Impute
from tests.methods.tables import BOOK, run

LAWFUL = [
    Impute(columns=["n"], method="median"),
    Impute(columns=["n", "x"], method="mean"),
    Impute(columns=["h"], method="mode"),
    Impute(columns=["h"], method="category", value="none"),
]


@pytest.mark.parametrize(
    ("column", "method", "filled"),
    [
        ("age", "median", [20, 30, 30, 41]),
        ("age", "mean", [20, 30, 91 / 3, 41]),
        ("size", "median", [1.5, 2, 2, 2.5]),
        ("city", "mode", ["a", "b", "a", "a"]),
        ("city", "category", ["a", "b", "a", "missing"]),
    ],
)
def test_impute(column, method, filled):
    ran = run(Impute(columns=[column], method=method))
    assert ran.after.frame[column].to_list() == filled
    assert not ran.after.codebook[column].missing


def test_the_first_of_several_modes_is_taken():
    frame = pl.DataFrame({"city": ["b", "a", None]})
    assert (
        run(Impute(columns=["city"], method="mode"), frame, BOOK.only(["city"])).after.frame["city"].to_list()[2] == "a"
    )


def test_impute_needs_something_to_go_by():
    frame = pl.DataFrame({"size": pl.Series([None, None], dtype=pl.Float64)})
    with pytest.raises(DataError, match="no value at all"):
        run(Impute(columns=["size"], method="median"), frame, BOOK.only(["size"]))
    with pytest.raises(DataError, match="cannot take the category"):
        run(Impute(columns=["age"], method="category"))
    assert "averages numbers" in Impute(columns=["city"], method="mean").check(BOOK)[0]
