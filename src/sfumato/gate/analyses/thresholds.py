"""What is looked at before anything is fitted: enough people behind every coefficient, in every slice alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.analyses.kind import Threshold
from sfumato.gate.analyses.problem import Column, Problem, problem_of
from sfumato.gate.analyses.values import node_of
from sfumato.gate.margin import Node
from sfumato.gate.policy import Attribution

__all__ = ["unmet"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_MOST_CELLS = 1_000_000


def unmet(
    problem: Problem, limits: Iterable[Threshold], count: int, attributions: Iterable[Attribution] = ()
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
    attributions
        Variables of which it must stay open what a group has.

    Notes
    -----
    Were slices looked at one by one, refusals would find every small group: a mean of each cell of a table does. So a
    slice is refused where any slice of the same variables holds 1 to `count` people, of a level or of a side: all of
    them are refused, or none. That a slice has nobody on one side, or of a level, may show; not with variables that
    must not be learned.
    """
    wanted = {one.name: one for one in limits}
    if "levels" in wanted:
        count = max(count, int(wanted["levels"].value or 0) - 1)
        whole = problem_of(problem.records, replace(problem.request, where={})) if problem.request.where else problem
        if not _slices_hold(whole, problem, count):
            return ("levels",)
        if not all(_stays_open(whole, problem, one) for one in attributions):
            return ("attribution",)
        if not _levels_hold(problem, count):
            return ("levels",)
    p = len(problem.design[0])
    failed = []
    if "residual_df" in wanted and problem.n - p < float(wanted["residual_df"].value or 0):
        failed.append("residual_df")
    if "parameters" in wanted and p > float(wanted["parameters"].value or 0) * problem.n:
        failed.append("parameters")
    return tuple(failed)


def _slices_hold(whole: Problem, problem: Problem, count: int) -> bool:
    """Whether no slice of what `where` picks by has few people, of a level or of a side, whichever was picked."""
    if not problem.request.where:
        return True
    cut = [whole.column(node) for node in sorted(problem.request.where)]
    for term in [[], *whole.terms()]:
        found = _counted([*cut, *(column for _, column in term)], whole.side, whole.n)
        if found is None or any(((one > 0) & (one <= count)).any() for one in found):
            return False
    return True


def _levels_hold(problem: Problem, count: int) -> bool:
    """Whether every level, and either side of it of a binary response or event, holds enough people."""
    if problem.n <= count:
        return False
    if problem.side is None and np.ptp(problem.y) == 0:
        return False
    for term in [[], *problem.terms()]:
        found = _counted([column for _, column in term], problem.side, problem.n)
        if found is None:
            return False
        held = found[0] > 0
        if any((one[held] <= count).any() for one in found):
            return False
    return True


def _stays_open(whole: Problem, problem: Problem, wanted: Attribution) -> bool:
    """Whether of every group, of every slice alike, what must not be learned stays open."""
    structure = whole.records.structure
    where = sorted(problem.request.where)
    part = {node_of(name).variable for name in problem.request.names} | {node.variable for node in where}
    for name in sorted(part & {one for v in wanted.variables for one in (v, *structure.derived.get(v, ()))}):
        if name not in structure.codes:
            continue
        own, size = whole.column(Node(name))
        values = [i for i, code in enumerate(structure.codes[name]) if code not in structure.missing.get(name, ())]
        cut = [whole.column(node) for node in where if node.variable != name]
        for term in [[], *whole.terms()]:
            beside = [column for variable, column in term if variable != name]
            found = _counted([*cut, *beside, (own, size)], None, whole.n)
            if found is None:
                return False
            table = found[0].reshape(-1, size)[:, values]
            held = table[table.sum(axis=1) > 0] > 0
            if (held.sum(axis=1) < (len(values) if wanted.rule == "any" else 2)).any():
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
