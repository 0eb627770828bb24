"""What the noise cost: how reliable each term is, and how much wider its interval became."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.maximisation import inverse
from sfumato.kernels.likelihood.mixture import Mixture

__all__ = ["cost_of_noise", "expected_design"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 1 << 20


def cost_of_noise(
    problem: Problem, model: Mixture | GaussianMixture, rows: Ints, theta: Floats, bread: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Work out reliability, inflation of standard errors, and the spread of the true columns.

    Parameters
    ----------
    problem, model, rows, theta
        What was fitted, and where it ended.
    bread : ndarray, shape (P, P)
        Inverse of the observed information.

    Returns
    -------
    reliability : ndarray, shape (p,)
        Squared correlation of each column's released and true values; 1 for exact columns, NaN for constant ones.
    inflation : ndarray, shape (p + e,)
        Standard errors over those that the true covariates would have given.
    spread : ndarray, shape (p,)
        Standard deviation of each column's true values.
    complete : ndarray, shape (p + e, p + e)
        Covariance that the true covariates would have given.
    """
    p = len(problem.columns.labels)
    e = model.response.extra
    if not (problem.discrete or problem.continuous) and problem.outcome.exact:
        constant = np.array([not parts for parts in problem.columns.parts])
        spread = problem.exact_part().std(axis=0)
        return np.where(constant, np.nan, 1.0), np.ones(p + e), spread, bread[: p + e, : p + e]
    full, _ = inverse(_complete(problem, model, rows, theta))
    with np.errstate(divide="ignore", invalid="ignore"):
        inflation = np.sqrt(np.diagonal(bread)[: p + e] / np.diagonal(full))
    reliability, spread = _reliability(problem, model, rows, theta)
    return reliability, inflation, spread, full


def expected_design(
    problem: Problem, model: Mixture | GaussianMixture, theta: Floats
) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Give rows of the model, their shares of their records, and expectations of design and squares, shape (m, p)."""
    if isinstance(model, Mixture):
        for rows, units, r in model.responsibilities(theta):
            E = model.E[units]
            yield rows, np.ones(len(E)), E * (r @ model.Q), E**2 * (r @ model.Q**2)
        return
    for found in model.posterior(theta):
        E = model.E[found.rows]
        first, second = E * (found.r @ model.Q), E**2 * (found.r @ model.Q**2)
        for j in range(model.components):
            own = model.owner == j
            mean = found.mean[:, :, j]
            square = mean**2 + found.covariance[:, j, j]
            first[:, own] = E[:, own] * ((found.r * mean) @ model.Q[:, own])
            second[:, own] = E[:, own] ** 2 * ((found.r * square) @ model.Q[:, own] ** 2)
        yield found.rows, found.share, first, second


def _reliability(
    problem: Problem, model: Mixture | GaussianMixture, rows: Ints, theta: Floats
) -> tuple[Floats, Floats]:
    """Squared correlation of what was released with what is true, over rows with both; sd of the true ones."""
    p = len(problem.columns.labels)
    hidden = {c.name for c in (*problem.discrete, *problem.continuous)}
    touched = np.array([bool(found) for found in problem.columns.with_any(hidden)])
    constant = np.array([not parts for parts in problem.columns.parts])
    sums = np.zeros((6, p))
    naive = problem.naive_design()[rows]
    for part, share, x, xx in expected_design(problem, model, theta):
        z, omega = naive[part], (model.weight[part] * share)[:, None]
        known = ~np.isnan(z)
        z, omega = np.where(known, z, 0.0), omega * known
        sums += np.stack([(omega * v).sum(axis=0) for v in (np.ones_like(z), x, xx, z, z**2, x * z)])
    total = np.maximum(sums[0], 1e-300)
    mx, mxx, mz, mzz, mxz = sums[1:] / total
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = (mxz - mx * mz) ** 2 / ((mxx - mx**2) * (mzz - mz**2))
    reliability = np.where(constant, np.nan, np.where(touched, np.clip(squared, 0.0, 1.0), 1.0))
    return reliability, np.sqrt(np.maximum(mxx - mx**2, 0.0))


def _complete(problem: Problem, model: Mixture | GaussianMixture, rows: Ints, theta: Floats) -> Floats:
    """Information on coefficients and further parameters had the true covariates and responses been released."""
    plain = problem.outcome.plain if problem.outcome.exact else None
    if isinstance(model, Mixture) and plain is not None:
        p = model.E.shape[1] + model.response.extra
        return np.asarray(model.look(theta).complete[:p, :p])
    return _complete_by_rows(problem, model, rows, theta)


def _complete_by_rows(problem: Problem, model: Mixture | GaussianMixture, rows: Ints, theta: Floats) -> Floats:
    """The same from expected designs: second derivatives are taken at the expected predictor of each row."""
    p, e = model.E.shape[1], model.response.extra
    parts = model.split(theta)
    b, extra = parts[0], parts[1]
    out = np.zeros((p + e, p + e))
    for part, share, x, xx in expected_design(problem, model, theta):
        omega = model.weight[part] * share
        index = np.arange(part.start, part.stop)
        taken = problem.outcome.plain.take(rows[index])
        slope = taken.slope((x @ b)[:, None], 0.0, extra)
        h = -slope.mm[:, 0] * omega
        out[:p, :p] += x.T @ (x * h[:, None]) + np.diag(h @ np.maximum(xx - x**2, 0.0))
        for j in range(e):
            cross = -x.T @ (slope.m_extra[j, :, 0] * omega)
            out[:p, p + j] += cross
            out[p + j, :p] += cross
            for i in range(e):
                out[p + i, p + j] -= float(slope.extra_extra[i, j, :, 0] @ omega)
    return out
