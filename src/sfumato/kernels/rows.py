"""Rows of a table of numbers as values: hash them, find equal ones, scatter positions.

Everything here is public and fixed. It decides which rows stand together or are looked at first, and hides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distinct", "complete_rows", "distinct", "mostly_distinct", "row_hash", "scatter", "set_apart", "singled"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_LOOKED_AT = 2_000
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Distinct:
    """The distinct rows of a table.

    Parameters
    ----------
    points
        Each distinct row once, shape (m, p), in no particular order.
    inverse
        Which of `points` each row is, shape (n,).
    multiplicity
        How many rows each point stands for, shape (m,).
    first
        One row that is this point, shape (m,).
    """

    points: Floats
    inverse: Ints
    multiplicity: Ints
    first: Ints


def scatter(x: Words) -> Words:
    """Scatter 64-bit words so that neighbours go far apart: the finaliser of SplitMix64, a bijection.

    Source: Steele, Lea & Flood (2014), doi:10.1145/2660193.2660195.

    Examples
    --------
    >>> hex(int(scatter(np.array([0x9E3779B97F4A7C15], dtype=np.uint64))[0]))
    '0xe220a8397b1dcdaf'
    """
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def row_hash(z: Floats) -> Words:
    """Hash each row by the bits of its values; equal rows have equal hashes, whatever their place.

    Parameters
    ----------
    z : ndarray, shape (n, p)
        Finite values; −0 and 0 are one value.

    Returns
    -------
    ndarray, shape (n,), uint64

    Examples
    --------
    >>> h = row_hash(np.array([[1.0, 2.0], [0.0, 1.0], [-0.0, 1.0]]))
    >>> bool(h[1] == h[2]), bool(h[0] == h[1])
    (True, False)
    """
    h = np.zeros(len(z), dtype=np.uint64)
    for column in z.T:
        bits = np.ascontiguousarray(column + 0.0).view(np.uint64)
        h = scatter((h + _GOLDEN) ^ bits)
    return h


def singled(word: Words) -> Words:
    """Tell equal words apart by a number, so that rows that are equal, and so exchangeable, are drawn one by one.

    The first of its equals keeps its word. Which row that is hangs on the order of rows; what the words are does not.

    Parameters
    ----------
    word : ndarray, shape (n,), uint64

    Examples
    --------
    >>> found = singled(np.array([7, 9, 7, 7], dtype=np.uint64))
    >>> found[:2].tolist(), len(set(found.tolist()))
    ([7, 9], 4)
    """
    order = np.argsort(word, kind="stable")
    own = word[order]
    new = np.ones(len(own), dtype=bool)
    new[1:] = own[1:] != own[:-1]
    start = np.maximum.accumulate(np.where(new, np.arange(len(own)), 0))
    out = np.empty_like(word)
    out[order] = own + (np.arange(len(own)) - start).astype(np.uint64) * _GOLDEN
    return out


def distinct(z: Floats) -> Distinct:
    """Find the distinct rows, by their hashes; rows are compared in full, so that a collision changes nothing.

    Parameters
    ----------
    z : ndarray, shape (n, p)
        Finite values.

    Returns
    -------
    Distinct

    Examples
    --------
    >>> found = distinct(np.array([[1.0], [2.0], [1.0]]))
    >>> sorted(found.multiplicity.tolist()), bool(found.inverse[0] == found.inverse[2])
    ([1, 2], True)
    """
    z = np.ascontiguousarray(z)
    h = row_hash(z)
    order = np.argsort(h)
    new = np.ones(len(z), dtype=bool)
    new[1:] = h[order[1:]] != h[order[:-1]]
    twins = np.flatnonzero(~new)
    if np.any(z[order[twins]] != z[order[twins - 1]]):  # two different rows share a hash
        order = np.lexsort(z.T[::-1])
        new[1:] = (z[order[1:]] != z[order[:-1]]).any(axis=1)
    first = order[new]
    inverse = np.empty(len(z), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    ends = np.append(np.flatnonzero(new), len(z))
    return Distinct(z[first], inverse, np.diff(ends).astype(np.int64), first.astype(np.int64))


def mostly_distinct(z: Floats) -> bool:
    """Whether so few rows are equal that finding them is not worth the time, as far as a look at some of them tells.

    Parameters
    ----------
    z : ndarray, shape (n, p)

    Examples
    --------
    >>> mostly_distinct(np.arange(5.0)[:, None]), mostly_distinct(np.zeros((5, 2)))
    (True, False)
    """
    some = z[:: max(len(z) // _LOOKED_AT, 1)]
    return len(distinct(some).points) >= 0.99 * len(some)


def complete_rows(*tables: Floats) -> NDArray[np.bool_]:
    """Tell which rows have a value in every column of every table, shape (n,).

    Parameters
    ----------
    *tables : ndarray, shape (n, p)
        Tables of equal heights, NaN where a value is missing.

    Examples
    --------
    >>> complete_rows(np.array([[1.0], [np.nan]]), np.array([[2.0], [3.0]])).tolist()
    [True, False]
    """
    whole = np.ones(len(tables[0]), dtype=bool)
    for table in tables:
        for column in table.T:
            whole &= ~np.isnan(column)
    return whole


def set_apart(x: Floats, z: Floats, label: Ints) -> tuple[Floats, Floats]:
    """Add a coordinate that puts labelled groups so far apart that no nearest row is in another group.

    Within a group it adds exactly nothing to a distance, so one search tree serves all groups.

    Parameters
    ----------
    x, z : ndarray, shapes (n, p) and (n, p)
        Two tables of points; row i of both belongs to the same group.
    label : ndarray, shape (n,)
        Group of each row, 0, 1, …

    Examples
    --------
    >>> set_apart(np.zeros((2, 1)), np.ones((2, 1)), np.array([0, 1]))[0].tolist()
    [[0.0, 0.0], [0.0, 3.0]]
    """
    if x.shape[1] and not label.any():
        return x, z
    low, high = np.minimum(x.min(axis=0), z.min(axis=0)), np.maximum(x.max(axis=0), z.max(axis=0))
    far = label * (2 * float(np.linalg.norm(high - low)) + 1)
    return np.column_stack([x, far]), np.column_stack([z, far])
