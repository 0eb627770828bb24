"""Priors of a Bayesian fit: so wide that the data speak, and proper whatever the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.inference.estimators.maximum_likelihood import Estimate
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.response import Linear

__all__ = ["SLOPE", "WIDE", "Prior", "build_prior"]

Floats = NDArray[np.float64]

SLOPE = 2.5
"""Standard deviation of the prior on a standardised coefficient; the scale of Gelman et al. (2008),
doi:10.1214/08-AOAS191."""
WIDE = 10.0
"""Of the prior on an intercept, a threshold, or the mean of a hidden covariate, in standard deviations."""
_ODDS = 2.5
"""Standard deviation of the prior on the log odds by which hidden covariates hang on a standardised exact one."""
_NARROW = 0.05
"""A column's true values are taken to spread by this share of its released ones at least."""


@dataclass(frozen=True)
class Prior:
    """A prior on the P coordinates of a posterior: some linear combinations are normal, all else is flat.

    Parameters
    ----------
    combinations : ndarray, shape (m, P)
        Linear combinations of the coordinates that are normal, independently of each other.
    centre, sd : ndarray, shape (m,)
        Their means and standard deviations.

    Examples
    --------
    >>> prior = Prior(np.array([[1.0, -1.0]]), np.zeros(1), np.full(1, 2.0))
    >>> prior.log_density(np.array([[5.0, 3.0], [0.0, 4.0]])).tolist()
    [-0.5, -2.0]
    """

    combinations: Floats
    centre: Floats
    sd: Floats

    def log_density(self, v: Floats) -> Floats:
        """Up to a constant, shape (D, P) → (D,)."""
        gap = (v @ self.combinations.T - self.centre) / self.sd
        return np.asarray(-0.5 * (gap**2).sum(axis=1))

    def gradient(self, v: Floats) -> Floats:
        """Of the log-density, shape (P,)."""
        return np.asarray(-self.combinations.T @ ((self.combinations @ v - self.centre) / self.sd**2))

    @property
    def information(self) -> Floats:
        """Minus the second derivatives of the log-density, shape (P, P)."""
        half = self.combinations / self.sd[:, None]
        return np.asarray(half.T @ half)


def build_prior(
    problem: Problem, found: Estimate, terms: Sequence[str], given: Mapping[str, tuple[float, float]]
) -> Prior:
    """The prior for a model, in its `Coordinates`: normal where one was given, else wide.

    Parameters
    ----------
    problem
        The model with its data.
    found
        What maximum likelihood found; of it the spread of the true covariates is used.
    terms
        Names of coefficients and thresholds, shape (s,).
    given
        Mean and standard deviation by term.

    Raises
    ------
    DataError
        For a prior on an unknown term, or one whose mean is not finite or whose standard deviation is not positive.
    """
    unknown = [n for n in given if n not in terms]
    if unknown:
        raise DataError(
            f"There is a prior on {', '.join(unknown)}, no term of the model. Write terms as a fit's table has them."
        )
    if not all(np.isfinite(mean) and 0 < sd < np.inf for mean, sd in given.values()):
        raise DataError("The mean of a prior must be a number, and its standard deviation positive.")
    model = found.model
    p, e = model.E.shape[1], model.response.extra
    rows, centre, sd = _of_coefficients(problem, found)
    for term, (mean, spread) in given.items():
        j = list(terms).index(term)
        rows[j], centre[j], sd[j] = np.eye(model.size)[j], mean, spread
    gamma, K = p + e, len(model.Q)
    odds = np.eye(model.size)[gamma + K - 1 : gamma + model.patterns.count]
    patterns = np.eye(model.size)[gamma : gamma + K - 1]
    parts = [
        (rows, centre, sd),
        (patterns, np.zeros(K - 1), np.ones(K - 1)),
        (odds, np.zeros(len(odds)), np.full(len(odds), _ODDS)),
    ]
    if isinstance(model, GaussianMixture):
        parts.append(_of_means(problem, model))
    combinations, centres, sds = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Prior(combinations, centres, sds)


def _of_coefficients(problem: Problem, found: Estimate) -> tuple[Floats, Floats, Floats]:
    """Normal priors on slopes, and on intercept or thresholds at the mean of the covariates."""
    model = found.model
    design = problem.naive_design()
    constant = np.array([not parts for parts in problem.columns.parts], dtype=bool)
    p, linear = len(constant), isinstance(model.response, Linear)
    spread = np.fmax(found.spread, _NARROW * np.nanstd(design, axis=0))
    spread[constant] = 1.0
    middle = np.where(constant, 1.0, np.nanmean(design, axis=0))
    y = problem.outcome.values
    at = float(np.nanmean(y)) if linear and constant.any() else 0.0
    unit = float(np.sqrt(np.nanmean((y - at) ** 2))) if linear else 1.0
    thresholds = 0 if linear else model.response.extra
    rows = np.eye(model.size)[: p + thresholds]
    rows[:p][constant, :p] = middle
    rows[p:, :p] = -middle
    centre = np.concatenate([np.where(constant, at, 0.0), np.zeros(thresholds)])
    sd = unit * np.where(constant, WIDE, SLOPE / spread)
    return rows, centre, np.concatenate([sd, np.full(thresholds, WIDE)])


def _of_means(problem: Problem, model: GaussianMixture) -> tuple[Floats, Floats, Floats]:
    """Normal priors on the means of continuous covariates: around that of the released values, ten of their sds."""
    c, t, q = model.components, model.T.shape[1], model.patterns.w.shape[1]
    z = np.column_stack([covariate.values for covariate in problem.continuous])
    first = model.E.shape[1] + model.response.extra + model.patterns.count
    rows = np.eye(model.size)[first : first + (t + q) * c]
    centre = np.zeros((t + q, c))
    centre[: model.base_means] = np.nanmean(z, axis=0)  # the others are differences from these
    return rows, centre.ravel(), np.tile(WIDE * np.nanstd(z, axis=0), t + q)
