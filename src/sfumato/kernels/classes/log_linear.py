"""Uniques of the population by a log-linear model: how many people share a combination of keys that the file has once.

Unlike the estimators of `population_uniques`, which know class sizes only, a model knows which keys go together, and
tells of each unique record how likely it is alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.classes.grid_loops import adjust, look

__all__ = ["ENOUGH", "MOST_CELLS", "LogLinear", "Model", "log_linear"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Terms = tuple[tuple[int, int], ...]

Model = Literal["auto", "main", "two-way"]
"""Main effects alone, all two-way terms, or main effects and the two-way terms that the test of fit asks for."""

ENOUGH = 1.645
"""A model whose test value is not above it shows no underfit (5%, one-sided)."""
MOST_CELLS = 10**7
"""Most combinations that a grid of keys may have."""
_CLOSE = 1e-6
"""Margins agree to this share of the records."""
_CYCLES = 1000


@dataclass(frozen=True)
class LogLinear:
    """What a log-linear model says of the records that are alone in the file.

    Parameters
    ----------
    uniques
        How many of them are expected to be alone in the population, Σ P(N = 1 | n = 1).
    matches
        How many right matches are expected of them, Σ E(1/N | n = 1).
    z_uniques, z_matches
        Test of each figure for underfit, in standard deviations. High: the model leaves out what keys have in common.
        Far below 0: it follows chance. Either way the figure may be far off. None where there is no test, as when the
        file is the population.
    terms
        Pairs of keys that the model has a two-way term for.
    converged
        Whether the fit came to its end.
    """

    uniques: float
    matches: float
    z_uniques: float | None
    z_matches: float | None
    terms: Terms
    converged: bool


def log_linear(
    codes: Ints,
    counts: Ints,
    fraction: float,
    model: Model = "auto",
    *,
    step: Callable[[int], None] = lambda terms: None,
) -> LogLinear:
    """Estimate the uniques of the population, and the right matches, by a log-linear model of the keys.

    Cells of the grid of all keys' values are Poisson with means μ in the file and μ/π in the population, of which the
    file holds the share π by chance. It answers an intruder who links the file's uniques with the whole population and
    knows the keys exactly. It does not hold for whoever knows who is in the file, for samples that took some people
    rather than others, nor for keys that the model does not fit: look at the test.

    Parameters
    ----------
    codes : ndarray, shape (P, m)
        Combinations of keys, each once: number of each key's value, from 0 on.
    counts : ndarray, shape (P,)
        Records of each, ≥ 1.
    fraction
        π, above 0 and at most 1.
    model
        `main`, `two-way`, or `auto`: from main effects on, the two-way term is added that brings the test of the right
        matches nearest to 0, until it shows no underfit.
    step
        Called with the number of two-way terms before each choice.

    Returns
    -------
    LogLinear

    Raises
    ------
    DataError
        If the fraction is not above 0 and at most 1, or the grid has more than 10,000,000 cells.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> found = log_linear(codes, np.array([40, 20, 2, 1]), 0.5, "main")
    >>> round(found.uniques, 3), round(found.matches, 3), found.terms
    (0.368, 0.632, ())

    Source: Skinner & Shlomo (2008), doi:10.1198/016214507000001328.
    """
    if not 0 < fraction <= 1:
        raise DataError("fraction: must be above 0 and at most 1")
    codes, counts = np.asarray(codes, dtype=np.int64), np.asarray(counts, dtype=np.int64)
    wide = [int(column.max(initial=-1)) + 1 for column in codes.T]
    cells = 1
    for each in wide:
        cells *= each
    if cells > MOST_CELLS:
        raise DataError(
            f"A log-linear model of these keys has more than {MOST_CELLS:,} combinations of their values. Name fewer "
            "keys, or recode those with many values."
        )
    grid = _Grid(codes, counts, fraction, tuple(wide))
    pairs: Terms = tuple(combinations([k for k, width in enumerate(wide) if width > 1], 2))
    if model == "two-way":
        return grid.result(pairs, grid.fitted(pairs))
    parts = grid.fitted(())
    found = grid.result((), parts)
    while (
        model == "auto" and found.z_matches is not None and found.z_matches > ENOUGH and len(found.terms) < len(pairs)
    ):
        step(len(found.terms))
        wider = [(*found.terms, pair) for pair in pairs if pair not in found.terms]
        tried = [(grid.result(terms, fit), fit) for terms, fit in ((t, grid.fitted(t, parts)) for t in wider)]
        found, parts = min(tried, key=lambda each: abs(each[0].z_matches or 0.0))
    return found


@dataclass(frozen=True)
class _Part:
    """A fit of keys that no term joins with others: means of their combinations add up to the records."""

    keys: tuple[int, ...]
    terms: Terms
    means: Floats
    converged: bool = True


@dataclass(frozen=True)
class _Grid:
    """All combinations of keys, with those that the file has."""

    codes: Ints
    counts: Ints
    fraction: float
    wide: tuple[int, ...]
    _counted: list[NDArray[np.int32]] = field(default_factory=list, repr=False)

    @property
    def counted(self) -> NDArray[np.int32]:
        """Records of every cell, shape (cells,)."""
        if not self._counted:
            there = np.zeros(int(np.prod(self.wide)), dtype=np.int32)
            there[np.ravel_multi_index(tuple(self.codes.T), self.wide)] = self.counts
            self._counted.append(there)
        return self._counted[0]

    def margin(self, keys: tuple[int, ...]) -> Floats:
        """Records by the values of some keys."""
        wide = tuple(self.wide[k] for k in keys)
        at = np.ravel_multi_index(tuple(self.codes[:, k] for k in keys), wide)
        counted = np.bincount(at, weights=self.counts, minlength=int(np.prod(wide)))
        return counted.astype(np.float64).reshape(wide)

    def fitted(self, terms: Terms, near: Iterable[_Part] = ()) -> tuple[_Part, ...]:
        """The maximum likelihood fit, from the fit of fewer terms on: a part for each set of keys that terms join."""
        known = {(part.keys, part.terms): part for part in near}
        parts = []
        for keys in _joined(len(self.wide), terms):
            own = tuple(t for t in terms if t[0] in keys)
            parts.append(known.get((keys, own)) or self._part(keys, own, tuple(near)))
        return tuple(parts)

    def _part(self, keys: tuple[int, ...], terms: Terms, near: tuple[_Part, ...]) -> _Part:
        if not terms:
            return _Part(keys, (), self.margin(keys))
        inner = [part for part in near if set(part.keys) <= set(keys)]
        start = inner if inner else [_Part((k,), (), self.margin((k,))) for k in keys]
        means = np.ascontiguousarray(_product(start, keys, self.counts.sum()))
        wanted = [self.margin(t) for t in terms]
        views = [means.reshape(_around(means.shape, *(keys.index(k) for k in t))) for t in terms]
        for _ in range(_CYCLES):
            gap = max(adjust(view, margin) for view, margin in zip(views, wanted, strict=True))
            if len(terms) == 1 or gap <= _CLOSE * self.counts.sum():
                return _Part(keys, terms, means)
        return _Part(keys, terms, means, converged=False)

    def result(self, terms: Terms, parts: tuple[_Part, ...]) -> LogLinear:
        """The figures of a fit."""
        means = _product(parts, tuple(range(len(self.wide))), self.counts.sum())
        uniques, matches, *tests = look(np.ascontiguousarray(means).reshape(-1), self.counted, self.fraction)
        z = [bias / np.sqrt(variance) if variance > 0 else None for bias, variance in (tests[:2], tests[2:])]
        return LogLinear(uniques, matches, z[0], z[1], terms, all(part.converged for part in parts))


def _joined(m: int, terms: Terms) -> list[tuple[int, ...]]:
    """Sets of keys that terms join."""
    sets = [{k} for k in range(m)]
    for a, b in terms:
        one, other = (next(s for s in sets if k in s) for k in (a, b))
        if one is not other:
            sets.remove(other)
            one |= other
    return [tuple(sorted(s)) for s in sets]


def _product(parts: Iterable[_Part], keys: tuple[int, ...], records: int) -> Floats:
    """Means of all combinations of keys of independent parts."""
    means: Floats = np.full((1,) * len(keys), float(records))
    for part in parts:
        shape = [1] * len(keys)
        for k, width in zip(part.keys, part.means.shape, strict=True):
            shape[keys.index(k)] = width
        means = means * (part.means / records).reshape(shape)
    return means


def _around(shape: tuple[int, ...], a: int, b: int) -> tuple[int, int, int, int, int]:
    """The shape in which two axes stand alone."""
    before, between, after = (int(np.prod(shape[i:j])) for i, j in ((0, a), (a + 1, b), (b + 1, len(shape))))
    return before, shape[a], between, shape[b], after
