"""The conditional score for a logit model: what it takes, and its estimate beside that of the likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.assemble import noise_parts
from sfumato.inference.estimators.naive import leverages
from sfumato.inference.estimators.sandwich import Rule, sandwich
from sfumato.inference.problem import Problem
from sfumato.inference.second import Alternative
from sfumato.inference.work import Work
from sfumato.kernels.corrected.conditional import conditional_logit

__all__ = ["conditional"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def conditional(work: Work) -> Alternative | None:
    """Estimate by the conditional score from the records that have a value in every covariate.

    Parameters
    ----------
    work
        A model with its data.

    Returns
    -------
    Alternative or None
        None where not all that is hidden are numbers with normal noise that enter linearly, or there is no root.
    """
    problem = work.problem
    if work.family != "logit" or not _takes(problem):
        return None
    Z = problem.naive_design()
    rows = np.flatnonzero(~np.isnan(Z).any(axis=1))
    noise, which = _noise(problem)
    y, weight = problem.outcome.values[rows], problem.weight[rows]
    found = conditional_logit(Z[rows], y, noise, weight, which=which[rows], times=problem.exact_part()[rows])
    if not found.found:
        return None
    rule: Rule = "HC3" if problem.rule == "model" else problem.rule
    clusters = None if work.clusters is None else work.clusters[rows]
    bread = np.linalg.inv(found.derivative).astype(np.float64)
    covariance = sandwich(bread, found.scores, rule, clusters, leverages(problem, work.plain)[rows])
    influence = np.zeros(Z.shape)
    influence[rows] = found.influence
    gaps = ", and leaves out records with gaps" if len(rows) < problem.n else ""
    return Alternative(
        "conditional",
        found.estimate,
        np.sqrt(np.diagonal(covariance)),
        influence,
        f"assumes nothing of the distribution of the true values{gaps}",
        _assumed(problem),
    )


def _takes(problem: Problem) -> bool:
    """Whether all that is hidden are numbers with normal noise that enter linearly."""
    hidden = problem.continuous
    if (
        problem.discrete
        or not problem.outcome.exact
        or not any(c.variance.any() for c in hidden if c.variance is not None)
    ):
        return False
    plain = all(not c.grids and c.scale is None for c in hidden)
    return plain and all(len(found) <= 1 for found in problem.columns.with_any([c.name for c in hidden]))


def _assumed(problem: Problem) -> str:
    names = ", ".join(c.name for c in problem.continuous)
    parts = problem.shape.parts
    law = "normal" if parts == 1 else f"a mixture of {parts} normals"
    return f"assumes that {names} given the other covariates is {law}, with means that are linear in them"


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
