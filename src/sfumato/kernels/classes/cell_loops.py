"""The loops of cell suppression: which records match which, kept up to date while single cells are blanked.

A unit is one record that has too few like it. Its known set is the set of keys it still shows. Units stand in lists by
(known set of the unit, the part of it that somebody else shows too, the values there), so that for any known set one
lookup per set in use counts, and lists, all units that match. Lists are only ever added to: a unit that has left its
set is passed over.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["WORK", "State", "begin", "improve", "repair", "settle"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Words = NDArray[np.uint64]
Place = int | np.int64

UNSAFE, NODES, STACK, WORK, SEED = 0, 1, 2, 3, 4
"""Places of the counters: units below k, nodes used, units that fell below k since, lookups made, random state."""


class State(NamedTuple):
    """Everything the loops work on.

    Parameters
    ----------
    words : ndarray, shape (patterns, m + 1)
        A scattered word for each value; the last column is the stratum.
    pattern, current, f : ndarray, shape (units,)
        Of each unit its pattern, known set, and how many records match it.
    background : ndarray, shape (patterns, sets)
        How many records that are no units match a pattern that shows a known set.
    known, value, size : ndarray, shape (sets,)
        Keys of a known set as bits, what its cells are worth, and how many they are.
    fewest : ndarray, shape (units,)
        Keys that a unit must keep.
    kind, options : ndarray, shapes (patterns,) and (kinds, choices)
        Known sets that a pattern may be brought to, the first with all it knows; −1 where there are no more.
    common : ndarray, shape (sets, sets)
        Which part two known sets have in common.
    parts : ndarray
        The keys of each such part, as bits.
    lists, listed : ndarray, shapes (sets, parts) and (sets,)
        Parts by which units of a known set are listed, and how many.
    keys, head, there, unsafe : ndarray
        The hash table: its words (0: free), first node, units there, those of them below k.
    unit, following : ndarray
        Nodes of the lists.
    entered : ndarray, shape (units, sets)
        Whether a unit was listed under a known set before.
    used : ndarray, shape (sets,)
        Units in each known set.
    spent, room : ndarray, shape (m,)
        Blanked cells of each key, and how many there may be.
    stack : ndarray
        Units that fell below k; it may overflow, then later ones are found by looking at all.
    counters : ndarray
        See `WORK` and its neighbours.
    k : int
        Records that must match.
    """

    words: Words
    pattern: Ints
    current: Ints
    f: Ints
    background: Ints
    known: Ints
    value: Ints
    size: Ints
    fewest: Ints
    kind: Ints
    options: Ints
    common: Ints
    parts: Ints
    lists: Ints
    listed: Ints
    keys: Words
    head: Small
    there: Small
    unsafe: Small
    unit: Small
    following: Small
    entered: Bools
    used: Ints
    spent: Ints
    room: Ints
    stack: Ints
    counters: Ints
    k: int


@compiled
def _key(s: State, p: Place, b: Place, part: Place) -> np.uint64:
    """Word of a pattern's values on a part, among units of known set b."""
    m = s.words.shape[1] - 1
    x = s.words[p, m] + np.uint64(b * 1000003 + part + 1) * np.uint64(0x9E3779B97F4A7C15)
    bits = s.parts[part]
    for j in range(m):
        if bits >> j & 1:
            x += s.words[p, j]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return x if x != np.uint64(0) else np.uint64(1)


@compiled
def _slot(s: State, key: np.uint64) -> int:
    """Where a word stands, or would."""
    last = np.uint64(len(s.keys) - 1)
    at = key & last
    while s.keys[at] != np.uint64(0) and s.keys[at] != key:
        at = (at + np.uint64(1)) & last
    return int(at)


@compiled
def _matching(s: State, u: Place, a: Place) -> tuple[np.int64, int]:
    """Records that match unit u if it shows known set a, itself included; and units below k among them."""
    p = s.pattern[u]
    total, unsafe = s.background[p, a], 0
    for b in range(len(s.known)):
        if s.used[b]:
            at = _slot(s, _key(s, p, b, s.common[a, b]))
            total += s.there[at]
            unsafe += s.unsafe[at]
            s.counters[WORK] += 1
    return total, unsafe


