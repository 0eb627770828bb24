"""Random intercepts and slopes: maximum likelihood with the noise in covariates taken out in the same likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import Disclosure
from sfumato.data.formula import Formula
from sfumato.errors import DataError
from sfumato.inference.assemble import build_gaussian, build_mixture
from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.covariates.known import error_parts
from sfumato.inference.estimators.information import cost_of_noise, expected_design
from sfumato.inference.estimators.maximum_likelihood import UNDETERMINED, undetermined, without
from sfumato.inference.outcome import Outcome
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.maximisation import Summit, Value, bfgs, differences, inverse, newton, roots
from sfumato.kernels.likelihood.mixture import Mixture, Patterns
from sfumato.kernels.likelihood.random_effects import RandomEffects
from sfumato.kernels.likelihood.recession import Recession, Within
from sfumato.kernels.threads import one_thread

__all__ = ["RandomEstimate", "check_random", "fit_random", "naive_problem", "number_groups", "read_slope"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NODES = {1: (15, 61), 2: (9, 15)}
"""Nodes in each dimension, by the number of random effects: first, and where these turn out too few."""
_TOLERANCE = 1e-6
_INACCURATE = 1e-3
"""A log-likelihood that changes by more than this with more nodes asks for more nodes."""
_ZERO = 1e-6
_MOST_STEPS = 40
_STAGES = 6
_SETTLED = 1e-2
"""Nodes are placed anew until the maximum moves by less than this, in standard errors."""
_FAMILIES = ("linear", "probit", "logit")
_METHODS = ("ml", "naive")


@dataclass(frozen=True)
class RandomEstimate:
    """What maximum likelihood found for a model with random effects.

    Parameters
    ----------
    theta : ndarray, shape (P,)
        Coefficients, log σ of a linear model, parameters of the hidden covariates, lower triangle of R.
    covariance : ndarray, shape (P, P)
        Inverse of the observed information; NaN for coefficients that the data do not determine.
    log_likelihood, converged
        There.
    reliability, inflation
        As in `Fit`, shape (p,).
    variance, variance_se
        Variances and covariance of the random effects with their standard errors.
    notes
        What a reader should know.
    reached
        Whether the maximum was, be all coefficients determined or not.
    """

    theta: Floats
    covariance: Floats
    log_likelihood: float
    converged: bool
    reliability: Floats
    inflation: Floats
    variance: dict[str, float]
    variance_se: dict[str, float]
    notes: tuple[str, ...]
    reached: bool = True


def check_random(
    model: Formula,
    family: str,
    method: str,
    group: str | None,
    slope: str | None,
    weight: str | None,
    cluster: str | None,
) -> None:
    """Refuse what cannot stand together with random effects.

    Raises
    ------
    DataError
        For a slope without groups; for groups with weights, clusters, another family or method, or in the formula.

    Examples
    --------
    >>> from sfumato.data.formula import parse_formula
    >>> check_random(parse_formula("y ~ x"), "linear", "ml", "school", "x", None, None)
    """
    if group is None:
        if slope is not None:
            raise DataError("A random slope needs `group`, the column whose categories share it.")
        return
    if weight or cluster:
        raise DataError("Random effects take no `weight` and no `cluster`. Leave those out, or leave out `group`.")
    if family not in _FAMILIES:
        raise DataError(
            f"Random effects are for families {', '.join(_FAMILIES)}. Leave out `group`, or change `family`."
        )
    if method not in _METHODS:
        raise DataError(f"Random effects are for methods {', '.join(_METHODS)}. Leave out `group`, or change `method`.")
    if group in model.columns:
        raise DataError(f"The groups {group!r} stand in the formula too. Leave them out of one of the two.")
    if not model.intercept:
        raise DataError("Random effects need an intercept, which the formula leaves out.")
    if slope is not None and slope not in model.columns[1:]:
        raise DataError(
            f"A random slope is that of a covariate of the model; {slope!r} is none. Add it to the formula."
        )


def number_groups(frame: pl.DataFrame, name: str, disclosure: Disclosure) -> Ints:
    """Number the groups of a table from 0 in order of their labels, shape (n,).

    Raises
    ------
    DataError
        Where labels are noisy, there is one group, or no group has two rows.

    Examples
    --------
    >>> number_groups(pl.DataFrame({"school": ["b", "a", "b"]}), "school", Disclosure()).tolist()
    [1, 0, 1]
    """
    if error_parts(disclosure, name):
        raise DataError(f"The disclosure says that {name!r} was released with noise; groups must be the true ones.")
    number = frame.select(pl.col(name).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    sizes = np.bincount(number)
    if len(sizes) < 2:
        raise DataError(f"Random effects need two groups at least; {name!r} has one.")
    if sizes.max() < 2:
        raise DataError(
            f"No group of {name!r} has two rows, so that its effects cannot be told from errors. Leave out `group`."
        )
    return number


def read_slope(problem: Problem, name: str | None) -> Floats | None:
    """The covariate of a random slope, shape (n,).

    Raises
    ------
    DataError
        Where it is no exact number.
    """
    if name is None:
        return None
    covariate = problem.covariates[name]
    if not covariate.exact or covariate.levels:
        raise DataError(f"A random slope needs an exact, complete covariate of numbers; {name!r} is not.")
    if np.ptp(covariate.values) == 0:
        raise DataError(f"A random slope needs a covariate that varies; {name!r} does not.")
    return covariate.values


def naive_problem(problem: Problem) -> tuple[Problem, Ints]:
    """The same model with released values taken for true ones, and the rows that are complete."""
    rows = np.flatnonzero(~np.isnan(problem.naive_design()).any(axis=1))
    covariates = {n: Covariate(n, c.levels, c.naive[rows]) for n, c in problem.covariates.items()}
    plain, values = problem.outcome.plain.take(rows), problem.outcome.values[rows]
    outcome = Outcome(plain, plain, values, True, None, problem.outcome.levels)
    return Problem(problem.columns, covariates, outcome, problem.weight[rows], True), rows


def fit_random(
    problem: Problem, group: Ints, slope: Floats | None, start: Floats, recession: Recession | None = None
) -> RandomEstimate:
    """Fit a model with random effects by maximum likelihood.

    All parameters, those of the hidden covariates among them, are estimated jointly. Given the exact covariates, the
    hidden ones are taken to be independent between rows and of the random effects.

    Parameters
    ----------
    problem
        The model with its data.
    group : ndarray, shape (n,)
        Group of each row, numbered from 0.
    slope : ndarray, shape (n,), or None
        Covariate of the random slope.
    start : ndarray, shape (P − 1 or P − 3,)
        Parameters of the model without random effects.
    recession
        Where the likelihood has no maximum, as without random effects: the supremum is found then.
    """
    with one_thread():
        problem = replace(problem, keep_rows=True)
        model, rows = _build(problem)
        x = np.ones((len(rows), 1)) if slope is None else np.column_stack([np.ones(len(rows)), slope[rows]])
        theta = np.concatenate([start, _start(model, start, x)])
        first, more = NODES[x.shape[1]]
        work = RandomEffects(model, rows, group[rows], x, first)
        finer = RandomEffects(model, rows, group[rows], x, more)
        within = None if recession is None else recession.within.wider(len(theta))
        top, information = _climb(work, theta, within)
        notes: tuple[str, ...] = ()
        off = abs(finer.look(top.theta).log_likelihood - top.log_likelihood)
        if off > _INACCURATE or not top.converged:
            work, top, information = _climb_in_stages(finer, top.theta, within)
            notes = (f"The integral over the random effects was hard; {more} nodes in each dimension were used.",)
        return _estimate(problem, work, rows, top, information, notes, recession)


def _build(problem: Problem) -> tuple[Mixture | GaussianMixture, Ints]:
    """The likelihood without random effects, its units single rows, and the row of the table of each of its rows."""
    if problem.continuous:
        return build_gaussian(problem)
    model, rows = build_mixture(problem)
    unit = np.repeat(np.arange(len(model.E)), np.diff(model.first))
    patterns = Patterns(model.patterns.T, model.patterns.w[unit])
    alone = replace(
        model, E=model.E[unit], response=model.response.take(unit), patterns=patterns, first=np.arange(len(rows) + 1)
    )
    return alone, rows


def _start(model: Mixture | GaussianMixture, start: Floats, x: Floats) -> Floats:
    """Lower triangle of R to begin at: half the errors' standard deviation."""
    sd = 0.5 * (math.exp(float(start[model.E.shape[1]])) if model.response.extra else 1.0)
    return np.array([sd]) if x.shape[1] == 1 else np.array([sd, 0.0, sd / float(x[:, 1].std())])


