"""Exchange households between areas: those at risk first, then a share of each area.

Source: targeted record swapping, Shlomo, Tudor and Groom (2010), doi:10.1007/978-3-642-15838-4_4. Here neither the
order nor the partners hang on the rate, so that two rates never give a household two partners.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["FEWEST", "Exchanged", "exchange_households"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

FEWEST = 2
"""With a single possible partner everybody knows who it is, and can exchange the households back."""
_TRIES = 64
"""Tries to hit a partner at random before all are counted."""


@dataclass(frozen=True)
class Exchanged:
    """Who changed places with whom.

    Parameters
    ----------
    partner
        The household whose place each takes, shape (m,); its own number where it stays.
    left
        Households at risk that still are in the area where they are, shape (m,).
    """

    partner: Ints
    left: Bools


def exchange_households(
    area: Ints, risk: Bools, profile: Ints, race: Ints, word: Words, rate: float, stays: Bools | None = None
) -> Exchanged:
    """Exchange households at risk with others of another area, from the top level down; then some of each lowest area.

    A partner has the same first profile of which at least two candidates are left, and lies in another area of the
    level. Each household changes its place once. After those at risk, pairs are formed in the order of `race`, whatever
    the rate; a pair changes places if neither area has had its share.

    Parameters
    ----------
    area
        Area of each household by level, top first, 0, 1, …, shape (levels, m); areas of a level lie within those above.
    risk
        Whether somebody of the household is too rare in the area, shape (levels, m).
    profile
        Profile of each household, the preferred first, 0, 1, …, shape (profiles, m).
    race
        Households in the order in which they are tried after those at risk, shape (m,).
    word
        A random word of each household, shape (m,). Households at risk are tried in the order of rows.
    rate
        Largest share of the households of a lowest area, from 0 to 1; those at risk and their partners count.
    stays
        Households that take no part, shape (m,); none if not given.

    Returns
    -------
    Exchanged

    Examples
    --------
    >>> area, profile = np.array([[0, 0, 1, 1]]), np.zeros((1, 4), dtype=np.int64)
    >>> risk, word = np.array([[True, False, False, False]]), np.arange(4, dtype=np.uint64)
    >>> found = exchange_households(area, risk, profile, np.arange(4), word, 0.0).partner
    >>> int(found[found[0]]), int(found[1])
    (0, 1)
    """
    levels, m = area.shape
    profiles = len(profile)
    pair = np.empty((profiles, levels, m), dtype=np.int64)
    for p in range(profiles):
        for level in range(levels):
            both = profile[p] * (int(area[level].max(initial=0)) + 1) + area[level]
            pair[p, level] = np.unique(both, return_inverse=True)[1]
    widest = int(pair.max(initial=0)) + 1
    groups = int(profile.max(initial=0)) + 1
    pools = Pools(
        area=area,
        profile=profile,
        pair=pair,
        items=np.empty((profiles, m), dtype=np.int64),
        place=np.empty((profiles, m), dtype=np.int64),
        start=np.zeros((profiles, groups + 1), dtype=np.int64),
        left=np.zeros((profiles, groups), dtype=np.int64),
        here=np.zeros((profiles, levels, widest), dtype=np.int64),
        waiting=np.ones(m, dtype=np.bool_),
    )
    _fill(pools, np.zeros(m, dtype=np.bool_) if stays is None else stays)
    partner = np.arange(m)
    _exchange_at_risk(pools, risk, word, partner)
    lowest = area[levels - 1]
    quota = np.floor(rate * np.bincount(lowest) + 1e-9).astype(np.int64)
    quota -= np.bincount(lowest, weights=partner != np.arange(m)).astype(np.int64)
    _exchange_shares(pools, race, word, quota, partner)
    left = (risk & (area == area[:, partner])).any(axis=0)
    return Exchanged(partner, left)


class Pools(NamedTuple):
    """Households that may still change places, by profile.

    `items` are the households of each profile's groups, those that wait first, `place` where each stands, `start` where
    groups begin, `left` how many of a group wait, and `here` how many of a group wait in an area (`pair`).
    """

    area: Ints
    profile: Ints
    pair: Ints
    items: Ints
    place: Ints
    start: Ints
    left: Ints
    here: Ints
    waiting: Bools


@compiled
def _fill(pools: Pools, stays: Bools) -> None:
    profiles, m = pools.profile.shape
    for p in range(profiles):
        for h in range(m):
            pools.left[p, pools.profile[p, h]] += 1
            for level in range(len(pools.area)):
                pools.here[p, level, pools.pair[p, level, h]] += 1
        for g in range(pools.left.shape[1]):
            pools.start[p, g + 1] = pools.start[p, g] + pools.left[p, g]
        at = pools.start[p].copy()
        for h in range(m):
            g = pools.profile[p, h]
            pools.items[p, at[g]] = h
            pools.place[p, h] = at[g]
            at[g] += 1
    for h in range(m):
        if stays[h]:
            _out(pools, h)


@compiled
def _out(pools: Pools, h: int) -> None:
    """Take a household out of all pools."""
    pools.waiting[h] = False
    for p in range(len(pools.profile)):
        g = pools.profile[p, h]
        pools.left[p, g] -= 1
        end = pools.start[p, g] + pools.left[p, g]
        other, at = pools.items[p, end], pools.place[p, h]
        pools.items[p, at], pools.items[p, end] = other, h
        pools.place[p, other], pools.place[p, h] = at, end
        for level in range(len(pools.area)):
            pools.here[p, level, pools.pair[p, level, h]] -= 1


@compiled
def _next(word: np.uint64) -> np.uint64:
    """The next of a household's random words: SplitMix64."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    mixed = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@compiled
