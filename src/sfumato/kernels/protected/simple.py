"""Protected quantiles and correlations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.protected.bounds import up, within
from sfumato.kernels.protected.fitted import SHARE, SUBSAMPLE, Noise, ProtectedFit, Unfit, drawn, tau_of

__all__ = ["correlation", "plain_correlation", "plain_quantile", "quantile"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_WIDE = 1.959963984540054
_TOP = 0.99
_STEPS = 50
_CLOSE = 1e-12
_FLAT = 1e-9
_STEP = 1e-3


def quantile(
    y: Floats,
    probability: float,
    count: int,
    *,
    keep: Mask,
    noise: Noise,
    tau: float | None = None,
    share: float = SHARE,
    share_kept: float = SUBSAMPLE,
) -> ProtectedFit:
    """Give a quantile: the mean of 2 · count + 3 neighbours around a noisy rank.

    One record moves Σ (1{y ≤ q} − p) by at most max(p, 1 − p); the rank is where that score is noise. The standard
    error comes from how far apart the quantiles are at the ends of the rank's own 95% interval.

    Parameters
    ----------
    y : ndarray, shape (n,)
        Values.
    probability
        Which quantile, p, between 0 and 1.
    count
        Largest group of records that nobody may be told of.
    keep, noise, tau, share, share_kept
        As for `regression`; one normal number.

    Raises
    ------
    Unfit
        `few`, or `edge` where neighbours are lacking on one side.

    Examples
    --------
    >>> fit = quantile(np.arange(1000.0), 0.5, 4, keep=np.ones(1000, dtype=bool), noise=np.array([1.0]), tau=1.0)
    >>> fit.estimate.tolist(), fit.bound
    ([500.0], 1.0)
    """
    if not 0 < probability < 1:
        raise DataError("A quantile's probability lies between 0 and 1.")
    ordered = np.sort(np.asarray(y, dtype=np.float64)[keep])
    n, side = len(ordered), count + 1
    if n <= 2 * side + 1:
        raise Unfit("few")
    most, sd = max(probability, 1 - probability), math.sqrt(probability * (1 - probability))
    strength = tau_of(n, share, most / sd) if tau is None else tau
    added = strength * most
    at = n * probability + added * float(drawn(noise, strength)[0])
    estimate = _around(ordered, at, side)
    se = _spread(ordered, at, math.sqrt(n * sd**2 + added**2), side)
    se_added = se * added / math.sqrt(n * sd**2 + added**2)
    return _one("quantile", (estimate, se, se_added), n, strength, share_kept, most / sd)


def _one(
    kind: str, figures: tuple[float, float, float], n: int, tau: float | None, share_kept: float, bound: float
) -> ProtectedFit:
    """A fit of one estimate with both its standard errors."""
    estimate, se, se_added = (np.array([x]) for x in figures)
    return ProtectedFit(kind, estimate, se, se_added, n, tau, share_kept, bound)


def _around(ordered: Floats, rank: float, side: int, inner: bool = False) -> float:
    """Mean of the neighbours of a rank (counted from 1, a half between two values); from the end inwards if need be."""
    middle = math.ceil(rank) - 1
    first, last = side, len(ordered) - 1 - side
    if not first <= middle <= last and not inner:
        raise Unfit("edge")
    middle = min(max(middle, first), last)
    return float(ordered[middle - side : middle + side + 1].mean())


def _spread(ordered: Floats, rank: float, sd: float, side: int) -> float:
    """Standard error of a quantile whose rank has a standard deviation."""
    low, high = (_around(ordered, rank + sign * _WIDE * sd, side, inner=True) for sign in (-1, 1))
    return (high - low) / (2 * _WIDE)


def plain_quantile(y: Floats, probability: float) -> ProtectedFit:
    """Give a quantile (linear between values, as `numpy.quantile`) and its standard error.

    Examples
    --------
    >>> plain_quantile(np.arange(101.0), 0.5).estimate.tolist()
    [50.0]
    """
    ordered = np.sort(np.asarray(y, dtype=np.float64))
    n = len(ordered)
    if n < 2:
        raise Unfit("few")
    se = _spread(ordered, n * probability, math.sqrt(n * probability * (1 - probability)), 0)
    estimate = float(np.quantile(ordered, probability))
    return _one("quantile", (estimate, se, 0.0), n, None, 1.0, 0.0)


def correlation(
    x: Floats,
    y: Floats,
    *,
    keep: Mask,
    noise: Noise,
    tau: float | None = None,
    share: float = SHARE,
    share_kept: float = SUBSAMPLE,
) -> ProtectedFit:
    """Give Pearson's correlation of two columns.

    With both standardised, u and v their sum and difference over √(2 (1 ± r)), the score of r is Σ w (u² − v²) / 2. It
    does not hang on means and standard deviations to first order, so these may be those of the records. Weights fall
    with u² + v², the distance in both columns, alike in all directions: that leaves the correlation of an elliptical
    cloud where it is.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        Columns.
    keep, noise, tau, share, share_kept
        As for `regression`; one normal number.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> z = rng.normal(size=(4000, 2))
    >>> fit = correlation(z[:, 0], z.sum(axis=1), keep=rng.random(4000) < 0.95, noise=np.zeros(1), tau=1.0)
    >>> bool(abs(fit.estimate[0] - 0.5**0.5) < 4 * fit.se[0])
    True
    """
    pair = np.column_stack([x, y])[keep]
    pair = pair[within(pair)]
    n = len(pair)
    if n < 4:
        raise Unfit("few")
    cloud = _Cloud.of(pair)
    bound = cloud.most / 2
    strength = tau_of(n, share, bound) if tau is None else tau
    r = cloud.solve(strength * bound * float(drawn(noise, strength)[0]))
    own = float((cloud.scores(r) ** 2).sum()) * n / (n - 2) / cloud.free_slope(r) ** 2
    added = (strength * bound / cloud.slope(r)) ** 2
    figures = r, math.sqrt(own + added), math.sqrt(added)
    return _one("correlation", figures, n, strength, share_kept, bound)


class _Cloud:
    """Two standardised columns with weights that fall with the distance from the middle."""

    def __init__(self, z: Floats, w: Floats, most: float) -> None:
        self.z, self.w, self.most = z, w, most

    @classmethod
    def of(cls, pair: Floats) -> _Cloud:
        """Means, standard deviations, correlation and weights, in turn until they stay."""
        z, w, most = _standard(pair, np.ones(len(pair))), np.ones(len(pair)), 0.0
        for _ in range(_STEPS):
            r = float((w * z[:, 0] * z[:, 1]).sum() / np.sqrt((w * z[:, 0] ** 2).sum() * (w * z[:, 1] ** 2).sum()))
            if 1 - abs(r) < _FLAT:
                raise Unfit("exact")
            square = _distance(z, r)
            most = up(float(np.quantile(square, _TOP)))
            new = most / np.maximum(square, most)
            z, moved, w = _standard(pair, new), float(np.abs(new - w).max()), new
            if moved < 1e-6:
                break
        return cls(z, w, most)

    def _parts(self) -> tuple[float, float]:
        plus, minus = self.z.sum(axis=1), self.z[:, 0] - self.z[:, 1]
        return float((self.w * plus**2).sum()) / 4, float((self.w * minus**2).sum()) / 4

    def solve(self, target: float) -> float:
        """The correlation at which the score is the target: of two roots the one between −1 and 1."""
        a, b = self._parts()
        return 2 * (a - b - target) / (a + b + math.sqrt((a + b) ** 2 - 4 * target * (a - b - target)))

    def scores(self, r: float) -> Floats:
        """What each record adds to the score."""
        plus, minus = self.z.sum(axis=1), self.z[:, 0] - self.z[:, 1]
        return np.asarray(self.w * (plus**2 / (1 + r) - minus**2 / (1 - r)) / 4)

    def slope(self, r: float) -> float:
        """How fast the score falls with the correlation where weights stay: the answer to noise."""
        a, b = self._parts()
        return a / (1 + r) ** 2 + b / (1 - r) ** 2

    def free_slope(self, r: float) -> float:
        """How fast it falls where weights follow the correlation, as they do from one sample of records to another."""
        low, high = (r + sign * _STEP * (1 - abs(r)) for sign in (-1, 1))
        ends = (self._weighted(at).scores(at).sum() for at in (low, high))
        return float(next(ends) - next(ends)) / (high - low)

    def _weighted(self, r: float) -> _Cloud:
        return _Cloud(self.z, self.most / np.maximum(_distance(self.z, r), self.most), self.most)


def _distance(z: Floats, r: float) -> Floats:
    """Squared distance from the middle, in standard deviations of a cloud of this correlation."""
    return np.asarray((z[:, 0] ** 2 - 2 * r * z[:, 0] * z[:, 1] + z[:, 1] ** 2) / (1 - r**2))


def _standard(pair: Floats, w: Floats) -> Floats:
    """Both columns with weighted mean 0 and weighted variance 1."""
    total = w.sum()
    gap = pair - (w @ pair) / total
    sd = np.sqrt(w @ gap**2 / total)
    if (sd <= _CLOSE * np.abs(pair).max(axis=0)).any():
        raise Unfit("constant")
    return np.asarray(gap / sd)


def plain_correlation(x: Floats, y: Floats) -> ProtectedFit:
    """Give Pearson's correlation, with the standard error (1 − r²) / √(n − 1) of a normal pair.

    Examples
    --------
    >>> plain_correlation(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0])).estimate.round(6).tolist()
    [0.8]
    """
    pair = np.column_stack([x, y])
    n = len(pair)
    if n < 4:
        raise Unfit("few")
    z = _standard(pair, np.ones(n))
    r = float((z[:, 0] * z[:, 1]).mean())
    return _one("correlation", (r, (1 - r**2) / math.sqrt(n - 1), 0.0), n, None, 1.0, 0.0)
