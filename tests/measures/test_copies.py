"""Copies beside one another."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.pair import Pair
from sfumato.measures.copies import MOST_PAIRS, Copies, neighbours


def copies(m, record=None):
    original = pl.DataFrame({"id": [1, 2, 3], "x": [0.0, 1.0, 2.0]})
    made = [original.with_columns(x=pl.col("x") + i + 1) for i in range(m)]
    return Copies(tuple(Pair(original, copy, Codebook(), ("x",), (), True, record) for copy in made), True)


@pytest.mark.parametrize(("m", "pairs"), [(1, 0), (2, 1), (3, 3), (5, 5), (40, MOST_PAIRS)])
def test_each_copy_stands_beside_the_next(m, pairs):
    told = neighbours(m)
    assert len(told) == pairs == len(set(told))
    assert all(i != j and max(i, j) < m for i, j in told)


def test_a_pair_of_copies_has_one_in_the_place_of_the_original():
    first = next(copies(3).against())
    np.testing.assert_array_equal(first.after["x"] - first.before["x"], 1.0)
    assert first.aligned
    assert not next(copies(3, "id").against()).aligned  # their ids tell who is who


def test_what_is_the_same_for_all_is_computed_once():
    asked = []
    of = copies(2)
    assert [of.once("a", lambda: asked.append(1) or 7) for _ in range(3)] == [7, 7, 7]
    assert asked == [1]
