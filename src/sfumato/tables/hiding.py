"""The search for cells to hide, again and again, until nothing that the reader holds tells an unsafe value.

One search makes every unsafe cell uncertain. That is not enough: what is published then tells sums of hidden cells,
which must be safe as well; somebody may be alone in hidden cells, and know them; counts are whole numbers. What is
found wrong becomes one more thing to hold in the next search, and nothing that was asked for is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Insider
from sfumato.progress import Progress, quiet, split
from sfumato.tables.audit.attack import Audit, audit
from sfumato.tables.audit.insiders import found_by_insiders, sets_alone
from sfumato.tables.equations import Merged, System
from sfumato.tables.reader import Reader
from sfumato.tables.settle import published
from sfumato.tables.suppress.choose import Method, suppress
from sfumato.tables.suppress.problem import CLOSED
from sfumato.tables.suppress.result import Suppression
from sfumato.tables.table import LOWER_LEVEL, SLIDING_LEVEL, STATUS, UPPER_LEVEL, Table
from sfumato.tables.unions import Judged, Union, Unions

__all__ = ["Found", "How", "hide"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

ROUNDS = 20
"""So often a pattern is looked for anew; three were enough wherever it was tried."""
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
        found = state.solved(search)
        told = state.unions_of(found)
        if last > 1 and (state.grown_by_unions(told) or state.grown_by_insiders(found)):
            continue
        out = _hidden(judged, merged, found.secondary)
        checked = state.audited(out, auditing)
        if last == 1 or not state.grown_by_whole(checked, found):
            break
    return Found(out, state.proved(found), checked, told)


class _Search:
    """What is asked for, cell by cell of the equations, and what came to it."""

    def __init__(self, table: Table, merged: Merged, unions: Unions | None, reader: Reader, how: How) -> None:
        self.table, self.merged, self.unions, self.reader, self.how = table, merged, unions, reader, how
        self.letters = table.cells[STATUS].cast(pl.String).fill_null("s").to_numpy()
        self.primary = self.has("u")
        self.until = monotonic() + (how.seconds or 0.0)
        self.virtual: list[Union] = []
        self.insiders: list[Insider] = []
        self.raised = np.zeros(merged.system.size)
        self.bound: float | None = None
        self.rounds = 0

    def proved(self, found: Suppression) -> Suppression:
        """The last pattern, and how good it is: of what was asked at first, all that was asked later costs more."""
        if self.rounds == 1:
            return found
        note = " ".join([*filter(None, [found.note]), WHOLE]) if self.raised.any() else found.note
        spent = float(self.merged.gather([self.how.cost], "sum")[found.secondary & ~self.has("x")].sum())
        gap = None if self.bound is None else max(0.0, 1 - self.bound / spent) if spent > 0 else 0.0
        gap = 0.0 if gap is not None and gap < CLOSED else gap
        return replace(found, optimal=gap == 0, gap=gap, bound=self.bound, note=note)

    def solved(self, progress: Progress) -> Suppression:
        """The cheapest pattern found for all that is asked so far; of the cells of the equations alone."""
        self.rounds += 1
        how, size, more = self.how, self.merged.system.size, len(self.virtual)
        system = self._system()
        known = self.reader.bounds_of(self.table)
        least = self.merged.gather([known[0]], "max", self.reader.least)
        most = self.merged.gather([known[1]], "min", np.inf)
        below = np.array([_sum_of_ends(least[union.cells]) for union in self.virtual])
        found = suppress(
            system,
            self._wider(self.primary, True),
            method=how.method,
            cost=self._wider(self.merged.gather([how.cost], "sum"), 0.0),
            lower=np.concatenate([least, below]),
            upper=self._wider(most, np.inf),
            **self._levels(),
            forbidden=self._wider(self.has("z"), False),
            forced=self._wider(self.has("x"), True),
            preferred=None if how.preferred is None else self._wider(self._of_cells(how.preferred), False),
            insiders=self.insiders,
            work=how.work,
            seconds=None if how.seconds is None else max(0.0, self.until - monotonic()),
            progress=progress,
        )
        if self.rounds == 1:
            self.bound = found.bound
        if not more:
            return found
        real = found.unprotected < size
        reason = tuple(word for word, own in zip(found.reason, real.tolist(), strict=True) if own)
        stages = tuple(replace(stage, secondary=stage.secondary[:size]) for stage in found.stages)
        return replace(
            found,
            secondary=found.secondary[:size],
            unprotected=found.unprotected[real],
            reason=reason,
            stages=stages,
        )

    def _system(self) -> System:
        """The equations, with a cell for each sum of hidden cells that must be safe."""
        own = self.merged.system
        if not self.virtual:
            return own
        row = np.concatenate([np.full(len(u.cells) + 1, i) for i, u in enumerate(self.virtual)])
        column = np.concatenate([np.append(u.cells, own.size + i) for i, u in enumerate(self.virtual)])
        sign = np.concatenate([np.append(np.ones(len(u.cells)), -1) for u in self.virtual])
        shape = (len(self.virtual), own.size + len(self.virtual))
        sums = sp.csr_array((sign, (row, column)), shape=shape)
        wide = sp.csr_array((own.matrix.data, own.matrix.indices, own.matrix.indptr), (own.matrix.shape[0], shape[1]))
        value = np.append(own.value, [own.value[u.cells].sum() for u in self.virtual])
        return System(sp.csr_array(sp.vstack([wide, sums], format="csr")), value)

    def _wider(self, of_cells: NDArray[np.generic], of_sums: float | bool) -> NDArray[np.generic]:
        return np.append(of_cells, np.full(len(self.virtual), of_sums, dtype=of_cells.dtype))

    def _levels(self) -> dict[str, Floats | None]:
        """How far unsafe cells, and sums of hidden ones, must reach; nothing where only exact disclosure counts."""
        down, up, wide = (None, None, None) if self.how.protect == "exact" else self._levels_of_cells()
        if self.raised.any():
            up = self.raised if up is None else np.fmax(up, self.raised)
        if not self.virtual or self.how.protect == "exact":
            more = np.zeros(len(self.virtual))
            given = {"lower_level": down, "upper_level": up, "sliding_level": wide}
            return {name: None if level is None else np.append(level, more) for name, level in given.items()}
        none = np.zeros(self.merged.system.size)
        below, above = (np.array([getattr(u, f"{end}_level") for u in self.virtual]) for end in ("lower", "upper"))
        if self.how.sliding:
            wide = np.append(none if wide is None else wide, below + above)
            below, above = below * 0, above * 0
        else:
            wide = None if wide is None else np.append(wide, below * 0)
        return {
            "lower_level": np.append(none if down is None else down, below),
            "upper_level": np.append(none if up is None else up, above),
            "sliding_level": wide,
        }

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

    def unions_of(self, found: Suppression) -> Judged | None:
        """The sums of hidden cells that a pattern tells, and which are unsafe."""
        return None if self.unions is None else self.unions.judge(self.hidden(found), contributor=True)

    def grown_by_unions(self, told: Judged | None) -> bool:
        """Ask that unsafe sums of hidden cells hold too; whether there are new ones."""
        if told is None or not self.reader.contributor:
            return False
        asked = {(u.cells.tobytes(), u.known.tobytes()) for u in self.virtual}
        new = [u for u in told.unsafe if (u.cells.tobytes(), u.known.tobytes()) not in asked]
        for union in new:
            if len(union.known):
                place = self.merged.system.size + len(self.virtual)
                self.insiders.append(Insider(place, union.known, exact=self.how.protect == "exact"))
            self.virtual.append(union)
        return bool(new)

    def grown_by_insiders(self, found: Suppression) -> bool:
        """Ask that nobody who is alone in hidden cells works an unsafe one out; whether there are new ones."""
        if not self.reader.contributor:
            return False
        hidden = self.hidden(found)
        asked = {(one.cell, one.known.tobytes()) for one in self.insiders}
        lost = set(found.unprotected.tolist())
        new = [
            Insider(cell, known, exact=True)
            for known, cells in found_by_insiders(self.merged.system.matrix, hidden, self.primary, self.alone(hidden))
            for cell in cells.tolist()
            if (cell, known.tobytes()) not in asked and cell not in lost
        ]
        self.insiders += new
        return bool(new)

    def alone(self, hidden: Bools) -> list[Ints]:
        """By contributor, the hidden cells that this one is alone in."""
        return sets_alone(self.table, self.merged, hidden)

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


def _sum_of_ends(ends: Floats) -> float:
    return float(ends.sum()) if np.isfinite(ends).all() else -np.inf


def _without_levels(table: Table) -> Table:
    return replace(table, cells=table.cells.drop(LOWER_LEVEL, UPPER_LEVEL, SLIDING_LEVEL, strict=False))


def _hidden(table: Table, merged: Merged, secondary: Bools) -> Table:
    """The table with `x` for what is hidden beside the unsafe cells, in all copies."""
    (hidden,) = merged.spread(secondary, False)
    letters = table.cells[STATUS].cast(pl.String).fill_null("s").to_numpy()
    (unsafe,) = merged.spread(np.asarray(merged.gather([letters == "u"], "any") > 0), False)
    out = np.where(unsafe, "u", np.where(hidden, "x", letters))
    return replace(table.with_columns(**{STATUS: pl.Series(out)}), notes=table.notes)
