"""Quick corrections to set beside maximum likelihood: regression calibration, moments, SIMEX."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data.error_model import Additive
from sfumato.errors import DataError
from sfumato.inference.assemble import build_gaussian, build_mixture
from sfumato.inference.estimators.information import expected_design
from sfumato.inference.estimators.maximum_likelihood import fit_covariates
from sfumato.inference.estimators.naive import Naive, plain_fit
from sfumato.inference.outcome import Family
from sfumato.inference.problem import Problem
from sfumato.kernels import glm
from sfumato.kernels.likelihood.response import Silent
from sfumato.kernels.rows import row_hash
from sfumato.progress import Progress, quiet

__all__ = ["Quick", "calibration", "moments", "simex"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = (0.0, 0.5, 1.0, 1.5, 2.0)
"""SIMEX adds this many times the noise variance again."""


@dataclass(frozen=True)
class Quick:
    """What a quick correction found.

    Parameters
    ----------
    estimate, covariance
        Shape (p,) and (p, p).
    sigma
        Standard deviation of a linear model's errors; NaN where it is not estimated.
    n
        Rows used.
    converged
        Whether the estimates could be found.
    notes
        What a reader should know.
    """

    estimate: Floats
    covariance: Floats
    sigma: float
    n: int
    converged: bool
    notes: tuple[str, ...] = ()


def calibration(problem: Problem, family: Family, start: Naive, cluster: Ints | None) -> Quick:
    """Put the expectation of hidden covariates given what was released in their place (regression calibration).

    Good where effects are weak; for strong effects in probit, logit and Poisson models it is biased. Its standard
    errors do not hold the uncertainty of the covariates' model.

    Parameters
    ----------
    problem
        The model with its data.
    family
        Its family.
    start
        The naive fit, to begin at.
    cluster
        Cluster of each row.

    References
    ----------
    Carroll, Ruppert, Stefanski and Crainiceanu (2006), chapter 4, doi:10.1201/9781420010138.
    """
    every = replace(problem, keep_rows=True)
    model, rows = build_gaussian(every) if problem.continuous else build_mixture(every)
    if problem.continuous or problem.discrete:
        silent = replace(model, response=Silent(model.response.count))
        theta = fit_covariates(silent, every)
        X = np.zeros((problem.n, len(problem.columns.labels)))
        for part, share, expected, _ in expected_design(every, silent, theta):
            np.add.at(X, rows[part], expected * share[:, None])
    else:
        X = problem.naive_design()
    count = X.shape[1]
    found = plain_fit(
        X, problem.outcome.response, problem.weight, start.estimate[:count], start.extra, family, True, cluster, False
    )
    notes: tuple[str, ...] = ()
    if family not in ("linear", "ordered"):
        notes = ("Regression calibration is biased where effects are strong; use method `ml` to be sure.",)
    return Quick(found.estimate, found.covariance, found.sigma, problem.n, found.converged, notes)


def _noise(problem: Problem, method: str) -> Floats:
    """Covariance of the noise on each row's design, shape (n, p, p) or one for all, (1, p, p)."""
    hidden = {c.name: c for c in problem.covariates.values() if c.parts}
    p = len(problem.columns.labels)
    simple = all(len(parts) == 1 or not any(n in hidden for n, _ in parts) for parts in problem.columns.parts)
    told = [(part, rows) for c in hidden.values() for part, rows in c.parts]
    fits = all(isinstance(part, Additive) and rows.all() and not part.bounds and not part.grows for part, rows in told)
    if not simple or not fits or any(c.levels for c in hidden.values()):
        raise DataError(
            f"Method `{method}` takes numbers with additive noise of one strength, neither clipped nor in "
            "interactions. Use method `ml`."
        )
    place = {parts[0][0]: j for j, parts in enumerate(problem.columns.parts) if len(parts) == 1}
    out = np.zeros((p, p))
    for part in {id(part): part for part, _ in told}.values():
        if not isinstance(part, Additive):
            continue
        used = [(i, place[n]) for i, n in enumerate(part.columns) if n in hidden]
        for i, a in used:
            for j, b in used:
                out[a, b] += part.covariance[i][j]
            out[a, a] += part.rounded.get(part.columns[i], 0.0) ** 2 / 12
    return out


