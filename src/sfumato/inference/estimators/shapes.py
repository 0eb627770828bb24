"""Choose what the distribution of hidden numbers given the others is taken for, before the model is fitted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from sfumato.inference.assemble import build_gaussian, exact_effects
from sfumato.inference.columns import Columns
from sfumato.inference.covariates.bends import find_bends
from sfumato.inference.covariates.between import expected_between
from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.covariates.moments import Hidden, banded_sentence, noise_of, shape_moments, shape_sentences
from sfumato.inference.covariates.shape import MOST_PARTS, Shape
from sfumato.inference.estimators.maximum_likelihood import start_patterns
from sfumato.inference.estimators.points import Points
from sfumato.inference.problem import Problem
from sfumato.kernels.likelihood.deconvolution import Parts, deconvolve
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.maximisation import Value, bfgs, careful
from sfumato.kernels.likelihood.mixture import Factors, Patterns
from sfumato.kernels.likelihood.response import Silent
from sfumato.progress import Progress, quiet

__all__ = ["Hidden", "choose_shape"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST = 10.0
"""Records whose weight a part must have."""
_STRENGTHS = 20
"""Most kinds of noise for which points may stand for records."""
_LOOKED_AT = 50
"""Records of a grid whose nodes are looked at."""
_CELLS = 30_000
"""Rows times patterns a part that mixtures of covariates alone are fitted to; of more, some records are taken."""
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


def choose_shape(problem: Problem, hidden: Hidden, group: Ints | None = None, progress: Progress = quiet) -> Problem:
    """Give a problem the mixture that what was released speaks for, by the Bayesian information criterion.

    The response takes no part: the mixture is that of what was released given the exact covariates.

    Parameters
    ----------
    problem
        The model with its data, of which some hidden covariates are continuous.
    hidden
        `auto`; `normal`; or a number of normals.
    group : ndarray, shape (n,), optional
        Group of each record, where the model has random effects: hidden numbers may vary between groups too.
    progress
        Told of every mixture that is tried.
    """
    most = hidden if isinstance(hidden, int) else MOST_PARTS if hidden == "auto" else 1
    if any(c.scores is not None for c in problem.continuous):
        return replace(problem, shape=Shape(told=(banded_sentence(problem, hidden),)))
    plain = replace(problem, keep_rows=False)
    bends = find_bends(plain)
    between = _between(plain, group)
    added = between if hidden == "normal" else bends | between
    plain = replace(plain, shape=replace(plain.shape, bends=added))
    rest = _Rest.of(plain)
    chosen = _search(plain, rest, most, hidden, progress)
    moments = shape_moments(plain, rest.u, rest.weight)
    told, notes = shape_sentences(plain, chosen.shape.parts, hidden, moments, bends)
    if between:
        told = (*told, f"{', '.join(between)}: varies between groups, as a random intercept of its own has it.")
    return replace(problem, shape=replace(chosen.shape, told=told, notes=notes))


def _search(problem: Problem, rest: _Rest, most: int, hidden: Hidden, progress: Progress) -> _Tried:
    """The mixture with the least BIC, or with as many parts as are asked for.

    Beside hidden categories a number of parts is first sought with the released ones in the place of the true; it and a
    single normal are then fitted with the true ones summed out.
    """
    beside = _Rest.of(problem, released=True) if problem.discrete else rest
    few = _points(problem, beside)
    tried: list[_Tried] = []
    starts: list[Parts] = []
    for parts in beside.starts(problem, most):
        progress(f"what hidden numbers look like: a mixture of {len(starts) + 1}", len(starts) / most)
        starts.append(parts)
        tried.append(_try(problem, beside if few else rest, few, parts, starts[0].covariances[0]))
        best = min(range(len(tried)), key=lambda i: tried[i].bic)
        if hidden == "auto" and len(tried) > max(best + 1, 2):
            break
    chosen = _best(tried, hidden)
    if few is None or not problem.discrete:
        return chosen
    counts = dict.fromkeys((1, chosen.shape.parts))
    return _best([_try(problem, rest, None, starts[g - 1], starts[0].covariances[0]) for g in counts], hidden)


def _best(tried: list[_Tried], hidden: Hidden) -> _Tried:
    """Of mixtures in rising order, what was asked for; none with a part that stands for next to no records."""
    allowed = [t for t in tried if t.least >= _LEAST] or tried[:1]
    return allowed[-1] if isinstance(hidden, int) else min(allowed, key=lambda t: t.bic)


def _between(problem: Problem, group: Ints | None) -> dict[str, Floats]:
    """What the others of its group say of each record's hidden numbers, by column, where these vary between groups."""
    if group is None:
        return {}
    w = np.column_stack([np.ones(problem.n), exact_effects(problem)])
    found = {}
    for covariate in problem.continuous:
        known = ~np.isnan(covariate.latent)
        line = np.linalg.lstsq(w[known], covariate.latent[known], rcond=None)[0]
        expected = expected_between(covariate.latent - w @ line, group)
        if expected is not None:
            found[covariate.name] = expected
    return found


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
    rows : ndarray, shape (m,)
        The records.
    """

    line: Floats
    u: Floats
    weight: Floats
    rows: Ints

    @classmethod
    def of(cls, problem: Problem, released: bool = False) -> _Rest:
        """Of a problem's records; with released values of hidden categories among the exact covariates, if wanted."""
        z = np.column_stack([c.latent for c in problem.continuous])
        rows = np.flatnonzero(~np.isnan(z).any(axis=1))
        w = np.column_stack([np.ones(problem.n), exact_effects(problem)])[rows]
        if released:
            w = np.column_stack([w, *(column[rows] for c in problem.discrete for column in _released(c))])
        root = np.sqrt(problem.weight[rows])[:, None]
        line = np.linalg.lstsq(w * root, z[rows] * root, rcond=None)[0]
        return cls(line, z[rows] - w @ line, problem.weight[rows], rows)

    def starts(self, problem: Problem, most: int) -> Iterator[Parts]:
        """Mixtures of what is left, to begin at."""
        noise = np.diag([float(noise_of(c).variance[self.rows].mean()) for c in problem.continuous])
        return deconvolve(self.u, self.weight, noise, most)


