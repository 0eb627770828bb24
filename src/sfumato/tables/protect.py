"""Protect a table: judge its cells, hide others beside the unsafe ones, and let an attacker audit what is left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.files.priors import Prior
from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, decimals, significant
from sfumato.progress import Progress, quiet
from sfumato.tables.audit.attack import Audit, Levels
from sfumato.tables.axis import TOTAL
from sfumato.tables.costs import Costs, costs_of
from sfumato.tables.equations import Merged, equations
from sfumato.tables.hiding import Found, How, hide
from sfumato.tables.judge import judge
from sfumato.tables.reader import Reader, reader_of_judged
from sfumato.tables.rules import Judgement, read_rules
from sfumato.tables.settle import published, settled
from sfumato.tables.suppress.choose import Method
from sfumato.tables.suppress.result import Stage, Suppression
from sfumato.tables.table import HIDDEN, LOWER, PROVED, STATUS, UPPER, Released, Table
from sfumato.tables.unions import Unions
from sfumato.tables.ways_out import ways_out

__all__ = ["Costs", "Method", "Protected", "protect"]

Floats = NDArray[np.float64]


INSIDER = (
    "A contributor who is alone in a hidden cell, or has the largest part of one, can bound an unsafe cell more "
    "closely than its level allows. That is reported, not prevented."
)
NO_TOTALS = (
    "The table lists no totals, so nothing was hidden for their sake. Whoever has totals from elsewhere can subtract: "
    "build the table with its totals, and protect both together."
)
HIDDEN_BEFORE = (
    "Cells that had status x before are hidden in any case, and cost nothing: the gap is of what is hidden beside "
    "them. To look for something cheaper, protect the table without these statuses (status s), or from its records."
)
NO_SECRET = (
    "Whoever runs this search again on every table that fits may rule some of them out. With a secret (--secret-file, "
    "SFUMATO_SECRET, `secret`) the choice of cells hangs on it: take the same one for linked tables and next year."
)
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
        """Whether every unsafe cell, and every unsafe sum of cells, holds against the reader.

        Without levels the equations decide of sums whether a value is known exactly, in tables of any size; of counts
        it must be decided with all of them whole.
        """
        inside = self.reader.contributor and bool(self.audit.insider or (self.unions and self.unions["unsafe"]))
        if self.levels is None and not self.reader.whole:
            return self.audit.exact == 0 and not inside
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
    reader: Literal["contributor", "outsider"] = "contributor",
    tell_unsafe: bool = False,
    secret: bytes | None = None,
    priors: Sequence[Prior] = (),
    last: Table | None = None,
    tolerance: float | None = None,
    lower: float | None = None,
    work: float = 1.0,
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
        `auto`: elimination, flows, a clean-up and an exact search, as far as the work allows. `optimal`: the cheapest
        pattern, with proof or a proved gap. `flow`: cheapest flows one after another. `elimination`: exact elimination
        modulo a prime.
    protect
        `level`: every unsafe cell can be as far below and above its value as its rule asks. `exact`: none is known.
    cost
        What hiding a cell costs: its `value`, one each (`unity`), or its `count` of contributors. What an a-priori file
        says goes before it.
    sliding
        Whether only the width of an unsafe cell's interval counts, which must be that of both its levels together,
        wherever its value lies within.
    reader
        `contributor`: the table holds also against each contributor who is alone in hidden cells, and sums of hidden
        cells that a published total tells are as safe as a cell. `outsider`: both are reported only.
    tell_unsafe
        Whether the table tells which of its hidden cells are unsafe (`u`); more must be hidden then.
    secret
        At least 16 bytes that the choice of cells hangs on, so that nobody can run the search again and compare: take
        the same one for linked tables and next year.
    priors
        What is settled of single cells before.
    last
        Last period's table with its statuses: cells that were hidden there cost next to nothing.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding; else what the papers of
        the table say.
    lower
        That readers know more: every hidden value is at least this.
    work
        How much work the search and the proofs may cost, in multiples of the default.
    seconds
        When to stop looking for something cheaper, before the work is spent. The result is audited all the same.
    progress
        Called with what is being done, and the share of the work that is done.

    Returns
    -------
    Protected

    Raises
    ------
    DataError, FormulaError
        Where the table lacks what a rule needs, is not additive, an option is wrong, or `lower` is less than readers
        know.
    SecretError
        A secret that is too short.

    Notes
    -----
    It protects against whoever adds and subtracts published cells of this table, and knows the codes' hierarchies and
    what `reader` of the result says; of sums also against one contributor. It does not protect against other tables of
    the same data that are released elsewhere (audit them together), several contributors who tell each other their
    values, sums that several equations tell together, nor, without a secret, whoever runs the search again.

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
    known = reader_of_judged(judged, rule, letters=tell_unsafe, contributor=reader == "contributor").with_least(lower)
    how = How(
        method,
        protect,
        sliding,
        costs_of(judged, cost, secret),
        None if last is None else _hidden_last(judged, last),
        tolerance,
        work,
        seconds,
    )
    found = hide(judged, merged, Unions.of(judged, merged, rule), known, how, progress)
    return _protected(table, rule, found, known, merged, how, keyed=secret is not None)


def _protected(
    given: Table, rule: Judgement | None, found: Found, reader: Reader, merged: Merged, how: How, *, keyed: bool
) -> Protected:
    """What was found, with the intervals beside the table and its figures."""
    checked, suppression, out = found.audit, found.suppression, found.table
    ends = {LOWER: checked.lower[0], UPPER: checked.upper[0]}
    out = out.with_columns(**{name: pl.Series(end).fill_nan(None) for name, end in ends.items()}, **_marks(checked))
    out = replace(out, released=Released(how.tolerance, reader, None if rule is None else rule.text))
    letters = out.cells[STATUS]
    beside = np.abs(out.values[(letters == "x").to_numpy()])
    lost = np.isin(merged.cell[0], suppression.unprotected)
    return Protected(
        published(out, reader.letters),
        out,
        suppression,
        checked,
        reader,
        cells=len(out),
        primary=int((letters == "u").sum()),
        secondary=len(beside),
        secondary_value=_sum(beside),
        rule=rule,
        unions=None if found.unions is None else found.unions.to_plain(),
        levels=None if how.protect == "exact" else checked.levels,
        stages=tuple(_stage(stage, merged, out) for stage in suppression.stages),
        tolerance=how.tolerance,
        keyed=keyed,
        hidden_before=STATUS in given.cells.columns and bool((given.cells[STATUS] == "x").any()),
        unprotected=tuple(out.cells.filter(lost).select(out.variables).rows()),
    )


def _marks(checked: Audit) -> dict[str, pl.Series]:
    """Which unsafe cells are not proved: 0 within the work allowed, -1 where it is proved that they fall short."""
    levels = checked.levels
    if levels is None or not (levels.short or levels.unproved):
        return {}
    marks = {"below level": -1, "exact": -1, "unproved": 0}
    return {PROVED: checked.problems[0].replace_strict(marks, default=None, return_dtype=pl.Int64)}


def _stage(stage: Stage, merged: Merged, out: Table) -> Mapping[str, Any]:
    """A stage of the search in values that its pattern hides."""
    (hidden,) = merged.spread(stage.secondary, False)
    beside = np.abs(out.values[hidden & (out.cells[STATUS] != "u").to_numpy()])
    return {"name": stage.name, "secondary_value": _sum(beside), "work": stage.work}


def _hidden_last(table: Table, last: Table) -> NDArray[np.bool_]:
    """The lines of a table that were hidden in last period's."""
    if STATUS not in last.cells.columns or last.variables != table.variables:
        raise DataError(
            f"Last period's table must have the same variables ({', '.join(table.variables)}), and statuses."
        )
    before = last.cells.filter(pl.col(STATUS).is_in(list(HIDDEN))).select(last.variables)
    mine = table.cells.select(table.variables).with_row_index("sfumato:line")
    hidden = np.zeros(len(table), dtype=bool)
    hidden[mine.join(before, on=list(last.variables), how="semi")["sfumato:line"].to_numpy()] = True
    return hidden


def _sum(values: Floats) -> float:
    """The sum as the values are written: with their decimal places, or 12 digits where they have none in common."""
    total, place = math.fsum(values), decimals(values)
    return round(total, place) if place < NO_GRID else significant(total, 12)


def _that_is(named: Sequence[str]) -> str:
    return f"These are: {'; '.join(named[:SHOWN])}{'; and others' if len(named) > SHOWN else ''}."
