"""Counting records by several codes at once, and finding the records of small cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Counted", "counted", "joined"]

Ints = NDArray[np.int64]
Places = NDArray[np.signedinteger[Any]]
Codes = NDArray[np.unsignedinteger[Any]]

_DENSE = 1 << 22
"""Cells up to which every cell has a place; above, those that hold somebody."""
_WORD = 1 << 62


@compiled
def _tally(cell: Places, out: Ints) -> None:
    for i in range(len(cell)):
        out[cell[i]] += 1


@compiled
def _tally_weighted(cell: Places, weight: Ints, out: Ints) -> None:
    for i in range(len(cell)):
        out[cell[i]] += weight[i]


@compiled
def _below(cell: Places, count: Ints, below: int, out: Places) -> int:
    many = 0
    for i in range(len(cell)):
        if count[cell[i]] < below:
            out[many] = i
            many += 1
    return many


def joined(columns: Sequence[Codes], sizes: Sequence[int], rows: int) -> tuple[Places, int]:
    """One number for each record's combination of codes, and how many numbers there may be.

    Combinations are numbered densely on the way where a number would not fit.

    Examples
    --------
    >>> cell, many = joined([np.array([0, 1], np.uint8), np.array([2, 0], np.uint8)], [2, 3], 2)
    >>> cell.tolist(), many
    ([2, 3], 6)
    """
    product = 1
    for size in sizes:
        product *= size
    kind = np.int32 if product < 1 << 31 else np.int64
    cell: NDArray[Any] = np.zeros(rows, dtype=kind)
    many = 1
    for column, size in zip(columns, sizes, strict=True):
        if many * size > _WORD:
            held, cell = np.unique(cell, return_inverse=True)
            many, cell = len(held), cell.astype(np.int64)
        cell *= kind(size)
        cell += column.astype(kind, copy=False)
        many *= size
    return cell, many


@dataclass(frozen=True)
class Counted:
    """A margin of records.

    Parameters
    ----------
    cell : ndarray of int, shape (records,)
        The number of each record's cell among those that are listed.
    count : ndarray of int64, shape (cells,)
        How many people each has.
    """

    cell: Places
    count: Ints

    @property
    def bytes(self) -> int:
        """What it takes to keep it."""
        return self.cell.nbytes + self.count.nbytes

    def rows_below(self, below: int) -> Places:
        """Records in cells with fewer people than that, in rising order."""
        out = np.empty(len(self.cell), dtype=np.int32)
        return out[: _below(self.cell, self.count, below, out)].copy()

    def smallest(self) -> int:
        """The smallest count above 0; 0 where there is nobody."""
        held = self.count[self.count > 0]
        return int(held.min()) if len(held) else 0


def counted(columns: Sequence[Codes], sizes: Sequence[int], weights: Ints | None, rows: int) -> Counted:
    """Count records by several codes at once.

    Parameters
    ----------
    columns
        Of each variable the number of each record's code, from 0.
    sizes
        How many codes each has.
    weights
        How many people each record stands for; one where it is None.
    rows
        How many records there are.

    Examples
    --------
    >>> told = counted([np.array([0, 1, 0], np.uint8)], [3], None, 3)
    >>> told.count.tolist(), told.rows_below(2).tolist()
    ([2, 1, 0], [1])
    """
    cell, many = joined(columns, sizes, rows)
    if many > max(_DENSE, 4 * rows):
        held, number = np.unique(cell, return_inverse=True)
        cell, many = number.astype(np.int32), len(held)
    count = np.zeros(many, dtype=np.int64)
    if weights is None:
        _tally(cell, count)
    else:
        _tally_weighted(cell, weights, count)
    return Counted(cell, count)
