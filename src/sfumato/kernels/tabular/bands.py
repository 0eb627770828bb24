"""Which columns of codes are bands of a number: sorted by code, the ranges of the number do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["banded"]

Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger[Any]]

_SAMPLE = 2_000


def banded(value: Floats, columns: Sequence[Codes]) -> list[bool]:
    """Of each column of codes whether it is a band of a number.

    Rows without a value say nothing. A column of which one code alone comes with values is no band.

    Parameters
    ----------
    value : ndarray of float64, shape (rows,)
        Not a number where it is missing.
    columns : sequence of ndarray, each of shape (rows,)
        Numbers of codes.

    Examples
    --------
    >>> banded(np.array([31.0, 4, 18, np.nan]), [np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])])
    [True, False]
    """
    known = np.flatnonzero(np.isfinite(value))
    some = known[:: max(1, len(known) // _SAMPLE)]
    some = some[np.argsort(value[some], kind="stable")]
    left = [i for i, code in enumerate(columns) if _runs(value[some], code[some])]
    out = [False] * len(columns)
    if left:
        order = known[np.argsort(value[known], kind="stable")]
        for i in left:
            code = columns[i][order]
            out[i] = _runs(value[order], code) and bool((code != code[0]).any())
    return out


def _runs(value: Floats, code: Codes) -> bool:
    """Whether rows in rising order of a value have each code in one run, and no value has two codes."""
    at = np.flatnonzero(code[1:] != code[:-1])
    return len(np.unique(code)) == len(at) + (len(code) > 0) and bool((value[at] < value[at + 1]).all())
