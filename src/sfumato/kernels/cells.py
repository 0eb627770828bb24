"""Cells of tables of one and two columns: how two groups of records spread over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["cells_apart", "count_cells", "spread_apart"]

Codes = NDArray[np.uint16] | NDArray[np.uint32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DENSE = 4  # tables with more cells than so many times the rows are counted by sorting


def spread_apart(codes: Codes, levels: Ints, n: int, tables: Ints) -> tuple[Floats, Ints]:
    """Measure how far the rows of two groups are apart in the cells of some tables.

    Parameters
    ----------
    codes : ndarray of uint16 or uint32, shape (p, n + m)
        Codes of each column, from 0 on; the first n rows are of the first group. Indices without a sign are twice as
        fast.
    levels : ndarray of int64, shape (p,)
        How many codes each column may have.
    n
        Rows of the first group.
    tables : ndarray of int64, shape (t, 2)
        The two columns of each table; the second −1 for a table of one column.

    Returns
    -------
    apart : ndarray of float64, shape (t,)
        Sum over cells of (b − w c)² / w, with w rows in a cell, b of them in the second group, and c the share of all
        rows that are.
    cells : ndarray of int64, shape (t,)
        Cells that hold a row.

    Notes
    -----
    The work is one pass over the rows for each table; nothing of the size of all cells is kept.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1]], np.uint16)
    >>> apart, cells = spread_apart(codes, np.array([2]), 2, np.array([[0, -1]]))
    >>> apart.tolist(), cells.tolist()
    ([1.0], [2])
    """
    rows = codes.shape[1]
    wide = [int(levels[i]) * (1 if j < 0 else int(levels[j])) for i, j in tables]
    room = max((w for w in wide if w <= _DENSE * rows), default=0)
    apart, cells = np.zeros(len(tables)), np.zeros(len(tables), dtype=np.int64)
    _spread_apart(codes if codes.flags.c_contiguous else codes.copy(), levels, n, tables, room, apart, cells)
    return apart, cells


@compiled
def _spread_apart(codes: Codes, levels: Ints, n: int, tables: Ints, room: int, apart: Floats, cells: Ints) -> None:
    rows = codes.shape[1]
    share = (rows - n) / rows if rows else 0.0
    one, two = np.zeros(room, np.int64), np.zeros(room, np.int64)
    none = np.zeros(rows, codes.dtype)
    for t in range(len(tables)):
        a = codes[tables[t, 0]]
        b = codes[tables[t, 1]] if tables[t, 1] >= 0 else none
        width = levels[tables[t, 1]] if tables[t, 1] >= 0 else 1
        size = levels[tables[t, 0]] * width
        step = np.uint64(width)
        if size > room:
            apart[t], cells[t] = _by_sorting(a, b, width, n, share)
            continue
        one[:size] = 0
        two[:size] = 0
        for i in range(n):
            one[a[i] * step + b[i]] += 1
        for i in range(n, rows):
            two[a[i] * step + b[i]] += 1
        apart[t], cells[t] = _all_apart(one[:size], two[:size], share)


@compiled
def _all_apart(one: Ints, two: Ints, share: float) -> tuple[float, int]:
    total, cells = 0.0, 0
    for k in range(len(one)):
        if one[k] + two[k]:
            total += _apart(one[k], two[k], share)
            cells += 1
    return total, cells


@compiled
def _apart(one: int, two: int, share: float) -> float:
    return float((two - (one + two) * share) ** 2 / (one + two))


@compiled
def _by_sorting(a: Codes, b: Codes, width: int, n: int, share: float) -> tuple[float, int]:
    """The same for a table with more cells than can be kept: rows of one cell stand together once they are sorted."""
    rows = len(a)
    key = np.empty(rows, np.int64)
    for i in range(rows):
        key[i] = (np.int64(a[i]) * width + np.int64(b[i])) * 2 + (1 if i >= n else 0)
    key.sort()
    total, cells, start = 0.0, 0, 0
    while start < rows:
        end, two = start, 0
        while end < rows and key[end] >> 1 == key[start] >> 1:
            two += key[end] & 1
            end += 1
        total += _apart(end - start - two, two, share)
        cells += 1
        start = end
    return total, cells


def cells_apart(one: Ints, two: Ints, share: float) -> tuple[float, int]:
    """Measure how far two groups are apart in the cells of a table that was counted: as `spread_apart` does of rows.

    Parameters
    ----------
    one, two : ndarray of int64, shape (k,)
        Rows of each group in each cell.
    share
        Share of all rows that are of the second group.

    Examples
    --------
    >>> cells_apart(np.array([2, 0, 0]), np.array([0, 2, 0]), 0.5)
    (1.0, 2)
    """
    total, cells = _all_apart(one, two, share)
    return float(total), int(cells)


def count_cells(codes: Codes, levels: Ints, tables: Ints) -> Ints:
    """Count the rows in each cell of some tables.

    Parameters
    ----------
    codes, levels, tables
        As in `spread_apart`, of one group.

    Returns
    -------
    ndarray of int64
        The cells of one table after the other, those of two columns (i, j) at code i times the levels of j, plus code
        j. All cells are kept: tables must be small.

    Examples
    --------
    >>> codes = np.array([[0, 1, 1], [2, 0, 0]], np.uint16)
    >>> count_cells(codes, np.array([2, 3]), np.array([[0, -1], [0, 1]])).tolist()
    [1, 2, 0, 0, 1, 2, 0, 0]
    """
    wide = [int(levels[i]) * (1 if j < 0 else int(levels[j])) for i, j in tables]
    out = np.zeros(sum(wide), dtype=np.int64)
    starts = np.cumsum([0, *wide])[:-1].astype(np.int64)
    _count_cells(codes if codes.flags.c_contiguous else codes.copy(), levels, tables, starts, out)
    return out


@compiled
def _count_cells(codes: Codes, levels: Ints, tables: Ints, starts: Ints, out: Ints) -> None:
    rows = codes.shape[1]
    none = np.zeros(rows, codes.dtype)
    for t in range(len(tables)):
        a = codes[tables[t, 0]]
        b = codes[tables[t, 1]] if tables[t, 1] >= 0 else none
        step = np.uint64(levels[tables[t, 1]] if tables[t, 1] >= 0 else 1)
        own = out[starts[t] :]
        for i in range(rows):
            own[a[i] * step + b[i]] += 1
