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

__all__ = ["number_tails", "walk"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Words = NDArray[np.uint64]

_ROOM = 8
"""A table of all combinations is used where it has no more places than this for each row."""


class Found(NamedTuple):
    """What the walk has found of the records low … low + len(score) − 1.

    Parameters
    ----------
    bits : ndarray, shape (records, words)
        Whether a record was unique where the walk came to a set, by the number of the set.
    score : ndarray, shape (records,)
        Weights of the minimal sets of each, summed.
    smallest : ndarray, shape (records,)
        Fewest keys of one.
    sets : ndarray, shape (largest + 1, m)
        Minimal sets of each size that hold each key.
    record, keys : ndarray
        Minimal sets that were no larger than the smallest so far, as bits; of no length where they are not wanted.
    """

    low: int
    bits: Words
    score: Floats
    smallest: NDArray[np.int8]
    sets: Ints
    record: Small
    keys: Ints


class Work(NamedTuple):
    """What one step counts with: `total`, `single` and `place` by value of a key, `met` the values met in a group."""

    total: Small
    single: Small
    place: Small
    met: Small


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
            t = tail[row if row >= 0 else ~row]
            slot = seen[t]
            if slot < first or slot >= at or tail[out[slot] if out[slot] >= 0 else ~out[slot]] != t:
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
def _refine(
    rows: Small,
    start: Small,
    groups: int,
    column: Small,
    on: bool,
    work: Work,
    out: Small,
    out_start: Small,
    alone: Small,
) -> tuple[int, int]:
    """Split each group by a key: gives groups that can still bring something (if asked for), and records now alone."""
    total, single, place, met = work
    at, now, lone = 0, 0, 0
    for g in range(groups):
        low, high = start[g], start[g + 1]
        if high - low == 2:
            one, other = rows[low], rows[low + 1]
            v, w = column[one if one >= 0 else ~one], column[other if other >= 0 else ~other]
            if v == w:
                if v >= 0 and on:
                    out[at] = one
                    out[at + 1] = other
                    at += 2
                    now += 1
                    out_start[now] = at
            else:
                if v >= 0 and one >= 0:
                    alone[lone] = one
                    lone += 1
                if w >= 0 and other >= 0:
                    alone[lone] = other
                    lone += 1
            continue
        values = 0
        for i in range(low, high):
            row = rows[i]
            v = column[row if row >= 0 else ~row]
            if v < 0:
                continue
            if total[v] == 0:
                met[values] = v
                values += 1
            total[v] += 1
            if row >= 0:
                single[v] += 1
        for i in range(values):
            v = met[i]
            if total[v] == 1 and single[v] == 1:
                place[v] = -2
            elif on and single[v]:
                place[v] = at
                at += total[v]
                now += 1
                out_start[now] = at
            else:
                place[v] = -1
            total[v] = 0
            single[v] = 0
        for i in range(low, high):
            row = rows[i]
            v = column[row if row >= 0 else ~row]
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
def _note(
    found: Found,
    alone: Small,
    lone: int,
    size: int,
    weight: float,
    own: np.int64,
    parts: Ints,
    keys: np.int64,
    entries: int,
) -> tuple[int, int]:
    """Note which of the records that are alone on a set are alone on no part of it that is one key smaller."""
    minimal = 0
    keep = len(found.keys) > 0
    one = np.uint64(1)
    for i in range(lone):
        r = alone[i] - found.low
        bits = found.bits[r]
        special = True
        for q in range(size - 1):
            part = parts[q]
            if bits[part >> 6] >> np.uint64(part & 63) & one:
                special = False
                break
        if own >= 0:
            bits[own >> 6] |= one << np.uint64(own & 63)
        if special:
            minimal += 1
            found.score[r] += weight
            if size <= found.smallest[r]:
                found.smallest[r] = size
                if keep:
                    found.record[entries] = alone[i]
                    found.keys[entries] = keys
                    entries += 1
    return minimal, entries


@compiled
def _room(found: Found, entries: int, more: int) -> Found:
    """Make room for more entries."""
    if len(found.keys) == 0 or entries + more <= len(found.keys):
        return found
    size = max(2 * len(found.keys), entries + more)
    record, keys = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int64)
    record[:entries] = found.record[:entries]
    keys[:entries] = found.keys[:entries]
    return Found(found.low, found.bits, found.score, found.smallest, found.sets, record, keys)


