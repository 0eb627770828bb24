"""A protected table of the records of a file, by any method: what the commands of `sfumato table` do in turn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from sfumato.api.hand_out import hand_out
from sfumato.api.read_table import read_table
from sfumato.data.files.hierarchies import read_hierarchy
from sfumato.errors import DataError, LimitExceeded
from sfumato.kernels.grid import significant
from sfumato.progress import Progress, quiet
from sfumato.release.secret import Secret
from sfumato.tables.axis import TOTAL
from sfumato.tables.bounds.bound import Bounds, bounds
from sfumato.tables.build import RANKS, build
from sfumato.tables.judge import judge
from sfumato.tables.nested import nested
from sfumato.tables.protect import Protected, protect
from sfumato.tables.round.round import METHODS as ROUNDINGS
from sfumato.tables.round.round import SECONDS, Rounding
from sfumato.tables.rules import ranks_needed, read_rules
from sfumato.tables.table import LOWER, STATUS, UPPER, Table, is_count

if TYPE_CHECKING:
    from sfumato.data.dataset import Dataset
    from sfumato.tables.adjust import Adjusted
    from sfumato.tables.perturb.perturb import Perturbed
    from sfumato.tables.recode import Recoded

    Done = Protected | Rounding | Adjusted | Perturbed | Recoded

__all__ = ["METHODS", "TRUE", "WAYS", "Making", "TableAsked", "TableMade", "audit_of", "told_by_rounding"]

Method = Literal["suppress", "round", "adjust", "recode", "perturb"]
METHODS: tuple[Method, ...] = get_args(Method)
WAYS: Mapping[str, tuple[str, ...]] = {
    "suppress": ("auto", "optimal", "flow", "elimination"),
    "round": ROUNDINGS,
    "adjust": ("auto", "exact", "fixed"),
    "recode": ("branches", "levels"),
    "perturb": ("auto",),
}
"""By method, its ways: what the commands call `--method`, of `recode` `--cut`."""
TRUE = "sfumato:true"
"""The column of true values."""
_JUDGED = ("adjust", "recode")
_DIGITS = 12
_MOST = 300
"""Finest cells above which it is not worked out what a rounded table tells."""


@dataclass(frozen=True)
class TableAsked:
    """Which table of the records of a file is wanted, and how it is protected.

    Parameters
    ----------
    by
        Its variables.
    value
        What is summed; without it records are counted.
    count, contributors, holdings, weight
        As `sf.tables.build` takes them.
    hierarchies
        Pairs of a variable and the file of its tree.
    rules
        Which cells are unsafe, as `sf.tables.judge` takes them: for hiding, adjusting and recoding.
    method, way
        One of `METHODS`, and of its `WAYS`; without a way the first that the method's command takes.
    protect, cost, lower, reader, tell_unsafe
        Of hiding, as `sf.tables.protect` takes them.
    base
        Of rounding.
    record
        Of noise by cell keys: the column of the records' ids.
    seconds
        When to stop looking for something better; without it what the commands take.

    Examples
    --------
    >>> TableAsked(("sex",)).way, TableAsked(("sex",), method="round").way
    ('auto', 'controlled')
    """

    by: tuple[str, ...]
    value: str | None = None
    count: str | None = None
    contributors: str | None = None
    holdings: str | None = None
    weight: str | None = None
    hierarchies: tuple[tuple[str, str], ...] = ()
    rules: tuple[str, ...] = ("n(3)",)
    method: Method = "suppress"
    way: str = ""
    protect: Literal["exact", "level"] = "level"
    cost: Literal["value", "unity", "count"] = "value"
    lower: float | None = None
    reader: Literal["contributor", "outsider"] = "contributor"
    tell_unsafe: bool = False
    base: int = 5
    record: str | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise DataError(f"There is no method of that name for tables. There are {', '.join(METHODS)}.")
        if not self.way:
            object.__setattr__(self, "way", "controlled" if self.method == "round" else WAYS[self.method][0])
        if self.way not in WAYS[self.method]:
            raise DataError(f"The method {self.method} takes {', '.join(WAYS[self.method])}.")

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> TableAsked:
        """From such plain values.

        Examples
        --------
        >>> asked = TableAsked(("sex",), hierarchies=(("sex", "sex.csv"),))
        >>> TableAsked.of(asked.to_plain()) == asked
        True
        """
        given = {field.name: plain[field.name] for field in fields(cls) if field.name in plain}
        given["by"] = tuple(given["by"])
        if "rules" in given:
            given["rules"] = tuple(given["rules"])
        if "hierarchies" in given:
            given["hierarchies"] = tuple((variable, path) for variable, path in given["hierarchies"])
        return cls(**given)


@dataclass(frozen=True)
class TableMade:
    """A protected table, with what the custodian may see of it.

    Parameters
    ----------
    done
        What the method gave.
    before
        The table with its true values.
    file
        Where the protected table lies, as the command writes it; None where its audit failed.
    ends
        What can be worked out of cells: the codes, `lower` and `upper`; None where that is not known. Of hidden cells,
        or of the finest ones of a rounded table.
    told
        What the method's command prints as JSON.
    """

    done: Done
    before: Table
    file: Path | None
    ends: pl.DataFrame | None
    told: Mapping[str, Any]

    @property
    def table(self) -> Table:
        """The table as it may be handed out."""
        return self.done.table

    @property
    def shown(self) -> Table:
        """The same for the custodian: where cells are hidden it is told which are the unsafe ones."""
        if not isinstance(self.done, Protected):
            return self.done.table
        hidden = pl.col(STATUS).is_in(["u", "x"])
        value = self.done.judged.value
        judged = self.done.judged
        only = judged.cells.select(
            *judged.variables, pl.when(~hidden).then(pl.col(value)).alias(value), STATUS, LOWER, UPPER
        )
        return Table(judged.axes, only, value)

    @property
    def true(self) -> pl.DataFrame:
        """The codes of the protected table's variables, with the true values."""
        gone = [name for name in self.before.variables if name not in self.table.variables]
        cells = self.before.cells
        for name in gone:
            cells = cells.filter(pl.col(name) == TOTAL)
        return cells.select(*self.table.variables, pl.col(self.before.value).cast(pl.Float64).alias(TRUE))

    def loss(self) -> dict[str, Any]:
        """What is lost, in figures that all methods have.

        Returns
        -------
        dict
            `cells`; `hidden` ones, whose value is not published, with the sum of their sizes `hidden_value`; `changed`
            ones, with the sum of the sizes of changes `change`; `narrowest` and `widest` interval of `ends`, None
            where that is not known, infinity where one has no end.
        """
        names = list(self.table.variables)
        told = self.table.cells.select(*names, pl.col(self.table.value).cast(pl.Float64).alias("sfumato:told"))
        both = self.true.join(told, on=names, how="left")
        left_out = len(self.before) - len(both)  # cells of variables that are gone
        was, now = (both[name].fill_null(float("nan")).to_numpy() for name in (TRUE, "sfumato:told"))
        gone = np.isnan(now)
        size = np.where(gone, 0.0, np.abs(now - was))
        near = 1e-9 * float(np.abs(was).max(initial=1.0))
        low = high = None
        if self.ends is not None and self.ends.height:
            width = self.ends[UPPER].fill_null(np.inf).to_numpy() - self.ends[LOWER].fill_null(-np.inf).to_numpy()
            low, high = float(width.min()), float(width.max())
        return {
            "cells": len(self.before),
            "hidden": int(gone.sum()) + left_out,
            "hidden_value": significant(math.fsum([*np.abs(self.before.values), *-np.abs(was[~gone])]), _DIGITS),
            "changed": int((size > near).sum()),
            "change": significant(math.fsum(size[size > near]), _DIGITS),
            "narrowest": low,
            "widest": high,
        }

    def plain_loss(self) -> dict[str, Any]:
        """The same for JSON: an interval without an end is `INF`."""
        return {name: "INF" if isinstance(x, float) and np.isinf(x) else x for name, x in self.loss().items()}


