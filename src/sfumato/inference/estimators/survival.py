"""Proportional hazards: the fit to released values, and by corrected equations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.special import ndtr, ndtri

from sfumato.data.formula import SURVIVAL, Formula
from sfumato.errors import DataError, FormulaError
from sfumato.inference.estimators.maximum_likelihood import without
from sfumato.inference.estimators.naive import Naive, spread_of
from sfumato.inference.estimators.sandwich import Rule, sandwich
from sfumato.inference.outcome import Outcome
from sfumato.inference.problem import Problem
from sfumato.inference.result import Fit
from sfumato.kernels import cox
from sfumato.kernels.corrected.cox import AT_RISK, CoxRoot, corrected_cox
from sfumato.kernels.corrected.tilted import Tilted
from sfumato.kernels.likelihood.maximisation import Value, careful, newton

__all__ = [
    "check_times",
    "endless_hazards",
    "hazard_information",
    "hazard_notes",
    "hazards",
    "naive_hazards",
    "refuse_likelihood",
    "rule_of_hazards",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MOVES = 1e-6
_DOUBLINGS, _HALVINGS = 20, 40


def check_times(model: Formula, family: str, method: str, group: str | None) -> None:
    """Refuse what does not go with times, and times that do not go with the family.

    Parameters
    ----------
    model, family, method, group
        As `fit` takes them.

    Raises
    ------
    FormulaError
        For a response that is none of the family, and a model of times without covariates.
    DataError
        For methods and random effects that it does not have.

    Examples
    --------
    >>> from sfumato.data.formula import parse_formula
    >>> check_times(parse_formula("Surv(days, died) ~ age", fitting=True), "cox", "auto", None)
    """
    if family != "cox":
        if model.event is not None:
            raise FormulaError(f"{SURVIVAL} is the response of family `cox`; the others take one column.")
        return
    if model.event is None:
        raise FormulaError(f"Family `cox` needs {SURVIVAL} before ~, with a column of times and one of events.")
    if not model.terms:
        raise FormulaError("Family `cox` has no intercept, so that a covariate must stand after ~.")
    if group is not None:
        raise DataError("Family `cox` takes no `group`. Give it as `cluster`: standard errors then allow for it.")
    if method == "bayes":
        raise DataError("Family `cox` has no method `bayes`. Use `corrected`, which `auto` takes where needed.")


def refuse_likelihood(problem: Problem) -> None:
    """Refuse hidden covariates, of which this family has no likelihood.

    Parameters
    ----------
    problem
        The model with its data.

    Raises
    ------
    DataError
        Naming them.
    """
    hidden = [c.name for c in (*problem.discrete, *problem.continuous)]
    if hidden:
        raise DataError(
            f"Family `cox` has no likelihood where covariates are hidden, as {', '.join(map(repr, hidden))} "
            "here. Use method `corrected`, or `naive`."
        )


def rule_of_hazards(rule: Rule) -> Rule:
    """Name the rule of standard errors: what HC3 is to others is Lin and Wei's to hazards.

    Examples
    --------
    >>> rule_of_hazards("HC3"), rule_of_hazards("CR1")
    ('Lin-Wei', 'CR1')
    """
    return "Lin-Wei" if rule == "HC3" else rule


def naive_hazards(problem: Problem, clusters: Ints | None = None) -> Naive:
    """Fit proportional hazards to released values as if they were true.

    Parameters
    ----------
    problem
        The model with its data.
    clusters : ndarray, shape (n,), optional
        Cluster of each record.

    Raises
    ------
    DataError
        Where no row has a value in every covariate, or none of these the event.
    """
    X = problem.naive_design()
    whole = ~np.isnan(X).any(axis=1)
    if not whole.any():
        raise DataError("No row has a value in every covariate. Leave the emptiest columns out of the formula.")
    if not X.shape[1]:
        raise DataError("No covariate of the model varies; there is nothing to explain times by.")
    time, event = _times(problem.outcome)
    X, time, event, weight = X[whole], time[whole], event[whole], problem.weight[whole]
    if not event.any():
        raise DataError("No record with a value in every covariate has the event; there is nothing to explain.")
    found = cox.fit(X, time, event, weight=weight)
    estimate, covariance, names = found.coefficients, found.covariance, problem.columns.labels
    if not found.aliased:
        order = cox.spans(time, event)
        E, w = (X - X.mean(axis=0))[order.order], weight[order.order]
        if problem.rule != "model":
            scores = cox.residuals(E, order, estimate, cox.hazards(E, w, order, estimate))
            rows = None if clusters is None else clusters[whole][order.order]
            covariance = sandwich(covariance, scores * w[:, None], problem.rule, rows)
        if found.separated:
            endless = _endless(cox.look(E, w, order, estimate), cox.look(E, w, order, np.zeros(len(estimate))))
            estimate, covariance = np.where(endless, np.nan, estimate), without(covariance, np.flatnonzero(endless))
    spread, own = spread_of(X)
    return Naive(
        estimate=estimate,
        covariance=covariance,
        start=np.nan_to_num(estimate),
        extra=np.zeros(0),
        log_likelihood=found.log_likelihood,
        converged=found.converged,
        n=len(X),
        sigma=np.nan,
        aliased=tuple(names[j] for j in found.aliased),
        separated=found.separated,
        spread=spread,
        own=own,
        empty=tuple(names[j] for j in found.aliased if not X[:, j].any()),
    )


def _endless(there: Value, before: Value) -> Bools:
    """Which coefficients some direction moves that has next to no information left of what there was."""
    if not np.isfinite(there.information).all():
        return np.ones(len(before.information), dtype=bool)
    values, vectors = eigh(there.information, before.information)
    moved = np.abs(vectors) * np.sqrt(np.diagonal(before.information))[:, None]
    return np.asarray(moved[:, values < cox.LOST].max(axis=1, initial=0.0) > _MOVES)


def endless_hazards(fitted: Fit, problem: Problem) -> Fit:
    """Give coefficients without a finite maximum an interval that is open on one side, by the likelihood ratio.

    Parameters
    ----------
    fitted
        The fit, whose estimates are NaN there.
    problem
        The model with its data, in which nothing is hidden.
    """
    lost = np.flatnonzero(np.isnan(fitted.estimate))
    if not len(lost):  # it stopped short of a maximum, which `converged` tells
        return fitted
    named = ", ".join(fitted.terms[j] for j in lost)
    notes = [
        f"Events are separated by {named}: the partial likelihood has no finite maximum there, and no estimate stands."
    ]
    if problem.keep_rows:
        return replace(fitted, notes=(*fitted.notes, *notes))
    notes.append("Intervals of these terms are open on one side, and their p-values those of the likelihood ratio.")
    X = problem.naive_design()
    whole = ~np.isnan(X).any(axis=1)
    X, (time, event) = X[whole], _times(problem.outcome)
    far = cox.fit(X, time[whole], event[whole])
    order = cox.spans(time[whole], event[whole])
    E = (X - X.mean(axis=0))[order.order]
    profile = np.full((len(fitted.terms), 3), np.nan)
    quantile = float(ndtri((1 + fitted.level) / 2))
    for j in lost.tolist():
        profile[j] = _Profile(E, order, j, far.coefficients, far.log_likelihood).open_interval(quantile)
    return replace(fitted, profile=profile, notes=(*fitted.notes, *notes))


@dataclass(frozen=True)
class _Profile:
    """The partial likelihood with one coefficient held, the others at their best."""

    E: Floats
    order: cox.Spans
    j: int
    far: Floats
    supremum: float

    def root(self, value: float) -> float:
        """Square root of the likelihood ratio's statistic."""
        rest = np.delete(np.arange(len(self.far)), self.j)
        b = np.zeros(len(self.far))
        b[self.j] = value
        w = np.ones(len(self.E))

        def look(others: Floats) -> Value:
            b[rest] = others
            there = cox.look(self.E, w, self.order, b)
            return Value(there.log_likelihood, there.gradient[rest], there.information[np.ix_(rest, rest)])

        with np.errstate(all="ignore"):
            best = newton(careful(look), np.zeros(len(rest)))[0].log_likelihood if len(rest) else look(b[rest])[0]
        return float(np.sqrt(max(2 * (self.supremum - best), 0.0)))

    def open_interval(self, quantile: float) -> tuple[float, float, float]:
        """Both ends, of which one is infinite, and the p-value of no effect."""
        side = 1.0 if self.far[self.j] > 0 else -1.0
        none = self.root(0.0)
        inner, outer = 0.0, float(self.far[self.j])  # the statistic is above the quantile at the inner one
        if none < quantile:
            outer, step = 0.0, 1 / max(float(self.E[:, self.j].std()), 1e-300)
            for _ in range(_DOUBLINGS):
                inner = outer - side * step
                if self.root(inner) >= quantile:
                    break
                step *= 2
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if self.root(middle) >= quantile else (inner, middle)
        end = (inner + outer) / 2
        p = 2 * float(ndtr(-none))
        return (end, np.inf, p) if side > 0 else (-np.inf, end, p)


