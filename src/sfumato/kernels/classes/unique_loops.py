"""The loops behind special uniques: a walk over the sets of keys that drops whatever can no longer be special.

A table of the walk holds patterns of keys, in groups that agree on the keys taken so far. A pattern of one record is
kept as its number, one that stands for several as the complement of a number. Patterns that agree on all keys that are
still to come are merged. A pattern alone in its group is unique and leaves the table, as no wider set is minimal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Walked", "number_tails", "walk"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Words = NDArray[np.uint64]
Walked = tuple[Floats, Small, Ints, Small, Ints]
"""What `walk` gives."""

_ROOM = 8
"""A table of all combinations is used where it has no more places than this for each row."""
_FEWER = 0.9
"""Patterns are merged where that leaves no more than this share of their tails."""


class Found(NamedTuple):
    """What the walk has found of the records low, low + 1, …

    Parameters
    ----------
    bits : ndarray, shape (records, words + 1)
        Whether a record was unique where the walk came to a set, by the number of the set, smaller sets first; one bit
        more for all of the largest sets.
    score : ndarray, shape (records, words + 1)
        The same memory as floats: the last column holds the weights of the minimal sets, summed.
    sets : ndarray, shape (largest + 1, m)
        Minimal sets of each size that hold each key.
    record, keys : ndarray
        Minimal sets that were no larger than the smallest so far, as bits; of no length where they are not wanted.
    """

    low: int
    bits: Words
    score: Floats
    sets: Ints
    record: Small
    keys: Ints


class Set(NamedTuple):
    """The set of keys that the walk is at.

    Parameters
    ----------
    path : ndarray, shape (m,)
        Its keys in order; only the first are in use.
    word, mask : ndarray, shape (m,)
        Where the bits of its parts stand that are one key smaller, but that without its last key.
    choose : ndarray, shape (m, largest + 1)
        C(a, b).
    first : ndarray, shape (largest + 1,)
        Number of the first set of each size.
    """

    path: Ints
    word: Ints
    mask: Words
    choose: Ints
    first: Ints


class Work(NamedTuple):
    """What one step counts with: `total` and `place` by value of a key, `met` the values met in a group."""

    total: Ints
    place: Small
    met: Small


_ONE = 1 << 32
"""A record that stands alone so far is counted as this plus 1, several alike as 1."""


@compiled
def number_tails(columns: Small, wide: Ints) -> tuple[Small, Ints]:
    """Number the different tails of rows: of the columns from each one on.

    Parameters
    ----------
    columns : ndarray, shape (m, P)
        Values from −1 on.
    wide : ndarray, shape (m,)
        Different values of each column, missing counted.

    Returns
    -------
    tuple of ndarray, shapes (m + 1, P) and (m + 1,)
        Number of each row's tail from column j on, and how many there are.
    """
    m, P = columns.shape
    number = np.zeros((m + 1, P), dtype=np.int32)
    many = np.ones(m + 1, dtype=np.int64)
    slots = 2
    while slots < 2 * P:
        slots *= 2
    keys = np.empty(0, dtype=np.int64)
    numbers = np.empty(max(slots, _ROOM * P), dtype=np.int32)
    last = np.uint64(slots - 1)
    for j in range(m - 1, -1, -1):
        space = many[j + 1] * wide[j]
        now = 0
        if space <= len(numbers):
            numbers[:space] = -1
            for p in range(P):
                at = number[j + 1, p] * wide[j] + columns[j, p] + 1
                if numbers[at] < 0:
                    numbers[at] = now
                    now += 1
                number[j, p] = numbers[at]
        else:
            if len(keys) == 0:
                keys = np.empty(slots, dtype=np.int64)
            keys[:] = -1
            for p in range(P):
                key = number[j + 1, p] * wide[j] + columns[j, p] + 1
                x = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
                slot = (x ^ (x >> np.uint64(32))) & last
                while keys[slot] != key and keys[slot] >= 0:
                    slot = (slot + np.uint64(1)) & last
                if keys[slot] < 0:
                    keys[slot] = key
                    numbers[slot] = now
                    now += 1
                number[j, p] = numbers[slot]
        many[j] = now
    return number, many


@compiled
def _merge(rows: Small, start: Small, groups: int, tail: Small, seen: Small, out: Small, out_start: Small) -> int:
    """Merge the patterns of each group that have the same tail; groups without a single record go."""
    at, now = 0, 0
    for g in range(groups):
        first, singles = at, 0
        for i in range(start[g], start[g + 1]):
            row = rows[i]
            t = tail[row ^ (row >> 31)]
            slot = seen[t]
            if slot < first or slot >= at or tail[out[slot] ^ (out[slot] >> 31)] != t:
                seen[t] = at
                out[at] = row
                at += 1
                singles += row >= 0
            elif out[slot] >= 0:
                out[slot] = ~out[slot]
                singles -= 1
        if singles == 0:
            at = first
        else:
            now += 1
            out_start[now] = at
    return now


@compiled
def _split(
    rows: Small, start: Small, groups: int, column: Small, work: Work, out: Small, out_start: Small, alone: Small
) -> tuple[int, int]:
    """Split each group by a key: gives the groups that can still bring something, and the records that are alone."""
    total, place, met = work
    at, now, lone = 0, 0, 0
    for g in range(groups):
        low, high = start[g], start[g + 1]
        if high - low == 2:
            one, other = rows[low], rows[low + 1]
            v, w = column[one ^ (one >> 31)], column[other ^ (other >> 31)]
            if v != w:
                alone[lone] = one
                lone += v >= 0 and one >= 0
                alone[lone] = other
                lone += w >= 0 and other >= 0
            elif v >= 0:
                out[at] = one
                out[at + 1] = other
                at += 2
                now += 1
                out_start[now] = at
            continue
        values = 0
        for i in range(low, high):
            row = rows[i]
            v = column[row ^ (row >> 31)]
            if v >= 0:
                met[values] = v
                values += total[v] == 0
                total[v] += _ONE + 1 if row >= 0 else 1
        for i in range(values):
            v = met[i]
            if total[v] == _ONE + 1:
                place[v] = -2
            elif total[v] > _ONE:
                place[v] = at
                at += total[v] & (_ONE - 1)
                now += 1
                out_start[now] = at
            else:
                place[v] = -1
            total[v] = 0
        for i in range(low, high):
            row = rows[i]
            v = column[row ^ (row >> 31)]
            if v < 0:
                continue
            slot = place[v]
            if slot >= 0:
                out[slot] = row
                place[v] = slot + 1
            elif slot == -2:
                alone[lone] = row
                lone += 1
    return now, lone


@compiled
def _last(rows: Small, start: Small, groups: int, column: Small, work: Work, alone: Small) -> int:
    """Split each group by a key that is the last on its way: only the records that are alone count."""
    total, place, met = work
    lone = 0
    for g in range(groups):
        low, high = start[g], start[g + 1]
        if high - low == 2:
            one, other = rows[low], rows[low + 1]
            v, w = column[one ^ (one >> 31)], column[other ^ (other >> 31)]
            if v != w:
                alone[lone] = one
                lone += v >= 0 and one >= 0
                alone[lone] = other
                lone += w >= 0 and other >= 0
            continue
        values = 0
        for i in range(low, high):
            row = rows[i]
            v = column[row ^ (row >> 31)]
            if v >= 0:
                met[values] = v
                values += total[v] == 0
                total[v] += _ONE + 1 if row >= 0 else 1
                place[v] = row
        for i in range(values):
            v = met[i]
            alone[lone] = place[v]
            lone += total[v] == _ONE + 1
            total[v] = 0
    return lone


@compiled
def _note(found: Found, alone: Small, lone: int, at: Set, size: int, largest: int, weight: float, entries: int) -> int:
    """Note the records that are alone on a set, and which of them are so on no part of it that is one key smaller."""
    one, last = np.uint64(1), found.bits.shape[1] - 1
    parts = _parts(at, size)
    own = at.first[size]
    keys = np.int64(0)
    if size < largest:
        for i in range(size):
            own += at.choose[at.path[i], i + 1]
    for i in range(size):
        keys |= np.int64(1) << at.path[i]
    own_word, own_bit = own >> 6, one << np.uint64(own & 63)
    minimal = 0
    for i in range(lone):
        r = alone[i] - found.low
        bits = found.bits[r]
        part = np.uint64(0)
        for q in range(parts):
            part |= bits[at.word[q]] & at.mask[q]
        if part == 0:
            minimal += 1
            found.score[r, last] += weight
            if len(found.keys) and not _smaller(bits, at.first[size]):
                found.record[entries] = alone[i]
                found.keys[entries] = keys
                entries += 1
        bits[own_word] |= own_bit
    for i in range(size):
        found.sets[size, at.path[i]] += minimal
    return entries


@compiled
def _parts(at: Set, size: int) -> int:
    """Find where the bits of the parts of a set stand that are one key smaller, but that without its last key.

    A set with keys c_1 < c_2 < … is number Σ C(c_t, t) among those of its size.
    """
    words = 0
    for q in range(size - 1):
        number, t = at.first[size - 1], 0
        for i in range(size):
            if i != q:
                t += 1
                number += at.choose[at.path[i], t]
        bit = np.uint64(1) << np.uint64(number & 63)
        k = 0
        while k < words and at.word[k] != number >> 6:
            k += 1
        if k == words:
            at.word[k], at.mask[k] = number >> 6, bit
            words += 1
        else:
            at.mask[k] |= bit
    return words


@compiled
def _smaller(bits: Words, first: int) -> bool:
    """Whether one of the first bits is set."""
    for k in range(first >> 6):
        if bits[k] != 0:
            return True
    return bool(bits[first >> 6] & ((np.uint64(1) << np.uint64(first & 63)) - np.uint64(1)))


@compiled
def _smallest(bits: Words, first: Ints) -> int:
    """Size of the smallest set among bits; 0 where there is none."""
    for size in range(1, len(first) - 1):
        if _smaller(bits, first[size + 1]):
            return size
    return len(first) - 1 if _smaller(bits, first[-1] + 1) else 0


@compiled
def _room(found: Found, entries: int, more: int) -> Found:
    """Make room for more entries."""
    if len(found.keys) == 0 or entries + more <= len(found.keys):
        return found
    size = max(2 * len(found.keys), entries + more)
    record, keys = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int64)
    record[:entries] = found.record[:entries]
    keys[:entries] = found.keys[:entries]
    return Found(found.low, found.bits, found.score, found.sets, record, keys)


@compiled
def walk(
    columns: Small,
    number: Small,
    many: Ints,
    wide: int,
    low: int,
    high: int,
    weights: Floats,
    choose: Ints,
    first: Ints,
    keep: bool,
) -> Walked:
    """Find all minimal sets of keys on which a record is unique, by a walk in which parts come before wholes.

    At each key the walk goes on without it, its patterns merged where that leaves fewer, and then with it. A record
    that leaves the table at a set was not unique on the sets that the walk took on its way there; of the others that
    are one key smaller, any on which it is unique is one at which it left the table: what has left says all.

    Parameters
    ----------
    columns : ndarray, shape (m, P)
        Values of each key, −1 where it is missing.
    number, many
        What `number_tails` gives.
    wide
        Most values of a key.
    low, high
        Patterns of one record each that are looked at; the others only stand in their way.
    weights : ndarray, shape (largest + 1,)
        What a minimal set of each size adds to a score.
    choose : ndarray, shape (m, largest + 1)
        C(a, b).
    first : ndarray, shape (largest + 1,)
        Sets that are smaller than each size.
    keep
        Whether the smallest sets are wanted.

    Returns
    -------
    tuple of ndarray, shapes (high − low,), (high − low,), (largest + 1, m), (u,) and (u,)
        Score and size of the smallest set of each of these patterns; minimal sets of each size that hold each key;
        patterns and sets, as bits, among which the smallest of each pattern are.
    """
    m, P = columns.shape
    largest = len(weights) - 1
    rows, start = np.empty((m + 1, P), dtype=np.int32), np.zeros((m + 1, P + 1), dtype=np.int32)
    work = Work(np.zeros(wide, dtype=np.int64), np.zeros(wide, dtype=np.int32), np.zeros(wide + 1, dtype=np.int32))
    seen, alone = np.zeros(P, dtype=np.int32), np.empty(P + 1, dtype=np.int32)
    path = np.zeros(m, dtype=np.int64)
    at = Set(path, np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.uint64), choose, first)
    bits = np.zeros((high - low, first[largest] // 64 + 2), dtype=np.uint64)
    room = 1024 if keep else 0
    sets = np.zeros((largest + 1, m), dtype=np.int64)
    found = Found(
        low, bits, bits.view(np.float64), sets, np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
    )
    entries = 0
    for p in range(P):
        alone[p] = p if low <= p < high else ~p
    groups = np.zeros(m + 1, dtype=np.int64)
    groups[0] = _merge(alone, np.array([0, P], dtype=np.int32), 1, number[0], seen, rows[0], start[0])
    # for each key on the way: where its table stands, keys taken before it, and what has been done (without, with it)
    table, taken, done = np.zeros((3, m + 1), dtype=np.int64)
    j = 0 if groups[0] else -1
    while j >= 0:
        here, size = table[j], taken[j] + 1
        done[j] += 1
        on = done[j] < 3 and j + 1 < m
        if done[j] == 1 and on:
            table[j + 1], taken[j + 1] = here, taken[j]
            if many[j + 1] <= _FEWER * many[j]:
                table[j + 1] = j + 1
                groups[j + 1] = _merge(
                    rows[here], start[here], groups[here], number[j + 1], seen, rows[j + 1], start[j + 1]
                )
        elif done[j] == 2:
            path[taken[j]] = j
            on = on and size < largest
            if on:
                groups[j + 1], lone = _split(
                    rows[here], start[here], groups[here], columns[j], work, rows[j + 1], start[j + 1], alone
                )
            else:
                lone = _last(rows[here], start[here], groups[here], columns[j], work, alone)
            found = _room(found, entries, lone)
            entries = _note(found, alone, lone, at, size, largest, weights[size], entries)
            table[j + 1], taken[j + 1] = j + 1, size
        if on and groups[table[j + 1]] > 0:
            j += 1
            done[j] = 0
        elif done[j] >= 2:
            j -= 1
    smallest = np.zeros(high - low, dtype=np.int32)
    for r in range(high - low):
        smallest[r] = _smallest(bits[r], first)
    return found.score[:, -1].copy(), smallest, sets, found.record[:entries], found.keys[:entries]
