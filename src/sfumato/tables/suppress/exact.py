"""The cheapest suppression, with a proof, by cutting planes.

A pattern is chosen under the inequalities that are known; attackers try to break it; what they find becomes new
inequalities, until no attacker finds anything. First with cells that may be hidden in part (linear programs, which
say how cheap any pattern could be at best), then with whole cells. The pattern of the cheapest flows stands from the
start, so that there is a safe one whenever the search is stopped.

Sources: Fischetti, Salazar (1999), Mathematical Programming 84, 283-312; (2000), JASA 95, 916-928; (2001), Management
Science 47, 1008-1027.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.cuts import Attackers, Cut
from sfumato.kernels.tabular.programs import Flows
from sfumato.kernels.tabular.work import WorkEnded
from sfumato.progress import Progress, quiet, split
from sfumato.tables.suppress.flow import Witnesses, clean, cover, directed, flow_pattern
from sfumato.tables.suppress.master import Master
from sfumato.tables.suppress.problem import Problem
from sfumato.tables.suppress.result import Suppression

__all__ = ["Search", "suppress_exact"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CLOSED = 1e-6
"""A gap of less than that is none."""
REST = 3
"""A goal that broke nothing is not asked again for so many rounds, unless no other one breaks anything."""
GAIN = 5e-3
STALLED = 3
"""Rounds of the relaxed search without a gain (a share of the cost) before whole cells are tried."""
FEW = 20
"""With fewer new inequalities than that, cells that are hidden idly are looked for too."""
SURE = 0.9
"""A cell that a pattern hides to this part is hidden before flows are looked for."""
NEAR = 1.1
"""A mended pattern that costs at most so many times the best one is cleaned up."""
GAPS = (0.05, 0.0)
"""To what share of the cost a search in whole cells goes, before its pattern is tried; then closer."""
EACH = 5
"""After so many rounds a pattern in part is made a whole one."""
OTHERS = 4
"""So many patterns that a search in whole cells met on its way are tried by attackers too."""
MENDED = 30
"""So often a pattern in whole cells is mended, to see what it lacks."""
NODES = 20_000
PER_NODE = 1_500
"""Nodes of one search in whole cells: the most, and of how many iterations that may be spent there is one."""


class Search:
    """The search for the cheapest pattern.

    Parameters
    ----------
    problem
        What is searched for.
    hidden
        A pattern that reaches all goals, from which it starts.
    progress
        Told how far it is.
    """

    def __init__(self, problem: Problem, hidden: Bools, progress: Progress = quiet) -> None:
        self.problem, self.progress = problem, progress
        self.free = problem.open & ~problem.fixed
        work = problem.work
        self.attackers = Attackers(problem.matrix, problem.goals, problem.down, problem.up, problem.fixed, work)
        self.master = Master(problem.cost, self.free, work)
        self.flows, self.goals = Flows(problem.matrix, work), directed(problem)
        self.hidden = hidden.copy()
        self.best = self.spent(self.hidden)
        self.bound = 0.0
        self.rests = np.zeros(len(problem.goals), dtype=np.int64)
        self.step = _step(problem.cost[self.free] * problem.scale) / problem.scale

    def spent(self, hidden: Bools) -> float:
        """What a pattern costs."""
        return float(self.problem.cost[hidden & self.free].sum())

    def over(self) -> bool:
        """Whether the search must end: it is proved, or out of time or work."""
        return self.closed() or self.problem.late()

    def closed(self) -> bool:
        """Whether no pattern costs less."""
        return self.bound >= min(self.best * (1 - CLOSED), self.best - 0.9 * self.step)

    @property
    def gap(self) -> float:
        """The share of the cost that may be too much."""
        return 1 - self.bound / self.best if self.best > 0 else 0.0

    def break_(self, pattern: Floats) -> int:
        """Let attackers look for inequalities that a pattern breaks, first those who found some lately."""
        found = 0
        for everybody in (False, True):
            for goal in np.flatnonzero((self.rests > 0) == everybody).tolist():
                if self.problem.late():
                    return found
                cut = self.attackers.broken(goal, pattern)
                self.rests[goal] = REST if cut is None else 0
                if cut is not None:  # even where it is known already: another pattern of the round may have shown it
                    self.add(cut, pattern)
                    found += 1
            if found:
                break
        self.rests = np.maximum(self.rests - 1, 0)
        return found

    def add(self, cut: Cut, pattern: Floats) -> None:
        """Add an inequality, and its cover inequality where the pattern breaks that as well."""
        cover = self.attackers.tightened(cut, pattern)
        for each in (cut, cover):
            if each is not None:
                self.master.add(each)

    def bridges(self, pattern: Floats) -> int:
        """Let every cell that is hidden (in part) show that others are hidden with it."""
        cells = np.flatnonzero(self.free & (pattern > 0.1)).tolist()
        found = 0
        for cell in cells:
            if self.problem.late():
                break
            cut = self.attackers.bridge(cell, pattern)
            found += cut is not None and self.master.add(cut, 0.0)
        return found

    def relaxed(self) -> None:
        """Raise the bound with cells hidden in part, until no attacker breaks the pattern or nothing is gained."""
        stalled = rounds = 0
        while not self.over() and stalled < STALLED:
            bound, pattern = self.master.relaxed()
            stalled = 0 if bound > self.bound + GAIN * self.best else stalled + 1
            self.raise_(bound)
            self.master.fix(bound, self.best)
            found = self.taught(pattern) if np.all(pattern == np.round(pattern)) else self.break_(pattern)
            if found < FEW and not self.over():
                found += self.bridges(pattern)
            self.master.forget()
            rounds += 1
            if not found or rounds % EACH == 0:
                self.take(pattern)
            if not found:
                return

    def raise_(self, bound: float) -> None:
        """Take a new bound, and tell how far it is."""
        self.bound = min(max(self.bound, bound), self.best)
        self.progress("looking for the cheapest pattern", self.bound / self.best if self.best > 0 else 1.0)

    def take(self, pattern: Floats) -> None:
        """Mend a pattern, in whole cells or not, by the cheapest flows; keep it where it is better than the best.

        Cells cost less the more of them the pattern hides, so that the flows follow it.
        """
        problem = self.problem
        hidden = problem.fixed | (pattern > SURE)
        left = problem.cost * np.maximum(1 - pattern, 1e-3)
        state = Witnesses(self.flows, self.goals, problem.down, problem.up, left, hidden)
        cover(state, np.argsort(-state.goals.amount, kind="stable"), problem.open, problem.late)
        if not state.proved:
            return  # a program failed, or it is late: nothing is known of this pattern
        state.cost = problem.cost
        if self.spent(state.hidden) < self.best * NEAR and not problem.late():
            clean(state, problem.fixed, problem.late)
        if self.spent(state.hidden) < self.best * (1 - 1e-9):
            self.hidden, self.best = state.hidden, self.spent(state.hidden)

    def whole(self) -> None:
        """Search in whole cells, until a pattern is safe and none is cheaper: roughly first, then to the end."""
        gaps = list(GAPS)
        self.master.forget(0)
        nodes, before = int(min(NODES, 1 + self.problem.work.limit // PER_NODE)), (-1, 0.0)
        while not self.over():
            seconds = min(self.problem.until - monotonic(), 1e6)
            bound, patterns = self.master.whole(self.best, self.step, gaps[0], nodes, seconds)
            self.raise_(bound)
            if (len(self.master.rows), self.best) == before:
                nodes *= 2  # nothing was learned from the pattern: it would be found again
            before = len(self.master.rows), self.best
            for other in patterns[1 : 1 + OTHERS]:
                self.break_(other)
            broken = self.taught(patterns[0]) if patterns else 0
            if patterns:
                self.take(patterns[0])
            if not broken:
                if patterns:
                    self.keep(patterns[0])
                elif len(gaps) == 1:
                    return
                gaps = gaps[1:] or gaps

    def taught(self, pattern: Floats) -> int:
        """Let attackers look for all that a pattern of whole cells lacks, and tell how much that was.

        What they break is mended by a cell, and they look again: what breaks the larger pattern breaks this one too.
        """
        grown, found = pattern > 0.5, 0
        for _ in range(MENDED):
            lacking = self.lacking(grown)
            if not lacking:
                if found:
                    self.take(grown.astype(np.float64))
                break
            found += len(lacking)
            for cells in lacking:
                if not grown[cells].any() and len(cells):
                    grown[cells[np.argmin(self.problem.cost[cells])]] = True
        return found

    def lacking(self, chosen: Bools) -> list[Ints]:
        """Sets of cells, of each of which one must be hidden beside a pattern of whole cells; they are added."""
        found = []
        for goal in range(len(self.problem.goals)):
            if self.problem.late():
                break
            cut = self.attackers.broken(goal, chosen.astype(np.float64))
            if cut is not None:
                few = self.attackers.least(goal, cut, chosen, self.problem.cost, self.problem.open)
                if few is not None:
                    self.master.add(few)
                if few is None or np.any(cut[1][np.isin(cut[0], few[0])] < 1):  # else the smaller one says more
                    self.master.add(cut)
                cells = cut[0] if few is None else few[0]
                found.append(cells[self.free[cells] & ~chosen[cells]])
        return found

    def keep(self, pattern: Floats) -> None:
        """Keep a pattern that no attacker broke, if all were asked."""
        hidden = self.problem.fixed | (pattern > 0.5)
        if not self.problem.late() and self.spent(hidden) < self.best:
            self.hidden, self.best = hidden, self.spent(hidden)

    def run(self) -> None:
        """Search until it is proved, or out of time or work."""
        with suppress(WorkEnded):  # what was found until then holds
            self.relaxed()
            self.whole()
        if self.closed():
            self.bound = self.best


def _step(cost: Floats) -> float:
    """What costs differ by at least: the largest whole number that divides them all; 0 where there is none."""
    whole = np.round(cost)
    if not len(cost) or np.any(np.abs(cost - whole) > 1e-5 * np.maximum(whole, 1)) or whole.max() > 1e9:
        return 0.0
    return float(np.gcd.reduce(whole.astype(np.int64)))


def suppress_exact(problem: Problem, progress: Progress = quiet) -> Suppression:
    """Hide the cheapest cells, with a proof; or, out of time or work, cheap ones with a proved gap.

    Parameters
    ----------
    problem
        What must be hidden, what may be, what it costs, and what may be spent on looking for it.
    progress
        Told how much of the cost is proved.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import scipy.sparse as sp
    >>> from sfumato.tables.suppress.problem import prepare
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> problem = prepare(system, value == 2, cost=value, lower=np.zeros(4), upper=np.full(4, np.inf))
    >>> found = suppress_exact(problem)
    >>> found.secondary.tolist(), found.optimal
    ([False, True, False, False], True)
    """
    begun, rest = split(progress, (1, 3))
    search = Search(problem, flow_pattern(problem, begun).hidden, rest)
    search.run()
    return problem.result(search.hidden, "optimal", search.bound)
