import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.query import COUNT
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.known import Known
from sfumato.measures.risk.linkers.alike import alike, common, of_nobody
from sfumato.measures.subject import Subject


@pytest.mark.parametrize(
    ("people", "records"),
    [
        (pl.Series([1, 2, None]), pl.Series([2.0, float("nan"), 3.0])),
        (pl.Series(["x", "y", None]), pl.Series(["y", None, "z"], dtype=pl.Categorical)),
        (pl.Series([0.1, 0.2, None], dtype=pl.Float32), pl.Series([0.2, None, 0.3])),
        (pl.Series([False, True, None]), pl.Series([1, None, 7])),
    ],
)
def test_equal_values_are_equal_whatever_their_type(people, records):
    found = alike(pl.DataFrame({"a": people}), pl.DataFrame({"a": records}), ["a"])
    assert found.people[1] == found.records[0]
    assert found.people[2] == found.records[1]
    assert found.classes == len({*found.people, *found.records}) == 4
    assert (found.unprotected().records == found.people).all()


def test_all_keys_count():
    people = pl.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"]})
    found = alike(people, people.reverse(), ["a", "b"])
    assert found.classes == 3
    assert found.people.tolist() == found.records[::-1].tolist()


def test_groups_with_counts_stand_for_their_rows():
    people = pl.DataFrame({"a": [1, 1, 2, 3, 3, 3], "b": ["x", "x", "x", "y", "y", None]})
    records = pl.DataFrame({"a": [1, 2, 2, 4], "b": ["x", "x", "x", "y"]})
    rows = alike(people, records, ["a", "b"])
    groups = alike(*(t.group_by("a", "b").agg(pl.len().alias(COUNT)) for t in (people, records)), ["a", "b"])
    pairs = [sorted(zip(*(size.tolist() for size in found.sizes), strict=True)) for found in (rows, groups)]
    assert pairs[0] == pairs[1] == [(0, 1), (1, 0), (1, 2), (2, 0), (2, 1)]
    alone = [found.share((found.sizes[0] == 1)[found.people]) for found in (rows, groups)]
    assert alone == [2 / 6, 2 / 6]


def test_what_both_have():
    known = Known(pl.DataFrame({"a": [1], "b": [1]}), pl.DataFrame({"b": [1]}), Codebook(), ("a", "b"))
    assert common(known, known.keys) == ("b",)


def test_whose_records_are_nobody_s():
    table = pl.DataFrame({"a": [1]})
    for aligned in (True, False):
        known = Known(table, table, Codebook(), ("a",), aligned)
        assert of_nobody(Subject(PolarsDataset(table, Codebook()), intruder=known)) is not aligned
    assert not of_nobody(Subject(PolarsDataset(table, Codebook())))
