"""Which cells of a table are unsafe by primary rules, and how far their values must be hidden."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.grid import NO_GRID, on_grid
from sfumato.kernels.tabular.sensitivity import (
    SAFE,
    UNKNOWN,
    UNSAFE,
    Contributors,
    Sensitivity,
    dominance,
    few,
    prior_posterior,
)
from sfumato.tables.equations import Merged, equations
from sfumato.tables.rules import Either, Judgement, Rule, leaves, read_rules
from sfumato.tables.table import (
    ASKED,
    CONTRIBUTORS,
    LARGEST,
    LOWER_LEVEL,
    SECOND,
    SHADOW,
    STATUS,
    UPPER_LEVEL,
    Table,
    is_count,
    largest_name,
)

__all__ = ["Sums", "judge", "judge_sums"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SHARES = ("p", "pq", "nk")
EMPTY = (
    "Where all of a row are in one cell, its count is hidden, but not that the others of the row are empty, which "
    "tells it as well. To hide that, take coarser codes of the variable, or leave it out."
)


def judge(
    table: Table, rules: str | Judgement | Iterable[str | Judgement] = "n(3)", *, tolerance: float | None = None
) -> Table:
    """Judge every cell of a table by primary rules.

    Each rule says safe, unsafe or, where what it needs is not told of a cell, unknown: `or` is the worst of its parts,
    `and` the best, and what is unknown in the end counts as unsafe. A rule that needs what is told of no cell at all is
    refused.

    Parameters
    ----------
    table
        The table, with contributors and their largest contributions as far as rules need them. Cells that it already
        calls `u` (unsafe) or `z` (forced safe) stay so.
    rules
        One or several, such as `n(3)` and `p(10)`; each makes a cell unsafe.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding.

    Returns
    -------
    Table
        With `status` (`u` unsafe, `s` safe, `z` forced safe, `w` a zero that nobody is behind) and, for u,
        `lower_level` and `upper_level`: how far below and above its value each cell must remain possible. The levels of
        several rules are the largest of those that find the cell unsafe. A total with a single part has its status.

    Raises
    ------
    DataError
        Where the table lacks a column that a rule needs, has a wrong status or negative counts, or is not additive.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5, 4, 1]})
    >>> judge(Table.of(rows), "n(3)").cells["status"].to_list()
    ['s', 's', 'u']
    """
    rule = read_rules(rules)
    merged = equations(table, tolerance=tolerance)
    given = _Given(table)
    for one in leaves(rule):
        given.refuse(one)
    said = _said(rule, given)
    status = _statuses(table)
    unsafe = _copies(merged, ((said.truth > SAFE) | (status == "u")) & (status != "z"))
    level = on_grid(_spread(merged, np.where(said.truth > SAFE, said.level, np.nan), unsafe), NO_GRID)
    empty = given.nobody & ~unsafe
    letters = np.where(status == "z", "z", np.where(unsafe, "u", np.where(empty, "w", "s")))
    own_low, own_high = (_own(table, name) for name in (LOWER_LEVEL, UPPER_LEVEL))
    value = np.nan_to_num(given.value, nan=np.inf)
    down = np.where(np.any(given.value < 0), level, np.minimum(level, np.abs(value)))
    out = table.with_columns(
        **{
            STATUS: pl.Series(letters),
            LOWER_LEVEL: _told(np.fmax(down, own_low), letters == "u"),
            UPPER_LEVEL: _told(np.fmax(level, own_high), letters == "u"),
        }
    )
    notes = _notes(said, letters, status)
    if any(one.name in ("attribute", "coalition") and np.any(_single(one, given).truth > SAFE) for one in leaves(rule)):
        notes.append(EMPTY)
    return replace(out, notes=(*table.notes, *notes))


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of cells, as rules look at them.

    Parameters
    ----------
    value
        The sums, shape (sums,).
    count
        How many contribute to each.
    contributors
        The sizes of their contributions.
    """

    value: Floats
    count: Floats
    contributors: Contributors


