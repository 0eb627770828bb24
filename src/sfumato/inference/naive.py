"""The naive fit: released values taken for the true ones, rows with missing values left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.inference.outcome import Family
from sfumato.inference.problem import Problem
from sfumato.kernels import glm
from sfumato.kernels.ascent import Value, inverse, newton
from sfumato.kernels.mixture import Mixture, Patterns
from sfumato.kernels.response import Response

__all__ = ["Naive", "naive_fit", "plain_fit", "sandwich"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Naive:
    """What a naive analysis says.

    Parameters
    ----------
    estimate, covariance
        Coefficients, and thresholds of an ordered model, shape (p,) and (p, p).
    extra
        Further parameters of the response: log σ or thresholds.
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
    """

    estimate: Floats
    covariance: Floats
    extra: Floats
    log_likelihood: float
    converged: bool
    n: int
    sigma: float
    aliased: tuple[str, ...]
    separated: bool
    spread: Floats


def naive_fit(problem: Problem, family: Family, cluster: Ints | None = None) -> Naive:
    """Fit the model to released values as if they were true.

    Parameters
    ----------
    problem
        The model with its data.
    family
        Its family.
    cluster
        Cluster of each row; standard errors are then of the sandwich form, as they are with weights.

    Raises
    ------
    DataError
        Where no row has a value in every covariate.
    """
    X = problem.naive_design()
    whole = ~np.isnan(X).any(axis=1)
    if not whole.any():
        raise DataError("No row has a value in every covariate. Leave the emptiest columns out of the formula.")
    X, y, plain = X[whole], problem.outcome.values[whole], problem.outcome.plain.take(np.flatnonzero(whole))
    by_glm: glm.Family = {"probit": "probit", "logit": "logistic"}.get(family, "linear")  # type: ignore[assignment]
    first = glm.fit(X, y, by_glm)
    names = tuple(problem.columns.labels[j] for j in first.aliased)
    start = np.nan_to_num(first.coefficients)
    simple = family in ("linear", "probit", "logit") and not problem.keep_rows
    if names or simple:
        return _from_glm(first, X, y, family, names, start)
    if family in ("poisson", "ordered"):
        start = _start(X, y, family, start)
    extra = _extra(X, y, family, start, plain.extra)
    weight = problem.weight[whole]
    rows = None if cluster is None else cluster[whole]
    return plain_fit(X, plain, weight, start, extra, family, problem.keep_rows, rows, first.separated)


def _start(X: Floats, y: Floats, family: Family, linear: Floats) -> Floats:
    """Coefficients to begin at: of the logarithm for counts, of standardised codes for categories."""
    if family == "poisson":
        return np.nan_to_num(glm.fit(X, np.log(y + 0.5), "linear").coefficients)
    return linear / max(float(np.std(y - X @ linear)), 1e-3)


def _extra(X: Floats, y: Floats, family: Family, start: Floats, count: int) -> Floats:
    """Log σ, or thresholds that give each category its share."""
    if family == "linear":
        return np.array([np.log(max(float(np.std(y - X @ start)), 1e-150))])
    if family == "ordered":
        from scipy.special import ndtri

        shares = np.cumsum(np.bincount(y.astype(int), minlength=count + 1) + 0.5)
        eta = X @ start
        scale = np.sqrt(1 + eta.var()) if len(eta) else 1.0
        return np.asarray(ndtri(shares[:-1] / shares[-1]) * scale + (eta.mean() if len(eta) else 0.0))
    return np.zeros(0)


def _from_glm(first: glm.Fit, X: Floats, y: Floats, family: Family, aliased: tuple[str, ...], start: Floats) -> Naive:
    sigma, extra = np.nan, np.zeros(0)
    if family == "linear":
        rss = float(((y - X @ start) ** 2).sum())
        sigma = np.sqrt(rss / max(first.residual_degrees, 1))
        extra = np.array([0.5 * np.log(max(rss / len(y), 1e-300))])
    return Naive(
        first.coefficients,
        first.covariance,
        extra,
        first.log_likelihood,
        first.converged,
        len(y),
        float(sigma),
        aliased,
        first.separated,
        X.std(axis=0),
    )


def plain_fit(
    X: Floats,
    response: Response,
    weight: Floats,
    start: Floats,
    extra: Floats,
    family: Family,
    robust: bool,
    cluster: Ints | None,
    separated: bool,
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
    robust
        Whether standard errors are of the sandwich form, by `cluster` where there is one.
    cluster
        Cluster of each row.
    separated
        What the result says of separation.
    """
    n, p = X.shape
    nothing = Patterns(np.zeros((1, 0)), np.zeros((n, 0)))
    model = Mixture(X, np.ones((1, p)), response, nothing, None, np.arange(n + 1), weight)

    def look(theta: Floats) -> Value:
        found = model.look(theta)
        return Value(found.log_likelihood, found.gradient, found.information)

    top, value = newton(look, np.concatenate([start, extra]))
    covariance, _ = inverse(value.information)
    if robust:
        covariance = sandwich(covariance, model.scores(top.theta) * weight[:, None], np.arange(n), cluster)
    shown = p + (len(extra) if family == "ordered" else 0)
    sigma = float(np.exp(top.theta[p])) if family == "linear" else np.nan
    return Naive(
        top.theta[:shown],
        covariance[:shown, :shown],
        top.theta[p:],
        top.log_likelihood,
        top.converged,
        n,
        sigma,
        (),
        separated,
        X.std(axis=0),
    )


def sandwich(bread: Floats, scores: Floats, rows: Ints, cluster: Ints | None) -> Floats:
    """Covariance that allows for weights and for dependence within clusters.

    Parameters
    ----------
    bread : ndarray, shape (P, P)
        Inverse of the observed information.
    scores : ndarray, shape (N, P)
        Weighted scores of rows.
    rows : ndarray, shape (N,)
        The row of the table of each.
    cluster : ndarray, shape (n,), or None
        Cluster of each row of the table.

    Returns
    -------
    ndarray, shape (P, P)
        With the factor m / (m − 1), m the number of clusters or rows.

    Examples
    --------
    >>> sandwich(np.eye(1), np.array([[1.0], [-1.0]]), np.arange(2), None).tolist()
    [[4.0]]
    """
    if cluster is not None:
        which, index = np.unique(cluster[rows], return_inverse=True)
        sums = np.zeros((len(which), scores.shape[1]))
        np.add.at(sums, index, scores)
        scores = sums
    m = len(scores)
    half = scores @ bread
    return np.asarray(half.T @ half) * (m / (m - 1) if m > 1 else 1.0)
