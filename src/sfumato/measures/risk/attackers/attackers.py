"""Attackers on noisy records: what each searches with, as points whose nearest one is the attacker's choice.

Every attacker is brought to the same form, so that one search serves all: a point for what the attacker knows of each
target, and a point for each released record.

`nearest` takes the released record nearest to the known values, each column divided by the original's standard
deviation. `predicted` knows the disclosed law of the noise and the distribution of the true values, and takes the
record whose likelihood ratio p(z | known values) / p(z) is highest; for normal data and noise that is the record whose
predicted true values are nearest in the metric of their error, N(y*; ŷ, V). `averaging:M` has M releases with
independent noise and takes the nearest mean; `predicted:M` does as `predicted` with the means. `imprecise:s` knows each
continuous value only up to a normal error of s standard deviations. `household` knows who lives with whom and does as
`predicted` with differences from the household's mean, in columns whose noise a household shares.

A likelihood ratio becomes a distance so. Up to a constant of the target, −2 log ratio is (y* − z)'Ω⁻¹(y* − z) + w, with
the noise covariance Ω and w = 2 log p(z). A clipped or exchanged 0/1 column with costs c(0), c(1) gives instead
(y* − u)² + c(0) − u² with u = (1 − c(1) + c(0)) / 2, and one with more levels a coordinate for each. A weight w is one
more coordinate √(w − min w), zero for the target. That coordinate had better be small, or the search is slow: so the
part of w that normal values would give is completed to the square (y* − ŷ)'V⁻¹(y* − ŷ), V⁻¹ = S⁻¹ + Ω⁻¹.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.rows import row_hash
from sfumato.measures.risk.attackers.error_law import ErrorLaw

__all__ = ["Attack", "LikelihoodSpace", "joint_log_density", "lifted", "likelihood_space", "posterior"]

Floats = NDArray[np.float64]
Kind = Literal["nearest", "predicted", "averaging", "imprecise", "household"]

_EXACT = 1e8  # an sd of a column without noise in sds of what it is taken to have: many neighbours come within 1e-3
_MOST_PATTERNS = 64
_MOST_LEVELS = 8  # each is a coordinate of the search
_RARE = 70.0  # −2 log of a likelihood that counts as never


@dataclass(frozen=True)
class Attack:
    """A named attack.

    Parameters
    ----------
    kind
        `nearest`, `predicted`, `averaging`, `imprecise` or `household`.
    number
        Releases that are averaged, or standard deviations that knowledge is off by.

    Examples
    --------
    >>> str(Attack.parse("averaging:5"))
    'averaging:5'
    """

    kind: Kind
    number: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Attack:
        """Read `nearest`, `predicted`, `averaging:5`, `imprecise:0.1` or `household`.

        Raises
        ------
        DataError
            Where it is none of these.
        """
        kind, _, number = text.strip().partition(":")
        try:
            if kind in ("nearest", "predicted", "household") and not number:
                return cls(kind)  # type: ignore[arg-type]
            if kind in ("averaging", "predicted") and 2 <= int(number) <= 1000:
                return cls(kind, int(number))  # type: ignore[arg-type]
            if kind == "imprecise" and 0 < float(number) < np.inf:
                return cls("imprecise", float(number))
        except ValueError:
            pass
        raise DataError(
            f"There is no attack {text.strip()!r}. Attacks: nearest, predicted, averaging:M and predicted:M "
            "(M releases, 2 to 1000), imprecise:S (knowledge off by S standard deviations), household "
            "(differences between members who share their noise)."
        )

    def __str__(self) -> str:
        return f"{self.kind}:{self.number:g}" if self.number else self.kind


def likelihood_space(known: Floats, released: Floats, law: ErrorLaw, true: Floats) -> tuple[Floats, Floats]:
    """Points in which the nearest released record has the highest likelihood ratio for what is known of a target.

    Parameters
    ----------
    known
        What the attacker knows of each target, shape (m, p), NaN where nothing.
    released
        Released values, shape (n, p), NaN where missing.
    law
        How released values arise.
    true
        True values, shape (n, p), from which the attacker's knowledge of the population is taken.

    Returns
    -------
    two ndarrays, shapes (m, q) and (n, q)
    """
    space = LikelihoodSpace.of(law, true)
    points, weight = space.points(released)
    targets = space.targets(known)
    return targets, lifted(points, weight, float(weight.min()) if len(weight) else 0.0)


@dataclass(frozen=True)
class LikelihoodSpace:
    """Where the nearest released record has the highest likelihood ratio, as far as this hangs on no single record.

    Parameters
    ----------
    law
        How released values arise.
    middle
        Mean of the true values of each column.
    plain
        Columns whose likelihood is a plain square.
    normal
        What normal values with noise would give in these.
    population
        True values, as the attacker knows them.

    Examples
    --------
    >>> from sfumato.measures.risk.attackers.error_law import observed_law
    >>> true, noisy = np.array([[0.0], [1.0], [5.0]]), np.array([[0.1], [0.9], [5.2]])
    >>> space = LikelihoodSpace.of(observed_law(["x"], true, noisy), true)
    >>> space.targets(true).shape, lifted(*space.points(noisy), 0.0).shape
    ((3, 2), (3, 2))
    """

    law: ErrorLaw
    middle: Floats
    plain: list[int]
    normal: _Normal | None
    population: _Population

    @classmethod
    def of(cls, law: ErrorLaw, true: Floats) -> LikelihoodSpace:
        """The space for a law and true values, shape (n, p), from which knowledge of the population is taken."""
        plain = [j for j in range(true.shape[1]) if not _embedded(law, j)]
        normal = _Normal.of(true[:, plain], law.covariance[np.ix_(plain, plain)]) if plain else None
        return cls(law, _moments(true)[0], plain, normal, _population(true, law.marginal or law))

    def targets(self, known: Floats) -> Floats:
        """Points of what the attacker knows of targets, shape (m, p), NaN where nothing."""
        y, parts = np.where(np.isnan(known), self.middle, known), []
        if self.normal is not None:
            parts.append((y[:, self.plain] - self.middle[self.plain]) @ self.normal.whiten.T)
        parts += [_embed_target(y[:, j], self.law, j) for j in self._embedded]
        return np.column_stack([*parts, np.zeros(len(y))])

    def points(self, released: Floats) -> tuple[Floats, Floats]:
        """Points of released records, shape (n, p), NaN where missing, without their last coordinate; their weights."""
        z, parts = np.where(np.isnan(released), self.middle, released), []
        weight = 2 * _log_sum(_log_parts(released, self.law.marginal or self.law, self.population))
        if self.normal is not None:
            apart = z[:, self.plain] - self.middle[self.plain]
            parts.append(apart @ (self.normal.whiten @ self.normal.predict).T)
            weight += self.normal.squared(apart)
        for j in self._embedded:
            point, own = _embed_point(z[:, j], self.law, j)
            parts.append(point)
            weight += own
        return np.column_stack([np.zeros((len(z), 0)), *parts]), weight

    @property
    def _embedded(self) -> list[int]:
        return [j for j in range(len(self.middle)) if j not in self.plain]


def lifted(points: Floats, weight: Floats, least: float) -> Floats:
    """Points with their weights as one more coordinate; `least` is the smallest weight that there is.

    Examples
    --------
    >>> lifted(np.zeros((2, 1)), np.array([1.0, 5.0]), 1.0).tolist()
    [[0.0, 0.0], [0.0, 2.0]]
    """
    return np.column_stack([points, np.sqrt(np.maximum(weight - least, 0.0))])


def _embedded(law: ErrorLaw, j: int) -> bool:
    """Whether a column's likelihood is no plain square: exchanged categories, and few values clipped or rounded."""
    if law.exchange[j] is not None:
        return True
    support = law.support[j]
    if support is None or law.covariance[j, j] == 0 or not 2 <= len(support) <= _MOST_LEVELS:
        return False
    return law.bounds[j] is not None or law.rounded[j] is not None or law.distribution[j] != "gaussian"


