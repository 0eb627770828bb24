"""By how much hidden columns vary more than their noise alone would: whether there is anything to estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.corrected.hidden import HiddenColumns
from sfumato.inference.problem import Problem
from sfumato.kernels.corrected.noise import Noise

__all__ = ["LEAST", "WALD", "Evidence", "evidence_of"]

Floats = NDArray[np.float64]

LEAST = 2.0
"""Evidence below which nothing is estimated."""
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
    numbers
        Which of the columns are numbers.

    Examples
    --------
    >>> Evidence({"x": 1.5, "sex": 30.0}, 1.5, ("x",)).weakest
    'x'
    """

    by_column: dict[str, float]
    together: float
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
    together = min(found.values(), default=math.inf)
    if numbers and hidden.design is not None:
        n = float(problem.weight.sum() ** 2 / (problem.weight**2).sum())
        n = n if draws is None else min(n, draws)
        own, all_ = _of_numbers(problem, hidden.design.z, hidden.design.noises, hidden.design.group, len(numbers), n)
        found |= dict(zip(numbers, own, strict=True))
        together = min(together, all_)
    return Evidence(found, together, tuple(numbers)) if found else None


def _of_category(indicators: Floats | None, weight: Floats) -> float:
    """How many standard errors the rarest level's share is above 0."""
    if indicators is None:
        return 0.0
    share = weight / weight.sum()
    mean = share @ indicators
    gap = indicators - mean
    se = np.sqrt(share**2 @ gap**2)
    return float(np.min(np.where(se > 0, mean / np.maximum(se, 1e-300), math.inf)))


def _of_numbers(
    problem: Problem, z: Floats, noises: Sequence[Noise], group: NDArray[np.int64], count: int, n: float
) -> tuple[list[float], float]:
    """For each hidden number given the others, and for the least combination of them."""
    weight = problem.weight
    total = weight.sum()
    shown = [j for j, parts in enumerate(problem.columns.parts) if _is_exact(problem, parts)]
    known = np.column_stack([np.ones(problem.n), problem.exact_part()[:, shown]])
    z = z[:, :count] - np.average(z[:, :count], axis=0, weights=weight)
    gram = known.T @ (known * weight[:, None])
    size = np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
    slope = np.linalg.pinv(gram / np.outer(size, size), rcond=1e-12, hermitian=True) / np.outer(size, size)
    gap = z - known @ (slope @ (known.T @ (z * weight[:, None])))
    S = gap.T @ (gap * weight[:, None]) / total
    share = np.bincount(group, weights=weight, minlength=len(noises)) / total
    omega = np.einsum("g,gij->ij", share, [noise.covariance[:count, :count] for noise in noises])
    kurtosis = float(max(noise.kurtosis[:count].max(initial=0.0) for noise in noises))
    scale = math.sqrt(n / (2 + kurtosis))
    size = np.sqrt(np.maximum(np.diagonal(omega), 1e-300))
    noise, more = omega / np.outer(size, size), (S - omega) / np.outer(size, size)
    values, vectors = np.linalg.eigh(noise)
    root = vectors / np.sqrt(np.maximum(values, 1e-12 * values.max()))
    least = float(np.linalg.eigvalsh(root.T @ more @ root)[0])
    own = [_given_others(more, j) for j in range(count)]
    return [one * scale for one in own], least * scale


def _is_exact(problem: Problem, parts: tuple[tuple[str, int | None], ...]) -> bool:
    return all(problem.covariates[name].exact for name, _ in parts)


def _given_others(more: Floats, j: int) -> float:
    """What a number varies more than its noise, less what the others explain of it."""
    rest = np.arange(len(more)) != j
    if not rest.any():
        return float(more[j, j])
    explained = more[j, rest] @ np.linalg.pinv(more[np.ix_(rest, rest)], hermitian=True) @ more[rest, j]
    return float(more[j, j] - max(float(explained), 0.0))
