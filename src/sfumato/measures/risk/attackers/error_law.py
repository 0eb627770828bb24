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
from sfumato.kernels.grid import round_to_multiple, round_within
from sfumato.kernels.masking.noise import Distribution, shaped, standard

__all__ = ["ErrorLaw", "Exchange", "cumulative", "in_turn", "laws", "log_density", "observed_law"]

Floats = NDArray[np.float64]

_REACH = 8.0  # standard deviations beyond which noise is not looked for
_CELLS, _MOST_CELLS = 64, 400


@dataclass(frozen=True)
class Exchange:
    """Probability of each number in place of each true one.

    Parameters
    ----------
    levels
        True values, shape (L,).
    matrix
        Shape (L, M); rows sum to 1.
    released
        What values are exchanged to, shape (M,).
    """

    levels: Floats
    matrix: Floats
    released: Floats

    def variance(self) -> float:
        """Mean squared difference that exchanging makes, each level counting alike."""
        return float(np.mean(np.sum(self.matrix * (self.levels[:, None] - self.released) ** 2, axis=1)))

    def then(self, other: Exchange) -> Exchange:
        """Both exchanges in turn; what is no level of the second stays as it is."""
        extra = self.released[~np.isin(self.released, other.levels)]
        released = np.concatenate([other.released, extra])
        second = np.zeros((len(self.released), len(released)))
        for i, value in enumerate(self.released):
            at = np.flatnonzero(other.levels == value)
            if len(at):
                second[i, : len(other.released)] = other.matrix[at[0]]
            else:
                second[i, len(other.released) + int(np.flatnonzero(extra == value)[0])] = 1.0
        return Exchange(self.levels, self.matrix @ second, released)


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
        Transition probabilities, by column, where values were exchanged before the noise was added.
    """

    columns: tuple[str, ...]
    covariance: Floats
    support: tuple[Floats | None, ...]
    bounds: tuple[tuple[float | None, float | None] | None, ...]
    rounded: tuple[float | None, ...]
    distribution: tuple[Distribution, ...]
    grows: tuple[Growth | None, ...]
    exchange: tuple[Exchange | None, ...]
    fine: tuple[float | None, ...] = ()
    """By column, the multiple of rounding so fine that it counts as noise, whose variance holds it; empty for none."""
    marginal: ErrorLaw | None = None
    """The law over everybody, where this one is of some."""
    steps: tuple[ErrorLaw, ...] = ()
    """The laws of the steps in turn, where several worked on one column; this one is their whole."""

    def step(self, j: int) -> float | None:
        """The multiple that released values of a column are rounded to, fine or not."""
        return self.rounded[j] or (self.fine[j] if self.fine else None)

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
        return replace(self, covariance=covariance, bounds=none, rounded=none, exchange=none, fine=(), steps=())

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
        if self.steps:
            for step in self.steps:
                x = step.simulate(x, random)
            return x
        e = np.column_stack([standard(_open(random.random(len(x))), d) for d in self.distribution])
        fine = [self.step(j) if self.rounded[j] is None else None for j in range(x.shape[1])]
        noise = shaped(e, self.covariance - np.diag([(g or 0.0) ** 2 / 12 for g in fine]))
        out = np.empty_like(x)
        for j in range(x.shape[1]):
            out[:, j] = self._one(j, x[:, j], noise[:, j], random)
        return out

    def _one(self, j: int, x: Floats, noise: Floats, random: np.random.Generator) -> Floats:
        growth, bounds, step, exchange = self.grows[j], self.bounds[j], self.step(j), self.exchange[j]
        if exchange is not None:
            return _exchanged(x, exchange, random)
        z = x + (noise if growth is None else noise * growth.factor(x))
        low, high = bounds or (None, None)
        return round_within(z, step, -np.inf if low is None else low, np.inf if high is None else high)


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
    """The law of all parts, in the order of the steps that they tell of."""
    return in_turn([_step(own, columns) for own in _by_step(parts)], columns)


def _by_step(parts: Sequence[Additive | Misclassified]) -> list[list[Additive | Misclassified]]:
    """Parts that tell of strata of one step, together; a stratum that stands twice is of another step."""
    steps: list[list[Additive | Misclassified]] = []
    for part in parts:
        for step in reversed(steps):
            if not set(step[0].columns) & set(part.columns):
                continue
            same = type(step[0]) is type(part) and bool(part.where) and step[0].where.keys() == part.where.keys()
            if same and all(other.where != part.where for other in step):
                step.append(part)
            else:
                steps.append([part])
            break
        else:
            steps.append([part])
    return steps


def _step(parts: Sequence[Additive | Misclassified], columns: Sequence[str]) -> ErrorLaw:
    """The law of one step: the mean over strata that the attacker does not know."""
    p = len(columns)
    covariance, strata = np.zeros((p, p)), np.zeros((p, p))
    each: dict[str, Any] = {k: [None] * p for k in ("support", "bounds", "rounded", "grows", "exchange", "fine")}
    distribution: list[Distribution] = ["gaussian"] * p
    for told in (q for q in parts if isinstance(q, Additive)):
        part = told.smooth
        at = [(columns.index(n), i) for i, n in enumerate(part.columns) if n in columns]
        for j, i in at:
            n = part.columns[i]
            distribution[j] = part.distribution
            each["support"][j] = _union(each["support"][j], part.values.get(n))
            each["bounds"][j], each["rounded"][j] = part.bounds.get(n), part.rounded.get(n)
            each["grows"][j] = part.grows.get(n)
            each["fine"][j] = None if n in part.rounded else told.rounded.get(n)
            for k, i2 in at:
                covariance[j, k] += part.covariance[i][i2]
                strata[j, k] += 1
    exchanged = [q for q in parts if isinstance(q, Misclassified)]
    if exchanged:
        each["exchange"][columns.index(exchanged[0].column)] = _mean_exchange(exchanged)
    each = {k: tuple(v) for k, v in each.items()}
    return ErrorLaw(tuple(columns), covariance / np.maximum(strata, 1), distribution=tuple(distribution), **each)


def _union(known: Floats | None, more: Sequence[float] | None) -> Floats | None:
    if not more:
        return known
    return np.union1d(np.empty(0) if known is None else known, np.asarray(more, dtype=np.float64))


def in_turn(steps: Sequence[ErrorLaw], columns: Sequence[str]) -> ErrorLaw:
    """One law for several steps on the same columns.

    Variances add up; exchanges multiply. A column with few true values keeps them: what a step made of them that clips
    or rounds counts as an exchange by the next one. Elsewhere the last step's bounds and rounding hold. Noise of
    several steps counts as normal unless only one of them added any.

    Parameters
    ----------
    steps
        Laws of single steps over `columns`, in order.
    columns
        The p columns.
    """
    p = len(columns)
    covariance = np.zeros((p, p))
    whole = [_Column() for _ in range(p)]
    for step in steps:
        for j, column in enumerate(whole):
            variance = float(step.covariance[j, j])
            if not _touches(step, j):
                continue
            if column.must_settle(step.exchange[j] is not None):
                extra = column.settle(float(covariance[j, j]))
                covariance[j, :] = covariance[:, j] = 0.0
                covariance[j, j] = extra
            column.add(step, j, variance)
        covariance = covariance + step.covariance
    return ErrorLaw(
        tuple(columns),
        covariance,
        tuple(c.support for c in whole),
        tuple(c.bounds for c in whole),
        tuple(c.rounded for c in whole),
        tuple(c.distribution for c in whole),
        tuple(c.grows for c in whole),
        tuple(c.exchange for c in whole),
        tuple(c.fine for c in whole),
        steps=tuple(steps) if any(sum(_touches(s, j) for s in steps) > 1 for j in range(p)) else (),
    )


def _touches(step: ErrorLaw, j: int) -> bool:
    told = (step.exchange[j], step.bounds[j], step.rounded[j], step.support[j])
    return bool(step.covariance[j, j] > 0) or any(t is not None for t in told)


@dataclass
class _Column:
    """One column while its steps are put together: an exchange, and the noise that came after it."""

    touched: bool = False
    support: Floats | None = None
    exchange: Exchange | None = None
    noisy: bool = False
    bounds: tuple[float | None, float | None] | None = None
    rounded: float | None = None
    fine: float | None = None
    grows: Growth | None = None
    distribution: Distribution = "gaussian"

    def must_settle(self, exchanging: bool) -> bool:
        """Whether the noise so far has to become an exchange before the next step."""
        few = self.support is not None or self.exchange is not None
        return few and self.noisy and (exchanging or self.bounds is not None or self.rounded is not None)

    def settle(self, variance: float) -> float:
        """Make an exchange of the noise so far; give the variance that cells of an unrounded one are left with."""
        start = self.exchange
        if start is None:
            assert self.support is not None
            start = Exchange(self.support, np.eye(len(self.support)), self.support)
        made, left = _as_exchange(start.released, variance, self.distribution, self.bounds, self.rounded)
        self.exchange, self.support, self.noisy = start.then(made), None, left > 0
        self.bounds, self.rounded, self.fine, self.grows, self.distribution = None, None, None, None, "gaussian"
        return left

    def add(self, step: ErrorLaw, j: int, variance: float) -> None:
        """The next step's part in this column; only the first one starts from true values."""
        if not self.touched:
            self.support = step.support[j]
        self.touched = True
        later = step.exchange[j]
        if later is not None:
            self.exchange, self.support = (later if self.exchange is None else self.exchange.then(later)), None
            return
        self.bounds, self.rounded, self.fine = step.bounds[j], step.rounded[j], step.fine[j] if step.fine else None
        self.grows = step.grows[j] or self.grows
        if variance > 0:
            self.distribution = "gaussian" if self.noisy else step.distribution[j]
            self.noisy = True


