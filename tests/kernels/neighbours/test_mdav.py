import numpy as np
import polars as pl
import pytest

from sfumato.kernels.neighbours.mdav import group_means, mdav


def loss(z, group):
    """100 SSE/SST on standardised columns."""
    return 100 * ((z - group_means(z, group)) ** 2).sum() / ((z - z.mean(axis=0)) ** 2).sum()


def standardised(frame):
    x = frame.to_numpy().astype(float)
    return (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)


def test_census_loses_what_is_published(shared_data):
    """Census (CASCrefmicrodata), 13 columns, k = 3: 5.692186 (Domingo-Ferrer and Torra 2005, six decimals)."""
    z = standardised(pl.read_csv(shared_data / "sdcmicro" / "CASCrefmicrodata.csv"))
    assert loss(z, mdav(z, 3)) == pytest.approx(5.692186, abs=5e-7)


def test_eia_loses_what_is_published(shared_data):
    """EIA, UTILITYID and RESREVENUE … TOTSALES, k = 3: 0.482939."""
    frame = pl.read_csv(shared_data / "sdcmicro" / "EIA.csv")
    first, last = frame.columns.index("RESREVENUE"), frame.columns.index("TOTSALES")
    z = standardised(frame.select("UTILITYID", *frame.columns[first : last + 1]))
    assert loss(z, mdav(z, 3)) == pytest.approx(0.482939, abs=5e-7)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n", [1, 4, 5, 9, 14, 15, 16, 100])
def test_groups_hold_k_to_two_k_less_one(n, k):
    size = np.bincount(mdav(np.random.default_rng(n).normal(size=(n, 3)), k))
    assert size.sum() == n
    assert size.min() >= min(k, n)
    assert size.max() <= max(2 * k - 1, 1)


def by_definition(z, k):
    """MDAV written out with plain lists."""
    left, groups = list(range(len(z))), []

    def distance(a, b):
        return ((a - b) ** 2).sum()

    def around(r):
        group = sorted(left, key=lambda i: (distance(z[i], z[r]), i))[:k]
        for i in group:
            left.remove(i)
        groups.append(group)

    while len(left) >= 2 * k:
        centre = z[left].mean(axis=0)
        r = max(left, key=lambda i: (distance(z[i], centre), -i))
        s = max(left, key=lambda i: (distance(z[i], z[r]), -i))
        more = len(left) >= 3 * k
        around(r)
        if more:
            around(s)
    groups.append(left)
    return groups


def test_equals_the_definition():
    z = np.random.default_rng(3).normal(size=(80, 2))
    group = mdav(z, 4)
    found = {frozenset(np.flatnonzero(group == g).tolist()) for g in range(group.max() + 1)}
    assert found == {frozenset(g) for g in by_definition(z, 4) if g}


def test_means_of_groups_are_the_same_to_the_bit_in_any_order_of_rows():
    rng = np.random.default_rng(5)
    z, group = rng.lognormal(size=(400, 2)), rng.integers(0, 20, size=400)
    order = rng.permutation(400)
    np.testing.assert_array_equal(group_means(z[order], group[order]), group_means(z, group)[order])
