"""Stages 2 and 3: cells that closed bounds leave open, by exchanges in the parts that hang together, then by programs.

What is known is taken apart at known margins. Tables of the parts that agree on what separates them make a table of the
whole: the most of a joint cell is the least of its parts' mosts, and its least is what these add up to beyond what
separates them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique
from sfumato.gate.stages.cover import Narrow
from sfumato.gate.stages.exact import LARGEST, Joint
from sfumato.gate.stages.verdict import Verdict
from sfumato.kernels.tabular.margins import largest, split

__all__ = ["Parts", "settled", "still_narrow"]

Ints = NDArray[np.int64]

_TABLE = 1 << 20
"""Cells of a part up to which people are exchanged in it."""
_LOOKED = 400
"""Units of work of one cell in one part."""


@dataclass
class Parts:
    """The parts of what is known.

    Parameters
    ----------
    case
        What is known.
    """

    case: Case
    joints: tuple[Joint, ...] = field(init=False)
    between: tuple[Clique, ...] = field(init=False)
    work: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        nodes = self.case.nodes
        number = {node: i for i, node in enumerate(nodes)}
        known = [sum(1 << number[node] for node in clique) for clique in self.case.known]
        given = [sum(1 << number[node] for node in clique) for clique in self.case.given]
        parts, between = split([*known, *given], known)

        def named(mask: int) -> Clique:
            return tuple(node for i, node in enumerate(nodes) if mask >> i & 1)

        self.joints = tuple(
            Joint(Case(self.case.scope, tuple(named(mask) for mask in largest(k & part for k in known)), ()))
            for part in parts
        )
        self.between = tuple(named(mask) for mask in between)

    @property
    def small(self) -> bool:
        """Whether every part is small enough for programs, or a known margin itself."""
        return all(joint.cells <= LARGEST or joint.is_known for joint in self.joints)

    def wide_by_exchange(self, record: int, width: int) -> bool:
        """Whether exchanges show the ends of a record's joint cell to lie far enough apart."""
        cells = [joint.cell(record) for joint in self.joints]
        own = [joint.count_of(record) for joint in self.joints]
        shared = sum(self._shared(record))
        lows, highs = list(own), list(own)
        wanted = max(0, sum(own) - shared) + width
        open_ = False
        for i, joint in enumerate(self.joints):
            if own[i] < wanted and not joint.is_known and joint.cells <= _TABLE:
                self.work += _LOOKED
                lows[i], highs[i] = joint.exchange.reached(cells[i], wanted - own[i])
            open_ |= highs[i] < wanted
            if joint.is_known and own[i] < width:
                return False
        if not open_:
            return True
        for i, joint in enumerate(self.joints):
            if lows[i] == own[i] and not joint.is_known and joint.cells <= _TABLE:
                self.work += _LOOKED
                lows[i] = min(lows[i], joint.exchange.reached(cells[i], 1 << 40)[0])
        return min(highs) - max(0, sum(lows) - shared) >= width

    def wide_by_programs(self, record: int, width: int) -> bool:
        """Whether the ends of a record's joint cell do lie far enough apart; every part is small."""
        shared = sum(self._shared(record))
        own = [joint.count_of(record) for joint in self.joints]
        wanted = max(0, sum(own) - shared) + width
        if all(
            own[i] >= wanted or (not joint.is_known and self._reaches(joint, record, wanted))
            for i, joint in enumerate(self.joints)
        ):
            return True
        ends = [self._ends(joint, record, own[i]) for i, joint in enumerate(self.joints)]
        high = min(most for _, most in ends)
        return high - max(0, sum(least for least, _ in ends) - shared) >= width

    def _reaches(self, joint: Joint, record: int, wanted: int) -> bool:
        before = joint.reach.programs
        found = joint.reach.reaches(joint.cell(record), wanted)
        self.work += (joint.reach.programs - before) * joint.cells
        return found

    def _ends(self, joint: Joint, record: int, own: int) -> tuple[int, int]:
        if joint.is_known:
            return own, own
        before = joint.reach.programs
        found = joint.reach.ends(joint.cell(record))
        self.work += (joint.reach.programs - before) * joint.cells
        return found

    def _shared(self, record: int) -> Iterator[int]:
        for clique in self.between:
            margin = self.case.scope.margin(clique)
            yield int(margin.count[margin.cell[record]])


def settled(case: Case, cells: Narrow, width: int, work: int, effort: float) -> Verdict:
    """Show that cells that closed bounds leave open are wide, or that one is not.

    Parameters
    ----------
    case
        What would be known.
    cells
        The cells that are left.
    width
        How far apart the ends must lie.
    work
        What was spent before.
    effort
        At most so many units of work; where the joint table is small none is too many.
    """
    parts = Parts(case)
    if case.joint_cells <= LARGEST:
        effort = np.inf
    left = []
    for record in cells.records.tolist():
        if parts.work > effort:
            return Verdict(None, "exchange", work + parts.work)
        if not parts.wide_by_exchange(record, width):
            left.append(record)
    if not left:
        return Verdict(True, "exchange", work + parts.work)
    if not parts.small:
        return Verdict(None, "exchange", work + parts.work)
    for record in left:
        if parts.work > effort:
            return Verdict(None, "exact", work + parts.work)
        if not parts.wide_by_programs(record, width):
            return Verdict(False, "exact", work + parts.work)
    return Verdict(True, "exact", work + parts.work)


def still_narrow(case: Case, cells: Narrow, width: int) -> int:
    """How many of the cells are not proved to be wide."""
    parts = Parts(case)
    left = [record for record in cells.records.tolist() if not parts.wide_by_exchange(record, width)]
    if parts.small:
        left = [record for record in left if not parts.wide_by_programs(record, width)]
    return len(left)
