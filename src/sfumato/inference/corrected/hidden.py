"""The hidden columns of a model as kernels of corrected equations take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.error_model import Additive, Misclassified
from sfumato.errors import DataError
from sfumato.inference.corrected.obstacles import as_number
from sfumato.inference.covariates.covariate import Covariate, level_text
from sfumato.inference.covariates.noisy import law_of
from sfumato.inference.problem import Problem
from sfumato.kernels.corrected.categories import Points, fitted_shares, released_points, unbiased_indicators
from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.noise import Law, Noise

__all__ = ["Categories", "HiddenColumns", "read_hidden"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Categories:
    """A hidden category, or number of few values.

    Parameters
    ----------
    name
        The column.
    indicators : ndarray, shape (n, L)
        Unbiased for the indicators of its true levels; None where what was released does not tell these apart.
    released : ndarray, shape (n, L)
        Indicators of the level that was released, or is nearest to it.
    support : ndarray, shape (L,)
        The levels as numbers.
    strata
        The strata whose noise lets levels be told apart: which records, and their rows of `indicators`.
    seen : ndarray, shape (L, 1 + L)
        Given each true level the mean released number, and how often each level is released, or is nearest to it.
    """

    name: str
    indicators: Floats | None
    released: Floats
    support: Floats
    strata: tuple[tuple[Bools, Floats], ...] = ()
    seen: Floats | None = None


@dataclass(frozen=True)
class HiddenColumns:
    """A model's columns with what is hidden in them.

    Parameters
    ----------
    design
        For the kernels, the response its last column; None where some categories cannot be told apart.
    numbers
        Hidden numbers, in the order of the design; the response may be the last one.
    categories
        Hidden categories.
    noisy_response
        Whether the response is among the numbers, as its noise hangs together with theirs.
    """

    design: Design | None
    numbers: tuple[str, ...]
    categories: tuple[Categories, ...]
    noisy_response: bool


def read_hidden(problem: Problem, response: str) -> HiddenColumns:
    """Put together what is exact, what is hidden, and what is unbiased for it.

    Parameters
    ----------
    problem
        A model that `corrected` can take, without missing values.
    response
        Its response.
    """
    few = [c for c in problem.discrete if not as_number(c, problem, response)]
    known = {c.name for c in few}
    numbers = [c for c in (*problem.continuous, *problem.discrete) if c.name not in known]
    names = [c.name for c in numbers]
    noisy = any(_correlated(part, response, names) for c in numbers for part, _ in c.parts)
    names += [response] if noisy else []
    categories = tuple(_categories(c, problem.weight) for c in few)
    group, noises = _noises(numbers, names, problem.n)
    columns = problem.columns
    exact = np.column_stack([problem.exact_part(), np.ones(problem.n) if noisy else problem.outcome.values])
    powers = np.array([[sum(n == name for n, _ in parts) for name in names] for parts in columns.parts], dtype=np.int64)
    powers = np.vstack([powers.reshape(len(columns.labels), len(names)), np.zeros((1, len(names)), dtype=np.int64)])
    z = np.column_stack([np.zeros((problem.n, 0)), *(c.key for c in numbers)])
    if noisy:
        powers[-1, -1] = 1
        z = np.column_stack([z, problem.outcome.values])
    indicators = [c.indicators for c in categories if c.indicators is not None]
    design = None
    if len(indicators) == len(categories):
        levels = [_levels(c, columns.parts) for c in few]
        design = Design(exact, powers, z, noises, group, levels, indicators)
    return HiddenColumns(design, tuple(names), categories, noisy)


def _correlated(part: object, response: str, names: Sequence[str]) -> bool:
    if not isinstance(part, Additive) or response not in part.columns:
        return False
    own = part.covariance[part.columns.index(response)]
    return any(own[j] != 0 for j, n in enumerate(part.columns) if n in names)


def _noises(numbers: Sequence[Covariate], names: Sequence[str], n: int) -> tuple[Ints, list[Noise]]:
    """Which records have the same noise on the numbers, and what it is."""
    told = {id(part): (part, rows) for c in numbers for part, rows in c.parts if isinstance(part, Additive)}
    parts = list(told.values())
    group, which = _groups([rows for _, rows in parts], n)
    return group, [_noise([parts[k][0] for k in own], names) for own in which]


def _groups(masks: Sequence[Bools], n: int) -> tuple[Ints, list[list[int]]]:
    """Number the combinations of masks that occur, and tell which masks each of them is in."""
    if all(mask.all() for mask in masks):
        return np.zeros(n, dtype=np.int64), [list(range(len(masks)))]
    packed = np.packbits(np.column_stack(masks), axis=1)
    found, group = np.unique(packed.view(np.dtype((np.void, packed.shape[1]))).ravel(), return_inverse=True)
    bits = np.unpackbits(np.frombuffer(found.tobytes(), dtype=np.uint8).reshape(len(found), -1), axis=1)
    return group.astype(np.int64), [np.flatnonzero(row[: len(masks)]).tolist() for row in bits]


def _noise(parts: Sequence[Additive], names: Sequence[str]) -> Noise:
    """The sum of several parts of a disclosure, for the numbers in their order."""
    normal = np.zeros((len(names), len(names)))
    others: list[tuple[int, Law, float]] = []
    for part in parts:
        used = [(i, names.index(n)) for i, n in enumerate(part.columns) if n in names]
        for i, a in used:
            name = part.columns[i]
            if part.distribution != "gaussian" and part.covariance[i][i]:
                others.append((a, part.distribution, part.covariance[i][i]))
            if name in part.rounded:
                others.append((a, "uniform", part.rounded[name] ** 2 / 12))
            for j, b in used:
                normal[a, b] += part.covariance[i][j] if part.distribution == "gaussian" else 0.0
    return Noise(normal, tuple(others))


def _levels(covariate: Covariate, columns: Sequence[tuple[tuple[str, int | None], ...]]) -> Floats:
    """What each level of a covariate contributes to each column, the response's the last, shape (p + 1, L)."""
    support = np.asarray(covariate.support)
    out = np.ones((len(columns) + 1, len(support)))
    for j, parts in enumerate(columns):
        for name, level in parts:
            if name == covariate.name:
                out[j] *= support if level is None else np.arange(len(support)) == level
    return out


