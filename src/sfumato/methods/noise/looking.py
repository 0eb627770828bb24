"""The first look of `noise`: how much columns vary, and which hold codes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.disclosure import Disclosed
from sfumato.data.error_model import Additive, Growth
from sfumato.data.hidden import HIDDEN
from sfumato.data.holding import holding
from sfumato.data.pair import numbers
from sfumato.data.query import COUNT, Counts, Moments, Quantiles, Query
from sfumato.data.roles import Kind
from sfumato.errors import DataError
from sfumato.kernels.grid import decimals, significant
from sfumato.kernels.moments import Sums, exact_sums
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.noise.parameters import NoiseParameters

__all__ = [
    "Key",
    "Looked",
    "Looking",
    "Spread",
    "category_text",
    "dummy_column",
    "filled",
    "parts_of",
    "standardised",
    "too_few",
]

_DOMINANT = 0.5  # share of the sum of squares that one value may make before a note warns of it
_MOST_CODES = 100
_RARE = (
    "Some codes of {} are rare and not labelled, so its codes are not told to analysts. Label all codes under "
    "variables, or recode rare ones."
)
_IQR = 1.349  # interquartile range of a normal variable with variance 1
Floats = NDArray[np.float64]
Key = tuple[Any, ...]


def dummy_column(column: str, level: Scalar) -> str:
    """Name of the 0/1 column of a category."""
    return f"{column}={level}"


def standardised(*places: int) -> str:
    """Name of the hidden column that holds a column, by its place, in units of its spread, or the sum of two such."""
    return f"{HIDDEN}z:{':'.join(map(str, places))}"


@dataclass(frozen=True)
class Spread:
    """What one stratum tells of one column."""

    n: int
    mean: float
    variance: float | None
    largest: float = 0.0
    """Share of the sum of squares that one value makes: near 1, telling the variance tells that value."""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Spread:
        """From an answer to `Moments`."""
        n, mean, variance = row["n"], row["mean"] or 0.0, row["variance"]
        extreme = max(row["high"] - mean, mean - row["low"]) ** 2 if n else 0.0
        return cls(n, mean, variance, extreme / (variance * (n - 1)) if variance else 0.0)


@dataclass(frozen=True)
class Looked:
    """What the first look found.

    Parameters
    ----------
    spread
        By stratum (one empty key without strata) and column; a dummy is a column.
    values
        Support of the columns that hold codes.
    decimals
        Decimal places of each column as it came.
    fill
        What missing values are filled with.
    grows
        By stratum and column.
    """

    spread: dict[Key, dict[str, Spread]]
    values: dict[str, tuple[float, ...]]
    decimals: dict[str, int]
    fill: dict[str, float]
    grows: dict[Key, dict[str, Growth]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Looking:
    """See how much each column varies, and which hold codes."""

    method: NoiseParameters
    codebook: Codebook

    @property
    def plain(self) -> tuple[str, ...]:
        """The columns that stay one column."""
        return tuple(n for n in self.method.columns if n not in self.method.dummies)

    @property
    def by(self) -> tuple[str, ...]:
        """The strata, where anything is learned from them."""
        return self.method.by if self.method.learns else ()

    @property
    def coded(self) -> tuple[str, ...]:
        """The columns whose support is asked for."""
        return tuple(n for n in self.plain if self.codebook[n].kind in (Kind.CATEGORICAL, Kind.ORDINAL))

    def stage(self) -> Stage:
        """The look and the pass."""
        grows = self.plain if self.method.grow is not None else ()
        fills = self.plain if self.method.missing == "median" else ()
        amounts = tuple(n for n in self.plain if n not in self.coded)
        queries: tuple[Query, ...] = (
            Moments(amounts, self.by),
            Moments(amounts),
            *(Counts((*self.by, n)) for n in self.coded),
            *(Counts((*self.by, n)) for n in self.method.dummies),
            *(Quantiles(n, (0.25, 0.5, 0.75), self.by) for n in grows),
            *(Quantiles(n, (0.5,)) for n in fills),
        )
        return Stage(self.transform, queries, self.fit, taking=self.taking if grows else None)

    def taking(self, answers: Sequence[pl.DataFrame], told: Sequence[Disclosed]) -> Looked | None:
        """As `fit`, with how noise grew in an earlier release, in the strata that it had."""
        looked = self.fit(answers)
        found = {key: parts for key in looked.spread if (parts := parts_of(told, self.plain, self.where(key)))}
        if not found:
            return None
        grown = {key: {n: g for part in parts for n, g in part.grows.items()} for key, parts in found.items()}
        return replace(looked, grows={**looked.grows, **grown})

    def where(self, key: Key) -> dict[str, Any]:
        """A stratum as a disclosure names it."""
        return dict(zip(self.by, key, strict=True))

    def fit(self, answers: Sequence[pl.DataFrame]) -> Looked:
        """Learn what the strengths go by."""
        rest = iter(answers)
        spread = self._spread(next(rest))
        overall = {row["variable"]: row for row in next(rest).iter_rows(named=True)}
        values: dict[str, tuple[float, ...]] = {}
        notes: list[str] = []
        for n in self.coded:
            counts = self._counts(n, next(rest))
            overall[n] = _weighted(counts[n], counts[COUNT])
            values[n], rare = self._support(n, counts)
            notes += [_RARE.format(n)] if rare else []
            for key, rows in counts.group_by(list(self.by)) if self.by else [((), counts)]:
                spread.setdefault(tuple(key), {})[n] = Spread.of(_weighted(rows[n], rows[COUNT]))
        if empty := [n for n in self.plain if overall[n]["n"] == 0]:
            raise DataError(
                f"noise: column {', '.join(map(repr, empty))} has no value at all. Leave it out of columns."
            )
        values |= {n: support for n in self.plain if (support := _zero_one(overall[n]))}
        self._refuse_shared(values)
        for n in self.method.dummies:
            self._add_dummies(spread, n, next(rest))
        grows: dict[Key, dict[str, Growth]] = {}
        if self.method.grow is not None:
            for n in self.plain:
                self._add_growth(grows, n, next(rest), self.method.grow, spread)
        fill: dict[str, float] = {}
        if self.method.missing == "mean":
            fill = {n: overall[n]["mean"] for n in self.plain}
        elif self.method.missing == "median":
            fill = {n: next(rest)["value"][0] for n in self.plain}
        places = {n: overall[n]["decimals"] for n in self.plain}
        return Looked(spread, values, places, fill, grows, (*notes, *self._notes(overall)))

    def _spread(self, answer: pl.DataFrame) -> dict[Key, dict[str, Spread]]:
        spread: dict[Key, dict[str, Spread]] = {} if self.by else {(): {}}
        for row in answer.iter_rows(named=True):
            key = tuple(row[n] for n in self.by)
            spread.setdefault(key, {})[row["variable"]] = Spread.of(row)
        return spread

    def _counts(self, column: str, counts: pl.DataFrame) -> pl.DataFrame:
        """How often each code of a categorical column stands in each stratum, codes as floats."""
        dtype = counts.schema[column]
        if not (dtype.is_numeric() or dtype == pl.Boolean):
            raise DataError(
                f"noise: column {column!r} holds {holding(dtype)}, and noise needs numbers. Use pram, recode it to 0 "
                f"and 1, or name its categories: dummies: {{{column}: [...]}}."
            )
        present = counts.filter(~self.codebook.missing(column, dtype))
        return present.with_columns(pl.col(column).cast(pl.Float64))

    def _refuse_shared(self, values: Mapping[str, tuple[float, ...]]) -> None:
        """Refuse a household's common draw on 0/1 values: differences of 1 show who has which."""
        binary = [n for n, support in values.items() if support == (0.0, 1.0)]
        if self.method.draw_by == "household" and binary:
            raise DataError(
                f"noise: draw_by household leaves differences within a household exact, which shows the values of "
                f"{', '.join(map(repr, binary))} (0 and 1). Give these columns a step with draw_by record."
            )

    def _support(self, column: str, counts: pl.DataFrame) -> tuple[tuple[float, ...], bool]:
        """Codes of a categorical column that may be told, and whether there are others.

        Those that the codebook labels or orders, and those that several records have: a code that one person has is
        that person's value. Where others are left, none is told, for half a support would mislead.
        """
        variable = self.codebook[column]
        known = {float(v) for v in (*variable.labels, *variable.order) if isinstance(v, int | float)}
        known -= {v for v in known if any(m.matches(v) for m in variable.missing)}
        frequent = counts.group_by(column).agg(pl.col(COUNT).sum()).filter(pl.col(COUNT) >= self.method.min_stratum)
        present = set(counts[column])
        told = known | set(frequent[column])
        if not present <= told:
            return (), True
        return (tuple(sorted(told)), False) if len(told) <= _MOST_CODES else ((), False)

    def _add_dummies(self, spread: dict[Key, dict[str, Spread]], column: str, counts: pl.DataFrame) -> None:
        levels = self.method.dummies[column]
        counts = counts.filter(~self.codebook.missing(column, counts.schema[column]))
        text = counts.with_columns(category_text(column, counts.schema[column]))
        if not text[column].is_in([str(v) for v in levels]).all():
            raise DataError(f"noise: column {column!r} holds categories that dummies does not list. List all of them.")
        for key, rows in text.group_by(list(self.by)) if self.by else [((), text)]:
            n = int(rows[COUNT].sum())
            found = dict(zip(rows[column], rows[COUNT], strict=True))
            for level in levels:
                p = found.get(str(level), 0) / n if n else 0.0
                variance = p * (1 - p) * n / (n - 1) if n > 1 else None
                spread.setdefault(tuple(key), {})[dummy_column(column, level)] = Spread(n, p, variance)

    def _add_growth(
        self,
        grows: dict[Key, dict[str, Growth]],
        column: str,
        answer: pl.DataFrame,
        beyond: float,
        spread: Mapping[Key, Mapping[str, Spread]],
    ) -> None:
        for key, rows in answer.group_by(list(self.by)) if self.by else [((), answer)]:
            low, middle, high = (rows.filter(pl.col("prob") == p)["value"].item() for p in (0.25, 0.5, 0.75))
            if 0 < spread[tuple(key)][column].n < self.method.min_stratum:
                raise DataError(too_few(self.method, column))
            if low is not None and high > low:
                growth = Growth(centre=significant(middle), scale=significant((high - low) / _IQR), beyond=beyond)
                grows.setdefault(tuple(key), {})[column] = growth

    def _notes(self, overall: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        binary = self.method.dummies or any(_zero_one(overall[n]) for n in self.plain)
        if self.method.clip is True and not binary:
            yield "clip: true changed nothing, for no column holds only 0 and 1. Give bounds by column."
        shared = () if self.method.covariance else [n for n in self.plain if self.method.strength(n)[0] == "share"]
        for n in shared:
            if Spread.of(overall[n]).largest > _DOMINANT:
                yield (
                    f"One value of {n} makes most of its variance, so the disclosed strength of the noise tells much "
                    "of that value. Give sd or variance from outside the data, or top-code the column first."
                )

    def transform(self, batch: pl.DataFrame, state: Looked, draws: StepDraws) -> pl.DataFrame:
        """Standardised columns and their sums, from which correlations are asked for; only where they are wanted."""
        if not self.method.correlated:
            return batch
        x = filled(numbers(batch, self.plain, self.codebook), self.plain, state.fill)
        x[np.isnan(x).any(axis=1)] = np.nan
        whole = next(iter(state.spread.values())) if not self.by else None
        for j, n in enumerate(self.plain):
            centre, unit = (whole[n].mean, whole[n].variance) if whole else _middle(state.spread, n)
            x[:, j] = (x[:, j] - centre) / np.sqrt(unit or 1.0)
        p = len(self.plain)
        hidden = [pl.Series(standardised(j), x[:, j], nan_to_null=True) for j in range(p)]
        hidden += [
            pl.Series(standardised(i, j), x[:, i] + x[:, j], nan_to_null=True)
            for i, j in itertools.combinations(range(p), 2)
        ]
        return batch.with_columns(hidden)


def parts_of(told: Sequence[Disclosed], columns: Sequence[str], where: Mapping[str, Any]) -> tuple[Additive, ...]:
    """The parts of a disclosure that tell the noise of a stratum, where they tell it of all these columns, each once.

    Examples
    --------
    >>> parts_of([Additive(("age",), [[4.0]])], ["age"], {})[0].sd.tolist()
    [2.0]
    >>> parts_of([Additive(("age",), [[4.0]])], ["age", "bmi"], {})
    ()
    """
    found = tuple(p for p in told if isinstance(p, Additive) and p.where == where and {*p.columns} <= {*columns})
    return found if sorted(n for part in found for n in part.columns) == sorted(columns) else ()


def too_few(method: NoiseParameters, column: str) -> str:
    """Say that a stratum is too small for what would be told of it."""
    where = f"some strata of {', '.join(method.by)} hold" if method.by else "the table holds"
    return (
        f"noise: {where} fewer than min_stratum ({method.min_stratum}) values of {column!r}; their spread and centre "
        "must not be told. Use fewer or broader columns in by, or give sd or variance without grow."
    )


def _weighted(codes: pl.Series, counts: pl.Series) -> dict[str, Any]:
    """Moments of codes that stand `counts` times, as an answer to `Moments` has them."""
    x = codes.to_numpy().astype(np.float64)
    sums = Sums()
    for one, times in zip(exact_sums(x, np.arange(len(x))), counts, strict=True):
        sums += one * int(times)
    mean, variance = (sums.mean if sums.n else 0.0), (sums.variance if sums.n > 1 else None)
    low, high = (float(x.min()), float(x.max())) if sums.n else (None, None)
    return {"n": sums.n, "mean": mean, "variance": variance, "low": low, "high": high, "decimals": decimals(x)}


def _zero_one(row: Mapping[str, Any]) -> tuple[float, ...]:
    """(0, 1) for a column that holds nothing else."""
    inside = row["n"] and row["low"] >= 0 and row["high"] <= 1 and row["decimals"] == 0
    return (0.0, 1.0) if inside else ()


def filled(x: Floats, columns: Sequence[str], fill: Mapping[str, float]) -> Floats:
    """Fill missing values in place, by column, shape (n, p)."""
    for j, n in enumerate(columns):
        if n in fill:
            x[np.isnan(x[:, j]), j] = fill[n]
    return x


def category_text(column: str, dtype: pl.DataType) -> pl.Expr:
    """A categorical column as text, as the plan writes its categories."""
    value = pl.col(column)
    return value.cast(pl.Int64).cast(pl.String) if dtype.is_float() else value.cast(pl.String)


def _middle(spread: Mapping[Key, Mapping[str, Spread]], column: str) -> tuple[float, float]:
    """A centre and a unit near those of a column over all strata; they only keep sums from cancelling."""
    own = [s[column] for s in spread.values() if column in s and s[column].n]
    n = sum(s.n for s in own)
    centre = sum(s.n * s.mean for s in own) / n if n else 0.0
    return centre, sum(s.n * ((s.variance or 0.0) + (s.mean - centre) ** 2) for s in own) / n if n else 1.0
