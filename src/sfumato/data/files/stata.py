"""Stata data files: .dta."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.extended import LETTERS
from sfumato.data.files import readstat
from sfumato.data.files.atomic import replacing
from sfumato.data.files.extended import extended_missing, letters_of, with_codes
from sfumato.data.files.prepare import plain
from sfumato.data.files.readstat import STATA, Moment
from sfumato.data.files.table import Table, about, checked, listed, peek, unheld
from sfumato.errors import FileError

__all__ = ["NAMES", "read_dta", "write_dta"]

_VERSION = 14
"""Stata 14 and later read it; it is the first in UTF-8."""
_LARGEST = 2.0**1023 * (1 - 2**-53)
"""The largest double that Stata takes for a number; from 2^1023 on, doubles stand for missing."""
_LARGEST_WHOLE, _SMALLEST_WHOLE = 2_147_483_620, -2_147_483_647
_MOST_LABEL, _MOST_VALUE_LABEL, _MOST_NAME = 80, 32_000, 32
_WHOLE = r"%-?0?\d+\.0f"
_DEFAULT = {pl.Date: "%td", pl.Datetime: "%tc", pl.Time: "%tcHH:MM:SS"}
NAMES = readstat.Names(
    first=r"[^\W\d]",
    rest=r"\w",
    most=_MOST_NAME,
    reserved=r"_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|str\d+|strL|using|with",
    cased=True,
)


def read_dta(path: Path, encoding: str | None = None) -> Table:
    """Read a Stata data file, extended missing values as user-missing codes.

    Stata's `.a` to `.z` become the doubles that Stata itself has for them (2^1023·(1 + n/4096), n = 1 for `.a`), each
    named as a missing code in the codebook, so a column with some is Float64. Whole-number storage types become Int64.
    Dates and times become such, to the millisecond, unless extended missing values stand among them. Empty text is
    missing, as in Stata.

    Parameters
    ----------
    path
        The file.
    encoding
        Of its text, where the file does not tell it rightly (files before Stata 14).

    Raises
    ------
    FileError
        A file that is missing, damaged or no Stata file.
    DataError
        No rows; infinite values; empty or duplicated column names.
    MissingExtra
        Without the optional package `pyreadstat`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> book = Codebook({"ill": Variable(label="Ill?", labels={0: "no", 1: "yes"})})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_dta(Table(pl.DataFrame({"ill": [0, 1, None]}), book, ".dta"), Path(folder) / "a.dta")
    ...     table = read_dta(Path(folder) / "a.dta")
    >>> table.frame["ill"].to_list(), table.codebook["ill"].labels
    ([0, 1, None], {0: 'no', 1: 'yes'})
    """
    pyreadstat = readstat.library()
    head = peek(path)
    if not (head.startswith(b"<stata_dta>") or (102 <= head[0] <= 115 and head[1:2] in (b"\x01", b"\x02"))):
        raise FileError(f"{str(path)!r} is no Stata data file, whatever its name says.")
    data, meta = readstat.load(pyreadstat.read_dta, path, "a Stata file", user_missing=True, encoding=encoding)
    columns, variables, numeric = [], {}, []
    for name, values in data.items():
        column, variable = _column(name, values, meta)
        columns.append(column)
        variables[name] = variable
        numeric += [name] if _moment(variable.format) and not column.dtype.is_temporal() else []
    notes: tuple[str, ...] = (f"{path.name}: its notes are not taken over.",) if meta.notes else ()
    notes += about("Dates with extended missing values or odd times are kept as Stata's numbers", numeric)
    return Table(checked(pl.DataFrame(columns)), Codebook(variables), ".dta", notes, meta.file_label or None)


def _column(name: str, values: list[Any], meta: Any) -> tuple[pl.Series, Variable]:
    label = meta.column_names_to_labels[name] or None
    stored = meta.readstat_variable_types[name]
    if stored == "string":
        return readstat.texts(name, values), Variable(label=label)
    form = meta.original_variable_types[name]
    labels, missing = extended_missing(meta.variable_value_labels.get(name, {}), meta.missing_user_values.get(name, ()))
    known: dict[str, Any] = {"label": label, "labels": readstat.coded(labels), "missing": missing, "format": form}
    column = readstat.numbers(name, with_codes(values) if name in meta.missing_user_values else values)
    if name in meta.missing_user_values:
        return column, Variable(**known)
    moment = _moment(form)
    dated = STATA.decode(column, moment) if moment and not labels and not missing else None
    if dated is not None:
        return dated, Variable(**known)
    # Stata has no wider whole numbers, so a double shown without decimals is how we write them.
    if stored.startswith("int") or (re.fullmatch(_WHOLE, form or "") and readstat.whole(column)):
        column = column.cast(pl.Int64)
    return column, Variable(**known)


def _moment(form: str | None) -> Moment | None:
    """Give what a display format shows: days, times of day, or milliseconds from 1960 on."""
    if re.match(r"%-?(td|d)", form or ""):
        return "date"
    if form in ("%tcHH:MM:SS", "%tcHH:MM"):
        return "time"
    return "datetime" if re.match(r"%-?t[cC]", form or "") else None


def write_dta(table: Table, path: str | Path) -> tuple[str, ...]:
    """Write a Stata data file (version 14): values, extended missing values, labels and formats.

    Returns
    -------
    tuple of str
        What the file does not hold, and what was changed: names, truth values, times finer than milliseconds, missing
        codes other than `.a` to `.z`.

    Raises
    ------
    FileError
        A path that cannot be written to; what Stata would lose: whole numbers beyond 2^53, doubles beyond 9e307, zero
        characters, durations, two columns with one name after shortening.
    DataError
        Infinite values.
    MissingExtra
        Without the optional package `pyreadstat`.
    """
    pyreadstat = readstat.library()
    frame, notes = plain(table.frame, ".dta")
    names, changed = readstat.renamed(frame.columns, NAMES, ".dta")
    book = table.codebook.only(frame.columns)
    tags = _tags(frame, book)
    _refuse_large(frame, tags)
    labels, cut = readstat.shortened({n: v.label for n, v in book.items()}, _MOST_LABEL, False, ".dta")
    values, lost = _value_labels(frame, book, tags, names)
    formats, foreign = _formats(frame, book)
    title, told = readstat.file_label(table.label, _MOST_LABEL, False, ".dta")
    sent = pl.DataFrame([_encoded(c, tags.get(c.name, {})) for c in frame.iter_columns()]).rename(names)
    with replacing(path) as temporary:
        pyreadstat.write_dta(
            sent,
            temporary,
            file_label=title,
            version=_VERSION,
            column_labels={names[n]: v for n, v in labels.items()},
            variable_value_labels={names[n]: v for n, v in values.items()},
            missing_user_values={names[n]: sorted(v.values()) for n, v in tags.items()},
            variable_format={names[n]: v for n, v in formats.items()},
        )
        readstat.verify(pyreadstat.read_dta, temporary, sent, padded=False, user_missing=True)
        readstat.timeless(temporary)
    held = ("label", "labels", "missing", "format")
    return notes + told + changed + cut + lost + foreign + _unmarked(book, tags) + unheld(book, held, ".dta")


def _tags(frame: pl.DataFrame, book: Codebook) -> dict[str, dict[float, str]]:
    """Give each column's extended missing values: the letter of each sentinel that its codebook names."""
    found = {}
    for name, variable in book.items():
        if not frame.schema[name].is_float():
            continue
        letters = {code: letter for code, letter in letters_of(variable).items() if letter != "_"}
        if letters:
            found[name] = letters
    return found


