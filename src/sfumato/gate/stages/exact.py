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
from sfumato.kernels.tabular.reach import Reachable

__all__ = ["LARGEST", "Joint"]

Ints = NDArray[np.int64]

LARGEST = 2_000
"""Joint cells up to which programs are solved: there nothing stays undecided."""


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

    @cached_property
    def cells(self) -> int:
        """How many there are."""
        return self.case.joint_cells

    @cached_property
    def of_record(self) -> Ints:
        """The number of each record's joint cell."""
        out = np.zeros(self.case.scope.rows, dtype=np.int64)
        for (variable, own), size in zip(self.case.variables.items(), self.shape, strict=True):
            out *= size
            out += self.case.structure.refinement(own)[0][self.case.scope.codes[variable]]
        return out

    @cached_property
    def true(self) -> Ints:
        """The counts."""
        weights = self.case.scope.counts
        told = np.bincount(self.of_record, weights=weights, minlength=self.cells)
        return np.asarray(np.rint(told), dtype=np.int64)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Cells that the codebook does not rule out."""
        return ~self.case.structure.impossible(self.case.nodes).ravel()

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
