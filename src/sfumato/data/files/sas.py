"""SAS data: reading .sas7bdat and transport files (.xpt), writing transport files (version 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.extended import LETTERS
from sfumato.data.files import readstat
from sfumato.data.files.atomic import replacing
from sfumato.data.files.extended import extended_missing, letters_of, with_codes
from sfumato.data.files.prepare import padded, plain
from sfumato.data.files.readstat import SAS, Moment
from sfumato.data.files.table import Table, about, checked, listed, opening, peek, unheld
from sfumato.errors import FileError

__all__ = ["NAMES", "read_sas7bdat", "read_xpt", "write_xpt"]

_MAGIC_7BDAT = bytes.fromhex("00" * 12 + "c2ea8160b31411cfbd92080009c7318c181f1011")
_MAGIC_XPT = b"HEADER RECORD*******LIB"
_OBSERVATIONS = re.compile(rb"HEADER RECORD\*{7}OBS(?:V8)? +HEADER RECORD!{7}")
_MEMBER = re.compile(rb"HEADER RECORD\*{7}MEMB(?:ER|V8) +HEADER RECORD!{7}")
_RECORD = 80
_MOMENTS: dict[Moment, str] = {
    "date": r"(DATE|DDMMYY[BCDNPS]?|MMDDYY[BCDNPS]?|YYMMDD[BCDNPS]?|WEEKDAT[EX]|(E8601|IS8601|B8601)DA)\d*\.?\d*",
    "datetime": r"(DATETIME|DATEAMPM|MDYAMPM|(E8601|IS8601|B8601)DT)\d*\.?\d*",
    "time": r"(TIME|TOD|HHMM|TIMEAMPM|(E8601|IS8601|B8601)TM)\d*\.?\d*",
}
"""How the names of the formats begin that show dates and times."""
_DEFAULT = {pl.Date: "DATE9.", pl.Datetime: "DATETIME22.3", pl.Time: "TIME12.3"}
_SMALLEST, _LARGEST = 2.0**-260, 2.0**249 * (1 - 2.0**-53)
"""Range of the doubles in a transport file, which are those of IBM's mainframes (2^-260 to 2^252); the library that
writes them reaches 2^249."""
_MOST_TITLE, _MOST_LABEL, _MOST_TEXT = 40, 256, 32_767
NAMES = readstat.Names(first="[A-Za-z_]", rest="[A-Za-z0-9_]", most=32, reserved="_n_|_error_|_all_")


def read_sas7bdat(path: Path, encoding: str | None = None) -> Table:
    """Read a SAS data set, special missing values as user-missing codes.

    SAS holds all numbers as doubles: a column of whole numbers becomes Int64 unless its format shows decimals. The
    special missing values `.A` to `.Z` and `._` become doubles beyond all numbers (see `sfumato.data.files.extended`),
    each named as a missing code in the codebook. Dates and times become such, to the millisecond. Value labels stand in
    SAS's catalogues, which are not read. A release of it is written as a transport file.

    Parameters
    ----------
    path
        The file.
    encoding
        Of its text, where the file does not tell it rightly.

    Raises
    ------
    FileError
        A file that is missing, damaged or no SAS data set.
    DataError
        No rows; infinite values; empty or duplicated column names.
    MissingExtra
        Without the optional package `pyreadstat`.
    """
    pyreadstat = readstat.library()
    if not peek(path).startswith(_MAGIC_7BDAT):
        raise FileError(f"{str(path)!r} is no SAS data set, whatever its name says.")
    data, meta = readstat.load(pyreadstat.read_sas7bdat, path, "a SAS data set", user_missing=True, encoding=encoding)
    return _table(data, meta)


def read_xpt(path: Path, encoding: str | None = None) -> Table:
    """Read a SAS transport file of version 5 or 8 with one data set. Types and codes are as in `read_sas7bdat`.

    Parameters
    ----------
    path
        The file.
    encoding
        Of its text, UTF-8 where it is not given; the file does not tell it.

    Raises
    ------
    FileError
        A file that is missing, damaged, no transport file, or one of several data sets.
    DataError
        No rows; infinite values; empty or duplicated column names.
    MissingExtra
        Without the optional package `pyreadstat`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_xpt(Table(pl.DataFrame({"age": [31, None]}), Codebook(), ".xpt"), Path(folder) / "a.xpt")
    ...     read_xpt(Path(folder) / "a.xpt").frame["age"].to_list()
    [31, None]
    """
    pyreadstat = readstat.library()
    if not peek(path).startswith(_MAGIC_XPT):
        raise FileError(f"{str(path)!r} is no SAS transport file, whatever its name says.")
    data, meta = readstat.load(pyreadstat.read_xport, path, "a SAS transport file", encoding=encoding)
    with opening(path, "a SAS transport file"):
        _refuse_several(path)
        _restore_special(path, data, meta)
    return _table(data, meta)


def _table(data: Mapping[str, list[Any]], meta: Any) -> Table:
    columns, variables, numeric = [], {}, []
    for name, values in data.items():
        column, variable = _column(name, values, meta)
        columns.append(column)
        variables[name] = variable
        numeric += [name] if _moment(variable.format) and not column.dtype.is_temporal() else []
    notes = about("Dates with special missing values or odd times are kept as SAS's numbers", numeric)
    return Table(checked(pl.DataFrame(columns)), Codebook(variables), ".xpt", notes, meta.file_label or None)


def _column(name: str, values: list[Any], meta: Any) -> tuple[pl.Series, Variable]:
    label = meta.column_names_to_labels[name] or None
    if meta.readstat_variable_types[name] == "string":
        return readstat.texts(name, values), Variable(label=label)
    form = meta.original_variable_types[name] or None
    present = meta.missing_user_values.get(name, ())
    labels, missing = extended_missing(meta.variable_value_labels.get(name, {}), present, upper=True)
    known: dict[str, Any] = {"label": label, "labels": readstat.coded(labels), "missing": missing, "format": form}
    column = readstat.numbers(name, with_codes(values) if present else values)
    moment = _moment(form)
    if moment:
        dated = None if missing else SAS.decode(column, moment)
        return (column if dated is None else dated), Variable(**known)
    if not missing and not _decimals(form) and readstat.whole(column):
        column = column.cast(pl.Int64)
    return column, Variable(**known)


def _moment(form: str | None) -> Moment | None:
    return next((moment for moment, pattern in _MOMENTS.items() if re.fullmatch(pattern, form or "")), None)


def _decimals(form: str | None) -> int:
    match = re.search(r"\.(\d+)$", form or "")
    return int(match.group(1)) if match else 0


def _refuse_several(path: Path) -> None:
    data = path.read_bytes()
    if sum(match.start() % _RECORD == 0 for match in _MEMBER.finditer(data)) > 1:
        raise FileError(f"{str(path)!r} holds several data sets. Write the one that is wanted into a file of its own.")


def _cells(path: Path, meta: Any, rows: int, mode: Any) -> tuple[np.memmap[Any, Any], dict[str, int]] | None:
    """Give a transport file's records as bytes, shape (n, width), and where each column begins in a record."""
    header = _OBSERVATIONS.search(path.read_bytes())
    widths = [meta.variable_storage_width[name] for name in meta.column_names]
    if header is None or header.start() + _RECORD + rows * sum(widths) > path.stat().st_size:
        return None
    starts = dict(zip(meta.column_names, np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
    shape = (rows, sum(widths))
    return np.memmap(path, np.uint8, mode, offset=header.start() + _RECORD, shape=shape), starts


def _restore_special(path: Path, data: dict[str, list[Any]], meta: Any) -> None:
    """Put the letters of special missing values where the library gives a plain missing value.

    In a transport file a missing value is a dot, or the letter, followed by zero bytes.
    """
    rows = len(next(iter(data.values()), []))
    found = _cells(path, meta, rows, "r") if rows else None
    if found is None:
        return
    cells, starts = found
    letters = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_", np.uint8)
    for name, values in data.items():
        if meta.readstat_variable_types[name] == "string":
            continue
        first = cells[:, starts[name]]
        rest = cells[:, starts[name] + 1 : starts[name] + meta.variable_storage_width[name]]
        special = np.flatnonzero(np.isin(first, letters) & ~rest.any(axis=1))
        for i in special.tolist():
            if values[i] is None:
                values[i] = chr(first[i])
                meta.missing_user_values.setdefault(name, set()).add(values[i])


def write_xpt(table: Table, path: str | Path) -> tuple[str, ...]:
    """Write a SAS transport file of version 8: values, special missing values, variable labels and formats.

    Returns
    -------
    tuple of str
        What the file does not hold, and what was changed: names, truth values, times finer than milliseconds, blanks
        at the end of text, value labels, missing codes other than `.A` to `.Z` and `._`.

    Raises
    ------
    FileError
        A path that cannot be written to; what SAS would lose: whole numbers beyond 2^53, doubles outside 5e-79 to
        9e74, long text, zero characters, durations, two columns that differ in case only.
    DataError
        Infinite values.
    MissingExtra
        Without the optional package `pyreadstat`.
    """
    pyreadstat = readstat.library()
    frame, notes = plain(table.frame, ".xpt")
    names, changed = readstat.renamed(frame.columns, NAMES, ".xpt")
    book = table.codebook.only(frame.columns)
    special = {n: letters_of(book[n]) for n, t in frame.schema.items() if t.is_float() and letters_of(book[n])}
    _refuse_unholdable(frame, special)
    labels, cut = readstat.shortened({n: v.label for n, v in book.items()}, _MOST_LABEL, True, ".xpt")
    formats, foreign = _formats(frame, book)
    title, told = readstat.file_label(table.label, _MOST_TITLE, True, ".xpt")
    sent = pl.DataFrame([_encoded(c, special.get(c.name, {})) for c in frame.iter_columns()]).rename(names)
    with replacing(path) as temporary:
        pyreadstat.write_xport(
            sent,
            temporary,
            file_label=title,
            column_labels={names[n]: v for n, v in labels.items()},
            variable_format={names[n]: v for n, v in formats.items()},
        )
        readstat.verify(pyreadstat.read_xport, temporary, sent, padded=True)
        readstat.timeless(temporary)
        if special:
            _mark_special(temporary, pyreadstat, frame, special, names)
    return notes + told + changed + cut + foreign + padded(frame, ".xpt") + _unmarked(book, special)


def _refuse_unholdable(frame: pl.DataFrame, special: dict[str, dict[float, str]]) -> None:
    outside = []
    for column in frame.select(pl.col(pl.Float64)).iter_columns():
        size = column.abs()
        inside = (size == 0) | size.is_between(_SMALLEST, _LARGEST) | column.is_in(list(special.get(column.name, {})))
        if not inside.all():
            outside.append(column.name)
    if outside:
        raise FileError(f"SAS transport files hold doubles from 5e-79 to 9e74 only: {listed(outside)}. Scale them.")
    long = [c.name for c in frame.select(pl.col(pl.String)).iter_columns() if (c.str.len_bytes() > _MOST_TEXT).any()]
    if long:
        raise FileError(f"SAS holds {_MOST_TEXT:,} bytes of text in a cell: {listed(long)}. Shorten the text.")


def _encoded(column: pl.Series, letters: dict[float, str]) -> pl.Series:
    if column.dtype == pl.String:
        return column.fill_null("")
    if column.dtype.is_temporal():
        return SAS.encode(column).cast(pl.Float64)
    column = column.cast(pl.Float64)
    return column.set(column.is_in(list(letters)), None) if letters else column


def _mark_special(
    path: Path, pyreadstat: Any, frame: pl.DataFrame, special: dict[str, dict[float, str]], names: dict[str, str]
) -> None:
    """Write the letters of special missing values, which the library cannot, over its plain missing values."""
    _, meta = pyreadstat.read_xport(path, metadataonly=True, output_format="dict")
    found = _cells(path, meta, frame.height, "r+")
    if found is None:
        raise FileError("Special missing values could not be written.")
    cells, starts = found
    for name, letters in special.items():
        for code, letter in letters.items():
            rows = (frame[name] == code).fill_null(False).to_numpy()
            cells[rows, starts[names[name]]] = ord(letter.upper())
    cells.flush()


def _formats(frame: pl.DataFrame, book: Codebook) -> tuple[dict[str, str], tuple[str, ...]]:
    found, foreign = {}, []
    for name, dtype in frame.schema.items():
        form = book[name].format
        if form and _fits(form, dtype):
            found[name] = form if "." in form else f"{form}."
            continue
        foreign += [name] if form else []
        if dtype.is_temporal():
            found[name] = _DEFAULT[type(dtype)]
    return found, about("Display formats that do not fit are replaced", foreign)


def _fits(form: str, dtype: pl.DataType) -> bool:
    if dtype == pl.String or not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,31}(\.\d*)?", form):
        return False
    if dtype.is_temporal():
        return _moment(form) == {pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time"}[type(dtype)]
    return dtype.is_float() or not _decimals(form)


def _unmarked(book: Codebook, special: dict[str, dict[float, str]]) -> tuple[str, ...]:
    """Say what is lost of labels and missing codes."""
    other, named = [], []
    for name, variable in book.items():
        letters = special.get(name, {})
        other += [name] if any(m.code is None or m.code not in letters for m in variable.missing) else []
        shown = {f".{letter.upper()}" for letter in LETTERS.values()}
        named += [name] if any(m.code in letters and m.label not in shown for m in variable.missing) else []
    note = "SAS marks no missing codes but .A to .Z and ._; others stay as plain values"
    notes: tuple[str, ...] = about(note, other)
    notes += about(".xpt files hold no names of missing codes", named)
    return notes + unheld(book, ("label", "missing", "format"), ".xpt")
