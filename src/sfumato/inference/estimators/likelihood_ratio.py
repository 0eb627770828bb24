"""Likelihood-ratio intervals, for coefficients whose likelihood is too lopsided for estimate ± standard errors.

With l_p(b) the largest log-likelihood over all other parameters while one coefficient is held at b, the interval holds
every b with 2 (l_max − l_p(b)) below a quantile. Its ends are sought along the signed root of that, r(b), which is
nearly straight where the likelihood is nearly normal; its slope −l_p'(b) / r(b) costs nothing, for l_p'(b) is the score
of the coefficient where the others are at their best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sfumato.inference.estimators.maximum_likelihood import Estimate
from sfumato.inference.result import Fit
from sfumato.kernels.likelihood.maximisation import Value, bfgs, inverse, newton
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.threads import one_thread
from sfumato.progress import Progress, quiet

__all__ = ["INFLATED", "profile_intervals", "with_profile"]

Floats = NDArray[np.float64]

INFLATED = 2.0
"""Where the noise made a standard error at least this many times as large, Wald's intervals are not trusted."""
_TOUCHED = 1.2
"""Least such ratio of a coefficient that counts as touched by the noise."""
_TOLERANCE = 0.02
"""An end is found where the signed root is this near to its quantile; a step of Newton's method then sets it right."""
_JUMP = 1e-3
"""A bracket narrower than this, in standard errors, holds a jump."""
_SETTLED = 3e-3
"""The other parameters are at their best where their next step is below this, in standard errors."""
_DAMPING = 1e-3
"""Information added to each pattern's log-odds when steps are taken: a standard deviation of about 30."""
_MOST_POINTS = 25
_MOST_STEPS = 60
_HALVINGS = 3
_FURTHEST = 50.0
"""An end further from the estimate than this many times Wald's is taken not to exist."""


@dataclass(frozen=True)
class _Point:
    """The likelihood's maximum with one coefficient held: all parameters, the signed root, and the root's slope."""

    theta: Floats
    root: float
    slope: float
    settled: bool


def profile_intervals(
    found: Estimate,
    terms: Sequence[int],
    level: float = 0.95,
    n: int = 0,
    degrees: float = math.inf,
    progress: Progress = quiet,
    bias: Floats | None = None,
) -> Floats:
    """Find the ends of likelihood-ratio intervals, and p-values of no effect.

    Parameters
    ----------
    found
        The maximum of a likelihood without weights, clusters or prior.
    terms
        Which coefficients, by their place in `found.theta`.
    level
        Of the intervals, between 0 and 1.
    n, degrees
        Rows and degrees of freedom of a linear model, whose quantile then is that of Student's t: without noise the
        intervals are those of least squares. Infinite degrees stand for a chi-square quantile.
    progress
        Told of every coefficient.
    bias : ndarray, shape (P,), optional
        What was taken off the estimates; the intervals move with them.

    Returns
    -------
    ndarray, shape (len(terms), 3)
        Lower end, upper end, p-value. An end is −∞ or +∞ where the likelihood does not fall below the cut on that side,
        as far as fifty times the distance of Wald's end; a row is NaN where the maximum over the other parameters could
        not be found.

    References
    ----------
    Venzon and Moolgavkar (1988), Applied Statistics 37, 87-94, doi:10.2307/2347496. Cox and Hinkley (1974), Theoretical
    Statistics, section 9.3, doi:10.1201/b14832.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.inference.problem import Problem
    >>> from sfumato.inference.columns import split_columns
    >>> from sfumato.inference.estimators.maximum_likelihood import maximum_likelihood
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.inference.outcome import read_outcome
    >>> table = pl.DataFrame({"y": [1.0] * 9 + [0.0]})
    >>> outcome = read_outcome(table, Codebook(), "y", "probit", [])
    >>> problem = Problem(split_columns((), True, {}, []), {}, outcome, np.ones(10))
    >>> found = maximum_likelihood(problem, np.zeros(1), np.zeros(0))
    >>> low, high, p = profile_intervals(found, [0])[0]
    >>> [round(float(v), 3) for v in ndtr([low, high])]  # of 9 successes in 10
    [0.628, 0.994]
    """
    cut = _cut(level, n, degrees)
    rows = []
    with one_thread():
        for number, j in enumerate(terms):
            progress(f"interval {number + 1} of {len(terms)}", number / len(terms))
            line = _Profile(found, j)
            off = 0.0 if bias is None else float(bias[j])
            ends = [line.end(side, math.sqrt(cut)) - off for side in (-1.0, 1.0)]
            rows.append([*ends, _p_value(line.root_at(off) ** 2, n, degrees)])
    table = np.array(rows).reshape(-1, 3)
    table[np.isnan(table).any(axis=1)] = np.nan
    return table