def judge_sums(rule: Judgement, sums: Sums) -> Sensitivity:
    """What rules say of sums of cells, those of contributors alone; any other rule finds a sum safe.

    Examples
    --------
    >>> size = np.array([[90.0, 5.0], [40.0, 38.0]])
    >>> two = Sums(np.full(2, 100.0), np.full(2, 9.0), Contributors(np.full(2, 100.0), np.full(2, 9.0), size))
    >>> said = judge_sums(read_rules("p(10)"), two)
    >>> said.truth.tolist(), said.level.tolist()
    ([2, 0], [4.0, 0.0])
    """
    return _said(rule, sums)


class _Given:
    """What a table tells of its cells, as arrays."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.value = table.values
        self.counted = is_count(table)
        own = table.column(CONTRIBUTORS)
        self.count = self.value if own is None and self.counted else own
        if self.count is not None and np.any(self.count < 0):
            raise DataError("The table has negative counts of contributors, or negative counts. Mend them.")
        columns = [c for c in (table.column(largest_name(rank)) for rank in range(1, 101)) if c is not None]
        ranks = next((r for r in range(1, 101) if table.column(largest_name(r)) is None), 101) - 1
        self.largest = np.stack(columns[:ranks], axis=1) if ranks else np.empty((len(table), 0))
        self.nobody = (self.value == 0) & (True if self.count is None else ~(self.count > 0))

    def refuse(self, rule: Rule) -> None:
        """Refuse a rule of which nothing could be said."""
        if rule.name in ("n", "coalition", "attribute") and (self.count is None or np.all(np.isnan(self.count))):
            raise DataError(
                f"The rule {rule.name} needs the number of contributors: a column {CONTRIBUTORS!r} (or another, named "
                "by --contributors, `contributors`)."
            )
        if rule.name in _SHARES and (not self.largest.shape[1] or np.all(np.isnan(self.largest[:, 0]))):
            raise DataError(
                f"The rule {rule.name} needs the largest contributions to each cell. Build the table from records with "
                f"a value that is summed (--by and --value), or give the columns {LARGEST!r} and {SECOND!r}; a table "
                "of counts takes n(3)."
            )
        if rule.name == "attribute" and (odd := [n for n in rule.variables if n not in self.table.variables]):
            raise DataError(f"The rule attribute names {odd[0]!r}, which is no variable of the table.")

    @property
    def contributors(self) -> Contributors:
        """What rules on shares look at."""
        total = self.table.column(SHADOW)
        count = np.full(len(self.table), np.nan) if self.count is None else self.count
        # a count of contributors that weights or holdings stand beside says nothing of how many sizes there are
        if total is not None:
            count = np.full(len(self.table), np.nan)
        return Contributors(
            np.abs(self.value) if total is None else total, count, self.largest, self.table.column(ASKED)
        )


def _said(rule: Judgement, given: _Given | Sums) -> Sensitivity:
    if isinstance(rule, Rule):
        return _single(rule, given)
    parts = [_said(part, given) for part in rule.parts]
    truths = np.stack([part.truth for part in parts])
    truth = truths.max(axis=0) if isinstance(rule, Either) else truths.min(axis=0)
    level = np.max([np.where(part.truth > SAFE, part.level, 0.0) for part in parts], axis=0)
    return Sensitivity(truth, np.where(truth > SAFE, level, 0.0))


def _single(rule: Rule, given: _Given | Sums) -> Sensitivity:
    x = rule.numbers
    count = given.count if given.count is not None else np.full(len(given.value), np.nan)
    match rule.name:
        case "n":
            return few(count, x[0], x[1] / 100 if len(x) > 1 else 0.0, given.value)
        case "p":
            return prior_posterior(given.contributors, x[0] / 100)
        case "pq":
            return prior_posterior(given.contributors, x[0] / x[1])
        case "nk":
            return dominance(given.contributors, int(x[0]), x[1] / 100)
    if isinstance(given, Sums):
        return Sensitivity(np.full(len(count), SAFE, dtype=np.int8), np.zeros(len(count)))
    if rule.name == "zero":
        unsafe = np.where(np.isnan(given.value), UNKNOWN, np.where(given.value == 0, UNSAFE, SAFE))
        return Sensitivity(unsafe.astype(np.int8), np.full(len(count), x[0]))
    return _coalition(given, count, int(x[0]) if rule.name == "coalition" else 0, rule.variables)


def _coalition(given: _Given, count: Floats, size: int, variables: tuple[str, ...]) -> Sensitivity:
    """Cells that hold all of a row or column but `size` contributors: these together know it of all the others.

    A code that is the only part of its total tells nothing, and no rule forbids it.

    Source of the rule on coalitions: directly disclosive cells and k-disclosure as in the R packages SSBtools
    (`FindDisclosiveCells`) and GaussSuppression (`SuppressKDisclosure`) of Lupp and Langsrud.
    """
    table = given.table
    truth = np.full(len(table), SAFE, dtype=np.int8)
    sizes = [len(axis.codes) for axis in table.axes]
    for column, axis in enumerate(table.axes):
        if variables and axis.name not in variables:
            continue
        weight = int(np.prod(sizes[column + 1 :], dtype=np.int64))
        for parents in axis.parents:
            many = np.bincount(parents[parents >= 0], minlength=len(axis.codes))
            place = table.places[:, column]
            part = np.flatnonzero((parents[place] >= 0) & (many[parents[place]] > 1))
            wanted = table.keys[part] + (parents[place[part]] - place[part]) * weight
            at = np.minimum(np.searchsorted(table.keys, wanted), len(table) - 1)
            part, at = part[table.keys[at] == wanted], at[table.keys[at] == wanted]
            low, high = count[part], count[at]
            now = np.where(
                np.isnan(low) | np.isnan(high), UNKNOWN, np.where((low > 0) & (high - low <= size), UNSAFE, SAFE)
            )
            truth[part] = np.maximum(truth[part], now)
    return Sensitivity(truth, np.zeros(len(table)))


def _statuses(table: Table) -> NDArray[np.str_]:
    """The statuses that a table has already."""
    if STATUS not in table.cells.columns:
        return np.full(len(table), "", dtype="<U1")
    given = table.cells[STATUS].cast(pl.String).fill_null("")
    if not given.is_in(["u", "s", "x", "z", "w", ""]).all():
        raise DataError(f"Column {STATUS!r} has a wrong status. It takes u, s, x, z and w.")
    return np.asarray(given.to_numpy(), dtype="<U1")


def _copies(merged: Merged, unsafe: Bools) -> Bools:
    """Cells of which a copy is unsafe are."""
    of_cell = merged.gather([unsafe], "any") > 0
    return np.asarray(merged.spread(of_cell, False)[0] | unsafe, dtype=bool)


def _spread(merged: Merged, level: Floats, unsafe: Bools) -> Floats:
    return np.where(unsafe, np.fmax(merged.spread(merged.gather([level], "max"), 0.0)[0], np.nan_to_num(level)), 0.0)


def _own(table: Table, name: str) -> Floats:
    found = table.column(name)
    return np.full(len(table), np.nan) if found is None else found


def _told(level: Floats, unsafe: Bools) -> pl.Series:
    return pl.Series(np.where(unsafe, level, np.nan)).fill_nan(None)


def _notes(said: Sensitivity, letters: NDArray[np.str_], status: NDArray[np.str_]) -> list[str]:
    out = []
    if np.any((said.truth == UNKNOWN) & (letters == "u")):
        out.append("Cells of which too little is told to judge them count as unsafe.")
    if np.any((said.truth > SAFE) & (status == "z")):
        out.append("Cells that a rule finds unsafe are forced safe by their status z.")
    return out
