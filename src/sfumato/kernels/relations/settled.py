"""Which columns another one settles: in all its values, or in one of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.pairs import Coded, told_by

__all__ = ["Function", "Settled", "functions_of", "settled_by"]

Bools = NDArray[np.bool_]
Codes = NDArray[np.unsignedinteger[Any]]
Ints = NDArray[np.int64]

_FUNCTION, _CELL = 0.02, 0.2
"""Share of the records in which a random pairing must break what is found."""
_RECORDS = 50
_FIRST = 64
_MOST_VALUES = 20
_ERROR = 0.01
"""How probable it is at most that columns that are independent are found among all pairs."""


@dataclass(frozen=True)
class Function:
    """A column that is constant within every value of another one.

    Parameters
    ----------
    told, by
        The columns by number.
    smallest
        Fewest records that have a value of `by`.
    """

    told: int
    by: int
    smallest: int


@dataclass(frozen=True)
class Settled:
    """A value of a column with which another one has one value.

    Parameters
    ----------
    column, value
        The column and the number of its value.
    told, is_
        The other column, and the number of the value that it has then.
    broken
        In how many records a random pairing would break it; confidential.
    """

    column: int
    value: int
    told: int
    is_: int
    broken: float


def functions_of(columns: Sequence[Coded], may_tell: Collection[int]) -> list[Function]:
    """Find columns that are constant within all values of another one.

    Parameters
    ----------
    columns
        Of codes, each of which occurs; a missing value has a code of its own.
    may_tell
        Numbers of the columns that may tell another one: no ids.

    Returns
    -------
    list of Function
        Neighbours alone: where a ward tells the district, and the district the region, nothing is said of ward and
        region. Two columns that tell each other are a code and its label, and no function; others are told by the
        first of them.

    Notes
    -----
    Records that alone have a value tell nothing. Among the others a random pairing must break the function in 2% of
    the records, and in so many that none of them would be a wonder.

    Examples
    --------
    >>> ward = Coded(np.array([0, 1, 2, 3] * 50, np.uint32), np.array([50] * 4))
    >>> division = Coded(np.array([0, 0, 1, 1] * 50, np.uint32), np.array([100, 100]))
    >>> functions_of([ward, division], {0, 1})
    [Function(told=1, by=0, smallest=50)]
    """
    width = len(columns)
    least = math.log(max(width, 2) ** 2 / _ERROR)
    tells = np.zeros((width, width), dtype=bool)
    able = [i for i in range(width) if i in may_tell and columns[i].size > 1]
    for i in able:
        for j in range(width):
            if i != j and columns[j].size > 1 and _no_chance(columns[i], columns[j], least):
                tells[i, j] = told_by(columns[i], columns[j]) is not None
    same = tells & tells.T
    first = np.array([not same[i, :i].any() for i in range(width)])
    one_way = tells & ~same & first[:, None] & first[None, :]
    steps = one_way.astype(np.float64)
    direct = one_way & ~((steps @ steps) > 0)
    return [Function(j, i, int(columns[i].count.min())) for i, j in np.argwhere(direct).tolist()]


def _no_chance(one: Coded, other: Coded, least: float) -> bool:
    """Whether a random pairing would break it in enough records: all but the first of each value may."""
    people = float(other.count.sum())
    differ = 1 - float((other.count.astype(np.float64) ** 2).sum()) / people**2
    return (people - one.size) * differ >= max(_FUNCTION * people, least)


def settled_by(
    columns: Sequence[Coded], may_tell: Collection[int], tells: Collection[tuple[int, int]]
) -> list[Settled]:
    """Find values of a column with which another one always has the same value.

    Parameters
    ----------
    columns
        As of `functions_of`.
    may_tell
        Numbers of the columns that may settle another one.
    tells
        Pairs of columns of which the first tells the second anyway.

    Returns
    -------
    list of Settled
        What a random pairing would break most often comes first. Of at least 50 records each, of which a random
        pairing would break 20%; of a column the twenty commonest values are looked at.

    Examples
    --------
    >>> smokes = Coded(np.array([0, 0, 1, 1] * 50, np.uint32), np.array([100, 100]))
    >>> amount = Coded(np.array([0, 0, 1, 2] * 50, np.uint32), np.array([100, 50, 50]))
    >>> [(one.value, one.is_) for one in settled_by([smokes, amount], {0}, [])]
    [(0, 0)]
    """
    if not columns:
        return []
    people = len(columns[0].code)
    least = math.log(max(sum(min(own.size, _MOST_VALUES) for own in columns) * len(columns), 2) / _ERROR)
    table = np.stack([own.code.astype(np.int64) for own in columns], axis=1)
    known = set(tells)
    out = []
    for i in may_tell:
        own = columns[i]
        for value in np.argsort(-own.count, kind="stable")[:_MOST_VALUES].tolist():
            if own.count[value] < _RECORDS or own.size < 2:
                break
            rows = np.flatnonzero(own.code == value)
            start = table[rows[:_FIRST]]
            for j in np.flatnonzero((start == start[0]).all(axis=0)).tolist():
                is_ = int(start[0, j])
                broken = len(rows) * (1 - float(columns[j].count[is_]) / people)
                if j == i or (i, j) in known or broken < max(_CELL * len(rows), least):
                    continue
                if (table[rows, j] == is_).all():
                    out.append(Settled(i, value, j, is_, broken))
    return sorted(out, key=lambda one: (-one.broken, one.column, one.value, one.told))
