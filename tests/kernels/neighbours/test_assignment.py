"""Assignments against trying all, and neighbourhoods against the assignment of the whole table."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from sfumato.kernels.neighbours.assignment import NEIGHBOURS, PEOPLE, assign
from sfumato.kernels.neighbours.centroids import nearest_centroids
from sfumato.kernels.neighbours.mdav import group_means, mdav

NONE = np.zeros(2000, dtype=np.int64)


def whole(x, z):
    """Share of right links in the assignment of all."""
    left, right = linear_sum_assignment(cdist(x, z))
    return float((left == right).mean())


@pytest.mark.parametrize("seed", range(4))
def test_a_small_stratum_is_assigned_as_trying_all_does(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(7, 2))
    z = x + rng.normal(size=(7, 2))
    d, rows = cdist(x, z), np.arange(7)
    best = min(permutations(rows), key=lambda p: d[rows, p].sum())
    assert assign(x, z, NONE[:7], 10).right == np.sum(np.array(best) == rows)


def noise(rng, x):
    return x + 0.15 * rng.normal(size=x.shape)


def strong_noise(rng, x):
    return x + rng.normal(size=x.shape)


def averages(rng, x):
    return group_means(x, mdav(x, 5))


def neighbours_averages(rng, x):
    z = nearest_centroids(x, 5)
    return z / z.std(axis=0) * x.std(axis=0)


def one_column_exchanged(rng, x):
    return np.column_stack([rng.permutation(x[:, 0]), x[:, 1:]])


MASKED = [noise, strong_noise, averages, neighbours_averages, one_column_exchanged]
LONG = [(strong_noise, 2), (strong_noise, 4), (one_column_exchanged, 2)]  # the others are quick enough


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("masked", "p"),
    [
        pytest.param(masked, p, marks=[pytest.mark.slow] if (masked, p) in LONG else [])
        for p in (2, 4)
        for masked in MASKED
    ],
)
def test_neighbourhoods_find_as_many_as_the_whole_table(masked, p):
    """Four standard errors of 400 people; a sample of 200 finds four times as many where noise is moderate."""
    rng = np.random.default_rng(p)
    n = 600
    x = rng.normal(size=(n, p))
    z = masked(rng, x)
    found = assign(x, z, NONE[:n], n - 1)
    assert (found.right, found.others, len(found.chances)) == (0.0, n, PEOPLE)
    wanted = assign(x, z, NONE[:n], n).right / n
    if masked in (noise, strong_noise, one_column_exchanged):  # of equal releases any may be the one
        assert wanted == pytest.approx(whole(x, z), abs=1e-3)
    error = max(wanted * (1 - wanted), 1 / PEOPLE) ** 0.5 / PEOPLE**0.5
    assert found.chances.mean() == pytest.approx(wanted, abs=4 * error)


@pytest.mark.slow
def test_strata_are_assigned_whole_where_they_can_be():
    """Three strata of 30 and one of 500: the latter is looked at in neighbourhoods of its own people."""
    rng = np.random.default_rng(3)
    stratum = np.repeat([5, 2, 9, 0], [30, 30, 30, 500])
    x = rng.normal(size=(590, 2))
    z = x + 0.1 * rng.normal(size=x.shape)
    found = assign(x, z, stratum, 100)
    assert found.others == 500
    assert found.right == sum(
        assign(x[s], z[s], NONE[:30], 100).right for s in (stratum == label for label in (5, 2, 9))
    )
    alone = assign(x[-500:], z[-500:], NONE[:500], 100)
    np.testing.assert_array_equal(found.chances, alone.chances)


def test_neighbourhoods_stay_within_strata():
    """Everybody of the one stratum is beside somebody of the other; who knows strata finds all."""
    rng = np.random.default_rng(3)
    x = np.repeat(rng.normal(size=(300, 2)), 2, axis=0)
    z = x + np.tile([[1e-6, 0.0], [-1e-6, 0.0]], (300, 1))
    stratum = np.tile([0, 1], 300)
    assert assign(x, z, stratum, 100).chances.mean() == 1.0


@pytest.mark.slow
def test_equal_releases_count_wherever_they_are():
    """All releases are one of two values: right by one in a thousand, though a neighbourhood holds fewer of them."""
    x = np.random.default_rng(3).normal(size=(2000, 2))
    z = np.where(np.arange(2000)[:, None] < 1000, -1.0, 1.0) * np.ones((2000, 2))
    assert assign(x, z, NONE, 100).chances.max() <= 1 / 1000


def test_people_just_like_very_many_are_looked_for_too():
    x = np.zeros((3 * NEIGHBOURS, 2))
    found = assign(x, np.arange(3.0 * NEIGHBOURS)[:, None] * np.ones(2), NONE[: len(x)], 100)
    assert 0 < found.chances.min() <= found.chances.max() <= 1 / NEIGHBOURS
    assert assign(x[:, :0], x[:, :0], NONE[: len(x)], 100).chances.mean() == pytest.approx(1 / len(x))
