"""Read a table from a file or a frame."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.data.codebook import Codebook
from sfumato.data.files import read_table
from sfumato.engines.polars import PolarsDataset

__all__ = ["read"]


def read(
    source: Any,
    *,
    codebook: Codebook | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
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
    table = read_table(source, delimiter=delimiter, encoding=encoding, decimal=decimal)
    known = Codebook({**table.codebook, **(codebook or {})})
    path = Path(source) if isinstance(source, str | PathLike) else None
    return PolarsDataset(table.frame, known, table.suffix, table.notes, source=path)
