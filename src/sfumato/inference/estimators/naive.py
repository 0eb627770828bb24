"""The naive fit: released values taken for the true ones, rows with missing values left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sfumato.errors import DataError, FormulaError
from sfumato.inference.columns import Columns
from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.estimators.sandwich import Rule, leverage, sandwich
from sfumato.inference.outcome import Family
from sfumato.inference.problem import Problem
from sfumato.kernels import glm
from sfumato.kernels.likelihood.maximisation import Value, inverse, newton
from sfumato.kernels.likelihood.mixture import Mixture, Patterns
from sfumato.kernels.likelihood.negative_binomial import log_size
from sfumato.kernels.likelihood.recession import Recession, find_recession
from sfumato.kernels.likelihood.response import Linear, Poisson, Response

__all__ = [
    "Naive",
    "arguments",
    "is_plain",
    "leverages",
    "naive_fit",
    "plain_fit",
    "refuse_far_from_zero",
    "refuse_undetermined",
    "spread_of",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST = 1e-12
"""Information of columns below this is lost in digits."""
_HIGH = 345.0
_NEXT_TO_NONE = 1e-8
"""Share of the largest size below which a direction of the design has next to none."""
_SURE = {"probit": 4.0, "logit": 10.0, "ordered": 4.0, "poisson": 10.0}
"""By family, an argument of the likelihood beyond which a response is as good as certain, or a count as good as 0."""
_FAR = 1000.0
"""Largest product of mean over standard deviation in a power or product; up to 3,600 no digit was seen to be lost."""


@dataclass(frozen=True)
class Naive:
    """What a naive analysis says.

    Parameters
    ----------
    estimate, covariance
        Coefficients, and thresholds of an ordered model, shape (p,) and (p, p); NaN for those without a finite maximum.
    start, extra
        Coefficients to begin at, and further parameters of the response, log σ, log θ or thresholds; all finite.
    log_likelihood, converged, n
        Of the fit.
    sigma
        Standard deviation of a linear model's errors; NaN for other families.
    aliased
        Terms that the others determine.
    separated
        Whether the maximum does not exist.
    spread
        Standard deviation of each column, 0 for the constant, shape (p,).
    own
        Share of it that the other columns do not explain, shape (p,): small for a power far from zero.
    empty
        Those of `aliased` that are 0 in every row.
    recession, limit
        Where the maximum does not exist, and parameters as good as at the supremum, shape (p + e,); None where it does,
        and where that could not be told.
    """

    estimate: Floats
    covariance: Floats
    start: Floats
    extra: Floats
    log_likelihood: float
    converged: bool
    n: int
    sigma: float
    aliased: tuple[str, ...]
    separated: bool
    spread: Floats
    own: Floats
    empty: tuple[str, ...] = ()
    recession: Recession | None = None
    limit: Floats | None = None


def naive_fit(problem: Problem, family: Family, cluster: Ints | None = None) -> Naive:
    """Fit the model to released values as if they were true.

    Parameters
    ----------
    problem
        The model with its data.
    family
        Its family.
    cluster
        Cluster of each row, for rules of standard errors that need it.

    Raises
    ------
    DataError
        Where no row has a value in every covariate.
    """
    X = problem.naive_design()
    whole = ~np.isnan(X).any(axis=1)
    if not whole.any():
        raise DataError("No row has a value in every covariate. Leave the emptiest columns out of the formula.")
    kept = slice(None) if whole.all() else np.flatnonzero(whole)
    X, y, plain = X[kept], problem.outcome.values[kept], problem.outcome.plain.take(kept)
    by_glm: glm.Family = {"probit": "probit", "logit": "logistic"}.get(family, "linear")  # type: ignore[assignment]
    first = glm.fit(X, y, by_glm)
    names = problem.columns.labels
    start = np.nan_to_num(first.coefficients)
    weight = problem.weight[whole]
    rows = None if cluster is None else cluster[whole]
    if first.aliased or _by_glm(problem, family):
        found = _from_glm(first, X, y, family, names, start)
        robust = problem.rule == "HC3" and not (first.aliased or first.separated)
        found = _with_hc3(found, X, plain, first.covariance) if robust else found
    else:
        if family in ("poisson", "ordered"):
            start = _start(X, y, family, start)
        extra = _extra(X, y, family, start, plain.extra, weight)
        found = plain_fit(X, plain, weight, start, extra, family, problem.rule, rows, first.separated)
    if first.aliased or not _may_be_separated(found, X, y, family):
        return found
    recession = find_recession(*arguments(X, y, family, plain.extra))
    if recession is None:
        return found if found.converged and not found.separated else _without_estimate(found)
    start = np.zeros(X.shape[1])
    extra = _extra(X, y, family, start, plain.extra, weight)
    return plain_fit(X, plain, weight, start, extra, family, problem.rule, rows, True, recession)


def _without_estimate(found: Naive) -> Naive:
    """A fit that did not converge: the figures of its last step mean nothing."""
    nothing = np.full_like(found.covariance, np.nan)
    zero = np.zeros_like(found.start)
    return replace(found, estimate=nothing[0], covariance=nothing, start=zero, converged=False, separated=True)


def _may_be_separated(found: Naive, X: Floats, y: Floats, family: Family) -> bool:
    """Whether some response is so sure, or the fit went so wrong, that it must be seen whether there is a maximum."""
    if family == "linear":
        return False
    eta = X @ found.start
    if family == "poisson":
        sure = -eta[y == 0]
    elif family == "ordered":
        ends, code = np.concatenate([[-np.inf], found.extra, [np.inf]]), y.astype(np.int64)
        sure = np.concatenate([ends[1:][code] - eta, eta - ends[code]])
        sure = sure[np.isfinite(sure)]
    else:
        sure = (2 * y - 1) * eta
    return found.separated or not found.converged or float(sure.max(initial=0.0)) > _SURE[family]


def arguments(X: Floats, y: Floats, family: Family, thresholds: int = 0) -> tuple[Floats, Floats]:
    """What a likelihood increases in, and what it falls with on both sides, as rows; see `find_recession`.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        The design.
    y : ndarray, shape (n,)
        Responses: 0 or 1, counts, or codes of categories.
    family
        Of the model, not linear.
    thresholds
        How many an ordered model has.

    Examples
    --------
    >>> [a.tolist() for a in arguments(np.ones((2, 1)), np.array([0.0, 3.0]), "poisson")]
    [[[-1.0]], [[1.0]]]
    """
    if family == "poisson":
        return -X[y == 0], X[y != 0]
    if family != "ordered":
        return (2 * y - 1)[:, None] * X, X[:0]
    code = y.astype(np.int64)
    below, above = code < thresholds, code > 0
    ends = np.eye(thresholds)
    upper = np.column_stack([-X[below], ends[code[below]]])
    lower = np.column_stack([X[above], -ends[code[above] - 1]])
    return np.concatenate([upper, lower]), np.zeros((0, X.shape[1] + thresholds))


def _by_glm(problem: Problem, family: Family) -> bool:
    return family in ("linear", "probit", "logit") and problem.rule in ("model", "HC3")


def is_plain(problem: Problem, family: Family, method: str) -> bool:
    """Whether a method's fit is that of the plain kernel: for `ml`, nothing is hidden and the kernel has the family."""
    nothing_hidden = not (problem.discrete or problem.continuous) and problem.outcome.exact
    return (family == "cox" or _by_glm(problem, family)) and (method == "naive" or (method == "ml" and nothing_hidden))


