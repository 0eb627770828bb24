from collections import Counter

import numpy as np
import pytest

from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns, check, class_of_rows, grouped


@pytest.mark.parametrize("keys", [1, 3, 30])
@pytest.mark.parametrize("sensitive", [False, True])
def test_grouping_counts_as_a_dictionary_does(keys, sensitive):
    """30 keys of 100 values do not go into one 64-bit word."""
    rng = np.random.default_rng(keys)
    codes = rng.integers(0, 100, (40, keys))[rng.integers(0, 40, 500)]
    values = rng.integers(-1, 2, (500, 2)) if sensitive else None
    patterns, which = grouped(codes, values)
    whole = codes if values is None else np.hstack([codes, values])
    right = Counter(map(tuple, whole.tolist()))
    mine = np.hstack([patterns.codes, patterns.values])
    assert {tuple(row): int(c) for row, c in zip(mine.tolist(), patterns.counts, strict=True)} == right
    assert (mine[which] == whole).all()


def test_classes_are_numbered_in_order():
    which, first = class_of_rows([np.array([2, 0, 2, 0]), np.array([1, 5, 0, 5])])
    assert which.tolist() == [2, 0, 1, 0]
    assert first.tolist() == [1, 2, 0]


def test_histograms_leave_out_records_without_a_value():
    patterns = Patterns(np.zeros((3, 1), dtype=np.int64), np.array([1, 2, 4]), np.array([[-1], [0], [2]]))
    assert [h.tolist() for h in patterns.histograms()] == [[2, 0, 4]]
    assert patterns.only(np.array([True, False, True])).records == 5


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="counts"):
        Patterns(np.zeros((3, 1), dtype=np.int64), np.ones(2, dtype=np.int64))
    with pytest.raises(ValueError, match="sensitive"):
        Patterns(np.zeros((3, 1), dtype=np.int64), np.ones(3, dtype=np.int64), np.zeros((2, 1), dtype=np.int64))


@pytest.mark.parametrize(
    ("codes", "counts", "word"),
    [([[2]], [1], "key number 0"), ([[-1]], [1], "codes"), ([[0]], [0], "counts"), ([[0, 0]], [1], "hierarchies")],
)
def test_data_and_hierarchies_go_together(codes, counts, word):
    h = Levels((np.arange(2), np.zeros(2, dtype=np.int64)))
    with pytest.raises(ValueError, match=word):
        check(Patterns(np.array(codes), np.array(counts)), [h])


def test_no_records():
    with pytest.raises(ValueError, match="counts"):
        check(Patterns(np.empty((0, 1), dtype=np.int64), np.empty(0, dtype=np.int64)), [Levels((np.arange(1),))])
