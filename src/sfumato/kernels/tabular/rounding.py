"""Rounding of values to multiples of a base."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.whole_numbers import Solved, parts_only, solve

__all__ = ["additive", "parted", "to_nearest"]

Floats = NDArray[np.float64]
_NEAR = 1e-9


def parted(value: Floats, base: float) -> tuple[Floats, Floats]:
    """Each value as a number of bases and a rest, 0 where it is a multiple but for floating-point noise.

    Examples
    --------
    >>> [part.tolist() for part in parted(np.array([0.0, 7.0, 10.0]), 5)]
    [[0.0, 1.0, 2.0], [0.0, 2.0, 0.0]]
    """
    nearest = np.round(value / base)
    multiple = np.abs(value - nearest * base) <= _NEAR * np.maximum(np.abs(value), base)
    number = np.where(multiple, nearest, np.floor(value / base))
    return number, np.where(multiple, 0.0, value - number * base)


def to_nearest(value: Floats, base: float) -> Floats:
    """The nearest multiple; half-way values go up.

    Examples
    --------
    >>> to_nearest(np.array([2.0, 3.0, 7.5]), 5).tolist()
    [0.0, 5.0, 10.0]
    """
    number, rest = parted(value, base)
    return base * (number + (rest >= base / 2 * (1 - _NEAR)))


def additive(
    matrix: sp.csr_array,
    value: Floats,
    base: float,
    steps: int,
    seconds: float | None,
    lines: Floats | None = None,
) -> Solved:
    """Multiples beside each value that add up, with the least sum of changes.

    Parameters
    ----------
    matrix
        Equations, shape (m, cells): matrix @ value = 0.
    value
        The cells' values, not negative.
    base
        Published values are multiples of it.
    steps
        So many multiples beyond the two beside a value may be taken. Zeros stay.
    seconds
        When to stop with the best that was found.
    lines
        How many lines of the table each cell is; one where nothing is said. Changes are summed over lines.

    Returns
    -------
    Solved
        `values` are the rounded ones, and `cost` the sum of changes.

    Examples
    --------
    >>> found = additive(sp.csr_array([[1, 1, -1]]), np.array([1.0, 1.0, 2.0]), 3, 0, None)
    >>> sorted(found.values.tolist()), found.cost
    ([0.0, 0.0, 0.0], 4.0)
    """
    number, rest = parted(value, base)
    n = len(value)
    weight = np.ones(n) if lines is None else lines
    # a value goes up by z, which costs b - 2 r beside the r that going down costs, and further by p or q whole bases
    free = (value != 0).astype(np.float64)
    blocks = [np.where(rest > 0, 1.0, 0.0)]
    costs = [weight * (base - 2 * rest)]
    if steps:
        blocks += [steps * free, np.minimum(steps, number) * free]
        costs += [weight * base, weight * base]
    high = np.concatenate(blocks)
    signs = (1, 1, -1)[: len(blocks)]
    plain = matrix.astype(np.float64)
    full = sp.csr_array(sp.hstack([sign * plain for sign in signs], format="csr"))
    right = -(plain @ number)
    none = np.zeros(len(high))
    whole = np.tile(parts_only(matrix), len(blocks))
    paid = float(weight @ rest)
    found = solve(full, right, right, np.concatenate(costs), none, high, whole, offset=paid, seconds=seconds)
    if found.values is None:
        return found
    moved = sum(sign * part for sign, part in zip(signs, np.split(found.values, len(blocks)), strict=True))
    rounded = base * (number + np.round(moved))
    return Solved(rounded, found.optimal, found.gap, float(weight @ np.abs(rounded - value)))