def _cut(level: float, n: int, degrees: float) -> float:
    """The ratio 2 (l_max − l_p) at the ends; of a linear model that which t has there: n log(1 + t² / degrees)."""
    tail = (1 + level) / 2
    if math.isinf(degrees):
        return float(ndtri(tail)) ** 2
    return n * math.log1p(float(stdtrit(degrees, tail)) ** 2 / degrees)


def _p_value(ratio: float, n: int, degrees: float) -> float:
    """Two-sided p-value of a ratio, by the same relation."""
    if math.isinf(degrees):
        return 2 * float(ndtr(-math.sqrt(ratio)))
    return 2 * float(stdtr(degrees, -math.sqrt(degrees * math.expm1(ratio / n))))


class _Profile:
    """The profile of one coefficient, and the points of it that were looked at."""

    def __init__(self, found: Estimate, j: int) -> None:
        self.found, self.j = found, j
        covariance, _ = inverse(found.information)
        self.variance = float(covariance[j, j])
        self.se = math.sqrt(max(self.variance, 1e-300))
        self.path = covariance[:, j] / max(self.variance, 1e-300)  # how the others move with the coefficient
        self.centre = _Point(found.theta, 0.0, 1 / self.se, True)
        self.points = [self.centre]
        self.rest = np.arange(len(found.theta)) != j
        self.model = found.model
        first = self.model.E.shape[1] + self.model.response.extra
        alphas = np.arange(first, first + len(self.model.Q) - 1)
        self.damping = np.zeros_like(found.information)
        self.damping[alphas, alphas] = _DAMPING

    def end(self, side: float, z: float) -> float:
        """Where the signed root reaches z on one side: a bracketed Newton's method from Wald's end."""
        middle = float(self.centre.theta[self.j])
        inner, outer = self.centre, None
        distance = z * self.se
        furthest = _FURTHEST * distance
        for _ in range(_MOST_POINTS):
            point = self.at(middle + side * distance, inner, outer, z)
            short = z - side * point.root
            if not point.settled and not short > 0:
                return math.nan
            if point.settled and abs(short) <= _TOLERANCE:
                return middle + side * distance + (side * short / point.slope if point.slope > 0 else 0.0)
            inner, outer = (point, outer) if short > 0 else (inner, point)
            if outer is not None and abs(float(outer.theta[self.j] - inner.theta[self.j])) < _JUMP * self.se:
                outer = None  # a jump: the others were at a lesser peak there; go on from within
            if outer is None and distance >= furthest:
                return side * math.inf
            step = short / point.slope if point.slope > 0 else math.inf
            distance = min(self._next(middle, side, distance + step, inner, outer, z), furthest)
        return math.nan

    def _next(
        self, middle: float, side: float, proposed: float, inner: _Point, outer: _Point | None, z: float
    ) -> float:
        """Newton's next distance, kept within the bracket; while there is none, no more than 2.5 times as far."""
        low = side * (float(inner.theta[self.j]) - middle)
        if outer is None:
            least, most = (1.1 * low, 2.5 * low) if low > 0 else (0.0, math.inf)
            return min(max(proposed, least), most)
        high = side * (float(outer.theta[self.j]) - middle)
        if low < proposed < high:
            return proposed
        share = (z - side * inner.root) / (side * (outer.root - inner.root))
        return low + min(max(share, 0.1), 0.9) * (high - low)

    def at(
        self, b: float, near: _Point, other: _Point | None = None, enough: float = 0.0, halvings: int = _HALVINGS
    ) -> _Point:
        """The maximum with the coefficient held at b, sought from a point of the profile nearby.

        Two starts are tried: the nearby point, and the line through it and another one; then the way is gone in halves.
        A root below `enough` in size is good as it is, for the maximum can only make it smaller.
        """
        gap = b - float(near.theta[self.j])
        path = self.path
        if near is not self.centre or other is not None:
            other = other or self.centre
            path = (other.theta - near.theta) / (other.theta[self.j] - near.theta[self.j])
        starts = np.where(self.rest, [near.theta + gap * path, near.theta], b)
        first = int(self._height(starts[0]) < self._height(starts[1]))
        for start in (starts[first], starts[1 - first]):
            point = self._climb(b, start)
            if point.settled or abs(point.root) < enough:
                break
        else:
            if halvings:
                half = self.at(b - gap / 2, near, None, enough, halvings - 1)
                point = self.at(b, half, near, enough, halvings - 1) if half.settled else point
        self.points.append(point)
        return point

    def _climb(self, b: float, start: Floats) -> _Point:
        """The maximum with the coefficient held at b, from one start."""
        seen: list[tuple[Floats, Value]] = []

        def held(omega: Floats) -> Value:
            theta = np.insert(omega, self.j, b)
            value = self._look(theta)
            seen.append((theta, value))
            rest = value.information[np.ix_(self.rest, self.rest)]
            return Value(value.log_likelihood, value.gradient[self.rest], rest)

        with np.errstate(all="ignore"):
            if isinstance(self.model, Mixture):
                top, _ = newton(held, start[self.rest], _SETTLED, _MOST_STEPS)
            else:
                top = bfgs(held, start[self.rest], _SETTLED, _MOST_STEPS)
        theta, value = max(seen, key=lambda s: s[1].log_likelihood)
        if math.isinf(value.log_likelihood):
            return _Point(start, math.nan, math.nan, False)
        side = 1.0 if b > self.centre.theta[self.j] else -1.0
        root = side * math.sqrt(max(2 * (self.found.log_likelihood - value.log_likelihood), 0.0))
        slope = -float(value.gradient[self.j]) / root if root else 1 / self.se
        return _Point(theta, root, slope, top.converged)

    def _height(self, theta: Floats) -> float:
        try:
            with np.errstate(all="ignore"):
                height = float(self.model.log_likelihoods(theta[None])[0])
        except (OverflowError, np.linalg.LinAlgError):
            return -math.inf
        return height if math.isfinite(height) else -math.inf

    def _look(self, theta: Floats) -> Value:
        """The likelihood and an information; impossible where far-off parameters overflow.

        Steps of the patterns' log-odds are damped: those of patterns that hardly occur have next to no information, and
        would otherwise run off.
        """
        try:
            if isinstance(self.model, Mixture):
                seen = self.model.look(theta)
                value = Value(seen.log_likelihood, seen.gradient, seen.information + self.damping)
            else:
                log_l, gradient, _ = self.model.evaluate(theta, False)
                value = Value(log_l, gradient, self.found.information + self.damping)
            if math.isfinite(value.log_likelihood) and all(np.isfinite(part).all() for part in value[1:]):
                return value
        except (OverflowError, np.linalg.LinAlgError):
            pass
        return Value(-math.inf, np.zeros(len(theta)), np.eye(len(theta)))

    def root_at(self, b: float) -> float:
        """The signed root where the coefficient is b, from the nearest point."""
        near = min((p for p in self.points if p.settled), key=lambda p: abs(float(p.theta[self.j]) - b))
        point = self.at(b, near)
        return point.root if point.settled else math.nan


