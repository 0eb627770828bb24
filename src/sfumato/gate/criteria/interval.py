"""Small cells stay uncertain: of each joint cell with 1 to `count` people the ends lie `width` apart or farther."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.case import Case
from sfumato.gate.policy import Interval
from sfumato.gate.stages.cover import Narrow, narrow_cells
from sfumato.gate.stages.exact import LARGEST, Joint, price
from sfumato.gate.stages.exchange import settled
from sfumato.gate.stages.verdict import Verdict
from sfumato.kernels.tabular.reach import Reachable

__all__ = ["EFFORT", "check"]

Ints = NDArray[np.int64]

EFFORT = 2e7
"""Units of work that are spent at once on cells that closed bounds leave open: some tenths of a second."""


def check(case: Case, criterion: Interval, joint: Joint, beside: Case | None = None, effort: float = EFFORT) -> Verdict:
    """Show that the criterion holds or that it does not.

    Parameters
    ----------
    case
        What would be known.
    criterion
        What must hold.
    joint
        The joint table of the case, which other criteria look at too.
    beside
        What is known already, where it fails the criterion.
    effort
        Units of work for cells that closed bounds leave open.

    Notes
    -----
    Where it is no secret whether somebody's value is there, cells of those who have none may be small. Without these
    variables the criterion must hold of everybody: a small group stays one where nobody in it has a value.
    """
    if beside is not None:
        return _no_worse(case, criterion, joint, beside, effort)
    if case.lacking is None:
        return _check(case, criterion, effort)
    plain = _check(case.untold, criterion, effort)
    if not plain.holds:
        return plain
    whole = _check(case, criterion, effort)
    return Verdict(whole.holds, whole.stage, plain.work + whole.work)


def _check(case: Case, criterion: Interval, effort: float) -> Verdict:
    scope, count, width = case.scope, criterion.count, criterion.width
    work = scope.rows * len(case.known)
    if any(_protected(case, scope.small(clique, count + 1)) for clique in case.known):
        return Verdict(False, "released", work)
    open_cells = narrow_cells(case, count, width)
    work += scope.rows * len(case.cover[0]) + open_cells.looked * len(case.nodes)
    if not len(open_cells.records):
        return Verdict(True, "cover", work)
    if open_cells.exact or _narrow_from_outside(case, open_cells, width):
        return Verdict(False, "cover", work)
    return settled(case, open_cells, width, work, effort)


def _protected(case: Case, records: Ints) -> bool:
    """Whether somebody in the cells of some records is protected."""
    return bool(len(records)) and (case.lacking is None or not case.lacking[records].all())


def _narrow_from_outside(case: Case, cells: Narrow, width: int) -> bool:
    """Whether a cell lies in a known cell with fewer than `width` people: it can be no more than that."""
    for clique in case.known:
        margin = case.scope.margin(clique)
        if (margin.count[margin.cell[cells.records]] < width).any():
            return True
    return False


def _no_worse(case: Case, criterion: Interval, joint: Joint, beside: Case, effort: float) -> Verdict:
    """Whether cells that fail already keep their ends, and no other one fails; by programs alone.

    Linear programs for all cells come first: they often show that an end has moved, and cost little.
    """
    same = case.structure.versions == beside.structure.versions and case.scope.rows == beside.scope.rows
    if not same or case.joint_cells > LARGEST:
        return Verdict(False, "released", 0)
    before, after = Joint(case, beside.known).reach, joint.reach
    few = (joint.true >= 1) & (joint.true <= criterion.count)
    if case.lacking is not None:
        few[joint.of_records(np.flatnonzero(case.lacking))] = False
    small = np.flatnonzero(few).tolist()

    def work() -> int:
        return price(before, joint.cells) + price(after, joint.cells)

    if any(after.narrowed(cell, criterion.width) and _moved(before, after, cell, criterion.width) for cell in small):
        return Verdict(False, "exact", work())
    for cell in small:
        if work() > effort:
            return Verdict(None, "exact", work())
        if not after.wide(cell, criterion.width):
            failed = not before.wide(cell, criterion.width)
            if not failed or before.ends(cell) != after.ends(cell):
                return Verdict(False, "exact", work())
    return Verdict(True, "exact", work())


def _moved(before: Reachable, after: Reachable, cell: int, width: int) -> bool:
    """Whether tables that were possible before show a cell that was wide, or values that it cannot have any more."""
    before.narrowed(cell, width)
    low, high = before.least[cell], before.most[cell]
    return bool(high - low >= width or low < after.low[cell] or high > after.high[cell])