@compiled
def _differ(s: State, p: int, q: int, bits: int) -> bool:
    differ = False
    for j in range(s.words.shape[1] - 1):
        if bits >> j & 1 and s.words[p, j] != s.words[q, j]:
            differ = True
    return differ


@compiled
def _mark(s: State, u: Place, step: int) -> None:
    """Tell the lists of a unit that it fell below k (1) or is no longer (−1)."""
    b = s.current[u]
    s.counters[WORK] += s.listed[b]
    for i in range(s.listed[b]):
        s.unsafe[_slot(s, _key(s, s.pattern[u], b, s.lists[b, i]))] += step
    s.counters[UNSAFE] += step
    if step > 0 and s.counters[STACK] < len(s.stack):
        s.stack[s.counters[STACK]] = u
        s.counters[STACK] += 1


@compiled
def _tell_others(s: State, u: Place, wide: Place, narrow: Place, step: int) -> None:
    """Add `step` to f of all units that match u where it shows `narrow`, and do not where it shows `wide`."""
    p = s.pattern[u]
    for c in range(len(s.known)):
        if not s.used[c]:
            continue
        at = _slot(s, _key(s, p, c, s.common[narrow, c]))
        if s.there[at] == 0:
            continue
        lost = s.known[wide] & ~s.known[narrow] & s.known[c]
        node = s.head[at]
        while node >= 0:
            v = s.unit[node]
            node = s.following[node]
            s.counters[WORK] += 1
            if s.current[v] == c and v != u and _differ(s, p, s.pattern[v], lost):
                below = s.f[v] < s.k
                s.f[v] += step
                if below != (s.f[v] < s.k):
                    _mark(s, v, -1 if below else 1)


@compiled
def _enter(s: State, u: Place, b: Place) -> None:
    """Put a unit into a known set's lists."""
    fresh = not s.entered[u, b]
    s.entered[u, b] = True
    for i in range(s.listed[b]):
        key = _key(s, s.pattern[u], b, s.lists[b, i])
        at = _slot(s, key)
        if s.keys[at] == np.uint64(0):
            s.keys[at] = key
            s.head[at] = -1
        s.there[at] += 1
        if fresh:
            node = s.counters[NODES]
            s.counters[NODES] += 1
            s.unit[node] = u
            s.following[node] = s.head[at]
            s.head[at] = node
    s.current[u] = b
    s.used[b] += 1


@compiled
def begin(s: State) -> None:
    """List all units with all they know, and count."""
    s.counters[SEED] = 20121
    for u in range(len(s.current)):
        _enter(s, u, s.options[s.kind[s.pattern[u]], 0])
    for u in range(len(s.current)):
        s.f[u] = _matching(s, u, s.current[u])[0]
        if s.f[u] < s.k:
            _mark(s, u, 1)
    for u in range(len(s.current)):
        s.fewest[u] = _keys_left(s, u)


@compiled
def _keys_left(s: State, u: Place) -> np.int64:
    """Keys that a unit keeps if it alone gives up cells, those worth least; the fewest it may where none will do."""
    best, left, fewest = -1, 0, len(s.spent)
    for to in s.options[s.kind[s.pattern[u]]]:
        if to >= 0:
            fewest = min(fewest, s.size[to])
            if s.value[to] > best and _matching(s, u, to)[0] >= s.k:
                best, left = s.value[to], s.size[to]
    return np.int64(left if best >= 0 else fewest)


@compiled
def _leave(s: State, u: Place) -> None:
    b = s.current[u]
    for i in range(s.listed[b]):
        s.there[_slot(s, _key(s, s.pattern[u], b, s.lists[b, i]))] -= 1
    s.used[b] -= 1


@compiled
def _spend(s: State, before: Place, after: Place) -> None:
    for j in range(len(s.spent)):
        s.spent[j] += (s.known[before] >> j & 1) - (s.known[after] >> j & 1)