def refuse_undetermined(naive: Naive, columns: Columns) -> None:
    """Refuse terms that the data cannot tell apart.

    Raises
    ------
    FormulaError
        Where the others determine a term, or no record has it.
    """
    if naive.empty:
        raise FormulaError(
            f"Of {columns.public(naive.empty)} a category or combination does not occur in the released data (in no "
            "record with a value in every column of the model), so that its coefficient cannot be estimated. Recode to "
            "broader categories, or leave the interaction out."
        )
    if naive.aliased:
        raise FormulaError(
            f"The terms {columns.public(naive.aliased)} are determined by the others (collinear). Leave them out of "
            "the formula; where they are combinations of categories, some may have no record: recode to broader ones."
        )


def refuse_far_from_zero(problem: Problem) -> None:
    """Refuse powers and products of numbers that lie so far from zero that an ascent cannot tell them apart.

    The plain kernel can, for it makes columns orthogonal first.

    Raises
    ------
    DataError
        Naming such a column.
    """
    ratio = {name: _distance(c) for name, c in problem.covariates.items() if not c.levels}
    for parts in problem.columns.parts:
        found = [name for name, level in parts if level is None]
        if len(found) > 1 and np.prod([max(1.0, ratio[name]) for name in found]) > _FAR:
            raise DataError(
                f"The values of {max(found, key=lambda n: ratio[n])!r} lie far from zero for how much they vary, so "
                "that its powers and products cannot be told apart. Subtract a value near their middle first."
            )


