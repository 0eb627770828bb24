"""Parquet, with the codebook as JSON under the file-level key `sfumato`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Scalar, Variable
from sfumato.data.files.atomic import replacing
from sfumato.data.files.table import Table, checked, checked_names, finite, opening, peek
from sfumato.errors import FileError

__all__ = ["codebook_in", "read_parquet", "scan_parquet", "write_parquet"]

_KEY, _LABEL = "sfumato", "sfumato:label"


def read_parquet(path: Path) -> Table:
    """Read a Parquet file, with its codebook where sfumato wrote one.

    Raises
    ------
    FileError
        A file that is missing or no Parquet file, or whose codebook is damaged.
    DataError
        Infinite values; columns of lists, records or bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook, Variable
    >>> table = Table(pl.DataFrame({"age": [31]}), Codebook({"age": Variable(unit="years")}), ".parquet")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_parquet(table, Path(folder) / "a.parquet")
    ...     read_parquet(Path(folder) / "a.parquet").codebook["age"].unit
    'years'
    """
    head = peek(path)
    with opening(path, "Parquet"):
        if not head.startswith(b"PAR1"):
            raise ValueError
        frame = checked(pl.read_parquet(path, glob=False, hive_partitioning=False))
        told = pl.read_parquet_metadata(path)
    return Table(frame, codebook_in(told.get(_KEY), frame.schema, path), ".parquet", label=told.get(_LABEL))


def scan_parquet(path: Path) -> tuple[pl.LazyFrame, Codebook]:
    """Open a Parquet file without reading its rows, with its codebook where sfumato wrote one.

    Its values are not checked: whoever reads some asks whether they are finite.

    Raises
    ------
    FileError
        As in `read_parquet`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"age": [31, 45]}).write_parquet(Path(folder) / "a.parquet")
    ...     scan_parquet(Path(folder) / "a.parquet")[0].select(pl.col("age").max()).collect().item()
    45
    """
    head = peek(path)
    with opening(path, "Parquet"):
        if not head.startswith(b"PAR1"):
            raise ValueError
        rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        schema = rows.collect_schema()
        told = pl.read_parquet_metadata(path)
    return rows, codebook_in(told.get(_KEY), schema, path)


def codebook_in(stored: str | None, schema: pl.Schema, path: Path) -> Codebook:
    """What a file's stored codebook says of its columns; nothing where it has none.

    Raises
    ------
    FileError
        Where it is damaged.

    Examples
    --------
    >>> list(codebook_in(None, pl.Schema({"age": pl.Int64()}), Path("a.parquet")))
    ['age']
    """
    return (Codebook() if stored is None else _codebook(stored, schema, path)).only(schema)


def _codebook(stored: str, schema: pl.Schema, path: Path) -> Codebook:
    try:
        book = Codebook.from_plain(json.loads(stored))
    except Exception:
        raise FileError(f"The codebook within {str(path)!r} is damaged. Write the file again.") from None
    return Codebook({n: _typed_keys(v, schema[n]) for n, v in book.items() if n in schema})


def _typed_keys(variable: Variable, dtype: pl.DataType) -> Variable:
    """Undo that JSON has only texts as keys: a key is of the type of its column."""
    mappings: dict[str, dict[Scalar, Any]] = {"labels": variable.labels, "hierarchy": variable.hierarchy}
    update = {field: {_key(k, dtype): v for k, v in mapping.items()} for field, mapping in mappings.items()}
    return variable.model_copy(update=update)


def _key(key: Scalar, dtype: pl.DataType) -> Scalar:
    if dtype == pl.Boolean and key in ("True", "true", "False", "false"):
        return key in ("True", "true")
    if dtype.is_numeric():
        for number in (int, float):
            try:
                return number(key)
            except ValueError:
                continue
    return key


def write_parquet(table: Table, path: str | Path) -> tuple[str, ...]:
    """Write a Parquet file with all that the codebook says; every type is kept.

    Returns
    -------
    tuple of str
        Nothing: the format holds it all.

    Raises
    ------
    FileError
        A path that cannot be written to.
    DataError
        Infinite values.
    """
    frame = finite(table.frame)
    checked_names(frame.columns)
    plain: dict[str, Any] = table.codebook.only(frame.columns).to_plain()
    with replacing(path) as temporary:
        told = {_KEY: json.dumps(plain, ensure_ascii=False)} | ({_LABEL: table.label} if table.label else {})
        frame.write_parquet(temporary, metadata=told)
    return ()
