"""Controlled tabular adjustment: values that add up, unsafe ones far enough from the true ones, at least cost."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.asked import Asked
from sfumato.kernels.tabular.turning import balanced, forced, turned
from sfumato.kernels.tabular.whole_numbers import Solved, parts_only, solve

__all__ = ["MOST_BINARY", "adjusted", "on_decimals"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MOST_BINARY = 2_000
"""Unsafe cells above which the direction in which each moves is fixed beforehand."""
_EFFORT, _ALONE = 20_000, 60_000
"""Steps of the simplex method in which directions are turned around: before an exact search, and in place of one."""
_NEAR = 1e-9


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
    if not len(primary):
        return _solved(asked, np.zeros(0), seconds, gap)
    relaxed = _solved(asked, None, seconds, 0.0, relax=True)
    if relaxed.values is None and relaxed.optimal:
        return relaxed
    bound = relaxed.cost if relaxed.optimal else 0.0
    best = _by_turning(asked, relaxed, bound, gap, _EFFORT if free else _ALONE, _left(seconds, begun))
    if best is not None and _apart(best.cost, bound) <= max(gap, _NEAR):
        return _said(best, bound)
    if not free and best is not None:
        return _said(best, bound)
    within = asked if best is None else _within(asked, best.cost, bound)
    found = _solved(within, None, _left(seconds, begun), gap)
    if found.values is None and best is None:
        return found
    proved = bound if found.gap is None else max(bound, found.cost * (1 - found.gap))
    if found.values is None or (best is not None and best.cost < found.cost * (1 - _NEAR)):
        assert best is not None
        found = best
    return found if found.optimal else _said(found, min(proved, found.cost))


def on_decimals(asked: Asked, found: Solved, unit: float, seconds: float | None) -> tuple[Solved, bool]:
    """The changes as multiples of a unit, each beside what was found; and whether such multiples add up.

    Levels and the most that cells can move are multiples already, so that what is beside a change keeps them.

    Examples
    --------
    >>> row, one = sp.csr_array([[1, 1, -1]]), np.ones(3)
    >>> asked = Asked(row, one < 0, one, one, 9 * one, 9 * one, np.array([1, 2, 1.0]), False)
    >>> done, fits = on_decimals(asked, Solved(np.array([1.25, 0.75, 2.0]), True, 0.0, 4.5), 0.5, None)
    >>> done.values.tolist(), done.optimal, fits
    ([1.5, 0.5, 2.0], True, True)
    """
    assert found.values is not None
    change = found.values / unit
    near = np.round(change)
    change = np.where(np.abs(change - near) <= 1e-6 * np.maximum(np.abs(change), 1.0), near, change)
    if np.array_equal(change, near) and not np.any(asked.matrix @ near):
        return replace(found, values=near * unit), True
    under = np.floor(change)
    plain = sp.csr_array(asked.matrix.astype(np.float64))
    apart = change != under
    right, none = -(plain @ under), np.zeros(len(change))
    dearer = asked.cost * np.where(change > 0, 1.0, -1.0)  # to go up is to go further where a change goes up
    whole = parts_only(asked.matrix) & apart
    beside = solve(plain, right, right, dearer, none, apart * 1.0, whole, seconds=seconds)
    if beside.values is None:
        return found, False
    values = (under + np.round(beside.values)) * unit
    cost = float(asked.cost @ np.abs(values))
    if not found.optimal and found.gap is None:
        return replace(found, values=values, cost=cost), True
    return _said(replace(found, values=values, cost=cost), min(found.cost * (1 - (found.gap or 0.0)), cost)), True


def _left(seconds: float | None, begun: float) -> float | None:
    return None if seconds is None else max(seconds - (time.monotonic() - begun), 0.1)


def _apart(cost: float, bound: float) -> float:
    return max(0.0, (cost - bound) / max(cost, 1e-12))


def _said(found: Solved, bound: float) -> Solved:
    """The solution, with how far it may be from the best by a bound on the cost of all."""
    apart = _apart(found.cost, bound)
    return Solved(found.values, apart <= _NEAR, 0.0 if apart <= _NEAR else apart, found.cost)


def _by_turning(
    asked: Asked, relaxed: Solved, bound: float, gap: float, effort: int, seconds: float | None
) -> Solved | None:
    """The best of directions that are turned around one after the other; None where none was found to fit."""
    begun, least = time.monotonic(), bound / (1 - gap) if gap < 1 else np.inf
    for way in _ways(asked, relaxed):
        found = turned(asked, way, effort=effort, enough=least * (1 + _NEAR), seconds=_left(seconds, begun))
        if np.isfinite(found.cost):
            done = _solved(asked, found.way, _left(seconds, begun), gap)
            if done.values is not None:
                return Solved(done.values, False, None, done.cost)
    return None


def _within(asked: Asked, cost: float, bound: float) -> Asked:
    """How far cells can move where all together cost no more than a solution that is known.

    Every solution costs what the unsafe cells' levels cost, and no cell can spend more beyond that than what is left.
    """
    level = np.where(asked.unsafe, np.minimum(asked.up_level, asked.down_level), 0.0)
    left = cost * (1 + 1e-6) - float(asked.cost @ level)
    further = left / np.maximum(asked.cost, 1e-300)
    up, down = (np.where(asked.unsafe, own, 0.0) + further for own in (asked.up_level, asked.down_level))
    up, down = np.minimum(asked.up, up), np.minimum(asked.down, down)
    if asked.whole:
        up, down = np.floor(up + _NEAR), np.floor(down + _NEAR)
    return replace(asked, up=up, down=down)


def _ways(asked: Asked, relaxed: Solved) -> list[Floats]:
    """Directions to begin with: balanced, those that the relaxed problem leans to, in turn, all up, all down."""
    primary, must = np.flatnonzero(asked.unsafe), forced(asked)
    out = [balanced(asked), np.arange(len(primary)) % 2 * 1.0, np.ones(len(primary)), np.zeros(len(primary))]
    if relaxed.values is not None:
        out.insert(1, (relaxed.values[primary] > 0) * 1.0)
    return [np.where(must >= 0, must, way) for way in out]


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
    if relax:
        return Solved(change, found.optimal, found.gap, found.cost)
    if asked.whole:
        change = np.round(change)
    return Solved(change, found.optimal, found.gap, float(asked.cost @ np.abs(change)))
