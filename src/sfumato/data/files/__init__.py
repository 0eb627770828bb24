"""Reading and writing data files: CSV, Parquet, Excel, SPSS, Stata, SAS, and data frames of any library.

One module for each format; `read_table` and `write_table` choose by the suffix.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.data.files.dialect import USUAL, Dialect
from sfumato.data.files.table import Table
from sfumato.errors import FileError

__all__ = ["OPTIONS", "SUFFIXES", "Table", "read_table", "read_written", "write_table", "written_names"]

SUFFIXES: Mapping[str, str] = {
    ".csv": ".csv",
    ".tsv": ".csv",
    ".txt": ".csv",
    ".parquet": ".parquet",
    ".xlsx": ".xlsx",
    ".sav": ".sav",
    ".zsav": ".sav",
    ".dta": ".dta",
    ".sas7bdat": ".xpt",
    ".xpt": ".xpt",
}
"""Every suffix that can be read, with the one that it is written with; those on the right can be written."""

OPTIONS: Mapping[str, frozenset[str]] = {
    ".csv": frozenset({"delimiter", "encoding", "decimal", "header", "skip_rows", "name_blank"}),
    ".xlsx": frozenset({"sheet", "header", "skip_rows", "name_blank"}),
    ".sav": frozenset({"encoding"}),
    ".dta": frozenset({"encoding"}),
    ".xpt": frozenset({"encoding"}),
}
"""How files can be read, by the suffix that they are written with."""


def read_table(
    source: str | os.PathLike[str] | Any,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    sheet: str | int | None = None,
    name_blank: bool = False,
) -> Table:
    """Read a data file, or take over a data frame.

    NaN is read as missing. User-missing codes stay the values that they are and are named in the codebook.

    Parameters
    ----------
    source
        Path of a file with one of `SUFFIXES`, or a frame of pandas, Polars, PyArrow, DuckDB or any other library that
        narwhals knows, eager or lazy.
    delimiter, decimal
        Of a delimited text file; sniffed where not given, and told in the notes.
    encoding
        Of the text in a delimited, SPSS, Stata or SAS file.
    header
        Whether the first row of a delimited text file or a sheet holds the names of the columns; without names they
        are `c1`, `c2` and so on. Where it is not given, a first row that looks like a record is refused.
    skip_rows
        How many rows of such a file stand above the table.
    sheet
        Of a workbook: its name, or its number from 0.
    name_blank
        Whether columns of such a file whose name is blank, `*` or like `^x$` are called by their place, `c8` for
        instance; else they are refused.

    Raises
    ------
    FileError
        A file that cannot be read: missing, a folder, no permission, damaged, empty, of another format than its suffix
        says, or with a suffix that is not known.
    DataError
        A table that cannot be used: no rows, a first row that looks like a record, column names that are empty or
        duplicated, infinite values, columns of lists or objects.
    MissingExtra
        An optional package is needed for the format.

    Examples
    --------
    >>> import polars as pl
    >>> read_table(pl.DataFrame({"age": [31, 45]})).frame.height
    2
    """
    if not isinstance(source, str | os.PathLike):
        from sfumato.data.files.frames import read_frame

        return read_frame(source)
    path = Path(source)
    suffix = path.suffix.lower()
    given = {
        "delimiter": delimiter,
        "encoding": encoding,
        "decimal": decimal,
        "header": header,
        "skip_rows": skip_rows or None,
        "sheet": sheet,
        "name_blank": name_blank or None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    allowed = OPTIONS.get(SUFFIXES.get(suffix, ""), frozenset())
    table = _reader(suffix, path)(path, **{name: value for name, value in options.items() if name in allowed})
    unused = tuple(
        f"{path.name}: the option {name!r} has no meaning for it." for name in options if name not in allowed
    )
    return replace(table, notes=table.notes + unused)


def read_written(path: Path, dialect: Dialect = USUAL) -> Table:
    """Read a file that `write_table` wrote: where its format needs a row of names, the first row is one.

    Parameters
    ----------
    path
        The file.
    dialect
        What it was written in, if it is a delimited text file.

    Raises
    ------
    FileError, DataError, MissingExtra
        As in `read_table`.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_table(read_table(pl.DataFrame({"2": [31, 45]})), Path(folder) / "a.csv")
    ...     read_written(Path(folder) / "a.csv").frame.columns
    ['2']
    """
    allowed = OPTIONS.get(SUFFIXES.get(path.suffix.lower(), ""), ())
    given: dict[str, Any] = dialect.given() if "delimiter" in allowed else {}
    return read_table(path, header=True if "header" in allowed else None, **given)


def _reader(suffix: str, path: Path) -> Callable[..., Table]:
    """Give the reader of a format. Imported here, so that a table of one format loads the libraries of no other."""
    match suffix:
        case ".csv" | ".tsv" | ".txt":
            from sfumato.data.files.csv import read_csv

            return read_csv
        case ".parquet":
            from sfumato.data.files.parquet import read_parquet

            return read_parquet
        case ".xlsx":
            from sfumato.data.files.excel import read_xlsx

            return read_xlsx
        case ".sav" | ".zsav":
            from sfumato.data.files.spss import read_sav

            return read_sav
        case ".dta":
            from sfumato.data.files.stata import read_dta

            return read_dta
        case ".sas7bdat":
            from sfumato.data.files.sas import read_sas7bdat

            return read_sas7bdat
        case ".xpt":
            from sfumato.data.files.sas import read_xpt

            return read_xpt
    if not path.exists():
        raise FileError(f"{str(path)!r} does not exist.")
    if path.is_dir():
        raise FileError(f"{str(path)!r} is a folder. Give the file in it.")
    raise FileError(f"{str(path)!r}: files of this kind are not read. Known suffixes: {', '.join(SUFFIXES)}.")


def write_table(table: Table, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a table in the format of the path's suffix; the file is replaced in one step or not at all.

    Parameters
    ----------
    table
        Values and codebook. Its own `suffix` and `notes` play no part.
    path
        Where to. The folder must be there.

    Returns
    -------
    tuple of str
        Sentences on what the format does not hold and what was changed for it; no data values.

    Raises
    ------
    FileError
        A path that cannot be written to, a full disk, a suffix that is not known, or a table that would lose values
        in this format.
    DataError
        Infinite values; column names that are empty or duplicated.
    MissingExtra
        An optional package is needed for the format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(read_table(pl.DataFrame({"age": [31, 45]})), Path(folder) / "a.csv")
    ...     (Path(folder) / "a.csv").read_text()
    ()
    'age\\n31\\n45\\n'
    """
    target = Path(path)
    return _writer(target.suffix.lower(), target)(table, target)