def _times(outcome: Outcome) -> tuple[Floats, Bools]:
    """Times, and whether they ended with the event."""
    if outcome.event is None:
        raise DataError("This response is none of times.")
    return outcome.values, outcome.event


def hazards(problem: Problem, tilted: Tilted, start: Floats) -> CoxRoot:
    """Solve the corrected equations.

    Parameters
    ----------
    problem
        The model with its data, without missing values.
    tilted
        Its design.
    start : ndarray, shape (p,)
        The naive coefficients.
    """
    time, event = _times(problem.outcome)
    at_risk = AT_RISK if problem.discrete or problem.continuous else 1
    return corrected_cox(tilted, problem.weight, time, event, start, at_risk)


def hazard_information(problem: Problem, estimate: Floats) -> Floats:
    """Information of the partial likelihood of released values, shape (p, p).

    Parameters
    ----------
    problem
        The model with its data, without missing values.
    estimate : ndarray, shape (p,)
        The naive coefficients.
    """
    X, (time, event) = problem.naive_design(), _times(problem.outcome)
    order = cox.spans(time, event)
    return cox.look((X - X.mean(axis=0))[order.order], problem.weight[order.order], order, estimate).information


def hazard_notes(found: CoxRoot) -> tuple[str, ...]:
    """What a reader should know of corrected hazards.

    Examples
    --------
    >>> none = np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))
    >>> hazard_notes(CoxRoot(90, 1, "", *none))[0].partition(": ")[2]
    '1 event was left out.'
    >>> hazard_notes(CoxRoot(90, 0, "", *none))
    ()
    """
    notes = []
    if found.left_out:
        counted = "1 event was" if found.left_out == 1 else f"{found.left_out:,} events were"
        notes.append(
            f"With hidden covariates follow-up ends for everybody where fewer than {AT_RISK} records are at risk: "
            f"{counted} left out."
        )
    if found.failure:
        notes.append(_WHY[found.failure])
    return tuple(notes)


_WHY = {
    "few": "No estimate: fewer than half of the events remain. It takes more records, or covariates without noise.",
    "risk": (
        "No estimate: with the noise taken out, the risk of all who are left is not above 0 at some time. Ask for less "
        "noise, or fit the model without the noisiest column."
    ),
    "root": (
        "No estimate: with this noise the equations have no solution that true data could have. Ask for less noise, or "
        "fit the model without the noisiest column."
    ),
}
"""Why there is no estimate, and what helps."""
