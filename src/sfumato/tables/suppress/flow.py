"""Suppression by cheapest flows: quick, near the optimum, for tables that are too large for the exact search.

For each primary cell and direction, the cheapest way to move its value by its protection level shows which cells must
be hidden with it; cells hidden already cost nothing. Afterwards cells that turn out useless are published again, the
dearest first. Each goal keeps the flow that proves it, so that only flows through a cell are looked for anew.

Sources: Kelly, Golden, Assad (1992), Networks 22, 397-417; Cox (1995), JASA 90, 1453-1462; Fischetti, Salazar (2001),
Management Science 47, 1008-1027.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Goals, boxes
from sfumato.kernels.tabular.programs import Flows
from sfumato.progress import Progress, quiet

__all__ = ["Witnesses", "clean", "cover"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TINY = 1e-7


@dataclass
class Witnesses:
    """The hidden cells, and for each goal (upwards or downwards) the cells that its flow moves."""

    flows: Flows
    goals: Goals
    down: Floats
    up: Floats
    cost: Floats
    hidden: Bools
    support: list[Ints | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.support = self.support or [None] * len(self.goals)
        self.mates: dict[tuple[int, int], list[int]] = {}
        for i in range(len(self.goals)):
            self.mates.setdefault((int(self.goals.cell[i]), int(self.goals.known[i])), []).append(i)

    def route(self, goal: int, open_: Bools) -> Floats | None:
        """The cheapest flow of a goal through open cells, by the costs that are set; None where there is none."""
        falls, rises = boxes(self.goals, goal, self.down, self.up)
        cell, sign = int(self.goals.cell[goal]), int(self.goals.sign[goal])
        return self.flows.cheapest(cell, sign, 1.0, np.where(open_, falls, 0.0), np.where(open_, rises, 0.0))

    def settle(self, goal: int, moved: Floats) -> None:
        """Keep a flow as the proof of a goal, and of the opposite one where its reverse would do."""
        used = np.flatnonzero(np.abs(moved) > TINY)
        self.support[goal] = used
        for other in self.mates[int(self.goals.cell[goal]), int(self.goals.known[goal])]:
            if other != goal and self.support[other] is None and self._reversed(goal, other, moved):
                self.support[other] = used

    def _reversed(self, goal: int, other: int, moved: Floats) -> bool:
        back = moved * float(self.goals.sign[goal] * self.goals.sign[other])
        falls, rises = boxes(self.goals, other, self.down, self.up)
        return bool(np.all(back <= rises + TINY) and np.all(-back <= falls + TINY))

    def held(self) -> Witnesses:
        """A copy to go back to."""
        return replace(self, hidden=self.hidden.copy(), support=list(self.support))


def cover(state: Witnesses, order: Ints, open_: Bools, until: float = np.inf) -> bool:
    """Give every goal without a proof its cheapest flow, and hide what it moves; False where one has none.

    When the time is over, all open cells that goals could need are hidden at once: the pattern is never unsafe.
    """
    cost = np.where(state.hidden, 0.0, state.cost)
    complete = True
    for goal in order.tolist():
        if state.support[goal] is not None:
            continue
        state.flows.cost(cost)
        moved = state.route(goal, open_)
        if moved is None:
            complete = False
            continue
        new = (np.abs(moved) > TINY) & ~state.hidden
        state.hidden |= new
        cost[new] = 0.0
        state.settle(goal, moved)
    return complete


def clean(state: Witnesses, keep: Bools, until: float = np.inf) -> None:
    """Publish hidden cells again where every goal has another flow through what stays hidden; dearest cells first."""
    state.flows.cost(state.cost / state.cost.max(initial=1.0))
    candidates = np.flatnonzero(state.hidden & ~keep)
    for cell in candidates[np.argsort(-state.cost[candidates], kind="stable")].tolist():
        if monotonic() > until:
            return
        through = [g for g, used in enumerate(state.support) if used is not None and cell in used]
        open_ = state.hidden.copy()
        open_[cell] = False
        found = reroute(state, through, open_)
        if found is not None:
            state.hidden = open_
            state.support = found


def reroute(state: Witnesses, goals: list[int], open_: Bools) -> list[Ints | None] | None:
    """New flows for some goals through open cells; None where one of them has none."""
    kept = list(state.support)
    for goal in goals:
        state.support[goal] = None
    for goal in goals:
        if state.support[goal] is not None:
            continue
        moved = state.route(goal, open_)
        if moved is None:
            state.support = kept
            return None
        state.settle(goal, moved)
    found, state.support = state.support, kept
    return found
