"""SPSS data files: .sav, and .zsav for reading."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Missing, Scalar, Variable
from sfumato.data.files import readstat
from sfumato.data.files.atomic import replacing
from sfumato.data.files.prepare import padded, plain
from sfumato.data.files.readstat import SPSS, Moment
from sfumato.data.files.table import Table, about, checked, listed, peek, unheld
from sfumato.data.roles import Kind
from sfumato.errors import FileError

__all__ = ["NAMES", "read_sav", "write_sav"]

_LOWEST = math.nextafter(-sys.float_info.max, 0)
_HIGHEST = sys.float_info.max
_MOMENTS: dict[str, Moment] = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR"), "date"),
    **dict.fromkeys(("DATETIME", "YMDHMS"), "datetime"),
    "TIME": "time",
}
_NUMERIC = ("F", "N", "E", "COMMA", "DOT", "DOLLAR", "PCT", "Z")
_DEFAULT = {pl.Float64: "F8.2", pl.Date: "DATE11", pl.Datetime: "DATETIME23.3", pl.Time: "TIME12.3"}
_MEASURES = ("nominal", "ordinal", "scale")
_OF_KIND = {
    Kind.CATEGORICAL: "nominal",
    Kind.ORDINAL: "ordinal",
    Kind.CONTINUOUS: "scale",
    Kind.INTEGER: "scale",
}
NAMES = readstat.Names(
    first=r"[^\W\d_]",
    rest=r"[\w.$#@]",
    most=64,
    in_bytes=True,
    reserved="all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with",
)
_MOST_TITLE, _MOST_LABEL, _MOST_VALUE_LABEL, _MOST_TEXT, _MOST_CODE = 64, 256, 120, 32_767, 8


def read_sav(path: Path, encoding: str | None = None) -> Table:
    """Read an SPSS data file, user-missing codes as the values that they are.

    SPSS holds all numbers as doubles: a column whose format shows no decimals becomes Int64 if all its values are
    whole. Dates and times become such, to the millisecond. Empty text is missing.

    Parameters
    ----------
    path
        The file.
    encoding
        Of its text, where the file does not tell it rightly.

    Raises
    ------
    FileError
        A file that is missing, damaged or no SPSS file.
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
    >>> book = Codebook({"ill": Variable(labels={0: "no", 1: "yes"}, missing=[-9])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_sav(Table(pl.DataFrame({"ill": [0, 1, -9]}), book, ".sav"), Path(folder) / "a.sav")
    ...     table = read_sav(Path(folder) / "a.sav")
    >>> table.codebook["ill"].labels, table.codebook["ill"].missing[0].code
    ({0: 'no', 1: 'yes'}, -9)
    """
    pyreadstat = readstat.library()
    if not peek(path).startswith((b"$FL2", b"$FL3")):
        raise FileError(f"{str(path)!r} is no SPSS data file, whatever its name says.")
    data, meta = readstat.load(pyreadstat.read_sav, path, "an SPSS file", user_missing=True, encoding=encoding)
    columns, variables, numeric = [], {}, []
    for name, values in data.items():
        column, variable, kept = _column(name, values, meta)
        columns.append(column)
        variables[name] = variable
        numeric += [name] if kept else []
    notes = _left(meta, path)
    notes += about("Dates that some values or missing codes do not fit are kept as SPSS seconds", numeric)
    return Table(checked(pl.DataFrame(columns)), Codebook(variables), ".sav", notes, meta.file_label or None)


def _column(name: str, values: list[Any], meta: Any) -> tuple[pl.Series, Variable, bool]:
    """Give a column, what is known about it, and whether it is a date that is kept as a number."""
    form = meta.original_variable_types[name]
    labels = readstat.coded(meta.variable_value_labels.get(name, {}))
    ranges = meta.missing_ranges.get(name, [])
    known: dict[str, Any] = {"label": meta.column_names_to_labels[name] or None}
    measure = meta.variable_measure[name]
    known["measure"] = measure if measure in _MEASURES else None
    if meta.readstat_variable_types[name] == "string":
        missing = [_missing(r["lo"].rstrip(), r["hi"].rstrip(), labels) for r in ranges]
        return readstat.texts(name, values), Variable(labels=labels, missing=tuple(missing), **known), False
    column = readstat.numbers(name, values)
    known |= {"labels": labels, "missing": tuple(_missing(r["lo"], r["hi"], labels) for r in ranges), "format": form}
    moment = _MOMENTS.get(_letters(form))
    if moment:
        dated = _dated(column, moment, known)
        return (dated, Variable(**known), False) if dated is not None else (column, Variable(**known), True)
    if not _decimals(form) and _letters(form) != "E" and readstat.whole(column):
        column = column.cast(pl.Int64)
    labelled = any(not any(m.matches(key) for m in known["missing"]) for key in labels)
    known["kind"] = _kind(measure, column.dtype, labelled)
    return column, Variable(**known), False


def _missing(low: Any, high: Any, labels: dict[Scalar, str]) -> Missing:
    if low == high:
        code = low if isinstance(low, str) else (readstat.number(low) or 0)
        return Missing(code=code, label=labels.get(code))
    return Missing(low=max(low, _LOWEST), high=min(high, _HIGHEST))


def _dated(column: pl.Series, moment: Moment, known: dict[str, Any]) -> pl.Series | None:
    """Give the column as dates and bring its codes in `known` to their form; None where one of both cannot be."""
    dated = SPSS.decode(column, moment)
    labels = {SPSS.code(key, moment): text for key, text in known["labels"].items()}
    codes = [SPSS.code(m.code, moment) for m in known["missing"]]
    if dated is None or None in labels or None in codes:
        return None
    known["labels"] = labels
    known["missing"] = tuple(Missing(code=c, label=m.label) for c, m in zip(codes, known["missing"], strict=True))
    return dated


def _kind(measure: str, dtype: pl.DataType, labelled: bool) -> Kind | None:
    """Give the kind that the measure level of a numeric column tells; a scale with labelled values tells none."""
    if measure == "scale" and not labelled:
        return Kind.INTEGER if dtype == pl.Int64 else Kind.CONTINUOUS
    return {"nominal": Kind.CATEGORICAL, "ordinal": Kind.ORDINAL}.get(measure)


def _letters(form: str | None) -> str:
    match = re.match(r"[A-Z]+", form or "")
    return match.group() if match else ""


def _decimals(form: str | None) -> int:
    match = re.search(r"\.(\d+)$", form or "")
    return int(match.group(1)) if match else 0


def _left(meta: Any, path: Path) -> tuple[str, ...]:
    left = [
        words
        for words, found in (
            ("its documents", meta.notes),
            ("its multiple response sets", meta.mr_sets),
        )
        if found
    ]
    return (f"{path.name}: {' and '.join(left)} are not taken over.",) if left else ()


def write_sav(table: Table, path: str | Path) -> tuple[str, ...]:
    """Write an SPSS data file: values, labels, missing codes and ranges, measure levels and formats.

    Returns
    -------
    tuple of str
        What the file does not hold, and what was changed: names, truth values, times finer than milliseconds, blanks
        at the end of text, missing codes beyond the three, or a range and one, that SPSS takes.

    Raises
    ------
    FileError
        A path that cannot be written to; what SPSS would lose: whole numbers beyond 2^53, the largest doubles, long
        text, zero characters, durations, two columns that differ in case only.
    DataError
        Infinite values.
    MissingExtra
        Without the optional package `pyreadstat`.
    """
    pyreadstat = readstat.library()
    frame, notes = plain(table.frame, ".sav")
    names, changed = readstat.renamed(frame.columns, NAMES, ".sav")
    _refuse_unholdable(frame)
    book = table.codebook.only(frame.columns)
    labels, cut = readstat.shortened({n: v.label for n, v in book.items()}, _MOST_LABEL, True, ".sav")
    values, lost = _value_labels(frame, book)
    missing, unmarked = _missing_ranges(frame, book)
    formats, foreign = _formats(frame, book)
    title, told = readstat.file_label(table.label, _MOST_TITLE, True, ".sav")
    sent = _encoded(frame).rename(names)
    with replacing(path) as temporary:
        pyreadstat.write_sav(
            sent,
            temporary,
            file_label=title,
            column_labels={names[n]: v for n, v in labels.items()},
            variable_value_labels={names[n]: v for n, v in values.items()},
            missing_ranges={names[n]: v for n, v in missing.items()},
            variable_measure={names[n]: _measure(v) for n, v in book.items()},
            variable_format={names[n]: v for n, v in formats.items()},
        )
        readstat.verify(pyreadstat.read_sav, temporary, sent, padded=True, user_missing=True)
        readstat.timeless(temporary)
    held = ("label", "labels", "missing", "measure", "format")
    return notes + told + changed + cut + lost + unmarked + foreign + padded(frame, ".sav") + unheld(book, held, ".sav")


def _refuse_unholdable(frame: pl.DataFrame) -> None:
    extreme = [c.name for c in frame.select(pl.col(pl.Float64)).iter_columns() if (c.abs() >= -_LOWEST).any()]
    if extreme:
        raise FileError(f"SPSS takes the largest doubles for missing values: {listed(extreme)}. Replace or scale them.")
    long = [c.name for c in frame.select(pl.col(pl.String)).iter_columns() if (c.str.len_bytes() > _MOST_TEXT).any()]
    if long:
        raise FileError(f"SPSS holds {_MOST_TEXT:,} bytes of text in a cell: {listed(long)}. Shorten the text.")


def _encoded(frame: pl.DataFrame) -> pl.DataFrame:
    """Give the columns as SPSS holds them: doubles and text."""
    columns = [SPSS.encode(c) if c.dtype.is_temporal() else c for c in frame.iter_columns()]
    return pl.DataFrame([c.fill_null("") if c.dtype == pl.String else c.cast(pl.Float64) for c in columns])


def _value_labels(frame: pl.DataFrame, book: Codebook) -> tuple[dict[str, dict[Any, str]], tuple[str, ...]]:
    found, lost, cut = {}, [], []
    for name, variable in book.items():
        labels, some_lost = readstat.file_labels(variable, frame.schema[name], SPSS)
        short = {k: v.encode()[:_MOST_VALUE_LABEL].decode(errors="ignore") for k, v in labels.items()}
        found[name] = short
        lost += [name] if some_lost else []
        cut += [name] if short != labels else []
    notes: tuple[str, ...] = about(".sav files hold no value labels of another type than the column's", lost)
    notes += about(".sav files hold shorter value labels", cut)
    return {name: labels for name, labels in found.items() if labels}, notes


def _missing_ranges(frame: pl.DataFrame, book: Codebook) -> tuple[dict[str, list[Any]], tuple[str, ...]]:
    """Give the missing codes as SPSS takes them: three codes, or a range and one code; of text, three short codes."""
    found, unmarked = {}, []
    for name, variable in book.items():
        dtype = frame.schema[name]
        ranges: list[Any] = [
            {"lo": m.low, "hi": m.high}
            for m in variable.missing
            if m.code is None and not (dtype == pl.String or dtype.is_temporal())
        ][:1]
        codes = [readstat.file_code(m.code, dtype, SPSS) for m in variable.missing if m.code is not None]
        fitting = [c for c in codes if c is not None and (dtype != pl.String or len(str(c).encode()) <= _MOST_CODE)]
        ranges += fitting[: 1 if ranges else 3]
        if len(ranges) < len(variable.missing):
            unmarked.append(name)
        if ranges:
            found[name] = ranges
    note = "SPSS marks three missing codes of a variable at most, or a range and one code, and only short text as codes"
    return found, about(f"{note}; further ones are not marked", unmarked)


def _formats(frame: pl.DataFrame, book: Codebook) -> tuple[dict[str, str], tuple[str, ...]]:
    """Give every number a format; a text's follows from its length."""
    found, foreign = {}, []
    for name, dtype in frame.schema.items():
        form = book[name].format
        if dtype == pl.String:
            foreign += [name] if form else []
            continue
        if form and _fits(form, dtype):
            found[name] = form
            continue
        found[name] = _whole_format(frame[name]) if dtype == pl.Int64 else _DEFAULT[type(dtype)]
        foreign += [name] if form else []
    return found, about("Display formats that do not fit are replaced", foreign)


def _fits(form: str, dtype: pl.DataType) -> bool:
    """Tell whether a format is one of SPSS and for this type; whole numbers need one without decimals."""
    if not re.fullmatch(r"[A-Z]+\d{1,2}(\.\d{1,2})?", form):
        return False
    if dtype.is_temporal():
        wanted = {pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time"}[type(dtype)]
        return _MOMENTS.get(_letters(form)) == wanted
    if dtype == pl.Int64:
        return _letters(form) in _NUMERIC and _letters(form) != "E" and not _decimals(form)
    return _letters(form) in _NUMERIC or _letters(form) in _MOMENTS


def _whole_format(column: pl.Series) -> str:
    """Give a format that is wide enough for every whole number of a column."""
    low, high = column.min(), column.max()
    return f"F{max(8, len(str(low)), len(str(high)))}.0"


def _measure(variable: Variable) -> str:
    if variable.measure in _MEASURES:
        return variable.measure
    return _OF_KIND.get(variable.kind, "unknown") if variable.kind else "unknown"
