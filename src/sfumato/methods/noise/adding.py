"""The second look of `noise`, at correlations where they are wanted; then noise is added."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.error_model import Additive, Growth
from sfumato.data.hidden import HIDDEN
from sfumato.data.pair import numbers
from sfumato.data.query import Moments
from sfumato.data.roles import Kind
from sfumato.draws import bits
from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, round_half_up, round_to_multiple, significant
from sfumato.kernels.masking.noise import nearest_correlation, shaped, standard
from sfumato.kernels.rows import row_hash
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.noise.looking import (
    Key,
    Looked,
    Looking,
    Spread,
    category_text,
    dummy_column,
    filled,
    standardised,
    too_few,
)
from sfumato.methods.noise.parameters import NoiseParameters

__all__ = ["Adding", "Strengths"]

_ALONE = 0.8  # share of a stratum's sum of squares that one value may make before its strength is not told
_LEAST = 1e-3  # least eigenvalue of the noise's correlations, so that no combination of columns stays without noise
_SINGULAR = "The covariance of the noise is singular: some combination of the columns gets no noise and stays exact."
Floats = NDArray[np.float64]


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
        p = range(len(self.look.plain))
        names = [standardised(j) for j in p] + [standardised(i, j) for i, j in itertools.combinations(p, 2)]
        queries = (Moments(tuple(names), self.look.by),) if self.method.correlated else ()
        return Stage(self.transform, queries, self.fit)

    def fit(self, answers: Sequence[pl.DataFrame]) -> Strengths:
        """Settle each stratum's covariance."""
        correlation = self._correlations(answers[0]) if answers else {}
        covariance = {key: self._covariance(spread, correlation.get(key)) for key, spread in self.looked.spread.items()}
        parts = [part for key, matrix in covariance.items() for part in self._parts(key, matrix)]
        notes = (*self.looked.notes, *([_SINGULAR] if any(map(_singular, covariance.values())) else []))
        return Strengths(covariance, tuple(parts), notes)

    def _correlations(self, answer: pl.DataFrame) -> dict[Key, Floats]:
        """Correlation of the columns in each stratum, from the variances of standardised columns and their sums."""
        p, found = len(self.look.plain), {}
        variance: dict[Key, dict[str, float]] = {} if self.look.by else {(): {}}
        for row in answer.iter_rows(named=True):
            variance.setdefault(tuple(row[n] for n in self.look.by), {})[row["variable"]] = row["variance"] or 0.0
        for key, v in variance.items():
            matrix = np.eye(p)
            for i, j in itertools.combinations(range(p), 2):
                first, second, both = v[standardised(i)], v[standardised(j)], v[standardised(i, j)]
                sds = np.sqrt(first * second)
                r = (both - first - second) / (2 * sds) if sds > 0 else 0.0
                matrix[i, j] = matrix[j, i] = round(float(np.clip(r, -1, 1)), 3)
            found[key] = nearest_correlation(matrix, _LEAST)
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
            raise DataError(too_few(self.method, named))
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
        if spread.largest > _ALONE and self.look.by:
            raise DataError(
                f"noise: in some strata of {', '.join(self.method.by)} one value makes most of the variance of "
                f"{named!r}, so the disclosed strength would tell it. Give sd or variance, use broader strata, or "
                "top-code the column first."
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
            grown = self._grown(x[rows], self.looked.grows.get(key, {}))
            noise[rows] = self._noise(unit[rows], own, state.covariance[key], grown, draws)
        noise += x
        new = {n: self._finished(n, noise[:, j], batch) for j, n in enumerate(self.released)}
        out: list[Any] = []
        for n in (n for n in batch.columns if not n.startswith(standardised())):
            made = [dummy_column(n, level) for level in self.method.dummies.get(n, ())] or [n]
            out += [new.get(m, pl.col(m)) for m in made]
        return batch.select(out)

    def _true(self, batch: pl.DataFrame) -> Floats:
        """True values of the released columns, shape (n, p), NaN where missing."""
        plain = self.look.plain
        x = np.empty((batch.height, len(self.released)), order="F")
        x[:, [self.released.index(n) for n in plain]] = filled(
            numbers(batch, plain, self.codebook), plain, self.looked.fill
        )
        for n, levels in self.method.dummies.items():
            text = batch.select(
                pl.when(~self.codebook.missing(n, batch.schema[n])).then(category_text(n, batch.schema[n])).alias(n)
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
        if self._mixed:
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

    @property
    def _mixed(self) -> bool:
        """Whether columns share draws; a given covariance without correlations is so many variances."""
        given = self.method.covariance
        return self.method.correlated or (given is not None and bool(np.any(np.array(given) - np.diag(np.diag(given)))))

    def _grown(self, x: Floats, grows: Mapping[str, Growth]) -> tuple[Floats, list[str]] | None:
        """What each record's noise is multiplied by, shape (n, p), and how the growth is told by column."""
        if not grows:
            return None
        factor = np.ones_like(x)
        for n, growth in grows.items():
            j = self.released.index(n)
            factor[:, j] = np.nan_to_num(growth.factor(x[:, j]), nan=1.0)
        return factor, [f" {grows[n].model_dump()!r}" if n in grows else "" for n in self.released]

    def _noise(
        self,
        unit: NDArray[np.uint64],
        bit: Sequence[NDArray[np.uint64]] | None,
        covariance: Floats,
        grown: tuple[Floats, list[str]] | None,
        draws: StepDraws,
    ) -> Floats:
        """Noise of one stratum, shape (n, p): the same draws whenever the same strength is disclosed.

        Where noise grew the draws are others: with equal ones a release without growth would give the values away.
        """
        together = f"covariance {covariance.tolist()!r} of {self.released!r}"
        out = np.empty((len(unit), len(self.released)), order="F")
        for j, n in enumerate(self.released):
            strength = together if self._mixed else f"variance {covariance[j, j].item()!r}"
            out[:, j] = self._standard(unit, bit, j, n, strength, draws)
            if grown is not None:
                factor, told = grown
                more = np.flatnonzero((factor > 1).any(axis=1) if self._mixed else factor[:, j] > 1)
                own = None if bit is None else [b[more] for b in bit]
                text = strength + ("".join(told) if self._mixed else told[j])
                out[more, j] = self._standard(unit[more], own, j, n, text, draws)
        noise = shaped(out, covariance)
        return noise if grown is None else noise * grown[0]

    def _standard(
        self,
        unit: NDArray[np.uint64],
        bit: Sequence[NDArray[np.uint64]] | None,
        j: int,
        column: str,
        strength: str,
        draws: StepDraws,
    ) -> Floats:
        purpose = draws.purpose(column, f"{self.method.distribution} {strength}")
        u = draws.draws.uniform(unit, purpose, None if bit is None else bit[j])
        return standard(u, self.method.distribution)

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
            new = new.cast(pl.Int64) if np.all(np.abs(np.nan_to_num(value)) < 2.0**63) else new
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


def _singular(covariance: Floats) -> bool:
    """Whether some combination of the columns that have noise gets none."""
    sd = np.sqrt(np.diagonal(covariance))
    noisy = sd > 0
    if not noisy.any():
        return False
    correlation = covariance[np.ix_(noisy, noisy)] / np.outer(sd[noisy], sd[noisy])
    return bool(np.linalg.eigvalsh(correlation).min() < 1e-6)