def _distance(covariate: Covariate) -> float:
    """Mean over standard deviation of a number, without noise; 0 where it does not vary."""
    noise = 0.0 if covariate.variance is None or covariate.scale else float(covariate.variance.mean())
    total = float(np.nanvar(covariate.naive))
    spread = max(total - noise, 1e-3 * total)
    return abs(float(np.nanmean(covariate.naive))) / spread**0.5 if spread else 0.0


def _start(X: Floats, y: Floats, family: Family, linear: Floats) -> Floats:
    """Coefficients to begin at: of the logarithm for counts, of standardised codes for categories."""
    if family == "poisson":
        above = np.maximum(y, 0.0)  # released with noise it may lie below
        return np.nan_to_num(glm.fit(X, np.log(above + 0.5), "linear").coefficients)
    return linear / max(float(np.std(y - X @ linear)), 1e-3)


def _extra(X: Floats, y: Floats, family: Family, start: Floats, count: int, weight: Floats) -> Floats:
    """Log σ, log θ of counts, or thresholds that give each category its share."""
    if family == "poisson" and count:
        return np.array([log_size(y, np.exp(np.minimum(X @ start, _HIGH)), weight)])
    if family == "linear":
        return np.array([np.log(max(float(np.std(y - X @ start)), 1e-150))])
    if family == "ordered":
        from scipy.special import ndtri

        shares = np.cumsum(np.bincount(y.astype(int), minlength=count + 1) + 0.5)
        eta = X @ start
        scale = np.sqrt(1 + eta.var()) if len(eta) else 1.0
        return np.asarray(ndtri(shares[:-1] / shares[-1]) * scale + (eta.mean() if len(eta) else 0.0))
    return np.zeros(0)


def _from_glm(first: glm.Fit, X: Floats, y: Floats, family: Family, names: tuple[str, ...], start: Floats) -> Naive:
    sigma, extra = np.nan, np.zeros(0)
    if family == "linear":
        rss = float(((y - X @ start) ** 2).sum())
        sigma = np.sqrt(rss / max(first.residual_degrees, 1))
        extra = np.array([0.5 * np.log(max(rss / len(y), 1e-300))])
    return Naive(
        first.coefficients,
        first.covariance,
        start,
        extra,
        first.log_likelihood,
        first.converged,
        len(y),
        float(sigma),
        tuple(names[j] for j in first.aliased),
        first.separated,
        *spread_of(X),
        tuple(names[j] for j in first.aliased if not X[:, j].any()),
    )


def plain_fit(
    X: Floats,
    response: Response,
    weight: Floats,
    start: Floats,
    extra: Floats,
    family: Family,
    rule: Rule,
    cluster: Ints | None,
    separated: bool,
    recession: Recession | None = None,
) -> Naive:
    """Fit by Newton's method: families and standard errors that the plain kernel does not have.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        The design.
    response
        Responses of the n rows.
    weight : ndarray, shape (n,)
        Of each row.
    start, extra : ndarray, shapes (p,) and (e,)
        Where to begin.
    family
        Of the model.
    rule
        Of the standard errors.
    cluster
        Cluster of each row.
    separated
        What the result says of separation.
    recession
        Where there is no maximum: the supremum is found then.
    """
    n, p = X.shape
    nothing = Patterns(np.zeros((1, 0)), np.zeros((n, 0)))
    model = Mixture(X, np.ones((1, p)), response, nothing, None, np.arange(n + 1), weight)

    def look(theta: Floats) -> Value:
        found = _rates(X, response, weight, theta) or model.look(theta)
        return Value(found.log_likelihood, found.gradient, found.information)

    first = np.concatenate([start, extra])
    if recession is None:
        top, value = newton(look, first)
        theta, (covariance, _) = top.theta, inverse(value.information)
    else:
        within = recession.within.wider(len(first))
        top, value = newton(within.look(look), within.nearest(first))
        theta, (covariance, _) = within.place(top.theta), within.covariance(value.information)
    shown = p + (len(extra) if family == "ordered" else 0)
    if rule != "model":
        h = _leverage(response, X, theta, recession) if rule == "HC3" else None
        if isinstance(response, Poisson):
            scores = X * (weight * (response.y - np.exp(X @ theta)))[:, None]
        else:
            scores = model.scores(theta) * weight[:, None]
        covariance = sandwich(covariance, scores, rule, cluster, h, shown)
    sigma = float(np.exp(theta[p])) if family == "linear" else np.nan
    estimate, covariance = theta[:shown].copy(), covariance[:shown, :shown]
    if recession is not None:
        estimate[recession.lost] = np.nan
        covariance[recession.lost] = np.nan
        covariance[:, recession.lost] = np.nan
    return Naive(
        estimate,
        covariance,
        theta[:p] if recession is None else start,
        theta[p:] if recession is None else extra,
        top.log_likelihood,
        top.converged,
        n,
        sigma,
        (),
        separated,
        *spread_of(X),
        recession=recession,
        limit=None if recession is None else theta,
    )


