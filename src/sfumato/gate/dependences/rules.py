"""What a dependence says to everybody: which combinations can be, and of what a column is made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.dependences.found import Dependence

__all__ = ["LARGEST", "Find", "Says", "bound_to", "too_many", "written_out"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LARGEST = 1 << 21
"""Combinations of codes up to which a rule about them is written out; of more, what is asked of them is given away."""


@dataclass(frozen=True)
class Says:
    """A rule that was found, about records of all versions or of one.

    Parameters
    ----------
    names
        The variables, in rising order.
    can
        Which combinations of their codes can be, with an axis for each; None where there are too many to be written
        out: what is asked of these variables counts as known then.
    version
        The version whose records it binds; empty for all.
    """

    names: tuple[str, ...]
    can: Bools | None
    version: str = ""


@dataclass(frozen=True)
class Find:
    """A dependence, and the rule that follows: none of numbers that add up, or that have no codes."""

    dependence: Dependence
    says: Says | None


def written_out(names: Sequence[str], places: Sequence[Ints], can: Bools | None, version: str = "") -> Says:
    """A rule about codes, from one about groups of them.

    Parameters
    ----------
    names
        The variables.
    places
        Of each variable the number of its group for each code; below 0 for a code that nothing is said of.
    can
        Which combinations of groups can be, with an axis for each variable; None where there are too many.
    version
        The version whose records it binds.

    Examples
    --------
    A code that nobody has can be with any other one:

    >>> told = written_out(["b", "a"], [np.array([0, 1]), np.array([0, -1, 1])], np.eye(2, dtype=bool))
    >>> told.names, told.can.tolist()
    (('a', 'b'), [[True, False], [True, True], [False, True]])
    """
    order = sorted(range(len(names)), key=lambda i: names[i])
    held = tuple(names[i] for i in order)
    if can is None or too_many(*(len(place) for place in places)):
        return Says(held, None, version)
    padded = np.pad(can, [(0, 1)] * can.ndim, constant_values=True)  # the last: codes that nothing is said of
    index: Any = np.ix_(*(np.where(places[i] < 0, can.shape[i], places[i]) for i in order))
    return Says(held, np.ascontiguousarray(np.transpose(padded, order)[index]), version)


def too_many(*sizes: int) -> bool:
    """Whether a rule over variables of these sizes is not written out."""
    return math.prod(sizes) > LARGEST


def bound_to(says: Says, life: str, lives: Bools) -> Says:
    """A rule of one version as one about records of several.

    Parameters
    ----------
    says
        The rule.
    life
        The variable that says in which versions a record stands.
    lives : ndarray of bool, shape (codes of that variable,)
        Which of its codes stand in the rule's version.
    """
    names = tuple(sorted((*says.names, life)))
    if says.can is None or too_many(*says.can.shape, len(lives)):
        return Says(names, None)
    can = says.can[..., None] | ~lives
    return Says(names, np.ascontiguousarray(np.moveaxis(can, -1, names.index(life))))
