"""What contributors have in the finest cells of a table, as lines of a file, and under coarser codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.rollup import Contributions, together
from sfumato.tables.axis import Axis
from sfumato.tables.table import OWN, Table, keyed

__all__ = ["FIGURES", "carried", "lines", "with_lines"]

Ints = NDArray[np.int64]

FIGURES = tuple(f"{OWN}{name}" for name in ("who", "amount", "size", "heads", "units", "asked"))
"""Columns of the file beside the codes: whose it is, and the fields of `Contributions`."""


def lines(table: Table) -> pl.DataFrame | None:
    """Each contribution with the codes of its finest cell; None where the table does not know them.

    Contributors have new numbers, in the order of the cells that they are in first.
    """
    if table.contributions is None:
        return None
    given = together(table.contributions)
    told = (given.asked, given.units, given.heads, given.size, given.amount, given.key)
    given = given.of(np.lexsort((given.who, *told)))  # the same for any order of the records
    names, first, who = np.unique(given.who, return_index=True, return_inverse=True)
    number = np.empty(len(names), dtype=np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(names))
    columns, rest = {}, given.key
    for axis in reversed(table.axes):
        columns[axis.name] = pl.Series(list(axis.codes), dtype=pl.String).gather(rest % len(axis.codes))
        rest = rest // len(axis.codes)
    figures = (number[who], given.amount, given.size, given.heads, given.units, given.asked.astype(np.int64))
    codes = {axis.name: columns[axis.name] for axis in table.axes}
    return pl.DataFrame({**codes, **dict(zip(FIGURES, figures, strict=True))})


def with_lines(table: Table, frame: pl.DataFrame) -> Table:
    """The table with the contributions that `lines` told.

    Raises
    ------
    DataError
        Codes that the table does not have, or figures that are missing.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.engines.polars import PolarsDataset
    >>> from sfumato.tables.build import build
    >>> firms = PolarsDataset(pl.DataFrame({"town": ["a", "b"], "turnover": [5.0, 1.5]}), Codebook())
    >>> table = build(firms, ["town"], "turnover")
    >>> told = lines(table)
    >>> told["sfumato:who"].to_list(), with_lines(table, told).contributions.amount.tolist()
    ([0, 1], [5.0, 1.5])
    """
    if missing := [n for n in (*table.variables, *FIGURES) if n not in frame.columns or frame[n].null_count()]:
        raise DataError(f"The file of contributions lacks {missing[0]!r}, or values of it.")
    places = np.stack([_places(axis, frame[axis.name]) for axis in table.axes], axis=1)
    key = keyed(places, [len(axis.codes) for axis in table.axes])
    who, amount, size, heads, units, asked = (frame[name].to_numpy() for name in FIGURES)
    whole = [one.astype(np.int64) for one in (who, heads, units)]
    held = Contributions(
        key, whole[0], amount.astype(np.float64), size.astype(np.float64), whole[1], whole[2], asked > 0
    )
    return replace(table, contributions=held)


def carried(given: Contributions | None, old: Sequence[Axis], new: Sequence[Axis]) -> Contributions | None:
    """Contributions to the cells of other variables' codes, each under the finest code that is left of its own.

    Examples
    --------
    >>> from sfumato.data.hierarchy import Hierarchy
    >>> fine = Axis("town", (Hierarchy((("Leeds", "North"), ("York", "North"), ("Bath",))),))
    >>> one = np.ones(3, dtype=np.int64)
    >>> held = Contributions(np.array([2, 3, 4]), np.arange(3), one + 0.5, one + 0.5, one, one, one > 0)
    >>> carried(held, [fine], [Axis.flat("town", ["North", "Bath"])]).key.tolist()
    [1, 1, 2]
    """
    if given is None:
        return None
    place: dict[str, Ints] = {}
    rest = given.key
    for axis in reversed(old):
        place[axis.name] = rest % len(axis.codes)
        rest = rest // len(axis.codes)
    before = {axis.name: axis for axis in old}
    places = [_moved(before[axis.name], axis)[place[axis.name]] for axis in new]
    return replace(given, key=keyed(np.stack(places, axis=1), [len(axis.codes) for axis in new]))


def _moved(old: Axis, new: Axis) -> Ints:
    """For each code the place of the finest one that is left of it and of those that hold it."""
    left = [[above for above in old.above[place] if old.codes[above] in new.place] for place in range(len(old.codes))]
    finest = [max(one, key=lambda above: int(old.depth[above])) for one in left]
    return np.array([new.place[old.codes[place]] for place in finest], dtype=np.int64)


def _places(axis: Axis, codes: pl.Series) -> Ints:
    unknown = set(codes.to_list()) - set(axis.codes)
    if unknown:
        raise DataError(f"Column {axis.name!r} of the contributions holds codes that its hierarchy does not list.")
    place = codes.replace_strict(list(axis.codes), list(range(len(axis.codes))), return_dtype=pl.Int64)
    return place.to_numpy()
