"""What method `corrected` cannot take, and which method a family takes by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.data.disclosure import Coarsened
from sfumato.data.error_model import Additive
from sfumato.inference.columns import Columns
from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.outcome import Outcome
from sfumato.inference.problem import Problem, additive_parts
from sfumato.kernels.likelihood.response import Linear

__all__ = ["CORRECTED", "Obstacle", "as_number", "obstacle"]

CORRECTED = ("linear", "poisson", "cox")
"""Families that method `corrected` fits."""


@dataclass(frozen=True)
class Obstacle:
    """Why `corrected` cannot take a model.

    Parameters
    ----------
    column
        The column that it cannot take.
    why
        What was done to it, as the end of a sentence.
    gaps
        Whether it is that values are missing: without those records `corrected` could take it.
    """

    column: str
    why: str
    gaps: bool = False

    def __str__(self) -> str:
        return f"{self.column!r} {self.why}"


def obstacle(problem: Problem, family: str, response: str) -> Obstacle | None:
    """Find the first column that `corrected` cannot take; gaps are told last, as records can be left out.

    Parameters
    ----------
    problem
        The model with its data.
    family
        Of the model.
    response
        Its response.

    Examples
    --------
    >>> print(Obstacle("age", "was released in bands"))
    'age' was released in bands
    """
    hidden = {c.name: c for c in (*problem.continuous, *problem.discrete)}
    for covariate in hidden.values():
        why = _number(covariate) if covariate.variance is not None else _category(covariate, problem, response)
        if why:
            return Obstacle(covariate.name, why)
    numbers = {n for n, c in hidden.items() if c.variance is not None or as_number(c, problem, response)}
    bent = None if family == "linear" else _bent(problem.columns, numbers)
    if bent:
        return Obstacle(bent, "stands in a power or product of hidden numbers")
    if why := _response(problem.outcome, family):
        return Obstacle(response, why)
    gaps = next((n for n, c in hidden.items() if np.isnan(c.values).any()), None)
    return Obstacle(gaps, "has missing values", True) if gaps else None


def _number(covariate: Covariate) -> str:
    """Why a hidden number cannot be taken; empty where it can."""
    for part, _ in covariate.parts:
        if isinstance(part, Coarsened):
            return "was released in bands"
        if not isinstance(part, Additive):
            continue
        if covariate.name in part.bounds:
            return "was cut off at a bound"
        if covariate.name in part.grows:
            return "has noise that grows with its value"
        if covariate.name in part.coarse:
            return "was rounded to more than a fifth of its noise's standard deviation"
    return ""


def _category(covariate: Covariate, problem: Problem, response: str) -> str:
    """Why a hidden category cannot be taken: noise that it shares with others is taken out of plain numbers alone."""
    shares = _shares(covariate, problem, response)
    if shares and not as_number(covariate, problem, response):
        return f"has noise correlated with that on {shares!r}, and is no plain number"
    return ""


def as_number(covariate: Covariate, problem: Problem, response: str) -> bool:
    """Whether a hidden column of few values is better taken for a number: its noise is shared with another column's."""
    if covariate.table is None or covariate.levels or not _shares(covariate, problem, response):
        return False
    return all(isinstance(part, Additive) and not _number_of(part, covariate.name) for part, _ in covariate.parts)


def _number_of(part: Additive, name: str) -> bool:
    return name in part.bounds or name in part.grows or name in part.coarse


def _shares(covariate: Covariate, problem: Problem, response: str) -> str:
    """Another column of the model whose noise is correlated with this one's; empty where there is none."""
    there = {*problem.covariates, response} - {covariate.name}
    for part in additive_parts(problem):
        if covariate.name not in part.columns:
            continue
        own = part.covariance[part.columns.index(covariate.name)]
        for name, shared in zip(part.columns, own, strict=True):
            if name in there and shared:
                return name
    return ""


def _bent(columns: Columns, numbers: set[str]) -> str | None:
    """A hidden number that stands in a column with a power, or beside another one."""
    for parts in columns.parts:
        used = [name for name, _ in parts if name in numbers]
        if len(used) > 1:
            return used[0]
    return None


def _response(outcome: Outcome, family: str) -> str:
    """Why a response cannot be taken; empty where it can."""
    response = outcome.response
    if family == "linear" and isinstance(response, Linear) and not np.isnan(response.low).all():
        return "was released in bands, cut off at a bound or rounded coarsely"
    return ""
