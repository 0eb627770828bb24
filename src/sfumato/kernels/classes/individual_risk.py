"""The risk that a record is recognised by its keys, from how often they occur in the file and in the population."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError

__all__ = ["household_risk", "individual_risk", "risk_threshold"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEP = 0.02
_AT = np.arange(-4.7, 4.5, _STEP)
_NODES = np.exp(_AT - np.exp(-_AT))
_WEIGHTS = np.exp(-_NODES) * _NODES * (1 + np.exp(-_AT)) * _STEP
"""Double exponential rule for integrals of exp(−x) g(x) over x > 0: Takahasi & Mori, doi:10.2977/prims/1195192451."""
_CHUNK = 256  # rows of nodes that stay in a processor's cache
_MOST_STEPS = 64


def individual_risk(f: Floats, population: Floats | None = None) -> Floats:
    """Posterior mean of 1/F: the chance that a match on the keys is the right person.

    Where f of F alike persons are in the file, F is unknown and negative binomial around its estimate, and with p = f/F
    and q = 1 − p the mean is (p/f) Σ j! q^j / ((f+1) … (f+j)). It is computed as the integral
    ∫ exp(−x) p / (p + q exp(−x/f)) dx / f over x > 0 by a fixed rule, to eleven digits for p from 10⁻¹² on, for any
    f > 0; the series itself needs millions of terms where p is small. Whole f of up to 64 with p ≤ 1/2 come faster from
    the closed form at f = 1, −ln(p) p/q, by steps from each f to the next.

    It answers whoever looks for a person that may or may not be in the file, and knows the keys exactly. It does not
    hold for whoever knows that the person is in it: take 1/f, which is also what comes without weights.

    Parameters
    ----------
    f : ndarray, shape (P,)
        Records of the file with these keys, > 0; may be fractions where missing keys count in part.
    population : ndarray, shape (P,), optional
        Sum of their sampling weights, the persons they stand for. Less than f is taken for f. Without it the file is
        the population.

    Returns
    -------
    ndarray, shape (P,)
        Risks, above 0 and at most 1.

    Raises
    ------
    DataError
        If a count is not above 0, or a sum of weights not finite and above 0.

    Examples
    --------
    >>> individual_risk(np.array([1.5, 4.0]), np.array([150.0, 4.0])).round(7).tolist()
    [0.0172161, 0.25]

    Source: Benedetti & Franconi (1998); Polettini (2003); Rinott (2003).
    """
    f = np.asarray(f, dtype=np.float64)
    if not np.all(f > 0):
        raise DataError("f: counts of records must be above 0")
    if population is None:
        return np.minimum(1.0, 1.0 / f)
    F = np.asarray(population, dtype=np.float64)
    if not np.all((F > 0) & np.isfinite(F)):
        raise DataError("population: sums of weights must be above 0 and finite")
    p = np.minimum(1.0, f / F)
    risk = 1.0 / f
    stepped = (p <= 0.5) & (f == np.floor(f)) & (f <= _MOST_STEPS)
    at = np.flatnonzero(stepped)
    risk[at] = _by_steps(f[at].astype(np.int64), p[at])
    at = np.flatnonzero((p < 1) & ~stepped)
    risk[at] = _by_nodes(f[at], p[at])
    return np.minimum(1.0, risk)


def _by_steps(f: Ints, p: Floats) -> Floats:
    """From each f to the next: r(f + 1) = p/q (1/f − r(f)). A step multiplies errors by p/q, at most 1 for p ≤ 1/2."""
    order = np.argsort(f, kind="stable")
    steps, odds = f[order], (p / (1 - p))[order]
    risk = -np.log(p[order]) * odds
    for c in range(1, int(steps.max(initial=0))):
        left = slice(int(np.searchsorted(steps, c, side="right")), None)
        risk[left] = odds[left] * (1 / c - risk[left])
    found = np.empty(len(f))
    found[order] = risk
    return found


def _by_nodes(f: Floats, p: Floats) -> Floats:
    """The mean by the rule; records alike in both are looked at once."""
    alike, back = np.unique(f + 1j * p, return_inverse=True)
    mean = np.empty(len(alike))
    for start in range(0, len(alike), _CHUNK):
        part = alike[start : start + _CHUNK]
        mean[start : start + _CHUNK] = _posterior_mean(part.real, part.imag)
    return mean[back]


def _posterior_mean(f: Floats, p: Floats) -> Floats:
    fading = np.exp(-_NODES / f[:, None])
    inner = p[:, None] / (p[:, None] + (1 - p)[:, None] * fading)
    return np.asarray(inner @ _WEIGHTS / f)


def household_risk(risk: Floats, household: Ints) -> Floats:
    """Risk that somebody of a household is recognised, and with them all others: 1 − ∏(1 − r) over its members.

    Members are taken to be recognised independently of each other.

    Parameters
    ----------
    risk : ndarray, shape (n,)
        Risk of each record, 0 to 1.
    household : ndarray, shape (n,)
        Number of its household, 0, 1, ….

    Returns
    -------
    ndarray, shape (n,)
        Risk of each record through its household; their sum is the number of records expected to be recognised.

    Examples
    --------
    >>> household_risk(np.array([0.5, 0.5, 1.0]), np.array([0, 0, 1])).tolist()
    [0.75, 0.75, 1.0]
    """
    with np.errstate(divide="ignore"):  # a member recognised for certain: −∞, and the risk is 1
        missed = np.bincount(household, weights=np.log1p(-np.asarray(risk)))
    return np.asarray(-np.expm1(missed)[household])


def risk_threshold(risk: Floats, counts: Ints, wanted: float) -> float:
    """Largest individual risk that may stay, so that the mean risk of the file is at most the wanted one.

    Records above the threshold must be protected until they are at it; those below stay as they are. So the mean is of
    the lesser of each risk and the threshold.

    Parameters
    ----------
    risk : ndarray, shape (P,)
        Individual risks, 0 to 1.
    counts : ndarray, shape (P,)
        Records that have each of them.
    wanted
        Mean risk of the file that is wanted, 0 to 1.

    Returns
    -------
    float
        The threshold; the highest risk there is where the file is good enough as it is.

    Raises
    ------
    DataError
        If the wanted risk is outside [0, 1].

    Examples
    --------
    >>> round(risk_threshold(np.array([0.1, 0.3, 0.8]), np.array([1, 1, 2]), 0.25), 6)
    0.3

    Source: Hundepool et al. (2012), Statistical Disclosure Control, section 3.6, doi:10.1002/9781118348239.
    """
    if not 0 <= wanted <= 1:
        raise DataError("wanted: must lie between 0 and 1")
    order = np.argsort(risk, kind="stable")
    r, count = np.asarray(risk, dtype=np.float64)[order], np.asarray(counts, dtype=np.float64)[order]
    if not len(r):
        return 0.0
    above = np.cumsum(count[::-1])[::-1]  # records at or above each risk
    below = np.cumsum(r * count) - r * count
    room = wanted * count.sum() - below
    at = int(np.flatnonzero(r * above <= room)[-1]) if r[0] * above[0] <= room[0] else -1
    if at == len(r) - 1:
        return float(r[-1])
    return float(room[at + 1] / above[at + 1])
