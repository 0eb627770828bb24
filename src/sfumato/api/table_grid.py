"""A table as grids to look at: rows by the first variable, columns by the second, a grid for each code of others."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl

from sfumato.api.protect_table import TRUE, TableMade
from sfumato.tables.axis import Axis
from sfumato.tables.table import LOWER, STATUS, UPPER

__all__ = ["MOST", "table_grid"]

MOST = 3_000
"""So many cells are shown."""
_WIDEST = 60
"""So many columns of a grid are shown."""
_MARKS = {"u": "primary", "x": "secondary", "z": "safe", "s": "", "w": ""}


def table_grid(made: TableMade, most: int = MOST) -> dict[str, Any]:
    """A protected table as grids, as many cells of it as a page can hold.

    It shows what the custodian may see: which hidden cells are the unsafe ones, what an attacker can work out of them,
    and, under `true`, the true values.

    Parameters
    ----------
    made
        The table.
    most
        Cells to show at most, empty ones too.

    Returns
    -------
    dict
        `variables`; `columns`, each with `code`, `depth` (0: `Total`) and `total` (sum of others); `grids`, each with
        `of` (pairs of a further variable and its code) and `rows`: `code`, `depth`, `total` and `cells`. A cell is null
        where the table has none, else `value` (null: hidden), `mark` (`primary`, `secondary`, `safe` or empty), `lower`
        and `upper` (null where that is not known; `INF` has no end) and `true`. `shown` and `cells` count the positions
        shown and of the whole table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sfumato.api.protect_table import Making, TableAsked
    >>> from sfumato.api.read import read
    >>> from sfumato.release.secret import Secret
    >>> people = read(pl.DataFrame({"sex": ["f"] * 5 + ["m"]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     making = Making(people, TableAsked(("sex",)), Path(folder), Secret(bytes(16)))
    ...     grid = table_grid(making.made("suppress", "auto", "table.csv"))
    >>> [(row["code"], row["cells"][0]["value"], row["cells"][0]["mark"]) for row in grid["grids"][0]["rows"]]
    [('Total', 6, ''), ('f', None, 'secondary'), ('m', None, 'primary')]
    """
    table = made.shown
    axes = [_listed(axis, table.cells[axis.name]) for axis in table.axes]
    rows, columns, others = axes[0], axes[1] if len(axes) > 1 else None, axes[2:]
    wide = [None] if columns is None else columns[:_WIDEST]
    cells = math.prod(len(axis) for axis in axes)
    wanted: list[tuple[Any, ...]] = []
    shape: list[tuple[tuple[Any, ...], int]] = []
    left = most // len(wide)
    for of in itertools.product(*others):
        held = min(left, len(rows))
        if not held:
            break
        left -= held
        shape.append((of, held))
        wanted += [tuple(one["code"] for one in (row, *([c] if c else []), *of)) for row in rows[:held] for c in wide]
    found = iter(_looked_up(made, wanted))
    grids = []
    for of, held in shape:
        lines = [{**row, "cells": [next(found) for _ in wide]} for row in rows[:held]]
        pairs = [[name, one["code"]] for name, one in zip(table.variables[2:], of, strict=True)]
        grids.append({"of": pairs, "rows": lines})
    return {
        "variables": list(table.variables),
        "value": table.value,
        "columns": [] if columns is None else wide,
        "grids": grids,
        "shown": len(wanted),
        "cells": cells,
    }


def _listed(axis: Axis, column: pl.Series) -> list[dict[str, Any]]:
    """The codes of a variable that the table has, with how deep they lie and whether they are sums of others."""
    held = set(column.unique().to_list())
    inner = {parent for parent, _ in axis.relations}
    return [
        {"code": code, "depth": int(axis.depth[i]), "total": i in inner}
        for i, code in enumerate(axis.codes)
        if code in held
    ]


def _looked_up(made: TableMade, wanted: list[tuple[Any, ...]]) -> list[dict[str, Any] | None]:
    """The cells of some codes."""
    table, names = made.shown, list(made.shown.variables)
    asked = pl.DataFrame(wanted, schema=dict.fromkeys(names, pl.String), orient="row")
    value = pl.col(table.value).cast(pl.Float64).alias("sfumato:value")
    known = [n for n in (STATUS, LOWER, UPPER) if n in table.cells.columns]
    told = table.cells.select(*names, value, *known, sfumato_there=True)
    out = asked.join(told, on=names, how="left", maintain_order="left")
    out = out.join(made.true, on=names, how="left", maintain_order="left")
    if LOWER not in known and made.ends is not None:
        out = out.join(made.ends, on=names, how="left", maintain_order="left")
    texts = {n: out[n].to_list() if n in out.columns else [None] * len(out) for n in (STATUS, LOWER, UPPER)}
    lines = zip(out["sfumato_there"], out["sfumato:value"], out[TRUE], *texts.values(), strict=True)
    return [
        {
            "value": _plain(now),
            "mark": _MARKS.get(status or "s", ""),
            "lower": _plain(low),
            "upper": _plain(high),
            "true": _plain(was),
        }
        if there
        else None
        for there, now, was, status, low, high in lines
    ]


def _plain(x: float | None) -> float | int | str | None:
    """A number as JSON holds it: whole ones without a point, an end that is not there as `INF`."""
    if x is None or np.isnan(x):
        return None
    if np.isinf(x):
        return "INF" if x > 0 else "-INF"
    return int(x) if float(x).is_integer() and abs(x) < 2**53 else float(x)
