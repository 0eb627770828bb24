"""Responses that covariates tell for sure: coefficients without a finite maximum, and what the data say of them.

Where the likelihood rises for ever, it has a supremum. Coefficients that matter there have estimates; the others have
none, but an interval: all values at which the likelihood, the rest at its best, stays near enough to the supremum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from sfumato.inference.columns import Columns
from sfumato.inference.estimators.maximum_likelihood import Estimate
from sfumato.inference.estimators.naive import arguments
from sfumato.inference.outcome import Family
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.maximisation import Value, bfgs, careful, newton
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.likelihood.recession import Recession, find_recession
from sfumato.kernels.threads import one_thread

__all__ = ["endless_intervals", "recession_of", "separation_note"]

Floats = NDArray[np.float64]

_SETTLED = 1e-3
"""The other parameters are at their best where their next step is below this, in standard errors."""
_DOUBLINGS = 60
_EXACT = 1e-5
_NEAR = 0.01
"""An end at which the ratio misses the cut by more than this share is none."""


def recession_of(problem: Problem, family: Family) -> Recession | None:
    """Find where a likelihood has no maximum, hidden covariates summed out, as far as exact ones tell.

    Along a direction among coefficients of exact columns, on which every response gets surer whatever the hidden
    values are, the likelihood rises for ever. Of a response that was released with noise nothing can be told.

    Parameters
    ----------
    problem, family
        The model with its data.

    Returns
    -------
    Recession or None
        None where there is a maximum, or where that cannot be told.
    """
    if family in ("linear", "cox") or not problem.outcome.exact:
        return None
    hidden = {c.name for c in (*problem.discrete, *problem.continuous)}
    unknown = [
        tuple(sorted((n, -1 if k is None else k) for n, k in parts if n in hidden)) for parts in problem.columns.parts
    ]
    number = {key: i for i, key in enumerate(dict.fromkeys([(), *unknown]))}
    thresholds = problem.outcome.response.extra if family == "ordered" else 0
    group = np.array([*(number[key] for key in unknown), *[0] * thresholds], dtype=np.int64)
    return find_recession(*arguments(problem.exact_part(), problem.outcome.values, family, thresholds), group)


def endless_intervals(
    found: Estimate, recession: Recession, shown: int, start: Floats, level: float, widths: Floats
) -> Floats:
    """Find the likelihood-ratio intervals of coefficients without a maximum, and p-values of no effect.

    The interval holds every value at which twice the distance of the likelihood, maximised over all else, from the
    supremum is below the quantile of a chi-square variable.

    Parameters
    ----------
    found
        The supremum.
    recession
        How it is reached.
    shown
        Number of coefficients and thresholds.
    start : ndarray, shape (shown,)
        Finite ones to begin at.
    level
        Of the intervals, between 0 and 1.
    widths : ndarray, shape (shown,)
        By what the coefficients differ at first: one over the spread of their columns.

    Returns
    -------
    ndarray, shape (shown, 3)
        Lower and upper end, and p-value; an end is −∞ or ∞ where there is none. Rows of coefficients with a maximum are
        NaN, and those of which the likelihood could not be followed.
    """
    out = np.full((shown, 3), np.nan)
    cut = float(scipy.special.ndtri((1 + level) / 2)) ** 2
    with one_thread(), np.errstate(all="ignore"):
        for j in np.flatnonzero(recession.lost[:shown]):
            side = int(recession.sides[j])
            if not side:
                out[j] = -math.inf, math.inf, 1.0
                continue
            ratio = _ratio(found, recession, int(j), start)
            end, none = _end(ratio, side, cut, float(widths[j])), ratio(0.0)
            if math.isfinite(end) and math.isfinite(none):
                out[j] = (end, math.inf, math.nan) if side > 0 else (-math.inf, end, math.nan)
                out[j, 2] = 2 * float(scipy.special.ndtr(-math.sqrt(max(none, 0.0))))
    return out


def _ratio(found: Estimate, recession: Recession, j: int, start: Floats) -> Callable[[float], float]:
    """Twice the distance from the supremum, as a function of coefficient j; NaN where the ascent went wrong."""
    model, known = found.model, dict[float, float]()
    last = found.theta.copy()
    last[: len(start)] = start
    coefficients, held = model.E.shape[1], recession.held(j)

    def look(theta: Floats) -> Value:
        if isinstance(model, Mixture):
            seen = model.look(theta)
            return Value(seen.log_likelihood, seen.gradient, seen.information)
        return Value(*model.evaluate(theta))

    def ratio(b: float) -> float:
        if b in known:
            return known[b]
        if j >= coefficients:  # thresholds move together, so that they stay in order
            last[coefficients : len(start)] += b - last[j]
        within = held(b).wider(model.size)
        try:
            if isinstance(model, Mixture):
                top, _ = newton(within.look(look), within.nearest(last), _SETTLED)
            else:
                top = bfgs(careful(within.look(look)), within.nearest(last), _SETTLED)
        except (ArithmeticError, np.linalg.LinAlgError):
            return math.nan
        known[b] = 2 * (found.log_likelihood - top.log_likelihood) if top.converged else math.nan
        return known[b]

    return ratio


def _end(ratio: Callable[[float], float], side: int, cut: float, width: float) -> float:
    """Where the ratio, which falls towards one side, crosses the cut; NaN where it cannot be followed there."""
    if math.isnan(ratio(0.0)):
        return math.nan
    inside, outside, step = (0.0, math.nan, -side * width) if ratio(0.0) < cut else (math.nan, 0.0, side * width)
    for doubling in range(_DOUBLINGS):
        b = step * 2.0**doubling
        height = ratio(b)
        if math.isnan(height):
            return math.nan
        inside, outside = (b, outside) if height < cut else (inside, b)
        if not (math.isnan(inside) or math.isnan(outside)):
            break
    else:
        return math.nan

    def short(b: float) -> float:  # of roots, which are nearly straight
        return math.sqrt(max(ratio(b), 0.0)) - math.sqrt(cut)

    try:
        end = float(scipy.optimize.brentq(short, inside, outside, xtol=_EXACT * width))
    except ValueError:  # the likelihood could not be followed in between
        return math.nan
    return end if abs(ratio(end) / cut - 1) < _NEAR else math.nan


def separation_note(columns: Columns, terms: Sequence[str], lost: Sequence[bool], why: str) -> str:
    """Say which terms are separated, what that means and what helps; no category is named.

    Parameters
    ----------
    columns, terms
        Columns of the design, and names of coefficients and thresholds.
    lost
        Which of these have no finite maximum.
    why
        What is said of intervals and of the other terms.
    """
    gone = [term for term, is_lost in zip(terms, lost, strict=True) if is_lost]
    names = [columns.public([t for t in gone if t in columns.labels])] if set(gone) & set(columns.labels) else []
    if set(gone) - set(columns.labels):
        names.append("thresholds")
    return (
        f"The responses are separated: with {' and '.join(names)} some of them are told for sure, so that the "
        f"likelihood rises for ever and these coefficients have no finite estimate. {why} Broader "
        "categories help, or leave the term out, or use method `bayes` with a prior that you state."
    )
