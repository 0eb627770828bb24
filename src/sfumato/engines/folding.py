"""Answers made of small frames that add up: what an engine without all rows in memory needs is to fold batches.

Each is made of a batch, and several are merged in any grouping, so that they are the same to the last bit however the
rows are divided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.query import WEIGHT, Counts, Folded, Largest, Moments, Quantiles
from sfumato.engines.answers import empty_moments, keys, present
from sfumato.engines.groups import Groups
from sfumato.kernels.grid import decimals
from sfumato.kernels.moments import Sums, parts
from sfumato.kernels.order_statistics import DIGIT, DIGITS, between, from_ordered, ordered, ranks

__all__ = ["Folding"]

_VARIABLE, _PLACE, _DIGIT = "sfumato:variable", "sfumato:place", "sfumato:digit"
_TIMES, _VALUE, _GROUP = "sfumato:times", "sfumato:value", "sfumato:group"
_WHOLE = -1  # stands for a place: what is told of all values together
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Folding:
    """Answers for an engine that can fold.

    Parameters
    ----------
    fold
        Answers `Folded`.
    codebook, schema
        Of its rows.
    """

    fold: Callable[[Folded], pl.DataFrame]
    codebook: Codebook
    schema: Mapping[str, pl.DataType]

    def weights(self, query: Counts) -> pl.DataFrame:
        """The columns `by` and sums of the weight, sorted."""
        assert query.weight is not None
        sums = self._sums((query.weight,), query.by)
        rows = [{**dict(zip(query.by, key, strict=True)), WEIGHT: one.total} for (key, _), one in sums.items()]
        answer = pl.DataFrame(rows, schema=self._keys(query.by) | {WEIGHT: pl.Float64()})
        return answer.sort(query.by) if query.by else answer

    def moments(self, query: Moments) -> pl.DataFrame:
        """As `Moments` has it."""
        by = list(query.by)
        found = self._digits(query.columns, query.by)
        sums = _assembled(found, by)
        whole = found.filter(pl.col(_PLACE) == _WHOLE)
        rows = []
        for row in whole.iter_rows(named=True):
            one = sums[tuple(row[n] for n in by), row[_VARIABLE]]
            told = {"variable": row[_VARIABLE], "n": one.n, "mean": one.mean if one.n else None}
            rows.append({**row, **told, "variance": one.variance if one.n > 1 else None})
        answer = pl.DataFrame(rows, schema=self._keys(query.by) | empty_moments())
        place = pl.col("variable").replace_strict(list(query.columns), range(len(query.columns)), default=None)
        return answer.sort(*by, place)

    def quantiles(self, query: Quantiles) -> pl.DataFrame:
        """As `Quantiles` has it: the values of ranks are found digit by digit."""
        by = list(query.by)
        first = self._counted(query.column, by, 0, None)
        sizes = {row[:-1]: row[-1] for row in _grouped(first, by, [pl.col(_TIMES).sum()]).iter_rows()}
        wanted = {key: {r for p in query.probs for r in ranks(n, p)[:2]} for key, n in sizes.items() if n}
        at = {(key, rank): (0, rank) for key, those in wanted.items() for rank in those}
        counts = first
        for step in range(DIGITS):
            at = _nearer(counts, by, at)
            if step + 1 < DIGITS:
                prefixes = list({(*key, prefix) for (key, _), (prefix, _) in at.items()})
                schema = self._keys(by) | {_DIGIT: pl.UInt64()}
                counts = self._counted(query.column, by, step + 1, pl.DataFrame(prefixes, schema=schema, orient="row"))
        places = list(at)
        values = from_ordered(np.array([at[one][0] for one in places], dtype=np.uint64)).tolist()
        value = dict(zip(places, values, strict=True))
        rows = []
        for key, n in sizes.items():
            for prob in query.probs:
                found = None
                if n:
                    low, high, share = ranks(n, prob)
                    found = between(value[key, low], value[key, high], share)
                rows.append((*key, prob, found))
        answer = pl.DataFrame(rows, schema=self._keys(by) | {"prob": pl.Float64(), "value": pl.Float64()}, orient="row")
        return answer.sort(by, maintain_order=True) if by else answer

    def largest(self, query: Largest) -> pl.DataFrame:
        """As `Largest` has it."""
        by, top = list(query.by), query.top
        value = self._present(query.column)

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            return merge(batch.select(*keys(by, self.schema), value.alias(_VALUE)).drop_nulls(_VALUE))

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            down = frames.sort(_VALUE, descending=True)
            return down.group_by(by, maintain_order=True).head(top) if by else down.head(top)

        found = self.fold(Folded(_once(*by, query.column), f, merge)).sort(
            *by, _VALUE, descending=[*([False] * len(by)), True]
        )
        counted = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
        rank = (counted.over(by) if by else counted).alias("rank")
        return found.select(*by, rank, pl.col(_VALUE).alias("value"))

    def _keys(self, by: Sequence[str]) -> dict[str, Any]:
        return {n: self.schema[n] for n in by}

    def _present(self, column: str) -> pl.Expr:
        return present(self.codebook, column, self.schema[column])

    def _sums(self, columns: Sequence[str], by: Sequence[str]) -> dict[tuple[Key, str], Sums]:
        return _assembled(self._digits(columns, by), list(by))

    def _digits(self, columns: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
        """What tells the moments of columns: a row for all values of a group, and one for each place of its sums."""
        values = {n: self._present(n) for n in columns}
        shape = pl.Schema(self._keys(by) | _SUMS)

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            grouped = ((n, Groups.of(batch, keys(by, self.schema), value)) for n, value in values.items())
            frames = [frame.match_to_schema(shape) for n, groups in grouped for frame in _of_groups(n, groups)]
            return pl.concat([shape.to_frame(), *frames])

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            added = pl.col("first", "second", "n").sum()
            ends = [pl.col("low").min(), pl.col("high").max(), pl.col("decimals").max()]
            return frames.group_by(*by, _VARIABLE, _PLACE).agg(added, *ends).match_to_schema(shape)

        return self.fold(Folded(_once(*by, *columns), f, merge))

    def _counted(self, column: str, by: Sequence[str], step: int, wanted: pl.DataFrame | None) -> pl.DataFrame:
        """How often each digit stands in a place, after the digits that are wanted before it."""
        value = self._present(column)
        below = np.uint64(64 - DIGIT * (step + 1))

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            some = batch.select(*keys(by, self.schema), value.alias(_VALUE))
            groups = some.select(by).unique() if by else None
            some = some.drop_nulls(_VALUE)
            words = pl.Series(_DIGIT, ordered(some[_VALUE].to_numpy()) >> below, pl.UInt64)
            some = some.drop(_VALUE).with_columns(words)
            if wanted is None:
                none = pl.DataFrame(height=1) if groups is None else groups
                empty = none.with_columns(pl.lit(None, pl.UInt64).alias(_DIGIT), pl.lit(0, pl.Int64).alias(_TIMES))
                return pl.concat([empty, _times(some, by)])
            before = some.with_columns((pl.col(_DIGIT) // (1 << DIGIT)).alias(_GROUP))
            matched = before.join(wanted.rename({_DIGIT: _GROUP}), on=[*by, _GROUP], how="semi", nulls_equal=True)
            return _times(matched.drop(_GROUP), by)

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            return frames.group_by(*by, _DIGIT).agg(pl.col(_TIMES).sum())

        return self.fold(Folded(_once(*by, column), f, merge))


_SUMS: dict[str, Any] = {
    _VARIABLE: pl.String(),
    _PLACE: pl.Int32(),
    "first": pl.Int64(),
    "second": pl.Int64(),
    "n": pl.Int64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "decimals": pl.Int64(),
}


def _of_groups(variable: str, groups: Groups) -> Iterator[pl.DataFrame]:
    """Rows of what tells moments, for the groups of a batch."""
    each = [values for _, values in groups.each()]
    yield groups.keys.with_columns(
        pl.lit(variable).alias(_VARIABLE),
        pl.lit(_WHOLE, pl.Int32).alias(_PLACE),
        pl.lit(0, pl.Int64).alias("first"),
        pl.lit(0, pl.Int64).alias("second"),
        pl.Series("n", [len(values) for values in each], pl.Int64),
        pl.Series("low", [values.min() if len(values) else None for values in each], pl.Float64),
        pl.Series("high", [values.max() if len(values) else None for values in each], pl.Float64),
        pl.Series("decimals", [decimals(values) for values in each], pl.Int64),
    )
    for group, place, first, second in parts(groups.values, groups.starts):
        key = groups.keys[group.tolist()] if groups.keys.width else pl.DataFrame(height=1)
        yield key.with_columns(
            pl.lit(variable).alias(_VARIABLE),
            pl.lit(place, pl.Int32).alias(_PLACE),
            pl.Series("first", first, pl.Int64),
            pl.Series("second", second, pl.Int64),
            pl.lit(0, pl.Int64).alias("n"),
            *(pl.lit(None, _SUMS[n]).alias(n) for n in ("low", "high", "decimals")),
        )


def _assembled(found: pl.DataFrame, by: Sequence[str]) -> dict[tuple[Key, str], Sums]:
    """Sums by key and variable, of what was told of them."""
    sums: dict[tuple[Key, str], Sums] = defaultdict(Sums)
    for row in found.select(*by, _VARIABLE, _PLACE, "first", "second", "n").iter_rows():
        *key, variable, place, first, second, n = row
        digits = Sums(n) if place == _WHOLE else Sums(n, first << place, second << place)
        sums[tuple(key), variable] += digits
    return sums


def _times(some: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    return some.group_by(*by, _DIGIT).agg(pl.len().cast(pl.Int64).alias(_TIMES))


def _once(*columns: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(columns))


def _grouped(frame: pl.DataFrame, by: Sequence[str], what: Sequence[pl.Expr]) -> pl.DataFrame:
    return frame.group_by(by).agg(what) if by else frame.select(what)


def _nearer(
    counts: pl.DataFrame, by: Sequence[str], at: Mapping[tuple[Key, int], tuple[int, int]]
) -> dict[tuple[Key, int], tuple[int, int]]:
    """One digit more of the value of each rank: the digits so far, and its rank among values that begin with them."""
    bars: dict[tuple[Key, int], list[tuple[int, int]]] = defaultdict(list)
    for row in counts.drop_nulls(_DIGIT).sort(_DIGIT).iter_rows():
        *group, digits, times = row
        bars[tuple(group), digits >> DIGIT].append((digits, times))
    found = {}
    for (key, rank), (prefix, rest) in at.items():
        for digits, times in bars[key, prefix]:
            if rest < times:
                found[key, rank] = digits, rest
                break
            rest -= times
    return found
