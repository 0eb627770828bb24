"""Read a table from a file or a frame."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.data.codebook import Codebook
from sfumato.data.files import read_table, read_written
from sfumato.engines.polars import PolarsDataset
from sfumato.release.package.papers import in_a_release

__all__ = ["read"]


def read(
    source: Any,
    *,
    codebook: Codebook | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    sheet: str | int | None = None,
) -> PolarsDataset:
    """Read a table with what its file knows about the variables.

    Parameters
    ----------
    source
        Path of a CSV, Parquet, XLSX, SPSS .sav, Stata .dta, or SAS .sas7bdat or .xpt file; or any pandas, Polars,
        PyArrow or DuckDB frame.
    codebook
        What is known about the variables, in place of what the file says.
    delimiter, encoding, decimal
        Of a CSV file; found out if not given, and said in `notes`.
    header
        Whether the first row of a CSV or XLSX file holds the names of the columns; without names they are `c1`, `c2`
        and so on. Where it is not given, a first row that looks like a record is refused.
    skip_rows
        How many rows of such a file stand above the table.
    sheet
        Of an XLSX file: the sheet's name, or its number from 0; by default the first.

    The data file of a release is read as it was written, whatever is given.

    Raises
    ------
    FileError, DataError
        Where it cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> read(pl.DataFrame({"age": [41, 35]})).columns
    ['age']
    """
    if isinstance(source, PolarsDataset):
        return source
    if isinstance(source, str | PathLike) and in_a_release(Path(source)):
        table = read_written(Path(source))
    else:
        table = read_table(
            source,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            header=header,
            skip_rows=skip_rows,
            sheet=sheet,
        )
    known = Codebook({**table.codebook, **(codebook or {})})
    path = Path(source) if isinstance(source, str | PathLike) else None
    return PolarsDataset(table.frame, known, table.suffix, table.notes, source=path, label=table.label)
