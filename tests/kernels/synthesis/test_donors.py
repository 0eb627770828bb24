"""Which values leaves give."""

import numpy as np
import pytest

from sfumato.kernels.synthesis.donors import Donors
from sfumato.kernels.synthesis.tree import grow, leaf_of


def made(weights=None, n=300, seed=1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (1, n)).astype(np.uint16)
    y = codes[0] * 10.0 + rng.integers(0, 5, n)
    tree = grow(codes, np.array([4]), np.array([True]), y, min_leaf=20, weights=weights)
    return Donors(tree, y, weights), tree, codes, y


@pytest.mark.parametrize("depth", [4, 40])
def test_values_come_from_the_own_leaf(depth):
    """Also of a deep tree, whose leaves are not numbered as they lie."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, depth, (2, 900)).astype(np.uint16)
    y = np.sin(codes[0]) + codes[1] % 7 + rng.normal(size=900)
    tree = grow(codes, np.array([depth, depth]), np.array([False, True]), y, min_leaf=5)
    donors = Donors(tree, y)
    leaf = leaf_of(tree, codes)
    drawn = donors.draw(leaf, rng.random(len(y)))
    for one in np.unique(leaf):
        assert set(drawn[leaf == one]) <= set(y[leaf == one])


def test_each_donor_is_as_likely():
    donors, tree, codes, y = made()
    leaf = leaf_of(tree, codes)[0]
    held = np.sort(y[leaf_of(tree, codes) == leaf])
    u = (np.arange(len(held)) + 0.5) / len(held)
    np.testing.assert_array_equal(donors.draw(np.full(len(held), leaf), u), held)


def test_heavy_donors_are_drawn_more_often():
    rng = np.random.default_rng(3)
    weights = rng.exponential(size=300)
    donors, tree, codes, y = made(weights)
    leaf = leaf_of(tree, codes)
    one = leaf[0]
    u = (np.arange(20_000) + 0.5) / 20_000
    drawn = donors.draw(np.full(len(u), one), u)
    for value in np.unique(y[leaf == one]):
        share = weights[(leaf == one) & (y == value)].sum() / weights[leaf == one].sum()
        assert np.mean(drawn == value) == pytest.approx(share, abs=2e-4)


def test_between_lies_on_the_line_of_quantiles():
    donors, tree, codes, y = made()
    leaf = leaf_of(tree, codes)
    u = np.linspace(0.001, 0.999, 50)
    got = donors.between(np.full(50, leaf[0]), u)
    np.testing.assert_allclose(got, np.quantile(y[leaf == leaf[0]], u), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 9.0, 1.0, 1.0, 1.0, 1.0])])
def test_donors_beyond_limits_are_left_out(weights):
    y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    tree = grow(np.zeros((0, 6), np.uint16), np.zeros(0, np.int64), np.zeros(0, bool), y, weights=weights)
    donors, u = Donors(tree, y, weights), np.linspace(0.001, 0.999, 200)
    rows = np.zeros(200, np.int64)
    limits = np.full(200, 1.5), np.full(200, 4.0)
    assert set(donors.draw(rows, u, limits)) == {2, 3, 4}
    between = donors.between(rows, u, limits)
    assert between.min() >= 2
    assert between.max() <= 4
    assert len(np.unique(between)) == 200
    assert np.isnan(donors.draw(rows, u, (np.full(200, 6.5), np.full(200, 9.0)))).all()
    assert np.isnan(donors.between(rows, u, (np.full(200, 2.1), np.full(200, 2.2)))).all()