def _as_exchange(
    start: Floats,
    variance: float,
    distribution: Distribution,
    bounds: tuple[float | None, float | None] | None,
    rounded: float | None,
) -> tuple[Exchange, float]:
    """Noise on few values as an exchange: to the rounded values, or to cells between the bounds."""
    sd, (low, high) = np.sqrt(variance), bounds or (None, None)
    least = float(start.min()) - _REACH * sd if low is None else low
    most = float(start.max()) + _REACH * sd if high is None else high
    step = rounded or (most - least) / _CELLS
    if (most - least) / step > _MOST_CELLS or step <= 0:
        rounded, step = None, max(most - least, 1e-300) / _CELLS
    if rounded is not None:
        ends = round_to_multiple(np.array([least, most]), step)
        released = ends[0] + step * np.arange(round((ends[1] - ends[0]) / step) + 1)
        edges = np.concatenate([[-np.inf], (released[:-1] + released[1:]) / 2, [np.inf]])
    else:
        inner = np.linspace(least, most, _CELLS + 1)
        released = np.concatenate([[least], (inner[:-1] + inner[1:]) / 2, [most]])
        edges = np.concatenate([[-np.inf], inner, [np.inf]])
    below = cumulative((edges - start[:, None]) / sd, distribution)
    left = 0.0 if rounded is not None else step**2 / 12
    return Exchange(start, np.diff(below, axis=1), released), left


