"""Trawling: an intruder who knows nobody looks for odd records, and then for a person whom each of them fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import PUBLIC, Purpose
from sfumato.kernels.classes.special_uniques import MOST_KEYS, special_uniques
from sfumato.kernels.linkers.keys import MISSING
from sfumato.kernels.linkers.scan import TIE, Scoring, between, scan
from sfumato.measures.risk.linkers.coding import Coded
from sfumato.measures.risk.linkers.linkers import posterior

__all__ = ["SHARE", "Fits", "fit", "oddest"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARE = 100
"""One record of so many is looked at."""
_LARGEST = 3  # keys of a set that makes a record special, where all sets are too many


@dataclass(frozen=True, eq=False)
class Fits:
    """Whom records fit best.

    Parameters
    ----------
    right : ndarray, shape (r,)
        Chance that the best-fitting person is the record's own, shared among ties.
    certain : ndarray, shape (r,)
        Log₂ of the probability that the record is that person's.
    alone : ndarray, shape (r,)
        Whether nobody else fits as well.
    person : ndarray, shape (r,)
        One who fits best, a row of the known people.
    """

    right: Floats
    certain: Floats
    alone: Bools
    person: Ints


def oddest(coded: Coded) -> Ints:
    """The hundredth of the released records with the highest scores as special uniques (SUDA2), the oddest first.

    A missing key makes nobody odd. With more keys than 12 only sets of up to 3 are searched.

    Parameters
    ----------
    coded
        The released records.

    Returns
    -------
    ndarray
        Rows of the release; fewer where fewer records have a score. Which of equal ones is a public draw.
    """
    records = coded.released
    codes = [records.codes - (0 if coded.wildcard else 1)]  # missing is category 0 where it is one of its own
    for column in records.numbers:
        dense = np.unique(column, return_inverse=True)[1].reshape(1, -1)
        codes.append(np.where(column == MISSING, -1, dense).astype(np.int32))
    keys = np.concatenate(codes, axis=0).T
    few = _LARGEST if keys.shape[1] > MOST_KEYS else None
    score = special_uniques(keys, records.count, max_size=few).score[records.member]
    word = PUBLIC.words(coded.unit[: len(score)], Purpose("scenario", "tie"))[:, 0]
    first = np.lexsort((word, -score))[: -(-len(score) // SHARE)]
    return first[score[first] > 0]


def fit(coded: Coded, rows: Ints, scoring: Scoring, present: float, *, sure: bool) -> Fits:
    """Look among the known people for whom each of some records fits best.

    Parameters
    ----------
    coded
        People and records; record i is person i's.
    rows
        Rows of the release.
    scoring
        What keys add.
    present
        Share of the known people of whom the intruder takes it that they are there.
    sure
        Whether the linker tells how sure it is.
    """
    records = coded.released.only(rows)
    found = scan(records, coded.known, scoring, sums=False)
    own = between(records, coded.known, (records.member, coded.known.member[rows]), scoring)
    best, ties = found.score[records.member], found.ties[records.member]
    person = np.full(len(coded.known), -1, dtype=np.int64)
    person[coded.known.member[::-1]] = np.arange(coded.known.height)[::-1]
    who = person[found.first[records.member]]
    certain = np.zeros(len(rows))
    if sure:
        people = coded.known.only(who)
        total = scan(people, coded.released, scoring).total[people.member]
        certain = posterior(coded, best, total, present)
    return Fits((own >= best - TIE) / ties, certain, ties == 1, who)
