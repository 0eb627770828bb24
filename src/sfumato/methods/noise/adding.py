"""The second look of `noise`, at correlations where they are wanted; then noise is added."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Missing
from sfumato.data.disclosure import Disclosed
from sfumato.data.error_model import Additive, Growth
from sfumato.data.hidden import HIDDEN
from sfumato.data.pair import numbers
from sfumato.data.query import Moments
from sfumato.data.roles import Kind
from sfumato.draws import bits
from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, noise_step, own_step, round_to_multiple, round_within, significant, too_fine
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
    parts_of,
    standardised,
    too_few,
)
from sfumato.methods.noise.parameters import NoiseParameters, finer_than_noise

__all__ = ["Adding", "Strengths"]

_ALONE = 0.8  # share of a stratum's sum of squares that one value may make before its strength is not told
_LEAST = 1e-3  # least eigenvalue of the noise's correlations, so that no combination of columns stays without noise
_SINGULAR = "The covariance of the noise is singular: some combination of the columns gets no noise and stays exact."
_FINER = (
    "The decimals of {} are too many for `round_to: input`: last digits would tell which values the noise was added "
    "to. They were rounded as by `auto`."
)
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
    steps
        Multiple that released values are rounded to, by column; without those that get no noise.
    """

    covariance: dict[Key, Floats]
    disclosed: tuple[Additive, ...]
    steps: dict[str, float] = field(default_factory=dict)
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
        learns = self.method.learns or any(self.method.grid_of(n) == "input" for n in self.method.columns)
        return Stage(self.transform, queries, self.fit, taking=self.taking if learns else None)

    def fit(self, answers: Sequence[pl.DataFrame]) -> Strengths:
        """Settle each stratum's covariance."""
        return self._settled(self._learned(answers))

    def taking(self, answers: Sequence[pl.DataFrame], told: Sequence[Disclosed]) -> Strengths | None:
        """As `fit`, with the covariances of an earlier release in the strata that it had, and its multiples.

        Draws are keyed on a strength to its last bit, which is why it is taken as it was told.
        """
        parts = {key: parts_of(told, self.released, self.look.where(key)) for key in self.looked.spread}
        if not any(parts.values()):
            return None
        covariance = self._learned(answers)
        for key in (key for key, found in parts.items() if found):
            matrix = np.zeros((len(self.released),) * 2)
            for part in parts[key]:
                matrix[np.ix_(*[[self.released.index(n) for n in part.columns]] * 2)] = part.matrix
            covariance[key] = matrix
        return self._settled(
            covariance, {n: g for found in parts.values() for p in found for n, g in p.rounded.items()}
        )

    def _learned(self, answers: Sequence[pl.DataFrame]) -> dict[Key, Floats]:
        """Each stratum's covariance."""
        correlation = self._correlations(answers[0]) if answers else {}
        return {key: self._covariance(spread, correlation.get(key)) for key, spread in self.looked.spread.items()}

    def _settled(self, covariance: dict[Key, Floats], taken: Mapping[str, float] | None = None) -> Strengths:
        """What is disclosed of the covariances, and the multiples: those that were taken, and others as they follow."""
        sds = np.sqrt([np.diagonal(matrix) for matrix in covariance.values()]).reshape(-1, len(self.released))
        least = np.where(sds > 0, sds, np.inf).min(axis=0, initial=np.inf)  # a stratum without values has none
        found = {n: self._step(n, float(sd)) for n, sd in zip(self.released, least, strict=True)}
        steps = {n: step for n, (step, _) in found.items() if step is not None} | dict(taken or {})
        parts = [part for key, matrix in covariance.items() for part in self._parts(key, matrix, steps)]
        finer = [n for n, (_, given_up) in found.items() if given_up and n not in (taken or {})]
        notes = [*self.looked.notes, *([_SINGULAR] if any(map(_singular, covariance.values())) else [])]
        notes += [_FINER.format(", ".join(finer))] if finer else []
        return Strengths(covariance, tuple(parts), steps, tuple(notes))

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
        variance = [self._variance(n, self._sources[n], spread[n]) for n in self.released]
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

    def _parts(self, key: Key, covariance: Floats, steps: Mapping[str, float]) -> Iterator[Additive]:
        """One part for the columns that stay, one for the dummies of each variable."""
        where = dict(zip(self.look.by, key, strict=True))
        plain = self.look.plain
        if plain:
            grows = self.looked.grows.get(key, {})
            yield self._part(plain, covariance, where, steps, values=self._values(plain), grows=grows)
        for n, levels in self.method.dummies.items():
            columns = tuple(dummy_column(n, level) for level in levels)
            support = dict.fromkeys(columns, (0.0, 1.0))
            yield self._part(columns, covariance, where, steps, values=support, grows={}, indicators_of=n)

    def _part(
        self,
        columns: tuple[str, ...],
        covariance: Floats,
        where: dict[str, Any],
        steps: Mapping[str, float],
        **more: Any,
    ) -> Additive:
        at = [self.released.index(n) for n in columns]
        bounds = {n: b for n in columns if (b := self._bounds(n)) is not None}
        rounded = {n: steps[n] for n in columns if n in steps}
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

    @cached_property
    def _sources(self) -> dict[str, str]:
        """The column of the table that a released one is of."""
        made = {dummy_column(n, level): n for n, levels in self.method.dummies.items() for level in levels}
        return {n: made.get(n, n) for n in self.released}

    def _step(self, column: str, sd: float) -> tuple[float | None, bool]:
        """The multiple for noise of this least disclosed sd; whether `input` was asked for and would be too fine."""
        grid = self.method.grid_of(self._sources[column])
        own = self.looked.decimals.get(column, NO_GRID)
        if np.isinf(sd):  # no noise, nothing drawn to hide
            return grid if isinstance(grid, float) else own_step(own, 0.0) if grid == "input" else None, False
        if isinstance(grid, float):
            if too_fine(grid, sd):
                raise DataError(f"noise: {finer_than_noise(column, grid, sd)}.")
            return grid, False
        step = own_step(own, sd) if grid == "input" else None
        if step is None or too_fine(step, sd):
            return noise_step(sd), grid == "input" and column in self.looked.decimals
        return step, False

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
        new = {n: self._finished(n, noise[:, j], state.steps.get(n), batch) for j, n in enumerate(self.released)}
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

    def _finished(self, column: str, value: Floats, step: float | None, batch: pl.DataFrame) -> pl.Series:
        """Released values of a column: rounded, set to a bound where outside, with what was missing as it was.

        Rounding comes after adding: true values need not lie on the grid, so that of the sum every digit goes.
        """
        noisy, whole = value, self.method.stays_whole(column, step)
        value = round_within(noisy, step, *self._ends(column))
        if step is not None and column in self.method.columns and self.method.grid_of(column) == "auto":
            value = self._off_codes(column, value, noisy, step)
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

    def _ends(self, column: str) -> tuple[float, float]:
        """Lowest and highest released value."""
        low, high = self._bounds(column) or (None, None)
        return -np.inf if low is None else low, np.inf if high is None else high

    def _codes(self, column: str) -> tuple[Missing, ...]:
        """The codes of a column that stay, and read as missing."""
        return self.codebook[column].missing if self.method.missing == "keep" else ()

    def _off_codes(self, column: str, value: Floats, noisy: Floats, step: float) -> Floats:
        """Move what rounding alone put on a missing code to the next multiple on the side that it came from.

        A step that nobody chose must not be what a release fails for.
        """
        codes, dtype = self._codes(column), pl.Float64()
        frame = pl.DataFrame({"value": value, "noisy": noisy})
        ranges = [code.expression(pl.col("noisy"), dtype) for code in codes if code.code is None]
        inside = frame.select(pl.any_horizontal(pl.lit(False), *ranges)).to_series()
        side = np.where(noisy < value, -step, step)
        for _ in codes:  # the next multiple may be another code
            here = [code.expression(pl.col("value"), dtype) for code in codes]
            at = (frame.select(pl.any_horizontal(*here)).to_series() & ~inside).to_numpy()
            if not at.any():
                break
            value[at] = np.clip(round_to_multiple(value[at] + side[at], step), *self._ends(column))
            frame = frame.with_columns(value=value)
        return value

    def _refuse_codes(self, column: str, new: pl.Series) -> None:
        """Refuse noisy values that would read as missing codes."""
        codes = self._codes(column)
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
