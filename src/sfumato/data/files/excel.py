"""Excel workbooks: one table on one sheet."""

from __future__ import annotations

import datetime
import io
import logging
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.files.atomic import replacing
from sfumato.data.files.infer import MISSING_MARKS, infer, marked, mixed
from sfumato.data.files.place import Place, find_table
from sfumato.data.files.prepare import EXACT, plain
from sfumato.data.files.sheet import extent_of, refuse_far_cells
from sfumato.data.files.table import Table, about, checked, listed, opening, peek, unheld
from sfumato.errors import FileError, MissingExtra

__all__ = ["read_xlsx", "write_xlsx"]

_MOST_BYTES = 4 << 30
_MOST_ROWS = 1_048_575  # without the header
_MOST_COLUMNS = 16_384
_MOST_CHARACTERS = 32_767
_FIRST_DATE = datetime.date(1900, 3, 1)
"""Excel's calendar begins in 1900 and has a 29 February in that year, which never was."""
_BEGINNING = datetime.datetime(1980, 1, 1)
"""When a workbook says that it was written: the same content is the same bytes at any hour."""
_SHOWN: dict[type[pl.DataType], str] = {pl.Date: "yyyy-mm-dd", pl.Time: "hh:mm:ss.000"}
_DAY_ZERO = datetime.date(1899, 12, 31)
"""The day that a time of day without a date is read with."""


def read_xlsx(
    path: Path,
    sheet: str | int | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    name_blank: bool = False,
) -> Table:
    """Read one sheet of an Excel workbook.

    The table may stand anywhere on the sheet. Its first row holds the names of the columns; what stands above it in
    rows that are not filled, such as a title, is left out and told in the notes.

    Excel has one type for all numbers: a column of whole numbers becomes Int64. Date-times that are all at midnight
    become dates. Empty text is missing, and so are `sfumato.data.files.infer.MISSING_MARKS` among numbers, dates and
    truth values. Of a formula, the stored result is read; an error value is missing.

    Parameters
    ----------
    path
        The file.
    sheet
        Name of the sheet, or its number from 0; the first where it is not given.
    header
        Whether the first row that is not empty holds the names of the columns; without names they are `c1`, `c2` and
        so on. Where it is not given, a row of names is looked for, and one that looks like a record is refused.
    skip_rows
        How many rows of the sheet, from its first, stand above the table.
    name_blank
        Whether columns whose name is blank, `*` or like `^x$` are called by their place, `c8` for instance; else they
        are refused.

    Raises
    ------
    FileError
        A file that is missing, damaged, encrypted or no workbook; a sheet that is not there, or that is empty; more
        than 4 GiB unpacked; cells far away from all others.
    DataError
        A first row that looks like a record; column names that are empty or duplicated; merged cells among the
        records; no rows; infinite values.
    MissingExtra
        Without the optional package `fastexcel`.
    """
    _refuse_odd(path)
    try:
        import fastexcel
    except ImportError:
        raise MissingExtra("Reading .xlsx files", "files") from None
    with opening(path, "an Excel workbook"), _quiet():
        workbook = fastexcel.read_excel(path)
        name, notes = _sheet(workbook.sheet_names, sheet, path)
        extent = extent_of(path, name)
        refuse_far_cells(extent, path, name)
        if extent.box is None:
            raise FileError(f"Sheet {name!r} of {str(path)!r} is empty.")
        texts = workbook.load_sheet(name, header_row=None, skip_rows=0, dtypes="string").to_polars()
        place = find_table(texts, extent, header, skip_rows, f"Sheet {name!r} of {path.name}", name_blank)
        frame, told = _typed(workbook, name, place, texts)
    return Table(frame, Codebook().only(frame.columns), ".xlsx", notes + place.notes + told)


