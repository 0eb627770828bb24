"""Maximum-entropy transition tables: how likely each change of a count is, with mean 0 and a bounded variance.

Without further conditions the distribution is p(v) proportional to exp(a v + b v^2): its dual has two variables and is
solved by Newton steps. Where p must not fall towards 0 from the left, values that break this are pooled (the isotonic
regression of the exponents), and the dual stays convex with a continuous gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Infeasible", "Row", "most_even", "reach", "support"]

Floats = NDArray[np.float64]
_NEAR = 1e-9
"""Variances that differ by this share are equal."""
_GRID = 12
"""Decimal places of cumulated probabilities: a look-up hangs on no last bit."""


class Infeasible(Exception):
    """No distribution on these values has mean 0 and the variance asked for."""


@dataclass(frozen=True)
class Row:
    """One row: changes that are possible, and how likely each is.

    Parameters
    ----------
    change
        Rising, shape (n,).
    probability
        Positive, summing to 1, shape (n,).

    Examples
    --------
    >>> row = Row(np.array([-1.0, 0.0, 1.0]), np.array([0.25, 0.5, 0.25]))
    >>> row.look_up(np.array([0.1, 0.25, 0.5, 0.9])).tolist(), row.variance
    ([-1.0, -1.0, 0.0, 1.0], 0.5)
    """

    change: Floats
    probability: Floats

    @property
    def variance(self) -> float:
        """The variance of the change."""
        return float(self.probability @ self.change**2)

    @property
    def upper(self) -> Floats:
        """Up to which key each change is taken, shape (n,)."""
        out = np.asarray(np.round(np.cumsum(self.probability), _GRID), dtype=np.float64)
        out[-1] = 1.0
        return out

    def look_up(self, key: Floats) -> Floats:
        """The change for each key of [0, 1): the first whose cumulated probability is not below it."""
        found: Floats = self.change[np.searchsorted(self.upper, key, side="left")]
        return found


def support(count: int, largest: int, forbidden: int) -> Floats:
    """Changes that are possible of a count: by `largest` at most, to nothing below 0 and none of 1 to `forbidden`.

    Examples
    --------
    >>> support(3, 2, 1).tolist(), support(0, 2, 1).tolist()
    ([-1.0, 0.0, 1.0, 2.0], [0.0])
    """
    if count == 0:
        return np.zeros(1)
    to = np.arange(max(0, count - largest), count + largest + 1)
    return np.asarray(to[(to == 0) | (to > forbidden)] - count, dtype=np.float64)


def reach(change: Floats) -> tuple[float, float]:
    """The least and the largest variance of a distribution with mean 0; NaN where there is none.

    Examples
    --------
    >>> reach(np.array([-2.0, 1.0, 2.0]))
    (2.0, 4.0)
    """
    if np.any(change == 0):
        least = 0.0
    elif not len(change) or change[0] > 0 or change[-1] < 0:
        return float("nan"), float("nan")
    else:
        least = float(-change[change < 0][-1] * change[change > 0][0])
    return least, float(max(0.0, -change[0]) * max(0.0, change[-1]))


def most_even(change: Floats, variance: float, *, exact: bool = False, stay: float = 0.0, rising: bool = False) -> Row:
    """The distribution of largest entropy with mean 0 and at most the variance.

    Parameters
    ----------
    change
        Values that are possible, rising.
    variance
        The largest variance; with `exact`, the variance.
    stay
        Least probability of no change.
    rising
        Whether p may not fall from the left up to 0.

    Raises
    ------
    Infeasible
        Where there is none.

    Examples
    --------
    >>> most_even(np.array([-1.0, 0.0, 1.0]), 0.5).probability.round(4).tolist()
    [0.25, 0.5, 0.25]
    """
    least, largest = reach(change)
    if not least <= variance * (1 + _NEAR) or (exact and variance > largest * (1 + _NEAR)):
        raise Infeasible
    if len(change) == 1:
        return Row(change, np.ones(1))
    free = _solved(change, variance, exact, rising)
    if stay > 0 and not np.any(change == 0):
        raise Infeasible
    at = np.flatnonzero(free.change == 0)
    if stay <= 0 or (len(at) and free.probability[at[0]] >= stay):
        return free
    return _staying(change, variance, exact, stay, rising)


def _staying(change: Floats, variance: float, exact: bool, stay: float, rising: bool) -> Row:
    """The same where the bound on staying holds: the others share the rest, with a larger variance of their own."""
    others = change[change != 0]
    rest = variance / (1 - stay) if stay < 1 else np.inf
    if not len(others) or stay >= 1:
        if exact and variance > 0:
            raise Infeasible
        return Row(np.zeros(1), np.ones(1))
    moved = most_even(others, rest, exact=exact, rising=rising)
    values = np.append(moved.change, 0.0)
    probability = np.append(moved.probability * (1 - stay), stay)
    order = np.argsort(values)
    out = Row(values[order], probability[order])
    if rising and np.any(np.diff(out.probability[out.change <= 0]) < -1e-12):
        raise Infeasible
    return out


def _solved(change: Floats, variance: float, exact: bool, rising: bool) -> Row:
    least, largest = reach(change)
    left = int(np.sum(change <= 0)) if rising else 0
    if variance <= least * (1 + _NEAR) or (exact and variance >= largest * (1 - _NEAR)):
        return _two(change, variance <= least * (1 + _NEAR))
    if not exact:
        p = _newton(change, np.array([0.0]), left)
        if float(p @ change**2) <= variance * (1 + _NEAR):
            return Row(change, p)
    p = _newton(change, np.array([0.0, variance]), left)
    if abs(float(p @ change**2) - variance) > 1e-6 * variance or abs(float(p @ change)) > 1e-6:
        raise Infeasible  # a larger variance than p that rises up to 0 allows
    return Row(change[p > 0], p[p > 0])


def _two(change: Floats, nearest: bool) -> Row:
    """The only distribution at the ends: on the two values next to 0, or on the two farthest ones."""
    if nearest and np.any(change == 0):
        return Row(np.zeros(1), np.ones(1))
    low, high = (change[change < 0][-1], change[change > 0][0]) if nearest else (change[0], change[-1])
    return Row(np.array([low, high]), np.array([high, -low]) / (high - low))


def _newton(change: Floats, moments: Floats, left: int) -> Floats:
    """Probabilities with the given moments (mean, second moment), pooled on the `left` first values where they fall."""
    features = np.stack([change ** (k + 1) for k in range(len(moments))], axis=1)
    scale = np.max(np.abs(features), axis=0)
    features, goal = features / scale, moments / scale
    x = np.zeros(len(moments))
    value, p, pooled = _dual(x, features, goal, left)
    for _ in range(500):
        slope = p @ pooled - goal
        if np.max(np.abs(slope)) < 1e-14:
            break
        centred = pooled - p @ pooled
        curve = (centred * p[:, None]).T @ centred + 1e-14 * np.eye(len(x))
        step = -np.linalg.solve(curve, slope)
        size = 1.0
        while size > 1e-12:
            trial = _dual(x + size * step, features, goal, left)
            if trial[0] <= value + 1e-4 * size * float(slope @ step) + 1e-16:
                break
            size /= 2
        else:
            break
        x = x + size * step
        value, p, pooled = trial
    return p


def _dual(x: Floats, features: Floats, goal: Floats, left: int) -> tuple[float, Floats, Floats]:
    """The dual's value, the probabilities there, and the features of each value's pool."""
    pooled = features
    if left > 1:
        pool = _pools((features @ x)[:left])
        pooled = features.copy()
        for start, end in pool:
            pooled[start:end] = features[start:end].mean(axis=0)
    z = pooled @ x
    top = float(z.max())
    weight = np.exp(z - top)
    total = float(weight.sum())
    return top + np.log(total) - float(goal @ x), weight / total, pooled


def _pools(z: Floats) -> list[tuple[int, int]]:
    """Runs whose means rise: neighbours that fall are pooled."""
    pools: list[tuple[int, int, float]] = []
    for i, one in enumerate(z.tolist()):
        start, mean = i, one
        while pools and pools[-1][2] > mean:
            before, end, above = pools.pop()
            mean = (above * (end - before) + mean * (i + 1 - start)) / (i + 1 - before)
            start = before
        pools.append((start, i + 1, mean))
    return [(start, end) for start, end, _ in pools]