def _refuse_large(frame: pl.DataFrame, tags: dict[str, dict[float, str]]) -> None:
    large = []
    for column in frame.select(pl.col(pl.Float64)).iter_columns():
        known = column.is_in(list(tags.get(column.name, {})))
        if (~known & (column.abs() > _LARGEST)).any():
            large.append(column.name)
    if large:
        raise FileError(f"Stata takes doubles beyond 9e307 for missing values: {listed(large)}. Replace or scale them.")


def _encoded(column: pl.Series, letters: dict[float, str]) -> pl.Series:
    """Give a column as the library takes it: extended missing values are letters among Python numbers."""
    if column.dtype == pl.String:
        return column.fill_null("")
    if column.dtype.is_temporal():
        column = STATA.encode(column)
    if letters:
        cells = [letters.get(cell, cell) for cell in column.to_list()]
        return pl.Series(column.name, cells, dtype=pl.Object)
    if column.dtype == pl.Int64:
        return column.cast(pl.Int32 if _narrow(column) else pl.Float64)
    return column


def _narrow(column: pl.Series) -> bool:
    return bool(column.is_between(_SMALLEST_WHOLE, _LARGEST_WHOLE).all())


def _value_labels(
    frame: pl.DataFrame, book: Codebook, tags: dict[str, dict[float, str]], names: dict[str, str]
) -> tuple[dict[str, dict[Any, str]], tuple[str, ...]]:
    """Give the value labels; Stata has them for whole numbers and extended missing values only."""
    found, lost = {}, []
    for name, variable in book.items():
        letters = tags.get(name, {})
        labels, some_lost = readstat.file_labels(variable, frame.schema[name], STATA)
        labels = {k: v for k, v in labels.items() if k not in LETTERS or (k in letters and v != f".{letters[k]}")}
        kept = {letters.get(k, k): v for k, v in labels.items() if k in letters or _labelled(k)}
        if some_lost or len(kept) < len(labels):
            lost.append(name)
        if kept:
            found[name] = {k: v.encode()[:_MOST_VALUE_LABEL].decode(errors="ignore") for k, v in kept.items()}
    # The library names a set of labels after its column and a number, within the length of a name.
    room = _MOST_NAME - len(str(len(found)))
    long = [name for name in found if len(names[name]) > room]
    notes: tuple[str, ...] = about("Stata labels whole numbers only, so value labels are not written", lost)
    notes += about("Names too long to carry value labels, which are not written", long)
    return {name: labels for name, labels in found.items() if name not in long}, notes