def written_names(columns: Sequence[str], suffix: str) -> dict[str, str]:
    """Give the name that each column has in a file of this kind: some formats take no names with spaces or signs.

    Parameters
    ----------
    columns
        Names of the columns.
    suffix
        The format.

    Raises
    ------
    FileError
        Two columns that would have the same name.

    Examples
    --------
    >>> written_names(["id", "edu=1"], ".sav"), written_names(["edu=1"], ".csv")
    ({'id': 'id', 'edu=1': 'edu_1'}, {'edu=1': 'edu=1'})
    """
    match suffix:
        case ".sav":
            from sfumato.data.files.spss import NAMES
        case ".dta":
            from sfumato.data.files.stata import NAMES
        case ".xpt":
            from sfumato.data.files.sas import NAMES
        case _:
            return {name: name for name in columns}
    from sfumato.data.files.readstat import renamed

    return renamed(list(columns), NAMES, suffix)[0]


def _writer(suffix: str, path: Path) -> Callable[[Table, Path], tuple[str, ...]]:
    match suffix:
        case ".csv":
            from sfumato.data.files.csv import write_csv

            return write_csv
        case ".parquet":
            from sfumato.data.files.parquet import write_parquet

            return write_parquet
        case ".xlsx":
            from sfumato.data.files.excel import write_xlsx

            return write_xlsx
        case ".sav":
            from sfumato.data.files.spss import write_sav

            return write_sav
        case ".dta":
            from sfumato.data.files.stata import write_dta

            return write_dta
        case ".xpt":
            from sfumato.data.files.sas import write_xpt

            return write_xpt
    known = ", ".join(dict.fromkeys(SUFFIXES.values()))
    raise FileError(f"{str(path)!r}: files of this kind are not written. Known suffixes: {known}.")
