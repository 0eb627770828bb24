"""Guess values that were taken out, from the rule alone: what would have had enough like it would have stayed.

A rule that takes out no more than it must tells something of what it took: a value whose combination enough records
match in the release was in no danger. Nothing is compared pair by pair. For each key and each set of parts that records
know, one sorted lookup finds the values that go with the parts which a record with a gap still shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.classes.missing_keys import known_parts, packed_rows

__all__ = ["Guessed", "guess_suppressed"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Guessed:
    """How likely each gap is guessed.

    Parameters
    ----------
    rows
        Records with one gap, shape (t,).
    chance
        How likely the guess is right; of values that are equally frequent each is as likely taken, shape (t,).
    plain
        The same of somebody who does not know the rule, shape (t,).
    """

    rows: Ints
    chance: Floats
    plain: Floats


def guess_suppressed(released: Ints, true: Ints, k: int, strata: Ints | None = None) -> Guessed:
    """Guess the values that suppression took out of records with one gap.

    Ruled out is each value with which the record would have k or more like it in the release, itself among them, gaps
    matching any value: it would have stayed. Guessed is, of what is left, the value that is most frequent in the
    release. Who does not know the rule takes the most frequent value of the records that agree with what the record
    still shows, or of all where no such record has a value. Where every value is ruled out, so does who knows it.

    Parameters
    ----------
    released : ndarray, shape (n, m)
        Numbers of the released values, −1 where there is a gap.
    true : ndarray, shape (n, m)
        Numbers of the values before suppression, −1 where there was none; a gap that was there before is not guessed.
    k
        So many records had to match every record.
    strata : ndarray, shape (n,), optional
        Groups within which records had to match.

    References
    ----------
    Wong, Fu, Wang & Pei (2007), Minimality attack in privacy preserving data publishing, VLDB, 543–554; and (2009),
    Anonymization-based attacks in privacy-preserving data publishing, doi:10.1145/1538909.1538910.

    Examples
    --------
    Of three records with the first key 0 two show the second, so that the third was none of theirs:

    >>> released = np.array([[0, 0], [0, 0], [0, -1], [1, 1], [1, 1], [1, 0], [1, 0], [1, 0]])
    >>> true = released.copy()
    >>> true[2, 1] = 1
    >>> guess_suppressed(released, true, 3)
    Guessed(rows=array([2]), chance=array([1.]), plain=array([0.]))
    """
    strata = np.zeros(len(released), dtype=np.int64) if strata is None else strata
    gap = released < 0
    single = gap.sum(axis=1) == 1
    parts = [
        _guess_column(released, true, k, strata, j, np.flatnonzero(single & gap[:, j] & (true[:, j] >= 0)))
        for j in range(released.shape[1])
    ]
    rows, chance, plain = (np.concatenate([np.asarray(part[i]) for part in parts]) for i in range(3))
    order = np.argsort(rows)
    return Guessed(rows[order], chance[order], plain[order])


def _guess_column(released: Ints, true: Ints, k: int, strata: Ints, j: int, rows: Ints) -> tuple[Ints, Floats, Floats]:
    """The gaps of one key: records, how likely they are guessed with the rule, and without."""
    if not len(rows):
        return rows, np.zeros(0), np.zeros(0)
    shown = np.column_stack([np.delete(released, j, axis=1), strata])
    value = released[:, j]
    _, first, target = np.unique(packed_rows(shown[rows]), return_index=True, return_inverse=True)
    asked, target = rows[first], target.reshape(-1)
    fits = _fitting(shown, value, asked)
    ranked = _Ranked.of(value, strata)
    out = fits.gaps[fits.target] + fits.count >= k
    truth = ranked.rank(strata[rows], true[rows, j])
    stratum = strata[asked]
    left = _first_left(fits, ranked, stratum, out)
    nothing = (fits.gaps >= k) | (left >= ranked.many[stratum])
    start, end = ranked.tier(stratum, np.minimum(left, ranked.many[stratum] - 1))
    ranks = ranked.rank(stratum[fits.target], fits.value)
    gone = out & (ranks >= start[fits.target]) & (ranks < end[fits.target])
    tied = end - start - np.bincount(fits.target[gone], minlength=len(asked))
    among = (truth >= start[target]) & (truth < end[target])
    right = among & ~fits.holds(target, true[rows, j], out)
    plain = _plain(fits, ranked, target, stratum, true[rows, j], truth)
    chance = np.where(nothing[target], plain, right / np.maximum(tied[target], 1))
    return rows, chance, plain


@dataclass(frozen=True)
class _Fits:
    """What the records of the release say of each target: one line for each value that goes with what it shows.

    Parameters
    ----------
    target, value, count
        Target, value, and the records that fit and have it, in the order of targets and values.
    gaps
        Of each target, the records that fit and have a gap there, itself among them.
    """

    target: Ints
    value: Ints
    count: Ints
    gaps: Ints

    def holds(self, target: Ints, value: Ints, of: Bools) -> Bools:
        """Whether some lines, those marked in `of`, have a target with a value."""
        wide = int(max(self.value.max(initial=0), value.max(initial=0))) + 1
        return np.isin(target * wide + value, (self.target * wide + self.value)[of])


def _fitting(shown: Ints, value: Ints, asked: Ints) -> _Fits:
    """Find the records that agree with each target on all that both show, and add them up by value."""
    parts, member = known_parts(shown)
    gaps = np.zeros(len(asked), dtype=np.int64)
    found: list[Ints] = []
    for part, known in enumerate(parts):
        rows = np.flatnonzero(member == part)
        both = packed_rows(np.concatenate([shown[asked][:, known], shown[rows][:, known]]))
        wanted, there = both[: len(asked)], both[len(asked) :]
        names, place = np.unique(wanted, return_inverse=True)
        at = np.minimum(np.searchsorted(names, there), len(names) - 1)
        fit = names[at] == there
        at, seen = at[fit], value[rows[fit]]
        gaps += np.bincount(at[seen < 0], minlength=len(names))[place.reshape(-1)]
        found.append(_each(place.reshape(-1), *_counted(at[seen >= 0], seen[seen >= 0])))
    target, held, count = np.concatenate(found, axis=1)
    target, held, count = _counted(target, held, count)
    return _Fits(target, held, count, gaps)


def _counted(group: Ints, value: Ints, count: Ints | None = None) -> tuple[Ints, Ints, Ints]:
    """Each group with each of its values once, in order, and how often it has it."""
    wide = int(value.max(initial=0)) + 1
    both, place = np.unique(group * wide + value, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=count, minlength=len(both))
    return both // wide, both % wide, total.astype(np.int64)


def _each(place: Ints, group: Ints, value: Ints, count: Ints) -> Ints:
    """The lines of the group that each target belongs to, shape (3, lines): target, value, count."""
    low, high = np.searchsorted(group, place), np.searchsorted(group, place, side="right")
    many = high - low
    target = np.repeat(np.arange(len(place)), many)
    at = np.repeat(low - np.concatenate([[0], np.cumsum(many)[:-1]]), many) + np.arange(many.sum())
    return np.stack([target, value[at], count[at]])


@dataclass(frozen=True)
class _Ranked:
    """The values of a key in each stratum, from the most frequent on; equally frequent ones are a tier.

    Parameters
    ----------
    names
        Stratum and value in one number, sorted.
    place
        Rank of each, 0 for the most frequent of its stratum.
    many
        Values of each stratum.
    first
        Where each stratum begins in `start` and `end`.
    start, end
        By stratum and rank, where its tier begins and ends.
    wide
        By how much a stratum counts in `names`.
    """

    names: Ints
    place: Ints
    many: Ints
    first: Ints
    start: Ints
    end: Ints
    wide: int

    @classmethod
    def of(cls, value: Ints, strata: Ints) -> _Ranked:
        """Of a released key."""
        have = value >= 0
        group, held, count = _counted(strata[have], value[have])
        wide = int(value.max(initial=0)) + 1
        many = np.bincount(group, minlength=int(strata.max()) + 1)
        first = np.concatenate([[0], np.cumsum(many)[:-1]])
        order = np.lexsort((held, -count, group))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - first[group[order]]
        line = np.column_stack([group[order], count[order]])
        new = np.flatnonzero(np.concatenate([[True], (line[1:] != line[:-1]).any(axis=1)])[: len(line)])
        ends = np.concatenate([new[1:], [len(line)]])[: len(new)]
        tier = np.repeat(np.arange(len(new)), ends - new)
        start, end = (x[tier] - first[group[order]] for x in (new, ends))
        return cls(group * wide + held, place, many, first, start, end, wide)

    def rank(self, stratum: Ints, value: Ints) -> Ints:
        """Rank of values in their strata; −1 of those that are not there."""
        if not len(self.names):
            return np.full(len(value), -1)
        name = stratum * self.wide + value
        at = np.minimum(np.searchsorted(self.names, name), len(self.names) - 1)
        return np.where((self.names[at] == name) & (value < self.wide), self.place[at], -1)

    def tier(self, stratum: Ints, rank: Ints) -> tuple[Ints, Ints]:
        """Where the tiers of ranks begin and end; nowhere for a rank below 0."""
        if not len(self.start):
            return np.zeros(len(rank), dtype=np.int64), np.zeros(len(rank), dtype=np.int64)
        at = np.minimum(self.first[stratum] + np.maximum(rank, 0), len(self.start) - 1)
        return tuple(np.where(rank < 0, 0, x[at]) for x in (self.start, self.end))  # type: ignore[return-value]


def _first_left(fits: _Fits, ranked: _Ranked, stratum: Ints, out: Bools) -> Ints:
    """The smallest rank of each target's stratum that is not ruled out."""
    target = fits.target[out]
    rank = ranked.rank(stratum[target], fits.value[out])
    order = np.lexsort((rank, target))
    target, rank = target[order], rank[order]
    number = np.bincount(target, minlength=len(stratum))
    within = np.arange(len(target)) - np.repeat(np.cumsum(number) - number, number)
    return np.bincount(target[rank == within], minlength=len(stratum))


def _plain(fits: _Fits, ranked: _Ranked, target: Ints, stratum: Ints, value: Ints, truth: Ints) -> Floats:
    """How likely the most frequent value of those that fit is right; where none fits, of the most frequent of all."""
    most = np.zeros(len(stratum), dtype=np.int64)
    np.maximum.at(most, fits.target, fits.count)
    top = fits.count == most[fits.target]
    tied = np.bincount(fits.target[top], minlength=len(stratum))
    end = ranked.tier(stratum, np.where(ranked.many[stratum] > 0, 0, -1))[1]
    usual = (truth >= 0) & (truth < end[target])
    alone = most[target] == 0
    right = np.where(alone, usual, fits.holds(target, value, top))
    return np.asarray(right / np.maximum(np.where(alone, end[target], tied[target]), 1))