@compiled
def _move(s: State, u: Place, to: Place) -> None:
    """Bring a unit to a known set within its own, or one that its own is within, and keep all counts."""
    b = s.current[u]
    if s.f[u] < s.k:
        _mark(s, u, -1)
    if s.known[to] & ~s.known[b]:
        _tell_others(s, u, to, b, -1)
    else:
        _tell_others(s, u, b, to, 1)
    _leave(s, u)
    _enter(s, u, to)
    _spend(s, b, to)
    s.f[u] = _matching(s, u, to)[0]
    if s.f[u] < s.k:
        _mark(s, u, 1)


@compiled
def _bring(s: State, u: Place, to: Place) -> None:
    """The same for any known set, by way of all that the unit knows."""
    b = s.current[u]
    if b == to:
        return
    inner, outer = s.known[to] & ~s.known[b], s.known[b] & ~s.known[to]
    if inner and outer:
        _move(s, u, s.options[s.kind[s.pattern[u]], 0])
    if s.current[u] != to:
        _move(s, u, to)


@compiled
def _allowed(s: State, u: Place, to: Place) -> bool:
    """Whether a unit may give up the cells it still shows beyond a known set."""
    b = s.current[u]
    if b == to or s.known[to] & ~s.known[b] or s.size[to] < s.fewest[u]:
        return False
    if not s.entered[u, to] and s.counters[NODES] + s.listed[to] > len(s.unit):
        return False
    lost = s.known[b] & ~s.known[to]
    free = True
    for j in range(len(s.spent)):
        free = free and not (lost >> j & 1 and s.spent[j] >= s.room[j])
    return free


@compiled
def _gain(s: State, u: Place, to: Place) -> np.int64:
    """How many matches nearer to k all units together come."""
    now = _matching(s, u, s.current[u])[1]
    f, then = _matching(s, u, to)
    return np.int64(min(s.k, f) - min(s.k, s.f[u]) + then - now)


@compiled
def _random(s: State) -> int:
    x = np.uint64(s.counters[SEED]) * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    s.counters[SEED] = np.int64(x)
    return int(x >> np.uint64(33))


@compiled
def _urgency(s: State, u: Place, to: Place, gain: Place, noise: int) -> np.int64:
    """Gain for what the cells are worth, negative; with noise up to so many thousandths off."""
    score = (gain << 40) // (s.value[s.current[u]] - s.value[to])
    if noise:
        score = score // 1000 * (1000 - noise + _random(s) % (2 * noise))
    return np.int64(-score)


@compiled
def repair(s: State, units: Ints, noise: int) -> bool:
    """Blank cells of the given units, always those that bring most for what they are worth, until none is below k.

    Returns whether none is.
    """
    moved, first = True, True
    while moved and s.counters[UNSAFE]:
        moved = False
        heap = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0))]
        heap.pop()
        for u in units:
            if not first and s.f[u] >= s.k:
                continue  # what it could do for others was weighed in the first round
            for to in s.options[s.kind[s.pattern[u]]]:
                if to >= 0 and _allowed(s, u, to):
                    gain = _gain(s, u, to)
                    if gain > 0:
                        heap.append((_urgency(s, u, to, gain, noise), np.int64(u), np.int64(to), np.int64(gain)))
        first = False
        heapq.heapify(heap)
        while heap and s.counters[UNSAFE]:
            _, u, to, before = heapq.heappop(heap)
            if not _allowed(s, u, to):
                continue
            gain = _gain(s, u, to)
            if gain >= before:
                _move(s, u, to)
                moved = True
            elif gain > 0:
                heapq.heappush(heap, (_urgency(s, u, to, gain, noise), u, to, np.int64(gain)))
    return bool(s.counters[UNSAFE] == 0)


@compiled
def settle(s: State, units: Ints) -> None:
    """Give back cells that nobody needs: of each unit, in the given order, as much as all others allow."""
    for u in units:
        kept = s.current[u]
        if s.f[u] < s.k:
            continue
        for to in s.options[s.kind[s.pattern[u]]]:
            b = s.current[u]
            if to < 0 or b == to or s.known[b] & ~s.known[to] or s.value[to] <= s.value[kept]:
                continue
            if not s.entered[u, to] and s.counters[NODES] + s.listed[to] > len(s.unit):
                continue
            unsafe = s.counters[UNSAFE]
            _move(s, u, to)
            if s.counters[UNSAFE] > unsafe:
                _move(s, u, b)
            else:
                break


