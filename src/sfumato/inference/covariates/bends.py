"""Squares and products of exact covariates that hidden numbers hang on.

Noise has mean zero whatever the exact covariates are, so that a regression of what was released on them is that of the
hidden number; only its errors are larger.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sfumato.inference.assemble import exact_columns, exact_effects, in_cells
from sfumato.inference.problem import Problem

__all__ = ["find_bends"]

Floats = NDArray[np.float64]

_LEVEL = 0.001
"""Level of the test of each term, over the number of terms that are tried."""
_MOST_TRIED, _MOST_TAKEN = 60, 5
_OWN = 0.05
"""Least share of a term's standard deviation that the others leave."""
_ENOUGH = 50
"""Records for each term that may be added."""


def find_bends(problem: Problem) -> dict[str, Floats]:
    """Find squares and products of exact covariates that hidden numbers hang on beyond chance.

    One after the other, the most significant is taken, with standard errors that allow for unequal variances.

    Parameters
    ----------
    problem
        The model with its data.

    Returns
    -------
    dict of ndarray, shape (n,)
        By name, standardised; empty where there are none, or where each combination of exact values has a mean of its
        own anyway.
    """
    if not problem.exact or in_cells(problem):
        return {}
    columns = exact_columns(problem)
    tried = _candidates(columns)
    taken: dict[str, Floats] = {}
    if not tried or problem.n < _ENOUGH * (len(columns) + 1):
        return taken
    cut = float(ndtri(1 - _LEVEL / len(tried) / len(problem.continuous) / 2))
    plain = exact_effects(problem)
    while len(taken) < min(_MOST_TAKEN, len(tried)):
        rest = {name: column for name, column in tried.items() if name not in taken}
        w = np.column_stack([np.ones(problem.n), plain, *taken.values()])
        size = {name: _strength(problem, w, column) for name, column in rest.items()}
        name = max(size, key=lambda n: size[n])
        if size[name] < cut:
            break
        taken[name] = rest[name]
    return taken


def _candidates(columns: dict[str, Floats]) -> dict[str, Floats]:
    """Squares and products; squares alone where products are too many."""
    squares = {f"{name}²": column**2 for name, column in columns.items() if len(np.unique(column[:1000])) > 2}
    products = {f"{a}·{b}": columns[a] * columns[b] for a, b in itertools.combinations(columns, 2)}
    tried = squares | products if len(squares) + len(products) <= _MOST_TRIED else squares
    return {name: (v - v.mean()) / v.std() for name, v in tried.items() if v.std() > 0}


def _strength(problem: Problem, w: Floats, column: Floats) -> float:
    """The largest over the hidden numbers of |slope| / standard error, where a column is added to a regression."""
    largest = 0.0
    for covariate in problem.continuous:
        z = covariate.latent
        known = ~np.isnan(z)
        root = np.sqrt(problem.weight[known])
        base = w[known] * root[:, None]
        both = np.column_stack([column[known], z[known]]) * root[:, None]
        own, left = (both - base @ np.linalg.lstsq(base, both, rcond=None)[0]).T
        total = float(own @ own)
        if total < _OWN**2 * float(both[:, 0] @ both[:, 0]):
            continue
        slope = float(own @ left) / total
        error = float(np.sqrt(own**2 @ (left - slope * own) ** 2)) / total
        largest = max(largest, abs(slope) / error if error > 0 else 0.0)
    return largest
