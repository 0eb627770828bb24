"""Blank single cells of records until every record has k like it, a blanked cell matching everything.

Only records below k lose cells. One that gives up a key shelters all that differ from it in that key alone, so that
what counts is whom a cell brings together. Cells are chosen in three steps: always the one that brings most; those that
nobody needs are given back; a few are undone and mended otherwise, as long as that pays. Records of one pattern may be
treated differently. Every result is counted again from the start, by other code.

No record loses more cells than it would need if it alone lost any. Without that rule two records that lose all but one
key would match everybody, all would count as safe, and all others would be released as they were: fewest cells of all,
and no protection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.classes.cell_loops import State, begin, improve, repair, settle
from sfumato.kernels.classes.joining import Blocks, join_compatible
from sfumato.kernels.classes.missing_keys import count_with_missing, known_parts, packed_rows
from sfumato.kernels.rows import scatter

__all__ = ["Suppression", "importance_order", "suppress_cells"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROOM = 2 * 10**7
"""Most units × choices × choices of one round: with more, fewer cells of a record are tried together."""
_SETS = 400
"""Most known sets of one round."""
_MANY, _SLOW = 1000, 0.1
"""With more units than this, a round that helps fewer than this share of them is one that takes a key of the others."""
_EFFORT = 2 * 10**7
"""Lookups spent on doing better: a second or two."""


@dataclass(frozen=True)
class Suppression:
    """Which cells go: `records[i]` of the records of pattern `pattern[i]` lose the keys `blank[i]`.

    Parameters
    ----------
    pattern : ndarray, shape (r,)
        Rows of the patterns given, ascending; a pattern stands once for each way in which its records are treated.
    records : ndarray, shape (r,)
        How many of its records. Which of them is for the caller to draw; the others stay as they are.
    blank : ndarray, shape (r, m)
        Keys that they lose.
    below : int
        Records that are still below k: only where caps, or fewer than k records, left no way.
    """

    pattern: Ints
    records: Ints
    blank: Bools
    below: int

    @property
    def cells(self) -> Ints:
        """Blanked cells of each key, shape (m,)."""
        return np.asarray(self.records @ self.blank, dtype=np.int64)


@dataclass(frozen=True)
class _Table:
    """Patterns as they stand: some of their cells may be gone.

    Parameters
    ----------
    codes : ndarray, shape (R, m)
    source : ndarray, shape (R,)
        Row of the pattern given.
    counts : ndarray, shape (R,)
    stratum : ndarray, shape (R,)
    """

    codes: Ints
    source: Ints
    counts: Ints
    stratum: Ints


def suppress_cells(
    codes: Ints,
    counts: Ints,
    k: int,
    *,
    importance: Sequence[int] = (),
    strata: Ints | None = None,
    subsets: Sequence[tuple[int, int]] = (),
    caps: Floats | None = None,
    strict: bool = False,
) -> Suppression:
    """Blank as few cells as can be found, so that at least k records match every record on its keys.

    It protects against being singled out on these keys by somebody who takes a gap for any value. It does not protect
    where missing is read as a value of its own (`missing_keys.relying_on_wildcards` counts whom), nor against learning
    what all that match have in common.

    Fewest cells come first; among equally many, those of less important keys go. Ties go by the patterns, so that the
    order of rows changes nothing. No more cells of a record are blanked than it would need if it alone lost any.

    Parameters
    ----------
    codes : ndarray, shape (P, m)
        Distinct patterns: number of each key's value, −1 where it is missing; m at most 62. Distinct within strata.
    counts : ndarray, shape (P,)
        Records of each, ≥ 1.
    k
        Records that must match, ≥ 1.
    importance
        Keys by their place, the first kept longest. Those not named go first; among them, and where none are named,
        keys with fewer distinct values are kept longer, then those that come first.
    strata : ndarray, shape (P,), optional
        Number of the stratum of each pattern, from 0; records match within theirs alone.
    subsets
        Pairs (size, k): on every subset of so many keys that many records must match too.
    caps : ndarray, shape (m,), optional
        Largest share of the records whose cell of each key may be blanked, 0 to 1.
    strict
        A cell of a key is worth four of the next less important one: more cells, fewer of important keys.

    Returns
    -------
    Suppression

    Raises
    ------
    DataError
        If k, a subset, a cap or a place in `importance` is out of its range.

    Examples
    --------
    >>> done = suppress_cells(np.array([[0, 0], [0, 1], [1, 1]]), np.array([1, 1, 2]), 2)
    >>> done.pattern.tolist(), done.records.tolist(), done.blank.tolist()
    ([0], [1], [[False, True]])

    Source: Hundepool et al. (2012), Statistical Disclosure Control, section 3.4.2.2, doi:10.1002/9781118348239.
    """
    codes, counts = np.ascontiguousarray(codes, dtype=np.int64), np.asarray(counts, dtype=np.int64)
    m = codes.shape[1]
    _check(m, k, importance, subsets, caps)
    stratum = np.zeros(len(codes), dtype=np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
    order = np.argsort(packed_rows(np.column_stack([codes, stratum])), kind="stable")
    worth = _worth(codes, importance, strict)
    room = np.full(m, counts.sum()) if caps is None else np.floor(np.asarray(caps) * counts.sum() + 1e-9)
    table = _Table(codes[order], order, counts[order], stratum[order])
    views = [(list(c), at_least) for size, at_least in sorted(subsets) for c in combinations(range(m), size)]
    views.append((list(range(m)), k))
    while True:
        start = table
        for columns, at_least in views:
            table = _reach(table, columns, at_least, worth, room.astype(np.int64), codes)
        if table is start:
            return _told(table, codes, views)


def importance_order(codes: Ints, importance: Sequence[int] = ()) -> list[int]:
    """Order keys from the one kept longest to the one that goes first.

    Parameters
    ----------
    codes : ndarray, shape (P, m)
        Patterns, −1 where a key is missing.
    importance
        Places of keys, the most important first; the others follow by their number of distinct values.

    Examples
    --------
    >>> importance_order(np.array([[0, 0, 0], [1, 0, 0], [2, 1, 1]]), [2])
    [2, 1, 0]
    """
    values = [len(np.unique(column[column >= 0])) for column in codes.T]
    rest = [j for j in range(codes.shape[1]) if j not in importance]
    return [*importance, *sorted(rest, key=lambda j: (values[j], j))]


def _check(m: int, k: int, importance: Sequence[int], subsets: Sequence[tuple[int, int]], caps: Floats | None) -> None:
    if not 1 <= m <= 62:
        raise DataError("There must be 1 to 62 keys.")
    if k < 1 or any(at_least < 1 for _, at_least in subsets):
        raise DataError("k: must be 1 or more")
    if any(not 1 <= size <= m for size, _ in subsets):
        raise DataError("subsets: a size must lie between 1 and the number of keys")
    if len(set(importance)) < len(importance) or not set(importance) <= set(range(m)):
        raise DataError("importance: must name keys, each once")
    if caps is not None and not (len(caps) == m and np.all((np.asarray(caps) >= 0) & (np.asarray(caps) <= 1))):
        raise DataError("caps: one share between 0 and 1 is needed for each key")


def _worth(codes: Ints, importance: Sequence[int], strict: bool) -> Ints:
    """What a cell of each key is worth: nearly the same for all, or steps of four."""
    worth = np.empty(codes.shape[1], dtype=np.int64)
    for place, j in enumerate(reversed(importance_order(codes, importance))):
        worth[j] = 4 ** min(place, 12) if strict else 2**20 + place
    return worth


def _reach(table: _Table, columns: list[int], k: int, worth: Ints, room: Ints, codes: Ints) -> _Table:
    """Blank cells of these columns until k holds on them; the same table where it does, or where nothing helps."""
    while True:
        low = _below(table, columns, k)
        if not low.any():
            return table
        spent = _spent(table, codes)
        units = _units(table, columns, low)
        if not len(units):
            return table
        state = _state(table, columns, units, k, worth[columns], (room - spent)[columns])
        places = np.arange(len(units))
        repair(state, places, 0)
        settle(state, places[np.argsort(state.value[state.current], kind="stable")])  # those that lost most first
        improve(state, places, min(_EFFORT, 50_000 * len(units)))
        settle(state, places[np.argsort(state.value[state.current], kind="stable")])
        known = (state.known[state.current][:, None] >> np.arange(len(columns)) & 1).astype(bool)
        moved = state.current != state.options[state.kind[state.pattern], 0]
        if moved.sum() < len(units) * (_SLOW if len(units) > _MANY else 0) or not moved.any():
            stuck = np.flatnonzero(~moved & (state.f < k))
            if len(stuck) <= _MANY:  # a few at a time: others may meet them halfway
                stuck = stuck[: 1 + len(stuck) // 10]
            known[stuck] = _forced(table, columns, units[stuck], state.room - state.spent, worth[columns])
            moved[stuck] = (known[stuck] != (table.codes[units[stuck]][:, columns] >= 0)).any(axis=1)
        if not moved.any():
            return table
        table = _applied(table, columns, units[moved], known[moved])


def _below(table: _Table, columns: list[int], k: int) -> Bools:
    """Patterns that fewer than k records match on these columns."""
    view = table.codes[:, columns]
    f = np.empty(len(view))
    if not table.stratum.any():
        f[:] = _matches(view, table.counts)
    else:  # the stratum is a key that is never missing; but without any other known key all of the stratum match
        keyed = np.column_stack([view, table.stratum])
        f[:] = _matches_within(keyed, table.counts)
    return f < k


def _matches(view: Ints, counts: Ints) -> Floats:
    """Records that match each row, where rows may be equal."""
    _, first, member = np.unique(packed_rows(view), return_index=True, return_inverse=True)
    member = member.reshape(-1)
    summed = np.bincount(member, weights=counts)
    return count_with_missing(view[first], summed, alpha=1.0).f[member]


def _matches_within(keyed: Ints, counts: Ints) -> Floats:
    """The same within strata, the last column: records without any known key add nothing to complete ones."""
    f = _matches(keyed, counts)
    known = keyed[:, :-1] >= 0
    strata, at = np.unique(keyed[:, -1], return_inverse=True)
    empty = np.bincount(at.reshape(-1), weights=counts * ~known.any(axis=1), minlength=len(strata))[at.reshape(-1)]
    return np.asarray(f - np.where(known.all(axis=1), empty, 0.0))


def _spent(table: _Table, codes: Ints) -> Ints:
    """Cells blanked so far of each key."""
    gone = (table.codes < 0) & (codes[table.source] >= 0)
    return np.asarray(table.counts @ gone, dtype=np.int64)


def _units(table: _Table, columns: list[int], low: Bools) -> Ints:
    """Row of the table of each record below k that shows some key; of those with rare known sets some other time."""
    known = table.codes[:, columns] >= 0
    rows = np.flatnonzero(low & known.any(axis=1))
    parts, member = known_parts(table.codes[rows][:, columns])
    often = np.argsort(-np.bincount(member, weights=table.counts[rows], minlength=len(parts)), kind="stable")
    choices = np.cumsum(parts[often].sum(axis=1))
    taken = often[: max(1, int((choices <= _SETS).sum()))]
    rows = rows[np.isin(member, taken)]
    return np.repeat(rows, table.counts[rows])


def _state(table: _Table, columns: list[int], units: Ints, k: int, worth: Ints, room: Ints) -> State:
    """Set up the loops for these units; all other records stay as they are."""
    view = table.codes[:, columns]
    rows, pattern = np.unique(units, return_inverse=True)
    shown = view[rows]
    known, options, kind = _choices(shown >= 0, len(units), worth)
    others = np.ones(len(view), dtype=bool)
    others[rows] = False
    background = _background(table, columns, others, rows, known)
    bits = np.array([_bits(row) for row in known])
    parts, common = np.unique(bits[:, None] & bits[None, :], return_inverse=True)
    common = common.reshape(len(bits), len(bits))
    lists = [np.unique(common[:, b]) for b in range(len(bits))]
    listed = np.array([len(one) for one in lists])
    nodes = int(min(len(units) * len(bits) * listed.max(), 4 * len(units) * listed.max() + 2 * 10**5))
    slots = 1 << int(2 * nodes).bit_length()
    state = State(
        words=_words(shown, table.stratum[rows]),
        pattern=pattern.reshape(-1).astype(np.int64),
        current=np.full(len(units), -1, dtype=np.int64),
        f=np.zeros(len(units), dtype=np.int64),
        background=background,
        known=bits,
        value=known @ worth,
        size=known.sum(axis=1),
        fewest=np.zeros(len(units), dtype=np.int64),
        kind=kind,
        options=options,
        common=common.astype(np.int64),
        parts=parts,
        lists=np.array([np.pad(one, (0, listed.max() - len(one))) for one in lists]),
        listed=listed,
        keys=np.zeros(slots, dtype=np.uint64),
        head=np.full(slots, -1, dtype=np.int32),
        there=np.zeros(slots, dtype=np.int32),
        unsafe=np.zeros(slots, dtype=np.int32),
        unit=np.empty(nodes, dtype=np.int32),
        following=np.empty(nodes, dtype=np.int32),
        entered=np.zeros((len(units), len(bits)), dtype=bool),
        used=np.zeros(len(bits), dtype=np.int64),
        spent=np.zeros(len(columns), dtype=np.int64),
        room=room,
        stack=np.empty(1000, dtype=np.int64),
        counters=np.zeros(5, dtype=np.int64),
        k=k,
    )
    begin(state)
    return state


def _bits(known: Bools) -> int:
    return sum(1 << int(j) for j in np.flatnonzero(known))


def _words(shown: Ints, stratum: Ints) -> NDArray[np.uint64]:
    """A scattered word for each value of each key, and for the stratum."""
    table = np.column_stack([shown + 1, stratum]).astype(np.uint64)
    salt = scatter(np.arange(1, table.shape[1] + 1, dtype=np.uint64) << np.uint64(40))
    return scatter(table ^ salt)


def _choices(known: Bools, units: int, worth: Ints) -> tuple[Bools, Ints, Ints]:
    """Known sets that patterns may be brought to, as many cells at once as there is room for.

    Returns the sets, for each kind of pattern those it may choose, dearest first, and the kind of each pattern.
    """
    kinds, kind = known_parts(known.astype(np.int64) - 1)
    widths = kinds.sum(axis=1)
    most = 1
    for cells in range(2, known.shape[1]):
        sets = sum(sum(comb(int(w), i) for i in range(min(cells, int(w) - 1) + 1)) for w in widths)
        if sets <= _SETS and units * sets**2 <= _ROOM:
            most = cells
    place: dict[int, int] = {}
    chosen = []
    for own in kinds:
        keys = np.flatnonzero(own).tolist()
        sets_of = [
            (sum(int(worth[j]) for j in lost), sum(1 << j for j in keys if j not in lost))
            for cells in range(min(most, len(keys) - 1) + 1)
            for lost in combinations(keys, cells)
        ]
        chosen.append([place.setdefault(bits, len(place)) for _, bits in sorted(sets_of)])
    options = np.full((len(kinds), max(len(c) for c in chosen)), -1, dtype=np.int64)
    for i, one in enumerate(chosen):
        options[i, : len(one)] = one
    sets_known = np.array([[bits >> j & 1 for j in range(known.shape[1])] for bits in place], dtype=bool)
    return sets_known, options, kind


def _background(table: _Table, columns: list[int], others: Bools, rows: Ints, known: Bools) -> Ints:
    """How many of the other records match each row if it shows each known set, shape (rows, sets)."""
    keyed = np.column_stack([table.codes[:, columns], table.stratum])
    given = np.flatnonzero(others)
    out = np.zeros((len(rows), len(known)), dtype=np.int64)
    if not len(given):
        return out
    parts, member = known_parts(keyed[given])
    order = np.argsort(member, kind="stable")
    given = given[order]
    theirs = Blocks(keyed[given], np.concatenate([[0], np.cumsum(np.bincount(member))]), parts)
    own = np.column_stack([known, np.ones(len(known), dtype=bool)])
    shown = keyed[rows] >= 0
    mine = [np.flatnonzero(shown[:, one].all(axis=1)) for one in own]
    start = np.concatenate([[0], np.cumsum([len(one) for one in mine])])
    asked = Blocks(keyed[rows[np.concatenate(mine)]], start, own)
    empty = parts[:, :-1].sum(axis=1) == 0
    weight = np.where(own.all(axis=1, keepdims=True) & empty, 0.0, 1.0)
    found = join_compatible(asked, theirs, table.counts[given][:, None].astype(np.float64), weight)[:, 0]
    for s, one in enumerate(mine):
        out[one, s] = np.round(found[start[s] : start[s + 1]]).astype(np.int64)
    return out


def _forced(table: _Table, columns: list[int], units: Ints, room: Ints, worth: Ints) -> Bools:
    """Blank one more key of units that no few cells bring nearer to anyone; returns what they show then.

    A few lose their rarest value each; many lose their least important key, the same, so that they meet in the others.
    """
    view = table.codes[:, columns]
    known = view[units] >= 0
    last = np.broadcast_to(worth.astype(np.float64), known.shape).copy()
    if len(units) <= _MANY:
        for j, column in enumerate(view.T):
            last[:, j] = np.bincount(column + 1, weights=table.counts)[column[units] + 1]
    left = room.copy()
    for i, row in enumerate(last):
        free = [j for j in np.flatnonzero(known[i]) if left[j] > 0]
        if free:
            goes = min(free, key=lambda j: (row[j], worth[j]))
            known[i, goes] = False
            left[goes] -= 1
    return known


def _applied(table: _Table, columns: list[int], units: Ints, known: Bools) -> _Table:
    """The table in which each of these units shows only what is known."""
    codes = table.codes[units].copy()
    codes[:, columns] = np.where(known, codes[:, columns], -1)
    left = table.counts - np.bincount(units, minlength=len(table.counts))
    every = np.column_stack(
        [
            np.concatenate([table.codes, codes]),
            np.concatenate([table.stratum, table.stratum[units]]),
            np.concatenate([table.source, table.source[units]]),
        ]
    )
    counts = np.concatenate([left, np.ones(len(units), dtype=np.int64)])
    _, first, member = np.unique(packed_rows(every), return_index=True, return_inverse=True)
    summed = np.bincount(member.reshape(-1), weights=counts).astype(np.int64)
    kept = first[summed > 0]
    return _Table(every[kept, :-2], every[kept, -1], summed[summed > 0], every[kept, -2])


def _told(table: _Table, codes: Ints, views: list[tuple[list[int], int]]) -> Suppression:
    below = np.zeros(len(table.counts), dtype=bool)
    for columns, at_least in views:
        below |= _below(table, columns, at_least)
    blank = (table.codes < 0) & (codes[table.source] >= 0)
    touched = np.flatnonzero(blank.any(axis=1))
    touched = touched[np.lexsort((packed_rows(table.codes[touched]), table.source[touched]))]
    return Suppression(table.source[touched], table.counts[touched], blank[touched], int(table.counts[below].sum()))
