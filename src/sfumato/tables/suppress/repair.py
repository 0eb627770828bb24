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
from sfumato.progress import Progress, quiet, split
from sfumato.tables.suppress.flow import Witnesses, clean, cover, directed
from sfumato.tables.suppress.problem import Problem, unproved, within_reach
from sfumato.tables.suppress.result import Suppression

__all__ = ["INSIDERS", "eliminated", "mended", "suppress_elimination_repair"]

Bools = NDArray[np.bool_]

AT_ONCE = 100
"""After so many flows attackers look again: what was hidden for one goal often serves others."""
ROUNDS = 100
INSIDERS = 3_000
"""With more goals of insiders than that, elimination must do against them: programs would take long."""
CLEANED = 700
"""With more hidden cells than that nothing is published again: it would take long."""


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


def mended(problem: Problem, hidden: Bools, publish: bool = True, progress: Progress = quiet) -> tuple[Problem, Bools]:
    """Hide more by cheapest flows, until every goal is reached; publish again what that makes useless, if asked to.

    Goals that nothing reaches are found on the way, among those that are missed: the problem comes back with them told.
    """
    flows, hidden = Flows(problem.matrix), hidden.copy()
    mending, cleaning = split(progress, (1, 2))
    tried = 0
    while len(short := missed(problem, problem.goals, hidden)) and not problem.late() and tried < ROUNDS:
        tried += 1
        largest = short[np.argsort(-problem.goals.amount[short], kind="stable")][:AT_ONCE]
        goals = directed(problem, problem.goals[largest])
        state = Witnesses(flows, goals, problem.down, problem.up, problem.cost, hidden)
        failed = cover(state, np.arange(len(goals)), problem.open, problem.until, mending)
        hidden = state.hidden
        if failed:
            cells = goals.cell[failed]
            of = largest[np.isin(problem.goals.cell[largest], cells)]
            problem, lowered = within_reach(problem, of)
            mend = Witnesses(flows, directed(problem, lowered), problem.down, problem.up, problem.cost, hidden)
            cover(mend, np.arange(len(mend.goals)), problem.open, problem.until)
            hidden = mend.hidden
    if problem.late():
        return problem, hidden | problem.open
    if not publish or hidden.sum() > CLEANED:
        return problem, hidden
    every = directed(problem)
    proofs = Witnesses(flows, every, problem.down, problem.up, problem.cost, hidden.copy())
    failed = cover(proofs, np.argsort(-every.amount, kind="stable"), hidden, problem.until)
    if not failed and not problem.late():
        clean(proofs, problem.fixed, problem.until, cleaning)
    return problem, proofs.hidden


def missed(problem: Problem, goals: Goals, hidden: Bools) -> NDArray[np.int64]:
    """Goals that a pattern does not reach, by programs of its hidden cells alone."""
    from sfumato.kernels.tabular.attacker import Need, intervals

    plain = ~goals.cone & (goals.known < 0)
    cells = np.unique(goals.cell[plain])
    if not len(cells):
        return _missed_by_flows(problem, goals, hidden)
    need = [np.zeros(len(hidden)) for _ in range(3)]
    for sign, level in zip((-1, 1, 0), need, strict=True):
        of = plain & (goals.sign == sign)
        level[goals.cell[of]] = goals.amount[of]
    value, lower, upper = problem.value, problem.value - problem.down, problem.value + problem.up
    ends = intervals(problem.matrix, value, hidden, lower, upper, cells, need=Need(*need))
    falls, rises = value - ends.low, ends.high - value
    far = np.select(
        [goals.sign < 0, goals.sign > 0], [falls[goals.cell], rises[goals.cell]], (falls + rises)[goals.cell]
    )
    rest = np.flatnonzero(~plain)
    short = np.flatnonzero(plain & (far < goals.amount * (1 - 1e-7)))
    return np.sort(np.concatenate([short, rest[_missed_by_flows(problem, goals[rest], hidden)]]))


def _missed_by_flows(problem: Problem, goals: Goals, hidden: Bools) -> NDArray[np.int64]:
    cells = np.flatnonzero(hidden)
    place = np.full(len(hidden), -1)
    place[cells] = np.arange(len(cells))
    matrix = sp.csr_array(problem.matrix[:, cells])
    matrix = sp.csr_array(matrix[np.flatnonzero(abs(matrix).sum(axis=1))])
    return unproved(matrix, goals.within(place), problem.down[cells], problem.up[cells])


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
    _, rest = split(progress, (1, 4))
    rest("mending what elimination leaves open", 0.0)
    note, inside = None, problem.goals.known >= 0
    if inside.sum() > INSIDERS:
        problem = replace(problem, goals=problem.goals[~inside])
        note = _EXACTLY
    problem, hidden = mended(problem, hidden, progress=rest)
    return problem.result(hidden, "elimination, mended by flows", note=note)


_EXACTLY = (
    "Against whoever is alone in a hidden cell, no unsafe cell is determined by the equations; that their levels hold "
    "against these too is not proved in so large a table."
)
