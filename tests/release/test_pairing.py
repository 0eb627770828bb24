import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError
from sfumato.release.pairing import numeric_columns, pair_tables

BEFORE = pl.DataFrame({"id": [3, 1, 2], "x": [30.0, 10.0, 20.0], "ok": [True, False, True]})
AFTER = pl.DataFrame({"id": [2, 3, 1], "x": [21.0, 31.0, 11.0], "ok": [1, 1, 0]})


def pair(before=BEFORE, after=AFTER, **how):
    return pair_tables(before, after, Codebook(), columns=("x",), **how)


def test_records_are_joined_on_their_ids():
    joined = pair(record="id")
    assert joined.aligned
    assert joined.before["x"].to_list() == [10, 20, 30]
    assert joined.after["x"].to_list() == [11, 21, 31]


def test_records_of_one_table_only_are_left_out_and_it_is_said():
    joined = pair(after=AFTER.head(2), record="id")
    assert joined.before["id"].to_list() == [2, 3]
    assert joined.notes


def test_row_order_is_taken_only_when_asked():
    assert not pair().aligned
    assert pair(after=AFTER.drop("id"), align="row-order").after["x"].to_list() == [21, 31, 11]
    with pytest.raises(DataError, match="equal numbers of rows"):
        pair(after=AFTER.head(2), align="row-order")


def test_rows_that_an_id_shows_to_be_in_another_order_are_not_aligned():
    with pytest.raises(DataError, match="column 'id' holds the same ids"):
        pair(align="row-order")
    same = AFTER.with_columns(id=BEFORE["id"])
    assert pair(after=same, align="row-order").after["x"].to_list() == [21, 31, 11]


def test_yes_and_no_compare_with_one_and_zero():
    joined = pair(record="id")
    assert joined.before["ok"].to_list() == joined.after["ok"].to_list()


@pytest.mark.parametrize("dtype", [pl.String, pl.Int8, pl.Float32])
def test_ids_that_are_equal_are_joined_whatever_their_type(dtype):
    joined = pair(after=AFTER.with_columns(pl.col("id").cast(dtype)), record="id")
    assert joined.before["id"].to_list() == [1, 2, 3]
    assert joined.after["x"].to_list() == [11, 21, 31]


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (AFTER.with_columns(id=pl.Series([2, 2, 1])), "more than once"),
        (AFTER.with_columns(id=pl.Series([2, None, 1])), "missing ids"),
        (AFTER.with_columns(pl.col("id") + 10), "stands in both"),
        (AFTER.with_columns(pl.format("00{}", "id").alias("id")), "stands in both"),
        (AFTER.drop("x"), "no column 'x' in the protected table"),
        (AFTER.drop("id"), "no column 'id' in the protected table"),
    ],
)
def test_what_cannot_be_joined(after, says):
    with pytest.raises(DataError, match=says) as caught:
        pair(after=after, record="id")
    assert "31" not in str(caught.value)


def test_which_columns_are_measured():
    book = Codebook(
        {
            "id": Variable(role="record", kind="integer"),
            "age": Variable(role="key", kind="integer"),
            "bmi": Variable(role="key", kind="continuous"),
            "sex": Variable(role="key", kind="categorical"),
            "w": Variable(role="weight", kind="continuous"),
        }
    )
    assert numeric_columns(book, list(book)) == ("age", "bmi")
