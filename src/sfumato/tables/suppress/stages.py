"""What `auto` does, with a budget: each stage leaves a pattern that is safe, where the work suffices, and cheaper.

Exact elimination, which is quick in tables of any size; cheapest flows for what it lacks; a clean-up that publishes
again what need not be hidden; cheapest flows from the beginning; the exact search from the best of these. What may be
spent is counted in iterations of the solver, so that every machine stops at the same place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.work import Work, WorkEnded
from sfumato.progress import Progress, quiet, split
from sfumato.tables.suppress.exact import Search
from sfumato.tables.suppress.flow import flow_pattern
from sfumato.tables.suppress.problem import Problem, budget
from sfumato.tables.suppress.repair import LEFT, cleaned, eliminated, mended
from sfumato.tables.suppress.result import Stage, Suppression

__all__ = ["suppress_in_stages"]

Bools = NDArray[np.bool_]

MENDING, CLEANING, FLOWS, SEARCH = 500_000, 600_000, 200_000, 250_000
"""Iterations that the stages may spend by default; a second has 20,000 to 40,000 of them."""
CLOSE, LONGER = 0.1, 3.0
"""A search that has come so close to its end goes on for so many times as long."""
FEW = 200_000
"""Flows are looked for from the beginning, and the search is made, where all before them took no more than that."""


@dataclass
class _Course:
    """The best pattern so far, and the stages that led to it."""

    problem: Problem
    factor: float
    hidden: Bools
    stages: list[Stage] = field(default_factory=list)

    def budget(self, limit: float) -> Problem:
        """The problem with the work of one stage."""
        return replace(self.problem, work=Work(budget(self.problem, limit) * self.factor))

    def ended(self, name: str, hidden: Bools, problem: Problem) -> None:
        """Keep the pattern of a stage, and what it took."""
        self.hidden = hidden
        self.stages.append(Stage(name, hidden & ~problem.primary, problem.work.spent))

    @property
    def spent(self) -> int:
        """What all stages took so far."""
        return sum(stage.work for stage in self.stages)

    def cost(self, hidden: Bools) -> float:
        """What a pattern costs."""
        return float(self.problem.cost[hidden & ~self.problem.fixed].sum())

    def result(self, method: str, bound: float | None = None, note: str | None = None) -> Suppression:
        """What was found."""
        found = self.problem.result(self.hidden, method, bound, note)
        return replace(found, stages=tuple(self.stages))


def suppress_in_stages(problem: Problem, factor: float = 1.0, progress: Progress = quiet) -> Suppression:
    """Hide cells as cheaply as the work allows: small tables with a proof, large ones at least safely.

    Parameters
    ----------
    problem
        What must be hidden, what may be, and what it costs.
    factor
        So many times the usual work may be spent.
    progress
        Told what is being done.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import scipy.sparse as sp
    >>> from sfumato.tables.suppress.problem import prepare
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> problem = prepare(system, value == 2, cost=value, lower=np.zeros(4), upper=np.full(4, np.inf))
    >>> found = suppress_in_stages(problem)
    >>> found.optimal, [stage.name for stage in found.stages]
    (True, ['elimination', 'flows', 'clean-up', 'flows from scratch', 'search'])
    """
    eliminating, mending, cleaning, flowing, searching = split(progress, (1, 3, 3, 2, 6))
    eliminating("hiding cells by elimination", 0.0)
    _, hidden = eliminated(problem)
    course = _Course(problem, factor, hidden)
    course.ended("elimination", hidden, course.budget(0))
    part, hidden, enough = mended(course.budget(MENDING), hidden, mending)
    course.problem = replace(part, work=problem.work)
    course.ended("flows", hidden, part)
    if not enough:
        return replace(course.result("elimination, mended by flows", note=LEFT), enough=False)
    if not len(part.goals):
        course.hidden = problem.fixed.copy()
        return course.result("none", 0.0)
    part = course.budget(CLEANING)
    course.ended("clean-up", cleaned(part, hidden, cleaning), part)
    if course.spent > budget(problem, FEW) * factor or part.late():
        return course.result("elimination, mended by flows")
    method = "elimination, mended by flows"
    part = course.budget(FLOWS)
    other = flow_pattern(part, flowing).hidden
    if course.cost(other) < course.cost(course.hidden):
        method, hidden = "flow", other
    else:
        hidden = course.hidden
    course.ended("flows from scratch", hidden, part)
    if part.late():
        return course.result(method)
    part = course.budget(SEARCH)
    try:
        search = Search(part, hidden, searching)
    except WorkEnded:
        return course.result(method)
    search.run()
    if not search.closed() and search.gap < CLOSE:
        part.work.limit *= 1 + LONGER
        search.run()
    course.ended("search", search.hidden, part)
    return course.result("optimal", search.bound)
