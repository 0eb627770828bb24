"""Trees against a search of all splits."""

import itertools

import numpy as np
import pytest

from sfumato.kernels.synthesis.tree import grow, leaf_of


def impurity(y, classes, w):
    if not len(y):
        return 0.0
    if not classes:
        return float(w @ (y - np.average(y, weights=w)) ** 2)
    shares = np.bincount(y.astype(int), w, classes)
    return float(w.sum() - (shares**2).sum() / w.sum())


def gain(left, y, classes, w):
    return impurity(y, classes, w) - impurity(y[left], classes, w[left]) - impurity(y[~left], classes, w[~left])


def searched(codes, categorical, y, classes, min_leaf, w):
    """The largest gain of any split of the root, over all sets of levels."""
    best = 0.0
    for own, unordered in zip(codes, categorical, strict=True):
        held = np.unique(own)
        if unordered:
            sets = [s for r in range(1, len(held)) for s in itertools.combinations(held, r)]
        else:
            sets = [held[: t + 1] for t in range(len(held) - 1)]
        for chosen in sets:
            left = np.isin(own, chosen)
            if min_leaf <= left.sum() <= len(y) - min_leaf:
                best = max(best, gain(left, y, classes, w))
    return best


def of_root(tree, codes):
    """Which rows the root sends left."""
    j = tree.column[0]
    assert j >= 0
    return tree.sides[tree.cut[0] + codes[j]] == 0 if tree.categorical[j] else codes[j] <= tree.cut[0]


def invented(seed, n=80):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 6, n), rng.integers(0, 5, n), rng.integers(0, 9, n)]).astype(np.uint16)
    return rng, codes, np.array([6, 5, 9]), np.array([False, True, False])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [0, 2])
@pytest.mark.parametrize("seed", range(8))
def test_no_split_is_better(seed, classes, weighted):
    rng, codes, levels, categorical = invented(seed)
    n = codes.shape[1]
    y = rng.integers(0, 2, n).astype(float) if classes else np.round(rng.normal(size=n) + codes[1] % 3, 2)
    w = rng.exponential(size=n) if weighted else np.ones(n)
    tree = grow(codes, levels, categorical, y, classes, min_leaf=7, weights=w if weighted else None)
    assert gain(of_root(tree, codes), y, classes, w) == pytest.approx(
        searched(codes, categorical, y, classes, 7, w), rel=1e-9
    )


@pytest.mark.parametrize("seed", range(8))
def test_of_many_classes_cuts_of_numbers_are_best_and_sets_nearly(seed):
    rng, codes, levels, _ = invented(seed)
    y = ((codes[1] + rng.integers(0, 3, codes.shape[1])) % 4).astype(float)
    ones = np.ones(len(y))
    ordered = np.zeros(3, dtype=bool)
    tree = grow(codes, levels, ordered, y, 4, min_leaf=5)
    assert gain(of_root(tree, codes), y, 4, ones) == pytest.approx(searched(codes, ordered, y, 4, 5, ones))
    tree = grow(codes[1:2], levels[1:2], np.array([True]), y, 4, min_leaf=5)
    best = searched(codes[1:2], [True], y, 4, 5, ones)
    assert gain(of_root(tree, codes[1:2]), y, 4, ones) >= 0.8 * best


@pytest.mark.parametrize("min_leaf", [1, 5, 20])
def test_leaves_hold_the_rows_that_fall_into_them(min_leaf):
    rng, codes, levels, categorical = invented(3, 400)
    y = rng.normal(size=400)
    tree = grow(codes, levels, categorical, y, min_leaf=min_leaf)
    fallen = leaf_of(tree, codes)
    for leaf in np.flatnonzero(tree.column < 0):
        held = tree.rows[tree.first[leaf] : tree.last[leaf]]
        assert len(held) >= min_leaf
        assert held.tolist() == np.flatnonzero(fallen == leaf).tolist()
    assert sorted(tree.rows) == list(range(400))


def test_whole_weights_are_repeated_rows():
    rng, codes, levels, categorical = invented(5)
    y = rng.normal(size=codes.shape[1])
    times = rng.integers(1, 4, codes.shape[1])
    one = grow(codes, levels, categorical, y, min_leaf=1, weights=times.astype(float))
    more = grow(np.repeat(codes, times, axis=1), levels, categorical, np.repeat(y, times), min_leaf=1)
    np.testing.assert_array_equal(of_root(one, codes), of_root(more, codes))


def test_a_level_of_which_there_is_no_row_goes_with_the_most():
    codes = np.array([[0] * 5 + [1] * 20], np.uint16)
    tree = grow(codes, np.array([3]), np.array([True]), np.r_[np.zeros(5), np.ones(20)], min_leaf=5)
    here, unseen = leaf_of(tree, np.array([[1, 2]], np.uint16))
    assert here == unseen


@pytest.mark.parametrize("classes", [0, 3])
def test_what_is_all_alike_is_one_leaf(classes):
    codes = np.arange(40, dtype=np.uint16)[None]
    tree = grow(codes, np.array([40]), np.array([False]), np.ones(40), classes)
    assert tree.column.tolist() == [-1]
    nothing = grow(codes[:0], np.zeros(0, np.int64), np.zeros(0, bool), np.arange(40) % 3 * 1.0, classes)
    assert nothing.column.tolist() == [-1]
    assert nothing.last[0] == 40


def test_of_equal_splits_the_first_columns_is_taken():
    own = np.tile([0, 0, 0, 1, 1, 1], 4).astype(np.uint16)
    tree = grow(np.stack([own, own]), np.array([2, 2]), np.array([False, True]), own.astype(float), 2)
    assert tree.column[0] == 0
