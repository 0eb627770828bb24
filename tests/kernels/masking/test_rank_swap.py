import numpy as np
import pytest
from scipy.stats import chisquare

from sfumato.kernels.masking.rank_swap import random_swap, rank_swap


def by_hand(u, w):
    """The same rule on plain lists."""
    n, takes = len(u), {}
    for i in range(n):
        free = [j for j in range(i + 1, min(i + w, n - 1) + 1) if j not in takes]
        if i not in takes and free:
            j = free[int(u[i] * len(free))]
            takes[i], takes[j] = j, i
    for i in sorted(set(range(n)) - set(takes)):
        near = [a for a in takes if abs(a - i) <= w and abs(takes[a] - i) <= w and takes[takes[a]] == a]
        if near:
            a = sorted(near)[int(u[i] * len(near))]
            b = takes[a]
            takes[i], takes[a], takes[b] = a, b, i
    return [takes.get(i, i) for i in range(n)]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 17, 100, 257])
@pytest.mark.parametrize("w", [1, 2, 5, 16, 300])
def test_it_follows_the_rule(n, w):
    rng = np.random.default_rng(n * 1000 + w)
    for _ in range(5):
        u = rng.random(n)
        assert rank_swap(u, w).tolist() == by_hand(u, w)


@pytest.mark.parametrize("w", [1, 2, 3, 50, 5000])
@pytest.mark.parametrize("n", [20_000, 20_001])
def test_it_is_a_permutation_of_pairs_and_threes_within_reach(n, w):
    source = rank_swap(np.random.default_rng(w).random(n), w)
    ranks = np.arange(n)
    assert np.array_equal(np.sort(source), ranks)
    assert np.abs(source - ranks).max() <= w
    pair = source[source] == ranks
    assert np.all(pair | (source[source[source]] == ranks))
    assert (~pair).sum() <= 3 * (n // (w + 1) + 1)
    alone = np.flatnonzero(source == ranks)
    assert len(alone) <= n % 2  # of an odd number one may be, where the window is narrow
    if w > 3:
        assert len(alone) == 0


def test_every_rank_within_reach_is_as_likely():
    rng = np.random.default_rng(5)
    first = [rank_swap(rng.random(30), 6)[0] for _ in range(6000)]
    assert chisquare(np.bincount(first, minlength=7)[1:]).pvalue > 1e-4


def test_the_largest_draw_stays_in_reach():
    assert rank_swap(np.full(7, 1 - 2.0**-53), 3).tolist() == by_hand([1 - 2.0**-53] * 7, 3)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 10])
def test_random_swapping_leaves_nobody_alone(n):
    order = np.random.default_rng(n).permutation(n)
    source = random_swap(order)
    assert np.array_equal(np.sort(source), np.arange(n))
    assert (source == np.arange(n)).sum() == (n == 1)
    pair = source[source] == np.arange(n)
    assert (~pair).sum() == (3 if n % 2 and n > 1 else 0)