def _released(covariate: Covariate) -> list[Floats]:
    """Columns of what was released of a hidden category: the number, or indicators of levels; 0 where missing."""
    values = covariate.naive
    if not covariate.levels:
        return [np.nan_to_num(values)]
    return [(values == level).astype(np.float64) for level in range(1, len(covariate.levels))]


def _try(problem: Problem, rest: _Rest, few: Points | None, parts: Parts, size: Floats) -> _Tried:
    """Fit one mixture to what was released of the covariates, or to points that stand for it."""
    count = len(parts.weights)
    parts = _widened(problem, rest, parts)
    shape = replace(problem.shape, parts=count, size=size / count**2, theta=None)
    if few is not None:
        silent, line = few.model(count, shape.size), np.zeros((1, 1))
    else:
        model, _ = build_gaussian(replace(problem, shape=shape, columns=Columns((), ())))
        silent, line = _sampled(replace(model, response=Silent(model.response.count))), rest.line
    with threadpool_limits(1, "blas"):
        top = bfgs(careful(lambda t: Value(*silent.evaluate(t))), _begin(silent, line, parts), _TOLERANCE)
    log_l = top.log_likelihood - silent.penalty(top.theta)[0]
    bic = -2 * log_l + silent.size * math.log(len(rest.u) if few else len(silent.records))
    theta = top.theta
    if few is not None:  # what was fitted is what the line leaves
        at = count - 1 + count
        theta = np.concatenate([theta[:at], rest.line[1:].ravel(), theta[at:]])
        theta[count - 1] += rest.line[0, 0]
    least = 0.0 if _is_spike(problem, rest, silent, top.theta) else _least(silent, top.theta)
    return _Tried(replace(shape, theta=theta), bic, least)


