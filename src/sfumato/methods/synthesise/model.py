"""What models of a column look at, draw from and give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.synthesis.scores import Scores
from sfumato.methods.synthesise.coding import Coded, Coding

__all__ = ["Drawing", "Fit", "Keys", "Limits", "Model", "Told"]

Floats = NDArray[np.float64]
Codes = NDArray[np.uint16]
Flags = NDArray[np.bool_]
Limits = tuple[Floats, Floats]
"""Least and largest number that each row may get."""
Rows = NDArray[np.bool_] | NDArray[np.uint32] | NDArray[np.int64]


class Told:
    """A column that helps to draw another. What only some models look at is worked out when one does.

    Parameters
    ----------
    coding
        How it is coded.
    column
        Its states and numbers.
    like
        The original's column, by whose numbers those of a copy are scored; None for the original itself.
    """

    def __init__(self, coding: Coding, column: Coded, like: Told | None = None) -> None:
        self.coding, self.column, self._like = coding, column, like

    @cached_property
    def codes(self) -> Codes:
        """The code of each row, for trees."""
        return self.coding.codes(self.column)

    @cached_property
    def scale(self) -> Scores:
        """The normal scores of the original's numbers."""
        return self._like.scale if self._like else Scores(self.column.number[self.column.state == 0])

    @cached_property
    def scores(self) -> Floats:
        """The normal score of each row's number; 0 where there is none."""
        return np.where(self.column.state == 0, self.scale.of(self.column.number), 0.0)

    def at(self, rows: Rows) -> Told:
        """Some of its rows."""
        part = Told(self.coding, Coded(self.column.state[rows], self.column.number[rows]), self._like or self)
        part.__dict__.update({name: self.__dict__[name][rows] for name in ("codes", "scores") if name in self.__dict__})
        return part


class Keys(Protocol):
    """Keyed draws of a step."""

    def uniform(self, column: str, part: str, copy: int) -> Floats:
        """A draw between 0 and 1 for each synthetic row."""
        ...

    def numbered(self, column: str, part: str, copy: int, many: int) -> Floats:
        """Draws between 0 and 1 that are nobody's, for the parameters of a model."""
        ...

    def weights(self, copy: int) -> Floats:
        """A weight above 0 for each row of the original, of mean 1: a Bayesian bootstrap."""
        ...


@dataclass(frozen=True)
class Drawing:
    """The draws for one column of one copy.

    Parameters
    ----------
    keys
        Keyed draws of the step.
    column, copy
        What is drawn.
    rows
        For how many rows.
    chosen
        Which of the step's rows these are; None for all of them.
    sweep
        How often they were drawn before; each time has draws of its own.
    part
        Which of a column's models draws, where it has several.
    again
        How often a number was drawn that the row may not get.
    """

    keys: Keys
    column: str
    copy: int
    rows: int
    chosen: Flags | None = None
    sweep: int = 0
    part: str = ""
    again: int = 0

    def of(self, rows: Flags, part: str = "") -> Drawing:
        """The draws for some of its rows, by one of the column's models.

        Parameters
        ----------
        rows : ndarray of bool, shape (rows,)
            Which of them.
        part
            Name of the model, whose draws are apart from those of the others; the same one where it is left out.
        """
        chosen = rows
        if self.chosen is not None:
            chosen = self.chosen.copy()
            chosen[self.chosen] = rows
        return replace(self, rows=int(rows.sum()), chosen=chosen, part=part or self.part)

    def uniform(self, part: str) -> Floats:
        """A draw between 0 and 1 for each row."""
        again = f"{part}, again {self.again}" if self.again else part
        drawn = self.keys.uniform(self.column, self._again(again), self.copy)
        return drawn if self.chosen is None else drawn[self.chosen]

    def numbered(self, part: str, many: int) -> Floats:
        """Draws between 0 and 1 that are nobody's."""
        return self.keys.numbered(self.column, self._again(part), self.copy, many)

    def _again(self, part: str) -> str:
        named = f"{self.part} {part}" if self.part else part
        return f"{named}, sweep {self.sweep}" if self.sweep else named


class Model(Protocol):
    """What a column is drawn from."""

    def draw(self, predictors: Sequence[Told], draws: Drawing, within: Limits | None = None) -> Coded:
        """The column of rows with these predictors; numbers are NaN where none is found within limits."""
        ...


Fit = Callable[[Coded, Sequence[Told], Coding, Floats | None], Model]
"""Fits the model of a column: itself, its predictors, its own coding, weights."""
