"""Suppression of large tables: exact elimination first, then flows for the cells that it leaves with too little room.

Elimination hides enough that no primary cell is determined by the equations; what bounds add, and levels, it does not
see. Attackers' linear programs find what is missing, and only for that flows are looked for in the whole table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Goals
from sfumato.kernels.tabular.programs import Flows
from sfumato.kernels.tabular.work import WorkEnded
from sfumato.progress import Progress, quiet, split
from sfumato.tables.suppress.flow import Witnesses, clean, cover, directed
from sfumato.tables.suppress.problem import Problem, of_cells, unproved, within_reach
from sfumato.tables.suppress.result import Suppression

__all__ = ["LEFT", "cleaned", "eliminated", "mended", "missed", "suppress_elimination_repair"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

AT_ONCE = 100
"""After so many flows attackers look again: what was hidden for one goal often serves others."""
ROUNDS = 100
LEFT = (
    "The work did not suffice for all unsafe cells: those that the audit calls short or unproved need more of it "
    "(--work), or coarser codes."
)


def eliminated(problem: Problem) -> tuple[Problem, Bools]:
    """The cells that exact elimination hides, the primary ones among them; primary cells it cannot save are told."""
    from sfumato.kernels.tabular.elimination import (
        eliminate,
        inner_sums,
        publication_order,
    )

    inner = inner_sums(sp.csr_array(problem.matrix))
    order = publication_order(problem.cost, inner.sums)
    order = order[~problem.fixed[order]]
    found = eliminate(inner, problem.fixed, order, forbidden=~problem.open)
    lost = np.flatnonzero(found.undone & problem.primary)
    told = dict(zip(problem.unprotected.tolist(), problem.reason, strict=True))
    told = dict.fromkeys(lost.tolist(), "forbidden") | told
    unprotected, reason = np.array(sorted(told), dtype=np.int64), tuple(told[cell] for cell in sorted(told))
    return replace(problem, unprotected=unprotected, reason=reason), np.asarray(problem.fixed | found.secondary)


def mended(problem: Problem, hidden: Bools, progress: Progress = quiet) -> tuple[Problem, Bools, bool]:
    """Hide more by cheapest flows, until every goal is reached; and whether the work sufficed for that.

    Goals that nothing reaches are found on the way, among those that are missed: the problem comes back with them told.
    """
    flows, hidden = Flows(problem.matrix, problem.work), hidden.copy()
    for tried in range(ROUNDS):
        short = missed(problem, problem.goals, hidden)
        if not len(short):
            return problem, hidden, True
        if problem.late():
            break
        progress("hiding cells that elimination lacks", tried / ROUNDS)
        largest = short[np.argsort(-problem.goals.amount[short], kind="stable")][:AT_ONCE]
        try:
            problem, hidden = _mended_once(problem, flows, hidden, largest)
        except WorkEnded:
            break
    return problem, hidden, False


def _mended_once(problem: Problem, flows: Flows, hidden: Bools, short: Ints) -> tuple[Problem, Bools]:
    """Hide more for some goals; those that nothing reaches are told.

    Raises `WorkEnded` where the work does not suffice to tell which these are.
    """
    goals = directed(problem, problem.goals[short])
    state = Witnesses(flows, goals, problem.down, problem.up, problem.cost, hidden)
    failed = cover(state, np.arange(len(goals)), problem.open, problem.late)
    if failed and not problem.late():
        of = short[np.isin(problem.goals.cell[short], goals.cell[failed])]
        problem, lowered = within_reach(problem, of)
        goals = directed(problem, lowered)
        state = Witnesses(flows, goals, problem.down, problem.up, problem.cost, state.hidden)
        cover(state, np.arange(len(goals)), problem.open, problem.late)
    return problem, state.hidden


def cleaned(problem: Problem, hidden: Bools, progress: Progress = quiet) -> Bools:
    """Publish again what a pattern that reaches all goals need not hide, as far as the work goes."""
    cells = np.flatnonzero(hidden)
    own = of_cells(problem, cells)
    try:
        goals = directed(own)
    except WorkEnded:
        return hidden
    state = Witnesses(Flows(own.matrix, own.work), goals, own.down, own.up, own.cost, own.open.copy())
    clean(state, own.fixed, own.late, progress)
    left = np.zeros_like(hidden)
    left[cells[state.hidden]] = True
    return left


def missed(problem: Problem, goals: Goals, hidden: Bools) -> Ints:
    """Goals that a pattern does not reach, by programs of its hidden cells alone."""
    from sfumato.kernels.tabular.attacker import Need, intervals

    plain = goals.known < 0
    cells = np.unique(goals.cell[plain])
    if not len(cells):
        return _missed_by_flows(problem, goals, hidden)
    need = [np.zeros(len(hidden)) for _ in range(3)]
    for sign, level in zip((-1, 1, 0), need, strict=True):
        of = plain & ~goals.cone & (goals.sign == sign)
        level[goals.cell[of]] = goals.amount[of]
    size = np.abs(problem.value[hidden])
    moves = max(1e-3 * float(size[size > 0].min(initial=1.0)), 1e-5 * float(size.max(initial=1.0)))
    cone = goals.cell[plain & goals.cone]
    need[2][cone] = np.maximum(need[2][cone], moves)
    value, lower, upper = problem.value, problem.value - problem.down, problem.value + problem.up
    ends = intervals(problem.matrix, value, hidden, lower, upper, cells, need=Need(*need), work=problem.work)
    falls, rises = value - ends.seen_low, ends.seen_high - value  # what is surely possible
    far = np.select(
        [goals.sign < 0, goals.sign > 0], [falls[goals.cell], rises[goals.cell]], (falls + rises)[goals.cell]
    )
    unsure = plain & goals.cone & ((falls + rises)[goals.cell] < moves)  # it may move, but by very little
    rest = np.flatnonzero(~plain | unsure)
    short = np.flatnonzero(plain & ~goals.cone & (far < goals.amount * (1 - 1e-7)))
    return np.sort(np.concatenate([short, rest[_missed_by_flows(problem, goals[rest], hidden)]]))


def _missed_by_flows(problem: Problem, goals: Goals, hidden: Bools) -> Ints:
    own = of_cells(replace(problem, goals=goals), np.flatnonzero(hidden))
    return unproved(own.matrix, own.goals, own.down, own.up, own.work, own.late)


def suppress_elimination_repair(problem: Problem, progress: Progress = quiet) -> Suppression:
    """Hide cells by elimination, and more by flows where levels ask for it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sfumato.tables.suppress.problem import prepare
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> problem = prepare(system, value == 2, cost=value, lower=np.zeros(4), upper=np.full(4, np.inf))
    >>> suppress_elimination_repair(problem).secondary.tolist()
    [False, True, False, False]
    """
    progress("hiding cells by elimination", 0.0)
    _, hidden = eliminated(problem)
    _, mending, cleaning = split(progress, (1, 2, 2))
    problem, hidden, enough = mended(problem, hidden, mending)
    if enough:
        hidden = cleaned(problem, hidden, cleaning)
    found = problem.result(hidden, "elimination, mended by flows", note=None if enough else LEFT)
    return replace(found, enough=enough)
