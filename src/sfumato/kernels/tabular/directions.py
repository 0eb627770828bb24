"""The directions in which the hidden cells of a table can move while every published sum stays.

Hidden cells are many, but mostly tied to each other: with 2,700 of them, equations often leave 120 directions.
Programs in these are smaller by far, and cells that move in proportion are one. The directions are found by
elimination modulo a prime, read back as fractions with small denominators, and then checked in whole numbers: what the
check does not confirm is not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.tabular.modular import SECOND_PRIME, put, reduce_by_pivots

__all__ = ["Directions", "Echelon", "directions", "echelon", "free_order"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DENOMINATORS = 60
"""Largest denominator that is looked for."""
_SMALL = 10**4
"""Largest numerator that is believed."""
_ENTRIES = 2 * 10**7
"""With more entries than this, directions help no more."""


@dataclass(frozen=True)
class Echelon:
    """Equations in steps: each has a first cell that no later one has.

    Parameters
    ----------
    start, length : ndarray, shape (cells,)
        Where the equation that begins with a cell stands; -1 for free cells, with which none begins.
    cells, values : ndarray
        The entries of the equations, the first of each being 1.
    used : ndarray, shape (cells,)
        The row that gave the equation; -1 for free cells.
    order : ndarray, shape (cells,)
        `order[k]` is the cell called k here.
    """

    start: Ints
    length: Ints
    cells: Ints
    values: Ints
    used: Ints
    order: Ints


@dataclass(frozen=True)
class Directions:
    """All tables with the published sums: a first one, plus any combination of directions.

    Parameters
    ----------
    moves : csr_array, shape (cells, directions)
        What each cell gains by a step along each direction: whole numbers.
    rows, cells : ndarray
        Equations, and as many cells, that determine the first table where all other cells are 0.
    """

    moves: sp.csr_array
    rows: Ints
    cells: Ints


def free_order(matrix: sp.csr_array) -> Ints:
    """Order of the cells for elimination: totals of many equations first, so that they are written by their parts."""
    coo = matrix.tocoo()
    totals = np.bincount(coo.col[coo.data < 0], minlength=matrix.shape[1])
    parts = np.bincount(coo.col[coo.data > 0], minlength=matrix.shape[1])
    return np.lexsort((np.arange(matrix.shape[1]), parts, -totals))


def echelon(matrix: sp.csr_array, order: Ints, prime: int = SECOND_PRIME) -> Echelon:
    """Bring equations between cells into steps, modulo a prime.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> steps = echelon(sp.csr_array([[1, 1, 0], [0, 1, 1], [1, 2, 1]]), np.arange(3))
    >>> (steps.start >= 0).tolist(), steps.used.tolist()
    ([True, True, False], [0, 1, -1])
    """
    m, n = matrix.shape
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    moved = sp.csr_array((np.round(matrix.data).astype(np.int64), place[matrix.indices], matrix.indptr), (m, n))
    moved.sort_indices()
    arrays = _echelon(moved.indptr.astype(np.int64), moved.indices.astype(np.int64), moved.data % prime, n, prime)
    return Echelon(*arrays, order)


@compiled
def _echelon(indptr: Ints, indices: Ints, data: Ints, n: int, prime: int) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    start, length, used = np.full(n, -1, np.int64), np.zeros(n, np.int64), np.full(n, -1, np.int64)
    work, seen, heap = np.zeros(n, np.int64), np.zeros(n, np.bool_), np.empty(2 * n + 2, np.int64)
    room = 4 * n + 16
    cells, values, end = np.empty(room, np.int64), np.empty(room, np.int64), 0
    for r in range(len(indptr) - 1):
        a, b = indptr[r], indptr[r + 1]
        left = reduce_by_pivots(indices[a:b], data[a:b], start, length, cells, values, work, seen, heap, prime)
        if left == 0:
            continue
        if end + left > len(cells):
            bigger_cells = np.empty(2 * len(cells) + left, np.int64)
            bigger_values = np.empty(2 * len(cells) + left, np.int64)
            bigger_cells[:end], bigger_values[:end] = cells[:end], values[:end]
            cells, values = bigger_cells, bigger_values
        after = put(cells, values, end, left, work, heap)
        first = cells[end]
        start[first], length[first], used[first] = end, left, r
        end = after
    return start, length, cells[:end].copy(), values[:end].copy(), used


def directions(matrix: sp.csr_array) -> Directions | None:
    """Find the directions in which cells can move with M a unchanged; None where they are not small whole numbers.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> found = directions(sp.csr_array([[1, 1, 0], [0, 1, 1]]))
    >>> found.moves.toarray().T.tolist()
    [[-1.0, 1.0, -1.0]]
    """
    whole = np.round(matrix.data)
    if not np.array_equal(whole, matrix.data):
        return None
    steps = echelon(matrix, free_order(matrix))
    n = matrix.shape[1]
    solved = _solved(steps.start, steps.length, steps.cells, steps.values, SECOND_PRIME, _ENTRIES)
    if solved is None:
        return None
    at, columns, residues = solved
    free = np.flatnonzero(steps.start < 0)
    moves = sp.csr_array((residues, columns, at), (n, len(free)))
    scaled = _as_fractions(moves)
    if scaled is None:
        return None
    back = np.empty(n, np.int64)
    back[steps.order] = np.arange(n)
    scaled = sp.csr_array(scaled[back])
    if abs(sp.csr_array(matrix).astype(np.int64) @ scaled).sum() != 0:
        return None
    tied = np.flatnonzero(steps.start >= 0)
    return Directions(scaled.astype(np.float64), steps.used[tied], steps.order[tied])


def _as_fractions(moves: sp.csr_array) -> sp.csr_array | None:
    """Residues as small whole numbers, each column times the least number that makes it so."""
    columns = sp.csc_array(moves)
    data = columns.data.copy()
    owner = np.repeat(np.arange(moves.shape[1]), np.diff(columns.indptr))
    open_ = np.ones(moves.shape[1], np.bool_)
    for k in range(1, _DENOMINATORS + 1):
        tried = columns.data * k % SECOND_PRIME
        tried = np.where(tried > SECOND_PRIME // 2, tried - SECOND_PRIME, tried)
        bad = np.bincount(owner[np.abs(tried) > _SMALL], minlength=moves.shape[1]) > 0
        now = open_ & ~bad
        data[now[owner]] = tried[now[owner]]
        open_ &= bad
        if not open_.any():
            return sp.csr_array(sp.csc_array((data, columns.indices, columns.indptr), columns.shape))
    return None


@compiled
def _solved(
    start: Ints, length: Ints, cells: Ints, values: Ints, prime: int, most: int
) -> tuple[Ints, Ints, Ints] | None:
    """Every cell by the free ones: rows of a sparse matrix, in the order of the cells; None with too many entries."""
    n = len(start)
    number, free = np.full(n, -1, np.int64), 0
    for c in range(n):
        if start[c] < 0:
            number[c] = free
            free += 1
    room = 4 * n + 16
    columns, residues, end = np.empty(room, np.int64), np.empty(room, np.int64), 0
    begin, count = np.zeros(n, np.int64), np.zeros(n, np.int64)
    work, touched, seen = np.zeros(free, np.int64), np.empty(free, np.int64), np.zeros(free, np.bool_)
    for c in range(n - 1, -1, -1):
        many = 0
        if start[c] < 0:
            work[number[c]] = 1
            touched[0] = number[c]
            many = 1
        else:
            for i in range(start[c] + 1, start[c] + length[c]):
                other = cells[i]
                for k in range(begin[other], begin[other] + count[other]):
                    f = columns[k]
                    if not seen[f]:
                        seen[f] = True
                        touched[many] = f
                        many += 1
                    work[f] = (work[f] + (prime - values[i]) * residues[k]) % prime
        if end + many > len(columns):
            bigger_columns = np.empty(2 * len(columns) + many, np.int64)
            bigger_residues = np.empty(2 * len(columns) + many, np.int64)
            bigger_columns[:end], bigger_residues[:end] = columns[:end], residues[:end]
            columns, residues = bigger_columns, bigger_residues
        begin[c] = end
        for k in range(many):
            f = touched[k]
            seen[f] = False
            if work[f] != 0:
                columns[end], residues[end] = f, work[f]
                end += 1
                work[f] = 0
        count[c] = end - begin[c]
        if end > most:
            return None
    at = np.zeros(n + 1, np.int64)
    for c in range(n):
        at[c + 1] = at[c] + count[c]
    out_columns, out_residues = np.empty(end, np.int64), np.empty(end, np.int64)
    for c in range(n):
        for k in range(count[c]):
            out_columns[at[c] + k] = columns[begin[c] + k]
            out_residues[at[c] + k] = residues[begin[c] + k]
    return at, out_columns, out_residues