@compiled
def _parts(path: Ints, size: int, choose: Ints, first: Ints, largest: int, parts: Ints) -> np.int64:
    """Number the parts of a set that are one key smaller, but that without its last key; gives the set's own number.

    A set with keys c_1 < c_2 < … is number Σ C(c_t, t) among those of its size. The largest sets have none.
    """
    for q in range(size - 1):
        total = first[size - 1]
        t = 0
        for i in range(size):
            if i != q:
                t += 1
                total += choose[path[i], t]
        parts[q] = total
    if size >= largest:
        return np.int64(-1)
    total = np.int64(first[size])
    for i in range(size):
        total += choose[path[i], i + 1]
    return np.int64(total)


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
) -> tuple[Floats, NDArray[np.int8], Ints, Small, Ints]:
    """Find all minimal sets of keys on which a record is unique, by a walk in which parts come before wholes.

    At each key the walk goes on without it, its patterns merged where that leaves fewer, and then with it. A record
    that leaves the table at a set was not unique on the sets that the walk took on its way there; of the others that
    are one key smaller, any on which it is unique has been where it left the table: what has left says all.
    """
    m, P = columns.shape
    largest = len(weights) - 1
    rows = np.empty((m + 1, P), dtype=np.int32)
    start = np.zeros((m + 1, P + 1), dtype=np.int32)
    work = Work(
        np.zeros(wide, dtype=np.int32),
        np.zeros(wide, dtype=np.int32),
        np.zeros(wide, dtype=np.int32),
        np.zeros(wide, dtype=np.int32),
    )
    seen = np.zeros(P, dtype=np.int32)
    alone = np.empty(P, dtype=np.int32)
    parts = np.zeros(m, dtype=np.int64)
    room = 1024 if keep else 0
    found = Found(
        low,
        np.zeros((high - low, first[largest] // 64 + 1), dtype=np.uint64),
        np.zeros(high - low),
        np.full(high - low, 127, dtype=np.int8),
        np.zeros((largest + 1, m), dtype=np.int64),
        np.empty(room, dtype=np.int32),
        np.empty(room, dtype=np.int64),
    )
    entries = 0
    everyone = np.empty(P, dtype=np.int32)
    for p in range(P):
        everyone[p] = p if low <= p < high else ~p
    both = np.array([0, P], dtype=np.int32)
    groups = np.zeros(m + 1, dtype=np.int64)
    groups[0] = _merge(everyone, both, 1, number[0], seen, rows[0], start[0])
    # for each key on the way: where its table stands, keys taken before it, and what has been done (without, with it)
    table, taken, done = (
        np.zeros(m + 1, dtype=np.int64),
        np.zeros(m + 1, dtype=np.int64),
        np.zeros(m + 1, dtype=np.int64),
    )
    path = np.zeros(m, dtype=np.int64)
    j = 0 if groups[0] else -1
    while j >= 0:
        here = table[j]
        done[j] += 1
        on = False
        if done[j] == 1 and j + 1 < m:
            fewer = many[j + 1] <= 0.9 * many[j]
            table[j + 1] = j + 1 if fewer else here
            if fewer:
                groups[j + 1] = _merge(
                    rows[here], start[here], groups[here], number[j + 1], seen, rows[j + 1], start[j + 1]
                )
            taken[j + 1] = taken[j]
            on = groups[table[j + 1]] > 0
        elif done[j] == 2:
            size = taken[j] + 1
            path[size - 1] = j
            on = j + 1 < m and size < largest
            groups[j + 1], lone = _refine(
                rows[here], start[here], groups[here], columns[j], on, work, rows[j + 1], start[j + 1], alone
            )
            found = _room(found, entries, lone)
            own = _parts(path, size, choose, first, largest, parts)
            keys = np.int64(0)
            for i in range(size):
                keys |= np.int64(1) << path[i]
            minimal, entries = _note(found, alone, lone, size, weights[size], own, parts, keys, entries)
            for i in range(size):
                found.sets[size, path[i]] += minimal
            table[j + 1], taken[j + 1] = j + 1, size
            on = on and groups[j + 1] > 0
        if on:
            j += 1
            done[j] = 0
        elif done[j] >= 2:
            j -= 1
    for r in range(high - low):
        if found.smallest[r] == 127:
            found.smallest[r] = 0
    return found.score, found.smallest, found.sets, found.record[:entries], found.keys[:entries]