@dataclass(frozen=True)
class _Normal:
    """What normal values with noise would give: the prediction, its metric, and the released covariance."""

    whiten: Floats
    predict: Floats
    precision: Floats

    @classmethod
    def of(cls, true: Floats, noise: Floats) -> _Normal:
        """A column without noise gets so little of it that it is matched before all others."""
        whole = true[~np.isnan(true).any(axis=1)]
        apart = whole - whole.mean(axis=0) if len(whole) else np.zeros_like(whole)
        variance = (apart**2).sum(axis=0) / max(len(whole), 1)
        noisy = np.diagonal(noise) > 0
        variance = np.where(variance > 0, variance, np.where(noisy, np.diagonal(noise), 1.0))  # constant: any unit
        values, vectors = np.linalg.eigh(noise)
        values = np.maximum(values, _EXACT**-2 * 1e-3 * max(float(values.max()), 1e-300))
        least = np.where(noisy, 0.0, variance / _EXACT**2)
        omega = vectors @ np.diag(values) @ vectors.T + np.diag(least)
        s = apart.T @ apart / max(len(whole), 1) + np.diag(1e-9 * variance)
        precision = np.linalg.inv(s + omega)
        metric = np.linalg.inv(s) + np.linalg.inv(omega)
        return cls(np.linalg.cholesky((metric + metric.T) / 2).T, s @ precision, precision)

    def squared(self, apart: Floats) -> Floats:
        """(z − m)'S_z⁻¹(z − m) of each record, shape (n,)."""
        return np.asarray(np.einsum("ij,jk,ik->i", apart, self.precision, apart))