@compiled
def _helpers(s: State, u: Place, found: Ints, count: int) -> int:
    """List units, and those that match it but for one key."""
    p, a = s.pattern[u], s.current[u]
    for to in s.options[s.kind[p]]:
        if to < 0 or s.known[to] & ~s.known[a] or _size(s.known[a] & ~s.known[to]) != 1:
            continue
        for c in range(len(s.known)):
            if s.used[c]:
                node = s.head[_slot(s, _key(s, p, c, s.common[to, c]))]
                s.counters[WORK] += 1
                while node >= 0 and count < len(found):
                    if s.current[s.unit[node]] == c:
                        found[count] = s.unit[node]
                        count += 1
                    node = s.following[node]
    return count


@compiled
def _size(bits: int) -> int:
    n = 0
    while bits:
        bits &= bits - 1
        n += 1
    return n


@compiled
def _undo_some(s: State, blanked: Ints, count: int, log: Ints, before: Ints) -> int:
    """Give a few units that stand near each other all their cells back; tell which, and where they were."""
    first = blanked[_random(s) % count]
    log[0], before[0] = first, s.current[first]
    undone, wanted = 1, 1 + _random(s) % 4
    found = np.empty(64, dtype=np.int64)
    near = _helpers(s, first, found, 0)
    for _ in range(12):
        if undone >= wanted:
            break
        v = found[_random(s) % near] if near and _random(s) % 4 else blanked[_random(s) % count]
        new = s.current[v] != s.options[s.kind[s.pattern[v]], 0]
        for i in range(undone):
            new = new and log[i] != v
        if new:
            log[undone], before[undone] = v, s.current[v]
            undone += 1
    for i in range(undone):
        _bring(s, log[i], s.options[s.kind[s.pattern[log[i]]], 0])
    return undone


@compiled
def _concerned(s: State, log: Ints, undone: int) -> Ints:
    """Units whose cells may mend what was undone: those below k, those undone, and all next to them."""
    found = np.empty(256, dtype=np.int64)
    n = 0
    for i in range(undone):
        found[n] = log[i]
        n += 1
    fallen = s.counters[STACK]
    for i in range(min(fallen, 100)):
        if s.f[s.stack[i]] < s.k and n < len(found):
            found[n] = s.stack[i]
            n += 1
    for i in range(n):
        n = _helpers(s, found[i], found, n)
    return np.unique(found[:n])


@compiled
def improve(s: State, units: Ints, work: int) -> None:
    """Undo a few cells, blank others in their place, and keep what is worth less; until `work` lookups were made.

    Source: Shaw (1998), large neighbourhood search, doi:10.1007/3-540-49481-2_30.
    """
    end = s.counters[WORK] + work
    log, before = np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64)
    blanked, held = np.empty(len(units), dtype=np.int64), np.empty(256, dtype=np.int64)
    while s.counters[WORK] < end:
        count = 0
        for u in units:
            if s.current[u] != s.options[s.kind[s.pattern[u]], 0]:
                blanked[count] = u
                count += 1
        if count == 0:
            return
        for _ in range(max(20, count)):
            _try(s, blanked, count, log, before, held)
            if s.counters[WORK] >= end:
                break


@compiled
def _try(s: State, blanked: Ints, count: int, log: Ints, before: Ints, held: Ints) -> None:
    """Undo and mend once; what was there comes back where the new cells are worth more."""
    s.counters[STACK] = 0
    s.counters[WORK] += 20
    worth = 0
    undone = _undo_some(s, blanked, count, log, before)
    for i in range(undone):
        worth += s.value[s.current[log[i]]] - s.value[before[i]]
    near = _concerned(s, log, undone)
    for i in range(len(near)):
        held[i] = s.current[near[i]]
    mended = repair(s, near, 300)
    if mended:
        settle(s, near)
    paid = 0
    for i in range(len(near)):
        paid += s.value[held[i]] - s.value[s.current[near[i]]]
    if not mended or paid > worth:
        for i in range(len(near)):
            _bring(s, near[i], held[i])
        for i in range(undone):
            _bring(s, log[i], before[i])
