"""Which columns of numbers add up: one is the sum of others, some of them taken away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["adding_up"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SAMPLE = 5_000
_NEAR = 1e-9
"""How far a sum may be from what it adds up to, relative to the largest part."""
_LEFT = 1e-7
"""What is left at most, relative to its length, of a column that others give."""


def adding_up(values: Floats, weights: Ints | None = None) -> list[tuple[Ints, int]]:
    """Find relations between columns whose coefficients are 1 and -1, on all rows in which they are known.

    Every column that those before it give has one relation to those of them that none before gives.

    Parameters
    ----------
    values : ndarray of float64, shape (rows, columns)
        Not a number where it is missing.
    weights
        How many people each row stands for; one where it is None.

    Returns
    -------
    list of (ndarray of int64, int)
        Of each relation the coefficient of every column (they add up to 0 on every row; -1, 0 or 1, the first that is
        not 0 being 1), and for how many people it was confirmed.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> drugs, nursing = rng.integers(1, 999, (2, 60)).astype(float)
    >>> [(own.tolist(), rows) for own, rows in adding_up(np.stack([drugs, drugs + nursing, nursing], axis=1))]
    [([1, -1, 1], 60)]
    """
    able = [i for i in range(values.shape[1]) if _varies(values[:, i])]
    rows, able = _complete(values, able)
    out = []
    if len(able) > 1:
        for own in _relations(rows):
            whole = np.zeros(values.shape[1], dtype=np.int64)
            whole[able] = own * own[np.flatnonzero(own)[0]]
            if confirmed := _holds(values, whole, weights):
                out.append((whole, confirmed))
    return out


def _varies(value: Floats) -> bool:
    known = value[np.isfinite(value)]
    return bool(len(known) and known.min() < known.max())


def _complete(values: Floats, able: list[int]) -> tuple[Floats, list[int]]:
    """Different rows without a missing value: columns that have the most are left out until there are enough."""
    known = {i: np.isfinite(values[:, i]) for i in able}
    while able:
        held = np.flatnonzero(np.logical_and.reduce([known[i] for i in able]))
        some = held[np.unique(np.linspace(0, len(held) - 1, min(len(held), _SAMPLE)).astype(np.int64))]
        enough = max(10, 2 * len(able))
        for rows in (some, held):
            different = np.unique(values[rows][:, able], axis=0)
            if len(different) >= enough:
                return different, able
        able = [i for i in able if i != min(able, key=lambda one: int(known[one].sum()))]
    return np.zeros((0, 0)), []


def _relations(values: Floats) -> list[Ints]:
    """Least squares of every column on those before it that none of these gives; coefficients are rounded."""
    scaled = values / np.maximum(np.abs(values).max(axis=0), np.finfo(np.float64).tiny)
    kept: list[int] = []
    basis = np.zeros((len(values), 0))
    out = []
    for i in range(values.shape[1]):
        left = scaled[:, i].copy()
        for _ in range(2):  # once more for what rounding left
            left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) > _LEFT * np.linalg.norm(scaled[:, i]):
            kept.append(i)
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            continue
        if not kept:
            continue
        found = np.linalg.lstsq(values[:, kept], values[:, i], rcond=None)[0]
        own = np.zeros(values.shape[1], dtype=np.int64)
        own[kept] = -np.rint(np.clip(found, -2, 2)).astype(np.int64)
        own[i] = 1
        if np.abs(own).max() == 1 and np.abs(own).sum() > 1:
            out.append(own)
    return out


def _holds(values: Floats, own: Ints, weights: Ints | None) -> int:
    """For how many people a relation holds, of all whose columns are known; none where it fails for one."""
    used = np.flatnonzero(own)
    parts = values[:, used] * own[used]
    known = np.isfinite(parts).all(axis=1)
    near = np.abs(parts[known].sum(axis=1)) <= _NEAR * np.abs(parts[known]).max(axis=1)
    if not near.all():
        return 0
    return int(known.sum()) if weights is None else int(weights[known].sum())