def _embed_target(y: Floats, law: ErrorLaw, j: int) -> Floats:
    """Coordinates of targets for a column with few levels."""
    levels = _levels(law, j)
    if len(levels) == 2:
        return np.asarray(((y - levels[0]) / (levels[1] - levels[0]))[:, None])
    return np.asarray(y[:, None] == levels, dtype=np.float64)


def _embed_point(z: Floats, law: ErrorLaw, j: int) -> tuple[Floats, Floats]:
    """Coordinates of released records for a column with few levels, and what their weights gain."""
    levels = _levels(law, j)
    cost = np.column_stack([np.minimum(-2 * np.log(np.maximum(_density(z, v, law, j), 1e-300)), _RARE) for v in levels])
    if len(levels) == 2:
        u = (1 - cost[:, 1] + cost[:, 0]) / 2
        return u[:, None], cost[:, 0] - u**2
    return -cost / 2, -np.sum(cost**2, axis=1) / 4


def _levels(law: ErrorLaw, j: int) -> Floats:
    exchange, support = law.exchange[j], law.support[j]
    if exchange is not None:
        return exchange.levels
    assert support is not None
    return support


def _density(z: Floats, x: float, law: ErrorLaw, j: int) -> Floats:
    """f(z | x) of one column at a true value x, shape (n,): a density, or a mass where values are clipped."""
    exchange = law.exchange[j]
    if exchange is None:
        return _noisy(z, x, law, j)
    at = np.flatnonzero(exchange.levels == x)
    chances = [(x, 1.0)]  # a value that is none of the levels stays as it is
    if len(at):
        chances = [(float(v), float(c)) for v, c in zip(exchange.released, exchange.matrix[at[0]], strict=True)]
    out = np.zeros(len(z))
    for value, chance in chances:
        if chance > 0:
            out += chance * (_noisy(z, value, law, j) if law.covariance[j, j] > 0 else z == value)
    return out


def _noisy(z: Floats, x: float, law: ErrorLaw, j: int) -> Floats:
    """Density, or mass, of a column's noise about x, shape (n,)."""
    from sfumato.kernels.likelihood.released import Law

    low, high = law.bounds[j] or (None, None)
    ends = -np.inf if low is None else low, np.inf if high is None else high
    how = Law(law.distribution[j], *ends, law.rounded[j] or 0.0)
    sd = np.sqrt(law.covariance[j, j])
    return np.asarray(np.exp(how.log_density(z[:, None], np.array([x]), sd[None])))[:, 0]


@dataclass(frozen=True)
class _Population:
    """True values as a mixture: a pattern of the discrete columns, and normal continuous ones about its mean."""

    discrete: list[int]
    continuous: list[int]
    patterns: Floats
    share: Floats
    mean: Floats
    spread: Floats


