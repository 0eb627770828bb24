"""How much one record may weigh: numbers far out count for nothing, designs far out for less."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sfumato.kernels.protected.fitted import Unfit

__all__ = ["BLOCK", "Leverage", "blocks", "ends", "inverse", "leverage", "root", "thin", "up", "within"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

BLOCK = 1 << 14
"""Rows a block: small enough for the cache, large enough for BLAS."""
_TAIL = 0.01
_TOP = 0.99
_FEW = 10


def blocks(n: int) -> Iterator[slice]:
    """Rows in blocks.

    Examples
    --------
    >>> list(blocks(3))
    [slice(0, 16384, None)]
    """
    return (slice(i, i + BLOCK) for i in range(0, n, BLOCK))


def ends(x: Floats, tail: float = _TAIL) -> tuple[float, float]:
    """Between which numbers of a column are not far out: [q₁ − d, q₉₉ + d], d = q₉₉ − q₁ (percentiles, or other tails).

    Where both percentiles are one number (an indicator of something rare), those of all other numbers count beside it.

    Examples
    --------
    >>> ends(np.arange(101.0))
    (-97.0, 197.0)
    >>> ends(np.array([0.0] * 999 + [1.0]))
    (-1.0, 2.0)
    """
    low, high = np.quantile(x, (tail, 1 - tail))
    if low == high:
        others = x[x != low]
        if len(others):
            least, most = np.quantile(others, (tail, 1 - tail))
            low, high = min(low, least), max(high, most)
    return float(2 * low - high), float(2 * high - low)


def within(columns: Floats, tail: float = _TAIL) -> Mask:
    """Tell which records have no number far out in any column.

    Parameters
    ----------
    columns : ndarray, shape (n, p)
        Numbers of the records of a subsample.
    tail
        As for `ends`.

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> within(np.append(np.arange(99.0), 1e6)[:, None]).sum()
    np.int64(99)
    """
    inside = np.ones(len(columns), dtype=bool)
    for column in columns.T:
        low, high = ends(column, tail)
        inside &= (column >= low) & (column <= high)
    return inside


def thin(n: int, tail: float = _TAIL) -> float:
    """Tail of a response beyond which it is far out: ten records where that is less.

    The mean goes with what is taken from a long tail (costs), the noise with its length over the root of n.

    Examples
    --------
    >>> thin(500), thin(100_000)
    (0.01, 0.0001)
    """
    return min(tail, _FEW / n)


def root(J: Floats) -> Floats:
    """Lower triangle L of J = L Lᵀ.

    Raises
    ------
    Unfit
        `singular`.

    Examples
    --------
    >>> root(np.diag([4.0, 9.0])).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    try:
        return np.asarray(np.linalg.cholesky(J))
    except np.linalg.LinAlgError:
        raise Unfit("singular") from None


def inverse(slope: Floats) -> Floats:
    """Invert how a score falls; where it hardly does, noise has taken the estimates away.

    Raises
    ------
    Unfit
        `noise`.

    Examples
    --------
    >>> inverse(np.diag([2.0, 4.0])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    try:
        return np.asarray(np.linalg.inv(slope))
    except np.linalg.LinAlgError:
        raise Unfit("noise") from None


def up(x: float) -> float:
    """Round up to 2 significant digits.

    Examples
    --------
    >>> up(4.41), up(0.0), up(12.0)
    (4.5, 0.0, 12.0)
    """
    if x <= 0:
        return 0.0
    place = math.floor(math.log10(x)) - 1
    digits = math.ceil(round(x / 10.0**place, 9))
    return float(f"{digits}e{place}")


@dataclass(frozen=True)
class Leverage:
    """How far out designs lie, and what weight that leaves them.

    Parameters
    ----------
    L
        Lower triangle of J = Σ v x xᵀ / n, shape (p, p).
    a
        |L⁻¹x| (times `scale`) of each row, shape (n,).
    m
        Its 99th percentile, up to 2 digits.
    w
        Weights min(1, m / a), shape (n,).
    """

    L: Floats
    a: Floats
    m: float
    w: Floats


def leverage(E: Floats, v: Floats | None = None, scale: Floats | None = None) -> Leverage:
    """Weigh rows by how far out their design lies.

    Parameters
    ----------
    E : ndarray, shape (n, p)
        Design.
    v : ndarray, shape (n,), optional
        Information of each row's response about its linear predictor; 1 where there is none.
    scale : ndarray, shape (n,), optional
        What each row's residual may be at most, up to a factor; 1 where there is none.

    Raises
    ------
    Unfit
        Where some column hangs on others.

    Examples
    --------
    >>> found = leverage(np.array([[1.0], [1.0], [4.0], [1.0]]))
    >>> found.L.round(3).tolist(), found.m
    ([[2.179]], 1.8)
    """
    n, p = E.shape
    J = np.zeros((p, p))
    for rows in blocks(n):
        e = E[rows]
        J += e.T @ (e if v is None else e * v[rows, None])
    J /= n
    L = root(J)
    turn = solve_triangular(L, np.eye(p), lower=True).T
    a = np.empty(n)
    for rows in blocks(n):
        z = E[rows] @ turn
        a[rows] = np.sqrt(np.einsum("ij,ij->i", z, z))
    if scale is not None:
        a *= scale
    m = up(float(np.quantile(a, _TOP)))
    if m == 0:
        raise Unfit("singular")
    return Leverage(L, a, m, m / np.maximum(a, m))
