"""The distribution of a banded number, without taking it for normal: normal scores of its bands.

Let u be standard normal and x = g(u) with g rising; the shares of the bands fix g at every cut point. Between these it
is a monotone cubic. In an open band its slope goes on changing as it does before: exact for a normal and a lognormal
number, an extrapolation for others. In a closed band at either end x is uniform.

Source: Liu, Lafferty and Wasserman (2009), The nonparanormal, jmlr.org/papers/v10/liu09a.html (normal scores of a
number of any distribution); Fritsch and Carlson (1980), doi:10.1137/0717021 (monotone cubics).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri

__all__ = ["BandScores", "band_scores"]

Floats = NDArray[np.float64]

_STEEPEST = 0.7
"""Most that the logarithm of g's slope may change by for each unit of u in an open band."""


@dataclass(frozen=True)
class BandScores:
    """Normal scores of a number in bands.

    Parameters
    ----------
    low, high : ndarray, shape (B,)
        Ends of each band as scores, from below; −∞ and ∞ at the ends.
    ends : ndarray, shape (B, 2)
        Its ends as numbers.
    """

    low: Floats
    high: Floats
    ends: Floats

    def values(self, u: Floats) -> Floats:
        """The numbers g(u) that scores stand for, of any shape."""
        out = np.empty_like(u)
        for b in range(len(self.low)):
            here = (u > self.low[b]) & (u <= self.high[b])
            if here.any():
                out[here] = self._within(b, u[here])
        return out

    def _within(self, b: int, u: Floats) -> Floats:
        low, high = self.ends[b]
        if math.isinf(low):
            return self._beyond(high, self.high[b], *self._trend(b, 1), u)
        if math.isinf(high):
            return self._beyond(low, self.low[b], *self._trend(b, -1), u)
        if math.isinf(self.low[b]) or math.isinf(self.high[b]):
            first, last = ndtr(self.low[b]), ndtr(self.high[b])
            return np.asarray(low + (high - low) * (ndtr(u) - first) / (last - first))
        return np.asarray(self._inner(b)(u))

    def _closed(self) -> list[int]:
        """Bands with both ends that are ends of scores as well."""
        return [b for b in range(len(self.low)) if np.isfinite([self.low[b], self.high[b], *self.ends[b]]).all()]

    def _inner(self, b: int) -> PchipInterpolator:
        """A monotone cubic through the cut points of the run of adjoining bands that b is in."""
        closed, first, last = set(self._closed()), b, b
        while first - 1 in closed and self.ends[first - 1, 1] == self.ends[first, 0]:
            first -= 1
        while last + 1 in closed and self.ends[last, 1] == self.ends[last + 1, 0]:
            last += 1
        run = range(first, last + 1)
        return PchipInterpolator([*self.low[run], self.high[last]], [*self.ends[run, 0], self.ends[last, 1]])

    def _trend(self, b: int, side: int) -> tuple[float, float]:
        """Slope of g at the cut point of an open band, and how its logarithm changes, from the closed bands beside."""
        near = self._closed()[::side][:2]
        slope = [float(np.diff(self.ends[c])[0] / (self.high[c] - self.low[c])) for c in near]
        at = [float(self.low[c] + self.high[c]) / 2 for c in near]
        cut = self.high[b] if side > 0 else self.low[b]
        if not near:  # the band beside is a closed one at the other end
            low, high = self.ends[b + side]
            mass = float(ndtr(self.high[b + side]) - ndtr(self.low[b + side]))
            return float(high - low) * math.exp(-0.5 * cut**2) / math.sqrt(2 * math.pi) / mass, 0.0
        change = 0.0
        if len(near) == 2:
            change = (math.log(slope[0]) - math.log(slope[1])) / (at[0] - at[1])
            change = min(max(change, -_STEEPEST), _STEEPEST)
        return slope[0] * math.exp(change * (cut - at[0])), change

    @staticmethod
    def _beyond(x: float, cut: float, slope: float, change: float, u: Floats) -> Floats:
        gap = u - cut
        return np.asarray(x + slope * (gap if abs(change) < 1e-9 else np.expm1(change * gap) / change))


def band_scores(ends: Sequence[tuple[float, float]], counts: Sequence[int]) -> BandScores:
    """Work out normal scores from the shares of bands.

    Parameters
    ----------
    ends
        Ends of each band that occurs, from below; −∞ and ∞ where open. One at least has both ends.
    counts
        Records in each.

    Examples
    --------
    >>> found = band_scores([(-np.inf, 0.0), (0.0, 1.0), (1.0, np.inf)], [500, 341, 159])
    >>> found.values(np.array([-1.0, 0.5, 2.0])).round(2).tolist()
    [-1.0, 0.5, 2.0]
    """
    shares = np.cumsum(counts) / np.sum(counts)
    cuts = np.concatenate([[-np.inf], ndtri(shares[:-1]), [np.inf]])
    return BandScores(cuts[:-1], cuts[1:], np.array(ends, dtype=np.float64))
