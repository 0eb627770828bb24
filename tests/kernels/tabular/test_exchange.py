"""What exchanges reach is reached by some table: programs in whole numbers, written here, reach as far or farther."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from sfumato.kernels.tabular.exchange import Exchange


def some_table(rng):
    shape = tuple(int(s) for s in rng.integers(2, 4, int(rng.integers(2, 5))))
    count = rng.poisson(rng.choice([0.7, 3.0]), shape)
    possible = (count > 0) | (rng.random(shape) < 0.85)
    margins = []
    for _ in range(int(rng.integers(1, 5))):
        margin = []
        for size in shape:
            kind = rng.random()
            group = None if kind < 0.4 else np.arange(size) if kind < 0.8 else rng.integers(0, 2, size)
            margin.append(group)
        margins.append(margin)
    return count, possible, margins


def most(count, possible, margins, cell, sign):
    """How far a cell can move, by a program."""
    places = np.indices(count.shape).reshape(count.ndim, -1)
    rows = [np.ones(count.size)]
    for margin in margins:
        key = [tuple(int(g[p]) for g, p in zip(margin, place, strict=True) if g is not None) for place in places.T]
        rows += [np.array([k == one for k in key], dtype=float) for one in dict.fromkeys(key)]
    rows, flat = np.array(rows), count.ravel()
    cost = np.zeros(count.size)
    cost[cell] = -sign
    limits = Bounds(0, np.where(possible.ravel(), np.inf, 0))
    rules = LinearConstraint(rows, rows @ flat, rows @ flat)
    found = milp(cost, integrality=np.ones(count.size), bounds=limits, constraints=rules)
    return abs(round(found.x[cell]) - int(flat[cell]))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_reached_can_be(seed):
    reached_can_be(seed, 4)


@pytest.mark.nightly(of="tests/kernels/tabular/test_exchange.py::test_what_is_reached_can_be")
@pytest.mark.parametrize("seed", range(60))
def test_what_is_reached_can_be_in_every_cell(seed):
    reached_can_be(seed)


def reached_can_be(seed, most_cells=None):
    """Of so many cells that move up and as many that move down, the farthest first."""
    rng = np.random.default_rng(seed)
    count, possible, margins = some_table(rng)
    exchange = Exchange.of(count, possible, margins)
    cells = np.arange(count.size)
    wanted = rng.integers(0, 12, count.size)
    for sign in (1, -1):
        moved, _ = exchange.moved(cells, wanted, sign)
        assert ((moved >= 0) & (moved <= wanted)).all()
        if sign < 0:
            assert (moved <= count.ravel()).all()
        for cell in np.argsort(-moved)[:most_cells].tolist():
            assert moved[cell] <= most(count, possible, margins, cell, sign)
    assert (exchange.count == count.ravel()).all()


def test_each_cell_moves_by_itself():
    """What is found of one cell does not depend on which others were asked for."""
    count, possible, margins = some_table(np.random.default_rng(3))
    exchange = Exchange.of(count, possible, margins)
    cells, wanted = np.arange(count.size), np.full(count.size, 9)
    together, _ = exchange.moved(cells, wanted, 1)
    alone = [int(exchange.moved(cells[i : i + 1], wanted[i : i + 1], 1)[0][0]) for i in cells]
    assert together.tolist() == alone


def test_more_than_sixty_four_margins_are_all_seen():
    """Margin 70 alone sees the change; nothing moves."""
    count = np.array([[3, 3], [3, 3]])
    rows, full = [np.arange(2), None], [np.arange(2), np.arange(2)]
    for margins, moves in (([rows] * 70, True), ([rows] * 70 + [full], False)):
        moved, _ = Exchange.of(count, np.ones((2, 2), dtype=bool), margins).moved(np.array([0]), np.array([2]), 1)
        assert bool(moved[0]) == moves
