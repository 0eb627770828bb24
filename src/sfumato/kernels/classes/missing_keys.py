"""Counts of records that share their keys, where keys may be missing and a missing part may match anything.

Patterns are joined by which of their parts are known, never pair by pair: two patterns are compatible where they agree
on the parts that both know, so that for every two sets of known parts one sorted lookup serves all their patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.classes.joining import Blocks, join_compatible

__all__ = ["Counted", "count_with_missing", "known_parts", "packed_rows", "relying_on_wildcards"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 2**62
"""Packed numbers stay below it."""


@dataclass(frozen=True)
class Counted:
    """How many records each pattern counts.

    Parameters
    ----------
    f
        Records of the file that share the pattern, shape (P,). Not whole where alpha is not.
    population
        The same with sampling weights, shape (P,): records of the population.
    """

    f: Floats
    population: Floats


def count_with_missing(
    codes: Ints, counts: Ints | Floats, weights: Floats | None = None, alpha: float | None = None
) -> Counted:
    """Count the records that share each pattern of keys.

    A complete pattern counts itself and alpha times each incomplete one that is compatible with it. A pattern with
    missing parts counts itself, every complete one that agrees on its known parts, and alpha times every other
    incomplete one that is compatible. One without any known part counts all records, and adds nothing to complete ones.

    It tells how hard a record is to single out for somebody who knows its keys and reads a gap as "may be anyone". It
    does not tell what the gap hides: whoever reads missing as a value of its own sees smaller classes
    (`relying_on_wildcards`).

    Parameters
    ----------
    codes : ndarray, shape (P, m)
        Distinct patterns: the number of each key's value, −1 where it is missing.
    counts : ndarray, shape (P,)
        Records of each pattern, or parts of them.
    weights : ndarray, shape (P,), optional
        Sum of their sampling weights; without them `population` is `f`.
    alpha : float, optional
        Weight of a compatible incomplete pattern, 0 to 1; 1 matches everything. None: missing is a value of its own,
        and every pattern counts itself alone.

    Raises
    ------
    DataError
        If alpha is outside [0, 1].

    Examples
    --------
    >>> count_with_missing(np.array([[0, 0], [0, 1], [0, -1]]), np.array([1, 2, 1]), alpha=1.0).f.tolist()
    [2.0, 3.0, 4.0]
    >>> count_with_missing(np.array([[0, 0], [0, 1], [0, -1]]), np.array([1, 2, 1])).f.tolist()
    [1.0, 2.0, 1.0]

    Source: Templ, Kowarik & Meindl (2015), doi:10.18637/jss.v067.i04.
    """
    if alpha is not None and not 0 <= alpha <= 1:
        raise DataError("alpha: must lie between 0 and 1")
    values = np.column_stack([counts, counts if weights is None else weights]).astype(np.float64)
    codes = np.ascontiguousarray(codes, dtype=np.int64)
    total = values.copy()
    if alpha is not None and len(codes):
        _add_compatible(codes, values, alpha, total)
    return Counted(total[:, 0], total[:, 1])


def _add_compatible(codes: Ints, values: Floats, alpha: float, total: Floats) -> None:
    """Add what compatible patterns bring."""
    parts, member = known_parts(codes)
    order = np.argsort(member, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(member, minlength=len(parts)))])
    blocks = Blocks(codes[order], start, parts)
    weight = np.array([[_weight(taker, giver, alpha) for giver in parts] for taker in parts])
    brought = join_compatible(blocks, blocks, values[order], weight)
    brought -= np.diag(weight)[member[order]][:, None] * values[order]  # it counts itself fully, whatever alpha is
    total[order] += brought


def _weight(taker: Bools, giver: Bools, alpha: float) -> float:
    """What a record counts for another, by the parts that both know."""
    if not taker.any():
        return 1.0
    if giver.all():
        return 0.0 if taker.all() else 1.0
    return 0.0 if taker.all() and not giver.any() else alpha


def known_parts(codes: Ints) -> tuple[Bools, Ints]:
    """Tell the sets of parts that patterns know.

    Parameters
    ----------
    codes : ndarray, shape (P, m)
        Patterns, −1 where a part is missing.

    Returns
    -------
    tuple of ndarray, shapes (s, m) and (P,)
        The sets that occur, and which of them is each pattern's.

    Examples
    --------
    >>> known_parts(np.array([[3, -1], [2, 2], [0, -1]]))[1].tolist()
    [0, 1, 0]
    """
    known = codes >= 0
    _, first, member = np.unique(packed_rows(known.astype(np.int64)), return_index=True, return_inverse=True)
    return known[first], member.reshape(-1).astype(np.int64)


def packed_rows(codes: Ints) -> Ints:
    """Give each row of whole numbers one number: equal for equal rows, in the order of the rows.

    Parameters
    ----------
    codes : ndarray, shape (n, m)
        Whole numbers from −1 on.

    Returns
    -------
    ndarray, shape (n,)
        Rows compare as these numbers do.

    Examples
    --------
    >>> packed_rows(np.array([[1, -1], [0, 2], [1, -1]])).tolist()
    [8, 7, 8]
    """
    packed = np.zeros(len(codes), dtype=np.int64)
    room = 1
    for column in codes.T:
        wide = int(column.max(initial=-1)) + 2
        if room * wide >= _LARGEST:
            packed = np.unique(packed, return_inverse=True)[1].reshape(-1).astype(np.int64)
            room = int(packed.max(initial=0)) + 1
        packed = packed * wide + (column + 1)
        room *= wide
    return packed


def relying_on_wildcards(codes: Ints, counts: Ints, k: int) -> int:
    """Count the records that have k like them only where a gap is read as matching everything.

    Parameters
    ----------
    codes : ndarray, shape (P, m)
        Distinct patterns, −1 where a part is missing.
    counts : ndarray, shape (P,)
        Records of each.
    k
        Fewest records that must share a pattern.

    Returns
    -------
    int
        Records that reach k where missing matches everything, and do not where it is a value of its own.

    Examples
    --------
    >>> relying_on_wildcards(np.array([[0, 0], [0, 1], [0, -1]]), np.array([1, 2, 1]), 2)
    2
    """
    counts = np.asarray(counts)
    reached = count_with_missing(codes, counts, alpha=1.0).f >= k
    return int(counts[reached & (counts < k)].sum())
