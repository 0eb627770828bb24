"""Maximum likelihood for an assembled problem, with standard errors and what the noise cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.inference.assemble import build_gaussian, build_mixture
from sfumato.inference.estimators.information import cost_of_noise
from sfumato.inference.estimators.sandwich import sandwich
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.maximisation import (
    Summit,
    Value,
    bfgs,
    careful,
    differences,
    flat,
    inverse,
    newton,
    roots,
)
from sfumato.kernels.likelihood.mixture import Factors, Mixture
from sfumato.kernels.likelihood.recession import Recession, Within
from sfumato.kernels.likelihood.response import Ordered
from sfumato.kernels.threads import one_thread

__all__ = [
    "UNDETERMINED",
    "Estimate",
    "influences",
    "maximum_likelihood",
    "scores_by_row",
    "start_patterns",
    "undetermined",
    "without",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ACCURATE = 0.01
"""A log-likelihood that changes by more than this with twice as many nodes asks for them."""
_FEW = 5
"""Expected records below which a combination of hidden categories is told to be rare."""
_UNITS = 2_000
_FINEST = 16
"""Most times as many nodes as usual."""
_COARSE = (
    "The response tells so much of the hidden covariates that the integrals over them would take more nodes than "
    "memory is meant for; estimates and standard errors are rough. Fit a random sample of the rows."
)
UNDETERMINED = (
    "The data do not determine every coefficient: the noise is too strong, or terms are collinear. Those that they do "
    "not determine have no estimate and no interval."
)
_MOVES = 1e-3
"""A direction of unit length that moves a parameter by more than this moves it."""
TOLERANCE = 1e-6
"""An ascent ends where its next step is below this, in standard errors."""


@dataclass(frozen=True)
class Estimate:
    """What maximum likelihood found.

    Parameters
    ----------
    theta : ndarray, shape (P,)
        All parameters: coefficients, further parameters of the response, then those of the covariates.
    covariance : ndarray, shape (P, P)
        Inverse of the observed information, or the sandwich; NaN for coefficients that the data do not determine.
    log_likelihood
        At `theta`.
    converged
        Whether the maximum was reached and every coefficient is determined.
    reliability, inflation
        As in `Fit`, shape (p,) and (p + e,).
    spread
        Standard deviation of each column's true values, shape (p,).
    complete
        Covariance of coefficients and further parameters of the response that the true covariates would have given,
        shape (p + e, p + e).
    model, information
        The likelihood, and the observed information at `theta`, shape (P, P).
    rows
        The row of the table of each of the model's.
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
    spread: Floats
    complete: Floats
    model: Mixture | GaussianMixture
    information: Floats
    rows: Ints
    notes: tuple[str, ...] = ()
    reached: bool = True


def maximum_likelihood(
    problem: Problem,
    start: Floats,
    extra: Floats,
    cluster: Ints | None = None,
    penalty: Floats | None = None,
    leverage: Floats | None = None,
    recession: Recession | None = None,
) -> Estimate:
    """Fit the model by maximum likelihood.

    Parameters
    ----------
    problem
        The model with its data.
    start : ndarray, shape (p,)
        Coefficients to begin at, for instance the naive ones.
    extra : ndarray, shape (e,)
        Further parameters of the response to begin at.
    cluster : ndarray, shape (n,), optional
        Cluster of each row, numbered from 0, for standard errors of problems whose rule needs it.
    penalty : ndarray, shape (p,), optional
        Precision of a normal prior around 0 on each coefficient.
    leverage : ndarray, shape (n,), optional
        Of each row, for problems whose rule needs it.
    recession
        Where the likelihood has no maximum. What is found then is its supremum: coefficients and thresholds without a
        maximum are far out, and have no covariance; the information is that on the parameters of its flat.
    """
    with one_thread():  # on blocks this small, its threads mostly wait for each other
        return _maximum(problem, start, extra, cluster, penalty, leverage, recession)


