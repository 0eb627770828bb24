"""Suppression by cheapest flows: quick, near the optimum, for tables that are too large for the exact search.

For each primary cell and direction, the cheapest way to move its value by its protection level shows which cells must
be hidden with it; cells hidden already cost nothing. Afterwards cells that turn out useless are published again, the
dearest first. Each goal keeps the flow that proves it, so that only flows through a cell are looked for anew.

Sources: Kelly, Golden, Assad (1992), Networks 22, 397-417; Cox (1995), JASA 90, 1453-1462; Fischetti, Salazar (2001),
Management Science 47, 1008-1027.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Goals, boxes, served
from sfumato.kernels.tabular.programs import Flows, Reach
from sfumato.kernels.tabular.work import WorkEnded
from sfumato.progress import Progress, quiet, split
from sfumato.tables.suppress.problem import TINY, Late, Problem, farthest, in_units
from sfumato.tables.suppress.result import Suppression

__all__ = ["Witnesses", "clean", "cover", "flow_pattern", "suppress_flow"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass
class Witnesses:
    """The hidden cells, and for each goal (upwards or downwards) the cells that its flow moves."""

    flows: Flows
    goals: Goals
    down: Floats
    up: Floats
    cost: Floats
    hidden: Bools
    support: list[Ints | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.support = self.support or [None] * len(self.goals)

    @property
    def proved(self) -> bool:
        """Whether every goal has its flow."""
        return all(used is not None for used in self.support)

    def route(self, goal: int, open_: Bools) -> Floats | None:
        """The cheapest flow of a goal through open cells, by the costs that are set; None where there is none."""
        falls, rises = boxes(self.goals, goal, self.down, self.up)
        cell, sign = int(self.goals.cell[goal]), int(self.goals.sign[goal])
        return self.flows.cheapest(cell, sign, 1.0, np.where(open_, falls, 0.0), np.where(open_, rises, 0.0))

    def settle(self, goal: int, moved: Floats) -> None:
        """Keep a flow as the proof of a goal, and of all others that it, or its reverse, serves."""
        used = np.flatnonzero(np.abs(moved) > TINY)
        self.support[goal] = used
        left = np.array([i for i, proof in enumerate(self.support) if proof is None], dtype=np.int64)
        for other in served(self.goals, in_units(self.goals, goal, moved), self.down, self.up, left).tolist():
            self.support[other] = used


def cover(state: Witnesses, order: Ints, open_: Bools, late: Late, progress: Progress = quiet) -> list[int]:
    """Give every goal without a proof its cheapest flow, and hide what it moves; tells the goals that have none.

    It stops where it is late; what is left then has no proof.
    """
    cost = np.where(state.hidden, 0.0, state.cost)
    failed: list[int] = []
    for done, goal in enumerate(order.tolist()):
        if state.support[goal] is not None:
            continue
        progress("hiding cells by cheapest flows", done / len(order))
        if late():
            return failed
        state.flows.cost(cost)
        try:
            moved = state.route(goal, open_)
        except WorkEnded:
            return failed
        if moved is None:
            failed.append(goal)
            continue
        new = (np.abs(moved) > TINY) & ~state.hidden
        state.hidden |= new
        cost[new] = 0.0
        state.settle(goal, moved)
    return failed


def clean(state: Witnesses, keep: Bools, late: Late, progress: Progress = quiet) -> None:
    """Publish hidden cells again where every goal has another flow through what stays hidden; dearest cells first.

    Goals without a proof get one through what is hidden first; where one has none, nothing is published.
    """
    cells = np.flatnonzero(state.hidden)
    part = _within(state, cells)
    part.flows.cost(part.cost / part.cost.max(initial=1.0))
    for goal in np.argsort(-part.goals.amount, kind="stable").tolist():
        if part.support[goal] is None:
            try:
                moved = None if late() else part.route(goal, part.hidden)
            except WorkEnded:
                return
            if moved is None:
                return
            part.settle(goal, moved)
    _publish(part, keep[cells], late, progress)
    state.hidden = np.zeros_like(state.hidden)
    state.hidden[cells[part.hidden]] = True
    state.support = [None if used is None else cells[used] for used in part.support]


def _within(state: Witnesses, cells: Ints) -> Witnesses:
    """The same, of hidden cells alone: what is published does not move, and the programs are small."""
    place = np.full(len(state.hidden), -1)
    place[cells] = np.arange(len(cells))
    matrix = sp.csr_array(state.flows.matrix[:, cells])
    matrix = sp.csr_array(matrix[np.flatnonzero(abs(matrix).sum(axis=1))])
    every = np.ones(len(cells), dtype=bool)
    support = [None if used is None else place[used] for used in state.support]
    flows, goals = Flows(matrix, state.flows.work), state.goals.within(place)
    return Witnesses(flows, goals, state.down[cells], state.up[cells], state.cost[cells], every, support)


def _publish(state: Witnesses, keep: Bools, late: Late, progress: Progress) -> None:
    through: list[set[int]] = [set() for _ in keep]
    for goal, used in enumerate(state.support):
        for cell in () if used is None else used.tolist():
            through[cell].add(goal)
    candidates = np.flatnonzero(state.hidden & ~keep)
    for done, cell in enumerate(candidates[np.argsort(-state.cost[candidates], kind="stable")].tolist()):
        if late():
            return
        progress("looking for cells that need not be hidden", done / len(candidates))
        open_ = state.hidden.copy()
        open_[cell] = False
        goals = sorted(through[cell])
        found = reroute(state, goals, open_, late)
        if found is None:
            continue
        for goal in goals:
            before, now = state.support[goal], found[goal]
            for other in () if before is None else before.tolist():
                through[other].discard(goal)
            for other in () if now is None else now.tolist():
                through[other].add(goal)
        state.hidden, state.support = open_, found


def reroute(state: Witnesses, goals: list[int], open_: Bools, late: Late) -> list[Ints | None] | None:
    """New flows for some goals through open cells; None where one of them has none."""
    kept = list(state.support)
    for goal in goals:
        state.support[goal] = None
    for goal in goals:
        if state.support[goal] is not None:
            continue
        try:
            moved = None if late() else state.route(goal, open_)
        except WorkEnded:
            moved = None
        if moved is None:
            state.support = kept
            return None
        state.settle(goal, moved)
    found, state.support = state.support, kept
    return found


def directed(problem: Problem, only: Goals | None = None) -> Goals:
    """Goals of both ways together as goals of one way each, which is what a flow can reach; all, or only some.

    Raises `WorkEnded` where the work does not suffice to tell how far each way goes.
    """
    goals = problem.goals if only is None else only
    if np.all(goals.sign != 0):
        return goals
    reach = Reach(problem.matrix, problem.work)
    sign, amount, extra = goals.sign.copy(), goals.amount.copy(), []
    both = np.flatnonzero(goals.sign == 0)
    sign[both[goals.cone[both]]] = _cheaper_ways(problem, goals[both[goals.cone[both]]])
    for i in both[~goals.cone[both]].tolist():
        ways = replace(goals[np.array([i, i])], sign=np.array([1, -1]))
        far = [farthest(reach, ways, k, problem.down, problem.up, problem.open) for k in (0, 1)]
        falls = min(far[1], max(0.5, 1 - far[0])) * (1 - 1e-9)
        sign[i], amount[i] = 1, goals.amount[i] * (1 - falls)
        extra.append((goals.cell[i], goals.amount[i] * falls, goals.known[i]))
    found = replace(goals, sign=sign, amount=amount)
    if extra:
        cell, more, known = (np.array(x) for x in zip(*extra, strict=True))
        down = Goals(cell, np.full(len(cell), -1), more, np.zeros(len(cell), dtype=bool), known, found.sets)
        found = found.joined(down)
    return found[found.amount > 0]


def _cheaper_ways(problem: Problem, goals: Goals) -> Ints:
    """For goals that either way will do for, the one that hides less; 1 where both do alike."""
    if not len(goals):
        return goals.sign
    flows = Flows(problem.matrix, problem.work)
    cost = np.where(problem.fixed, 0.0, problem.cost)
    flows.cost(cost)
    spent = np.full((2, len(goals)), np.inf)
    with suppress(WorkEnded):  # either way will do for those that are left
        for i in range(len(goals)):
            falls, rises = (np.where(problem.open, side, 0.0) for side in boxes(goals, i, problem.down, problem.up))
            for k, way in enumerate((1, -1)):
                moved = flows.cheapest(int(goals.cell[i]), way, 1.0, falls, rises)
                if moved is not None:
                    spent[k, i] = cost[np.abs(moved) > TINY].sum()
    return np.where(spent[1] < spent[0] * (1 - TINY), -1, 1)


def flow_pattern(problem: Problem, progress: Progress = quiet) -> Witnesses:
    """The better of two passes, from the largest goal to the smallest and back, each cleaned up.

    Where it was late before every goal had its flow, all that may be hidden is: the pattern is never unsafe.
    """
    flows, found = Flows(problem.matrix, problem.work), list[Witnesses]()
    try:
        goals = directed(problem)
    except WorkEnded:
        return Witnesses(flows, problem.goals, problem.down, problem.up, problem.cost, problem.fixed | problem.open)
    for sign, told in zip((-1, 1), split(progress, (1, 1)), strict=True):
        flowing, cleaning = split(told, (1, 2))
        order = np.lexsort((goals.cell, sign * goals.amount))
        state = Witnesses(flows, goals, problem.down, problem.up, problem.cost, problem.fixed.copy())
        cover(state, order, problem.open, problem.late, flowing)
        if not state.proved:
            state.hidden |= problem.open
        if problem.late() and found:
            break
        clean(state, problem.fixed, problem.late, cleaning)
        found.append(state)
        if problem.late():
            break
    return min(found, key=lambda state: float(state.cost[state.hidden].sum()))


def suppress_flow(problem: Problem, progress: Progress = quiet) -> Suppression:
    """Hide cells by cheapest flows: safe, near the cheapest, nothing proved.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sfumato.tables.suppress.problem import prepare
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> problem = prepare(system, value == 2, cost=value, lower=np.zeros(4), upper=np.full(4, np.inf))
    >>> suppress_flow(problem).secondary.tolist()
    [False, True, False, False]
    """
    progress("hiding cells by cheapest flows", 0.0)
    return problem.result(flow_pattern(problem, progress).hidden, "flow")
