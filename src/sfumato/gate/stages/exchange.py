"""Stages 2 and 3: cells that closed bounds leave open, by exchanges in the parts that hang together, then by programs.

What is known is taken apart at known margins. Tables of the parts that agree on what separates them make a table of the
whole: the most of a joint cell is the least of its parts' mosts, and its least is what these add up to beyond what
separates them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique
from sfumato.gate.stages.cover import Narrow
from sfumato.gate.stages.exact import LARGEST, Joint, price
from sfumato.gate.stages.verdict import Verdict
from sfumato.kernels.tabular.margins import grown, largest, split

__all__ = ["Parts", "settled", "still_narrow"]

Ints = NDArray[np.int64]

_TABLE = 1 << 20
"""Cells of a part up to which people are exchanged in it."""


@dataclass
class Parts:
    """Tables that what is known falls into, which hang together by margins that the attacker has.

    Parameters
    ----------
    case
        What is known.
    joints
        The tables, each with what is known of it.
    between
        What separates them.
    """

    case: Case
    joints: tuple[Joint, ...]
    between: tuple[Clique, ...]
    work: int = field(default=0, init=False)

    @classmethod
    def known(cls, case: Case) -> Parts:
        """Taken apart at known margins: what can be told of the parts is all that can be told."""
        masks, named = _numbered(case)
        known, given = [masks(clique) for clique in case.known], [masks(clique) for clique in case.given]
        parts, between = split([*known, *given], known)
        return cls(case, _joints(case, parts, known, named), tuple(named(mask) for mask in between))

    @classmethod
    def covered(cls, case: Case) -> Parts:
        """Taken apart into the cliques of the cover: the attacker is given what separates them."""
        masks, named = _numbered(case)
        cliques, between, _ = case.cover
        separators = [masks(clique) for clique in between]
        known = [*(masks(clique) for clique in case.known), *separators]
        return cls(case, _joints(case, [masks(clique) for clique in cliques], known, named), between)

    @classmethod
    def merged(cls, case: Case) -> Parts:
        """Cliques of the cover put together again where what separates them is not known, up to a size."""
        masks, named = _numbered(case)
        cliques, _, _ = case.cover
        known = [masks(clique) for clique in case.known]
        parts, between = grown([masks(clique) for clique in cliques], known, lambda mask: _cells(case, named(mask)))
        told = [*known, *between]
        return cls(case, _joints(case, parts, told, named), tuple(named(mask) for mask in between))

    @property
    def small(self) -> bool:
        """Whether every part is small enough for programs, or a known margin itself."""
        return all(joint.cells <= LARGEST or joint.is_known for joint in self.joints)

    def narrow_by_exchange(self, records: Ints, width: int, effort: float = np.inf) -> Ints:
        """Which records' joint cells exchanges do not show to be wide, within so much work."""
        own, shared = self._own(records)
        least = np.maximum(own.sum(axis=0) - shared, 0)
        highs = own.copy()
        for i, joint in enumerate(self.joints):
            if self._open(joint):
                highs[i] = self._reached(joint, records, own[i], least + width, 1, effort)
        left = np.flatnonzero(highs.min(axis=0) - least < width)
        if not len(left):
            return records[left]
        lows = own[:, left]
        for i, joint in enumerate(self.joints):
            if self._open(joint):
                lows[i] = self._reached(joint, records[left], own[i, left], own[i, left], -1, effort)
        least = np.maximum(lows.sum(axis=0) - shared[left], 0)
        narrow: Ints = records[left[highs[:, left].min(axis=0) - least < width]]
        return narrow

    def _own(self, records: Ints) -> tuple[Ints, Ints]:
        """What records' cells count in each part, shape (parts, records), and in all separators together."""
        own = np.stack([self._counts(joint.case.nodes, records) for joint in self.joints])
        shared = np.zeros(len(records), dtype=np.int64)
        for clique in self.between:
            shared += self._counts(clique, records)
        return own, shared

    def _counts(self, nodes: Clique, records: Ints) -> Ints:
        margin = self.case.scope.margin(nodes)
        return margin.count[margin.cell[records]]

    def _open(self, joint: Joint) -> bool:
        return not joint.is_known and joint.cells <= _TABLE

    def _reached(self, joint: Joint, records: Ints, own: Ints, wanted: Ints, sign: int, effort: float) -> Ints:
        """What the cells of records were seen to be: upwards as far as is wanted, or downwards."""
        asked = np.flatnonzero(own < wanted if sign > 0 else own > 0)
        out = own.copy()
        if not len(asked):
            return out
        cells, number = np.unique(joint.of_records(records[asked]), return_inverse=True)
        most = np.zeros(len(cells), dtype=np.int64)
        np.maximum.at(most, number, wanted[asked] - own[asked] if sign > 0 else own[asked])
        moved, tried = joint.exchange.moved(cells, most, sign, effort - self.work)
        self.work += tried + joint.cells
        out[asked] += sign * moved[number]
        return out

    def wide_by_programs(self, record: int, width: int) -> bool:
        """Whether the ends of a record's joint cell do lie far enough apart; every part is small."""
        owned, shares = self._own(np.array([record]))
        own, shared = owned[:, 0].tolist(), int(shares[0])
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
        before = price(joint.reach, joint.cells)
        found = joint.reach.reaches(joint.cell(record), wanted)
        self.work += price(joint.reach, joint.cells) - before
        return found

    def _ends(self, joint: Joint, record: int, own: int) -> tuple[int, int]:
        if joint.is_known:
            return own, own
        before = price(joint.reach, joint.cells)
        found = joint.reach.ends(joint.cell(record))
        self.work += price(joint.reach, joint.cells) - before
        return found


