"""From a table, a formula and a disclosure to the arrays of a likelihood."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from sfumato.data.error_model import Additive
from sfumato.errors import DataError
from sfumato.inference.columns import split_columns
from sfumato.inference.covariates.covariate import Covariate, ErrorPart
from sfumato.inference.covariates.grids import Expanded, Grid, expand, needs_grid, normal_grids
from sfumato.inference.problem import Problem, additive_parts
from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture, Group
from sfumato.kernels.likelihood.mixture import Factors, Mixture, Patterns
from sfumato.kernels.likelihood.released import gaussian_table
from sfumato.kernels.rows import distinct

__all__ = [
    "MAX_PATTERNS",
    "build_gaussian",
    "build_mixture",
    "exact_columns",
    "exact_effects",
    "in_cells",
    "noise_parts",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_PATTERNS = 2_048
"""Most combinations of values of the hidden discrete covariates."""
_CELLS = 8
"""With at most this many distinct rows of exact covariates, the hidden ones' probabilities are free in each."""
_FREE = 32
"""With at most this many patterns times cells of exact covariates, each has a probability of its own."""
_SINGULAR = 1e-9
"""Correlated noise with an eigenvalue below this has a combination without noise."""
_FREE_MEANS = 16
"""With at most this many patterns, the hidden continuous covariates have a mean of their own in each."""


def _patterns(problem: Problem) -> tuple[Floats, NDArray[np.bool_]]:
    """All combinations of values of the hidden discrete covariates, shape (K, J), and which of the product they are."""
    supports = [c.support for c in problem.discrete if c.support is not None]
    count = math.prod(len(s) for s in supports)
    if count > MAX_PATTERNS:
        names = ", ".join(c.name for c in problem.discrete)
        raise DataError(
            f"The noisy or partly missing covariates {names} have more than {MAX_PATTERNS} combinations of values, too "
            "many to sum over. Leave some out of the formula, or use method `corrected`."
        )
    patterns = np.array(list(itertools.product(*supports)), dtype=np.float64).reshape(count, len(supports))
    possible = np.ones(count, dtype=bool)
    for members in _indicator_sets(problem):
        possible &= patterns[:, members].sum(axis=1) <= 1
    return patterns, possible


def _indicator_sets(problem: Problem) -> list[list[int]]:
    """Hidden covariates that are indicators of the same category: at most one of a set is 1."""
    sets: dict[str, list[int]] = {}
    for j, covariate in enumerate(problem.discrete):
        for name in {p.indicators_of for p, _ in covariate.parts if isinstance(p, Additive) and p.indicators_of}:
            sets.setdefault(name, []).append(j)
    return [members for members in sets.values() if len(members) > 1]


def _correlated_sets(problem: Problem) -> list[list[int]]:
    """Hidden discrete covariates in groups whose noise is independent between groups."""
    names = [c.name for c in problem.discrete]
    group = list(range(len(names)))
    for part in additive_parts(problem):
        for a, b in itertools.combinations([n for n in part.columns if n in names], 2):
            if part.covariance[part.columns.index(a)][part.columns.index(b)]:
                old, new = group[names.index(b)], group[names.index(a)]
                group = [new if g == old else g for g in group]
    return [[j for j, g in enumerate(group) if g == which] for which in dict.fromkeys(group)]


def _factors(problem: Problem, patterns: Floats, rows: Ints) -> Factors | None:
    """Densities of what was released, for the patterns given."""
    if not problem.discrete:
        return None
    tables: list[Floats] = []
    codes: list[Ints] = []
    scale = np.zeros(len(rows))
    for members in _correlated_sets(problem):
        support, code = np.unique(patterns[:, members], axis=0, return_inverse=True)
        table = _joint_table(problem, members, support, rows)
        top = table.max(axis=1)
        if np.isneginf(top).any():
            names = ", ".join(problem.discrete[j].name for j in members)
            raise DataError(f"The disclosure does not allow some values of {names}. It is not that of this table.")
        tables.append(np.exp(table - top[:, None]))
        codes.append(code.reshape(-1))
        scale += top
    return Factors(tables, codes, scale)


def _joint_table(problem: Problem, members: list[int], support: Floats, rows: Ints) -> Floats:
    """Log-densities of the members' released values given each of their combinations in `support`."""
    if len(members) == 1:
        covariate = problem.discrete[members[0]]
        if covariate.table is None or covariate.support is None:
            raise DataError(f"{covariate.name!r} has no known values.")
        return np.asarray(covariate.table[np.ix_(rows, np.searchsorted(covariate.support, support[:, 0]))])
    chosen = [problem.discrete[j] for j in members]
    parts = {id(p): p for c in chosen for p, _ in c.parts}
    part = next(iter(parts.values()))
    if len(parts) > 1 or not _simple(part) or any(c.levels for c in chosen):
        raise DataError(
            f"The noises on {', '.join(c.name for c in chosen)} are correlated, and clipped, rounded, growing or "
            "different between strata as well; such noise cannot be taken out. Leave one out, or use method `naive`."
        )
    z = np.column_stack([c.key for c in chosen])[rows]
    covariance = _covariance(part.smooth, [c.name for c in chosen])
    sd = np.sqrt(np.diagonal(covariance))
    if np.linalg.eigvalsh(covariance / np.outer(sd, sd)).min() < _SINGULAR:
        raise DataError(
            f"The noises on {', '.join(c.name for c in chosen)} are perfectly correlated: some combination of the "
            "columns has none, which has no likelihood where true values are few. Leave one out, or use method `naive`."
        )
    return gaussian_table(z, support, covariance)


