"""How far off a maximum of the likelihood is on average, to first order in the number of records."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.estimators.maximum_likelihood import Estimate
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.maximisation import inverse, roots

__all__ = ["MOST_RECORDS", "Scored", "bias_by_noise", "first_order_bias"]

Floats = NDArray[np.float64]

MOST_RECORDS = 100_000
"""With more records than this the bias is far below a standard error, and is not worked out."""
_FURTHEST = 0.5
"""Largest bias in standard errors, root mean square: one that is said to be larger is no first order any more."""
_STEP = 0.05
"""Standard errors between points whose scores are compared: third derivatives need longer steps than second ones."""


class Scored(Protocol):
    """A likelihood that tells the score of each record."""

    @property
    def record_weight(self) -> Floats:
        """How many records each row of the scores stands for, shape (n,)."""

    def scores(self, theta: Floats) -> Floats:
        """The score of each record, shape (n, P)."""


def first_order_bias(model: Scored, theta: Floats, information: Floats) -> Floats:
    """Estimate the bias of a maximum of the likelihood from scores around it.

    Where effects are strong, noise is strong and the hidden number is skewed, few estimates are far too large and the
    mean of estimates is above the truth by several percent with thousands of records. That is the curvature of the
    likelihood, and can be taken off: the bias of the maximum is

        J⁻¹ (½ Σ_k D³l[r_k, r_k, ·] + Σ_i Σ_k (s_i · r_k) H_i r_k)

    with J the information, r_k the columns of a root of its inverse, s_i and H_i the score and second derivatives of
    record i. Both sums are differences of the scores along each r_k: two looks at the data for each parameter.

    Parameters
    ----------
    model
        The likelihood, without sampling weights.
    theta : ndarray, shape (P,)
        Where it is largest.
    information : ndarray, shape (P, P)
        The observed one there.

    Returns
    -------
    ndarray, shape (P,)
        To be subtracted from `theta`; 0 where the scores are not finite around the maximum.

    References
    ----------
    Cox, Snell (1968), doi:10.1111/j.2517-6161.1968.tb00724.x. Kosmidis, Lunardon (2024), doi:10.1093/jrsssb/qkad083.

    Examples
    --------
    The rate of an exponential distribution: its maximum, 1 over the mean, is too large by a share of 1/n.

    >>> times = np.random.default_rng(1).exponential(size=1000)
    >>> class Exponential:
    ...     record_weight = np.ones(1000)
    ...     def scores(self, theta):
    ...         return 1 / theta - times[:, None]
    >>> rate = 1 / times.mean()
    >>> bias = first_order_bias(Exponential(), np.array([rate]), np.array([[1000 / rate**2]]))
    >>> round(float(1000 * bias[0] / rate), 1)
    1.0
    """
    weight = model.record_weight
    with np.errstate(all="ignore"):
        try:
            middle = model.scores(theta)
            pull = np.zeros(len(theta))
            for direction in roots(information).T:
                ahead, behind = (model.scores(theta + way * _STEP * direction) for way in (1, -1))
                pull += weight @ (ahead + behind - 2 * middle) / (2 * _STEP**2)
                pull += (weight * (middle @ direction)) @ (ahead - behind) / (2 * _STEP)
        except (ArithmeticError, np.linalg.LinAlgError):
            return np.zeros(len(theta))
    if not np.isfinite(pull).all():
        return np.zeros(len(theta))
    covariance, _ = inverse(information)
    return np.asarray(covariance @ pull)


def bias_by_noise(found: Estimate, n: int) -> Floats:
    """What noise on hidden numbers adds to the bias of the coefficients, shape (p + e,).

    Of the bias it is the part of the information that the noise took: without noise nothing, so that the maximum stays
    that of the plain fit.

    Parameters
    ----------
    found
        The maximum, without sampling weights, clusters or prior.
    n
        How many records it is of: with more than `MOST_RECORDS` the bias is far below a standard error.

    Returns
    -------
    ndarray
        To be subtracted. It is made smaller as a whole where it is more than half a standard error in the root mean
        square; 0 where no number is hidden.
    """
    count = len(found.complete)
    if not isinstance(found.model, GaussianMixture) or n > MOST_RECORDS:
        return np.zeros(count)
    bias = first_order_bias(found.model, found.theta, found.information)[:count]
    wide, _ = inverse(found.information)
    precision, _ = inverse(wide[:count, :count])
    length = math.sqrt(max(float(bias @ precision @ bias) / count, 0.0))
    added = bias - found.complete @ precision @ bias
    return np.asarray(added * min(1.0, _FURTHEST / max(length, 1e-300)))
