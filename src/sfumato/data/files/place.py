"""Where on a sheet the table is: its row of names, its columns and its first record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.data.files.header import holds_names, looks_like_a_record, named_blanks, numbered_names, refused_header
from sfumato.data.files.sheet import Extent, Range, letters
from sfumato.data.files.table import checked_names
from sfumato.errors import DataError, FileError

__all__ = ["Place", "find_table"]

_MOST_ABOVE = 30
"""Rows above the table among which its names are looked for."""


@dataclass(frozen=True)
class Place:
    """Where a table is.

    Parameters
    ----------
    first
        Row of the first record, from 0.
    columns
        Its columns, from 0 at the first that the sheet uses.
    left
        How many columns of the sheet stand before that one.
    names
        Their names.
    notes
        What to tell the user.
    """

    first: int
    columns: tuple[int, ...]
    left: int
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def find_table(
    cells: pl.DataFrame, extent: Extent, header: bool | None, skip_rows: int, what: str, name_blank: bool = False
) -> Place:
    """Find the table on a sheet.

    Parameters
    ----------
    cells
        The sheet as texts, from its first row and its first used column on.
    extent
        Where its cells are, and which are merged.
    header
        Whether the first row that is not empty holds names; None where they are to be looked for.
    skip_rows
        Rows above the table.
    what
        The sheet, for errors.
    name_blank
        Whether columns with a blank name are called by their place in the table.

    Raises
    ------
    FileError
        No cells below the rows that are skipped.
    DataError
        Names that look like a record, or are empty or duplicated; merged cells among the records.
    """
    if skip_rows < 0:
        raise FileError("The number of rows to skip must be 0 or more.")
    cells = cells.select(pl.all().cast(pl.String))
    cells = cells.select(pl.when(pl.col(n).str.strip_chars() != "").then(pl.col(n)) for n in cells.columns)
    filled = cells.select(pl.any_horizontal(pl.all().is_not_null()).alias("")).to_series().arg_true().to_list()
    rows = [row for row in filled if row >= skip_rows]
    if not rows:
        raise FileError(f"{what} is empty below the {skip_rows} rows that are skipped.")
    left = extent.box[1] if extent.box else 1
    numbered = numbered_names(len(_used(cells, rows[0])))
    if header is False and [cells.row(rows[0])[j] for j in _used(cells, rows[0])] != numbered:
        place = Place(rows[0], tuple(_used(cells, rows[0])), left - 1, tuple(numbered))
    else:
        place = _named(cells, rows, left, header, bool(skip_rows), extent.merged, what, name_blank)
    _refuse_merged(extent.merged, place, left, what)
    return place


def _named(
    cells: pl.DataFrame,
    rows: Sequence[int],
    left: int,
    header: bool | None,
    skipped: bool,
    merged: Sequence[Range],
    what: str,
    name_blank: bool,
) -> Place:
    """Give the table with the names that stand in its first row, or further down where that is no row of names."""
    at = rows[0] if header or skipped else _row_of_names(cells, rows, merged)
    columns = _used(cells, at)
    names = [cells.row(at)[j] or "" for j in columns]
    below = cells[at + 1 :].select(cells.columns[j] for j in columns)
    if header is None and names != numbered_names(len(names)) and looks_like_a_record(names, below):
        raise refused_header(what)
    if not all(names) and any(top <= at + 1 <= bottom for top, _, bottom, _ in merged):
        empty = ", ".join(letters(left + j) for j, name in zip(columns, names, strict=True) if not name)
        raise DataError(
            f"{what}: the names of the columns stand in merged cells, so that column {empty} has none of its own. "
            "Write one name for each column into one row."
        )
    names = named_blanks(names) if name_blank else names
    checked_names(names, lambda number: f"column {letters(left + columns[number - 1])} (in row {at + 1})")
    above = at != rows[0]
    note = f"{what}: the names of the columns are taken from row {at + 1}; what stands above is not read."
    return Place(at + 1, tuple(columns), left - 1, tuple(names), (note,) if above else ())


def _used(cells: pl.DataFrame, row: int) -> list[int]:
    """The columns with a cell that is filled in this row or below."""
    return [j for j, column in enumerate(cells[row:].iter_columns()) if column.null_count() < column.len()]


def _row_of_names(cells: pl.DataFrame, rows: Sequence[int], merged: Sequence[Range]) -> int:
    """The first row, or where it is not full the first full one below that surely holds names."""
    for i, at in enumerate(rows[:_MOST_ABOVE]):
        columns = _used(cells, at)
        names = [cells.row(at)[j] for j in columns]
        if any(name is None for name in names):
            continue
        titles = all(cells.width - cells[row].null_count().sum_horizontal().item() == 1 for row in rows[:i])
        if i == 0 or (titles and at > rows[i - 1] + 1) or _covered(rows[:i], merged):
            return at
        if holds_names(names, cells[at + 1 :].select(cells.columns[j] for j in columns)):
            return at
        break
    return rows[0]


def _covered(rows: Sequence[int], merged: Sequence[Range]) -> bool:
    """Tell whether all rows hold merged cells, as titles do."""
    return all(any(top <= row + 1 <= bottom for top, _, bottom, _ in merged) for row in rows)


def _refuse_merged(merged: Sequence[Range], place: Place, left: int, what: str) -> None:
    """Refuse merged cells among the records, of which only the first has a value."""
    found = set()
    for _, start, bottom, end in merged:
        if bottom > place.first:
            found |= {left + j for j in place.columns if start <= left + j <= end}
    if found:
        columns = ", ".join(letters(j) for j in sorted(found)[:10])
        raise DataError(
            f"{what} has merged cells among the records, in column {columns}: only the first of them has a value. "
            "Unmerge them and write the value into each cell."
        )
