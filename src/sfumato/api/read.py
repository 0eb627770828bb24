"""Read a table from a file or a frame, or open one where it is."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

from sfumato.api.opening import MEMORY, Opening, in_memory, on_this_machine, opened, stays_where_it_is
from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.files import read_table, read_written
from sfumato.engines.polars import PolarsDataset, held
from sfumato.release.package.papers import papers_in

__all__ = ["read", "read_or_open", "read_whole"]

SAMPLE = (
    "take a sample of it that fits into memory (a part, read with --engine memory or engine='memory'); a plan that was "
    "tried on a sample runs on all rows unchanged"
)


@overload
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
    name_blank: bool = False,
    engine: Literal["memory"] | None = None,
) -> PolarsDataset: ...
@overload
def read(
    source: Any,
    *,
    codebook: Codebook | None = None,
    engine: str,
    memory: str = MEMORY,
    temp: str | PathLike[str] | None = None,
    max_stratum: int | None = None,
) -> PolarsDataset | Parted: ...
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
    name_blank: bool = False,
    engine: str | None = None,
    memory: str = MEMORY,
    temp: str | PathLike[str] | None = None,
    max_stratum: int | None = None,
) -> PolarsDataset | Parted:
    """Read a table with what its file knows about the variables, or open one that stays where it is.

    Parameters
    ----------
    source
        Path of a CSV, Parquet, XLSX, SPSS .sav, Stata .dta, or SAS .sas7bdat or .xpt file; or any pandas, Polars,
        PyArrow or DuckDB frame. Or what stays where it is: a folder of Parquet files with the same columns, the parts
        of a table; a PostgreSQL address, `postgresql://[user@][host]/database/schema.table`; a Spark frame. A folder
        that `protect` wrote is read as the release that it is.
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
    name_blank
        Whether columns of a CSV or XLSX file whose name is blank, `*` or like `^x$` are called by their place, `c8` for
        instance; else they are refused.
    engine
        Where rows are worked on. `memory`: read them all, parts too. `duckdb`: on this machine, in bounded memory, the
        way of folders and of PostgreSQL. `spark://HOST:PORT`, `local[N]`, `yarn`, `k8s://...`: on a Spark cluster.
    memory
        Of an engine that bounds it: how much it takes, for instance `"4GB"`.
    temp
        Folder in which such an engine may put what does not fit. It is not encrypted there.
    max_stratum
        Most records of a stratum that a step may need as a whole; by default 2,000,000.

    What stays where it is has no `.frame`: `protect` and `risk` take it as they take a table, and a release of it is
    written in parts.

    The data file of a release is read as it was written, whatever is given.

    Raises
    ------
    FileError, DataError
        Where it cannot be read.
    MissingExtra
        An optional package is needed to reach it.

    Examples
    --------
    >>> import polars as pl
    >>> read(pl.DataFrame({"age": [41, 35]})).columns
    ['age']
    """
    if held(source):
        return source
    source = on_this_machine(source)
    if stays_where_it_is(source, engine):
        return opened(source, Opening(engine, memory, temp, max_stratum), codebook)
    path = Path(source) if isinstance(source, str | PathLike) else None
    if path is not None and (papers := papers_in(path)) is not None:
        table = read_written(path, papers.dialect)
    else:
        table = read_table(
            source,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            header=header,
            skip_rows=skip_rows,
            sheet=sheet,
            name_blank=name_blank,
        )
    known = Codebook({**table.codebook, **(codebook or {})})
    return PolarsDataset(table.frame, known, table.suffix, table.notes, source=path, dialect=table.dialect)


def read_or_open(source: Any) -> PolarsDataset | Parted:
    """What `read` gives, of whatever stays where it is too.

    Examples
    --------
    >>> import polars as pl
    >>> len(read_or_open(pl.DataFrame({"age": [41, 35]})).codebook)
    1
    """
    return read(source)


def read_whole(source: Any, what: str, instead: str = SAMPLE) -> PolarsDataset:
    """What `read` gives, where all rows are needed at once.

    Parameters
    ----------
    source
        What `read` takes.
    what, instead
        What needs them, and what to do where they stay where they are.

    Raises
    ------
    DataError
        Where they do.

    Examples
    --------
    >>> import polars as pl
    >>> read_whole(pl.DataFrame({"age": [41, 35]}), "Tuning").columns
    ['age']
    """
    return in_memory(read_or_open(source), what, instead)
