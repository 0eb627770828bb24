"""What a protected fit gives, to how many digits it is told, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from sfumato.errors import DataError

__all__ = [
    "SHARE",
    "SUBSAMPLE",
    "Noise",
    "ProtectedFit",
    "Reason",
    "Unfit",
    "drawn",
    "mu_of",
    "significant",
    "tau_of",
    "to_place_of",
]

Floats = NDArray[np.float64]
Noise = Floats | Callable[[float], Floats]
"""Standard normal numbers, or what gives them once the strength is known: other strengths must have other draws."""
Reason = Literal["separated", "singular", "constant", "few", "exact", "noise", "edge"]

SUBSAMPLE = 0.95
"""Share of records (or clusters) that a protected fit looks at."""
SHARE = 0.1
"""Share of an estimate's variance that its noise may have, where `tau_of` can choose freely."""
_LEAST, _MOST = 1.0, 10.0
_WIDE = 1.959963984540054

_SAYS: dict[Reason, str] = {
    "separated": "The columns of the model tell the responses apart with certainty: it has no finite estimate.",
    "singular": "The columns of the model determine each other among the records that it may use.",
    "constant": "The response is the same in all records that the model may use.",
    "few": "The model has too few records for its columns.",
    "exact": "The columns of the model determine the response.",
    "noise": "The model has too few records for the noise that protects them.",
    "edge": "The quantile lies too near the least or the largest values.",
}


def drawn(noise: Noise, tau: float) -> Floats:
    """The normal numbers for a strength."""
    return noise(tau) if callable(noise) else noise


class Unfit(DataError, ValueError):
    """A protected fit that cannot be had from these data; the text names no values.

    Parameters
    ----------
    reason
        `separated`, `singular`, `constant` (or no events), `few`, `exact`, `noise` or `edge`.

    Examples
    --------
    >>> Unfit("few").reason
    'few'
    """

    def __init__(self, reason: Reason) -> None:
        self.reason: Reason = reason
        super().__init__(_SAYS[reason])


def tau_of(n: int, share: float, bound: float) -> float:
    """Strength τ of the noise that has about `share` of an estimate's variance: one digit, from 1 to 10.

    Parameters
    ----------
    n
        Units (records, or clusters) of the fit.
    share
        Of the variance.
    bound
        How far one unit can move the standardised score, in units in which a unit's score has variance 1.

    Examples
    --------
    >>> tau_of(500, 0.1, 10.0), tau_of(40_000, 0.1, 10.0), tau_of(10**6, 0.1, 10.0)
    (1.0, 7.0, 10.0)
    """
    free = math.sqrt(n * share / (1 - share)) / bound
    return significant(min(max(free, _LEAST), _MOST), 1)


def mu_of(taus: Iterable[float], variances: Iterable[float] = ()) -> float:
    """How far apart noisy releases together hold two worlds that differ in one record, in standard deviations: μ.

    Whoever knows all other records tells the two apart with an AUC of at most Φ(μ / √2).

    Parameters
    ----------
    taus
        Strength of each distinct protected fit.
    variances
        Variance of each distinct perturbed table.

    Examples
    --------
    >>> mu_of([1.0, 2.0, 2.0], [2.0])
    1.4142135623730951
    """
    return math.sqrt(sum(tau**-2 for tau in taus) + sum(1 / v for v in variances))


def significant(x: float, digits: int) -> float:
    """Round to significant digits.

    Examples
    --------
    >>> significant(0.012345, 2), significant(996.0, 2)
    (0.012, 1000.0)
    """
    return float(f"{x:.{digits - 1}e}")


@dataclass(frozen=True)
class ProtectedFit:
    """Estimates with their standard errors.

    Parameters
    ----------
    kind
        What was fitted.
    estimate
        Shape (k,).
    se
        Standard errors, noise included, shape (k,).
    se_added
        The noise's part: what it would be without any other variation, shape (k,).
    n
        Units (records, or clusters) that the fit is made from.
    tau
        Strength of the noise; None for an unprotected fit.
    share_kept
        Share of units that the subsample holds; 1 for an unprotected fit.
    bound
        How far one unit can move the standardised score, as for `tau_of`. It comes from the data and is not told.

    Examples
    --------
    >>> fit = ProtectedFit("mean", np.array([1.23456]), np.array([0.0512]), np.array([0.0123]), 478, 1.0, 0.95, 4.0)
    >>> told = fit.rounded()
    >>> told.estimate.tolist(), told.se.tolist(), told.se_added.tolist(), told.n
    ([1.235], [0.051], [0.012], 480)
    >>> told.widening
    1.06
    """

    kind: str
    estimate: Floats
    se: Floats
    se_added: Floats
    n: int
    tau: float | None
    share_kept: float
    bound: float

    @property
    def low(self) -> Floats:
        """Lower ends of the 95% intervals."""
        return self.estimate - _WIDE * self.se

    @property
    def high(self) -> Floats:
        """Upper ends of the 95% intervals."""
        return self.estimate + _WIDE * self.se

    @property
    def p(self) -> Floats:
        """Two-sided p-values of a true value of 0 (normal)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(2 * ndtr(-np.abs(np.nan_to_num(self.estimate / self.se, nan=0.0))))

    @property
    def widening(self) -> float:
        """How many times as wide as without protection the intervals are, from what is told alone.

        Noise makes each interval se / √(se² − se_added²) times as wide, the subsample 1 / √share; the terms' geometric
        mean is given to two decimals. Records that lose weight because they lie far out cost a little more.
        """
        own = self.se**2 - self.se_added**2
        if self.tau is None or not (own > 0).any():
            return 1.0
        ratio = np.log(self.se[own > 0] ** 2 / own[own > 0]).mean() / 2
        return round(float(np.exp(ratio)) / math.sqrt(self.share_kept), 2)

    def rounded(self) -> ProtectedFit:
        """What is told: standard errors to 2 digits, estimates to the last of them, n to a multiple of 10."""
        estimate = [to_place_of(x, se) for x, se in zip(self.estimate, self.se, strict=True)]
        se, added = ([significant(x, 2) for x in figures] for figures in (self.se, self.se_added))
        n = 10 * round(self.n / 10)
        return replace(self, estimate=np.array(estimate), se=np.array(se), se_added=np.array(added), n=n)


def to_place_of(x: float, se: float) -> float:
    """Round to the place of a standard error's second digit; where there is none, to 3 digits."""
    if not (math.isfinite(se) and se > 0):
        return significant(x, 3)
    place = int(f"{se:.1e}".partition("e")[2]) - 1
    return round(float(x), -place) + 0.0
