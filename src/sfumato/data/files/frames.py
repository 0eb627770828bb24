"""Data frames that are in memory already, or behind a query: whatever narwhals knows."""

from __future__ import annotations

from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.files.table import Table, checked, checked_names
from sfumato.errors import DataError, SfumatoError

__all__ = ["read_frame"]


def read_frame(source: Any) -> Table:
    """Take over a pandas, Polars, PyArrow or DuckDB frame, or any other that narwhals knows, eager or lazy.

    A frame's release is written as Parquet.

    Raises
    ------
    DataError
        Something that is no data frame; column names that are no text, empty or duplicated; no rows; infinite values;
        columns of lists, records, bytes or mixed Python objects.

    Examples
    --------
    >>> import polars as pl
    >>> read_frame(pl.DataFrame({"age": [31, 45]})).suffix
    '.parquet'
    """
    frame = checked(_collected(source))
    return Table(frame, Codebook().only(frame.columns), ".parquet", _index(source))


def _collected(source: Any) -> pl.DataFrame:
    import narwhals as nw

    try:
        wrapped: Any = _wrapped(source)
        checked_names(wrapped.columns)  # Before collecting, which may rename duplicates.
        eager = wrapped.collect(backend="polars") if isinstance(wrapped, nw.LazyFrame) else wrapped
        return pl.DataFrame(eager.to_polars())
    except SfumatoError:
        raise
    except nw.exceptions.DuplicateError:
        raise DataError("Duplicated column names. Give every column a name of its own.") from None
    except MemoryError:
        raise DataError("The data frame does not fit into memory.") from None
    except (Exception, pl.exceptions.PanicException):
        # The library's words may quote cells, so they are not passed on.
        raise DataError(
            "The data frame could not be taken over. Give every column one type (no mixed Python objects)."
        ) from None


def _wrapped(source: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(source)
    except TypeError:
        raise DataError(
            f"{type(source).__name__!r} is no data frame. Give a path, or a frame of pandas, Polars, PyArrow or DuckDB."
        ) from None


def _index(source: Any) -> tuple[str, ...]:
    """Say that a pandas row index is left behind, where it is more than row numbers."""
    index = getattr(source, "index", None)
    if index is None or not type(source).__module__.startswith("pandas") or type(index).__name__ == "RangeIndex":
        return ()
    return ("The row index of the pandas frame is not read; reset_index() makes columns of it.",)
