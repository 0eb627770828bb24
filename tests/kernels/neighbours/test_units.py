import itertools

import numpy as np
import pytest

from sfumato.kernels.neighbours.classmates import Known
from sfumato.kernels.neighbours.units import chosen_units, profiles, unit_shares

LABEL = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 5])


def some(seed, noise=0.5):
    """Rows of six units, with gaps among numbers and categories."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(len(LABEL), 2))
    z = x + noise * draw.normal(size=x.shape)
    a = draw.integers(-1, 2, size=(len(LABEL), 1))
    x[draw.random(x.shape) < 0.1] = np.nan
    return Known(x, z, a, a, LABEL)


def by_definition(known, unit):
    """All assignments of the unit's rows to those of each unit of as many rows, one by one."""

    def row(i, k):
        d = sum((1.0 if u < 0 or v < 0 else 25.0) for u, v in zip(known.a[i], known.b[k], strict=True) if u != v)
        for u, v in zip(known.x[i], known.z[k], strict=True):
            d += 0.0 if np.isnan(u) and np.isnan(v) else 1.0 if np.isnan(u) or np.isnan(v) else (u - v) ** 2
        return d

    mine = np.flatnonzero(known.label == unit)
    costs = {}
    for other in np.unique(known.label):
        rows = np.flatnonzero(known.label == other)
        if len(rows) == len(mine):
            orders = itertools.permutations(rows)
            costs[other] = min(sum(row(i, k) for i, k in zip(mine, order, strict=True)) for order in orders)
    own = costs[unit]
    if min(costs.values()) < own - 1e-9:
        return 0.0
    return 1 / sum(abs(cost - own) <= 1e-9 for cost in costs.values())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_as_by_all_assignments(seed, noise):
    known = some(seed, noise)
    expected = [by_definition(known, unit) for unit in range(6)]
    assert unit_shares(known, np.arange(6)).tolist() == pytest.approx(expected)


def test_neither_the_order_of_rows_nor_ids_matter():
    known, draw = some(1), np.random.default_rng(1)
    order, names = draw.permutation(len(LABEL)), np.array([3, 5, 0, 1, 4, 2])
    moved = Known(known.x[order], known.z[order], known.a[order], known.b[order], names[LABEL[order]])
    assert unit_shares(moved, names[:6]).tolist() == unit_shares(known, np.arange(6)).tolist()


def test_what_leaves_exactly_is_found_unless_another_unit_is_equal():
    x = np.array([[1.0], [2.0], [2.0], [1.0], [3.0], [4.0]])
    none = np.zeros((6, 0), dtype=np.int64)
    known = Known(x, x, none, none, np.array([0, 0, 1, 1, 2, 2]))
    assert unit_shares(known, np.arange(3)).tolist() == [0.5, 0.5, 1.0]


def test_another_category_costs_twenty_five():
    """Squared differences: 24.01 and 26.01, beside a category that is another."""
    label, sex = np.array([0, 1]), np.array([[0], [1]])
    for off, expected in ((4.9, 1.0), (5.1, 0.0)):
        x, z = np.zeros((2, 1)), np.array([[off], [0.0]])
        assert unit_shares(Known(x, z, sex, sex, label), np.array([0])).tolist() == [expected]


def test_a_unit_among_many_is_chosen_by_what_it_holds():
    draw = np.random.default_rng(0)
    x, label = draw.normal(size=(40, 1)), np.repeat(np.arange(20), 2)
    none = np.zeros((40, 0), dtype=np.int64)
    chosen = chosen_units(Known(x, x, none, none, label), most=7)
    order = draw.permutation(40)
    again = chosen_units(Known(x[order], x[order], none, none, 19 - label[order]), most=7)
    assert len(chosen) == 7
    assert (19 - again).tolist() == chosen.tolist()


def test_units_of_one_row_are_not_looked_for():
    assert chosen_units(some(0)).tolist() == [0, 1, 2, 3, 4]


def test_profiles_are_equal_where_rows_are():
    found = profiles(np.array([0, 0, 0, 1, 1, 1, 2, 2, 3]), np.array([1, 1, 2, 2, 1, 1, 1, 2, 1]))
    assert found[0] == found[1]
    assert len(set(found.tolist())) == 3