def cumulative(u: Floats, distribution: Distribution) -> Floats:
    """P(e ≤ u) of noise with mean 0 and variance 1, any shape.

    Examples
    --------
    >>> cumulative(np.array([0.0, 3.0]), "uniform").tolist()
    [0.5, 1.0]
    """
    if distribution == "uniform":
        return np.asarray(np.clip(u / np.sqrt(12.0) + 0.5, 0.0, 1.0))
    if distribution == "laplace":
        half = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(u))
        return np.asarray(np.where(u > 0, 1 - half, half))
    from scipy.special import ndtr

    return np.asarray(ndtr(u))


def log_density(u: Floats, distribution: Distribution) -> Floats:
    """log density of noise with mean 0 and variance 1, any shape; −inf where there is none.

    Examples
    --------
    >>> log_density(np.array([0.0, 3.0]), "uniform").round(3).tolist()
    [-1.242, -inf]
    """
    if distribution == "uniform":
        return np.asarray(np.where(np.abs(u) <= np.sqrt(3.0) * (1 + 1e-9), -0.5 * np.log(12.0), -np.inf))
    if distribution == "laplace":
        return np.asarray(-np.sqrt(2.0) * np.abs(u) - 0.5 * np.log(2.0))
    return np.asarray(-0.5 * u**2 - 0.5 * np.log(2 * np.pi))


def _mean_exchange(parts: Sequence[Misclassified]) -> Exchange | None:
    """Mean transition probabilities between numbers, over strata; None for categories that are none."""
    try:
        each = [np.array([float(v) for v in part.levels or ()]) for part in parts]
    except (TypeError, ValueError):
        return None
    levels = np.unique(np.concatenate(each))
    total, count = np.zeros((len(levels), len(levels))), np.zeros(len(levels))
    for part, own in zip(parts, each, strict=True):
        if len(own):
            at = np.searchsorted(levels, own)
            total[np.ix_(at, at)] += part.array
            count[at] += 1
    return Exchange(levels, total / count[:, None], levels) if len(levels) else None


def _exchanged(x: Floats, exchange: Exchange, random: np.random.Generator) -> Floats:
    u, out = random.random(len(x)), x.copy()
    for level, row in zip(exchange.levels, exchange.matrix, strict=True):
        mine = x == level
        out[mine] = exchange.released[np.minimum(np.searchsorted(np.cumsum(row), u[mine]), len(row) - 1)]
    return out


def _open(u: Floats) -> Floats:
    """Uniform draws that are never 0."""
    return np.maximum(u, 2.0**-53)
