"""Noise for sums: multiples of the largest contributions, so that it is as large as what it is to hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.keys import further
from sfumato.kernels.tabular.transition import Row, most_even

__all__ = ["Flex", "magnitude_noise", "steps"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_STEP = 4
"""Changes are looked up in steps of a fourth."""


@dataclass(frozen=True)
class Flex:
    """How large noise is in proportion to a contribution: much for small ones, little for large ones.

    Parameters
    ----------
    small, large
        Share of a contribution below the flex point, and the one it falls to for very large contributions.
    point
        The flex point, in units of the value.
    power
        How fast the share falls, above 1.
    shares
        Of the largest contribution, the second, ...: what part of the share is taken.
    floor
        Contributions below it get the noise of one of this size, so that very small cells are hidden as well.
    extra
        What is added to the size of the noise of unsafe cells (status u), in multiples of the noise's unit.

    Raises
    ------
    DataError
        Where a number is outside its range.

    Examples
    --------
    >>> Flex(small=0.3, large=0.03, point=1000.0).of(np.array([10.0, 1000.0, 1e9])).round(4).tolist()
    [0.3, 0.3, 0.03]
    """

    small: float = 0.3
    large: float = 0.03
    point: float = 1000.0
    power: float = 3.0
    shares: tuple[float, ...] = (1.0,)
    floor: float = 0.0
    extra: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.large <= self.small <= 1 or self.point <= 0 or self.power <= 1:
            raise DataError(
                "Noise is a share of contributions: 0 < large <= small <= 1; flex point above 0, power above 1."
            )
        if not self.shares or any(not 0 < one <= 1 for one in self.shares) or self.floor < 0 or self.extra < 0:
            raise DataError("Parts of contributions lie above 0 and up to 1; floor and extra are not negative.")

    def of(self, size: Floats) -> Floats:
        """The share of contributions of these sizes."""
        x = np.maximum(size, self.point)
        f = (self.small * x - self.large * self.point) / (self.large * self.point)
        return self.large * (1 + f * (2 * self.point / (self.point + x)) ** self.power)


def steps(largest: int, variance: float, monotone: bool = True) -> tuple[Row, ...]:
    """Transition tables for a value of 0, 1, ... units of its noise; between them is interpolated.

    Examples
    --------
    >>> [len(row.change) for row in steps(2, 1.0)]
    [1, 13, 17]
    """
    rows = [Row(np.zeros(1), np.ones(1))]
    for i in range(1, largest + 1):
        change = np.arange(-i * _STEP, largest * _STEP + 1) / _STEP
        rows.append(most_even(change, variance, rising=monotone))
    return tuple(rows)


def magnitude_noise(
    value: Floats, largest: Sequence[Floats], key: Floats, rows: tuple[Row, ...], flex: Flex, unsafe: Bools
) -> Floats:
    """The change of each sum.

    Parameters
    ----------
    value
        Sums, shape (cells,).
    largest
        The largest contributions' sizes, the second largest, ...; as many as `flex` has parts.
    key
        Keys of cells.
    rows
        Transition tables, from `steps`.
    flex
        How large noise is.
    unsafe
        Cells that get the extra.

    Returns
    -------
    ndarray, shape (cells,)
        No cell passes through 0; a cell of 0 stays 0.
    """
    sign = np.where(value < 0, -1.0, 1.0)
    now = np.abs(value)
    for number, (size, part) in enumerate(zip(largest, flex.shares, strict=True)):
        own = np.where(np.nan_to_num(size) > 0, np.maximum(np.nan_to_num(size), flex.floor), 0.0)
        unit = part * flex.of(own) * own
        key_now = key if number == 0 else further(key, number)
        v = _interpolated(np.divide(now, unit, out=np.zeros_like(now), where=unit > 0), key_now, rows)
        if number == 0 and flex.extra:
            up = np.where(v == 0, further(key, 1000) < 0.5, v > 0)
            v = v + np.where(unsafe, np.where(up, flex.extra, -flex.extra), 0.0)
        now = np.maximum(now + unit * v, 0.0)
    return np.where(value == 0, 0.0, sign * now - value)


def _interpolated(at: Floats, key: Floats, rows: tuple[Row, ...]) -> Floats:
    last = len(rows) - 1
    at = np.minimum(at, last)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, last)
    looked = np.stack([row.look_up(key) for row in rows])
    here = np.arange(len(at))
    between = at - low
    return (1 - between) * looked[low, here] + between * looked[high, here]