def _climb(work: RandomEffects, theta: Floats, within: Within | None) -> tuple[Summit, Floats]:
    """The maximum and the observed information there; Newton's steps settle the last digits."""
    if within is not None:
        top, information = _highest(within.look(lambda t: Value(*work.look(t))), within.nearest(theta))
        return replace(top, theta=within.place(top.theta)), information
    return _highest(lambda t: Value(*work.look(t)), theta)


def _highest(look: Callable[[Floats], Value], theta: Floats) -> tuple[Summit, Floats]:
    top = bfgs(look, theta, most=_MOST_STEPS)
    steps = roots(look(top.theta).information)
    information = differences(lambda t: look(t).gradient, top.theta, steps)
    if not inverse(information)[1]:
        return top, information
    better, _ = newton(lambda t: look(t)._replace(information=information), top.theta, _TOLERANCE, 10)
    done = better.converged or top.converged
    return Summit(better.theta, better.log_likelihood, done, top.steps + better.steps), information


def _climb_in_stages(work: RandomEffects, theta: Floats, within: Within | None) -> tuple[RandomEffects, Summit, Floats]:
    """The maximum where integrands have several peaks: nodes stay while it is sought, and are then placed anew."""
    for _ in range(_STAGES):
        work = work.place(theta).place(theta)
        top, information = _climb(work, theta, within)
        covariance, _ = inverse(information) if within is None else within.covariance(information)
        sd = np.sqrt(np.diagonal(covariance))
        moved, theta = float(np.max(np.abs(top.theta - theta) / np.where(sd > 0, sd, np.inf))), top.theta
        if moved < _SETTLED:
            break
    return work, replace(top, converged=top.converged and moved < 10 * _SETTLED), information


