"""By how much hidden columns vary more than their noise alone would: whether there is anything to estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.corrected.hidden import Categories, HiddenColumns
from sfumato.inference.problem import Problem
from sfumato.kernels.corrected.noise import Noise

__all__ = ["LEAST", "WALD", "Evidence", "evidence_of"]

Floats = NDArray[np.float64]

LEAST = 2.0
"""Evidence below which nothing is estimated."""
_NEXT_TO_NONE = 1e-3
"""Share of a number's variation that noise is taken to have at least, where strata are weighed."""
WALD = {"linear": 12.0, "poisson": 6.0, "cox": 6.0}
"""Evidence on numbers from which on estimates ± standard errors hold."""


@dataclass(frozen=True)
class Evidence:
    """How much is known of hidden columns.

    Parameters
    ----------
    by_column
        For hidden numbers by how many standard errors they vary more than noise alone would, given the other columns;
        for categories how many the rarest level's share is above 0.
    together
        The least over all linear combinations of numbers, and over the categories.
    likely
        The same where records are weighed by what they tell, as a likelihood does: strata with strong noise then take
        nothing away from those with little.
    numbers
        Which of the columns are numbers.

    Examples
    --------
    >>> Evidence({"x": 1.5, "sex": 30.0}, 1.5, 1.5, ("x",)).weakest
    'x'
    """

    by_column: dict[str, float]
    together: float
    likely: float
    numbers: tuple[str, ...]

    @property
    def weakest(self) -> str:
        """The column of which least is known."""
        return min(self.by_column, key=lambda name: self.by_column[name])

    def weak_numbers(self, least: float) -> list[str]:
        """Hidden numbers of which less is known."""
        return [name for name in self.numbers if self.by_column[name] < least]


def evidence_of(problem: Problem, hidden: HiddenColumns, draws: int | None = None) -> Evidence | None:
    """Work out what is known of a model's hidden columns; None where there are none.

    Parameters
    ----------
    problem
        The model with its data, without missing values.
    hidden
        Its hidden columns.
    draws
        How many draws of the noise there are, where records share them; else as many as records.
    """
    numbers = hidden.numbers[:-1] if hidden.noisy_response else hidden.numbers
    found = {c.name: _of_category(c.indicators, problem.weight) for c in hidden.categories}
    likely = min((_of_strata(c, problem.weight) for c in hidden.categories), default=math.inf)
    together = min(found.values(), default=math.inf)
    if numbers and hidden.design is not None:
        n = float(problem.weight.sum() ** 2 / (problem.weight**2).sum())
        n = n if draws is None else min(n, draws)
        gap = _gaps(problem, hidden.design.z[:, : len(numbers)])
        own, all_ = _of_numbers(problem.weight, gap, hidden.design.noises, hidden.design.group, n)
        found |= dict(zip(numbers, own, strict=True))
        together = min(together, all_)
        likely = min(likely, max(all_, _of_laws(problem.weight, gap, hidden.design.noises, hidden.design.group)))
    return Evidence(found, together, max(together, likely), tuple(numbers)) if found else None


def _of_category(indicators: Floats | None, weight: Floats) -> float:
    """How many standard errors the rarest level's share is above 0."""
    if indicators is None:
        return 0.0
    share = weight / weight.sum()
    mean = share @ indicators
    gap = indicators - mean
    se = np.sqrt(share**2 @ gap**2)
    return float(np.min(np.where(se > 0, mean / np.maximum(se, 1e-300), math.inf)))


def _of_strata(category: Categories, weight: Floats) -> float:
    """The same with strata weighed by how well they tell the share."""
    if not category.strata:
        return 0.0
    toward: Floats = np.zeros(category.released.shape[1])
    precision = np.zeros_like(toward)
    for rows, indicators in category.strata:
        share = weight[rows] / weight[rows].sum()
        mean = share @ indicators
        variance = np.maximum(share**2 @ (indicators - mean) ** 2, 1e-300)
        toward, precision = toward + mean / variance, precision + 1 / variance
    return float((toward / np.sqrt(precision)).min())


def _gaps(problem: Problem, z: Floats) -> Floats:
    """What the exact columns do not explain of released numbers, shape (n, c)."""
    weight = problem.weight
    shown = [j for j, parts in enumerate(problem.columns.parts) if _is_exact(problem, parts)]
    known = np.column_stack([np.ones(problem.n), problem.exact_part()[:, shown]])
    z = z - np.average(z, axis=0, weights=weight)
    gram = known.T @ (known * weight[:, None])
    size = np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
    slope = np.linalg.pinv(gram / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(size, size)
    return np.asarray(z - known @ (slope @ (known.T @ (z * weight[:, None]))))


def _of_numbers(
    weight: Floats, gap: Floats, noises: Sequence[Noise], group: NDArray[np.int64], n: float
) -> tuple[list[float], float]:
    """For each hidden number given the others, and for the least combination of them."""
    total, count = weight.sum(), gap.shape[1]
    S = gap.T @ (gap * weight[:, None]) / total
    share = np.bincount(group, weights=weight, minlength=len(noises)) / total
    omega = np.einsum("g,gij->ij", share, [noise.covariance[:count, :count] for noise in noises])
    told = [k for noise in noises for k in noise.kurtosis[:count][np.diagonal(noise.covariance)[:count] > 0].tolist()]
    kurtosis = max(told, default=0.0)
    scale = math.sqrt(n / (2 + kurtosis))
    size = np.sqrt(np.maximum(np.diagonal(omega), 1e-300))
    noise, more = omega / np.outer(size, size), (S - omega) / np.outer(size, size)
    values, vectors = np.linalg.eigh(noise)
    root = vectors / np.sqrt(np.maximum(values, 1e-12 * values.max()))
    least = float(np.linalg.eigvalsh(root.T @ more @ root)[0])
    own = [_given_others(more, j) for j in range(count)]
    return [one * scale for one in own], least * scale


def _of_laws(weight: Floats, gap: Floats, noises: Sequence[Noise], group: NDArray[np.int64]) -> float:
    """For the least number, each stratum of noise weighed by how well it tells what is there besides."""
    count = gap.shape[1]
    mass = np.bincount(group, weights=weight, minlength=len(noises))
    S: Floats = np.column_stack([np.bincount(group, weight * gap[:, j] ** 2, len(noises)) for j in range(count)])
    S = np.asarray(S / np.maximum(mass, 1e-300)[:, None])
    omega = np.array([np.diagonal(noise.covariance)[:count] for noise in noises])
    spread = (2 + np.array([noise.kurtosis[:count] for noise in noises])) * np.maximum(omega, _NEXT_TO_NONE * S) ** 2
    precision = mass[:, None] / np.maximum(spread, 1e-300)
    return float(((precision * (S - omega)).sum(axis=0) / np.sqrt(precision.sum(axis=0))).min())


def _is_exact(problem: Problem, parts: tuple[tuple[str, int | None], ...]) -> bool:
    return all(problem.covariates[name].exact for name, _ in parts)


def _given_others(more: Floats, j: int) -> float:
    """What a number varies more than its noise, less what the others explain of it."""
    rest = np.arange(len(more)) != j
    if not rest.any():
        return float(more[j, j])
    explained = more[j, rest] @ np.linalg.pinv(more[np.ix_(rest, rest)], hermitian=True) @ more[rest, j]
    return float(more[j, j] - max(float(explained), 0.0))