def _widened(problem: Problem, rest: _Rest, parts: Parts) -> Parts:
    """The same parts, none narrower than nodes are apart where it lies.

    Records that were cut off at one value look like a spike there; a spike on a node would be no density but a gain.
    """
    gap = _gaps(problem, rest.line[0] + parts.means)
    more = np.maximum(gap**2 - np.diagonal(parts.covariances, axis1=1, axis2=2), 0.0)
    return replace(parts, covariances=parts.covariances + more[:, :, None] * np.eye(more.shape[1]))


def _is_spike(problem: Problem, rest: _Rest, model: GaussianMixture, theta: Floats) -> bool:
    """Whether a part came out narrower than the nodes around its mean can tell."""
    if not any(c.grids for c in problem.continuous):
        return False
    _, _, _, A, roots = model.split(theta)
    sds = np.sqrt(np.square(roots).sum(axis=2))
    first = A[: model.base_means]
    shifts = A[model.T.shape[1] - (model.parts - 1) : model.T.shape[1]]
    means = first.mean(axis=0) + np.concatenate([np.zeros((1, sds.shape[1])), shifts])
    return bool(np.any(sds < _gaps(problem, means) / 2))


def _gaps(problem: Problem, means: Floats) -> Floats:
    """How far apart nodes are around each part's mean, shape (G, c); 0 where there are none."""
    gap = np.zeros(means.shape)
    for j, covariate in enumerate(problem.continuous):
        for grid in covariate.grids:
            for nodes in np.sort(grid.nodes[:: max(1, len(grid.nodes) // _LOOKED_AT)], axis=1):
                at = np.searchsorted(nodes, means[:, j])
                inside = (at > 0) & (at < len(nodes))
                gap[inside, j] = np.maximum(gap[inside, j], np.diff(nodes)[at[inside] - 1])
    return gap


def _points(problem: Problem, rest: _Rest) -> Points | None:
    """Points that stand for the records, where one number is hidden and its noise does not hang on where it lies."""
    if len(problem.continuous) > 1:
        return None
    noise = noise_of(problem.continuous[0])
    kinds = np.unique(np.column_stack([noise.variance, noise.law])[rest.rows], axis=0)
    if not noise.free or len(kinds) > _STRENGTHS:
        return None
    return Points.of(rest.u[:, 0], rest.weight, noise.variance[rest.rows], noise.law[rest.rows])


def _sampled(model: GaussianMixture) -> GaussianMixture:
    """The same for a part of the records, at even distances in their order, where all would take long."""
    share = _CELLS / (len(model.z) * len(model.Q) / model.parts)  # the same records for every number of parts
    if share >= 1:
        return model
    kept, groups, stop = [], [], 0
    for group in model.groups:
        first = np.arange(group.start, group.stop, group.nodes)
        told = np.column_stack([model.z[first], model.patterns.w[first]])
        ranked = first[np.lexsort(told.T[::-1])]
        few = ranked[np.linspace(0, len(first) - 1, math.ceil(share * len(first))).astype(np.int64)]
        rows = (few[:, None] + np.arange(group.nodes)).ravel()
        kept.append(rows)
        groups.append(replace(group, start=stop, stop=stop + len(rows)))
        stop += len(rows)
    at = np.concatenate(kept)
    factors = model.factors
    if factors is not None:
        factors = Factors([table[at] for table in factors.tables], factors.codes, factors.log_scale[at])
    return replace(
        model,
        E=model.E[at],
        response=Silent(len(at)),
        patterns=Patterns(model.patterns.T, model.patterns.w[at]),
        factors=factors,
        z=model.z[at],
        groups=groups,
        weight=model.weight[at],
        log_node=None if model.log_node is None else model.log_node[at],
    )


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
