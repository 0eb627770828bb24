"""Estimates by method `corrected`, with standard errors, and what is said where there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from sfumato.inference.corrected.evidence import LEAST, WALD, Evidence, evidence_of
from sfumato.inference.corrected.hidden import HiddenColumns, read_hidden
from sfumato.inference.corrected.reliability import reliability_of
from sfumato.inference.estimators.sandwich import Rule, by_cluster, sandwich
from sfumato.inference.estimators.separation import recession_of
from sfumato.inference.estimators.survival import hazard_information, hazard_notes, hazards
from sfumato.inference.result import Fit
from sfumato.inference.work import Work
from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.linear import corrected_linear, inverted
from sfumato.kernels.corrected.poisson import corrected_poisson
from sfumato.kernels.corrected.tilted import Tilted
from sfumato.kernels.threads import one_thread

__all__ = ["Corrected", "corrected_covariance", "corrected_fit", "known_of", "little_known", "solve", "tilted_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SKEWED = 0.5
"""Where ln K(2b) − 2 ln K(b) is above this, estimates are skewed."""
_HELPS = "Ask for less noise there, or fit the model without it."
_SEPARATED = "The corrected equations have no solution then, so that nothing is estimated; `ml` estimates other terms."
_NO_ROOT = (
    "No estimate: with this noise the equations have no solution that true data could have. The noise is too strong "
    "for this model and these records."
)


@dataclass(frozen=True)
class Corrected:
    """What corrected equations give.

    Parameters
    ----------
    estimate : ndarray, shape (p,)
        The coefficients.
    bread : ndarray, shape (p, p)
        Inverse of minus the derivative of the summed equations.
    scores : ndarray, shape (n, p)
        What each record adds to them, times its weight.
    sigma
        Of a linear model's errors; NaN for other families.
    notes
        What a reader should know.
    """

    estimate: Floats
    bread: Floats
    scores: Floats
    sigma: float = math.nan
    notes: tuple[str, ...] = ()

    @property
    def influence(self) -> Floats:
        """What each record moves the estimates by, shape (n, p)."""
        return np.asarray(self.scores @ self.bread)


def corrected_fit(work: Work) -> Fit:
    """Fit a model by method `corrected`.

    Parameters
    ----------
    work
        The model with its data, without missing values and obstacles.
    """
    recession = recession_of(work.problem, work.family) if work.plain.separated else None
    if recession is not None:
        return work.nothing("corrected", work.separated(recession, _SEPARATED))
    with one_thread():
        hidden = read_hidden(work.problem, work.model.response)
        known = evidence_of(work.problem, hidden, work.groups)
        fitted = _fitted(work, hidden, known)
    return replace(fitted, evidence=None if known is None else known.together)


def known_of(work: Work) -> Evidence | None:
    """What is known of a model's hidden columns, all of which `corrected` could take; None where there are none.

    Parameters
    ----------
    work
        The model with its data.
    """
    if not (work.problem.discrete or work.problem.continuous):
        return None
    return evidence_of(work.problem, read_hidden(work.problem, work.model.response), work.groups)


def little_known(known: Evidence | None, family: str) -> str:
    """Say why nothing is estimated of hidden columns of which too little is known; empty where enough is.

    Parameters
    ----------
    known
        What is known of them.
    family
        Of the model; for a likelihood any other word.

    Examples
    --------
    >>> little_known(Evidence({"x": 1.0}, 1.0, 1.0, ("x",)), "ml").partition(":")[0]
    'No estimate'
    """
    if known is None:
        return ""
    if family not in WALD:
        return "" if known.likely >= LEAST else _says(known, known.likely, LEAST)
    weak = [] if family == "linear" else known.weak_numbers(WALD[family])
    if known.together >= LEAST and not weak:
        return ""
    least = min(known.together, known.by_column[known.weakest])
    return _says(known, least, WALD[family] if weak else LEAST)


def _says(known: Evidence, least: float, asked: float) -> str:
    column = known.weakest
    if column in known.numbers:
        what = f"what was released of {column!r} varies hardly more than its noise alone would"
    else:
        what = f"what was released of {column!r} hardly tells its categories apart"
    return f"No estimate: {what} (evidence {least:.1f}, where {asked:g} is needed). {_HELPS}"


def _fitted(work: Work, hidden: HiddenColumns, known: Evidence | None) -> Fit:
    why = little_known(known, work.family)
    if why or hidden.design is None:
        return work.nothing("corrected", why or _NO_ROOT)
    weak = [] if known is None or work.family != "linear" else known.weak_numbers(WALD["linear"])
    columns = [j for j, found in enumerate(work.problem.columns.with_any(set(weak))) if found]
    if len(columns) > 1:
        return work.nothing("corrected", _several(weak, known))
    found = solve(work, hidden)
    if isinstance(found, str):
        return work.nothing("corrected", found)
    covariance = corrected_covariance(work, found)
    notes = (*work.notes, *found.notes)
    fitted = work.result("corrected", found.estimate, covariance, found.sigma, work.problem.n, True, notes)
    fitted = replace(
        fitted,
        reliability=reliability_of(work.problem, hidden),
        inflation=_inflation(work, found, covariance),
    )
    return _inverted(fitted, work, hidden.design, columns[0]) if columns else fitted


def corrected_covariance(work: Work, found: Corrected) -> Floats:
    """Give the covariance of corrected estimates, shape (p, p), by the rule of the model, which is a robust one.

    Parameters
    ----------
    work
        The model with its data.
    found
        Its estimates.
    """
    return sandwich(found.bread, found.scores, work.problem.rule, work.clusters, work.leverage)


def _several(weak: list[str], known: Evidence | None) -> str:
    least = "" if known is None else f" (evidence {known.together:.1f}, where {WALD['linear']:g} is needed)"
    return (
        f"No estimate: too little is known of {', '.join(map(repr, weak))} for a model in which more than one "
        f"coefficient hangs on it{least}. {_HELPS}"
    )


def solve(work: Work, hidden: HiddenColumns) -> Corrected | str:
    """Solve the corrected equations of a family; text where they have no solution that counts.

    Parameters
    ----------
    work
        The model with its data.
    hidden
        Its hidden columns.
    """
    if hidden.design is None:
        return _NO_ROOT
    problem, weight = work.problem, work.problem.weight
    if work.family == "linear":
        found = corrected_linear(hidden.design, weight)
        if found is None:
            return _NO_ROOT
        noise = 0.0 if hidden.noisy_response else float(weight @ problem.outcome.noise)
        left = max(found.residual - noise, 0.0) / max(problem.n - work.count, 1)
        return Corrected(found.estimate, found.bread, found.scores * weight[:, None], math.sqrt(left))
    tilted = tilted_of(hidden)
    if work.family == "cox":
        return _hazards(work, tilted)
    root = corrected_poisson(tilted, problem.outcome.values, weight, work.plain.start, _shared(hidden, tilted))
    if root is None:
        return _NO_ROOT
    notes = skewness(tilted, root.estimate)
    if isinstance(notes, str):
        return notes
    return Corrected(root.estimate, root.bread, root.scores * weight[:, None], notes=notes)


def _hazards(work: Work, tilted: Tilted) -> Corrected | str:
    found = hazards(work.problem, tilted, work.plain.start)
    notes = hazard_notes(found)
    if found.failure:
        return " ".join(notes)
    skewed = skewness(tilted, found.estimate)
    if isinstance(skewed, str):
        return skewed
    scores = found.scores * work.problem.weight[:, None]
    return Corrected(found.estimate, found.bread, scores, notes=(*notes, *skewed))


def skewness(tilted: Tilted, b: Floats) -> tuple[str, ...] | str:
    """Say where noise times coefficients is so strong that estimates are skewed; text alone where they mean nothing.

    Parameters
    ----------
    tilted
        The model's exponentials.
    b : ndarray, shape (p,)
        The coefficients.
    """
    spread = tilted.spread(b)
    if not math.isfinite(spread):
        return (
            "No estimate: the noise has such long tails for a coefficient of this size that standard errors mean "
            f"nothing. {_HELPS}"
        )
    if spread <= _SKEWED:
        return ()
    return (
        f"The noise is strong for coefficients of this size (ln K(2b) − 2 ln K(b) = {spread:.2f}): estimates are "
        "skewed, by up to 10% where it was tried.",
    )


def tilted_of(hidden: HiddenColumns) -> Tilted:
    """The covariates' exponentials, without the response's column.

    Parameters
    ----------
    hidden
        A model's hidden columns.
    """
    assert hidden.design is not None
    design = hidden.design
    count = len(hidden.numbers) - hidden.noisy_response
    noises = design.noises
    if hidden.noisy_response:
        noises = [noise.of(range(count)) for noise in noises]
    covariates = Design(
        design.exact[:, :-1],
        design.powers[:-1, :count],
        design.z[:, :count],
        noises,
        design.group,
        [levels[:-1] for levels in design.levels],
        design.indicators,
    )
    return Tilted(covariates, tuple(c.released for c in hidden.categories))


def _shared(hidden: HiddenColumns, tilted: Tilted) -> Floats | None:
    """Covariance of the noise on each column and on the response, shape (n, p); None where there is none."""
    if not hidden.noisy_response or hidden.design is None:
        return None
    design, owner = tilted.design, tilted.owner
    bare = replace(design, powers=np.zeros_like(design.powers))
    own = np.array([noise.covariance[:-1, -1] for noise in hidden.design.noises])[design.group]
    return np.where(owner >= 0, bare.columns() * own[:, np.maximum(owner, 0)], 0.0)


def _inflation(work: Work, found: Corrected, covariance: Floats) -> Floats:
    """Standard errors over those without noise: the model's there, times what robust ones differ by when naive."""
    plain = np.linalg.pinv(_information(work))
    scale = found.sigma**2 if work.family == "linear" else 1.0
    naive_scale = work.plain.sigma**2 if work.family == "linear" else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        robust = np.diagonal(work.plain.covariance)[: work.count] / (np.diagonal(plain) * naive_scale)
        without = np.diagonal(found.bread) * scale * robust
        return np.asarray(np.sqrt(np.diagonal(covariance) / without))


