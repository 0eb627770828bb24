"""Choose what the distribution of hidden numbers given the others is taken for, before the model is fitted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sfumato.inference.columns import Columns
from sfumato.inference.assemble import build_gaussian, exact_effects
from sfumato.inference.covariates.shape import MOST_PARTS, Shape
from sfumato.inference.covariates.bends import find_bends
from sfumato.inference.covariates.moments import Hidden, shape_moments, shape_sentences
from sfumato.inference.estimators.maximum_likelihood import start_patterns
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.deconvolution import Parts, deconvolve, thinned
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture, Group
from sfumato.kernels.likelihood.mixture import Patterns
from sfumato.kernels.likelihood.maximisation import Value, bfgs, careful
from sfumato.kernels.likelihood.response import Silent

__all__ = ["Hidden", "choose_shape"]

Floats = NDArray[np.float64]

_LEAST = 10.0
"""Records whose weight a part must have."""
_STRENGTHS = 20
"""Most strengths of the noise for which points may stand for records."""
_TOLERANCE = 0.03
"""An ascent that only tells mixtures apart ends where its next step is below this, in standard errors."""


@dataclass(frozen=True)
class _Tried:
    """A mixture that was fitted to what was released of the covariates alone.

    Parameters
    ----------
    shape
        The mixture.
    bic
        −2 log L + P log n, without the penalty.
    least
        Weight of the records in the part that has the fewest.
    """

    shape: Shape
    bic: float
    least: float


def choose_shape(problem: Problem, hidden: Hidden) -> Problem:
    """Give a problem the mixture that what was released speaks for, by the Bayesian information criterion.

    The response takes no part: the mixture is that of what was released given the exact covariates.

    Parameters
    ----------
    problem
        The model with its data, of which some hidden covariates are continuous.
    hidden
        `auto`; `normal`; or a number of normals.
    """
    most = hidden if isinstance(hidden, int) else MOST_PARTS if hidden == "auto" else 1
    plain = replace(problem, keep_rows=False)
    bends = find_bends(plain)
    if hidden != "normal":
        plain = replace(plain, shape=replace(plain.shape, bends=bends))
    rest = _Rest.of(plain)
    tried: list[_Tried] = []
    for parts in rest.starts(most):
        size = parts.covariances[0] if not tried else size
        tried.append(_try(plain, rest, parts, size))
        best = min(range(len(tried)), key=lambda i: tried[i].bic)
        if hidden == "auto" and len(tried) > max(best + 1, 2):
            break
    allowed = [t for t in tried if t.least >= _LEAST] or tried[:1]
    chosen = allowed[-1] if isinstance(hidden, int) else min(allowed, key=lambda t: t.bic)
    moments = shape_moments(plain, rest.u, rest.weight)
    told, notes = shape_sentences(plain, chosen.shape.parts, hidden, moments, bends)
    return replace(problem, shape=replace(chosen.shape, told=told, notes=notes))


@dataclass(frozen=True)
class _Rest:
    """What exact covariates explain of the hidden numbers of the records that have all, and what they leave.

    Parameters
    ----------
    line : ndarray, shape (1 + q, c)
        Constant and slopes.
    u : ndarray, shape (m, c)
        What is left.
    weight : ndarray, shape (m,)
        Of each record.
    variance : ndarray, shape (m, c)
        Of the noise on each.
    """

    line: Floats
    u: Floats
    weight: Floats
    variance: Floats

    @classmethod
    def of(cls, problem: Problem) -> _Rest:
        """Of a problem's records."""
        z = np.column_stack([c.latent for c in problem.continuous])
        variance = np.column_stack([c.variance for c in problem.continuous if c.variance is not None])
        whole = ~np.isnan(z).any(axis=1)
        w = np.column_stack([np.ones(problem.n), exact_effects(problem)])[whole]
        weight = problem.weight[whole]
        root = np.sqrt(weight)[:, None]
        line = np.linalg.lstsq(w * root, z[whole] * root, rcond=None)[0]
        return cls(line, z[whole] - w @ line, weight, variance[whole])

    def starts(self, most: int) -> Iterator[Parts]:
        """Mixtures of what is left, to begin at."""
        return deconvolve(self.u, self.weight, np.diag(self.variance.mean(axis=0)), most)

    def model(self, parts: int, size: Floats) -> GaussianMixture:
        """The likelihood of points that stand for what is left of one number."""
        levels, which = np.unique(self.variance[:, 0], return_inverse=True)
        groups, points, mass = [], [np.zeros((0, 1))], [np.zeros(0)]
        for level, variance in enumerate(levels):
            u, weight = thinned(self.u[which == level], self.weight[which == level])
            start = sum(map(len, mass))
            groups.append(Group(start, start + len(u), np.zeros(1, dtype=np.int64), np.full((1, 1), variance)))
            points.append(u)
            mass.append(weight)
        count = sum(map(len, mass))
        none = np.zeros(0, dtype=np.int64)
        return GaussianMixture(
            np.zeros((count, 0)),
            np.zeros((parts, 0)),
            none,
            Silent(count),
            Patterns(np.zeros((parts, 0)), np.zeros((count, 0))),
            None,
            np.concatenate(points),
            np.column_stack([np.ones(parts), np.eye(parts)[:, 1:]]),
            groups,
            np.concatenate(mass),
            parts=parts,
            size_of_parts=size,
        )