def _leverage(response: Response, X: Floats, theta: Floats, recession: Recession | None) -> Floats:
    """Leverage of each row; where the likelihood has no maximum, in the fit to the rows that matter at its limit."""
    working = _working(response, X, theta)
    if recession is None:
        return leverage(X, working)
    rows = X / np.sqrt((X**2).sum(axis=0)) * np.sqrt(np.maximum(working, 0.0))[:, None]
    directions, sizes, _ = np.linalg.svd(rows, full_matrices=False)
    return np.asarray((directions[:, sizes > _NEXT_TO_NONE * sizes.max(initial=0.0)] ** 2).sum(axis=1))


def _rates(X: Floats, response: Response, weight: Floats, theta: Floats) -> Value | None:
    """The likelihood of counts, without the detour by distributions of hidden values; None for other responses."""
    if not isinstance(response, Poisson):
        return None
    eta = X @ theta
    with np.errstate(over="ignore"):
        mean = np.exp(eta)
    mass, y = weight * mean, response.y
    height = float((weight * y) @ eta - mass.sum() - weight @ gammaln(np.maximum(y, 0.0) + 1))
    return Value(height, X.T @ (weight * y - mass), X.T @ (X * mass[:, None]))


def _with_hc3(found: Naive, X: Floats, response: Response, bread: Floats) -> Naive:
    """The plain kernel's fit with robust standard errors."""
    extra = np.log([found.sigma]) if len(found.extra) else found.extra  # σ as the kernel's covariance has it
    if isinstance(response, Linear):
        scores = X * ((response.y - X @ found.estimate) / found.sigma**2)[:, None]
        return replace(found, covariance=sandwich(bread, scores, "HC3", None, leverage(X)))
    scores = X * response.slope((X @ found.estimate)[:, None], 0.0, extra).m
    h = leverage(X, _working(response, X, np.concatenate([found.estimate, extra])))
    return replace(found, covariance=sandwich(bread, scores, "HC3", None, h))


def _working(response: Response, X: Floats, theta: Floats) -> Floats:
    """Working weights of a fit, shape (n,): how fast each score falls as the linear predictor grows."""
    p = X.shape[1]
    return -response.slope((X @ theta[:p])[:, None], 0.0, theta[p:]).mm[:, 0]


def leverages(problem: Problem, naive: Naive) -> Floats:
    """Leverage of each row in the fit to released values, shape (n,); a missing value counts as the column's mean.

    Parameters
    ----------
    problem
        The model with its data.
    naive
        That fit.
    """
    X = problem.naive_design()
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    theta = np.concatenate([naive.start, naive.extra]) if naive.limit is None else naive.limit
    return _leverage(problem.outcome.plain, X, theta, naive.recession)


def spread_of(X: Floats) -> tuple[Floats, Floats]:
    """Standard deviation of each column, and the share of it that the other columns do not explain, shapes (p,).

    Parameters
    ----------
    X : ndarray, shape (n, p)
        A design.

    Examples
    --------
    >>> [told.round(2).tolist() for told in spread_of(np.array([[1.0, 0.0], [1.0, 2.0]]))]
    [[0.0, 1.0], [1.0, 1.0]]
    """
    gap = X - X.mean(axis=0)
    moments = gap.T @ gap / len(X)
    spread = np.sqrt(np.diagonal(moments))
    varies = np.flatnonzero(spread > 0)
    correlation = moments[np.ix_(varies, varies)] / np.outer(spread[varies], spread[varies])
    values, vectors = np.linalg.eigh(correlation)
    own = np.ones(X.shape[1])
    own[varies] = 1 / np.sqrt((vectors**2 / np.maximum(values, _LEAST)).sum(axis=1))
    return spread, own
