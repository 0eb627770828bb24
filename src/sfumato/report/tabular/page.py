"""What the page of a table of totals shows: counts, how closely hidden cells can be worked out, and the table itself.

It looks at the table as it is handed out and at nothing else, so that it shows nothing that the table does not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.grid import decimals
from sfumato.tables.axis import Axis
from sfumato.tables.table import HIDDEN, LOWER, STATUS, UPPER, Table

__all__ = ["Crossing", "Margin", "Shown", "TablePage", "Widths", "page_of"]

Bools = NDArray[np.bool_]
_MOST_MARGINS = 24
_MOST_SHOWN = 4_000
_MOST_COLUMNS = 30
_MOST_DECIMALS = 3
WIDTHS = ("under 5%", "5% to 10%", "10% to 20%", "20% to 50%", "50% to 100%", "may be zero", "no upper bound")
"""How far a hidden cell may be from the middle of its interval, as a share of the middle."""
_ENDS = (0.05, 0.1, 0.2, 0.5, 1.0)
MEANINGS = {
    "s": "published",
    "u": "hidden: unsafe",
    "x": "hidden: beside unsafe cells",
    "z": "published by the custodian's decision",
    "w": "published: a zero that nobody is behind",
}


@dataclass(frozen=True)
class Margin:
    """A part of the table: how many cells it lists, and how many of them are hidden."""

    label: str
    cells: int
    hidden: int


@dataclass(frozen=True)
class Widths:
    """Hidden cells by how closely everybody can work them out, in the order of `WIDTHS`."""

    counts: tuple[int, ...]

    @property
    def bars(self) -> tuple[tuple[str, int], ...]:
        """Labels with their counts; ends at which there is nothing are left out."""
        held = [i for i, count in enumerate(self.counts) if count]
        both = list(zip(WIDTHS, self.counts, strict=True))
        return tuple(both[min(held) : max(held) + 1]) if held else ()


@dataclass(frozen=True)
class Shown:
    """One cell as the page shows it.

    Parameters
    ----------
    text
        The value; empty where it is not told.
    status
        Its letter; empty where the table has none.
    between
        The interval of a hidden cell; empty of others.
    """

    text: str
    status: str = ""
    between: str = ""

    @property
    def hidden(self) -> bool:
        """Whether the table hides it."""
        return self.status in HIDDEN


@dataclass(frozen=True)
class Crossing:
    """The table by two of its variables (or by one), for fixed codes of the others.

    Parameters
    ----------
    title
        The fixed codes.
    rows, columns
        Names of the variables; `columns` is empty for a single one.
    head
        Codes of the columns.
    lines
        Depth and code of each row, with its cells; None where nothing is listed.
    """

    title: str
    rows: str
    columns: str
    head: tuple[str, ...]
    lines: tuple[tuple[int, str, tuple[Shown | None, ...]], ...]


@dataclass(frozen=True)
class TablePage:
    """What a page shows of a table.

    Parameters
    ----------
    statuses
        Letter, meaning and number of cells.
    margins
        By levels of the variables, or by which of them are summed over.
    widths
        None where the table hides nothing, or tells no intervals.
    crossings
        The table itself; empty where it is too large to be read.
    """

    statuses: tuple[tuple[str, str, int], ...]
    margins: tuple[Margin, ...]
    widths: Widths | None
    crossings: tuple[Crossing, ...]


def page_of(table: Table) -> TablePage:
    """Say what the page of a table shows.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, None, None], "status": ["s", "u", "x"],
    ...                      "lower": [None, 0.0, 4.0], "upper": [None, 5.0, 9.0]})
    >>> page = page_of(Table.of(rows))
    >>> page.margins[1], page.widths.bars
    (Margin(label='sex', cells=2, hidden=2), (('20% to 50%', 1), ('50% to 100%', 0), ('may be zero', 1)))
    >>> page.crossings[0].lines[1]
    (1, 'f', (Shown(text='', status='u', between='0 to 5'),))
    """
    letters = _letters(table)
    hidden = np.isin(letters, HIDDEN)
    meanings = MEANINGS if "u" in letters else MEANINGS | {"x": "hidden"}  # with one letter it tells nothing more
    statuses = tuple((one, said, int(np.sum(letters == one))) for one, said in meanings.items() if one in letters)
    return TablePage(
        statuses, tuple(_margins(table, hidden)), _widths(table, hidden), tuple(_crossings(table, letters))
    )


def _letters(table: Table) -> NDArray[np.str_]:
    if STATUS not in table.cells.columns:
        return np.full(len(table), "", dtype="<U1")
    return np.asarray(table.cells[STATUS].fill_null("s").to_list(), dtype="<U1")


def _margins(table: Table, hidden: Bools) -> Iterator[Margin]:
    """Cells by the levels that their codes are of; where these are many, by which variables are summed over."""
    depths = np.stack([axis.depth[table.places[:, i]] for i, axis in enumerate(table.axes)], axis=1)
    if len(np.unique(depths, axis=0)) > _MOST_MARGINS:
        depths = np.minimum(depths, 1)
    kinds, which = np.unique(depths, axis=0, return_inverse=True)
    deep = depths.max(axis=0)
    for number, kind in enumerate(kinds):
        mine = which.ravel() == number
        parts = [_level(axis, int(at), int(most)) for axis, at, most in zip(table.axes, kind, deep, strict=True) if at]
        yield Margin(", ".join(parts) or "over all", int(mine.sum()), int((mine & hidden).sum()))


def _level(axis: Axis, depth: int, deepest: int) -> str:
    return axis.name if deepest < 2 else f"{axis.name} level {depth}"


def _widths(table: Table, hidden: Bools) -> Widths | None:
    low, high = table.column(LOWER), table.column(UPPER)
    if low is None or high is None or not hidden.any():
        return None
    low, high = low[hidden], high[hidden]
    if np.all(np.isnan(low) & np.isnan(high)) or np.any(low < 0):
        return None
    open_ended = ~np.isfinite(high)
    zero = ~open_ended & ~(low > 0)
    rest = ~open_ended & ~zero
    share = (high[rest] - low[rest]) / (high[rest] + low[rest])
    bins = np.bincount(np.searchsorted(_ENDS, share, side="right"), minlength=len(_ENDS))
    return Widths((*(int(n) for n in bins[: len(_ENDS)]), int(zero.sum()), int(open_ended.sum())))


def _crossings(table: Table, letters: NDArray[np.str_]) -> Iterator[Crossing]:
    """The table by its longest variable, across the longest of the others that fits on a page."""
    sizes = [len(axis.codes) for axis in table.axes]
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    fits = [i for i in order[1:] if sizes[i] <= _MOST_COLUMNS]
    if math.prod(sizes) > _MOST_SHOWN or (len(order) > 1 and not fits):
        return
    down, across = order[0], fits[0] if fits else None
    others = [i for i in range(len(sizes)) if i not in (down, across)]
    line = {tuple(places): i for i, places in enumerate(table.places.tolist())}
    show = _Showing(table, letters)
    for fixed in itertools.product(*(range(sizes[i]) for i in others)):
        crossing = _crossing(table.axes, (down, across), dict(zip(others, fixed, strict=True)), line, show)
        if any(cell is not None for _, _, cells in crossing.lines for cell in cells):
            yield crossing


def _crossing(
    axes: Sequence[Axis],
    by: tuple[int, int | None],
    fixed: Mapping[int, int],
    line: Mapping[tuple[int, ...], int],
    show: _Showing,
) -> Crossing:
    down, across = by
    columns = [None] if across is None else list(range(len(axes[across].codes)))

    def cell(row: int, column: int | None) -> Shown | None:
        at = {**fixed, down: row} | ({} if across is None or column is None else {across: column})
        found = line.get(tuple(at[i] for i in range(len(axes))))
        return None if found is None else show(found)

    rows = [
        (int(axes[down].depth[row]), code, tuple(cell(row, column) for column in columns))
        for row, code in enumerate(axes[down].codes)
    ]
    title = ", ".join(f"{axes[i].name} {axes[i].codes[place]}" for i, place in fixed.items())
    head = () if across is None else axes[across].codes
    kept = tuple(row for row in rows if any(each is not None for each in row[2]))
    return Crossing(title, axes[down].name, "" if across is None else axes[across].name, head, kept)


class _Showing:
    """Cells as texts."""

    def __init__(self, table: Table, letters: NDArray[np.str_]) -> None:
        self.values, self.letters = table.values, letters
        nowhere = np.full(len(table), np.nan)
        low, high = table.column(LOWER), table.column(UPPER)
        self.low, self.high = nowhere if low is None else low, nowhere if high is None else high
        known = self.values[np.isfinite(self.values)]
        self.places = min(decimals(known), _MOST_DECIMALS) if len(known) else 0

    def __call__(self, i: int) -> Shown:
        text = "" if np.isnan(self.values[i]) else self._text(self.values[i])
        if self.letters[i] not in HIDDEN or not (np.isfinite(self.low[i]) or np.isfinite(self.high[i])):
            return Shown(text, str(self.letters[i]))
        ends = [self._text(x) if np.isfinite(x) else "" for x in (self.low[i], self.high[i])]
        between = f"{ends[0]} to {ends[1]}" if all(ends) else f"from {ends[0]}" if ends[0] else f"up to {ends[1]}"
        return Shown(text, str(self.letters[i]), between)

    def _text(self, x: float) -> str:
        return f"{x + 0.0:,.{self.places}f}"
