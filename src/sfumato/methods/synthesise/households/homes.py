"""Who lives with whom, and in which order the members of a household are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.draws import plain
from sfumato.errors import DataError
from sfumato.methods.synthesise.coding import Coded, Coding

__all__ = ["Layout", "in_order", "is_shared"]

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_NO_ORDER = (
    "synthesise: the categories of {head!r} have no order, so that they do not say who is head of a household. Give "
    "their order, head first, under variables: {head}: {{kind: ordinal, order: [...]}}; or leave `head` out, and the "
    "largest numbers come first."
)


@dataclass(frozen=True)
class Layout:
    """People household by household, the members of each head first.

    Parameters
    ----------
    size : ndarray of int64, shape (m,)
        Members of each household, at least 1.

    Examples
    --------
    >>> layout = Layout(np.array([2, 1, 3]))
    >>> layout.whose.tolist(), layout.place.tolist()
    ([0, 0, 1, 2, 2, 2], [1, 2, 1, 1, 2, 3])
    >>> [rows.tolist() for rows in layout.at(2)]
    [[0, 2], [1, 4]]
    """

    size: Ints

    @cached_property
    def first(self) -> Ints:
        """The row of each household's head, shape (m,)."""
        return np.asarray(np.cumsum(self.size) - self.size)

    @cached_property
    def whose(self) -> Ints:
        """The household of each row, shape (n,)."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @cached_property
    def place(self) -> Ints:
        """Whether a row is the first, second, … of its household, shape (n,)."""
        return np.arange(self.people) - self.first[self.whose] + 1

    @property
    def people(self) -> int:
        """How many rows there are."""
        return int(self.size.sum())

    def at(self, place: int) -> tuple[Ints, Ints]:
        """The households that have a member at some place, and the rows of these members."""
        homes = np.flatnonzero(self.size >= place)
        return homes, self.first[homes] + place - 1


def in_order(
    frame: pl.DataFrame,
    codebook: Codebook,
    coded: Mapping[str, tuple[Coding, Coded]],
    household: Words,
    record: Words,
    head: str | None,
) -> Ints:
    """Rows of a table household by household, in an order of members that hangs on their values alone.

    Parameters
    ----------
    frame, codebook
        The table.
    coded
        Its columns, coded, in the order in which they are compared.
    household, record : ndarray of uint64, shape (n,)
        The unit of each record's household, and its own, which parts members who are equal in all columns.
    head
        The column whose lowest value the head has, or the first of its categories; members follow in its order.

    Notes
    -----
    Members who are alike in `head`, or all where it is not given, come in the order of their numbers, the largest
    first, and of dates the earliest first, so that the eldest is first; those alike in them in that of their
    categories. What is missing comes last.

    Raises
    ------
    DataError
        `head` has categories without an order.
    """
    first = _of_head(frame[head], *coded[head]) if head else []
    numbers = [n for n, (coding, _) in coded.items() if len(coding.edges)]
    keys = [
        pl.Series(household),
        *first,
        *(frame.select(_eldest(n, frame, codebook)).to_series() for n in numbers),
        *(pl.Series(coded[n][1].state) for n in coded if n not in numbers),
        pl.Series(record),
    ]
    table = pl.DataFrame({str(i): key for i, key in enumerate(keys)})
    return table.select(pl.arg_sort_by(table.columns, nulls_last=True)).to_series().to_numpy().astype(np.int64)


def _of_head(column: pl.Series, coding: Coding, own: Coded) -> list[pl.Series]:
    """What members are ordered by first: yes before no, low numbers and early categories before others."""
    if column.dtype == pl.Boolean:
        return [~column]
    if not len(coding.edges) and not coding.ordered and not all(_is_number(value) for value in coding.special):
        raise DataError(_NO_ORDER.format(head=column.name))
    return [pl.Series(own.state), pl.Series(own.number)]


def _is_number(value: object) -> bool:
    return value is None or isinstance(plain(value), int | float)


def _eldest(name: str, frame: pl.DataFrame, codebook: Codebook) -> pl.Expr:
    """A key that puts large numbers and early dates first."""
    dtype = frame.schema[name]
    number = pl.col(name).to_physical().cast(pl.Float64)
    number = number if dtype.is_temporal() else -number
    return pl.when(~codebook.missing(name, dtype)).then(number).alias(name)


def is_shared(layout: Layout, column: Coded) -> bool:
    """Whether all members of each household have the same value."""
    head = layout.first[layout.whose]
    return bool((column.state == column.state[head]).all() and (column.number == column.number[head]).all())
