"""The columns of a regression, from those that help to draw another: scores, their squares, indicators of states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.synthesis.design import Scaling, scaled
from sfumato.methods.synthesise.model import Told

__all__ = ["MOST", "Regressors", "regressors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 60
"""Most columns of a regression."""
_RECORDS = 5
"""Records there must be for each column."""
_RARE = 10
"""States of fewer records have no indicator of their own; they share one."""
_LEVELS = 30
"""Most indicators of one column."""


@dataclass(frozen=True)
class _Part:
    """One column of a regression: of a predictor its scores or their squares, or whether its state is one of some."""

    predictor: int
    states: tuple[int, ...]
    power: int = 1

    def of(self, predictors: Sequence[Told]) -> Floats:
        own = predictors[self.predictor]
        if not self.states:
            return own.scores**self.power
        state = own.column.state
        held = state == self.states[0] if len(self.states) == 1 else np.isin(state, self.states)
        return held.astype(np.float64)


@dataclass(frozen=True)
class Regressors:
    """How a regression sees its predictors; learned from the original.

    Parameters
    ----------
    parts
        Its columns.
    scaling
        How they are scaled, and which of them stay.
    """

    parts: tuple[_Part, ...]
    scaling: Scaling

    def of(self, predictors: Sequence[Told], rows: int) -> Floats:
        """The columns of rows with these predictors, scaled, shape (rows, q)."""
        return self.scaling.of(_columns(self.parts, predictors, rows))


def regressors(predictors: Sequence[Told], responses: Floats) -> tuple[Regressors, Floats]:
    """Choose the columns of a regression.

    Parameters
    ----------
    predictors
        What helps to draw.
    responses : ndarray of float64, shape (n, r)
        What is drawn, as numbers.

    Returns
    -------
    tuple
        How predictors are seen, and the columns of these rows, scaled, shape (n, q).

    Notes
    -----
    There are at most 60 columns, and one for every five records. Where there could be more, those stay that correlate
    most with some response; of columns that correlate as much, the first.
    """
    n = len(responses)
    parts = [part for i, own in enumerate(predictors) for part in _parts(i, own)]
    most = min(MOST, n // _RECORDS)
    if len(parts) > most:
        told = np.array([_related(part.of(predictors), responses) for part in parts])
        chosen = np.argsort(-np.round(told, 9), kind="stable")[:most]
        parts = [parts[i] for i in np.sort(chosen)]
    scaling, X = scaled(_columns(parts, predictors, n))
    kept = tuple(parts[i] for i in scaling.kept)
    return Regressors(kept, Scaling(np.arange(len(kept)), scaling.mean, scaling.spread)), X


def _parts(i: int, own: Told) -> Iterator[_Part]:
    """Scores and their squares where there are numbers, and an indicator of each state: without numbers but one."""
    many = np.bincount(own.column.state, minlength=1)
    numbers, many[0] = many[0], 0
    order = [int(s) for s in np.argsort(-many, kind="stable") if many[s]]
    if numbers:
        yield _Part(i, ())
        yield _Part(i, (), 2)
    else:
        order = order[1:]
    single = [s for s in order[: _LEVELS - 1] if many[s] >= _RARE]
    yield from (_Part(i, (s,)) for s in single)
    if rest := tuple(order[len(single) :]):
        yield _Part(i, rest)


def _columns(parts: Sequence[_Part], predictors: Sequence[Told], rows: int) -> Floats:
    X = np.empty((rows, len(parts)), order="F")
    for j, part in enumerate(parts):
        X[:, j] = part.of(predictors)
    return X


def _related(x: Floats, responses: Floats) -> float:
    """The largest correlation with a response, without its sign."""
    away = x - x.mean()
    length = float(np.sqrt(away @ away))
    if length < 1e-12:
        return 0.0
    return float(np.max(np.abs(away @ responses) / length, initial=0.0))