def with_profile(fit: Fit, found: Estimate, progress: Progress = quiet, bias: Floats | None = None) -> Fit:
    """Give a fit likelihood-ratio intervals where the noise is so strong that Wald's go wrong.

    An estimate that came out near zero also has a small standard error then, so that Wald's interval misses a larger
    truth far more often than a smaller one, and exact covariates that are related to the noisy one miss the other way.
    Where one coefficient's standard error was inflated to `INFLATED` times or more, all that the noise has touched get
    likelihood-ratio intervals: which ones to take must not hang on how a single estimate came out.

    Parameters
    ----------
    fit
        By method `ml`, without weights, clusters, prior or random effects.
    found
        Its maximum.
    progress
        Told of every coefficient.
    bias
        What was taken off the estimates.

    Returns
    -------
    Fit
        With `profile` and notes, or as it was where the noise is not that strong.
    """
    inflation = np.nan_to_num(fit.inflation, nan=1.0, posinf=np.inf)
    if not fit.converged or inflation.max(initial=1.0) < INFLATED:
        return fit
    terms = np.flatnonzero((inflation >= _TOUCHED) & (fit.se > 0))
    profile = np.full((len(fit.terms), 3), np.nan)
    profile[terms] = profile_intervals(found, terms.tolist(), fit.level, fit.n, fit.degrees, progress, bias)
    return replace(fit, profile=profile, notes=(*fit.notes, *_notes(fit.terms, terms, profile)))


def _notes(names: Sequence[str], terms: NDArray[np.int64], profile: Floats) -> list[str]:
    """What is to be said of the intervals."""
    lost = [names[j] for j in terms if np.isnan(profile[j]).any()]
    done = [names[j] for j in terms if names[j] not in lost]
    notes = []
    if done:
        notes.append(
            "The noise is so strong that estimates ± standard errors would mislead: intervals and p-values of "
            f"{', '.join(done)} are those of likelihood ratios, which need not lie evenly around the estimate."
        )
    for side, word in enumerate(("lower", "upper")):
        open_ = [names[j] for j in terms if np.isinf(profile[j, side])]
        if open_:
            notes.append(
                f"The data set no {word} bound on {', '.join(open_)}: the noise is too strong to rule out any value on "
                "that side."
            )
    if lost:
        notes.append(
            f"The likelihood ratio could not be followed for {', '.join(lost)}: the noise is too strong, and intervals "
            "of estimates ± standard errors stand there, which may be too short."
        )
    return notes
