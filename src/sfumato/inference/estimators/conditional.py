"""The conditional score for a logit model: what it takes, and its estimate beside that of the likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.assemble import noise_parts
from sfumato.inference.estimators.naive import Naive, leverages
from sfumato.inference.estimators.sandwich import Rule, sandwich
from sfumato.inference.problem import Problem
from sfumato.inference.second import Alternative
from sfumato.kernels.corrected.conditional import conditional_logit

__all__ = ["conditional_estimate", "takes_conditional"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def takes_conditional(problem: Problem, family: str) -> bool:
    """Whether all that is hidden are numbers with normal noise that enter linearly, of a logit model.

    Parameters
    ----------
    problem, family
        The model with its data.
    """
    if family != "logit" or problem.discrete or not problem.outcome.exact:
        return False
    hidden = problem.continuous
    if not any(c.variance is not None and c.variance.any() for c in hidden):
        return False
    plain = all(not c.grids and c.scale is None and not c.levels for c in hidden)
    return plain and all(len(found) <= 1 for found in problem.columns.with_any([c.name for c in hidden]))


def conditional_estimate(problem: Problem, naive: Naive, clusters: Ints | None) -> Alternative | None:
    """Estimate by the conditional score from the records that have a value in every covariate; None without a root.

    Parameters
    ----------
    problem
        A model that `takes_conditional`.
    naive
        The naive fit to it.
    clusters
        Cluster of each row.
    """
    Z = problem.naive_design()
    rows = np.flatnonzero(~np.isnan(Z).any(axis=1))
    noise, which = _noise(problem)
    y, weight = problem.outcome.values[rows], problem.weight[rows]
    found = conditional_logit(Z[rows], y, noise, weight, which=which[rows], times=problem.exact_part()[rows])
    if not found.found:
        return None
    rule: Rule = "HC3" if problem.rule == "model" else problem.rule
    own = None if clusters is None else clusters[rows]
    bread = np.linalg.inv(found.derivative).astype(np.float64)
    covariance = sandwich(bread, found.scores, rule, own, leverages(problem, naive)[rows])
    influence = np.zeros(Z.shape)
    influence[rows] = found.influence
    assumes = "assumes nothing of the distribution of the true values"
    if len(rows) < problem.n:
        assumes += ", and leaves out records with gaps"
    return Alternative("conditional", found.estimate, np.sqrt(np.diagonal(covariance)), influence, assumes)


def _noise(problem: Problem) -> tuple[Floats, Ints]:
    """Covariances of the noise on the columns but for their exact factors, shape (k, p, p), and whose each is, (n,)."""
    hidden = problem.continuous
    names = [c.name for c in hidden]
    parts = list(noise_parts(hidden).values())
    told = np.column_stack([rows for _, rows in parts])
    kinds, which = np.unique(told, axis=0, return_inverse=True)
    owner = [names.index(found[0]) if found else -1 for found in problem.columns.with_any(names)]
    touched = np.array([j >= 0 for j in owner])
    out = np.zeros((len(kinds), len(owner), len(owner)))
    for k, kind in enumerate(kinds):
        total = sum(
            (covariance for (covariance, _), on in zip(parts, kind, strict=True) if on), np.zeros((len(names),) * 2)
        )
        out[k] = total[np.ix_(owner, owner)] * np.outer(touched, touched)
    return out, which.reshape(-1)