def _below(word: np.uint64, count: int) -> int:
    """A number from 0 to count − 1 from the upper half of a word."""
    return int(((word >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@compiled
def _partner(pools: Pools, h: int, level: int, word: np.uint64) -> int:
    """A waiting household of another area and the first profile that has enough, each as likely; −1 for none."""
    for p in range(len(pools.profile)):
        g = pools.profile[p, h]
        start, count = pools.start[p, g], pools.left[p, g]
        candidates = count - pools.here[p, level, pools.pair[p, level, h]]
        if candidates < FEWEST:
            continue
        for _ in range(_TRIES):
            word = _next(word)
            other = pools.items[p, start + _below(word, count)]
            if pools.area[level, other] != pools.area[level, h]:
                return int(other)
        wanted = _below(_next(word), candidates)
        for at in range(start, start + count):
            other = pools.items[p, at]
            if pools.area[level, other] != pools.area[level, h]:
                if wanted == 0:
                    return int(other)
                wanted -= 1
    return -1


@compiled
def _exchange_at_risk(pools: Pools, risk: Bools, word: Words, partner: Ints) -> None:
    for level in range(len(risk)):
        for h in range(risk.shape[1]):
            if risk[level, h] and pools.waiting[h]:
                other = _partner(pools, h, level, word[h])
                if other >= 0:
                    _out(pools, h)
                    _out(pools, other)
                    partner[h], partner[other] = other, h


@compiled
def _exchange_shares(pools: Pools, race: Ints, word: Words, quota: Ints, partner: Ints) -> None:
    """Form pairs whatever the quotas are; let those change places whose areas both have something left."""
    lowest = len(pools.area) - 1
    areas = pools.area[lowest]
    open_areas = 0
    for a in range(len(quota)):
        open_areas += quota[a] > 0
    for h in race:
        if open_areas < 2:
            return
        if not pools.waiting[h]:
            continue
        other = _partner(pools, h, lowest, word[h])
        if other < 0:
            continue
        _out(pools, h)
        _out(pools, other)
        a, b = areas[h], areas[other]
        if quota[a] > 0 and quota[b] > 0:
            partner[h], partner[other] = other, h
            quota[a] -= 1
            quota[b] -= 1
            open_areas -= (quota[a] == 0) + (quota[b] == 0)
