"""Which combinations of two or three columns of codes hold nobody, and where that is no matter of chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.tally import counted, joined

__all__ = ["Coded", "emptier_than_chance", "expected_elsewhere", "least_expected", "told_by", "told_by_two"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Codes = NDArray[np.unsignedinteger[Any]]

_DENSE = 1 << 22
"""Combinations of two columns up to which all are counted at once."""
_FIRST = 512
"""Rows on which most candidates fall already."""
_SAMPLE = 20_000
_FEW = 100
"""Codes that columns have at most of which two are asked whether they tell a third."""
_IN_USE = 2_000
"""Combinations of two columns; where more are in use they would tell anything."""


@dataclass(frozen=True)
class Coded:
    """A column of codes that all occur.

    Parameters
    ----------
    code : ndarray of uint16, shape (rows,)
        Of each row the number of its code.
    count : ndarray of int64, shape (codes,)
        How many people have each; none has nobody.
    """

    code: Codes
    count: Ints

    @property
    def size(self) -> int:
        """How many codes it has."""
        return len(self.count)


def told_by(one: Coded, other: Coded) -> Ints | None:
    """Of each code of a column the only code of another one that comes with it; None where one has several.

    Examples
    --------
    >>> ward = Coded(np.array([0, 1, 2, 0], np.uint16), np.array([2, 1, 1]))
    >>> division = Coded(np.array([1, 0, 0, 1], np.uint16), np.array([2, 2]))
    >>> told_by(ward, division).tolist(), told_by(division, ward)
    ([1, 0, 0], None)
    """
    if one.size < other.size:
        return None
    out = np.zeros(one.size, dtype=np.int64)
    for some in (slice(0, _FIRST), slice(None)):
        out[one.code[some]] = other.code[some]
        if not (out[one.code[some]] == other.code[some]).all():
            return None
    return out


def least_expected(one: Coded, other: Coded, variables: int, error: float) -> float:
    """How many people at least were expected in a combination that nobody has, if that is not to be chance.

    So that of all combinations of all pairs of so many variables one is empty by chance with probability `error` at
    most, were all of them independent: the combination is empty with probability exp(-expected).
    """
    return math.log(one.size * other.size * variables**2 / error)


def emptier_than_chance(one: Coded, other: Coded, weights: Ints | None, least: float) -> tuple[Ints, float]:
    """Combinations that nobody has where many people were expected, and how many were expected in all of them.

    Parameters
    ----------
    one, other
        The columns.
    weights
        How many people each row stands for; one where it is None.
    least
        How many were expected in such a combination, were the columns independent.

    Returns
    -------
    combinations : ndarray of int64, shape (combinations, 2)
    expected : float

    Examples
    --------
    >>> sex = Coded(np.array([0, 0, 1, 1], np.uint16), np.array([2, 2]))
    >>> ward = Coded(np.array([0, 1, 1, 1], np.uint16), np.array([1, 3]))
    >>> emptier_than_chance(sex, ward, None, 0.5)[0].tolist()
    [[1, 0]]
    """
    people = float(one.count.sum())
    mine, theirs = (
        np.flatnonzero(a.count * (b.count.max() / people) >= least) for a, b in ((one, other), (other, one))
    )
    none = np.zeros((0, 2), dtype=np.int64)
    if not len(mine) or not len(theirs):
        return none, 0.0
    held = _in_use(one, other, weights)
    out, total = [none], 0.0
    for some in _parts(mine, len(theirs)):
        expected = np.multiply.outer(one.count[some], other.count[theirs]) / people
        empty = ~held[np.ix_(some, theirs)] if isinstance(held, np.ndarray) else ~held.of(some, theirs)
        at = np.argwhere(empty & (expected >= least))
        out.append(np.stack([some[at[:, 0]], theirs[at[:, 1]]], axis=1))
        total += float(expected[tuple(at.T)].sum())
    return np.concatenate(out), total


@dataclass(frozen=True)
class _Listed:
    """Combinations in use where there may be too many to have a place each."""

    number: Ints
    size: int

    def of(self, mine: Ints, theirs: Ints) -> Bools:
        wanted = np.add.outer(mine * self.size, theirs)
        place = np.minimum(np.searchsorted(self.number, wanted), len(self.number) - 1)
        return np.asarray(self.number[place] == wanted)


def _in_use(one: Coded, other: Coded, weights: Ints | None) -> Bools | _Listed:
    rows = len(one.code)
    if one.size * other.size > _DENSE:
        cell, _ = joined([one.code, other.code], [one.size, other.size], rows)
        return _Listed(np.unique(cell).astype(np.int64), other.size)
    told = counted([one.code, other.code], [one.size, other.size], None, rows)
    return np.asarray(told.count.reshape(one.size, other.size) > 0)


def _parts(mine: Ints, width: int) -> Iterator[Ints]:
    step = max(1, _DENSE // width)
    return (mine[i : i + step] for i in range(0, len(mine), step))


def expected_elsewhere(told: Coded) -> float:
    """How many people were expected in other combinations than those that a told column leaves, were it independent.

    Examples
    --------
    >>> expected_elsewhere(Coded(np.array([0, 0, 1, 1], np.uint16), np.array([2, 2])))
    2.0
    """
    people = float(told.count.sum())
    return people - float((told.count.astype(np.float64) ** 2).sum()) / people


def told_by_two(columns: Sequence[Coded], tells: Bools) -> Iterator[tuple[int, int, int, Ints]]:
    """Find pairs of columns that tell a third one that neither tells alone.

    Parameters
    ----------
    columns
        All of them; those with many codes are passed over.
    tells : ndarray of bool, shape (columns, columns)
        Which tells which by itself.

    Yields
    ------
    one, other, told : int
        Columns by number.
    combinations : ndarray of int64, shape (combinations in use, 3)
        The codes of all three that come together.

    Notes
    -----
    A pair is taken as a column of its own: passed over where it has `_IN_USE` combinations or more, or nearly one for
    each person.

    Examples
    --------
    >>> over7, over30 = (Coded(np.array(own, np.uint16), np.array([2, 2])) for own in ([0, 0, 1, 1], [0, 1, 0, 1]))
    >>> both = Coded(np.array([0, 0, 0, 1], np.uint16), np.array([3, 1]))
    >>> twice = [Coded(np.tile(own.code, 2), 2 * own.count) for own in (over7, over30, both)]
    >>> [found[:3] for found in told_by_two(twice, np.zeros((3, 3), bool))]
    [(0, 1, 2)]
    """
    few = [i for i, own in enumerate(columns) if own.size <= _FEW]
    rows = len(columns[0].code) if columns else 0
    some = np.unique(np.linspace(0, rows - 1, min(rows, _SAMPLE)).astype(np.int64)) if rows else np.zeros(0, np.int64)
    sample = {i: columns[i].code[some] for i in few}
    for at, i in enumerate(few):
        for j in few[at + 1 :]:
            thirds = [k for k in few if k not in (i, j) and not tells[i, k] and not tells[j, k]]
            if tells[i, j] or tells[j, i] or not thirds:
                continue
            size = columns[j].size
            cell = sample[i].astype(np.int64) * size + sample[j]
            first = np.zeros(columns[i].size * size, dtype=np.int64)
            left = [k for k in thirds if _single(cell, sample[k], first)]
            if left:
                yield from _confirmed(columns, i, j, left)


def _single(cell: Ints, code: Codes, first: Ints) -> bool:
    """Whether every cell comes with one code, on a few rows and then on all."""
    for some in (slice(0, _FIRST), slice(None)):
        first[cell[some]] = code[some]
        if not (first[cell[some]] == code[some]).all():
            return False
    return True


def _confirmed(columns: Sequence[Coded], i: int, j: int, thirds: Sequence[int]) -> Iterator[tuple[int, int, int, Ints]]:
    size = columns[j].size
    cell = columns[i].code.astype(np.int64) * size + columns[j].code
    used = np.flatnonzero(np.bincount(cell, minlength=columns[i].size * size))
    if len(used) >= _IN_USE or len(used) > columns[i].count.sum() / 2:
        return
    first = np.zeros(columns[i].size * size, dtype=np.int64)
    for k in thirds:
        if _single(cell, columns[k].code, first):
            yield i, j, k, np.stack([used // size, used % size, first[used]], axis=1)
