"""What a disclosure says was done to the columns that an attacker knows, in the form that attacks are computed with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import Additive, Disclosed, Misclassified
from sfumato.data.error_model import Growth
from sfumato.kernels.grid import round_to_multiple
from sfumato.kernels.noise import Distribution, shaped, standard

__all__ = ["ErrorLaw", "laws", "observed_law"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Exchange:
    """Transition probabilities between the numeric levels of a column."""

    levels: Floats
    matrix: Floats

    def variance(self) -> float:
        """Mean squared difference that exchanging makes, each level counting alike."""
        return float(np.mean(np.sum(self.matrix * (self.levels[:, None] - self.levels) ** 2, axis=1)))


@dataclass(frozen=True)
class ErrorLaw:
    """How released values of some columns arise from true ones.

    Parameters
    ----------
    columns
        The p columns.
    covariance
        Of the noise, shape (p, p); zero for a column without noise.
    support
        Values that the true variable can take, by column; None for a continuous one.
    bounds
        Lowest and highest released value, by column; None where values are not clipped.
    rounded
        Multiple that released values are rounded to, by column.
    distribution
        Of the noise, by column.
    grows
        How noise grows away from the centre, by column.
    exchange
        Transition probabilities, by column, where categories were exchanged.
    """

    columns: tuple[str, ...]
    covariance: Floats
    support: tuple[Floats | None, ...]
    bounds: tuple[tuple[float | None, float | None] | None, ...]
    rounded: tuple[float | None, ...]
    distribution: tuple[Distribution, ...]
    grows: tuple[Growth | None, ...]
    exchange: tuple[Exchange | None, ...]
    marginal: ErrorLaw | None = None
    """The law over everybody, where this one is of some."""

    @property
    def noisy(self) -> NDArray[np.bool_]:
        """Which columns have noise or exchanged categories, shape (p,)."""
        return np.array(
            [v > 0 or e is not None for v, e in zip(np.diagonal(self.covariance), self.exchange, strict=True)]
        )

    def averaged(self, releases: int) -> ErrorLaw:
        """The law of the mean of several releases, as if no value had been clipped."""
        if releases == 1:
            return self
        exchanged = [0.0 if e is None else e.variance() for e in self.exchange]
        none = (None,) * len(self.columns)
        covariance = (self.covariance + np.diag(exchanged)) / releases
        return replace(self, covariance=covariance, bounds=none, rounded=none, exchange=none)

    def grown(self, factors: Floats, usual: Floats) -> ErrorLaw:
        """The law for somebody whose noise has grown by these factors, and by `usual` over everybody, shape (p,)."""
        marginal = replace(self, covariance=self.covariance * np.outer(usual, usual))
        return replace(self, covariance=self.covariance * np.outer(factors, factors), marginal=marginal)

    def simulate(self, x: Floats, random: np.random.Generator) -> Floats:
        """Release true values once more, with noise drawn anew, shape (n, p).

        Parameters
        ----------
        x
            True values, shape (n, p), NaN where missing.
        random
            Not the release's secret: for measuring only.
        """
        e = np.column_stack([standard(_open(random.random(len(x))), d) for d in self.distribution])
        noise = shaped(e, self.covariance)
        out = np.empty_like(x)
        for j in range(x.shape[1]):
            out[:, j] = self._one(j, x[:, j], noise[:, j], random)
        return out

    def _one(self, j: int, x: Floats, noise: Floats, random: np.random.Generator) -> Floats:
        growth, bounds, step, exchange = self.grows[j], self.bounds[j], self.rounded[j], self.exchange[j]
        if exchange is not None:
            return _exchanged(x, exchange, random)
        z = x + (noise if growth is None else noise * growth.factor(x))
        if bounds is not None:
            low, high = bounds
            z = np.clip(z, -np.inf if low is None else low, np.inf if high is None else high)
        return z if step is None else round_to_multiple(z, step)


def observed_law(columns: Sequence[str], true: Floats, noisy: Floats) -> ErrorLaw:
    """The law that errors themselves suggest, where a release discloses none.

    Parameters
    ----------
    columns
        Names of the columns.
    true, noisy
        Shape (n, p), NaN where missing.
    """
    whole = ~np.isnan(true - noisy).any(axis=1)
    error = (noisy - true)[whole]
    covariance = np.atleast_2d(error.T @ error) / max(len(error), 1)
    present = [true[~np.isnan(true[:, j]), j] for j in range(true.shape[1])]
    binary = [len(x) > 0 and bool(np.isin(x, (0.0, 1.0)).all()) for x in present]
    none = (None,) * len(columns)
    support = tuple(np.array([0.0, 1.0]) if b else None for b in binary)
    gaussian: list[Distribution] = ["gaussian"] * len(columns)
    return ErrorLaw(tuple(columns), covariance, support, none, none, tuple(gaussian), none, none)


def laws(
    parts: Iterable[Disclosed], columns: Sequence[str], frame: pl.DataFrame, by: Sequence[str]
) -> Iterator[tuple[NDArray[np.intp] | slice, ErrorLaw]]:
    """Give the rows of each stratum whose error is told apart, with its law.

    Parameters
    ----------
    parts
        A release's disclosure.
    columns
        The columns that the attacker knows.
    frame
        The table, for its strata.
    by
        Columns of strata that the attacker knows. Strengths that differ between strata which they do not know are
        averaged.
    """
    told = [p for p in parts if isinstance(p, Additive | Misclassified) and set(p.columns) & set(columns)]
    known = [n for n in dict.fromkeys(n for p in told for n in p.where) if n in by and n in frame.columns]
    if not known:
        yield slice(None), _law(told, columns)
        return
    for key, rows in frame.select(known).with_row_index("sfumato:at").group_by(known):
        stratum = dict(zip(known, key, strict=True))
        own = [p for p in told if all(p.where.get(n, v) == v for n, v in stratum.items())]
        yield rows["sfumato:at"].to_numpy(), _law(own, columns)


def _law(parts: Sequence[Additive | Misclassified], columns: Sequence[str]) -> ErrorLaw:
    """One law; noise that several steps added to a column adds up."""
    p = len(columns)
    covariance, in_strata, strata = np.zeros((p, p)), np.zeros((p, p)), np.zeros((p, p))
    each: dict[str, Any] = {k: [None] * p for k in ("support", "bounds", "rounded", "grows", "exchange")}
    distribution: list[Distribution] = ["gaussian"] * p
    for part in parts:
        if isinstance(part, Misclassified):
            each["exchange"][columns.index(part.column)] = _exchange(part)
            continue
        at = [(columns.index(n), i) for i, n in enumerate(part.columns) if n in columns]
        for j, i in at:
            n = part.columns[i]
            distribution[j] = part.distribution
            each["support"][j] = np.array(part.values[n]) if part.values.get(n) else None
            each["bounds"][j], each["rounded"][j] = part.bounds.get(n), part.rounded.get(n)
            each["grows"][j] = part.grows.get(n)
            for k, i2 in at:
                (in_strata if part.where else covariance)[j, k] += part.covariance[i][i2]
                strata[j, k] += bool(part.where)
    covariance += in_strata / np.maximum(strata, 1)  # the mean over strata that the attacker does not know
    each = {k: tuple(v) for k, v in each.items()}
    return ErrorLaw(
        tuple(columns),
        covariance,
        each["support"],
        each["bounds"],
        each["rounded"],
        tuple(distribution),
        each["grows"],
        each["exchange"],
    )


def _exchange(part: Misclassified) -> Exchange | None:
    """Transition probabilities between numbers; None for categories that are none."""
    try:
        levels = np.array([float(v) for v in part.levels or ()])
    except (TypeError, ValueError):
        return None
    return Exchange(levels, part.array) if len(levels) else None


def _exchanged(x: Floats, exchange: Exchange, random: np.random.Generator) -> Floats:
    u, out = random.random(len(x)), x.copy()
    for level, row in zip(exchange.levels, exchange.matrix, strict=True):
        mine = x == level
        out[mine] = exchange.levels[np.minimum(np.searchsorted(np.cumsum(row), u[mine]), len(row) - 1)]
    return out


def _open(u: Floats) -> Floats:
    """Uniform draws that are never 0."""
    return np.maximum(u, 2.0**-53)
