"""A walk through a tree finds what comparing every pair finds, whatever is missing."""

import numpy as np
import pytest

from sfumato.kernels.linkers.keys import MISSING, keys_of
from sfumato.kernels.linkers.nearest import gower
from sfumato.kernels.linkers.scan import between
from sfumato.kernels.linkers.within import GowerSpace, gower_apart, gower_within
from sfumato.kernels.neighbours.kdtree import build_tree

LEVELS, NUMBERS = 3, 2


def drawn(n, seed, gone):
    """Points of two categories and two numbers, a share of them missing."""
    rng = np.random.default_rng(seed)
    categories = rng.integers(0, LEVELS, (n, 2)).astype(float)
    points = np.column_stack([categories, rng.normal(0.5, 0.4, (n, NUMBERS)).round(2)])
    return np.where(rng.random(points.shape) < gone, MISSING, points)


def every_pair(people, records, wildcard):
    """Distances of all pairs as linkers in memory score them."""

    def coded(points):
        blank = -1 if wildcard else LEVELS
        codes = np.where(points[:, :2] == MISSING, blank, points[:, :2]).astype(np.int32)
        return keys_of(codes.T, np.where(points[:, 2:] == MISSING, np.nan, points[:, 2:]).T)

    one, two = coded(people), coded(records)
    scoring = gower((LEVELS + 1, LEVELS + 1), np.ones(NUMBERS), wildcard)
    i, k = np.indices((len(people), len(records))).reshape(2, -1)
    return -between(one, two, (one.member[i], two.member[k]), scoring).reshape(len(people), -1)


@pytest.mark.parametrize("gone", [0.0, 0.2])
@pytest.mark.parametrize("wildcard", [False, True])
def test_a_tree_tells_what_all_pairs_tell(wildcard, gone):
    people, records, space = drawn(80, 1, gone), drawn(600, 2, gone), GowerSpace(2, wildcard)
    all_pairs = every_pair(people, records, wildcard)
    apart = gower_apart(people, records[: len(people)], space)
    assert apart == pytest.approx(np.diag(all_pairs), abs=1e-12)  # sums of four numbers below 3
    tie = 1e-9
    for own in (apart, all_pairs.min(axis=1)):
        found = gower_within(build_tree(records, np.ones(len(records), int)), people, own - tie, own + tie, space)
        nearer = (all_pairs < own[:, None] - tie).any(axis=1)
        mass = (all_pairs <= own[:, None] + tie).sum(axis=1)
        assert found.tolist() == np.where(nearer, -1, mass).tolist()


def test_without_keys_that_tell_all_are_alike():
    tree = build_tree(np.empty((1, 0)), np.array([5]))
    found = gower_within(tree, np.empty((2, 0)), np.full(2, -1e-9), np.full(2, 1e-9), GowerSpace(0))
    assert found.tolist() == [5.0, 5.0]
