"""Controlled tabular adjustment: values that add up, unsafe ones far enough from the true ones, at least cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.whole_numbers import Solved, parts_only, solve

__all__ = ["MOST_BINARY", "Asked", "adjusted"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST_BINARY = 2_000
"""Unsafe cells above which the direction in which each moves is fixed beforehand."""
_FLIPS = 50
"""So many fixed directions are turned around, one after the other, and kept where that is cheaper."""


@dataclass(frozen=True)
class Asked:
    """What is asked for, cell by cell; all arrays have shape (cells,).

    Parameters
    ----------
    matrix
        Equations, shape (m, cells): the changes must add up as the values do.
    unsafe
        Cells that must move.
    down_level, up_level
        How far each of these at least, one way or the other.
    down, up
        How far each cell may move at most.
    cost
        What a unit of change costs.
    whole
        Whether changes are whole numbers.
    """

    matrix: sp.csr_array
    unsafe: Bools
    down_level: Floats
    up_level: Floats
    down: Floats
    up: Floats
    cost: Floats
    whole: bool


def adjusted(asked: Asked, *, free: bool | None = None, seconds: float | None, gap: float = 0.0) -> Solved:
    """The change of each cell, with the least sum of costs.

    Parameters
    ----------
    asked
        The problem.
    free
        Whether each unsafe cell's direction is chosen with the rest (exact), or fixed beforehand; by size where None.
    seconds
        When to stop with the best that was found.
    gap
        The share at which to stop.

    Returns
    -------
    Solved
        Its values are the changes; without any, `optimal` says that there are none.

    Examples
    --------
    >>> row, one = sp.csr_array([[1, 1, -1]]), np.ones(3)
    >>> asked = Asked(row, np.array([True, False, False]), one, 2 * one, one, 9 * one, np.array([1, 1, 9.0]), True)
    >>> (adjusted(asked, seconds=None).values + 0.0).tolist()
    [-1.0, 1.0, 0.0]
    """
    begun = time.monotonic()
    primary = np.flatnonzero(asked.unsafe)
    if free is None:
        free = len(primary) <= MOST_BINARY
    if free:
        return _solved(asked, None, seconds, gap)
    relaxed = _solved(asked, None, seconds, gap, relax=True)
    if relaxed.values is None and relaxed.optimal:
        return relaxed
    for up in _ways(asked, primary, relaxed):
        left = None if seconds is None else max(seconds - (time.monotonic() - begun), 0.1)
        found = _solved(asked, up, left, gap)
        if found.values is not None:
            found = _flipped(asked, up, found, None if seconds is None else begun + seconds, gap)
            assert found.values is not None
            bound = relaxed.cost if relaxed.values is not None else 0.0
            apart = max(0.0, (found.cost - bound) / max(found.cost, 1e-12))
            return Solved(found.values, apart <= 1e-9, apart, found.cost)
    left = None if seconds is None else max(seconds - (time.monotonic() - begun), 0.1)
    return _solved(asked, None, left, gap)


def _ways(asked: Asked, primary: NDArray[np.int64], relaxed: Solved) -> list[Floats]:
    """Directions to try: those that the relaxed problem leans to, one up and one down, all up, all down."""
    n, p = len(asked.unsafe), len(primary)
    out = [np.arange(p) % 2 * 1.0, np.ones(p), np.zeros(p)]
    if relaxed.values is not None:
        change = relaxed.values[:n][primary]
        out.insert(0, (change > 0) * 1.0)
    must = np.where(asked.down[primary] < asked.down_level[primary], 1.0, np.nan)
    must = np.where(asked.up[primary] < asked.up_level[primary], 0.0, must)
    return [np.where(np.isnan(must), way, must) for way in out]


def _flipped(asked: Asked, way: Floats, found: Solved, until: float | None, gap: float) -> Solved:
    """Turn the directions of unsafe cells around, those first whose changes cost most, as long as it gets cheaper."""
    primary = np.flatnonzero(asked.unsafe)
    both = (asked.down >= asked.down_level)[primary] & (asked.up >= asked.up_level)[primary]
    tried = np.zeros(len(primary), dtype=bool)
    for _ in range(_FLIPS):
        assert found.values is not None
        left = None if until is None else until - time.monotonic()
        paid = np.where(both & ~tried, (asked.cost * np.abs(found.values))[primary], -1.0)
        if (left is not None and left <= 0) or paid.max(initial=-1.0) < 0:
            break
        # ties by tolerance, then by place, so that last bits decide nothing
        first = int(np.argmax(paid >= paid.max() * (1 - 1e-9)))
        tried[first] = True
        other = way.copy()
        other[first] = 1 - other[first]
        now = _solved(asked, other, left, gap)
        if now.values is not None and now.cost < found.cost * (1 - 1e-9):
            way, found = other, now
    return found


def _solved(asked: Asked, way: Floats | None, seconds: float | None, gap: float, relax: bool = False) -> Solved:
    n, primary = len(asked.unsafe), np.flatnonzero(asked.unsafe)
    p = len(primary)
    plain = asked.matrix.astype(np.float64)
    m = plain.shape[0]
    none = sp.csr_array((m, p))
    rows = [sp.hstack([plain, -plain, none], format="csr")]
    pick = sp.csr_array((np.ones(p), (np.arange(p), primary)), shape=(p, n))
    empty = sp.csr_array((p, n))
    over, under = asked.up[primary], asked.down[primary]
    high_level, low_level = asked.up_level[primary], asked.down_level[primary]
    # up >= level s, up <= most s; down >= level (1 - s), down <= most (1 - s)
    rows += [
        sp.hstack([pick, empty, -sp.diags_array(high_level)], format="csr"),
        sp.hstack([pick, empty, -sp.diags_array(over)], format="csr"),
        sp.hstack([empty, pick, sp.diags_array(low_level)], format="csr"),
        sp.hstack([empty, pick, sp.diags_array(under)], format="csr"),
    ]
    inf, zero = np.full(p, np.inf), np.zeros(p)
    least = np.concatenate([np.zeros(m), zero, -inf, low_level, -inf])
    most = np.concatenate([np.zeros(m), inf, zero, inf, under])
    low = np.concatenate([np.zeros(2 * n), zero if way is None else way])
    high = np.concatenate([asked.up, asked.down, np.ones(p) if way is None else way])
    cost = np.concatenate([asked.cost, asked.cost, zero])
    counted = parts_only(asked.matrix) & (asked.whole and not relax)
    whole = np.concatenate([counted, counted, np.full(p, not relax)])
    found = solve(sp.csr_array(sp.vstack(rows)), least, most, cost, low, high, whole, seconds=seconds, gap=gap)
    if found.values is None:
        return found
    change = found.values[:n] - found.values[n : 2 * n]
    if asked.whole and not relax:
        change = np.round(change)
    return Solved(change, found.optimal, found.gap, float(asked.cost @ np.abs(change)))
