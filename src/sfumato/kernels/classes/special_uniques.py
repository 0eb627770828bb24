"""Special uniques: records that are alone in the file already by a few of their keys, and how much that says."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.classes.unique_loops import Walked, number_tails, walk

__all__ = ["MOST_KEYS", "Score", "SpecialUniques", "dis_suda", "special_uniques"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Score = Literal["factorial", "shares"]
"""How a minimal set of s of m keys counts: (m − s)!, or (2^(m − s) − 1) / C(m, s)."""

MOST_KEYS = 12
"""With more keys than this the sets are searched only up to a size that is named."""
_MOST_COLUMNS = 63
_MOST_SETS = 2**20
_MEMORY = 2**28
"""Bytes of what is remembered of records at a time; with more records the walk is done in parts."""


@dataclass(frozen=True)
class SpecialUniques:
    """The minimal sets of keys on which records are unique (minimal sample uniques, MSUs), summed up.

    Parameters
    ----------
    keys
        Number of keys, m.
    max_size
        Most keys of a set that was searched.
    score : ndarray, shape (n,)
        Of each row the weights of its MSUs, summed; 0 for rows that are not special, ≥ 0 for all.
    smallest : ndarray, shape (n,)
        Keys of the smallest MSU of each row; 0 where it has none.
    weight : ndarray, shape (max_size + 1,)
        What an MSU of each size adds to a score.
    holding : ndarray, shape (max_size + 1, m)
        MSUs of each size that hold each key.
    row, sets : ndarray, shapes (u,) and (u, m)
        Rows in ascending order, each with every one of its smallest MSUs: which keys it has. Empty unless asked for.
    """

    keys: int
    max_size: int
    score: Floats
    smallest: Ints
    weight: Floats
    holding: Ints
    row: Ints
    sets: NDArray[np.bool_]

    @property
    def by_size(self) -> Ints:
        """MSUs of size 1, 2, …, shape (max_size,)."""
        return np.asarray(self.holding.sum(axis=1)[1:] // np.arange(1, self.max_size + 1), dtype=np.int64)

    @property
    def contribution(self) -> Floats | None:
        """Share of the whole score that MSUs with each key hold, shape (m,), 0 to 1; None where there is no score."""
        total = float(self.by_size @ self.weight[1:])
        return np.asarray(self.weight @ self.holding / total) if total > 0 else None


def special_uniques(
    codes: NDArray[np.integer],
    counts: NDArray[np.integer] | None = None,
    *,
    max_size: int | None = None,
    score: Score = "factorial",
    smallest_sets: bool = False,
) -> SpecialUniques:
    """Find the minimal sets of keys on which records are unique, and score the records by them.

    A record that nobody shares two of its keys with stands out more than one that is only alone with all eight: who
    knows little finds it, errors in the other keys do not hide it, and it is more likely alone in the population too.
    A missing key is never part of a set: it tells nobody anything. A score orders the records of one file under one set
    of keys; it is no probability, and records with score 0 are not safe from whoever knows more than the keys.

    Parameters
    ----------
    codes : ndarray, shape (n, m)
        Number of each key's value, from 0 on; below 0 where it is missing. A row stands for one record, or for several
        that have the same keys; equal rows are recognised.
    counts : ndarray, shape (n,), optional
        Records of each row, ≥ 1; by default 1.
    max_size
        Most keys of a set, at least 1. By default all; needed for more than 12 keys. Sets that are larger are not
        searched and add nothing.
    score
        What a set of s of m keys adds: `factorial` (m − s)!, `shares` (2^(m − s) − 1) / C(m, s), which is 0 for s = m.
    smallest_sets
        Whether to keep the smallest sets of every row.

    Returns
    -------
    SpecialUniques

    Raises
    ------
    DataError
        For more than 12 keys without `max_size`, more than 63 keys, more than 2^20 sets to search, or a `max_size`
        below 1.

    Examples
    --------
    >>> found = special_uniques(np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 1]]))
    >>> found.score.tolist(), found.by_size.tolist()
    ([1.0, 1.0, 1.0, 1.0, 1.0], [1, 4])
    >>> found.contribution.tolist()
    [1.0, 0.8]

    Source: Elliot, Manning & Ford (2002), doi:10.1142/S0218488502001600; Manning, Haglin & Keane (2008),
    doi:10.1007/s10618-007-0078-6.
    """
    n, m = np.shape(codes)
    largest = _largest(m, max_size)
    weight = _weights(m, largest, score)
    if n == 0 or m == 0:
        nothing = np.zeros(n), np.zeros(n, dtype=np.int64), weight, np.zeros((largest + 1, m), dtype=np.int64)
        return SpecialUniques(m, largest, *nothing, np.zeros(0, dtype=np.int64), np.zeros((0, m), dtype=np.bool_))
    single = np.ones(n, dtype=np.bool_) if counts is None else np.asarray(counts) == 1
    columns, order, place = _arranged(np.asarray(codes), single)
    parts = _walked(columns, int(single.sum()), weight, smallest_sets)
    special = place[: int(single.sum())]
    scores, smallest = np.zeros(n), np.zeros(n, dtype=np.int64)
    scores[special] = np.concatenate([p[0] for p in parts])
    smallest[special] = np.concatenate([p[1] for p in parts])
    holding = np.zeros((largest + 1, m), dtype=np.int64)
    holding[:, order] = sum(p[2] for p in parts)
    row, bits = (np.concatenate([p[i] for p in parts]) for i in (3, 4))
    row, sets = _smallest_sets(place[row], bits, order, smallest)
    return SpecialUniques(m, largest, scores, smallest, weight, holding, row, sets)


def _arranged(
    codes: NDArray[np.integer], single: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.intp], NDArray[np.intp]]:
    """Columns for the walk, shape (m, n), which of the keys each is, and which row stands where."""
    columns = [_dense(column.astype(np.int64)) for column in codes.T]
    order = np.argsort([-int(column.max()) for column in columns], kind="stable")
    columns = [columns[j] for j in order]  # those that split most come first: their half of the walk is small
    place = np.lexsort((*columns[1::-1], ~single))  # neighbours in a group are then neighbours in memory
    return np.stack([column[place] for column in columns]), order, place


def _walked(columns: NDArray[np.int32], records: int, weight: Floats, keep: bool) -> list[Walked]:
    """Walk over all sets for as many records at a time as there is memory for."""
    m, largest = len(columns), len(weight) - 1
    wide = columns.max(axis=1).astype(np.int64) + 2
    tails, many = number_tails(columns, wide)
    choose = np.array([[comb(a, b) for b in range(largest + 1)] for a in range(m)], dtype=np.int64)
    first = np.cumsum([0, 0, *(comb(m, s) for s in range(1, largest))])
    step = max(1, _MEMORY // (8 * (int(first[-1]) // 64 + 2)))
    return [
        walk(columns, tails, many, int(wide.max()), at, min(at + step, records), weight, choose, first, keep)
        for at in range(0, max(records, 1), step)
    ]


def _smallest_sets(
    row: NDArray[np.intp], bits: Ints, order: NDArray[np.intp], smallest: Ints
) -> tuple[Ints, NDArray[np.bool_]]:
    """The smallest of the sets that were kept, in the order of rows, and of keys within them."""
    sets = np.zeros((len(row), len(order)), dtype=np.bool_)
    sets[:, order] = (bits[:, None] >> np.arange(len(order))) & 1
    kept = sets.sum(axis=1) == smallest[row]
    row, sets = row[kept], sets[kept]
    last = np.lexsort((sets @ (1 << np.arange(len(order))), row))
    return row[last].astype(np.int64), sets[last]


def _largest(m: int, max_size: int | None) -> int:
    """Most keys of a set, where so much may be asked for."""
    if max_size is not None and max_size < 1:
        raise DataError("max_size: the most keys of a set, at least 1.")
    if m > _MOST_COLUMNS:
        raise DataError(f"Special uniques can be searched over at most {_MOST_COLUMNS} keys.")
    if max_size is None and m > MOST_KEYS:
        raise DataError(
            f"Special uniques of more than {MOST_KEYS} keys need the most keys of a set that is searched (max_size, "
            "--max-size): 3 or 4 find the records that stand out most."
        )
    largest = m if max_size is None else min(m, max_size)
    if sum(comb(m, s) for s in range(1, largest + 1)) > _MOST_SETS:
        raise DataError(f"max_size: with {m} keys that are too many sets to search. Take a smaller one, or fewer keys.")
    return largest


def _weights(m: int, largest: int, score: Score) -> Floats:
    sizes = range(1, largest + 1)
    if score == "factorial":
        return np.array([0.0, *(float(factorial(m - s)) for s in sizes)])
    return np.array([0.0, *((2.0 ** (m - s) - 1) / comb(m, s) for s in sizes)])


def _dense(column: Ints) -> NDArray[np.int32]:
    """Values as small numbers, −1 where missing."""
    if column.max() > 4 * len(column) + 64:
        there = column >= 0
        column[there] = np.unique(column[there], return_inverse=True)[1]
    return np.maximum(column, -1).astype(np.int32)


def dis_suda(score: Floats, keys: int, pairs: int, fraction: float) -> Floats | None:
    """Scale scores to the level of the chance that a match of a unique is the right one (DIS-SUDA).

    The share of uniques among all matches is estimated by data intrusion simulation from the uniques and pairs of the
    file, and the scores tell which uniques have more of it than others. No probability that a given person is found.

    Parameters
    ----------
    score : ndarray, shape (n,)
        Scores of records, ≥ 0.
    keys
        Number of keys.
    pairs
        Records that share all their keys with exactly one other.
    fraction
        Share of the population that the file holds, above 0 and at most 1.

    Returns
    -------
    ndarray, shape (n,), or None
        From 0 to 1, and 0 where the score is. None where there are no pairs, of which the estimate is made, and for 28
        keys or more, where its power of the scores is no longer above 0 and would turn their order round.

    Raises
    ------
    DataError
        If the fraction is not above 0 and at most 1.

    Examples
    --------
    >>> dis_suda(np.array([0.0, 2.0, 6.0]), keys=3, pairs=4, fraction=0.01).round(4).tolist()
    [0.0, 0.0032, 0.0123]

    Source: Skinner & Elliot (2002), doi:10.1111/1467-9868.00365; Elliot (2000); the scaling as in the R package
    sdcMicro, Templ, Kowarik & Meindl (2015), doi:10.18637/jss.v067.i04.
    """
    if not 0 < fraction <= 1:
        raise DataError("fraction: must be above 0 and at most 1")
    power = float(np.float32(1 + (8 - keys) / 20))  # of single precision, as in the program that the scale comes from
    if not pairs or power <= 0:
        return None
    score = np.asarray(score, dtype=np.float64)
    dis = np.zeros(len(score))
    special = score > 0
    scaled = score[special] ** -power
    dis[special] = 1 / (1 + pairs * (1 - fraction) / fraction * scaled / scaled.sum())
    return dis