def _simple(part: ErrorPart) -> TypeGuard[Additive]:
    """Whether a part is plain normal noise for all records, or rounded so finely that it is as good as that."""
    if not isinstance(part, Additive) or part.distribution != "gaussian":
        return False
    return not (part.where or part.smooth.rounded or part.bounds or part.grows)


def _hanging(patterns: Floats, discrete: Sequence[Covariate], w: Floats) -> Floats:
    """What of each pattern hangs on the exact covariates, shape (K, t): all of it where patterns and cells are few."""
    cells = len(np.unique(w[:1000], axis=0)) if np.isin(w, (0.0, 1.0)).all() else _CELLS + 1
    if w.shape[1] and cells <= _CELLS and len(patterns) * (w.shape[1] + 1) <= _FREE:
        return np.eye(len(patterns))[:, 1:]
    return _contrasts(patterns, discrete)


def _contrasts(patterns: Floats, discrete: Sequence[Covariate]) -> Floats:
    """Indicators of all values but the first of each hidden discrete covariate, shape (K, t)."""
    columns = [patterns[:, j] == value for j, c in enumerate(discrete) for value in np.unique(patterns[:, j])[1:]]
    return np.column_stack(columns).astype(np.float64) if columns else np.zeros((len(patterns), 0))


def in_cells(problem: Problem) -> bool:
    """Whether the exact covariates have so few distinct rows that each gets effects of its own.

    Parameters
    ----------
    problem
        The model with its data.
    """
    return len(distinct(np.column_stack([c.values for c in problem.exact])).points) <= _CELLS


def exact_effects(problem: Problem) -> Floats:
    """What the hidden covariates hang on, shape (n, q): cells of the exact ones where they are few, else columns.

    Parameters
    ----------
    problem
        The model with its data.
    """
    exact = problem.exact
    more = list(problem.shape.bends.values())
    if not exact or not (problem.discrete or problem.continuous):
        return np.column_stack([np.zeros((problem.n, 0)), *more])
    found = distinct(np.column_stack([c.values for c in exact]))
    if in_cells(problem):
        order = np.lexsort(found.points.T[::-1])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return np.column_stack([np.eye(len(order))[rank[found.inverse]][:, 1:], *more])
    return np.column_stack([*exact_columns(problem).values(), *more])


def exact_columns(problem: Problem) -> dict[str, Floats]:
    """Columns of the exact covariates that vary, standardised, shape (n,), by a name that holds no category.

    Parameters
    ----------
    problem
        The model with its data.
    """
    from sfumato.data.formula import Factor

    exact = problem.exact
    levels = {c.name: c.levels for c in exact if c.levels}
    columns = split_columns([(Factor(c.name),) for c in exact], True, levels, [c.name for c in exact if not c.levels])
    w = columns.product({c.name: c.values for c in exact}, problem.n)
    sd = w.std(axis=0)
    found: dict[str, Floats] = {}
    for j in np.flatnonzero(sd > 0):
        name = columns.public([columns.labels[j]])
        same = sum(taken.partition(" (")[0] == name for taken in found)
        found[f"{name} ({same + 1})" if same else name] = (w[:, j] - w[:, j].mean()) / sd[j]
    return found


def _units(problem: Problem) -> tuple[Ints, Ints]:
    """Order of the rows by unit, and where each unit begins; a unit is a row of exact covariates and response."""
    n = problem.n
    if problem.outcome.released is not None:
        found = distinct(np.column_stack([*(c.values for c in problem.exact), problem.outcome.released]))
        if len(found.points) <= n / 2:
            counts = np.bincount(found.inverse)
            return np.argsort(found.inverse, kind="stable"), np.concatenate([[0], np.cumsum(counts)])
    return np.arange(n), np.arange(n + 1)


def build_mixture(problem: Problem) -> tuple[Mixture, Ints]:
    """The likelihood where all hidden covariates are discrete, and the row of the table that each of its rows is.

    Equal rows are joined, with their weights added, unless scores of each are wanted.

    Raises
    ------
    DataError
        Where there are too many patterns, or a released value is impossible.
    """
    patterns, possible = _patterns(problem)
    patterns = patterns[possible]
    rows, weight = np.arange(problem.n), problem.weight
    order, first = _units(problem)
    if not problem.keep_rows and len(first) - 1 < problem.n:
        rows, weight, first = _joined(problem, order, first)
    else:
        rows, weight = order, weight[order]
    units = rows[first[:-1]]
    w = exact_effects(problem)[units]
    model = Mixture(
        problem.exact_part()[units],
        problem.pattern_part(patterns),
        problem.outcome.response.take(units),
        Patterns(_hanging(patterns, problem.discrete, w), w),
        _factors(problem, patterns, rows),
        first,
        weight,
    )
    return model, rows


