"""Open a table whose rows stay where they are, on the engine that is asked for."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from sfumato.data.dataset import Parted
from sfumato.engines.duckdb import MAX_STRATUM, DuckDBDataset
from sfumato.engines.parts import open_folder
from sfumato.engines.spill import Spill
from sfumato.errors import DataError

__all__ = ["open_parted"]


def open_parted(
    source: Any,
    engine: str = "duckdb",
    memory: str = "1GB",
    temp: str | os.PathLike[str] | None = None,
    max_stratum: int = MAX_STRATUM,
) -> Parted:
    """Open a table off memory.

    Parameters
    ----------
    source
        A flat folder of Parquet parts, the address of a PostgreSQL table (`postgresql://...`), or a Spark frame.
    engine
        `duckdb`, or where Spark runs: `spark://host:port`, `local[2]`, `yarn`, `k8s://...`.
    memory
        How much the database of `duckdb` may hold, or each executor of a Spark session of our own.
    temp
        Where rows are spilled on this machine; the system's folder for temporary files if None.
    max_stratum
        Most rows of a stratum that is brought together.

    Raises
    ------
    DataError
        For parts that cannot be read, or an amount of memory that is none.
    MissingExtra
        Where the engine needs a package that is not there.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> with tempfile.TemporaryDirectory() as name:
    ...     pl.DataFrame({"age": [31, 45]}).write_parquet(Path(name) / "a.parquet")
    ...     with open_parted(name) as data:
    ...         print(data.schema)
    Schema([('age', Int64)])
    """
    if isinstance(source, str) and source.startswith(("postgresql:", "postgres:")):
        if engine != "duckdb":
            raise DataError("A PostgreSQL table is read by the engine duckdb. Leave --engine out.")
        opened = import_module("sfumato.engines.postgresql").open_table
        return cast(Parted, opened(source, memory=memory, temp=temp, max_stratum=max_stratum))
    if engine != "duckdb" or not isinstance(source, str | os.PathLike):
        opened = import_module("sfumato.engines.spark").open_parts
        return cast(Parted, opened(source, engine, memory=memory, temp=temp, max_stratum=max_stratum))
    parts, codebook = open_folder(Path(source))
    return DuckDBDataset(parts, parts.schema, codebook, Spill(memory, temp), max_stratum, given=parts)
