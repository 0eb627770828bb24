"""Stage 3: programs in whole numbers over the joint table, where it is small."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique
from sfumato.gate.margin import Node
from sfumato.kernels.tabular.exchange import Exchange
from sfumato.kernels.tabular.reach import Reachable

__all__ = ["LARGEST", "Joint", "price"]

Ints = NDArray[np.int64]

LARGEST = 2_000
"""Joint cells up to which programs are solved, within the work that is allowed."""
_LINEAR = 500
"""Units of work of a linear program, for each of its cells; a choice of exchanges is one unit."""
_WHOLE = 50_000
"""The same of a program in whole numbers."""


def price(reach: Reachable, cells: int) -> int:
    """Units of work that all programs over a table took so far."""
    return cells * (_LINEAR * (reach.programs - reach.whole) + _WHOLE * reach.whole)


@dataclass
class Joint:
    """The joint table of a case, and what can be told of its cells.

    Parameters
    ----------
    case
        What is known.
    told
        The margins that the attacker has; all of the case where it is None.
    """

    case: Case
    told: tuple[Clique, ...] | None = None
    _reach: Reachable | None = field(default=None, init=False, repr=False)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Cells along each variable."""
        return tuple(self.case.structure.refinement(own)[1] for own in self.case.variables.values())

    @property
    def is_known(self) -> bool:
        """Whether the table itself is known: a single margin."""
        return len(self.case.known) == 1

    def cell(self, record: int) -> int:
        """The number of a record's joint cell."""
        out = 0
        for (variable, own), size in zip(self.case.variables.items(), self.shape, strict=True):
            number = self.case.structure.refinement(own)[0]
            out = out * size + int(number[self.case.scope.codes[variable][record]])
        return out

    @cached_property
    def exchange(self) -> Exchange:
        """The table for exchanges of people."""
        margins = []
        for clique in self.case.known:
            groups: list[Ints | None] = []
            for own in self.case.variables.values():
                held = [node for node in own if node in clique]
                groups.append(self._of_cells(own, held) if held else None)
            margins.append(groups)
        return Exchange.of(self.true.reshape(self.shape), self.possible.reshape(self.shape), margins)

    def _of_cells(self, own: Clique, held: list[Node]) -> Ints:
        """The group that each refined code has in some of a variable's nodes together."""
        cell, size = self.case.structure.refinement(own)
        out = np.zeros(size, dtype=np.int64)
        out[cell] = self.case.structure.refinement(held)[0]
        return out

    @cached_property
    def cells(self) -> int:
        """How many there are."""
        return self.case.joint_cells

    def of_records(self, records: Ints) -> Ints:
        """The numbers of records' joint cells."""
        out = np.zeros(len(records), dtype=np.int64)
        for (variable, own), size in zip(self.case.variables.items(), self.shape, strict=True):
            out *= size
            out += self.case.structure.refinement(own)[0][self.case.scope.codes[variable][records]]
        return out

    @cached_property
    def true(self) -> Ints:
        """The counts."""
        margin = self.case.scope.margin(self.case.nodes)
        held = np.flatnonzero(margin.count)
        first = np.zeros(len(margin.count), dtype=np.int64)
        first[margin.cell] = np.arange(self.case.scope.rows)
        out = np.zeros(self.cells, dtype=np.int64)
        out[self.of_records(first[held])] = margin.count[held]
        return out

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Cells that nothing that is known to everybody rules out; of what is given away, those that hold somebody."""
        out = ~self.case.structure.impossible(self.case.nodes).ravel()
        for nodes in self.case.structure.away(self.case.nodes):
            number = self.number(nodes)
            out &= np.bincount(number, weights=self.true)[number] > 0
        return out

    def number(self, nodes: Iterable[Node]) -> Ints:
        """The number of the cell of a margin in which each joint cell lies."""
        out = np.zeros(self.shape, dtype=np.int64)
        many = 1
        names = list(self.case.variables)
        for node in sorted(nodes):
            at = names.index(node.variable)
            cell, size = self.case.structure.refinement(self.case.variables[node.variable])
            group = np.zeros(size, dtype=np.int64)
            group[cell] = self.case.structure.place(node)
            shape = [1] * len(names)
            shape[at] = size
            out = out * self.case.structure.size(node) + group.reshape(shape)
            many *= self.case.structure.size(node)
        return np.broadcast_to(out, self.shape).ravel()

    @property
    def reach(self) -> Reachable:
        """What every cell can be, found as far as it is asked for."""
        if self._reach is None:
            rows, columns, right, start = [], [], [], 0
            for clique in self.case.known if self.told is None else self.told:
                number = self.number(clique)
                many = int(number.max()) + 1 if len(number) else 0
                rows.append(number + start)
                columns.append(np.arange(self.cells))
                right.append(np.bincount(number, weights=self.true, minlength=many))
                start += many
            ones = np.ones(sum(map(len, rows)))
            matrix = sp.csr_array((ones, (np.concatenate(rows), np.concatenate(columns))), (start, self.cells))
            self._reach = Reachable(matrix, np.rint(np.concatenate(right)).astype(np.int64), self.true, self.possible)
        return self._reach
