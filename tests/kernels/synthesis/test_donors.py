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
