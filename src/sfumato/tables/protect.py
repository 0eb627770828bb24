"""Protect a table: judge its cells, hide others beside the unsafe ones, and let an attacker audit what is left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.files.priors import Prior
from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, decimals, significant
from sfumato.progress import Progress, quiet, split
from sfumato.tables.audit.attack import Audit, audit
from sfumato.tables.axis import TOTAL
from sfumato.tables.equations import Merged, equations
from sfumato.tables.judge import judge
from sfumato.tables.reader import Reader, reader_of_judged
from sfumato.tables.rules import Judgement, read_rules
from sfumato.tables.settle import published, settled
from sfumato.tables.suppress.choose import suppress
from sfumato.tables.suppress.result import Suppression
from sfumato.tables.table import (
    CONTRIBUTORS,
    COST,
    LOWER,
    LOWER_LEVEL,
    SLIDING_LEVEL,
    STATUS,
    UPPER,
    UPPER_LEVEL,
    Released,
    Table,
    is_count,
)

__all__ = ["Costs", "Method", "Protected", "protect"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Method = Literal["auto", "optimal", "flow", "elimination", "hypercube"]
Costs = Literal["value", "unity", "count"]


INSIDER = (
    "A contributor who is alone in a hidden cell, or has the largest part of one, can bound an unsafe cell more closely "
    "than its level allows. That is reported, not prevented."
)
NO_TOTALS = (
    "The table lists no totals, so nothing was hidden for their sake. Whoever has totals from elsewhere can subtract: "
    "build the table with its totals, and protect both together."
)
HIDDEN_BEFORE = (
    "Cells that had status x before are hidden in any case, and cost nothing: the gap is of what is hidden beside "
    "them. To look for something cheaper, protect the table without these statuses (status s), or from its records."
)
WHOLE = "Counts are whole numbers: more was hidden, so that for each unsafe one several are possible."
NO_SECRET = (
    "Whoever runs this search again on every table that fits may rule some of them out. With a secret (--secret-file, "
    "SFUMATO_SECRET, `secret`) the choice of cells hangs on it: take the same one for linked tables and next year."
)
ROUNDS = 4
"""So often a pattern is looked for anew, where whole numbers tell what fractions would not."""
SHOWN = 5
"""So many cells that cannot be protected are named."""


@dataclass(frozen=True)
class Protected:
    """A protected table.

    Parameters
    ----------
    table
        The table as it may be handed out: no value of a hidden cell, but the interval that can be worked out of it.
    judged
        The custodian's: values, statuses, levels, contributors. It must not leave.
    suppression
        How the cells beside the unsafe ones were found.
    audit
        What an attacker who sees `table` alone can work out.
    reader
        What the audit took readers to know of hidden cells.
    cells
        Number of cells that are not empty, as the table lists them.
    primary, secondary
        Number of unsafe ones, and of those hidden beside them.
    secondary_value
        Sum of the values of the cells hidden beside the unsafe ones, in absolute terms.
    rule
        The rules that it was judged by; None where it had its statuses before.
    unions
        Sums of hidden cells that published totals tell: how many were judged, how many of them are unsafe, of how many
        equations not every one was judged. None for counts, and where it is not known whose the contributions are.
    levels
        How many unsafe cells, by direction, were proved to be as uncertain as their rules ask; None with
        `protect="exact"`.
    stages
        What each part of the search came to: `name`, `secondary_value`, `work`.
    tolerance
        Largest difference of totals from their parts that was taken for rounding.
    keyed
        Whether the choice of cells hangs on a secret.
    unprotected
        Codes of the unsafe cells that no pattern protects as asked; `suppression` says why.
    hidden_before
        Whether cells had status `x` before, and so were hidden in any case.
    """

    table: Table
    judged: Table
    suppression: Suppression
    audit: Audit
    reader: Reader
    cells: int
    primary: int
    secondary: int
    secondary_value: float
    rule: Judgement | None = None
    unions: Mapping[str, int] | None = None
    levels: Levels | None = None
    stages: tuple[Mapping[str, Any], ...] = ()
    tolerance: float | None = None
    keyed: bool = False
    unprotected: tuple[tuple[str, ...], ...] = ()
    hidden_before: bool = False

    @property
    def ok(self) -> bool:
        """Whether every unsafe cell, and every unsafe sum of cells, holds against the reader."""
        inside = self.reader.contributor and bool(self.audit.insider or (self.unions and self.unions["unsafe"]))
        return self.audit.passed and not inside

    @property
    def last(self) -> None:
        """What became of last year's hidden cells: nothing is told of it yet."""
        return None

    @property
    def ways_out(self) -> tuple[str, ...]:
        """Where the table does not hold: what is wrong, and what may help, in the order to try it."""
        return () if self.ok else tuple(ways_out(self))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the custodian should know of how it went."""
        said = [*self.judged.notes, self.suppression.note, *self.audit.notes]
        if self.unprotected:
            named = [
                ", ".join(f"{n}={c}" for n, c in zip(self.table.variables, u, strict=True)) for u in self.unprotected
            ]
            said.insert(-len(self.audit.notes) or len(said), _that_is(named))
        if (
            self.primary
            and self.table.sums is None
            and not any((self.table.cells[n] == TOTAL).any() for n in self.table.variables)
        ):
            said.append(NO_TOTALS)
        if self.hidden_before:
            said.append(HIDDEN_BEFORE)
        if self.audit.insider_below:
            said.append(INSIDER)
        if self.primary and not self.keyed:
            said.append(NO_SECRET)
        return tuple(note for note in said if note)

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "cells": self.cells,
            "primary": self.primary,
            "secondary": self.secondary,
            "secondary_value": self.secondary_value,
            "optimal": self.suppression.optimal,
            "gap": self.suppression.gap,
            "method": self.suppression.method,
            "reader": self.reader.to_plain(),
            "audit": self.audit.summary(),
            "levels": None if self.levels is None else self.levels.to_plain(),
            "unions": None if self.unions is None else dict(self.unions),
            "insiders": self.audit.insiders(),
            "stages": [dict(stage) for stage in self.stages],
            "last": self.last,
            "ok": self.ok,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        return str(self.table.cells._repr_html_())


def protect(
    table: Table,
    rules: str | Judgement | Iterable[str | Judgement] | None = None,
    *,
    method: Method = "auto",
    protect: Literal["exact", "level"] = "level",
    cost: Costs = "value",
    sliding: bool = False,
    singletons: bool = False,
    priors: Sequence[Prior] = (),
    last: Table | None = None,
    public: bool = False,
    tolerance: float | None = None,
    lower: float | None = None,
    seconds: float | None = None,
    progress: Progress = quiet,
) -> Protected:
    """Hide cells of a table until no unsafe one can be worked out from the others, and prove it by an audit.

    Parameters
    ----------
    table
        The table, of one set of variables or of several linked ones.
    rules
        Primary rules, as in `judge`; without any, the cells that have status `u` already.
    method
        `auto` chooses by size. `optimal`: the cheapest pattern, with proof or a proved gap. `flow`: cheapest flows one
        after another. `elimination`: exact elimination modulo a prime. `hypercube`: for comparison; it hides too much.
    protect
        `level`: every unsafe cell can be as far below and above its value as its rule asks. `exact`: none is known.
    cost
        What hiding a cell costs: its `value`, one each (`unity`), or its `count` of contributors. What an a-priori file
        says goes before it.
    sliding
        Whether only the width of an unsafe cell's interval counts, which must be that of both its levels together,
        wherever its value lies within.
    singletons
        Hold also against a contributor who is alone in a hidden cell, and knows its value.
    priors
        What is settled of single cells before.
    last
        Last period's table with its statuses: cells that were hidden there cost next to nothing.
    public
        Whether the table does not tell which of the hidden cells are the unsafe ones.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding; else what the papers of
        the table say.
    lower
        What everybody knows that every hidden value is at least; else what the papers of the table or its file say of
        each cell, else 0, or nothing where some value is negative. Give 1 for
        counts of which no hidden one can be 0, because empty cells are left out or published as zeros.
    seconds
        When to stop looking for something cheaper. The result is safe all the same, and audited.
    progress
        Called with what is being done, and the share of the work that is done.

    Returns
    -------
    Protected

    Raises
    ------
    DataError, FormulaError
        Where the table lacks what a rule needs, is not additive, or an option is wrong.

    Notes
    -----
    It protects against whoever adds and subtracts published cells of this table, knows the codes' hierarchies and that
    values are not negative. It does not protect against other tables of the same data that are released elsewhere
    (audit them together), nor against several contributors who tell each other their values.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, doi:10.1002/9781118348239, chapter 4.

    Examples
    --------
    >>> counts = {"sex": ["Total", "f", "m"] * 3, "ill": ["Total"] * 3 + ["yes"] * 3 + ["no"] * 3}
    >>> rows = pl.DataFrame(counts | {"count": [21, 11, 10, 5, 1, 4, 16, 10, 6]})
    >>> done = protect(Table.of(rows), "n(3)")
    >>> done.primary, done.secondary, done.ok
    (1, 3, True)
    """
    tolerance = table.released.tolerance if tolerance is None else tolerance
    rule = None if rules is None else read_rules(rules)
    judged = table if rule is None else judge(table, rule, tolerance=tolerance)
    judged = settled(judged, priors)
    if STATUS not in judged.cells.columns:
        raise DataError(
            "Say which cells are unsafe: give rules (--rule 'n(3)': fewer than 3 contribute; --rule 'p(10)': "
            "somebody's value could be estimated to within 10%), or a table with statuses."
        )
    if np.isnan(judged.values).any():
        raise DataError(
            f"Column {judged.value!r} lacks the values of some cells. A table is protected from all its values: give "
            "the one that `--internal` wrote, not one that was handed out."
        )
    merged = equations(judged, tolerance=tolerance)
    hiding, auditing = split(progress, [3, 1])
    hiding("looking for cells to hide", 0)
    ask = _Asked(judged, merged, protect, cost, last)
    known = reader_of_judged(judged, rule, letters=not public).with_least(lower)
    least, most = ask.bounds(known)
    levels, whole, until = ask.levels(sliding), False, monotonic() + (seconds or 0.0)
    for _ in range(ROUNDS):
        found = suppress(
            merged.system,
            ask.primary,
            method=method,
            cost=ask.cost,
            lower=least,
            upper=most,
            **levels,
            forbidden=ask.has("z"),
            forced=ask.has("x"),
            preferred=ask.preferred,
            seconds=None if seconds is None else max(0.0, until - monotonic()),
            progress=hiding,
        )
        out = _hidden(judged, merged, found.secondary)
        checked = audit(
            published(out),
            against=out if protect == "level" else _without_levels(out),
            reader=known,
            sliding=sliding,
            tolerance=tolerance,
            progress=auditing,
        )
        if not (narrow := ask.narrow(checked, found)).any():
            break
        levels, whole = ask.raised(levels, narrow), True
    if whole:
        found = replace(found, optimal=False, gap=None, bound=None, note=" ".join([*filter(None, [found.note]), WHOLE]))
    ends = {LOWER: checked.lower[0], UPPER: checked.upper[0]}
    out = out.with_columns(**{name: pl.Series(end).fill_nan(None) for name, end in ends.items()})
    out = replace(out, released=Released(tolerance, known))
    letters = out.cells[STATUS]
    beside = np.abs(out.values[(letters == "x").to_numpy()])
    return Protected(
        published(out, public),
        out,
        found,
        checked,
        cells=len(out),
        primary=int((letters == "u").sum()),
        secondary=len(beside),
        secondary_value=_sum(beside),
        rule=rule,
        public=public,
        tolerance=tolerance,
        reader=known,
        hidden_before=STATUS in table.cells.columns and bool((table.cells[STATUS] == "x").any()),
        unprotected=tuple(out.cells.filter(np.isin(merged.cell[0], found.unprotected)).select(out.variables).rows()),
    )


def _sum(values: Floats) -> float:
    """The sum as the values are written: with their decimal places, or 12 digits where they have none in common."""
    total, place = math.fsum(values), decimals(values)
    return round(total, place) if place < NO_GRID else significant(total, 12)


def _that_is(named: Sequence[str]) -> str:
    return f"These are: {'; '.join(named[:SHOWN])}{'; and others' if len(named) > SHOWN else ''}."


class _Asked:
    """What is asked for, cell by cell of the equations."""

    def __init__(self, table: Table, merged: Merged, protect: str, cost: Costs, last: Table | None) -> None:
        self.table, self.merged, self.protect = table, merged, protect
        self.letters = table.cells[STATUS].cast(pl.String).fill_null("s").to_numpy()
        self.negative = bool(np.any(table.values < 0))
        self.primary = self.has("u")
        self.cost = merged.gather([self._costs(cost)], "sum")
        self.preferred = None if last is None else self._hidden_last(last)

    def bounds(self, reader: Reader) -> tuple[Floats, Floats]:
        """What everybody knows that each cell lies between."""
        low, high = reader.bounds_of(self.table)
        return self.merged.gather([low], "max", reader.least), self.merged.gather([high], "min", np.inf)

    def narrow(self, checked: Audit, found: Suppression) -> Bools:
        """Unsafe counts that can be protected, but for which fractions alone are possible beside the true one."""
        none = np.zeros(self.merged.system.size, dtype=bool)
        if not checked.exact or checked.method != "programs" or not is_count(self.table):
            return none
        exact = self.merged.gather([(checked.problems[0] == "exact").fill_null(value=False).to_numpy()], "any") > 0
        exact[found.unprotected] = False
        return np.asarray(exact)

    def raised(self, levels: Mapping[str, Floats | None], narrow: Bools) -> dict[str, Floats | None]:
        """The levels, with those of some cells such that they can be one more."""
        upper = levels.get("upper_level")
        held = np.zeros(len(narrow)) if upper is None else upper
        return {**levels, "upper_level": np.where(narrow, np.maximum(held, 1.0), held)}

    def has(self, letter: str) -> Bools:
        """Cells of which a copy has a status."""
        return np.asarray(self.merged.gather([self.letters == letter], "any") > 0)

    def levels(self, sliding: bool) -> dict[str, Floats | None]:
        """How far primary cells must reach; nothing where only exact disclosure counts."""
        own = [self.table.column(name) for name in (LOWER_LEVEL, UPPER_LEVEL, SLIDING_LEVEL)]
        if self.protect == "exact":
            return {}
        low, high, wide = (None if level is None else self.merged.gather([level], "max") for level in own)
        if sliding and low is not None and high is not None:
            return {"sliding_level": low + high if wide is None else np.maximum(low + high, wide)}
        return {"lower_level": low, "upper_level": high, "sliding_level": wide}

    @property
    def alone(self) -> Bools:
        """Cells with a single contributor."""
        count = self.table.column(CONTRIBUTORS)
        count = self.table.values if count is None else count
        return np.asarray(self.merged.gather([count], "max") == 1)

    def _costs(self, cost: Costs) -> Floats:
        usual = self._usual(cost)
        own = self.table.column(COST)
        return usual if own is None else np.where(np.isnan(own), usual, own)

    def _usual(self, cost: Costs) -> Floats:
        if cost == "unity":
            return np.ones(len(self.table))
        if cost == "count":
            count = self.table.column(CONTRIBUTORS)
            if count is None:
                raise DataError(f"Costs by count need the number of contributors: a column {CONTRIBUTORS!r}.")
            return np.nan_to_num(count)
        return np.abs(self.table.values)

    def _hidden_last(self, last: Table) -> Bools:
        if STATUS not in last.cells.columns or last.variables != self.table.variables:
            raise DataError(
                f"Last period's table must have the same variables ({', '.join(self.table.variables)}), and statuses."
            )
        before = last.cells.filter(pl.col(STATUS).is_in(["u", "x"])).select(last.variables)
        mine = self.table.cells.select(self.table.variables).with_row_index("sfumato:line")
        lines = mine.join(before, on=list(last.variables), how="semi")["sfumato:line"].to_numpy()
        hidden = np.zeros(len(self.table), dtype=bool)
        hidden[lines] = True
        return np.asarray(self.merged.gather([hidden], "any") > 0)


def _without_levels(table: Table) -> Table:
    return replace(table, cells=table.cells.drop(LOWER_LEVEL, UPPER_LEVEL, SLIDING_LEVEL, strict=False))


def _hidden(table: Table, merged: Merged, secondary: Bools) -> Table:
    """The table with `x` for what is hidden beside the unsafe cells, in all copies."""
    (hidden,) = merged.spread(secondary, False)
    letters = table.cells[STATUS].cast(pl.String).fill_null("s").to_numpy()
    (unsafe,) = merged.spread(np.asarray(merged.gather([letters == "u"], "any") > 0), False)
    out = np.where(unsafe, "u", np.where(hidden, "x", letters))
    return replace(table.with_columns(**{STATUS: pl.Series(out)}), notes=table.notes)