def _information(work: Work) -> Floats:
    if work.family == "cox":
        return hazard_information(work.problem, work.plain.start)
    X = work.problem.naive_design()
    mass = work.problem.weight
    if work.family == "poisson":
        mass = mass * np.exp(X @ work.plain.start)
    return np.asarray(X.T @ (X * mass[:, None]))


def _inverted(fitted: Fit, work: Work, design: Design, j: int) -> Fit:
    """Intervals and p-values by inverting a score test, where too little is known of a hidden number for Wald's."""
    tail = (1 + fitted.level) / 2
    infinite = math.isinf(fitted.degrees)
    quantile = float(ndtri(tail) if infinite else stdtrit(fitted.degrees, tail))
    spread = _Spread(work.problem.rule, work.clusters, work.leverage, work.count)
    found = inverted(design, work.problem.weight, j, quantile, spread)
    p = np.array([2 * float(ndtr(-z) if infinite else stdtr(fitted.degrees, -z)) for z in found.distance])
    profile = np.column_stack([found.low, found.high, p])
    name, term = fitted.terms[j], work.problem.columns.with_any(work.problem.covariates)[j]
    notes = [
        f"Little is known of {', '.join(map(repr, term))}: the interval of {name} is that of an inverted score test, "
        "which need not lie evenly around the estimate; the others' hold for all values in it."
    ]
    if np.isinf(profile[j, :2]).any():
        notes.append(f"The data set no bound on {name} on at least one side.")
    return replace(
        fitted,
        covariance=np.full_like(fitted.covariance, np.nan),
        inflation=np.full_like(fitted.inflation, np.nan),
        profile=profile,
        notes=(*fitted.notes, *notes),
    )


@dataclass(frozen=True)
class _Spread:
    """Covariance of sums of what records give, by the rule of the standard errors."""

    rule: Rule
    clusters: Ints | None
    leverage: Floats | None
    count: int

    def __call__(self, rows: Floats) -> Floats:
        many = self.rule in ("CR1", "design")
        sums = by_cluster(rows, self.clusters) if many else rows
        sums = sums - sums.mean(axis=0)
        found = sandwich(np.eye(rows.shape[1]), sums, "design" if many else self.rule, None, self.leverage)
        n, p = len(rows), self.count
        return found * ((n - 1) / (n - p) if self.rule == "CR1" else 1.0)