def _try(problem: Problem, rest: _Rest, parts: Parts, size: Floats) -> _Tried:
    """Fit one mixture to what was released of the covariates."""
    count = len(parts.weights)
    shape = replace(problem.shape, parts=count, size=size / count**2, theta=None)
    few = not problem.discrete and len(problem.continuous) == 1 and not problem.continuous[0].grids
    if few and len(np.unique(rest.variance)) <= _STRENGTHS:
        silent, line = rest.model(count, size / count**2), np.zeros((1, 1))
    else:
        model, _ = build_gaussian(replace(problem, shape=shape, columns=Columns((), ())))
        silent, line = replace(model, response=Silent(model.response.count)), rest.line
    with threadpool_limits(1, "blas"):
        top = bfgs(careful(lambda t: Value(*silent.evaluate(t))), _begin(silent, line, parts), _TOLERANCE)
    log_l = top.log_likelihood - silent.penalty(top.theta)[0]
    bic = -2 * log_l + silent.size * math.log(len(rest.u))
    theta = top.theta
    if line is not rest.line:  # what was fitted is what the line leaves
        at = count - 1 + count
        theta = np.concatenate([theta[:at], rest.line[1:].ravel(), theta[at:]])
        theta[count - 1] += rest.line[0, 0]
    return _Tried(replace(shape, theta=theta), bic, _least(silent, top.theta))


def _begin(model: GaussianMixture, line: Floats, parts: Parts) -> Floats:
    """A mixture of what exact covariates leave, as parameters of a likelihood."""
    patterns = len(model.Q) // model.parts
    gamma = start_patterns(model.factors, model.weight, model)
    gamma[: len(model.Q) - 1] += np.repeat(np.log(parts.weights / parts.weights[0]), patterns)[1:]
    A = np.zeros((model.T.shape[1] + len(line) - 1, model.components))
    A[: model.base_means] = line[0] + parts.means[0]
    shifts = model.T.shape[1] - (model.parts - 1)
    A[shifts : model.T.shape[1]] = parts.means[1:] - parts.means[0]
    A[model.T.shape[1] :] = line[1:]
    return model.join(np.zeros(0), np.zeros(0), gamma, A, parts.covariances)


def _least(model: GaussianMixture, theta: Floats) -> float:
    """Weight of the records that the smallest part stands for."""
    mass = np.zeros(len(model.Q))
    for found in model.posterior(theta):
        mass += (model.weight[found.rows] * found.share) @ found.r
    return float(mass.reshape(model.parts, -1).sum(axis=1).min())
