import datetime
import itertools

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.folds import distinct
from sfumato.measures.folds.distinct import COUNTED, different, told_different

DAY = datetime.date(2020, 1, 1)
COLUMNS = {
    "whole": [1, 1, -1, 2**60, 2**60 + 1, None],
    "real": [0.0, -0.0, float("nan"), 1.5, 1e300, None],
    "text": ["1", "01", "", None, "1", "é"],
    "yes": [True, False, None, True, True, True],
    "day": [DAY, DAY, None, DAY + datetime.timedelta(days=1), None, None],
}
EXPECTED = {"whole": 4, "real": 3, "text": 4, "yes": 2, "day": 2}


def count(frames, columns, book=None):
    asked = different(columns, book or Codebook())
    return told_different(asked.merge(pl.concat([asked.f(frame) for frame in frames])), columns)


@pytest.mark.parametrize("cuts", [(), (2,), (1, 2, 3, 4, 5)])
def test_values_of_every_type_by_hand_in_any_parts(cuts):
    frame = pl.DataFrame(COLUMNS)
    ends = [0, *cuts, frame.height]
    parts = [frame.clear(), *(frame[a:b] for a, b in itertools.pairwise(ends))]
    assert count(parts, list(COLUMNS)) == EXPECTED


def test_other_types():
    frame = pl.DataFrame({"a": ["x", "y", "x"], "b": ["x", "y", "x"], "c": [1, 2, 2], "d": [1, 2, 3]})
    frame = frame.with_columns(
        pl.col("a").cast(pl.Categorical),
        pl.col("b").cast(pl.Enum(["x", "y"])),
        pl.col("c").cast(pl.UInt64) + 2**63,
        pl.col("d").cast(pl.Decimal(10, 2)),
        e=pl.Series([0.1, 0.1, 0.2], dtype=pl.Float32),
    )
    assert count([frame], list("abcde")) == {"a": 2, "b": 2, "c": 2, "d": 3, "e": 2}


def test_codes_of_missing_values_are_none():
    book = Codebook({"a": Variable(missing=[-9, {"low": 90, "high": 99}])})
    assert count([pl.DataFrame({"a": [1, -9, 95, 3]})], ["a"], book) == {"a": 2}


def test_many_values_are_counted_up_to_a_bound_and_then_estimated(monkeypatch):
    """The share of the words' range that the k smallest fill is k/n, with a standard error of n/√k."""
    n = COUNTED + 1000
    frame = pl.DataFrame({"a": np.arange(n)})
    assert count([frame[:COUNTED]], ["a"]) == {"a": COUNTED}
    monkeypatch.setattr(distinct, "COUNTED", 4096)
    one, parts = count([frame], ["a"])["a"], count([frame[40_000:], frame[:50_000]], ["a"])["a"]
    assert one == parts
    assert abs(one - n) < 5 * n / 64
