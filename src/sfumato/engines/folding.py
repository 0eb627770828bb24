"""Answers made of small frames that add up: what an engine without all rows in memory needs is to fold batches.

Each is made of a batch, and several are merged in any grouping, so that they are the same to the last bit however the
rows are divided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.query import WEIGHT, Counts, Folded, Largest, Moments, Quantiles, Query
from sfumato.engines.answers import empty_moments, keys, present
from sfumato.engines.groups import Groups
from sfumato.engines.ranked import Ranked
from sfumato.kernels.grid import decimals
from sfumato.kernels.moments import Sums, parts

__all__ = ["ADDED", "Asking", "Folding", "ended"]

_VARIABLE, _PLACE, _VALUE = "sfumato:variable", "sfumato:place", "sfumato:value"
_GROUP, _NUMBER = "sfumato:group", "sfumato:number"
_WHOLE = -1  # stands for a place: what is told of all values together
Ints = NDArray[np.int64]
Key = tuple[Any, ...]
Asking = Generator[Folded, pl.DataFrame, pl.DataFrame]
"""Asks for one fold after the other, and returns the answer."""
ADDED: Mapping[str, str] = {
    "first": "sum({})::BIGINT",
    "second": "sum({})::BIGINT",
    "n": "sum({})::BIGINT",
    "low": "min({})",
    "high": "max({})",
    "decimals": "max({})",
}
"""How a database adds up what is folded for sums; all other columns tell groups and places apart."""


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
        return self._answered(self.weighing(query))

    def moments(self, query: Moments) -> pl.DataFrame:
        """As `Moments` has it."""
        return self._answered(self._moments(query))

    def quantiles(self, query: Quantiles) -> pl.DataFrame:
        """As `Quantiles` has it: the values of ranks are found digit by digit."""
        return self._answered(self._ranked(query))

    def largest(self, query: Largest) -> pl.DataFrame:
        """As `Largest` has it."""
        return self._answered(self._largest(query))

    def asking(self, query: Query) -> Asking | None:
        """The folds that a question takes, so that those of several are made in one pass; None where it takes others.

        Of `Counts` these are the weights alone.
        """
        match query:
            case Counts(_, weight) if weight is not None:
                return self.weighing(query)
            case Moments():
                return self._moments(query)
            case Quantiles():
                return self._ranked(query)
            case Largest():
                return self._largest(query)
            case Folded():
                return _once_asked(query)
        return None

    def _answered(self, asking: Asking) -> pl.DataFrame:
        try:
            fold = next(asking)
            while True:
                fold = asking.send(self.fold(fold))
        except StopIteration as end:
            answer: pl.DataFrame = end.value
            return answer

    def weighing(self, query: Counts) -> Asking:
        """The one fold that sums of weights take."""
        assert query.weight is not None
        found = yield from self._digits((query.weight,), query.by, grid=False)
        sums = _assembled(found, list(query.by))
        rows = [{**dict(zip(query.by, key, strict=True)), WEIGHT: one.total} for (key, _), one in sums.items()]
        answer = pl.DataFrame(rows, schema=self._keys(query.by) | {WEIGHT: pl.Float64()})
        return answer.sort(query.by) if query.by else answer

    def _moments(self, query: Moments) -> Asking:
        return self.told(query, (yield from self.digits(query)))

    def digits(self, query: Moments) -> Asking:
        """The fold that tells the answer to `Moments`, see `told`."""
        return self._digits(query.columns, query.by)

    def told(self, query: Moments, digits: pl.DataFrame) -> pl.DataFrame:
        """As `Moments` has it, from the digits of a question about these columns, and maybe others, in finer groups."""
        by = list(query.by)
        found = digits.filter(pl.col(_VARIABLE).is_in(query.columns))
        if not by:  # of no rows finer groups have no line
            found = pl.concat([found.select(*_SUMS), *self._nothing(query.columns)])
        found = _merged(found, by)
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

    def _largest(self, query: Largest) -> Asking:
        by, top = list(query.by), query.top
        value = self._present(query.column)

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            return merge(batch.select(*keys(by, self.schema), value.alias(_VALUE)).drop_nulls(_VALUE))

        def merge(frames: pl.DataFrame) -> pl.DataFrame:
            down = frames.sort(_VALUE, descending=True)
            return down.group_by(by, maintain_order=True).head(top) if by else down.head(top)

        found = yield Folded(_once(*by, query.column), f, merge)
        found = found.sort(*by, _VALUE, descending=[*([False] * len(by)), True])
        counted = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
        rank = (counted.over(by) if by else counted).alias("rank")
        return found.select(*by, rank, pl.col(_VALUE).alias("value"))

    def _ranked(self, query: Quantiles) -> Asking:
        types = pl.Schema(self._keys(query.by))
        return Ranked(query, keys(query.by, self.schema), self._present(query.column), types).asking()

    def _keys(self, by: Sequence[str]) -> dict[str, Any]:
        return {n: self.schema[n] for n in by}

    def _present(self, column: str) -> pl.Expr:
        return present(self.codebook, column, self.schema[column])

    def _digits(self, columns: Sequence[str], by: Sequence[str], grid: bool = True) -> Asking:
        """What tells the moments of columns: a row for all values of a group, and one for each place of its sums.

        Without `grid` nobody looks for the decimal places of its values, which takes longer than their sums.
        """
        names, values = list(columns), [self._present(n) for n in columns]
        grouped = keys(by, self.schema)

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            return _of_groups(names, Groups.of_several(batch, grouped, values), grid)

        return (yield Folded(_once(*by, *columns), f, lambda frames: _merged(frames, by)))

    def _nothing(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """What is told of no values."""
        if columns:
            rows = pl.Schema({n: self.schema[n] for n in columns}).to_frame()
            yield _of_groups(columns, Groups.of_several(rows, [], [self._present(n) for n in columns]))


def ended(asking: Asking, last: pl.DataFrame) -> pl.DataFrame:
    """The answer, from that of the last fold."""
    try:
        asking.send(last)
    except StopIteration as end:
        answer: pl.DataFrame = end.value
        return answer
    raise AssertionError("one fold more was asked for")


def _once_asked(query: Folded) -> Asking:
    return (yield query)


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
_OWN = {_GROUP: pl.Int64(), _NUMBER: pl.Int64()}
_WHOLES = pl.Schema(_OWN | {n: _SUMS[n] for n in ("n", "low", "high", "decimals")})
_TALLIES = pl.Schema(_OWN | {n: _SUMS[n] for n in (_PLACE, "first", "second")})


def _of_groups(variables: Sequence[str], groups: Sequence[Groups], grid: bool = True) -> pl.DataFrame:
    """Rows of what tells moments, for the groups of a batch, after their keys."""
    if not groups:
        return pl.Schema(_SUMS).to_frame()
    wholes, tallies = [], []
    for number, one in enumerate(groups):
        low, high = one.ends()
        places = [decimals(x) if grid else None for x in one.lists()]
        own = {"n": one.sizes, "low": low, "high": high, "decimals": places}
        wholes.append(pl.DataFrame({_GROUP: np.arange(len(one.starts)), _NUMBER: number, **own}, schema=_WHOLES))
        sums = _added(one)
        group, place, first, second = (np.concatenate([part[i] for part in sums]) for i in range(4))
        own = {_GROUP: group, _NUMBER: np.full(len(group), number), _PLACE: place, "first": first, "second": second}
        tallies.append(pl.DataFrame(own, schema=_TALLIES))
    whole = pl.concat(wholes).with_columns(
        pl.lit(_WHOLE, pl.Int32).alias(_PLACE), pl.lit(0, pl.Int64).alias("first"), pl.lit(0, pl.Int64).alias("second")
    )
    rows = pl.concat([whole, pl.concat(tallies).with_columns(pl.lit(0, pl.Int64).alias("n"))], how="diagonal")
    named = pl.Series(_VARIABLE, list(variables), pl.String)[rows[_NUMBER]]
    told = rows.with_columns(named).select(*_SUMS)
    keys = groups[0].keys
    return pl.concat([keys[rows[_GROUP]], told], how="horizontal") if keys.width else told


def _added(groups: Groups) -> list[tuple[Ints, Ints, Ints, Ints]]:
    """Groups, place, and what stands there in the sums of values and of squares; by place, added up over all values."""
    found: dict[int, tuple[Ints, Ints]] = {}
    for group, place, first, second in parts(groups.values, groups.starts):
        if place not in found:
            found[place] = np.zeros(len(groups.starts), np.int64), np.zeros(len(groups.starts), np.int64)
        found[place][0][group] += first
        found[place][1][group] += second
    empty = np.zeros(0, dtype=np.int64)
    told = [(empty, empty, empty, empty)]
    for place, (first, second) in found.items():
        some = np.flatnonzero(first | second)
        told.append((some, np.full(len(some), place), first[some], second[some]))
    return told


def _merged(frames: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    added = pl.col("first", "second", "n").sum()
    ends = [pl.col("low").min(), pl.col("high").max(), pl.col("decimals").max()]
    return frames.group_by(*by, _VARIABLE, _PLACE).agg(added, *ends).select(*by, *_SUMS)


def _assembled(found: pl.DataFrame, by: Sequence[str]) -> dict[tuple[Key, str], Sums]:
    """Sums by key and variable, of what was told of them."""
    sums: dict[tuple[Key, str], Sums] = defaultdict(Sums)
    for row in found.select(*by, _VARIABLE, _PLACE, "first", "second", "n").iter_rows():
        *key, variable, place, first, second, n = row
        digits = Sums(n) if place == _WHOLE else Sums(n, first << place, second << place)
        sums[tuple(key), variable] += digits
    return sums


def _once(*columns: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(columns))