def _categories(covariate: Covariate, weight: Floats) -> Categories:
    """Unbiased indicators of a covariate's levels, by records of which the same was disclosed."""
    table = np.asarray(covariate.table)
    top = table.max(axis=1, keepdims=True)
    if np.isneginf(top).any():
        raise DataError(f"The disclosure does not allow some values of {covariate.name}. It is not that of this table.")
    density = np.exp(table - top)
    shares = fitted_shares(density, weight)
    masks = [rows for _, rows in covariate.parts]
    group, which = _groups(masks, len(density))
    strata, seen = [], np.zeros((density.shape[1], 1 + density.shape[1]))
    for number, own in enumerate(which):
        rows = group == number
        points = _points(covariate, own)
        found = None if points is None else unbiased_indicators(density[rows], shares, points.density, points.mass)
        seen += 0.0 if points is None else float(weight[rows].sum() / weight.sum()) * _seen(covariate, points)
        strata += [] if found is None else [(rows, found)]
    indicators = None
    if len(strata) == len(which):
        indicators = np.zeros_like(density)
        for rows, found in strata:
            indicators[rows] = found
    support = np.asarray(covariate.support)
    released = _indicators(covariate.naive, support)
    return Categories(covariate.name, indicators, released, support, tuple(strata), seen)


def _seen(covariate: Covariate, points: Points) -> Floats:
    """Given each true level the mean released number, and how often each level is released, shape (L, 1 + L)."""
    nearest = _indicators(points.place, _values(covariate))
    return np.asarray((points.density * points.mass[:, None]).T @ np.column_stack([points.place, nearest]))


def _points(covariate: Covariate, own: Sequence[int]) -> Points | None:
    """Densities at all that could be released of records that some parts of the disclosure speak of."""
    support = np.asarray(covariate.support)
    parts = [covariate.parts[k][0] for k in own]
    if not parts:
        return Points(_values(covariate), np.eye(len(support)), np.ones(len(support)))
    if isinstance(parts[0], Misclassified):
        matrix = np.eye(len(support))
        for k in own:
            matrix = matrix @ covariate.matrices[k]
        return Points(support, matrix.T, np.ones(len(support)))
    part = parts[0]
    if not isinstance(part, Additive):
        return None
    smooth, values = part.smooth, _values(covariate)
    sd = np.full(len(values), smooth.sd[part.columns.index(covariate.name)])
    if covariate.name in part.grows:
        sd = sd * part.grows[covariate.name].factor(values)
    return released_points(values, sd, law_of(smooth, covariate.name))


def _values(covariate: Covariate) -> Floats:
    """The numbers that noise was added to, by level: codes of levels, else the support."""
    for part, _ in covariate.parts:
        if covariate.levels and isinstance(part, Additive):
            texts = {level_text(v): v for v in part.values[covariate.name]}
            return np.array([texts[level] for level in covariate.levels])
    return np.asarray(covariate.support)


def _indicators(values: Floats, levels: Floats) -> Floats:
    """Indicators of the level nearest to each value, shape (n, L)."""
    return np.asarray(np.eye(len(levels))[np.abs(values[:, None] - levels).argmin(axis=1)])