def moments(problem: Problem, family: Family, cluster: Ints | None) -> Quick:
    """Correct a linear model by moments: b = (S_zz − Ω)⁻¹ S_zy, with sandwich standard errors.

    It assumes nothing of the covariates' distribution, and is less efficient than maximum likelihood.

    Parameters
    ----------
    problem
        The model with its data; rows with missing covariates are left out.
    family
        `linear`.
    cluster
        Cluster of each row.

    Raises
    ------
    DataError
        For other families, noise that is not additive, and noise as large as the variation.

    References
    ----------
    Fuller (1987), Measurement Error Models, section 2.2, doi:10.1002/9780470316665.
    """
    if family != "linear":
        raise DataError("Method `moments` is for linear models. Use method `ml` or `calibration`.")
    omega = _noise(problem, "moments")
    Z = problem.naive_design()
    whole = ~np.isnan(Z).any(axis=1)
    Z, y, weight = Z[whole], problem.outcome.values[whole], problem.weight[whole]
    total = weight.sum()
    A = (Z.T @ (Z * weight[:, None])) / total - omega
    scale = np.sqrt(np.maximum(np.diagonal(A), 1e-300))
    if np.any(np.diagonal(A) <= 0) or np.linalg.eigvalsh(A / np.outer(scale, scale)).min() <= 1e-8:
        raise DataError("The noise is as large as all that the covariates vary; nothing can be learned from them.")
    b = np.linalg.solve(A, Z.T @ (y * weight) / total)
    scores = (Z * (y - Z @ b)[:, None] + omega @ b) * weight[:, None]
    if cluster is not None:
        sums = np.zeros((int(cluster.max()) + 1, len(b)))
        np.add.at(sums, cluster[whole], scores)
        scores = sums
    bread = np.linalg.inv(A)
    covariance = bread @ (scores.T @ scores) @ bread / total**2
    noise = problem.outcome.response_noise
    sigma2 = float(weight @ (y - Z @ b) ** 2 / total - b @ omega @ b) - noise
    return Quick(b, covariance, float(np.sqrt(max(sigma2, 0.0))), len(y), True)


def simex(problem: Problem, family: Family, seed: int, repeats: int = 50, progress: Progress = quiet) -> Quick:
    """Add more and more noise, and extrapolate the coefficients back to none (simulation-extrapolation).

    The quadratic extrapolation is too short for strong noise: intervals then cover far less than they say. Draws hang
    on the seed and the records' values, never on the order of rows.

    Parameters
    ----------
    problem
        The model with its data; rows with missing covariates are left out.
    family
        `linear`, `probit` or `logit`.
    seed
        Of the simulated noise, which hides nothing.
    repeats
        Simulations for each strength.
    progress
        Told of every strength.

    Raises
    ------
    DataError
        For other families and noise that is not additive.

    References
    ----------
    Cook and Stefanski (1994), doi:10.1080/01621459.1994.10476871; Stefanski and Cook (1995),
    doi:10.1080/01621459.1995.10476629 (variance).
    """
    by_glm: dict[str, glm.Family] = {"linear": "linear", "probit": "probit", "logit": "logistic"}
    if family not in by_glm or problem.keep_rows:
        raise DataError("Method `simex` is for linear, probit and logit models without weights or clusters.")
    omega = _noise(problem, "simex")
    Z = problem.naive_design()
    whole = ~np.isnan(Z).any(axis=1)
    Z, y = Z[whole], problem.outcome.values[whole]
    order = np.argsort(row_hash(np.column_stack([Z, y])), kind="stable")
    Z, y = Z[order], y[order]
    values, vectors = np.linalg.eigh(omega)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng(seed)
    means, variances = [], []
    for number, step in enumerate(_STEPS):
        progress(f"noise {step:g} times as strong again", number / len(_STEPS))
        fits = [
            glm.fit(Z + np.sqrt(step) * rng.normal(size=Z.shape) @ root.T, y, by_glm[family])
            for _ in range(repeats if step else 1)
        ]
        estimates = np.array([f.coefficients for f in fits])
        spread = np.cov(estimates.T).reshape(len(omega), -1) if step else np.zeros_like(omega)
        means.append(estimates.mean(axis=0))
        variances.append(np.mean([f.covariance for f in fits], axis=0) - spread)
    estimate, covariance = _extrapolate(np.array(means)), _extrapolate(np.array(variances))
    bent = bool(np.any(np.diagonal(covariance) <= 0))
    notes = ("SIMEX extrapolates and is biased where noise is strong; its intervals then cover too little.",)
    return Quick(estimate, np.where(bent, np.nan, covariance), np.nan, len(y), not bent, notes)


def _extrapolate(values: Floats) -> Floats:
    """A quadratic through what was found at `_STEPS`, at −1: no noise."""
    powers = np.vander(np.array(_STEPS), 3)
    coefficients, *_ = np.linalg.lstsq(powers, values.reshape(len(_STEPS), -1), rcond=None)
    return np.asarray((np.array([1.0, -1.0, 1.0]) @ coefficients).reshape(values.shape[1:]))