def _maximum(
    problem: Problem,
    start: Floats,
    extra: Floats,
    cluster: Ints | None,
    penalty: Floats | None,
    leverage: Floats | None,
    recession: Recession | None,
) -> Estimate:
    if problem.continuous:
        gaussian, rows = build_gaussian(problem)
        theta = _start_gaussian(gaussian, problem, start, extra)
        model: Mixture | GaussianMixture = gaussian
    else:
        model, rows = build_mixture(problem)
        theta = np.concatenate([start, extra, start_patterns(model.factors, model.weight, model)])
    prior = np.zeros(model.size)
    if penalty is not None:
        prior[: len(penalty)] = penalty
    unsure: tuple[str, ...] = ()
    within = None if recession is None else recession.within.wider(model.size)
    top = _ascend(model, theta, prior, within)
    while isinstance(model, GaussianMixture) and (finer := _finer(problem, model, top.theta)):
        if isinstance(finer, str):
            unsure = (finer,)
            break
        model, rows = finer
        top = _ascend(model, top.theta, prior, within)
    top, information = _settle(model, top, prior, within)
    bread, complete = inverse(information) if within is None else within.covariance(information)
    covariance = bread
    if problem.rule != "model":
        scores = scores_by_row(model, rows, top.theta) * problem.weight[:, None]
        count = len(start) + (len(extra) if isinstance(model.response, Ordered) else 0)
        covariance = sandwich(bread, scores, problem.rule, cluster, leverage, count)
    reliability, inflation, spread, full = cost_of_noise(problem, model, rows, top.theta, bread)
    notes: tuple[str, ...] = ()
    lost = np.zeros(0, dtype=np.int64)
    if recession is not None:
        endless = np.flatnonzero(recession.lost)
        covariance, inflation = without(covariance, endless), _nan_at(inflation, endless)
    if not complete:
        lost = undetermined(information, len(start) + len(extra), within)
        covariance, inflation = without(covariance, lost), _nan_at(inflation, lost)
        notes = (
            (UNDETERMINED,)
            if len(lost)
            else ("Some combinations of the hidden covariates are estimated not to occur.",)
        )
    return Estimate(
        top.theta,
        covariance,
        top.log_likelihood,
        top.converged and not len(lost) and not unsure,
        reliability,
        inflation,
        spread,
        full,
        model,
        information,
        rows,
        (*notes, *unsure, *_rare(problem, model, top.theta)),
        top.converged,
    )


def _nan_at(values: Floats, lost: Ints) -> Floats:
    values = values.copy()
    values[lost] = np.nan
    return values


def scores_by_row(model: Mixture | GaussianMixture, rows: Ints, theta: Floats) -> Floats:
    """Scores of the rows of the table, without weights, in its order, shape (n, P); equal rows are not joined."""
    records = rows if isinstance(model, Mixture) else rows[model.records]
    out = np.empty((len(records), model.size))
    out[records] = model.scores(theta)
    return out


def influences(problem: Problem, found: Estimate) -> Floats:
    """What each row of the table adds to the parameters: its weighted score times the inverse information, (n, P).

    Parameters
    ----------
    problem, found
        The model with its data, and the maximum.
    """
    model, rows = found.model, found.rows
    if isinstance(model, Mixture) and len(rows) < problem.n:  # equal rows were joined
        model, rows = build_mixture(replace(problem, keep_rows=True))
    scores = scores_by_row(model, rows, found.theta) * problem.weight[:, None]
    return np.asarray(scores @ inverse(found.information)[0])


def _rare(problem: Problem, model: Mixture | GaussianMixture, theta: Floats) -> tuple[str, ...]:
    """A warning where hidden categories interact and a combination of them hardly occurs."""
    names = [c.name for c in problem.discrete]
    crossed = {n for found in problem.columns.with_any(names) if len(set(found)) > 1 for n in found}
    if not crossed:
        return ()
    count = len(model.patterns.w)
    units = np.linspace(0, count - 1, min(count, _UNITS)).astype(np.int64)
    share = np.exp(model.patterns.log_probability(model.split(theta)[2], units)).mean(axis=0)
    if isinstance(model, GaussianMixture):
        share = share.reshape(model.parts, -1).sum(axis=0)
    if share.min() * problem.weight.sum() >= _FEW:
        return ()
    return (
        f"Some combinations of the true values of {', '.join(sorted(crossed))} hardly occur: coefficients of their "
        "interaction rest on next to no records. Recode to broader categories, or leave the interaction out.",
    )


def _finer(problem: Problem, model: GaussianMixture, theta: Floats) -> tuple[GaussianMixture, Ints] | str | None:
    """The likelihood over twice as many nodes, where that is another one; what to say where it cannot be had."""
    try:
        finer, rows = build_gaussian(replace(problem, finer=2 * problem.finer))
    except DataError:
        return _COARSE
    if len(finer.E) == len(model.E):
        return None
    gap = float(np.diff([m.log_likelihoods(theta[None])[0] for m in (model, finer)])[0])
    if abs(gap) <= _ACCURATE:
        return None
    if 2 * problem.finer > _FINEST:
        return _COARSE
    problem.finer *= 2
    return finer, rows


def _ascend(model: Mixture | GaussianMixture, theta: Floats, prior: Floats, within: Within | None = None) -> Summit:
    """The maximum, with a `GaussianMixture` but for its last digits."""
    start = theta if within is None else within.nearest(theta)
    look = _seen(model, prior, within)
    top = newton(look, start, TOLERANCE)[0] if isinstance(model, Mixture) else bfgs(careful(look), start)
    return top if within is None else replace(top, theta=within.place(top.theta))


def _seen(model: Mixture | GaussianMixture, prior: Floats, within: Within | None) -> Callable[[Floats], Value]:
    """The likelihood as an ascent sees it, of all parameters or those of a flat."""

    def look(t: Floats) -> Value:
        if isinstance(model, Mixture):
            return _by_louis(model, t, prior)
        return _penalised(prior, t, *model.evaluate(t))

    return look if within is None else within.look(look)


