"""How far cells can move: by hand, by another solver, and where the solver gives up."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from sfumato.kernels.tabular.cuts import Attackers
from sfumato.kernels.tabular.goals import Goals
from sfumato.kernels.tabular.programs import Flows, Reach
from sfumato.kernels.tabular.work import Work, WorkEnded


def square(n):
    """The equations of an n × n table with its margins: rows, then columns; totals last."""
    cells = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    sums = [*cells, *cells.T]
    matrix = np.zeros((len(sums), cells.size))
    for i, line in enumerate(sums):
        matrix[i, line[:-1]], matrix[i, line[-1]] = 1, -1
    return sp.csr_array(matrix)


def far(matrix, cell, low, high):
    """By another implementation."""
    cost = np.zeros(matrix.shape[1])
    cost[cell] = -1
    found = linprog(cost, A_eq=matrix.toarray(), b_eq=np.zeros(matrix.shape[0]), bounds=np.c_[low, high])
    return -found.fun


def boxed(reach, seed=5):
    rng = np.random.default_rng(seed)
    low, high = -rng.integers(0, 9, reach.cells).astype(float), rng.integers(0, 9, reach.cells).astype(float)
    reach.box(low, high)
    return low, high


def test_it_is_what_another_solver_finds():
    matrix = square(5)
    reach = Reach(matrix)
    low, high = boxed(reach)
    for cell in range(reach.cells):
        found, moved = reach.farthest(cell, 1)
        assert found == pytest.approx(far(matrix, cell, low, high), abs=1e-7)
        assert np.abs(matrix @ moved).max() < 1e-7


def test_a_solver_that_stops_before_the_end_moves_nothing():
    """What it leaves behind breaks the equations: by that, cells would be further from the truth than they are."""
    matrix = square(5)
    reach = Reach(matrix)
    boxed(reach)
    assert max(reach.farthest(cell, 1)[0] for cell in range(reach.cells)) > 1
    reach = Reach(matrix)
    boxed(reach)
    reach.solver.setOptionValue("simplex_iteration_limit", 0)
    for cell in range(reach.cells):
        for sign in (1, -1):
            found, moved = reach.farthest(cell, sign)
            assert np.abs(matrix @ moved).max(initial=0) < 1e-9
            assert found == 0 or reach.optimal
            at = np.random.default_rng(cell).normal(size=5)
            flow = np.outer([*at, at.sum()], [1, -1, 0, 0, 0, 0]).ravel()  # one that keeps all equations
            assert reach.prices(cell, sign) @ flow == pytest.approx(sign * flow[cell], abs=1e-6)


def test_a_solver_that_stops_proves_no_pattern():
    matrix = square(3)
    cells = matrix.shape[1]
    goals = Goals(np.array([0]), np.array([1]), np.array([1.0]), np.array([False]), np.array([-1]))
    hidden = np.isin(np.arange(cells), [0, 1, 4, 5])
    ends = np.ones(cells)
    for most, safe in ((1_000, True), (0, False)):
        attackers = Attackers(matrix, goals, ends, ends, np.zeros(cells, dtype=bool))
        attackers.reach.solver.setOptionValue("simplex_iteration_limit", most)
        assert attackers.safe(0, hidden) == safe


@pytest.mark.parametrize("program", [Flows, Reach])
def test_a_program_that_the_work_does_not_suffice_for_tells_nothing(program):
    matrix = square(5)
    every = np.ones(matrix.shape[1])

    def solve(work):
        search = program(matrix, work)
        if program is Flows:
            search.cost(every)
            return search.cheapest(0, 1, 1.0, every, every)
        search.box(-every, every)
        return search.farthest(0, 1)[1]

    enough = Work()
    assert np.abs(solve(enough)).max() > 0
    for limit in (0, 1, enough.spent - 1):
        work = Work(limit)
        with pytest.raises(WorkEnded):
            solve(work)
        assert work.spent == limit
    assert np.abs(solve(Work(enough.spent + 1))).max() > 0
