"""The two looks of `noise`: at spreads, then (where the noise is correlated) at correlations; the second pass adds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.error_model import Additive, Growth
from sfumato.data.pair import numbers
from sfumato.data.query import COUNT, Counts, Moments, Quantiles, Query
from sfumato.data.roles import Kind
from sfumato.draws import bits
from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, decimals, round_half_up, round_to_multiple, significant
from sfumato.kernels.noise import nearest_correlation, shaped, standard
from sfumato.kernels.rows import row_hash
from sfumato.methods.base import HIDDEN, Stage, StepDraws
from sfumato.methods.noise_parameters import NoiseParameters

__all__ = ["Adding", "Looking", "dummy_column"]

_DOMINANT = 0.5  # share of the sum of squares that one value may make before a note warns of it
_MOST_CODES = 100
_IQR = 1.349  # interquartile range of a normal variable with variance 1
Floats = NDArray[np.float64]
Key = tuple[Any, ...]


def dummy_column(column: str, level: Scalar) -> str:
    """Name of the 0/1 column of a category."""
    return f"{column}={level}"


def _z(*columns: str) -> str:
    return f"{HIDDEN}z:{'+'.join(columns)}"


@dataclass(frozen=True)
class Spread:
    """What one stratum tells of one column."""

    n: int
    mean: float
    variance: float | None


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
        m = self.method
        learned = m.correlated or m.grow is not None
        learned |= m.covariance is None and any(m.strength(n)[0] == "share" for n in m.columns)
        return m.by if learned else ()

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
        return Stage(self.transform, queries, self.fit)

    def fit(self, answers: Sequence[pl.DataFrame]) -> Looked:
        """Learn what the strengths go by."""
        rest = iter(answers)
        spread = self._spread(next(rest))
        overall = {row["variable"]: row for row in next(rest).iter_rows(named=True)}
        values: dict[str, tuple[float, ...]] = {}
        for n in self.coded:
            counts = self._counts(n, next(rest))
            overall[n] = _weighted(counts[n], counts[COUNT])
            values[n] = self._support(n, counts[n])
            for key, rows in counts.group_by(list(self.by)) if self.by else [((), counts)]:
                own = _weighted(rows[n], rows[COUNT])
                spread.setdefault(tuple(key), {})[n] = Spread(own["n"], own["mean"], own["variance"])
        if empty := [n for n in self.plain if overall[n]["n"] == 0]:
            raise DataError(
                f"noise: column {', '.join(map(repr, empty))} has no value at all. Leave it out of columns."
            )
        values |= {n: support for n in self.plain if (support := _zero_one(overall[n]))}
        for n in self.method.dummies:
            self._add_dummies(spread, n, next(rest))
        grows: dict[Key, dict[str, Growth]] = {}
        if self.method.grow is not None:
            for n in self.plain:
                self._add_growth(grows, n, next(rest), self.method.grow)
        fill: dict[str, float] = {}
        if self.method.missing == "mean":
            fill = {n: overall[n]["mean"] for n in self.plain}
        elif self.method.missing == "median":
            fill = {n: next(rest)["value"][0] for n in self.plain}
        places = {n: overall[n]["decimals"] for n in self.plain}
        return Looked(spread, values, places, fill, grows, tuple(self._notes(overall)))

    def _spread(self, answer: pl.DataFrame) -> dict[Key, dict[str, Spread]]:
        spread: dict[Key, dict[str, Spread]] = {} if self.by else {(): {}}
        for row in answer.iter_rows(named=True):
            key = tuple(row[n] for n in self.by)
            spread.setdefault(key, {})[row["variable"]] = Spread(row["n"], row["mean"] or 0.0, row["variance"])
        return spread

    def _counts(self, column: str, counts: pl.DataFrame) -> pl.DataFrame:
        """How often each code of a categorical column stands in each stratum, codes as floats."""
        dtype = counts.schema[column]
        if not (dtype.is_numeric() or dtype == pl.Boolean):
            raise DataError(
                f"noise: column {column!r} holds {dtype}, and noise needs numbers. Use pram, recode it to 0 and 1, or "
                f"name its categories: dummies: {{{column}: [...]}}."
            )
        present = counts.filter(~self.codebook.missing(column, dtype))
        return present.with_columns(pl.col(column).cast(pl.Float64))

    def _support(self, column: str, present: pl.Series) -> tuple[float, ...]:
        """Codes of a categorical column, those that the codebook labels among them."""
        variable = self.codebook[column]
        labelled = [v for v in variable.labels if not any(m.matches(v) for m in variable.missing)]
        codes = sorted({*present, *(float(v) for v in labelled if isinstance(v, int | float))})
        return tuple(codes) if len(codes) <= _MOST_CODES else ()

    def _add_dummies(self, spread: dict[Key, dict[str, Spread]], column: str, counts: pl.DataFrame) -> None:
        levels = self.method.dummies[column]
        counts = counts.filter(~self.codebook.missing(column, counts.schema[column]))
        text = counts.with_columns(_text(column, counts.schema[column]))
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
        self, grows: dict[Key, dict[str, Growth]], column: str, answer: pl.DataFrame, beyond: float
    ) -> None:
        for key, rows in answer.group_by(list(self.by)) if self.by else [((), answer)]:
            low, middle, high = (rows.filter(pl.col("prob") == p)["value"].item() for p in (0.25, 0.5, 0.75))
            if low is not None and high > low:
                growth = Growth(centre=significant(middle), scale=significant((high - low) / _IQR), beyond=beyond)
                grows.setdefault(tuple(key), {})[column] = growth

    def _notes(self, overall: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
        binary = self.method.dummies or any(_zero_one(overall[n]) for n in self.plain)
        if self.method.clip is True and not binary:
            yield "clip: true changed nothing, for no column holds only 0 and 1. Give bounds by column."
        shared = () if self.method.covariance else [n for n in self.plain if self.method.strength(n)[0] == "share"]
        for n in shared:
            row = overall[n]
            if row["variance"]:
                extreme = max(row["high"] - row["mean"], row["mean"] - row["low"]) ** 2
                if extreme > _DOMINANT * row["variance"] * (row["n"] - 1):
                    yield (
                        f"One value of {n} makes most of its variance, so the disclosed strength of the noise tells "
                        "much of that value. Give sd or variance from outside the data, or top-code the column first."
                    )

    def transform(self, batch: pl.DataFrame, state: Looked, draws: StepDraws) -> pl.DataFrame:
        """Standardised columns and their sums, from which correlations are asked for; only where they are wanted."""
        if not self.method.correlated:
            return batch
        x = _filled(numbers(batch, self.plain, self.codebook), self.plain, state.fill)
        x[np.isnan(x).any(axis=1)] = np.nan
        whole = next(iter(state.spread.values())) if not self.by else None
        for j, n in enumerate(self.plain):
            centre, unit = (whole[n].mean, whole[n].variance) if whole else _middle(state.spread, n)
            x[:, j] = (x[:, j] - centre) / np.sqrt(unit or 1.0)
        hidden = [pl.Series(_z(n), x[:, j], nan_to_null=True) for j, n in enumerate(self.plain)]
        hidden += [
            pl.Series(_z(a, b), x[:, i] + x[:, j], nan_to_null=True)
            for (i, a), (j, b) in itertools.combinations(enumerate(self.plain), 2)
        ]
        return batch.with_columns(hidden)


@dataclass(frozen=True)
class Strengths:
    """How strong the noise is in each stratum, and how that is told.

    Parameters
    ----------
    covariance
        By stratum, shape (p, p), in the order of the released columns.
    disclosed
        The same for analysts.
    """

    covariance: dict[Key, Floats]
    disclosed: tuple[Additive, ...]
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Adding:
    """Settle the covariance, then add noise, clip and round."""

    method: NoiseParameters
    codebook: Codebook
    looked: Looked

    @property
    def look(self) -> Looking:
        """The first look, which knows the strata."""
        return Looking(self.method, self.codebook)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that get noise, dummies in place of their variable."""
        m = self.method
        return tuple(
            out
            for n in m.columns
            for out in ([dummy_column(n, level) for level in m.dummies[n]] if n in m.dummies else [n])
        )

    def stage(self) -> Stage:
        """The look and the pass."""
        plain = self.look.plain
        pairs = [_z(n) for n in plain] + [_z(a, b) for a, b in itertools.combinations(plain, 2)]
        queries = (Moments(tuple(pairs), self.look.by),) if self.method.correlated else ()
        return Stage(self.transform, queries, self.fit)

    def fit(self, answers: Sequence[pl.DataFrame]) -> Strengths:
        """Settle each stratum's covariance."""
        correlation = self._correlations(answers[0]) if answers else {}
        covariance = {key: self._covariance(spread, correlation.get(key)) for key, spread in self.looked.spread.items()}
        parts = [part for key, matrix in covariance.items() for part in self._parts(key, matrix)]
        return Strengths(covariance, tuple(parts), self.looked.notes)

    def _correlations(self, answer: pl.DataFrame) -> dict[Key, Floats]:
        """Correlation of the columns in each stratum, from the variances of standardised columns and their sums."""
        plain, found = self.look.plain, {}
        variance: dict[Key, dict[str, float]] = {} if self.look.by else {(): {}}
        for row in answer.iter_rows(named=True):
            variance.setdefault(tuple(row[n] for n in self.look.by), {})[row["variable"]] = row["variance"] or 0.0
        for key, v in variance.items():
            matrix = np.eye(len(plain))
            for (i, a), (j, b) in itertools.combinations(enumerate(plain), 2):
                both = v[_z(a)] * v[_z(b)]
                r = (v[_z(a, b)] - v[_z(a)] - v[_z(b)]) / (2 * np.sqrt(both)) if both > 0 else 0.0
                matrix[i, j] = matrix[j, i] = round(float(np.clip(r, -1, 1)), 3)
            found[key] = nearest_correlation(matrix)
        return found

    def _covariance(self, spread: Mapping[str, Spread], correlation: Floats | None) -> Floats:
        if self.method.covariance is not None:
            return np.array(self.method.covariance)
        source = {dummy_column(n, v): n for n, levels in self.method.dummies.items() for v in levels}
        variance = [self._variance(n, source.get(n, n), spread[n]) for n in self.released]
        sd = np.sqrt(variance)
        return np.diag(variance) if correlation is None else np.asarray(correlation * np.outer(sd, sd))

    def _variance(self, column: str, named: str, spread: Spread) -> float:
        kind, strength = self.method.strength(named)
        learned = kind == "share" or self.method.correlated
        if learned and self.look.by and 0 < spread.n < self.method.min_stratum:
            raise DataError(
                f"noise: some strata of {', '.join(self.method.by)} hold fewer than min_stratum "
                f"({self.method.min_stratum}) values of {named!r}; their spread must not be told. Use fewer or broader "
                "columns in by, or give sd or variance."
            )
        if kind == "variance":
            return strength
        if not spread.n:
            return 0.0
        if not spread.variance:
            where = " in some strata" if self.look.by else ""
            raise DataError(
                f"noise: column {named!r} does not vary{where}, so a share of its variance is no noise. Give sd or "
                "variance, or leave it out."
            )
        return significant(strength * spread.variance)

    def _parts(self, key: Key, covariance: Floats) -> Iterator[Additive]:
        """One part for the columns that stay, one for the dummies of each variable."""
        where = dict(zip(self.look.by, key, strict=True))
        plain = self.look.plain
        if plain:
            grows = self.looked.grows.get(key, {})
            yield self._part(plain, covariance, where, values=self._values(plain), grows=grows)
        for n, levels in self.method.dummies.items():
            columns = tuple(dummy_column(n, level) for level in levels)
            yield self._part(
                columns, covariance, where, values=dict.fromkeys(columns, (0.0, 1.0)), grows={}, indicators_of=n
            )

    def _part(self, columns: tuple[str, ...], covariance: Floats, where: dict[str, Any], **more: Any) -> Additive:
        at = [self.released.index(n) for n in columns]
        bounds = {n: b for n in columns if (b := self._bounds(n)) is not None}
        rounded = {n: step for n in columns if (step := self._step(n)) is not None}
        return Additive(
            columns,
            covariance[np.ix_(at, at)],
            distribution=self.method.distribution,
            bounds=bounds,
            rounded=rounded,
            draw_by=self.method.draw_by,
            where=where,
            **more,
        )

    def _values(self, columns: Sequence[str]) -> dict[str, tuple[float, ...]]:
        return {n: v for n in columns if (v := self.looked.values.get(n, ()))}

    def _bounds(self, column: str) -> tuple[float | None, float | None] | None:
        if isinstance(self.method.clip, dict):
            return self.method.clip.get(column)
        binary = column not in self.method.columns or self.looked.values.get(column) == (0.0, 1.0)
        return (0.0, 1.0) if self.method.clip and binary else None

    def _round_to(self, column: str) -> Literal["input"] | float | None:
        given = self.method.round_to
        return given.get(column) if isinstance(given, dict) else given

    def _step(self, column: str) -> float | None:
        """The multiple that released values are rounded to."""
        given = self._round_to(column)
        if given != "input":
            return given
        place = self.looked.decimals.get(column, NO_GRID)
        return None if place >= NO_GRID else float(f"1e-{place}")

    def transform(self, batch: pl.DataFrame, state: Strengths, draws: StepDraws) -> pl.DataFrame:
        """The new rows of a batch."""
        x = self._true(batch)
        unit = draws.units(batch, self.method.draw_by)
        noise = np.empty_like(x, order="F")
        bit = None if self.method.draw_by == "household" else self._bits(x)
        for key, rows in self._strata(batch, state):
            own = None if bit is None else [b[rows] for b in bit]
            noise[rows] = self._noise(unit[rows], own, state.covariance[key], self.looked.grows.get(key, {}), draws)
        self._grow(noise, x, batch, state)
        noise += x
        new = {n: self._finished(n, noise[:, j], batch) for j, n in enumerate(self.released)}
        out: list[Any] = []
        for n in (n for n in batch.columns if not n.startswith(_z(""))):
            made = [dummy_column(n, level) for level in self.method.dummies.get(n, ())] or [n]
            out += [new.get(m, pl.col(m)) for m in made]
        return batch.select(out)

    def _true(self, batch: pl.DataFrame) -> Floats:
        """True values of the released columns, shape (n, p), NaN where missing."""
        plain = self.look.plain
        x = np.empty((batch.height, len(self.released)), order="F")
        x[:, [self.released.index(n) for n in plain]] = _filled(
            numbers(batch, plain, self.codebook), plain, self.looked.fill
        )
        for n, levels in self.method.dummies.items():
            text = batch.select(
                pl.when(~self.codebook.missing(n, batch.schema[n])).then(_text(n, batch.schema[n])).alias(n)
            )[n]
            for level in levels:
                x[:, self.released.index(dummy_column(n, level))] = (text == str(level)).cast(pl.Float64).to_numpy()
        return x

    def _bits(self, x: Floats) -> list[NDArray[np.uint64]]:
        """What each column's draw is keyed on besides the unit.

        Where columns share a draw (correlated noise, the dummies of a variable) it is all their values: were it the
        column's own, a corrected value would move the others' noise by a known multiple of its own and so give itself
        away.
        """
        if self.method.correlated or self.method.covariance is not None:
            return [row_hash(x)] * x.shape[1]
        out = [bits(x[:, j]) for j in range(x.shape[1])]
        for n, levels in self.method.dummies.items():
            at = [self.released.index(dummy_column(n, level)) for level in levels]
            together = row_hash(x[:, at])
            for j in at:
                out[j] = together
        return out

    def _strata(self, batch: pl.DataFrame, state: Strengths) -> Iterator[tuple[Key, Any]]:
        """Rows of each stratum."""
        if not self.look.by:
            yield (), slice(None)
            return
        by = batch.select(pl.col(n).fill_nan(None) if batch.schema[n].is_float() else pl.col(n) for n in self.look.by)
        for key, rows in by.with_row_index(f"{HIDDEN}at").group_by(list(self.look.by)):
            yield tuple(key), rows[f"{HIDDEN}at"].to_numpy()

    def _noise(
        self,
        unit: NDArray[np.uint64],
        bit: Sequence[NDArray[np.uint64]] | None,
        covariance: Floats,
        grows: Mapping[str, Growth],
        draws: StepDraws,
    ) -> Floats:
        """Noise of one stratum, shape (n, p); the same draws whenever the same strength is disclosed."""
        mixed = self.method.correlated or self.method.covariance is not None
        together = f"covariance {covariance.tolist()!r} of {self.released!r}"
        out = np.empty((len(unit), len(self.released)), order="F")
        for j, n in enumerate(self.released):
            strength = together if mixed else f"variance {covariance[j, j].item()!r}"
            strength += f" {grows[n].model_dump()!r}" if n in grows else ""
            purpose = draws.purpose(n, f"{self.method.distribution} {strength}")
            u = draws.draws.uniform(unit, purpose, None if bit is None else bit[j])
            out[:, j] = standard(u, self.method.distribution)
        return shaped(out, covariance)

    def _grow(self, noise: Floats, x: Floats, batch: pl.DataFrame, state: Strengths) -> None:
        """Multiply the noise of values far from the centre."""
        if not self.looked.grows:
            return
        for key, rows in self._strata(batch, state):
            for n, growth in self.looked.grows.get(key, {}).items():
                j = self.released.index(n)
                noise[rows, j] *= growth.factor(x[rows, j])

    def _finished(self, column: str, value: Floats, batch: pl.DataFrame) -> pl.Series:
        """Released values of a column: clipped, rounded, with what was missing as it was."""
        bounds, step = self._bounds(column), self._step(column)
        if bounds is not None:
            low, high = bounds
            value = np.clip(value, -np.inf if low is None else low, np.inf if high is None else high)
        whole = step is not None and step.is_integer()
        if step is not None:
            on_input = self._round_to(column) == "input"
            value = round_half_up(value, self.looked.decimals[column]) if on_input else round_to_multiple(value, step)
        new = pl.Series(column, value, nan_to_null=True)
        if column not in self.method.columns:
            return new
        if whole and (batch.schema[column].is_integer() or self.codebook[column].kind == Kind.INTEGER):
            new = new.cast(pl.Int64)
        self._refuse_codes(column, new)
        if self.looked.fill:
            return new
        old = batch[column]
        kept = old.cast(pl.Int8) if old.dtype == pl.Boolean else old
        return pl.select(pl.coalesce(new, kept)).to_series().alias(column)

    def _refuse_codes(self, column: str, new: pl.Series) -> None:
        """Refuse noisy values that would read as missing codes."""
        codes = self.codebook[column].missing if self.method.missing == "keep" else ()
        frame = new.to_frame()
        tests = [code.expression(pl.col(column), new.dtype) for code in codes]
        if tests and frame.select(pl.any_horizontal(tests).any()).item():
            raise DataError(
                f"noise: some noisy values of {column!r} fall on its missing codes and would be read as missing. Give "
                f"bounds that leave the codes out, clip: {{{column}: [low, high]}}, or codes far from the values."
            )