def _numbered(case: Case) -> tuple[Callable[[Clique], int], Callable[[int], Clique]]:
    """From nodes to numbers with a bit for each, and back."""
    nodes = case.nodes
    number = {node: i for i, node in enumerate(nodes)}
    return (
        lambda clique: sum(1 << number[node] for node in clique),
        lambda mask: tuple(node for i, node in enumerate(nodes) if mask >> i & 1),
    )


def _cells(case: Case, nodes: Clique) -> bool:
    """Whether the joint table of some nodes is small enough for exchanges."""
    return case.structure.joint_cells(nodes) <= _TABLE


def _joints(
    case: Case, parts: Sequence[int], known: Sequence[int], named: Callable[[int], Clique]
) -> tuple[Joint, ...]:
    """The table of each part, with what is known of it."""
    return tuple(
        Joint(Case(case.scope, tuple(named(mask) for mask in largest(k & part for k in known)), ())) for part in parts
    )


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
        At most so many units of work; the program that goes beyond it is still solved.
    """
    left, spent = cells.records, 0
    for take in (Parts.covered, Parts.merged, Parts.known):
        parts = take(case)
        if spent > effort:
            break
        left = parts.narrow_by_exchange(left, width, effort - spent)
        spent += parts.work
        if not len(left):
            return Verdict(True, "exchange", work + spent)
    known = Parts.known(case)
    if not known.small:
        return Verdict(None, "exchange", work + spent)
    for record in left.tolist():
        if spent + known.work > effort:
            return Verdict(None, "exact", work + spent + known.work)
        if not known.wide_by_programs(record, width):
            return Verdict(False, "exact", work + spent + known.work)
    return Verdict(True, "exact", work + spent + known.work)


def still_narrow(case: Case, cells: Narrow, width: int) -> int:
    """How many of the cells are not proved to be wide."""
    left, parts = cells.records, Parts.known(case)
    for take in (Parts.covered, Parts.merged, Parts.known):
        parts = take(case)
        left = parts.narrow_by_exchange(left, width)
    if parts.small:
        return sum(not parts.wide_by_programs(record, width) for record in left.tolist())
    return len(left)