def _typed(workbook: Any, sheet: str, place: Place, texts: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Give the table's columns with their types, and what is to be said of them."""
    loaded = workbook.load_sheet(
        sheet,
        header_row=None,
        skip_rows=place.first,
        use_columns=[place.left + j for j in place.columns],
        column_names=list(map(str, place.columns)),  # A name such as "^a$" would be taken for a pattern.
        schema_sample_rows=None,
    ).to_polars()
    columns: list[pl.Series] = []
    notes: tuple[str, ...] = ()
    for j, name, column in zip(place.columns, place.names, loaded.iter_columns(), strict=True):
        text = texts.to_series(j)[place.first :].str.strip_chars()
        typed, said = _narrowed(column), marked(name, text.filter(column.is_null()))
        if column.dtype == pl.String:
            holds_numbers = partial(_holds_numbers, workbook, sheet, place.first, place.left + j)
            typed, said = _unmarked(typed.alias(name), text.alias(name), holds_numbers)
        columns.append(typed.alias(name))
        notes += said
    return checked(pl.DataFrame(columns)), notes


def _unmarked(
    column: pl.Series, text: pl.Series, holds_numbers: Callable[[], bool]
) -> tuple[pl.Series, tuple[str, ...]]:
    """Give a column of texts as numbers, dates or truth values where its only texts are marks of missing values."""
    if text.is_in(MISSING_MARKS).any():
        typed, said = infer(text)
        if typed.dtype != pl.String and holds_numbers():
            return _narrowed(typed.alias("")), said
    return column, mixed(column)


def _holds_numbers(workbook: Any, sheet: str, first: int, column: int) -> bool:
    """Tell whether cells of a column are of several types, as opposed to texts alone."""
    import fastexcel

    try:
        workbook.load_sheet(
            sheet,
            header_row=None,
            skip_rows=first,
            use_columns=[column],
            schema_sample_rows=None,
            dtype_coercion="strict",
        )
    except fastexcel.UnsupportedColumnTypeCombinationError:
        return True
    return False


def _refuse_odd(path: Path) -> None:
    head = peek(path)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise FileError(f"{str(path)!r} is an old .xls file or protected by a password. Save it as an open .xlsx.")
    with opening(path, "an Excel workbook"), zipfile.ZipFile(path) as archive:
        if "[Content_Types].xml" not in archive.namelist():
            raise ValueError
        if sum(part.file_size for part in archive.infolist()) > _MOST_BYTES:
            raise FileError(f"{str(path)!r} is larger than {_MOST_BYTES >> 30} GiB unpacked. Save it as .csv instead.")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the library from logging that a column is empty; nobody could act on it."""
    logger = logging.getLogger("fastexcel.types.dtype")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _sheet(names: list[str], wanted: str | int | None, path: Path) -> tuple[str, tuple[str, ...]]:
    if not names:
        raise FileError(f"{str(path)!r} has no sheet.")
    if wanted is None:
        others = ", ".join(map(repr, names[1:]))
        note = f"{path.name}: sheet {names[0]!r} is read; other sheets: {others}."
        return names[0], (note,) if others else ()
    if isinstance(wanted, int) and 0 <= wanted < len(names):
        return names[wanted], ()
    if wanted in names:
        return str(wanted), ()
    if isinstance(wanted, str) and wanted.isdigit():  # As a command line gives a number.
        return _sheet(names, int(wanted), path)
    raise FileError(f"{str(path)!r} has no sheet {wanted!r}. Sheets: {', '.join(map(repr, names))}.")


def _narrowed(column: pl.Series) -> pl.Series:
    """Give a column the type that its cells have in common."""
    present = column.drop_nulls()
    if column.dtype == pl.String:
        return column.replace("", None)
    if column.dtype.is_float() and len(present) and present.is_finite().all():
        whole = (present == present.round()) & (present.abs() <= EXACT)
        return column.cast(pl.Int64) if whole.all() and not _negative_zero(present) else column
    if isinstance(column.dtype, pl.Datetime) and len(present):
        if (present.dt.date() == _DAY_ZERO).all():
            return column.dt.time()
        if (present.dt.time() == datetime.time()).all():
            return column.dt.date()
        return column.dt.cast_time_unit("us")
    return column


def _negative_zero(present: pl.Series) -> bool:
    """Whole numbers have no -0, so a column with one stays as it is."""
    return bool(((present == 0) & (1 / present < 0)).any())


class _Exact(float):
    """A number that is written with all its digits; the library would write 16 of up to 17."""

    def __format__(self, spec: str) -> str:
        return repr(float(self))


def write_xlsx(table: Table, path: str | Path) -> tuple[str, ...]:
    """Write a workbook with one sheet `data`.

    Every text is written as text, never as a formula or a link, whatever it begins with. Dates before March 1900,
    which Excel does not know, are written as ISO 8601 text.

    Returns
    -------
    tuple of str
        What the file does not hold.

    Raises
    ------
    FileError
        A path that cannot be written to; more rows, columns or characters in a cell than Excel takes; whole numbers
        beyond 2^53; durations; text with zero characters.
    DataError
        Infinite values.
    MissingExtra
        Without the optional package `xlsxwriter`.
    """
    try:
        import xlsxwriter
    except ImportError:
        raise MissingExtra("Writing .xlsx files", "files") from None
    frame, notes = plain(table.frame, ".xlsx", booleans=True)
    _refuse_oversize(frame)
    frame, early = _early_as_text(frame)
    with replacing(path) as temporary:
        # In memory: otherwise the library spills the cells into files elsewhere, and does not close one that failed.
        buffer = io.BytesIO()
        workbook = xlsxwriter.Workbook(buffer, {"in_memory": True})
        workbook.set_properties({"created": _BEGINNING})
        _fill(workbook, frame)
        workbook.close()
        temporary.write_bytes(buffer.getbuffer())
    return notes + early + _lost(frame) + unheld(table.codebook.only(frame.columns), (), ".xlsx")


def _refuse_oversize(frame: pl.DataFrame) -> None:
    if frame.height > _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise FileError(
            f"Excel takes {_MOST_ROWS:,} rows and {_MOST_COLUMNS:,} columns at most. Write .csv or .parquet."
        )
    # Excel counts UTF-16 units: a character beyond the basic plane counts twice.
    units = pl.col(pl.String).str.len_chars() + pl.col(pl.String).str.count_matches(r"[\x{10000}-\x{10FFFF}]")
    longest = frame.select(units.max())
    long = [name for name in longest.columns if (longest[name][0] or 0) > _MOST_CHARACTERS]
    if long:
        raise FileError(f"Excel takes {_MOST_CHARACTERS:,} characters in a cell: {listed(long)}. Write .csv instead.")


def _early_as_text(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    dated = frame.select(pl.col(pl.Date, pl.Datetime)).columns
    early = [name for name in dated if (frame[name].dt.date() < _FIRST_DATE).any()]
    if not early:
        return frame, ()
    iso = [pl.col(n).dt.to_string("iso:strict" if frame[n].dtype == pl.Datetime else "iso") for n in early]
    return frame.with_columns(iso), about("Excel knows no dates before March 1900, so they are written as text", early)


def _lost(frame: pl.DataFrame) -> tuple[str, ...]:
    if frame.height and all(cell is None or cell == "" for cell in frame.row(-1)):
        return ("Excel keeps no rows without any value at the end of a table.",)
    return ()


def _fill(workbook: Any, frame: pl.DataFrame) -> None:
    sheet = workbook.add_worksheet("data")
    for j, column in enumerate(frame.iter_columns()):
        sheet.write_string(0, j, column.name)
        write = _writer(workbook, sheet, column.dtype)
        for i, cell in enumerate(column, start=1):
            if cell is not None and cell != "":
                write(i, j, cell)


def _writer(workbook: Any, sheet: Any, dtype: pl.DataType) -> Callable[[int, int, Any], Any]:
    """Give the function that writes one cell of this type."""
    if dtype == pl.String:
        return lambda i, j, cell: sheet.write_string(i, j, cell)
    if dtype == pl.Boolean:
        return lambda i, j, cell: sheet.write_boolean(i, j, cell)
    if dtype.is_float():
        return lambda i, j, cell: sheet.write_number(i, j, _Exact(cell))
    if dtype.is_integer():
        return lambda i, j, cell: sheet.write_number(i, j, _Exact(cell))
    shown = _SHOWN.get(type(dtype), "yyyy-mm-dd hh:mm:ss.000")
    style = workbook.add_format({"num_format": shown})
    return lambda i, j, cell: sheet.write_datetime(i, j, cell, style)