def _joined(problem: Problem, order: Ints, first: Ints) -> tuple[Ints, Floats, Ints]:
    """One row for all that are equal in unit and released values, where that halves their number at least."""
    unit = np.repeat(np.arange(len(first) - 1), np.diff(first)).astype(np.float64)
    released = [np.nan_to_num(c.key[order], nan=-1e300) for c in problem.discrete]
    strata = [rows[order].astype(np.float64) for c in problem.discrete for _, rows in c.parts if not rows.all()]
    found = distinct(np.column_stack([unit, *released, *strata]))
    if len(found.points) > problem.n / 2:
        return order, problem.weight[order], first
    weight = np.bincount(found.inverse, weights=problem.weight[order]).astype(np.float64)
    by_unit = np.lexsort([*found.points.T[1:], found.points[:, 0]])
    counts = np.bincount(found.points[by_unit, 0].astype(np.int64), minlength=len(first) - 1)
    return order[found.first[by_unit]], weight[by_unit], np.concatenate([[0], np.cumsum(counts)])


def build_gaussian(problem: Problem) -> tuple[GaussianMixture, Ints]:
    """The likelihood where some hidden covariates are continuous, and the row of the table that each of its rows is.

    Raises
    ------
    DataError
        As `build_mixture`, and where grids would take too many rows.
    """
    patterns, possible = _patterns(problem)
    patterns = patterns[possible]
    continuous = problem.continuous
    names = [c.name for c in continuous]
    scaled = {c.name: c.scale for c in continuous if c.scale}
    known = [*needs_grid(problem.columns, [n for n in names if n not in scaled]), *scaled]
    grids = [c.grids + (_normal_grids(c, problem.finer) if c.name in known else []) for c in continuous]
    width = len(problem.columns.labels) + 2 * len(continuous) + len(problem.exact)
    written = expand(np.column_stack([c.latent for c in continuous]), grids, noise_parts(continuous), width)
    rows, values = written.rows, {n: written.values[:, names.index(n)] for n in known}
    values |= {n: scale(values[n]) for n, scale in scaled.items()}
    exact = {c.name: c.values[rows] for c in problem.exact}
    owners = problem.columns.with_any([n for n in names if n not in known])
    contrasts, w = _contrasts(patterns, problem.discrete), exact_effects(problem)[rows]
    free, parts = len(patterns) <= _FREE_MEANS, problem.shape.parts
    means = np.eye(len(patterns)) if free else np.column_stack([np.ones(len(patterns)), contrasts])
    shifts = np.repeat(np.eye(parts)[:, 1:], len(patterns), axis=0)
    model = GaussianMixture(
        problem.columns.product({**exact, **values}, len(rows)),
        np.tile(problem.pattern_part(patterns), (parts, 1)),
        np.array([names.index(found[0]) if found else -1 for found in owners], dtype=np.int64),
        problem.outcome.response.take(rows),
        Patterns(np.tile(_hanging(patterns, problem.discrete, w), (parts, 1)), w),
        _factors(problem, np.tile(patterns, (parts, 1)), rows),
        np.nan_to_num(written.values),
        np.column_stack([np.tile(means, (parts, 1)), shifts]),
        _groups(written),
        problem.weight[rows],
        written.log_weights,
        parts,
        problem.shape.size,
    )
    return model, rows


def _normal_grids(covariate: Covariate, finer: int) -> list[Grid]:
    none = np.zeros(len(covariate.values))
    variance = none if covariate.variance is None else covariate.variance
    return normal_grids(covariate.latent, variance, covariate.grids, finer)


def noise_parts(continuous: list[Covariate]) -> dict[int, tuple[Floats, NDArray[np.bool_]]]:
    """Covariance of each part of the disclosure on the continuous covariates, and the records that it speaks of.

    Parameters
    ----------
    continuous
        Those covariates.
    """
    names = [c.name for c in continuous]
    told = {id(p): (p, rows) for c in continuous for p, rows in c.parts if isinstance(p, Additive)}
    return {key: (_covariance(part.smooth, names), rows) for key, (part, rows) in told.items()}


def _groups(written: Expanded) -> list[Group]:
    """The kinds of rows as the likelihood takes them."""
    stops = np.cumsum([rows for rows, *_ in written.kinds])
    return [
        Group(int(stop) - rows, int(stop), seen, noise, count)
        for stop, (rows, count, seen, noise) in zip(stops, written.kinds, strict=True)
    ]


def _covariance(part: Additive, names: list[str]) -> Floats:
    """Covariance of the noise that a part puts on the columns `names`."""
    out = np.zeros((len(names), len(names)))
    at = [(i, part.columns.index(n)) for i, n in enumerate(names) if n in part.columns]
    for i, a in at:
        for j, b in at:
            out[i, j] = part.covariance[a][b]
    return out
