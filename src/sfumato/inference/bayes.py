"""Bayesian fit: the likelihood of `ml` with a prior, sampled by importance around its mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.inference.estimate import Estimate
from sfumato.kernels.ascent import Value, inverse, newton
from sfumato.kernels.importance import importance_sample
from sfumato.kernels.mixture import Mixture

__all__ = ["Posterior", "sample_posterior"]

Floats = NDArray[np.float64]

_TRUSTED = 0.7


@dataclass(frozen=True)
class Posterior:
    """Draws of the posterior.

    Parameters
    ----------
    draws : ndarray, shape (D, s)
        Of the coefficients and further parameters shown, of equal weight.
    mean, covariance
        Of all weighted draws, shapes (s,) and (s, s).
    effective
        Effective number of draws.
    k
        Shape of the tail of the weights; below .7 the draws can be trusted.
    notes
        What a reader should know.
    """

    draws: Floats
    mean: Floats
    covariance: Floats
    effective: float
    k: float
    notes: tuple[str, ...]


def sample_posterior(
    found: Estimate,
    terms: Sequence[str],
    priors: Mapping[str, tuple[float, float]],
    number: int = 4000,
    seed: int = 0,
) -> Posterior:
    """Sample the posterior of a model that maximum likelihood has fitted.

    Priors are normal on the coefficients named and flat on everything else (log σ, thresholds, the covariates' model).

    Parameters
    ----------
    found
        What maximum likelihood found.
    terms
        Names of the coefficients, shape (s,).
    priors
        Mean and standard deviation by term.
    number
        Of draws.
    seed
        Of the draws, which hide nothing.

    Raises
    ------
    DataError
        For a prior on an unknown term, or with a standard deviation that is not positive.
    """
    unknown = [n for n in priors if n not in terms]
    if unknown:
        raise DataError(f"There is a prior on {', '.join(unknown)}, no term of the model. Terms: {', '.join(terms)}.")
    if any(sd <= 0 for _, sd in priors.values()):
        raise DataError("The standard deviation of a prior must be positive.")
    precision, centre = np.zeros(len(found.theta)), np.zeros(len(found.theta))
    for term, (middle, sd) in priors.items():
        precision[terms.index(term)], centre[terms.index(term)] = 1 / sd**2, middle
    mode, information = _mode(found, precision, centre)
    covariance, _ = inverse(information)

    def log_density(thetas: Floats) -> Floats:
        gap = thetas - centre
        return np.asarray(found.model.log_likelihoods(thetas) - 0.5 * (gap**2 @ precision))

    rng = np.random.default_rng(seed)
    sample = importance_sample(log_density, mode, covariance, number, rng)
    shown = sample.draws[:, : len(terms)]
    mean = sample.weights @ shown
    spread = (shown - mean).T @ ((shown - mean) * sample.weights[:, None])
    notes: tuple[str, ...] = ()
    if not sample.k < _TRUSTED:
        notes = (
            f"The importance weights have a heavy tail (Pareto k is above {_TRUSTED:g}): the posterior is far from "
            "normal, and these figures are not to be trusted. Compare with `ml`, or fit fewer hidden covariates.",
        )
    drawn = sample.resampled(number, rng)[:, : len(terms)]
    return Posterior(drawn, mean, spread, sample.effective, sample.k, notes)


def _mode(found: Estimate, precision: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """The mode with the prior, from the maximum without; the information of the likelihood is kept."""
    information = found.information + np.diag(precision)
    if not precision.any():
        return found.theta, information

    def look(theta: Floats) -> Value:
        gap = theta - centre
        if isinstance(found.model, Mixture):
            seen = found.model.look(theta, False)
            log_l, gradient = seen.log_likelihood, seen.gradient
        else:
            log_l, gradient, _ = found.model.evaluate(theta, False)
        return Value(log_l - 0.5 * float(gap**2 @ precision), gradient - precision * gap, information)

    top, _ = newton(look, found.theta, 1e-4, 50)
    return top.theta, information
