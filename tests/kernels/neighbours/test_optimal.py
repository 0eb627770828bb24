from functools import cache

import numpy as np
import polars as pl
import pytest

from sfumato.kernels.neighbours.mdav import group_means
from sfumato.kernels.neighbours.optimal import cut_path, optimal


def squares(z, group):
    return ((z - group_means(z, group)) ** 2).sum()


def test_census_agi_loses_what_is_published(shared_data):
    """100 SSE/SST of AGI at k = 3: 0.000828 (six decimals)."""
    x = pl.read_csv(shared_data / "sdcmicro" / "CASCrefmicrodata.csv")["AGI"].cast(pl.Float64).to_numpy()
    loss = 100 * squares(x[:, None], optimal(x, 3)) / ((x - x.mean()) ** 2).sum()
    assert loss == pytest.approx(0.000828, abs=5e-7)


def partitions(rows, k):
    """Every way to put rows into groups of at least k, written out."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for bits in range(2 ** len(rest)):
        group = [first] + [r for j, r in enumerate(rest) if bits >> j & 1]
        if len(group) >= k:
            left = [r for j, r in enumerate(rest) if not bits >> j & 1]
            for others in partitions(left, k):
                yield [group, *others]


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_no_partition_of_a_few_values_loses_less(k, seed):
    """Against every partition into groups of at least k, intervals or not."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, 9).astype(float) if seed % 2 else rng.lognormal(size=9)
    group = optimal(x, k)
    assert np.bincount(group).min() >= k

    @cache
    def within(rows):
        values = x[list(rows)]
        return float(((values - values.mean()) ** 2).sum())

    least = min(sum(within(tuple(g)) for g in groups) for groups in partitions(list(range(len(x))), k))
    assert squares(x[:, None], group) == pytest.approx(least, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [1, 4, 5, 9, 10, 50])
def test_groups_hold_k_to_two_k_less_one(n, k):
    size = np.bincount(optimal(np.random.default_rng(n).normal(size=n), k))
    assert size.sum() == n
    assert size.min() >= min(k, n)
    assert size.max() <= max(2 * k - 1, 1)


def test_the_order_of_rows_means_nothing():
    x = np.random.default_rng(5).lognormal(size=60)
    shuffle = np.random.default_rng(6).permutation(60)
    np.testing.assert_array_equal(optimal(x[shuffle], 4), optimal(x, 4)[shuffle])


def test_a_path_is_cut_at_its_best():
    """Every cut of nine points in a row, tried."""
    z = np.random.default_rng(2).normal(size=(9, 2))
    group = cut_path(z, 2)
    assert (np.diff(group) >= 0).all()
    tried = [np.cumsum([0] + [bits >> j & 1 for j in range(8)]) for bits in range(2**8)]
    least = min(squares(z, g) for g in tried if np.bincount(g).min() >= 2)
    assert squares(z, group) == pytest.approx(least, rel=1e-12)
