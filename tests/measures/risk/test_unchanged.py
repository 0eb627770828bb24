import datetime

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.risk.unchanged import findings, unchanged

DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 5], 0.75),
        ([1, 2, 3, 4], [1.0, 2.5, 3.0, 4.0], 0.75),
        ([1.5, float("nan"), None, 2.0], [1.5, 7.0, 8.0, None], 0.5),
        (["a", "b", None], ["a", "c", "d"], 0.5),
        ([True, False], [1, 1], 0.5),
        ([1, 2], ["1", "two"], 0.5),
        ([DAY, DAY], [DAY, None], 0.5),
        ([2**53, 2**53 + 1], [2**53, 2**53], 0.5),
    ],
)
def test_share_of_cells_that_had_a_value(before, after, share):
    assert unchanged(pl.DataFrame({"v": before}), pl.DataFrame({"v": after}), "v") == share


def test_categories_are_compared_by_name():
    before = pl.DataFrame({"v": pl.Series(["a", "b", "c"], dtype=pl.Categorical)})
    after = pl.DataFrame({"v": pl.Series(["c", "b", "c"], dtype=pl.Enum(["c", "b"]))})
    assert unchanged(before, after, "v") == pytest.approx(2 / 3)


def test_a_missing_code_is_no_value():
    book = Codebook({"v": Variable(missing=[-9])})
    assert unchanged(pl.DataFrame({"v": [1, -9, 3]}), pl.DataFrame({"v": [1, -9, 4]}), "v", book) == 0.5


@pytest.mark.parametrize("values", [[], [None, None]])
def test_no_value(values):
    frame = pl.DataFrame({"v": pl.Series(values, dtype=pl.Float64)})
    assert unchanged(frame, frame, "v") is None
    found = findings(Pair(frame, frame, Codebook(), ("v",), aligned=True))
    assert (found[0].value, found[0].baseline) == (None, None)
    assert "'v'" in found.notes[0]


def test_one_line_for_each_column():
    before = pl.DataFrame({"a": [1, 2], "b": ["x", "y"], "gone": [1, 1]})
    after = pl.DataFrame({"a": [1, 3], "b": ["x", "y"]})
    pair = Pair(before, after, Codebook(), ("a",), aligned=True)
    assert [(f.variable, f.value, f.baseline) for f in findings(pair)] == [("a", 0.5, 1.0)]
    assert [f.variable for f in findings(pair, ["a", "b", "gone"])] == ["a", "b"]


def test_tables_that_are_not_joined():
    frame = pl.DataFrame({"a": [1.0]})
    found = findings(Pair(frame, frame, Codebook(), ("a",)))
    assert not len(found)
    assert "not joined" in found.notes[0]
