"""A suppression problem as arrays: what every method starts from, and which cells no pattern can protect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.goals import Goals, Insider, boxes, goals_of, room, served
from sfumato.kernels.tabular.programs import Flows, Reach
from sfumato.kernels.tabular.work import Work, WorkEnded
from sfumato.tables.suppress.result import Suppression, impossible_note

__all__ = ["TINY", "Equations", "Problem", "farthest", "in_units", "of_cells", "prepare", "unproved", "within_reach"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

REACHED = 1 - 1e-6
TIE = 1e-7
TINY = 1e-7
Late = Callable[[], bool]
"""Whether the time is over, or the work is spent."""
LARGE = 10_000
"""In tables of more cells than that the usual work falls with the square of their number: iterations take longer."""
CLOSED = 1e-5
"""A gap of less than that is none."""


class Equations(Protocol):
    """The part of an equation system that suppression looks at."""

    @property
    def matrix(self) -> sp.csr_array:
        """M of M a = 0, shape (equations, cells)."""

    @property
    def value(self) -> Floats:
        """The true values a, shape (cells,)."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What must be hidden, what may be, what it costs, and what must be reached.

    Parameters
    ----------
    matrix
        The equations, shape (equations, cells).
    value
        The true values.
    fixed
        Cells that are hidden in every pattern: primary ones, and those whose hiding was asked for.
    primary
        Cells that must be protected.
    open
        Cells that may be hidden.
    cost
        What hiding a cell costs; above 0 for every cell, and scaled to a mean of 1.
    scale
        Costs as they were given are so many times those of `cost`.
    down, up
        How far each cell may fall and rise by prior knowledge.
    goals
        What can be reached of what was asked for.
    unprotected, reason
        Primary cells for which more was asked for than can be reached, and why.
    until
        When to stop, as `time.monotonic` tells it.
    work
        How many iterations of the solver may be spent.
    """

    matrix: sp.csr_array
    value: Floats
    fixed: Bools
    primary: Bools
    open: Bools
    cost: Floats
    scale: float
    down: Floats
    up: Floats
    goals: Goals
    unprotected: Ints
    reason: tuple[str, ...]
    until: float
    work: Work = field(default_factory=Work)

    def late(self) -> bool:
        """Whether the time is over, or the work is spent."""
        return self.work.over or monotonic() > self.until

    def result(self, hidden: Bools, method: str, bound: float | None = None, note: str | None = None) -> Suppression:
        """The pattern as a result; `bound` in scaled costs."""
        secondary = hidden & ~self.primary
        chosen = secondary & ~self.fixed
        spent = float((self.cost / _ties(len(self.cost)))[chosen].sum())
        least = None if bound is None else min(bound / (1 + TIE), spent)
        gap = None if least is None else (spent - least) / spent if spent > 0 else 0.0
        if gap is not None and gap < CLOSED:
            gap, least = 0.0, spent
        notes = [text for text in (impossible_note(self.reason), note) if text]
        return Suppression(
            secondary,
            optimal=gap == 0.0,
            gap=gap,
            bound=None if least is None else least * self.scale,
            note=" ".join(notes) or None,
            unprotected=self.unprotected,
            reason=self.reason,
            method=method,
        )


def prepare(
    system: Equations,
    primary: Bools,
    *,
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
    check: bool = True,
) -> Problem:
    """Make a problem of what was asked for; goals out of reach are lowered to what can be reached, and reported.

    Parameters
    ----------
    system, primary, cost, lower, upper, lower_level, upper_level, sliding_level
        As for `suppress`.
    forbidden, preferred, forced, insiders, seconds
        As for `suppress`.
    check
        Look for goals out of reach; without it the table is taken to be too large for that.
    """
    value = np.asarray(system.value, dtype=np.float64)
    none = np.zeros(len(value), dtype=bool)
    matrix = sp.csr_array(system.matrix).astype(np.float64)
    _check(matrix, value, primary, cost, lower, upper)
    fixed = primary | (none if forced is None else forced)
    open_ = fixed | ~(none if forbidden is None else forbidden)
    weight, scale = _costs(cost, none if preferred is None else preferred, open_ & ~fixed)
    down, up = room(value, lower, upper)
    goals = goals_of(primary, down, up, (lower_level, upper_level, sliding_level), insiders)
    unprotected: Ints = np.zeros(0, dtype=np.int64)
    reason: tuple[str, ...] = ()
    if check:
        goals, unprotected, reason = _reachable(matrix, goals, down, up, open_)
    until = np.inf if seconds is None else monotonic() + seconds
    return Problem(matrix, value, fixed, primary, open_, weight, scale, down, up, goals, unprotected, reason, until)


def _check(matrix: sp.csr_array, value: Floats, primary: Bools, *sizes: Floats) -> None:
    if any(len(part) != matrix.shape[1] for part in (value, primary, *sizes)):
        raise DataError("Cells and what is said of them (primary, cost, lower, upper) differ in number.")
    if not np.all(np.isfinite(value)):
        raise DataError("Suppression needs the true value of every cell, but some are missing.")
    if np.any(sizes[0] < 0) or np.any(np.isnan(sizes[0])):
        raise DataError("The cost of hiding a cell must be 0 or more.")


def budget(problem: Problem, limit: float) -> float:
    """How many iterations may be spent on a table of this size where no more are asked for."""
    return limit * min(1.0, LARGE / len(problem.value)) ** 2


def never() -> bool:
    """It is never late."""
    return False


def _costs(cost: Floats, preferred: Bools, free: Bools) -> tuple[Floats, float]:
    """Costs with mean 1; preferred cells and those without cost keep next to nothing, so that no cell is hidden idly.

    Equal costs differ in the seventh digit by a rule of the cell's place, so that ties fall the same way everywhere.
    """
    counted = cost[free & ~preferred & (cost > 0)]
    scale = float(counted.mean()) if len(counted) else 1.0
    least = 1e-4 * min(1.0, float(counted.min() / scale)) if len(counted) else 1.0
    weight = np.where(preferred, least, np.maximum(cost / scale, least))
    return weight * _ties(len(cost)), scale


def _ties(cells: int) -> Floats:
    """Factors next to 1, another one for each place."""
    places = np.arange(cells, dtype=np.float64)
    return np.asarray(1 + TIE * ((places * 0.6180339887498949) % 1.0), dtype=np.float64)


def _reachable(
    matrix: sp.csr_array, goals: Goals, down: Floats, up: Floats, open_: Bools, work: Work | None = None
) -> tuple[Goals, Ints, tuple[str, ...]]:
    """Lower the goals that cannot be reached though all open cells are hidden, and tell whose, and why.

    Raises `WorkEnded` where the work does not suffice to tell.
    """
    reach = Reach(matrix, work)
    amount, keep = goals.amount.copy(), np.ones(len(goals), dtype=bool)
    why: dict[int, str] = {}
    for i in unproved(matrix, goals, np.where(open_, down, 0.0), np.where(open_, up, 0.0), work).tolist():
        far = farthest(reach, goals, i, down, up, open_)
        all_open = far if open_.all() else farthest(reach, goals, i, down, up, np.ones_like(open_))
        word = "insider" if goals.known[i] >= 0 else "bounds" if all_open < REACHED else "forbidden"
        why.setdefault(int(goals.cell[i]), word)
        keep[i] = far > 1e-6 and not goals.cone[i]
        amount[i] *= far * (1 - 1e-4)
    cells = np.array(sorted(why), dtype=np.int64)
    lowered = replace(goals, amount=amount)[keep]
    return lowered, cells, tuple(why[int(cell)] for cell in cells)


def of_cells(problem: Problem, cells: Ints) -> Problem:
    """The same of some cells alone, all of which may be hidden: the others do not move, and programs are small."""
    place = np.full(len(problem.value), -1)
    place[cells] = np.arange(len(cells))
    matrix = sp.csr_array(problem.matrix[:, cells])
    return replace(
        problem,
        matrix=sp.csr_array(matrix[np.flatnonzero(np.diff(matrix.indptr))]),
        goals=problem.goals.within(place),
        open=np.ones(len(cells), dtype=bool),
        **{name: getattr(problem, name)[cells] for name in ("value", "fixed", "primary", "cost", "down", "up")},
    )


def within_reach(problem: Problem, places: Ints) -> tuple[Problem, Goals]:
    """Of some goals those within reach, the others lowered; and the problem with what cannot be protected told.

    Raises `WorkEnded` where the work does not suffice to tell.
    """
    left, cells, why = _reachable(
        problem.matrix, problem.goals[places], problem.down, problem.up, problem.open, problem.work
    )
    told = {
        **dict(zip(problem.unprotected.tolist(), problem.reason, strict=True)),
        **dict(zip(cells.tolist(), why, strict=True)),
    }
    others = np.setdiff1d(np.arange(len(problem.goals)), places)
    rest = problem.goals[others]
    unprotected = np.array(sorted(told), dtype=np.int64)
    reason = tuple(told[cell] for cell in sorted(told))
    return replace(problem, goals=rest.joined(left), unprotected=unprotected, reason=reason), left


def unproved(
    matrix: sp.csr_array, goals: Goals, down: Floats, up: Floats, work: Work | None = None, late: Late = never
) -> Ints:
    """Goals that cannot be reached though all cells of the matrix are hidden; where it is late, also those not tried.

    A flow proves a goal, and all others that it serves; it starts from nothing, which is quick.
    """
    flows, reach = Flows(matrix, work), Reach(matrix, work)
    flows.cost(np.ones(len(down)))
    either = goals.cone & (goals.sign == 0)  # what moves such a cell serves it, whichever way
    ways = replace(goals, sign=np.where(either, 1, goals.sign))
    every, left = np.ones(len(down), dtype=bool), ways.sign != 0
    missing = []
    for i in range(len(goals)):
        try:
            if ways.sign[i] == 0:
                if late() or farthest(reach, goals, i, down, up, every) < REACHED:
                    missing.append(i)
            elif left[i]:
                left[i] = False
                moved = None if late() else _moved(flows, goals, i, down, up)
                if moved is None:
                    missing.append(i)
                else:
                    left[served(ways, in_units(goals, i, moved), down, up, np.flatnonzero(left))] = False
        except WorkEnded:
            missing.append(i)
    return np.array(missing, dtype=np.int64)


def _moved(flows: Flows, goals: Goals, place: int, down: Floats, up: Floats) -> Floats | None:
    """A flow that reaches a goal, in its units; None where there is none."""
    cell, sign, sides = int(goals.cell[place]), int(goals.sign[place]), boxes(goals, place, down, up)
    found = (flows.cheapest(cell, way, 1.0, *sides) for way in ((sign,) if sign else (1, -1)))
    return next((moved for moved in found if moved is not None), None)


def in_units(goals: Goals, place: int, moved: Floats) -> Floats:
    """A flow in the units of the table; what is next to nothing is nothing."""
    return np.asarray(np.where(np.abs(moved) > TINY, moved, 0.0) * goals.amount[place])


def farthest(reach: Reach, goals: Goals, place: int, down: Floats, up: Floats, open_: Bools) -> float:
    """How far a goal's cell can move through open cells, in units of the goal's amount."""
    falls, rises = boxes(goals, place, down, up)
    reach.box(np.where(open_, -falls, 0.0), np.where(open_, rises, 0.0))
    sign, cell = int(goals.sign[place]), int(goals.cell[place])
    return sum(reach.farthest(cell, way)[0] for way in ((sign,) if sign else (1, -1)))
