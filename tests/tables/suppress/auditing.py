"""An audit written from the matrix alone, without anything of ours: the interval of a cell by plain programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tests.ends import Ends

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def attack(
    matrix: sp.csr_array, value: Floats, hidden: Bools, lower: Floats, upper: Floats
) -> Callable[[int], tuple[float, float]]:
    """What an attacker finds of each hidden cell: the least and the greatest value it may have."""
    cells = np.flatnonzero(hidden)
    a = sp.csr_array(matrix).astype(float)
    rows = a[:, cells]
    right = -(a[:, np.flatnonzero(~hidden)] @ value[~hidden])
    used = np.flatnonzero(abs(rows).sum(axis=1))
    ends = Ends(rows[used], right[used], lower[cells], upper[cells])
    return lambda cell: ends.of(int(np.searchsorted(cells, cell)))


def shortfalls(
    matrix: sp.csr_array,
    value: Floats,
    primary: Bools,
    hidden: Bools,
    *,
    lower: Floats,
    upper: Floats,
    lower_level: Floats | None = None,
    upper_level: Floats | None = None,
    sliding_level: Floats | None = None,
    known: Sequence[int] = (),
) -> Iterator[int]:
    """Primary cells that are determined, or that do not reach their level; for an insider who knows some cells."""
    zero = np.zeros(len(value))
    down, up, both = (zero if x is None else x for x in (lower_level, upper_level, sliding_level))
    seen = hidden.copy()
    seen[list(known)] = False
    interval = attack(matrix, value, seen, lower, upper)
    for cell in np.flatnonzero(primary & seen).tolist():
        low, high = interval(cell)
        slack = 1e-5 * max(1.0, down[cell], up[cell], both[cell])
        short = value[cell] - low < down[cell] - slack or high - value[cell] < up[cell] - slack
        if short or high - low < both[cell] - slack or high - low < 1e-6:
            yield cell


def weak(*asked: Any, **known: Any) -> list[int]:
    """All of them."""
    return list(shortfalls(*asked, **known))
