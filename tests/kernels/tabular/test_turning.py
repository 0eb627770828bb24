"""Directions turned around: against all directions tried, each with a plain linear program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from sfumato.kernels.tabular.adjustment import adjusted
from sfumato.kernels.tabular.asked import Asked
from sfumato.kernels.tabular.turning import balanced, forced, turned


def grid(seed: int, unsafe: int = 6) -> Asked:
    """A table of 3 x 4 with its totals, some finest cells of which are unsafe."""
    rng = np.random.default_rng(seed)
    fine = np.round(rng.lognormal(3, 1, (3, 4)), 1)
    full = np.pad(fine, ((0, 1), (0, 1)))
    full[3, :4], full[:3, 4], full[3, 4] = fine.sum(0), fine.sum(1), fine.sum()
    rows = np.zeros((9, 20))
    number = np.arange(20).reshape(4, 5)
    for i in range(4):
        rows[i, number[i, :4]], rows[i, number[i, 4]] = 1, -1
    for j in range(5):
        rows[4 + j, number[:3, j]], rows[4 + j, number[3, j]] = 1, -1
    value = full.ravel()
    letters = np.zeros(20, dtype=bool)
    letters[rng.choice(number[:3, :4].ravel(), unsafe, replace=False)] = True
    level = np.where(letters, 0.1 * value, 0.0)
    return Asked(sp.csr_array(rows), letters, level, 1.5 * level, value, value + 50, rng.uniform(1, 3, 20), False)


def cost_of(asked: Asked, way: tuple[int, ...]) -> float:
    """The least cost with these directions, by another solver; infinite where there is none."""
    cells, up = np.flatnonzero(asked.unsafe), np.array(way) > 0
    low, high = np.zeros(40), np.concatenate([asked.up, asked.down])
    low[cells] = np.where(up, asked.up_level[cells], 0)
    low[20 + cells] = np.where(up, 0, asked.down_level[cells])
    high[cells] = np.where(up, asked.up[cells], 0)
    high[20 + cells] = np.where(up, 0, asked.down[cells])
    plain = asked.matrix.toarray()
    both, bounds = np.hstack([plain, -plain]), np.c_[low, high]
    told = linprog(np.tile(asked.cost, 2), A_eq=both, b_eq=np.zeros(9), bounds=bounds, method="highs")
    return told.fun if told.status == 0 else np.inf


@pytest.mark.parametrize("seed", range(4))
def test_the_exact_search_finds_the_best_of_all_directions(seed: int) -> None:
    asked = grid(seed)
    every = [cost_of(asked, way) for way in itertools.product((0, 1), repeat=6)]
    found = adjusted(asked, free=True, seconds=None)
    assert found.optimal
    assert found.cost == pytest.approx(min(every), rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_turning_ends_where_no_single_turn_pays_and_says_what_it_costs(seed: int) -> None:
    asked = grid(seed)
    found = turned(asked, np.ones(6), effort=10**6, enough=0.0, seconds=None)
    assert found.cost == pytest.approx(cost_of(asked, tuple(found.way.astype(int))), rel=1e-7)
    for k in range(6):
        other = found.way.copy()
        other[k] = 1 - other[k]
        assert cost_of(asked, tuple(other.astype(int))) >= found.cost * (1 - 1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_holds_the_best(seed: int) -> None:
    asked = grid(seed)
    best = min(cost_of(asked, way) for way in itertools.product((0, 1), repeat=6))
    found = adjusted(asked, free=False, seconds=None)
    assert found.cost >= best * (1 - 1e-7)
    assert found.gap is not None
    assert found.cost * (1 - found.gap) <= best * (1 + 1e-7)


def test_cells_that_cannot_go_one_way_go_the_other() -> None:
    asked = grid(1)
    cells = np.flatnonzero(asked.unsafe)
    down, up = asked.down.copy(), asked.up.copy()
    down[cells[0]], up[cells[1]] = 0.0, 0.0
    tight = Asked(asked.matrix, asked.unsafe, asked.down_level, asked.up_level, down, up, asked.cost, False)
    assert forced(tight).tolist() == [1, 0, -1, -1, -1, -1]
    assert balanced(tight)[:2].tolist() == [1, 0]
    assert turned(tight, np.zeros(6), effort=100, enough=0.0, seconds=None).cost == np.inf


def test_the_same_effort_gives_the_same() -> None:
    asked = grid(2)
    one, two = (turned(asked, np.ones(6), effort=5, enough=0.0, seconds=None) for _ in range(2))
    assert (one.cost, one.way.tolist()) == (two.cost, two.way.tolist())
