"""Columns of which one is never more than another: which of those before a column bound it, and how far it may go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.errors import DataError
from sfumato.methods.synthesise.bounded import Bound, Bounding, above, below
from sfumato.methods.synthesise.coding import Coding

__all__ = ["Order", "behind", "bounding_of"]

UNLIKE = (
    "Columns {low!r} and {high!r} cannot be compared as `keep` wants it: here one is {one}, the other {other}. Give "
    "both the same type before."
)


@dataclass(frozen=True)
class Order:
    """That one column is never more than another, where both have a value.

    Parameters
    ----------
    low, high
        The columns.
    strict
        Whether it is less.
    """

    low: str
    high: str
    strict: bool

    @property
    def text(self) -> str:
        """What it is called in plans and notes."""
        return f"{self.low} {'<' if self.strict else '<='} {self.high}"

    @property
    def names(self) -> tuple[str, str]:
        """Its columns."""
        return self.low, self.high

    def broken(self, frame: pl.DataFrame, codebook: Codebook) -> int:
        """How many records of a table break it; columns that cannot be compared are refused when they are drawn."""
        if not _alike(frame.schema[self.low], frame.schema[self.high]):
            return 0
        low, high = pl.col(self.low), pl.col(self.high)
        there = [~codebook.missing(name, frame.schema[name]) for name in self.names]
        return frame.filter(*there, low >= high if self.strict else low > high).height


def bounding_of(
    name: str, before: Collection[str], orders: Sequence[Order], codings: Mapping[str, Coding], fewest: int
) -> Bounding | None:
    """How a column is bounded by those before it; None where it is not.

    Parameters
    ----------
    name
        The column.
    before
        The columns that stand before it.
    orders
        What is kept.
    codings
        How columns are coded.
    fewest
        How many records a model of differences is fitted to at least.

    Raises
    ------
    DataError
        Columns that cannot be compared.

    Notes
    -----
    Columns that come later, too, need room: where m comes last of a ≤ m ≤ b, b is drawn no less than a; and a column is
    drawn no larger than the largest value of a later one that it never exceeds. A later column that may be missing is
    missing where there is no room for it.
    """
    own = codings[name].ends
    if own is None or not any(name in order.names for order in orders):
        return None
    for order in orders:
        one, other = codings[order.low].dtype, codings[order.high].dtype
        if not _alike(one, other):
            raise DataError(UNLIKE.format(low=order.low, high=order.high, one=one, other=other))
    bounds = tuple(b for upper in (False, True) for b in _bounds(name, (), upper, before, orders, codings))
    low, high = _end(name, False, before, orders, codings), _end(name, True, before, orders, codings)
    ends = (low, high) if low <= high else own
    return Bounding(bounds, ends, fewest) if bounds or ends != own else None


def behind(
    name: str, time: str, last: str, orders: Sequence[Order], codings: Mapping[str, Coding]
) -> tuple[Bound, ...]:
    """How the time of the row before bounds a column that is drawn before the time of its own row, which it bounds.

    Parameters
    ----------
    name
        The column.
    time, last
        The time, and the column that is the time of the row before.
    orders, codings
        As of `bounding_of`.
    """
    return tuple(_bounds(name, (), False, (last,), (*orders, Order(last, time, False)), codings))


def _alike(one: pl.DataType, other: pl.DataType) -> bool:
    return (one.is_numeric() and other.is_numeric()) or (one.is_temporal() and one == other)


def _next(name: str, upper: bool, orders: Sequence[Order]) -> Iterator[tuple[str, bool]]:
    """The columns that one never exceeds (that never exceed it), and whether both differ."""
    for order in orders:
        if (order.low if upper else order.high) == name:
            yield (order.high if upper else order.low), order.strict


def _bounds(
    node: str,
    path: tuple[tuple[str, bool], ...],
    upper: bool,
    before: Collection[str],
    orders: Sequence[Order],
    codings: Mapping[str, Coding],
) -> Iterator[Bound]:
    """Bounds on one side: columns that stand before, itself or through others that are never missing."""
    for name, strict in _next(node, upper, orders):
        longer = ((node, strict), *path)
        if name in before:
            through = tuple((codings[own], differs) for own, differs in longer[:-1])
            yield Bound(name, upper, longer[-1][1], through)
        elif _always(codings[name]):
            yield from _bounds(name, longer, upper, before, orders, codings)


def _end(
    name: str, upper: bool, before: Collection[str], orders: Sequence[Order], codings: Mapping[str, Coding]
) -> float:
    """The largest (least) number that leaves room for columns that come later."""
    ends = codings[name].ends or (-np.inf, np.inf)
    found = [ends[1] if upper else ends[0]]
    for later, strict in _next(name, upper, orders):
        if later not in before and _always(codings[later]):
            end = np.array([_end(later, upper, before, orders, codings)])
            found.append(float((below if upper else above)(codings[name], end, strict)[0]))
    return min(found) if upper else max(found)


def _always(coding: Coding) -> bool:
    """Whether a column has a number in every record."""
    return coding.ends is not None and not coding.special
