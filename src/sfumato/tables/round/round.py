"""`round`: a table of multiples, or of counts off by one, in place of its values."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.draws import MAKE_SECRET, MIN_SECRET, Draws
from sfumato.errors import DataError
from sfumato.kernels.grid import SIGNIFICANT, significant
from sfumato.kernels.tabular.rounding import to_nearest
from sfumato.kernels.tabular.whole_numbers import Solved
from sfumato.tables.equations import Merged, equations
from sfumato.tables.possible import Barnardised, Possible, Rounded
from sfumato.tables.round.controlled import controlled
from sfumato.tables.round.drawn import barnardised, rounded_at_random
from sfumato.tables.table import Table, is_count
from sfumato.tables.units import cell_units
from sfumato.tables.zeros import refuse_hidden, with_zeros

__all__ = ["METHODS", "Method", "Rounding", "Totals", "round"]

Floats = NDArray[np.float64]
Method = Literal["conventional", "random", "controlled", "barnardise"]
Totals = Literal["own", "summed"]
METHODS: tuple[Method, ...] = ("conventional", "random", "controlled", "barnardise")
KEEP = 0.9
SECONDS = 60.0

_LOST = (
    "No secret was given, so one was drawn for this run alone: another run would draw anew, and whoever gets both "
    f"tables can average them and come closer to the true values. Make a secret once ({MAKE_SECRET}), keep it like the "
    "data, and give it every time: --secret-file key, or secret= in Python."
)
_SINGLE = (
    "Totals were changed by themselves, so they differ from the sums of their parts; together they can tell a cell "
    "more closely than it tells itself. `sfumato table bounds` says how closely."
)
_FRACTIONS = "Values are fractions: they are rounded as counts are, but what they can have been need not be whole."


@dataclass(frozen=True)
class Rounding:
    """A table whose values were rounded.

    Parameters
    ----------
    table
        The table as it may be handed out: variables and the value alone, with known empty cells as zeros.
    method, base, keep
        How it was rounded: the base, of Barnardisation the probability that a count is kept.
    cells, changed
        Number of cells, empty ones too, and of those that have another value.
    largest_change, total_change
        Largest change of a cell, and the sum of all sizes of changes.
    additive
        Whether all totals are the sums of their parts.
    optimal, gap
        Of controlled rounding: whether no smaller sum of changes exists, or by what share it may be smaller.
    steps
        Of controlled rounding: so many multiples beyond the two neighbours were allowed.
    totals
        `own`: totals were changed as all cells; `summed`: they are sums of changed cells.
    complete
        Whether all empty cells are listed: no other is left of which nothing proves that it is empty.
    notes
        What the custodian should know.
    """

    table: Table
    method: Method
    base: int | None
    cells: int
    changed: int
    largest_change: float
    total_change: float
    additive: bool
    optimal: bool | None = None
    gap: float | None = None
    steps: int | None = None
    totals: Totals = "own"
    keep: float | None = None
    complete: bool = True
    notes: tuple[str, ...] = field(default=())

    @property
    def possible(self) -> Possible:
        """What each published count can have been, for whoever knows the method."""
        if self.method == "barnardise":
            return Barnardised(self.totals)
        return Rounded(self.base or 2, self.method, self.steps or 0, self.totals)

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("method", "base", "cells", "changed", "largest_change", "total_change", "additive", "optimal", "gap")
        told = {name: getattr(self, name) for name in (*names, "steps", "totals", "keep", "complete")}
        return {**told, "notes": list(self.notes)}

    def _repr_html_(self) -> str:
        return str(self.table.cells._repr_html_())


def round(
    table: Table,
    base: int = 5,
    method: Method = "controlled",
    *,
    steps: int | None = None,
    keep: float = KEEP,
    totals: Totals = "own",
    secret: bytes | None = None,
    seconds: float | None = SECONDS,
    tolerance: float | None = None,
) -> Rounding:
    """Round every value of a table, totals among them.

    Parameters
    ----------
    table
        The table, with all its values, none negative. Sums can be rounded as counts can; Barnardisation takes counts.
    base
        Values become multiples of it; 2 or more. Barnardisation has none.
    method
        `conventional`: to the nearest multiple, half-way ones up. `random`: to one of the two multiples beside, the
        upper with probability r / b, so that each is right on average. `controlled`: to one of the two such that all
        totals are the sums of their parts, with the least sum of changes. `barnardise`: counts but 0 are kept with
        probability `keep`, else 1 is added or taken.
    steps
        Of controlled rounding: so many multiples further than the two may be taken. Without it as many, up to 3, as it
        takes.
    keep
        Of Barnardisation: the probability that a count is kept, from 0 to 1.
    totals
        Of `conventional`, `random` and `barnardise`: `own`, totals are changed by themselves; `summed`, they are sums
        of changed cells.
    secret
        Keys the draws of `random` and `barnardise`: a cell with the same count gets the same draw in every table that
        holds it, so that there is nothing to average. 16 bytes or more; without one a fresh one.
    seconds
        Of controlled rounding: when to stop with the best that was found. What is found within it is the same every
        time; what is found when it ends may not be.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding before.

    Returns
    -------
    Rounding

    Raises
    ------
    DataError
        A base below 2, hidden or negative values, fractions in a table of counts, a table that does not add up, or no
        rounded table that does.

    Notes
    -----
    It protects against whoever reads small counts or differences of them: a published 0 is 0 to b - 1, another value v
    is v - b + 1 to v + b - 1 (conventional: half as wide). It does not protect where a total is known exactly from
    elsewhere, nor several roundings of the same cells with different bases or methods, and with totals rounded by
    themselves cells can sometimes be worked out (see `bounds`).

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, doi:10.1002/9781118348239, chapter 5.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]})
    >>> round(Table.of(rows), 5).table.cells.rows()
    [('Total', 10), ('f', 10), ('m', 0)]
    """
    _refuse(table, base, method, steps, keep, totals, secret)
    whole = is_count(table)
    merged = equations(table, tolerance=tolerance)
    zeros = with_zeros(table)
    given = zeros.table
    value = given.values
    notes: list[str] = list(table.notes)
    found: Solved | None = None
    took: int | None = None
    if method == "controlled":
        rounded, found, took = controlled(merged, float(base), steps, seconds)
        (spread,) = merged.spread(rounded, 0.0)
        out = _on(given, table, spread)
        totals = "own"
        notes += _said(found, took, steps)
    else:
        draw = _by(method, base, keep, secret, given)
        out = draw(value)
        notes += [_LOST] if method in ("random", "barnardise") and secret is None else []
        out = _summed(given, out) if totals == "summed" else out
    if not whole and method != "controlled" and np.any(value != np.round(value)):
        notes.append(_FRACTIONS)
    after = _with_values(given, out)
    adds = _additive(after, given, out)
    notes += [] if adds else [_SINGLE]
    after, said = zeros.handed_out(after)
    notes += said
    change = np.abs(out - value)
    return Rounding(
        after,
        method,
        None if method == "barnardise" else base,
        cells=len(given),
        changed=int(np.sum(change > 0)),
        largest_change=significant(float(change.max(initial=0.0)), SIGNIFICANT),
        total_change=significant(float(change.sum()), SIGNIFICANT),
        additive=adds,
        optimal=None if found is None else found.optimal,
        gap=None if found is None else found.gap,
        steps=took,
        totals=totals,
        keep=keep if method == "barnardise" else None,
        complete=zeros.left == "none",
        notes=tuple(notes),
    )


def _refuse(
    table: Table, base: int, method: str, steps: int | None, keep: float, totals: str, secret: bytes | None
) -> None:
    if method not in METHODS:
        raise DataError(f"{method!r} is no method of rounding. They are {', '.join(METHODS)}.")
    if method != "barnardise" and (base < 2 or base != int(base)):
        raise DataError("The base must be a whole number of 2 or more.")
    if steps is not None and (steps < 0 or method != "controlled"):
        raise DataError("Steps are of controlled rounding, 0 or more (--method controlled).")
    if not 0 <= keep <= 1:
        raise DataError("The probability that a count is kept must lie between 0 and 1.")
    if totals not in ("own", "summed"):
        raise DataError("Totals are changed by themselves (own), or are sums of changed cells (summed).")
    refuse_hidden(table, "rounded")
    value = table.values
    if (is_count(table) or method == "barnardise") and np.any(value != np.floor(value)):
        raise DataError(
            f"Column {table.value!r} holds fractions, which are no counts. Name a column of sums by --value (`value`); "
            "sums are not Barnardised."
        )


def _by(method: str, base: int, keep: float, secret: bytes | None, table: Table) -> Callable[[Floats], Floats]:
    if method == "conventional":
        return lambda value: to_nearest(value, base)
    draws, unit = Draws(secret or secrets.token_bytes(2 * MIN_SECRET)), cell_units(table)
    if method == "random":
        return lambda value: rounded_at_random(value, base, unit, draws)
    return lambda value: barnardised(value, keep, unit, draws)


def _said(found: Solved, took: int, asked: int | None) -> list[str]:
    out = []
    if took and asked is None:
        out.append(
            f"No table of the multiples beside the values adds up, or none was found in time; values go up to {took} "
            "multiples further."
        )
    if not found.optimal:
        far = "" if found.gap is None else f" (by {found.gap:.2%} at most)"
        out.append(f"The time ended before it was proved that no smaller change exists{far}.")
    return out


def _on(given: Table, table: Table, values: Floats) -> Floats:
    """Values of the listed cells, on a table that lists empty ones too."""
    out = np.zeros(len(given))
    out[np.searchsorted(given.keys, table.keys)] = values
    return out


def _with_values(table: Table, values: Floats) -> Table:
    """Variables and the value alone."""
    told = pl.Series(table.value, values)
    cells = table.cells.select(table.variables).with_columns(
        told.cast(pl.Int64) if np.all(values == np.floor(values)) else told
    )
    return Table(table.axes, cells, table.value, (), table.origin)


def _summed(table: Table, values: Floats) -> Floats:
    """Totals as sums of the changed finest cells; refuses where the table does not list those."""
    from sfumato.tables.round.totals import summed

    return summed(table, values)


def _additive(after: Table, before: Table, values: Floats) -> bool:
    """Whether the equations of all cells, listed zeros among them, hold of changed values."""
    live = before.with_columns(status=pl.Series(["x"] * len(before)))  # zeros take part
    merged: Merged = equations(live)
    # copies are one cell in the equations: each must have the same value
    first = merged.gather([values], "min"), merged.gather([values], "max")
    if np.any(first[0] != first[1]):
        return False
    size = float(np.abs(values).max(initial=1.0))
    return bool(np.all(np.abs(merged.system.matrix @ first[0]) <= 1e-9 * max(size, 1.0)))
