"""What is looked at before anything is fitted: enough people behind every coefficient, in every slice alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.analyses.kind import Threshold
from sfumato.gate.analyses.problem import Column, Problem, problem_of
from sfumato.gate.analyses.values import node_of

__all__ = ["unmet"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_MOST_CELLS = 1_000_000


def unmet(
    problem: Problem, limits: Iterable[Threshold], count: int, sensitive: Collection[str] = ()
) -> tuple[str, ...]:
    """Names of the thresholds that an analysis does not keep to.

    Parameters
    ----------
    problem
        The people.
    limits
        What must hold.
    count
        A group up to this size is protected.
    sensitive
        Variables of which no group may be told that it has one value alone.

    Notes
    -----
    Were slices looked at one by one, refusals would find every small group: a mean of each cell of a table does. So a
    slice is refused where any slice of the same variables holds 1 to `count` people, of a level or of a side: all of
    them are refused, or none. That a slice has nobody on one side, which leaves nothing to estimate, may show; with a
    sensitive variable it counts as few.
    """
    wanted = {one.name: one for one in limits}
    if "levels" in wanted:
        count = max(count, int(wanted["levels"].value or 0) - 1)
    if "levels" in wanted and not (_slices_hold(problem, count, sensitive) and _levels_hold(problem, count)):
        return ("levels",)
    p = len(problem.design[0])
    failed = []
    if "residual_df" in wanted and problem.n - p < float(wanted["residual_df"].value or 0):
        failed.append("residual_df")
    if "parameters" in wanted and p > float(wanted["parameters"].value or 0) * problem.n:
        failed.append("parameters")
    return tuple(failed)


def _slices_hold(problem: Problem, count: int, sensitive: Collection[str]) -> bool:
    """Whether no slice of what `where` picks by has few people, of a level or of a side, whichever was picked."""
    request = problem.request
    if not request.where:
        return True
    whole = problem_of(problem.records, replace(request, where={}))
    cut = [whole.column(node) for node in sorted(request.where)]
    name = request.event or request.formula.response
    zeros = node_of(name).variable in sensitive
    for term in [[], *whole.factors()]:
        found = _counted([*cut, *term], whole.side, whole.n)
        if found is None or any(((one > 0) & (one <= count)).any() for one in found):
            return False
        if zeros and whole.side is not None and any((one[found[0] > 0] == 0).any() for one in found[1:]):
            return False
    return True


def _levels_hold(problem: Problem, count: int) -> bool:
    """Whether every level, and either side of it of a binary response or event, holds enough people."""
    if problem.n <= count:
        return False
    if problem.side is None and np.ptp(problem.y) == 0:
        return False
    for term in [[], *problem.factors()]:
        found = _counted(term, problem.side, problem.n)
        if found is None:
            return False
        held = found[0] > 0
        if any((one[held] <= count).any() for one in found):
            return False
    return True


def _counted(columns: Sequence[Column], side: Floats | None, n: int) -> list[Ints] | None:
    """People in each cell, and of either side; None for too many cells."""
    cell, cells = np.zeros(n, dtype=np.int64), 1
    for codes, size in columns:
        cell, cells = cell * size + codes, cells * size
        if cells > _MOST_CELLS:
            return None
    many = np.bincount(cell, minlength=cells)
    if side is None:
        return [many]
    ones = np.rint(np.bincount(cell, weights=side, minlength=cells)).astype(np.int64)
    return [many, ones, many - ones]