def _estimate(
    problem: Problem,
    work: RandomEffects,
    rows: Ints,
    top: Summit,
    information: Floats,
    notes: tuple[str, ...],
    recession: Recession | None,
) -> RandomEstimate:
    """Put everything that is reported together."""
    p, size = work.model.E.shape[1], work.model.size
    flat = recession.within if recession is not None else Within(np.zeros(p), np.eye(p), np.eye(p))
    within, inner_within = flat.wider(len(top.theta)), flat.wider(size)
    covariance, _ = within.covariance(information)
    lost = undetermined(information, p, within)
    if len(lost):
        notes = (*notes, UNDETERMINED)
    inner, root = work.split(top.theta)
    variance, variance_se = _variances(root, covariance[size:, size:])
    scale = math.exp(2 * float(inner[p])) if work.model.response.extra else 1.0
    spread = np.einsum("nd,de,ne->n", work.x, root @ root.T, work.x).mean()
    if variance["Intercept"] < _ZERO * scale or spread < _ZERO * scale:
        notes = (*notes, "A variance between groups is estimated as zero; its standard error means nothing there.")
    averaged, offset = work.average(top.theta)
    reliability, *_ = cost_of_noise(problem, averaged, rows, inner, covariance[:size, :size])
    inflation = np.ones(p)
    if problem.discrete or problem.continuous or not problem.outcome.exact:
        known = inner_within.basis.shape[1]
        fixed, _ = inner_within.covariance(information[:known, :known])  # at the effects' variance, on both sides
        full, _ = inverse(_without_noise(problem, work, averaged, rows, inner, root, offset))
        with np.errstate(divide="ignore", invalid="ignore"):
            inflation = np.sqrt(np.diagonal(fixed)[:p] / np.diagonal(full))
        inflation[lost] = np.nan
    endless = np.zeros(0, dtype=np.int64) if recession is None else np.flatnonzero(recession.lost)
    inflation[endless] = np.nan
    return RandomEstimate(
        top.theta,
        without(covariance, np.union1d(lost, endless)),
        top.log_likelihood,
        top.converged and not len(lost),
        reliability,
        inflation,
        variance,
        variance_se,
        notes,
        top.converged,
    )


def _variances(root: Floats, covariance: Floats) -> tuple[dict[str, float], dict[str, float]]:
    """Elements of R R' with their standard errors by the delta method."""
    if len(root) == 1:
        names, jacobian = ["Intercept"], np.array([[2 * root[0, 0]]])
        values = [root[0, 0] ** 2]
    else:
        (a, _), (b, c) = root
        names, values = ["Intercept", "slope", "covariance"], [a**2, b**2 + c**2, a * b]
        jacobian = np.array([[2 * a, 0.0, 0.0], [0.0, 2 * b, 2 * c], [b, a, 0.0]])
    se = np.sqrt(np.diagonal(jacobian @ covariance @ jacobian.T))
    return dict(zip(names, map(float, values), strict=True)), dict(zip(names, map(float, se), strict=True))


def _without_noise(
    problem: Problem,
    work: RandomEffects,
    averaged: Mixture | GaussianMixture,
    rows: Ints,
    inner: Floats,
    root: Floats,
    offset: Floats,
) -> Floats:
    """Information on the coefficients had the true values been released, the random effects' variance being known.

    Of the linearised model, in which responses given the effects are normal: Σ_g X'WX − X'WZ (I + Z'WZ)⁻¹ Z'WX with
    W of each row at its expected predictor; expectations are over the hidden covariates.
    """
    p, d = work.model.E.shape[1], work.effects
    b, extra = inner[:p], inner[p : p + work.model.response.extra]
    z = work.x @ root
    groups = int(work.group.max()) + 1
    own, cross, middle = np.zeros((p, p)), np.zeros((groups, d, p)), np.tile(np.eye(d), (groups, 1, 1))
    for part, share, x, xx in expected_design(problem, averaged, inner):
        eta = (x @ b + offset[part])[:, None]
        W = -problem.outcome.plain.take(rows[part]).slope(eta, 0.0, extra).mm[:, 0] * share
        own += x.T @ (x * W[:, None]) + np.diag(W @ np.maximum(xx - x**2, 0.0))
        zw = z[part] * W[:, None]
        np.add.at(cross, work.group[part], zw[:, :, None] * x[:, None, :])
        np.add.at(middle, work.group[part], zw[:, :, None] * z[part][:, None, :])
    return np.asarray(own - np.einsum("gdp,gdq->pq", cross, np.linalg.solve(middle, cross)))