class Making:
    """Tables of the same records, protected in one way or several; what several ways need is worked out once.

    Parameters
    ----------
    data
        The records.
    asked
        Which table.
    folder
        Where what is written lies: the protected table, and what one command hands to the next.
    secret
        What draws are keyed with.
    quick
        Whether tables are judged for adjusting and recoding without a pattern of hidden cells, which the command looks
        for before and neither of these needs: for large tables.
    """

    def __init__(self, data: Dataset, asked: TableAsked, folder: Path, secret: Secret, *, quick: bool = False) -> None:
        self.data, self.asked, self.folder, self.secret, self.quick = data, asked, folder, secret, quick

    @cached_property
    def built(self) -> Table:
        """The table with all its values."""
        asked = self.asked
        trees = {variable: read_hierarchy(Path(path)) for variable, path in asked.hierarchies}
        needed = ranks_needed(read_rules(asked.rules)) if asked.rules else 0
        return build(
            self.data,
            [list(asked.by)],
            asked.value,
            count=asked.count,
            contributors=asked.contributors,
            holdings=asked.holdings,
            weight=asked.weight,
            hierarchies=trees,
            ranks=max(RANKS, needed),
        )

    @cached_property
    def _whole(self) -> Table:
        """The same as the next command reads it from a folder."""
        return self._read(self.built, "built")

    @cached_property
    def _keyed(self) -> Table:
        """With a key for each cell."""
        asked = self.asked
        if asked.record is None:
            raise DataError("Noise by cell keys needs the column of the records' ids: each record has one of its own.")
        trees = {variable: read_hierarchy(Path(path)) for variable, path in asked.hierarchies}
        names = ("count", "contributors", "holdings", "weight", "record")
        columns = {name: getattr(asked, name) for name in names}
        by = [list(asked.by)]
        keyed = build(self.data, by, asked.value, **columns, hierarchies=trees, secret=self.secret.value)
        return self._read(keyed, "keyed")

    @cached_property
    def _judged(self) -> Table:
        """With statuses and levels, as `protect --internal` writes it and the next command reads it."""
        if not self.asked.rules:
            raise DataError("Say which cells are unsafe: give at least one rule.")
        if self.quick:
            return self._read(judge(self.built, list(self.asked.rules)), "judged")
        folder = self.folder / "judged"
        hand_out(protect(self.built, list(self.asked.rules)), folder, internal=True, overwrite=True)
        return nested(read_table(folder))

    def _read(self, table: Table, name: str) -> Table:
        folder = self.folder / name
        hand_out(table, folder, overwrite=True)
        return nested(read_table(folder))

    def made(
        self, method: Method, way: str, name: str, seconds: float | None = None, progress: Progress = quiet
    ) -> TableMade:
        """Protect the table, and write it.

        Parameters
        ----------
        method, way
            As in `TableAsked`.
        name
            Of the file that is written.
        seconds
            When to stop looking for something better.
        progress
            Called with what is being done, and the share of the work that is done.

        Raises
        ------
        DataError, FormulaError, FileError, SecretError
            As the commands.
        """
        progress("building the table", 0)
        done = self._done(method, way, seconds, progress)
        file: Path | None = self.folder / name
        try:
            hand_out(done, self.folder / name)
        except LimitExceeded:
            file = None
        before = self._judged if method in _JUDGED else self._keyed if method == "perturb" else self.built
        found = told_by_rounding(done) if isinstance(done, Rounding) else None
        told = done.to_plain() | ({"audit": audit_of(found)} if isinstance(done, Rounding) else {})
        ends = None if found is None else found.cells.with_columns(pl.col(UPPER).fill_null(np.inf))
        return TableMade(done, before, file, _of_hidden(done) if isinstance(done, Protected) else ends, told)

    def _done(self, method: Method, way: Any, seconds: float | None, progress: Progress) -> Done:
        asked = self.asked
        limit = SECONDS if seconds is None else seconds
        if method == "suppress":
            return protect(
                self.built,
                list(asked.rules) or None,
                method=way,
                protect=asked.protect,
                cost=asked.cost,
                reader=asked.reader,
                tell_unsafe=asked.tell_unsafe,
                secret=self.secret.value if self.secret.repeatable else None,
                lower=asked.lower,
                seconds=seconds,
                progress=progress,
            )
        if method == "round":
            from sfumato.tables.round.round import round as rounded

            drawn = way in ("random", "barnardise")
            given = self._whole
            progress("rounding", 0.5)
            return rounded(given, asked.base, way, secret=self.secret.value if drawn else None, seconds=limit)
        if method == "perturb":
            from sfumato.tables.perturb.magnitudes import Flex
            from sfumato.tables.perturb.perturb import perturb

            return perturb(self._keyed, flex=Flex())
        given = self._judged
        progress("adjusting" if method == "adjust" else "looking for coarser codes", 0.5)
        if method == "adjust":
            from sfumato.tables.adjust import adjust

            return adjust(given, method=way, seconds=limit)
        from sfumato.tables.recode import recode

        return recode(given, by=way, seconds=seconds)


