"""Quantiles where rows are seen in batches alone: the values of ranks are found digit by digit, from counts."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.query import Folded, Quantiles
from sfumato.engines.groups import Groups
from sfumato.kernels.order_statistics import BITS, FIRST, between, from_ordered, ordered, ranks, reached, tallied, width

__all__ = ["Ranked"]

_GROUP, _PLACE, _DIGIT, _TIMES = "sfumato:group", "sfumato:place", "sfumato:digit", "sfumato:times"
_TALLY = {_DIGIT: pl.UInt64(), _TIMES: pl.Int64()}
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Ranked:
    """The folds that tell quantiles.

    Parameters
    ----------
    query
        The question.
    keys
        Its columns `by` as groups are told apart.
    value
        Its column as floats, null wherever there is no value.
    types
        Of the columns `by`.
    """

    query: Quantiles
    keys: Sequence[pl.Expr]
    value: pl.Expr
    types: pl.Schema

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are looked at."""
        return tuple(dict.fromkeys((*self.query.by, self.query.column)))

    def asking(self) -> Generator[Folded, pl.DataFrame, pl.DataFrame]:
        """Ask for one fold after the other, and return the answer."""
        by = list(self.query.by)
        first = yield Folded(self.columns, self._first, self._first_merged)
        total = pl.col(_TIMES).sum()
        groups = first.group_by(by).agg(total).sort(by) if by else first.select(total)
        sizes = groups[_TIMES].to_list()
        wanted = sorted({(g, r) for g, n in enumerate(sizes) if n for p in self.query.probs for r in ranks(n, p)[:2]})
        group, rest = (np.array(part, dtype=np.int64) for part in (zip(*wanted, strict=True) if wanted else ([], [])))
        labels = groups.select(*by, pl.int_range(pl.len(), dtype=pl.Int64).alias(_PLACE))
        bars = first.filter(pl.col(_DIGIT).is_not_null())
        bars = bars.join(labels, on=by, nulls_equal=True) if by else bars.join(labels, how="cross")
        digits, rest, left_over = _within(bars, group, rest)
        words, left = digits, BITS - FIRST
        while left and len(words):
            pairs, place = np.unique(np.stack([group.view(np.uint64), words]), axis=1, return_inverse=True)
            _, once = np.unique(place, return_index=True)
            bits = width(left, pairs.shape[1], int(left_over[once].sum()))
            beginnings = _Beginnings(labels.rename({_PLACE: _GROUP}), pairs[0].view(np.int64), pairs[1], left, bits)
            told = yield Folded(self.columns, self._after(beginnings), _merged)
            digits, rest, left_over = _within(told, place.reshape(-1), rest)
            words, left = (words << np.uint64(bits)) | digits, left - bits
        value = dict(zip(wanted, from_ordered(words).tolist(), strict=True))
        rows = []
        for g, (key, n) in enumerate(zip(groups.select(by).iter_rows() if by else [()], sizes, strict=True)):
            for prob in self.query.probs:
                found = None
                if n:
                    low, high, share = ranks(n, prob)
                    found = between(value[g, low], value[g, high], share)
                rows.append((*key, prob, found))
        shape = pl.Schema({**self.types, "prob": pl.Float64(), "value": pl.Float64()})
        return pl.DataFrame(rows, schema=shape, orient="row")

    def _first(self, batch: pl.DataFrame) -> pl.DataFrame:
        """How often each first digit stands in each group; and a row without a digit for every group."""
        groups = Groups.of(batch, self.keys, self.value)
        heads = ordered(groups.values) >> np.uint64(BITS - FIRST)
        numbers = np.repeat(np.arange(len(groups.starts)), groups.sizes)
        at, tally = _tally(numbers, heads, FIRST)
        keys = groups.keys
        none = keys.with_columns(pl.lit(None, pl.UInt64).alias(_DIGIT), pl.lit(0, pl.Int64).alias(_TIMES))
        some = pl.concat([keys[at], tally], how="horizontal") if keys.width else tally
        return pl.concat([none, some])

    def _first_merged(self, frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by(*self.query.by, _DIGIT).agg(pl.col(_TIMES).sum())

    def _after(self, beginnings: _Beginnings) -> _After:
        return _After(tuple(self.keys), self.value, beginnings)


@dataclass(frozen=True)
class _Beginnings:
    """Where the next digit is wanted: in which groups, after which bits, in the order of both."""

    labels: pl.DataFrame
    groups: Ints
    words: Words
    left: int
    bits: int

    def found(self, group: Ints, words: Words) -> tuple[Ints, Words]:
        """Places and next digits of those values, of groups by number, that begin so."""
        different, code = np.unique(self.words, return_inverse=True)
        heads = words >> np.uint64(self.left)
        at = np.minimum(np.searchsorted(different, heads), len(different) - 1)
        some = np.flatnonzero((different[at] == heads) & (group >= 0))
        places = self.groups * len(different) + code.reshape(-1)
        own = group[some] * len(different) + at[some]
        place = np.minimum(np.searchsorted(places, own), len(places) - 1)
        there = places[place] == own
        rest = words[some[there]] >> np.uint64(self.left - self.bits)
        return place[there], rest & np.uint64((1 << self.bits) - 1)


@dataclass(frozen=True)
class _After:
    """How often each digit stands in each place, in a batch."""

    keys: tuple[pl.Expr, ...]
    value: pl.Expr
    beginnings: _Beginnings

    def __call__(self, batch: pl.DataFrame) -> pl.DataFrame:
        groups = Groups.of(batch, self.keys, self.value)
        labels = self.beginnings.labels
        if groups.keys.width:
            by = groups.keys.columns
            known = groups.keys.join(labels, on=by, how="left", nulls_equal=True, maintain_order="left")
            numbers = known[_GROUP].fill_null(-1).to_numpy()
        else:
            numbers = np.zeros(1, dtype=np.int64)
        place, digits = self.beginnings.found(np.repeat(numbers, groups.sizes), ordered(groups.values))
        at, tally = _tally(place, digits, self.beginnings.bits)
        return tally.select(pl.Series(_PLACE, at, pl.Int64), _DIGIT, _TIMES)


def _tally(place: Ints, digits: Words, bits: int) -> tuple[Ints, pl.DataFrame]:
    """How often each digit stands in each place; places may be so many that with a digit they fill 63 bits."""
    both, times = tallied((place.view(np.uint64) << np.uint64(bits)) | digits)
    found = both & np.uint64((1 << bits) - 1)
    return (both >> np.uint64(bits)).view(np.int64), pl.DataFrame({_DIGIT: found, _TIMES: times}, schema=_TALLY)


def _merged(frames: pl.DataFrame) -> pl.DataFrame:
    return frames.group_by(_PLACE, _DIGIT).agg(pl.col(_TIMES).sum())


def _within(bars: pl.DataFrame, place: Ints, rest: Ints) -> tuple[Words, Ints, Ints]:
    """The digit of each rank, the rank among values that have it, and how many these are."""
    bars = bars.sort(_PLACE, _DIGIT)
    times = bars[_TIMES].to_numpy()
    starts = np.searchsorted(bars[_PLACE].to_numpy(), np.arange(place.max(initial=-1) + 1))
    at, rest = reached(starts, times, place, rest)
    return bars[_DIGIT].to_numpy()[at], rest, times[at]
