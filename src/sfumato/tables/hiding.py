"""The search for cells to hide, again and again, until nothing that the reader holds tells an unsafe value.

One search makes every unsafe cell uncertain. That is not enough: what is published then tells sums of hidden cells,
which must be safe as well; somebody may be alone in hidden cells, and know them; counts are whole numbers. What is
found wrong becomes one more thing to hold in the next search, and nothing that was asked for is dropped. Where the
work did not suffice for one search it is the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Insider
from sfumato.progress import Progress, quiet, split
from sfumato.tables.audit.attack import Audit, audit
from sfumato.tables.audit.insiders import found_by_insiders, sets_alone
from sfumato.tables.equations import Merged
from sfumato.tables.reader import Reader
from sfumato.tables.settle import published
from sfumato.tables.suppress.choose import Method, suppress
from sfumato.tables.suppress.problem import CLOSED
from sfumato.tables.suppress.result import Suppression
from sfumato.tables.table import LOWER_LEVEL, SLIDING_LEVEL, STATUS, UPPER_LEVEL, Table
from sfumato.tables.unions import Judged, Union, Unions
from sfumato.tables.unions.enforced import protected_against_unions, widened

__all__ = ["Found", "How", "hide"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

ROUNDS = 20
"""So often a pattern is looked for anew; three were enough wherever it was tried."""
AGAIN = 0.25
"""So much of the usual work goes into each search after a first one that came to its last stage: its bound holds for
them all. In larger tables none does, and the first stages need all of the work again."""
MOST_RAISED = 3
"""So far from its value a count must be able to be at most, for the sake of whole numbers."""
WHOLE = "Counts are whole numbers: more was hidden, so that for each unsafe one several are possible."


@dataclass(frozen=True)
class How:
    """How cells are looked for.

    Parameters
    ----------
    method, protect, sliding, work, seconds
        As `protect` takes them.
    cost
        What hiding each line of the table costs.
    preferred
        Lines that cost next to nothing, as last period's; None: no such.
    tolerance
        Largest difference of totals from their parts that is taken for rounding.
    """

    method: Method
    protect: Literal["exact", "level"]
    sliding: bool
    cost: Floats
    preferred: Bools | None = None
    tolerance: float | None = None
    work: float = 1.0
    seconds: float | None = None


@dataclass(frozen=True)
class Found:
    """A pattern, and what was found of it.

    Parameters
    ----------
    table
        The judged table, with `x` for what is hidden beside the unsafe cells.
    suppression
        How the last search found it; its arrays are of the cells of the equations.
    audit
        What an attacker works out of it.
    unions
        The sums of hidden cells that it tells; None where they are not known.
    """

    table: Table
    suppression: Suppression
    audit: Audit
    unions: Judged | None


def hide(
    judged: Table, merged: Merged, unions: Unions | None, reader: Reader, how: How, progress: Progress = quiet
) -> Found:
    """Look for a pattern that holds against a reader.

    Parameters
    ----------
    judged
        The table with statuses and levels.
    merged
        Its equations.
    unions
        Who contributes what to its cells; None where that is not known.
    reader
        Who must not find an unsafe value.
    how
        How cells are looked for.
    progress
        Told how far it is.
    """
    search, auditing = split(progress, [3, 1])
    state = _Search(judged, merged, unions, reader, how)
    for last in range(ROUNDS, 0, -1):
        found, told = state.solved(search)
        if last > 1 and found.enough and state.grown_by_insiders(found):
            continue
        out = _hidden(judged, merged, found.secondary)
        checked = state.audited(out, auditing)
        if last == 1 or not found.enough or not state.grown_by_whole(checked, found):
            break
    if state.asked or state.insiders:
        checked = checked.without_useless()
    return Found(out, state.proved(found), checked, told)


class _Search:
    """What is asked for, cell by cell of the equations, and what came to it."""

    def __init__(self, table: Table, merged: Merged, unions: Unions | None, reader: Reader, how: How) -> None:
        self.table, self.merged, self.unions, self.reader, self.how = table, merged, unions, reader, how
        self.letters = table.cells[STATUS].cast(pl.String).fill_null("s").to_numpy()
        self.primary = self.has("u")
        self.until = monotonic() + (how.seconds or 0.0)
        self.asked: tuple[Union, ...] = ()
        self.insiders: list[Insider] = []
        self.raised = np.zeros(merged.system.size)
        self.bound: float | None = None
        self.searches, self.thorough = 0, False

    def proved(self, found: Suppression) -> Suppression:
        """The last pattern, and how good it is: of what was asked at first, all that was asked later costs more."""
        if self.searches == 1:
            return found
        note = " ".join([*filter(None, [found.note]), WHOLE]) if self.raised.any() else found.note
        spent = float(self.merged.gather([self.how.cost], "sum")[found.secondary & ~self.has("x")].sum())
        gap = None if self.bound is None else max(0.0, 1 - self.bound / spent) if spent > 0 else 0.0
        gap = 0.0 if gap is not None and gap < CLOSED else gap
        return replace(found, optimal=gap == 0, gap=gap, bound=self.bound, note=note)

    def solved(self, progress: Progress) -> tuple[Suppression, Judged | None]:
        """A pattern for all that is asked so far, under which no sum of hidden cells is unsafe; and these sums."""

        def solve(asked: Sequence[Union]) -> Suppression:
            return self._solved(asked, progress)

        unions = self.unions
        if unions is None or not self.reader.contributor:
            found = solve(())
            return found, None if unions is None else unions.judge(self.hidden(found))
        found, told, self.asked = protected_against_unions(
            solve, lambda pattern: unions.judge(self.hidden(pattern)), self.asked
        )
        return found, told

    def _solved(self, asked: Sequence[Union], progress: Progress) -> Suppression:
        """The pattern of one search; of the cells of the equations alone."""
        self.searches += 1
        how, merged = self.how, self.merged
        low, high = self.reader.bounds_of(self.table)
        given: dict[str, Any] = {
            "cost": merged.gather([how.cost], "sum"),
            "lower": merged.gather([low], "max", self.reader.least),
            "upper": merged.gather([high], "min", np.inf),
            "forbidden": self.has("z"),
            "forced": self.has("x"),
            "preferred": None if how.preferred is None else self._of_cells(how.preferred),
            **self._levels(bool(asked)),
        }
        wide = widened(merged.system, self.primary, given, asked)
        found = suppress(
            wide.system,
            wide.primary,
            method=how.method,
            **dict[str, Any](wide.given),
            insiders=(*wide.insiders, *self.insiders),
            work=how.work * (AGAIN if self.thorough else 1.0),
            seconds=None if how.seconds is None else max(0.0, self.until - monotonic()),
            progress=progress,
        )
        if self.searches == 1:
            self.bound = found.bound
            self.thorough = any(stage.name == "search" for stage in found.stages)
        return wide.narrowed(found)

    def _levels(self, unions: bool) -> dict[str, Floats | None]:
        """How far unsafe cells must reach; nothing where only exact disclosure counts."""
        down, up, wide = (None, None, None) if self.how.protect == "exact" else self._levels_of_cells()
        none = np.zeros(self.merged.system.size)
        if self.raised.any():
            up = np.fmax(none if up is None else up, self.raised)
        if unions and self.how.protect == "level":  # their levels count only beside those of cells
            if self.how.sliding:
                wide = none if wide is None else wide
            else:
                down, up = none if down is None else down, none if up is None else up
        return {"lower_level": down, "upper_level": up, "sliding_level": wide}

    def _levels_of_cells(self) -> tuple[Floats | None, Floats | None, Floats | None]:
        own = [self.table.column(name) for name in (LOWER_LEVEL, UPPER_LEVEL, SLIDING_LEVEL)]
        low, high, wide = (None if level is None else self.merged.gather([level], "max") for level in own)
        if self.how.sliding and low is not None and high is not None:
            return None, None, low + high if wide is None else np.maximum(low + high, wide)
        return low, high, wide

    def has(self, letter: str) -> Bools:
        """Cells of which a copy has a status."""
        return self._of_cells(self.letters == letter)

    def _of_cells(self, lines: Bools) -> Bools:
        return np.asarray(self.merged.gather([lines], "any") > 0)

    def hidden(self, found: Suppression) -> Bools:
        """The cells that a pattern hides."""
        return np.asarray(self.primary | found.secondary)

    def grown_by_insiders(self, found: Suppression) -> bool:
        """Ask that nobody who is alone in hidden cells works an unsafe one out; whether there are new ones."""
        if not self.reader.contributor:
            return False
        hidden = self.hidden(found)
        sets = sets_alone(self.table, self.merged, hidden)
        asked = {(one.cell, one.known.tobytes()) for one in self.insiders}
        lost = set(found.unprotected.tolist())
        new = [
            Insider(cell, known, exact=True)
            for known, cells in found_by_insiders(self.merged.system.matrix, hidden, self.primary, sets)
            for cell in cells.tolist()
            if (cell, known.tobytes()) not in asked and cell not in lost
        ]
        self.insiders += new
        return bool(new)

    def audited(self, out: Table, progress: Progress) -> Audit:
        """What an attacker works out of the table as it would be published."""
        exact = self.how.protect == "exact"
        return audit(
            published(out, self.reader.letters),
            against=_without_levels(out) if exact else out,
            reader=self.reader,
            sliding=self.how.sliding,
            tolerance=self.how.tolerance,
            work=self.how.work,
            progress=progress,
        )

    def grown_by_whole(self, checked: Audit, found: Suppression) -> bool:
        """Ask for more room where one whole number alone is possible; whether that is asked for anew."""
        if not checked.exact or not self.reader.whole:
            return False
        exact = self._of_cells((checked.problems[0] == "exact").fill_null(value=False).to_numpy())
        exact[found.unprotected] = False
        self.raised = np.where(exact, self.raised + 1, self.raised)
        return bool(exact.any()) and self.raised.max() <= MOST_RAISED


def _without_levels(table: Table) -> Table:
    return replace(table, cells=table.cells.drop(LOWER_LEVEL, UPPER_LEVEL, SLIDING_LEVEL, strict=False))


def _hidden(table: Table, merged: Merged, secondary: Bools) -> Table:
    """The table with `x` for what is hidden beside the unsafe cells, in all copies."""
    (hidden,) = merged.spread(secondary, False)
    letters = table.cells[STATUS].cast(pl.String).fill_null("s").to_numpy()
    (unsafe,) = merged.spread(np.asarray(merged.gather([letters == "u"], "any") > 0), False)
    out = np.where(unsafe, "u", np.where(hidden, "x", letters))
    return replace(table.with_columns(**{STATUS: pl.Series(out)}), notes=table.notes)