def _population(true: Floats, law: ErrorLaw) -> _Population:
    p = true.shape[1]
    few = [j for j in range(p) if law.noisy[j] and (law.support[j] is not None or law.exchange[j] is not None)]
    whole = true[~np.isnan(true).any(axis=1)]
    if not len(whole):  # nothing is seen together with everything else: each column by itself
        middle, spread = _moments(true)
        return _Population([], list(range(p)), np.zeros((1, 0)), np.ones(1), middle[None, :], np.diag(spread))
    patterns, inverse, counts = np.unique(whole[:, few], axis=0, return_inverse=True, return_counts=True)
    if len(patterns) > _MOST_PATTERNS:
        few = []
        patterns, inverse, counts = np.zeros((1, 0)), np.zeros(len(whole), dtype=np.intp), np.array([len(whole)])
    inverse = inverse.reshape(-1)
    rest = [j for j in range(p) if j not in few]
    x = whole[:, rest]
    mean = (
        np.stack([np.bincount(inverse, x[:, j], len(patterns)) / counts for j in range(len(rest))], axis=1)
        if rest
        else (np.zeros((len(patterns), 0)))
    )
    apart = x - mean[inverse]
    spread = apart.T @ apart / max(len(x), 1)
    return _Population(few, rest, patterns, counts / max(len(whole), 1), mean, spread)


def _moments(true: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the values that each column has, two arrays of shape (p,); 0 where it has none."""
    have = ~np.isnan(true)
    count = np.maximum(have.sum(axis=0), 1)
    middle = np.where(have, true, 0.0).sum(axis=0) / count
    return middle, np.square(np.where(have, true - middle, 0.0)).sum(axis=0) / count


def joint_log_density(released: Floats, law: ErrorLaw, true: Floats) -> Floats:
    """log p(z) of each released record under the law and the population of true values, shape (n,).

    Columns in which a record has no value take no part.
    """
    return np.asarray(_log_sum(_log_parts(released, law, _population(true, law))))


def posterior(released: Floats, law: ErrorLaw, true: Floats, column: int) -> tuple[Floats, Floats]:
    """What somebody who reads a released record can say of the true category of one column.

    Parameters
    ----------
    released, law, true
        As in `likelihood_space`.
    column
        Number of a noisy column with few levels.

    Returns
    -------
    levels, probability
        Shapes (L,) and (n, L).
    """
    population = _population(true, law)
    if column not in population.discrete:
        raise DataError("There are too many combinations of categories to tell what each record's would be.")
    parts = _log_parts(released, law, population)
    parts -= _log_sum(parts)[:, None]
    own = population.patterns[:, population.discrete.index(column)]
    levels = np.unique(own)
    return levels, np.column_stack([np.exp(parts[:, own == v]).sum(axis=1) for v in levels])


def _log_sum(parts: Floats) -> Floats:
    top = parts.max(axis=1)
    return np.asarray(top + np.log(np.exp(parts - top[:, None]).sum(axis=1)))


def _log_parts(z: Floats, law: ErrorLaw, population: _Population) -> Floats:
    """log of share × density of each pattern at each record, shape (n, patterns)."""
    out = np.tile(np.log(population.share), (len(z), 1))
    for i, j in enumerate(population.discrete):
        for x in np.unique(population.patterns[:, i]):
            log = np.log(np.maximum(_density(z[:, j], float(x), law, j), np.exp(-_RARE / 2)))
            out[:, population.patterns[:, i] == x] += np.where(np.isnan(z[:, j]), 0.0, log)[:, None]
    total = population.spread + law.covariance[np.ix_(population.continuous, population.continuous)]
    for rows, have in _same_columns(z[:, population.continuous]):
        for k in range(len(population.share)):
            out[rows, k] += _log_normal(
                z[rows][:, np.array(population.continuous)[have]] - population.mean[k, have], total[np.ix_(have, have)]
            )
    return out


def _same_columns(z: Floats) -> Iterator[tuple[NDArray[np.intp] | slice, NDArray[np.intp]]]:
    """Records that have the same columns, with those columns."""
    present = ~np.isnan(z)
    if not z.shape[1]:
        return
    if present.all():
        yield slice(None), np.arange(z.shape[1])
        return
    _, first, inverse = np.unique(row_hash(present.astype(np.float64)), return_index=True, return_inverse=True)
    for k, have in enumerate(present[first]):
        if have.any():
            yield np.flatnonzero(inverse.reshape(-1) == k), np.flatnonzero(have)


def _log_normal(apart: Floats, covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    use = values > 1e-12 * max(float(values.max(initial=0.0)), 1e-300)
    scaled = (apart @ vectors[:, use]) / np.sqrt(values[use])
    return np.asarray(-0.5 * np.sum(scaled**2, axis=1) - 0.5 * np.log(values[use]).sum())
