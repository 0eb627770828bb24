"""The one door to suppression: a method by its name, or stages that go as far as the work allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.goals import Insider
from sfumato.kernels.tabular.work import Work
from sfumato.progress import Progress, quiet
from sfumato.tables.suppress.exact import suppress_exact
from sfumato.tables.suppress.flow import suppress_flow
from sfumato.tables.suppress.problem import Equations, Problem, budget, prepare
from sfumato.tables.suppress.repair import eliminated, suppress_elimination_repair
from sfumato.tables.suppress.result import Suppression
from sfumato.tables.suppress.stages import suppress_in_stages

__all__ = ["METHODS", "Method", "suppress"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

Method = Literal["auto", "optimal", "flow", "elimination"]
METHODS: tuple[Method, ...] = ("auto", "optimal", "flow", "elimination")

LIMIT = {"optimal": 3_500_000, "flow": 4_000_000, "elimination": 1_000_000}
"""Iterations of the solver that a method may spend by default; not seconds, so that every machine finds the same."""


LONG = (
    "The search was ended before it was proved that nothing is cheaper, as far as `gap` says. With --work (`work`) it "
    "goes on for so many times as long."
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
    work: float = 1.0,
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
        `auto`: in stages, each of which leaves a cheaper pattern, as far as the work goes; small tables with a proof.
        `optimal`: the cheapest pattern, with proof. `flow`: cheapest flows one after another. `elimination`: exact
        elimination; with levels, mended by flows.
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
    work
        So many times the usual iterations of the solver may be spent.
    seconds
        When to stop at the latest.
    progress
        Told what is being done.

    Returns
    -------
    Suppression
        With the places of cells that no pattern protects as asked, and why; they are protected as far as possible.
        Where the work did not suffice for all others, a note says so: an audit finds which they are.

    Raises
    ------
    DataError
        An unknown method, arrays of different lengths, values or costs that are missing.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import scipy.sparse as sp
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> free = {"lower": np.zeros(4), "upper": np.full(4, np.inf)}
    >>> found = suppress(system, value == 2, cost=value, **free)
    >>> found.secondary.tolist(), found.optimal
    ([False, True, False, False], True)
    """
    if method not in METHODS:
        raise DataError(f"There is no method {method!r} to hide cells. Take one of {', '.join(METHODS)}.")
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
        check=method in ("optimal", "flow"),
    )
    if not len(problem.goals):
        return problem.result(problem.fixed.copy(), "none", 0.0)
    if method == "auto":
        return suppress_in_stages(problem, work, progress)
    return _RUN[method](replace(problem, work=Work(budget(problem, LIMIT[method]) * work)), progress)


def _optimal(problem: Problem, progress: Progress) -> Suppression:
    found = suppress_exact(problem, progress)
    return found if found.optimal else replace(found, note=" ".join(filter(None, [found.note, LONG])))


def _elimination(problem: Problem, progress: Progress) -> Suppression:
    bounded = np.any(problem.goals.sign == 0)  # what is known beforehand stops some cells one way
    if bounded or not np.all(problem.goals.cone) or np.any(problem.goals.known >= 0):
        return suppress_elimination_repair(problem, progress)
    progress("hiding cells by elimination", 0.0)
    problem, hidden = eliminated(problem)
    return problem.result(hidden, "elimination")


_RUN: dict[str, Callable[[Problem, Progress], Suppression]] = {
    "optimal": _optimal,
    "flow": suppress_flow,
    "elimination": _elimination,
}
