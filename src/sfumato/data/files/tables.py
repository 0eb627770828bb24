"""Files of tables of sums: one line for each cell, with its codes as text and its figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sfumato.data.files.atomic import replacing
from sfumato.data.files.sniff import decode, sniff_delimiter
from sfumato.errors import DataError, FileError

__all__ = ["STATUSES", "cells_text", "read_cells", "write_cells"]

STATUSES = ("u", "s", "x", "z", "w")
"""Unsafe (primary), safe, hidden with others (secondary), forced safe, zero."""
OPEN = ("lower", "upper")
"""Columns that may say INF: what can be worked out of a cell may have no end."""
_LARGEST = 4 << 30


def read_cells(
    path: Path,
    value: str,
    figures: Sequence[str] = (),
    status: str = "status",
    delimiter: str | None = None,
    decimal_comma: bool = False,
    columns: Sequence[str] | None = None,
    stripped: bool = False,
    only: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Read the cells of a table.

    Parameters
    ----------
    path
        The file: a line of names, then a line for each cell.
    value, figures
        Columns of numbers, where the file has them; an empty one is not told. All others are codes: text as it stands.
    status
        The column of statuses, which may be in capitals; `e` is `w`, for other programs call an empty cell so.
    delimiter
        Sniffed where it is not given.
    decimal_comma
        Whether numbers have a comma.
    columns
        Names of the columns of a file that has none.
    stripped
        Whether spaces around codes are left out.
    only
        Columns that are wanted, where the file has them; others may hold anything.

    Raises
    ------
    FileError
        Where there is no such file, or it is no text.
    DataError
        Where a line has more or fewer cells than there are columns, figures are no numbers, a code is empty or a status
        wrong. Messages name columns and lines, never values.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "t.csv").write_text("sex,count,status\\nTotal,5,s\\nf,,u\\n")
    ...     read_cells(Path(folder) / "t.csv", "count").rows()
    [('Total', 5.0, 's'), ('f', None, 'u')]
    """
    texts = _texts(path, delimiter, columns)
    if only is not None:
        texts = texts.select(n for n in texts.columns if n in only)
    numbers = [n for n in dict.fromkeys((value, *figures)) if n in texts.columns and n != status]
    out = texts.with_columns(_number(path, texts[n], decimal_comma) for n in numbers)
    codes = [n for n in texts.columns if n not in numbers and n != status]
    for name in codes:
        _refuse_line(path, texts[name].is_null(), f"column {name!r} has no code; where it is summed over, write Total")
    if stripped:
        out = out.with_columns(pl.col(codes).str.strip_chars())
    if status in texts.columns:
        told = texts[status].str.strip_chars().str.to_lowercase().replace({"e": "w"}).fill_null("s")
        wrong = ~told.is_in([*STATUSES])
        _refuse_line(path, wrong, f"column {status!r} has a wrong status; it takes u, s, x, z and w")
        out = out.with_columns(told.alias(status))
    return out


def _texts(path: Path, delimiter: str | None, columns: Sequence[str] | None) -> pl.DataFrame:
    try:
        if path.stat().st_size > _LARGEST:
            raise FileError(f"{str(path)!r} is larger than {_LARGEST >> 30} GB, which no table is.")
        content = path.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{str(path)!r} does not exist.") from None
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    text = decode(content)[0].decode("utf-8-sig")
    sign = delimiter or sniff_delimiter(text[: 1 << 16])
    try:
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=sign, strict=True) if line]
    except csv.Error:
        raise DataError(f"{path.name}: a line is badly quoted.") from None
    if not lines:
        raise DataError(f"{path.name} is empty: a table has a line of names, and a line for each cell.")
    names = list(columns) if columns is not None else lines.pop(0)
    if not names or len(set(names)) < len(names) or not all(names):
        raise DataError(f"{path.name}: each column needs a name of its own.")
    if odd := next((i for i, line in enumerate(lines, 1 + (columns is None)) if len(line) != len(names)), None):
        raise DataError(f"{path.name}, line {odd}: there are more or fewer cells than columns.")
    if not lines:
        raise DataError(f"{path.name} has a line of names and no cell. Give each cell of the table a line.")
    frame = pl.DataFrame(lines, schema=dict.fromkeys(names, pl.String), orient="row")
    return frame.with_columns(pl.when(pl.all().str.strip_chars() == "").then(None).otherwise(pl.all()).name.keep())


def _number(path: Path, column: pl.Series, comma: bool) -> pl.Series:
    text = column.str.strip_chars()
    text = text.str.replace(",", ".", literal=True) if comma else text
    number = text.cast(pl.Float64, strict=False)
    endless = number.is_infinite() if column.name not in OPEN else pl.Series([False] * len(number))
    wrong = (number.is_null() & text.is_not_null()) | number.is_nan().fill_null(False) | endless
    hint = " (a decimal comma is told by --decimal ,)" if not comma and text.str.contains(",").any() else ""
    _refuse_line(path, wrong.fill_null(False), f"column {column.name!r} holds something that is no number{hint}")
    return number.rename(column.name)


def _refuse_line(path: Path, wrong: pl.Series, what: str) -> None:
    if wrong.any():
        raise DataError(f"{path.name}, line {int(wrong.arg_true()[0]) + 2}: {what}.")


def write_cells(cells: pl.DataFrame, path: Path) -> None:
    """Write the cells of a table: codes as they are, numbers in full, whole ones without a point.

    Parameters
    ----------
    cells
        A line for each cell.
    path
        Where to; what stands there is replaced as a whole.

    Raises
    ------
    FileError
        Where nothing can be written there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cells(pl.DataFrame({"sex": ["Total", "f"], "count": [5.0, None]}), Path(folder) / "t.csv")
    ...     (Path(folder) / "t.csv").read_text()
    'sex,count\\nTotal,5\\nf,\\n'
    """
    with replacing(path) as temporary:
        temporary.write_bytes(cells_text(cells).encode())


def cells_text(cells: pl.DataFrame) -> str:
    """The cells of a table as the text of their file; what is not told is empty, an end that is not there INF or -INF.

    Examples
    --------
    >>> cells_text(pl.DataFrame({"sex": ["f"], "upper": [float("inf")]}))
    'sex,upper\\nf,INF\\n'
    """
    floats = [n for n, t in cells.schema.items() if t.is_float()]
    return cells.with_columns(_written(n) for n in floats).write_csv(line_terminator="\n")


def _written(name: str) -> pl.Expr:
    x = pl.when(pl.col(name).is_finite()).then(pl.col(name))
    whole = (x == x.round()) & (x.abs() < 2**53)
    text = pl.when(whole).then(x.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(x.cast(pl.String))
    if name in OPEN:  # as the Table Schema of data packages writes them
        end = pl.when(pl.col(name) > 0).then(pl.lit("INF")).otherwise(pl.lit("-INF"))
        text = pl.when(pl.col(name).is_infinite()).then(end).otherwise(text)
    return text.alias(name)