def _weighted(codes: pl.Series, counts: pl.Series) -> dict[str, Any]:
    """Moments of codes that stand `counts` times, as an answer to `Moments` has them."""
    x, w = codes.to_numpy(), counts.to_numpy().astype(np.float64)
    n = int(w.sum())
    mean = float(w @ x / n) if n else 0.0
    variance = float(w @ (x - mean) ** 2 / (n - 1)) if n > 1 else None
    low, high = (float(x.min()), float(x.max())) if n else (None, None)
    return {"n": n, "mean": mean, "variance": variance, "low": low, "high": high, "decimals": decimals(x)}


def _zero_one(row: Mapping[str, Any]) -> tuple[float, ...]:
    """(0, 1) for a column that holds nothing else."""
    inside = row["n"] and row["low"] >= 0 and row["high"] <= 1 and row["decimals"] == 0
    return (0.0, 1.0) if inside else ()


def _filled(x: Floats, columns: Sequence[str], fill: Mapping[str, float]) -> Floats:
    for j, n in enumerate(columns):
        if n in fill:
            x[np.isnan(x[:, j]), j] = fill[n]
    return x


def _text(column: str, dtype: pl.DataType) -> pl.Expr:
    """A categorical column as text, as the plan writes its categories."""
    value = pl.col(column)
    return value.cast(pl.Int64).cast(pl.String) if dtype.is_float() else value.cast(pl.String)


def _middle(spread: Mapping[Key, Mapping[str, Spread]], column: str) -> tuple[float, float]:
    """A centre and a unit near those of a column over all strata; they only keep sums from cancelling."""
    own = [s[column] for s in spread.values() if column in s and s[column].n]
    n = sum(s.n for s in own)
    centre = sum(s.n * s.mean for s in own) / n if n else 0.0
    return centre, sum(s.n * ((s.variance or 0.0) + (s.mean - centre) ** 2) for s in own) / n if n else 1.0
