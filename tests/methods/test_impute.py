import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
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


def treated(n=60):
    """Who was not treated did not wait."""
    return pl.DataFrame(
        {
            "treated": ["yes", "no", "yes"] * (n // 3),
            "sex": ["f", "m"] * (n // 2),
            "days": [10, None, 30] * (n // 3),
            "size": [1.5, 2.5, None, 4.5] * (n // 4),
        }
    )


def test_gaps_that_follow_from_another_column_are_told():
    book = Codebook(
        {
            "treated": Variable(kind="categorical"),
            "sex": Variable(kind="categorical"),
            "days": Variable(kind="integer"),
            "size": Variable(kind="continuous"),
        }
    )
    (warning,) = run(Impute(columns=["days", "size"], method="median"), treated(), book).steps[0].warnings
    assert warning == ("days: its gaps follow from treated, so that what is filled in gainsays it. Leave them as gaps.")
    assert (
        not run(Impute(columns=["days"], method="median"), treated().drop("treated"), book.without("treated"))
        .steps[0]
        .warnings
    )
    assert not run(Impute(columns=["days"], method="median"), treated(12), book).steps[0].warnings, "too few to tell"