def _of_hidden(done: Protected) -> pl.DataFrame | None:
    """What can be worked out of hidden cells."""
    hidden = done.judged.cells.filter(pl.col(STATUS).is_in(["u", "x"]))
    return hidden.select(*done.judged.variables, LOWER, UPPER) if done.audit.method == "programs" else None


def told_by_rounding(done: Rounding) -> Bounds | None:
    """What whoever knows how a table of counts was rounded can work out of its finest cells.

    Parameters
    ----------
    done
        What `sf.tables.round` gave.

    Returns
    -------
    Bounds
        None where the table is not of counts, has more than 300 finest cells, or it cannot be worked out.

    Examples
    --------
    >>> from sfumato.tables.round.round import round
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]})
    >>> found = told_by_rounding(round(Table.of(rows), 5))
    >>> (found.low <= [8, 1]).all() and (found.high >= [8, 1]).all()
    np.True_
    """
    size = 1
    for axis in done.table.axes:
        size *= len(axis.finest)
    if size > _MOST or not is_count(done.table):
        return None
    try:
        return bounds(done.table, changed=done.possible)
    except DataError:
        return None


def audit_of(found: Bounds | None) -> dict[str, Any] | None:
    """The same as the command prints it: how many of the finest cells can be worked out; None where it is not known.

    Examples
    --------
    >>> audit_of(None) is None
    True
    """
    if found is None:
        return None
    told = found.summary()
    exact = int(((found.low == found.high) & (found.high > 0)).sum())
    return {"exact": exact, "mean_width": told["mean_width"], "zeros": told["zeros"]}