def _labelled(key: object) -> bool:
    return isinstance(key, int) and _SMALLEST_WHOLE <= key <= _LARGEST_WHOLE


def _formats(frame: pl.DataFrame, book: Codebook) -> tuple[dict[str, str], tuple[str, ...]]:
    """Give the display formats of the codebook that are Stata's and fit, and one where the type hangs on it."""
    found, foreign = {}, []
    for column in frame.iter_columns():
        form = book[column.name].format
        wide = column.dtype == pl.Int64 and not _narrow(column)
        if form and _fits(form, column.dtype, wide):
            found[column.name] = form
            continue
        foreign += [column.name] if form else []
        if wide or column.dtype.is_temporal():
            found[column.name] = _DEFAULT.get(type(column.dtype), "%18.0f")
    return found, about("Display formats that do not fit are replaced", foreign)


def _fits(form: str, dtype: pl.DataType, wide: bool) -> bool:
    if dtype.is_temporal():
        return _moment(form) == {pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time"}[type(dtype)]
    if wide:
        return bool(re.fullmatch(_WHOLE, form))
    return dtype != pl.String and bool(re.fullmatch(r"%-?(0?\d+\.\d+[gfe]c?|t\w[!-~]{0,40}|d[!-~]{0,40})", form))


def _unmarked(book: Codebook, tags: dict[str, dict[float, str]]) -> tuple[str, ...]:
    other = [n for n, v in book.items() if any(m.code is None or m.code not in tags.get(n, {}) for m in v.missing)]
    note = "Stata marks no missing codes but .a to .z; others stay as plain values"
    return about(note, other)
