"""Recode a judged table: coarser codes, until no unsafe cell is left, with the least loss of information."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.kernels.tabular.collapse import Collapse, collapse
from sfumato.tables.axis import TOTAL, Axis
from sfumato.tables.equations import equations
from sfumato.tables.table import CONTRIBUTORS, STATUS, Table, is_count
from sfumato.tables.whose import carried

__all__ = ["Kept", "Recoded", "recode"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Node = tuple[int, int]
"""A variable, and the place of a code of it that has parts."""


@dataclass(frozen=True)
class Kept:
    """What is left of a variable.

    Parameters
    ----------
    codes_before, codes
        Number of codes, without `Total`.
    levels_before, levels
        How many levels below `Total` its codes have at the deepest.
    merged
        Codes whose parts are published no more.
    """

    codes_before: int
    codes: int
    levels_before: int
    levels: int
    merged: tuple[str, ...] = ()

    @property
    def dropped(self) -> bool:
        """Whether nothing but the total is left, so that the table does without the variable."""
        return self.codes == 0

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "codes_before": self.codes_before,
            "codes": self.codes,
            "levels_before": self.levels_before,
            "levels": self.levels,
            "merged": list(self.merged),
            "dropped": self.dropped,
        }


@dataclass(frozen=True)
class Recoded:
    """A recoded table.

    Parameters
    ----------
    table
        The table as it may be handed out: the cells whose codes are all kept, with their values.
    cells_before
        Number of cells of the judged table.
    primary
        Number of its unsafe cells.
    variables
        What is left of each variable.
    loss
        Bits of information on the codes of all contributors that are gone: of each, the logarithm of how many share its
        coarser code for each that shares its finest one (non-uniform entropy).
    loss_share
        The same as a share of what would be gone were nothing but the grand total left.
    gap
        By how much at most, as a share, another recoding would lose less; 0 where it is proved that none does.
    notes
        What the custodian should know.
    """

    table: Table
    cells_before: int
    primary: int
    variables: dict[str, Kept]
    loss: float
    loss_share: float
    gap: float
    notes: tuple[str, ...] = field(default=())

    @property
    def optimal(self) -> bool:
        """Whether it is proved that no recoding of this kind loses less."""
        return self.gap == 0

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON; the custodian's."""
        return {
            "method": "recode",
            "cells_before": self.cells_before,
            "cells": len(self.table),
            "primary": self.primary,
            "variables": {name: kept.to_plain() for name, kept in self.variables.items()},
            "loss": self.loss,
            "loss_share": self.loss_share,
            "optimal": self.optimal,
            "gap": self.gap,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        return str(self.table.cells._repr_html_())


def recode(
    table: Table,
    *,
    by: Literal["branches", "levels"] = "branches",
    seconds: float | None = None,
    tolerance: float | None = None,
) -> Recoded:
    """Publish coarser codes only, as fine as can be without an unsafe cell.

    Of each variable a cut through its tree is kept: the codes of the cut and all above them. Every published cell is a
    cell of the judged table with its own status. The cuts that lose least are found by an exact search (a whole-number
    programme over the codes whose parts are given up), and proved.

    Parameters
    ----------
    table
        A judged table (status `u` is unsafe) with all its totals, and a tree for each variable that may be recoded. A
        variable without one is kept as it is, or dropped.
    by
        `branches`: each branch of a tree may be cut at a level of its own. `levels`: all at one.
    seconds
        When to stop looking for less loss. The result is safe all the same.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding.

    Returns
    -------
    Recoded

    Raises
    ------
    DataError
        No statuses, no values, totals that are not listed, or that are not the sums of their parts: a tree is missing;
        codes grouped in several ways; a grand total that is unsafe, or a table of which only the grand total is safe.

    Notes
    -----
    Every cell that can be worked out from the published ones is a sum of published finest cells. Under rules on
    thresholds and shares (n, p, pq, nk) a sum of safe cells is safe. It is not protected against another table of the
    same data with other codes, from which differences can be taken: audit them together.

    References
    ----------
    Gionis and Tassa (2009), k-anonymization with minimal loss of information, doi:10.1109/TKDE.2008.129, has the loss.

    Examples
    --------
    >>> import polars as pl
    >>> tree = Hierarchy.parents({"North": None, "Leeds": "North", "York": "North", "South": None})
    >>> rows = {"town": ["Total", "North", "Leeds", "York", "South"], "count": [15, 9, 8, 1, 6]}
    >>> rows["status"] = list("sssus")
    >>> recode(Table.of(pl.DataFrame(rows), hierarchies={"town": tree})).table.cells.rows()
    [('Total', 15), ('North', 9), ('South', 6)]
    """
    unsafe = _refuse(table)
    equations(table, tolerance=tolerance)  # codes that are totals of others, and are not known to be, would be parts
    search = _Search(table, by)
    found = search.solve(unsafe, seconds)
    dropped = search.given_up(found.chosen)
    kept = [search.kept(column, dropped) for column in range(len(table.axes))]
    here = np.all([kept[c][table.places[:, c]] for c in range(len(kept))], axis=0)
    left = {axis.name: _kept(axis, kept[c], dropped, c) for c, axis in enumerate(table.axes)}
    gone = [name for name, one in left.items() if one.dropped]
    if len(gone) == len(left):
        raise DataError(
            "Of this table nothing but the grand total could be published: every other cell is unsafe, or is one of "
            "codes that have one in every level. Hide cells instead (`protect`), or give hierarchies with more levels."
        )
    axes = tuple(_pruned(axis, kept[c]) for c, axis in enumerate(table.axes) if not left[axis.name].dropped)
    cells = table.cells.filter(here).select(*(axis.name for axis in axes), table.value)
    whole = float(search.cost.sum())
    return Recoded(
        replace(table, axes=axes, cells=cells, notes=(), contributions=carried(table.contributions, table.axes, axes)),
        len(table),
        int(unsafe.sum()),
        left,
        found.cost,
        found.cost / whole if whole else 0.0,
        0.0 if found.cost - found.bound <= 1e-9 * max(whole, 1.0) else (found.cost - found.bound) / found.cost,
        tuple(_notes(gone, table, here)),
    )


def _refuse(table: Table) -> Bools:
    """Which cells are unsafe; refuses what cannot be recoded."""
    if STATUS not in table.cells.columns:
        raise DataError(
            "The table has no statuses, so no cell is unsafe. Judge it first: sfumato table protect --internal, or "
            "`judge`."
        )
    if np.isnan(table.values).any():
        raise DataError(
            f"Column {table.value!r} lacks the values of some cells. Recode the table with all of them: the one that "
            "`--internal` wrote."
        )
    unsafe = np.asarray((table.cells[STATUS] == "u").fill_null(False).to_numpy())
    if several := [axis.name for axis in table.axes if len(axis.parents) > 1]:
        raise DataError(f"{several[0]!r} is grouped in several ways. Recode with one hierarchy of it.")
    if np.any(unsafe & np.all(table.places == 0, axis=1)):
        raise DataError(
            f"The grand total ({', '.join(f'{n}={TOTAL}' for n in table.variables)}) is unsafe itself: no "
            "coarser codes help."
        )
    _refuse_unlisted(table)
    return unsafe


def _refuse_unlisted(table: Table) -> None:
    """Refuse a table that lists a cell and not the total that it is a part of."""
    sizes = [len(axis.codes) for axis in table.axes]
    for column, axis in enumerate(table.axes):
        weight = int(np.prod(sizes[column + 1 :], dtype=np.int64))
        parents = _parents(axis)
        place = table.places[:, column]
        part = np.flatnonzero(parents[place] >= 0)
        wanted = table.keys[part] + (parents[place[part]] - place[part]) * weight
        if not np.isin(wanted, table.keys).all():
            raise DataError(
                f"The table lacks totals over {axis.name!r}, which are what a coarser table publishes. Build it with "
                "them (--margins all), and give every hierarchy (--hierarchy)."
            )


def _parents(axis: Axis) -> Ints:
    return axis.parents[0] if axis.parents else np.full(len(axis.codes), -1, dtype=np.int64)


class _Search:
    """What may be given up: the parts of a code, or all codes of a level."""

    def __init__(self, table: Table, by: str) -> None:
        self.table = table
        self.parents = [_parents(axis) for axis in table.axes]
        nodes = [(c, int(p)) for c, parents in enumerate(self.parents) for p in np.unique(parents[parents >= 0])]
        if by == "levels":
            groups = [(c, int(table.axes[c].depth[p])) for c, p in nodes]
        else:
            groups = nodes
        self.number = {group: i for i, group in enumerate(sorted(set(groups)))}
        self.group: dict[Node, int] = {node: self.number[group] for node, group in zip(nodes, groups, strict=True)}
        self.cost = np.zeros(len(self.number))
        for node, loss in _losses(table, self.parents).items():
            self.cost[self.group[node]] += loss
        self.cost = np.round(self.cost, 9)
        below = {
            (self.group[c, int(self.parents[c][p])], self.group[c, p]) for c, p in nodes if self.parents[c][p] >= 0
        }
        self.implies = sorted((a, b) for a, b in below if a != b)

    def solve(self, unsafe: Bools, seconds: float | None) -> Collapse:
        sets = {
            frozenset(self.group[c, int(self.parents[c][p])] for c, p in enumerate(row) if self.parents[c][p] >= 0)
            for row in self.table.places[unsafe].tolist()
        }
        return collapse(self.cost, self.implies, [sorted(one) for one in sets], seconds)

    def given_up(self, chosen: Bools) -> set[Node]:
        """Codes whose parts are published no more."""
        return {node for node, number in self.group.items() if chosen[number]}

    def kept(self, column: int, dropped: set[Node]) -> Bools:
        """Whether each code of a variable is kept."""
        parents = self.parents[column]
        return np.array([p < 0 or (column, int(p)) not in dropped for p in parents], dtype=bool)


def _losses(table: Table, parents: list[Ints]) -> dict[Node, float]:
    """What giving up the parts of each code loses: what telling them apart tells of each contributor, in bits."""
    weight = table.column(CONTRIBUTORS)
    if weight is None:
        weight = table.values if is_count(table) else np.abs(table.values)
    weight = np.nan_to_num(weight)
    out: dict[Node, float] = {}
    for c, own in enumerate(parents):
        alone = np.all(np.delete(table.places, c, axis=1) == 0, axis=1)
        size = np.zeros(len(own))
        size[table.places[alone, c]] = weight[alone]
        for p in np.unique(own[own >= 0]).tolist():
            parts = size[(own == p) & (size > 0)]
            # contributors may stand in several parts, so that these are taken among themselves
            out[c, p] = float(np.sum(parts * np.log2(parts.sum() / parts))) if len(parts) else 0.0
    return out


def _kept(axis: Axis, kept: Bools, dropped: set[Node], column: int) -> Kept:
    shallow = [p for c, p in dropped if c == column and kept[p]]
    return Kept(
        len(axis.codes) - 1,
        int(kept.sum()) - 1,
        int(axis.depth.max()),
        int(axis.depth[kept].max()),
        tuple(axis.codes[p] for p in sorted(shallow)),
    )


def _pruned(axis: Axis, kept: Bools) -> Axis:
    """The variable with the codes that are kept."""
    parents = _parents(axis)
    above = {
        axis.codes[i]: None if parents[i] == 0 else axis.codes[parents[i]]
        for i in np.flatnonzero(kept).tolist()
        if parents[i] >= 0
    }
    return Axis(axis.name, (Hierarchy.parents(above),))


def _notes(gone: list[str], table: Table, here: Bools) -> list[str]:
    out = [*table.notes]
    if gone:
        out.append(f"{', '.join(map(repr, gone))}: left out: nothing but its total is published.")
    letters = table.cells[STATUS].fill_null("s")
    if (letters == "z").to_numpy()[here].any():
        out.append("Cells that were forced safe (z) are published, and sums with them may be unsafe.")
    if not (letters == "u").any():
        out.append("No cell is unsafe: the table is published as it is.")
    return out
