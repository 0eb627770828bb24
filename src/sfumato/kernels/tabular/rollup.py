"""Margins of a table from its finest cells: sums, numbers of contributors, the largest contributions.

One variable is climbed after the other, and after each what came together in a cell is added up, so that the work grows
with the cells that there are and not with those that there could be. Only contributors that stand in several finest
cells are carried one by one. Sums are taken in the order of cells and sizes, never of rows: they do not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contributions", "Rolled", "Upward", "expanded", "put_together", "roll_up", "together"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Upward:
    """Which codes of a variable each code is counted in, as one list: those of code i from `start[i]` to `start[i+1]`.

    Examples
    --------
    >>> Upward.of([[0], [0, 1], [0, 1, 2]]).target.tolist()
    [0, 0, 1, 0, 1, 2]
    """

    start: Ints
    target: Ints

    @classmethod
    def of(cls, targets: Sequence[Sequence[int]]) -> Upward:
        """From the codes that each code is counted in."""
        start = np.concatenate([[0], np.cumsum([len(one) for one in targets])]).astype(np.int64)
        return cls(start, np.array([i for one in targets for i in one], dtype=np.int64))


@dataclass(frozen=True)
class Contributions:
    """What contributors have in cells.

    Parameters
    ----------
    key
        Number of the cell: the places of its codes in mixed radix, the last variable fastest; shape (n,).
    who
        Number of the contributor, from 0 without many gaps; shape (n,).
    amount
        What the contribution adds to the cell's value, shape (n,).
    size
        Its size as a rival sees it, without sampling weights; of a negative one the size is what counts. Shape (n,).
    heads
        How many contributors it stands for where these are counted, shape (n,).
    units
        How many of this size there are to a rival, such as the rounded sampling weight; shape (n,).
    asked
        Whether the contributor is one to be protected by rules on shares, shape (n,).
    """

    key: Ints
    who: Ints
    amount: Floats
    size: Floats
    heads: Ints
    units: Ints
    asked: NDArray[np.bool_]

    def of(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Contributions:
        """Some of them."""
        return Contributions(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Rolled:
    """Cells of a table, totals among them, in rising order of their number.

    Parameters
    ----------
    key
        Number of each cell, shape (cells,).
    value
        Sum of the amounts.
    total
        Sum of the sizes, each times its units: what contributions are compared to.
    heads
        Number of contributors.
    largest
        Sizes of the largest contributions, 0 where there are fewer; shape (cells, ranks).
    asked
        The largest size of one to be protected, 0 where there is none.
    single
        The contributor, where there is only one; else -1.
    """

    key: Ints
    value: Floats
    total: Floats
    heads: Ints
    largest: Floats
    asked: Floats
    single: Ints


_LISTED = 2**25
"""Most possible cells that are looked up in a list; above, they are searched for."""
_OF_CELLS = tuple(Rolled.__dataclass_fields__)[1:]


def roll_up(given: Contributions, sizes: Sequence[int], upward: Sequence[Upward], ranks: int) -> Rolled:
    """Roll contributions up to all margins.

    Parameters
    ----------
    given
        Contributions in the finest cells; those of one contributor in one cell are taken together.
    sizes
        Number of codes of each variable.
    upward
        Of each variable, the codes that each code is counted in.
    ranks
        How many of the largest contributions are wanted.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> own = Contributions(np.array([1, 2, 2]), np.arange(3), np.array([5.0, 2.0, 1.0]), np.array([5.0, 2.0, 1.0]),
    ...     np.ones(3, dtype=np.int64), np.ones(3, dtype=np.int64), np.ones(3, dtype=bool))
    >>> table = roll_up(own, [3], [Upward.of([[0], [0, 1], [0, 2]])], 2)
    >>> table.key.tolist(), table.value.tolist(), table.largest.tolist(), table.single.tolist()
    ([0, 1, 2], [8.0, 5.0, 3.0], [[5.0, 2.0], [5.0, 0.0], [2.0, 1.0]], [-1, 0, -1])
    """
    joined = given if np.bincount(given.who).max(initial=0) <= 1 else together(given)
    spread = np.bincount(joined.who)[joined.who] > 1 if len(joined.who) else np.zeros(0, dtype=bool)
    local = _cells(joined.of(~spread), ranks)
    weight = 1
    for size, up in zip(reversed(sizes), reversed(upward), strict=True):
        local = _climbed(local, size, weight, up, ranks)
        weight *= size
    if not np.any(spread):
        return local
    return _grouped(_stacked(local, _wide(joined.of(spread), sizes, upward, ranks)), ranks)


def _wide(given: Contributions, sizes: Sequence[int], upward: Sequence[Upward], ranks: int) -> Rolled:
    """Margins of contributors that stand in several cells, one after the other."""
    from sfumato.kernels.tabular.spread import Sums, add_up  # compiled: most tables do without

    key = _distinct(given.key, sizes)
    weights = np.cumprod([1, *reversed(sizes)])[:-1][::-1].astype(np.int64)
    for size, weight, up in zip(sizes, weights.tolist(), upward, strict=True):
        key = _distinct(expanded(key, size, weight, up)[1], sizes)
    n = len(key)
    whole = [np.zeros(n, dtype=np.int64) for _ in range(2)]
    sums = Sums(np.zeros(n), np.zeros(n), whole[0], np.zeros((n, ranks)), np.zeros(n), whole[1])
    one = given.of(_packed_order(given.who, given.key))
    add_up(
        *(one.who, one.key, one.amount, one.size, one.heads, one.units, one.asked),
        *(np.array(sizes, dtype=np.int64), weights),
        np.concatenate([up.start for up in upward]),
        np.concatenate([up.target for up in upward]),
        _place(key, sizes),
        key,
        sums,
    )
    return Rolled(key, *sums[:5], np.where(sums.heads == 1, sums.single, -1))


def _distinct(key: Ints, sizes: Sequence[int]) -> Ints:
    """Numbers of cells, each once, in rising order; ticked off in a list where one is short enough."""
    possible = float(np.prod([float(size) for size in sizes]))
    if possible > _LISTED or len(key) < possible / 64:
        return np.unique(key)
    there = np.zeros(int(possible), dtype=np.bool_)
    there[key] = True
    return np.flatnonzero(there)


def _packed_order(first: Ints, then: Ints) -> Ints:
    """The stable order by two numbers from 0 on, in one sort where one number has room for both."""
    many = int(then.max(initial=0)) + 1
    if (int(first.max(initial=0)) + 1) * many >= 2**62:
        return np.lexsort((then, first))
    return np.argsort(first * many + then, kind="stable")


def _place(key: Ints, sizes: Sequence[int]) -> Ints:
    """Where each number of a cell stands among those that there are; empty where these are too many to list."""
    possible = float(np.prod([float(size) for size in sizes]))
    if possible > _LISTED:
        return np.empty(0, dtype=np.int64)
    place = np.full(int(possible), -1, dtype=np.int64)
    place[key] = np.arange(len(key))
    return place


def put_together(cells: Rolled, spread: Contributions, ranks: int) -> Rolled:
    """Cells made one where they have the same number, and contributors that may stand in several of them put in.

    Parameters
    ----------
    cells
        Cells that no contributor stands in two of, each with `ranks` of its largest contributions; numbers may repeat.
    spread
        Contributions of the others, from `together`.
    ranks
        How many of the largest contributions are wanted.

    Examples
    --------
    >>> one = np.ones(2, dtype=np.int64)
    >>> own = Contributions(one, np.arange(2), np.array([5.0, 2.0]), np.array([5.0, 2.0]), one, one, one > 0)
    >>> parts = roll_up(own, [2], [Upward.of([[0], [1]])], 1)
    >>> other = Contributions(one[:1], one[:1] + 1, np.array([4.0]), np.array([4.0]), one[:1], one[:1], one[:1] > 0)
    >>> whole = put_together(parts, other, 1)
    >>> whole.key.tolist(), whole.value.tolist(), whole.heads.tolist(), whole.largest.tolist()
    ([1], [11.0], [3], [[5.0]])
    """
    return _grouped(_stacked(cells, _cells(spread, ranks)), ranks)


def together(given: Contributions) -> Contributions:
    """One line for each contributor in each cell, in the order of cells, then of contributors.

    Of the units the fewest count: whoever stands for few anywhere is protected as if for as few in all.

    Examples
    --------
    >>> one = np.ones(2, dtype=np.int64)
    >>> own = Contributions(one, one, np.array([5.0, 2.0]), np.array([5.0, 2.0]), one, one, one > 0)
    >>> together(own).amount.tolist(), together(own).heads.tolist()
    ([7.0], [1])
    """
    order = _packed_order(given.key, given.who)
    one = given.of(order)
    if not len(order):
        return one
    fresh = np.concatenate([[True], (np.diff(one.key) != 0) | (np.diff(one.who) != 0)])
    at = np.flatnonzero(fresh)
    if len(at) == len(order):
        return one
    several = np.flatnonzero(~fresh | np.append(~fresh[1:], False))  # sums are taken in one order, that of sizes
    rows = order[several]
    by_size = np.lexsort((given.size[rows], given.amount[rows], np.cumsum(fresh)[several]))
    order[several] = rows[by_size]
    one = given.of(order)
    return Contributions(
        one.key[at],
        one.who[at],
        np.add.reduceat(one.amount, at),
        np.add.reduceat(one.size, at),
        np.minimum.reduceat(one.heads, at),
        np.minimum.reduceat(one.units, at),
        np.logical_or.reduceat(one.asked, at),
    )


def _cells(given: Contributions, ranks: int) -> Rolled:
    """The cells that contributions stand in; each contributor once in a cell."""
    size = np.abs(given.size)
    order = np.lexsort((-size, given.key))
    one, size = given.of(order), size[order]
    at = _begins(one.key)
    if not len(at):
        return _no_cells(ranks)
    group = np.repeat(np.arange(len(at)), np.diff(np.append(at, len(order))))
    counts = np.add.reduceat(one.heads, at)
    single = (np.diff(np.append(at, len(order))) == 1) & (counts == 1)
    return Rolled(
        one.key[at],
        np.add.reduceat(one.amount, at),
        np.add.reduceat(size * one.units, at),
        counts,
        _first_ranks(group, at, size, one.units, ranks),
        np.maximum.reduceat(np.where(one.asked, size, 0.0), at),
        np.where(single, one.who[at], -1),
    )


def _first_ranks(group: Ints, at: Ints, size: Floats, units: Ints, ranks: int) -> Floats:
    """The largest of each group, whose sizes fall; a size stands as often as it has units."""
    out = np.zeros((len(at), ranks))
    if not ranks:
        return out
    before = np.cumsum(units) - units
    before = before - before[at][group]
    for rank in range(ranks):
        hit = (before <= rank) & (before + units > rank)
        out[group[hit], rank] = size[hit]
    return out


def expanded(key: Ints, size: int, weight: int, up: Upward) -> tuple[Ints, Ints]:
    """Each line once for every code that it is counted in: which line, and the number of its new cell.

    Examples
    --------
    >>> [part.tolist() for part in expanded(np.array([2, 1]), 3, 1, Upward.of([[0], [0, 1], [0, 2]]))]
    [[0, 0, 1, 1], [0, 2, 0, 1]]
    """
    place = (key // weight) % size
    many = up.start[place + 1] - up.start[place]
    rows = np.repeat(np.arange(len(key)), many)
    inner = np.arange(len(rows)) - np.repeat(np.cumsum(many) - many, many)
    target = up.target[up.start[place[rows]] + inner]
    return rows, key[rows] + (target - place[rows]) * weight


def _climbed(cells: Rolled, size: int, weight: int, up: Upward, ranks: int) -> Rolled:
    rows, key = expanded(cells.key, size, weight, up)
    return _grouped(Rolled(key, *(getattr(cells, name)[rows] for name in _OF_CELLS)), ranks)


def _grouped(cells: Rolled, ranks: int) -> Rolled:
    """Cells of one number made one; no contributor stands in two of them."""
    order = np.argsort(cells.key, kind="stable")
    key = cells.key[order]
    at = _begins(key)
    if not len(at):
        return _no_cells(ranks)
    heads = np.add.reduceat(cells.heads[order], at)
    return Rolled(
        key[at],
        np.add.reduceat(cells.value[order], at),
        np.add.reduceat(cells.total[order], at),
        heads,
        _merged_ranks(cells.largest[order], at, ranks),
        np.maximum.reduceat(cells.asked[order], at),
        np.where(heads == 1, cells.single[order][at], -1),
    )


def _merged_ranks(largest: Floats, at: Ints, ranks: int) -> Floats:
    """The largest of several cells: one rank is taken after the other from what is left."""
    out = np.zeros((len(at), ranks))
    many = np.diff(np.append(at, len(largest)))
    group = np.repeat(np.arange(len(at)), many)
    taken = np.zeros(len(largest), dtype=np.int64)  # how many of each cell's own ranks are used up
    rows = np.arange(len(largest))
    padded = np.concatenate([largest, np.zeros((len(largest), 1))], axis=1)
    for rank in range(ranks):
        now = padded[rows, taken]
        out[:, rank] = np.maximum.reduceat(now, at)
        best = np.where(now == out[group, rank], rows, len(rows))
        taken[np.minimum(np.minimum.reduceat(best, at), len(rows) - 1)] += 1
    return out


def _stacked(a: Rolled, b: Rolled) -> Rolled:
    return Rolled(*(np.concatenate([getattr(a, name), getattr(b, name)]) for name in Rolled.__dataclass_fields__))


def _begins(key: Ints) -> Ints:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.concatenate([[len(key) > 0], np.diff(key) != 0])) if len(key) else key


def _no_cells(ranks: int) -> Rolled:
    none, whole = np.empty(0), np.empty(0, dtype=np.int64)
    return Rolled(whole, none, none, whole, np.empty((0, ranks)), none, whole)
