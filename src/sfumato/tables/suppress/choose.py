"""The one door to suppression: a method by its name, or the best that the size of the table allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.goals import Insider
from sfumato.progress import Progress, quiet
from sfumato.tables.suppress.exact import suppress_exact
from sfumato.tables.suppress.flow import suppress_flow
from sfumato.tables.suppress.problem import Equations, Problem, prepare
from sfumato.tables.suppress.repair import INSIDERS, eliminated, suppress_elimination_repair
from sfumato.tables.suppress.result import Suppression

__all__ = ["METHODS", "Method", "chosen", "suppress"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

Method = Literal["auto", "optimal", "flow", "elimination"]
METHODS: tuple[Method, ...] = ("auto", "optimal", "flow", "elimination")

SMALL, FLAT, MIDDLE, LARGE = 700, 3_000, 2_000, 10_000
"""Cells up to which the search is exact, exact in two dimensions, by flows, by elimination that flows mend."""
EFFORT, LONG_EFFORT = 4_000, 40_000
"""Linear programs after which an exact search ends, under `auto` and where it was asked for; not seconds, so that every
machine finds the same. Where a time is given it alone ends a search that was asked for."""


LONG = (
    "The search was ended before it was proved that nothing is cheaper, as far as `gap` says. With --time-limit "
    "(`seconds`) it goes on for as long as that."
)


def suppress(
    system: Equations,
    primary: Bools,
    *,
    method: Method = "auto",
    cost: Floats,
    lower: Floats,
    upper: Floats,
    lower_level: Floats | None = None,
    upper_level: Floats | None = None,
    sliding_level: Floats | None = None,
    forbidden: Bools | None = None,
    preferred: Bools | None = None,
    forced: Bools | None = None,
    insiders: Sequence[Insider] = (),
    seconds: float | None = None,
    progress: Progress = quiet,
) -> Suppression:
    """Find the cells to hide beside the primary ones.

    It protects against: whoever adds and subtracts published cells, and knows the bounds beforehand; and against the
    `insiders` that are named. It does not protect against: others who know cells, several who join, and what other
    releases tell.

    Parameters
    ----------
    system
        The equations M a = 0 and the true values of the distinct cells.
    primary
        Cells that must be protected, shape (cells,).
    method
        `auto`: by the size of the table. `optimal`: the cheapest pattern, with proof. `flow`: cheapest flows one after
        another. `elimination`: exact elimination; with levels, mended by flows.
    cost
        What hiding each cell costs; copies of a cell together.
    lower, upper
        What an attacker knows of each cell beforehand.
    lower_level, upper_level, sliding_level
        How far each primary cell must be able to fall, to rise, and both together. Without any of them no primary
        cell may be determined exactly, and that is what holds for primary cells without a positive level.
    forbidden, preferred, forced
        Cells that must be published; that cost next to nothing (say those of last period's pattern); that are hidden
        whatever it costs, without being protected.
    insiders
        Who knows which cells, and must not find a primary one.
    seconds
        When to stop. What is given by then is safe, but may hide more than is needed.
    progress
        Told what is being done.

    Returns
    -------
    Suppression
        With the places of cells that no pattern protects as asked, and why; they are protected as far as possible.

    Raises
    ------
    DataError
        An unknown method, arrays of different lengths, values or costs that are missing.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> free = {"lower": np.zeros(4), "upper": np.full(4, np.inf)}
    >>> found = suppress(system, value == 2, cost=value, **free)
    >>> found.secondary.tolist(), found.optimal
    ([False, True, False, False], True)
    """
    if method not in METHODS:
        raise DataError(f"There is no method {method!r} to hide cells. Take one of {', '.join(METHODS)}.")
    name = chosen(system.matrix) if method == "auto" else method
    problem = prepare(
        system,
        primary,
        cost=cost,
        lower=lower,
        upper=upper,
        lower_level=lower_level,
        upper_level=upper_level,
        sliding_level=sliding_level,
        forbidden=forbidden,
        preferred=preferred,
        forced=forced,
        insiders=insiders,
        seconds=seconds,
        check=name in ("optimal", "flow"),
    )
    if not len(problem.goals):
        return problem.result(problem.fixed.copy(), "none", 0.0)
    return _RUN[name](problem, method == "auto", progress)


def chosen(matrix: sp.csr_array) -> str:
    """The method for a table's size; two dimensions without other groupings are searched exactly for longer.

    Examples
    --------
    >>> chosen(sp.csr_array(np.array([[1, 1, 1, -1]])))
    'optimal'
    """
    cells = matrix.shape[1]
    if cells <= SMALL or (cells <= FLAT and _two_dimensional(matrix)):
        return "optimal"
    return "flow" if cells <= MIDDLE else "elimination" if cells <= LARGE else "elimination only"


def _two_dimensional(matrix: sp.csr_array) -> bool:
    """Whether every cell is a part of two totals at most."""
    parts = sp.csc_array(sp.csr_array(matrix) > 0)
    return bool(np.diff(parts.indptr).max(initial=0) <= 2)


def _optimal(problem: Problem, auto: bool, progress: Progress) -> Suppression:
    if auto:
        return suppress_exact(problem, EFFORT, progress)
    found = suppress_exact(problem, LONG_EFFORT if np.isinf(problem.until) else None, progress)
    return found if found.optimal or not np.isinf(problem.until) else replace(found, note=_said(found.note, LONG))


def _said(*notes: str | None) -> str:
    return " ".join(note for note in notes if note)


def _flow(problem: Problem, auto: bool, progress: Progress) -> Suppression:
    return suppress_flow(problem, progress)


def _elimination(problem: Problem, auto: bool, progress: Progress) -> Suppression:
    bounded = np.any(problem.goals.sign == 0)  # what is known beforehand stops some cells one way
    insiders = int((problem.goals.known >= 0).sum())
    if auto or bounded or not np.all(problem.goals.cone) or 0 < insiders <= INSIDERS:
        return suppress_elimination_repair(problem, progress)
    return _elimination_only(problem, auto, progress)


def _elimination_only(problem: Problem, auto: bool, progress: Progress) -> Suppression:
    note = None
    if not np.all(problem.goals.cone):
        note = "The table is too large for protection levels: no primary cell is determined exactly, no more is proved."
    progress("hiding cells by elimination", 0.0)
    problem, hidden = eliminated(problem)
    return problem.result(hidden, "elimination", note=note)


_RUN: dict[str, Callable[[Problem, bool, Progress], Suppression]] = {
    "optimal": _optimal,
    "flow": _flow,
    "elimination": _elimination,
    "elimination only": _elimination_only,
}