def _settle(
    model: Mixture | GaussianMixture, top: Summit, prior: Floats, within: Within | None = None
) -> tuple[Summit, Floats]:
    """The maximum from near by, and the observed information there, of all parameters or those of a flat."""
    look = _seen(model, prior, within)
    start = top.theta if within is None else within.nearest(top.theta)
    if isinstance(model, Mixture):
        return top, look(start).information

    def gradient(t: Floats) -> Floats:
        theta = t if within is None else within.place(t)
        own = np.asarray(model.evaluate(theta, False)[1] - prior * theta)
        return own if within is None else np.asarray(within.basis.T @ own)

    better, information = _polish(look, gradient, replace(top, theta=start))
    return (better if within is None else replace(better, theta=within.place(better.theta))), information


def _by_louis(model: Mixture, t: Floats, prior: Floats) -> Value:
    look = model.look(t)
    return _penalised(prior, t, look.log_likelihood, look.gradient, look.information)


def _penalised(prior: Floats, t: Floats, log_l: float, gradient: Floats, information: Floats) -> Value:
    return Value(log_l - 0.5 * float(prior @ t**2), gradient - prior * t, information + np.diag(prior))


def _polish(
    look: Callable[[Floats], Value], gradient: Callable[[Floats], Floats], top: Summit
) -> tuple[Summit, Floats]:
    """Newton's steps with one Hessian by differences, from where BFGS ended; they settle the last digits."""
    value = look(top.theta)
    information = differences(gradient, top.theta, roots(value.information))
    if not inverse(information)[1]:
        return top, information

    def frozen(t: Floats) -> Value:
        return look(t)._replace(information=information)

    better, _ = newton(frozen, top.theta, TOLERANCE, 10)
    return Summit(better.theta, better.log_likelihood, better.converged or top.converged, top.steps + better.steps), (
        information
    )


def undetermined(information: Floats, count: int, within: Within | None = None) -> Ints:
    """Places of those among the first `count` parameters that some direction without information moves.

    Parameters
    ----------
    information : ndarray, shape (r, r)
        On the parameters, or on those of a flat.
    count
        How many parameters are looked at.
    within
        The flat.

    Examples
    --------
    >>> undetermined(np.diag([4.0, 0.0, 1.0]), 2).tolist()
    [1]
    """
    directions = flat(information)
    if within is not None:
        directions = within.basis @ directions
    return np.flatnonzero(np.abs(directions[:count]).max(axis=1, initial=0.0) > _MOVES)


def without(covariance: Floats, lost: Ints) -> Floats:
    """A covariance with NaN for parameters that are not determined: theirs is no small one, but there is none.

    Examples
    --------
    >>> without(np.eye(2), np.array([1])).tolist()
    [[1.0, nan], [nan, nan]]
    """
    out = covariance.copy()
    out[lost] = np.nan
    out[:, lost] = np.nan
    return out


def start_patterns(factors: Factors | None, weight: Floats, model: Mixture | GaussianMixture) -> Floats:
    """Parameters of the patterns from what was released of them alone, by a few steps of EM."""
    gamma = np.zeros(model.patterns.count)
    if factors is None:
        return gamma
    K = len(model.patterns.T)
    pi = np.full(K, 1 / K)
    step = max(1, (1 << 20) // K)
    for _ in range(8):
        total = np.zeros(K)
        for start in range(0, len(weight), step):
            f = factors.rows(start, min(start + step, len(weight))) * pi
            total += (weight[start : start + step] / f.sum(axis=1)) @ f
        pi = total / total.sum()
    pi = np.maximum(pi, 1e-4 / K)
    gamma[: K - 1] = np.log(pi[1:] / pi[0])
    return gamma


def _start_gaussian(model: GaussianMixture, problem: Problem, start: Floats, extra: Floats) -> Floats:
    """Parameters of the covariates as they were found alone; else by moments: what was released, less the noise."""
    if problem.shape.theta is not None:
        return np.concatenate([start, extra, problem.shape.theta])
    z = np.column_stack([c.latent for c in problem.continuous])
    variance = np.column_stack([c.variance for c in problem.continuous if c.variance is not None])
    known = ~np.isnan(z)
    mean = np.array([z[k, j].mean() for j, k in enumerate(known.T)])
    spread = np.array([z[k, j].var() - variance[k, j].mean() for j, k in enumerate(known.T)])
    c = model.components
    A = np.zeros((model.T.shape[1] + model.patterns.w.shape[1], c))
    A[: model.base_means] = mean
    floor = np.array([1e-3 * z[k, j].var() for j, k in enumerate(known.T)])
    S = np.tile(np.diag(np.maximum(spread, floor)), (model.parts, 1, 1))
    return model.join(start, extra, start_patterns(model.factors, model.weight, model), A, S)
