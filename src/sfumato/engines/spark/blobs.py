"""Batches of rows as bytes, which is how they go through Spark: every type comes back as it was."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

import polars as pl
import pyarrow as pa

from sfumato.engines.answers import keys

__all__ = ["BATCH", "DDL", "bucketed", "chosen", "frames", "given_up", "gone", "hashed", "packed", "unpacked"]

BATCH = 122_880
"""Most rows of a batch."""
DDL = "place int, rows bigint, blob binary"
"""Columns of everything that goes through Spark: where it belongs, how many rows it has, and the rows."""
_SCHEMA = pa.schema([("place", pa.int32()), ("rows", pa.int64()), ("blob", pa.binary())])
_SEED = 20_261_124
_MOST = 4 << 20  # bytes of a blob, about: Spark holds a few of them at a time


def packed(place: int, frame: pl.DataFrame) -> Iterator[pa.RecordBatch]:
    """Rows as records of Spark; each holds some MB, and there are none of an empty frame."""
    if frame.is_empty():
        return
    size = max(frame.estimated_size() // frame.height, 1)
    for some in frame.iter_slices(int(max(_MOST // size, 1))):
        target = io.BytesIO()
        some.rechunk().write_ipc_stream(target)
        yield pa.record_batch([[place], [some.height], [target.getvalue()]], schema=_SCHEMA)


def unpacked(blob: bytes) -> pl.DataFrame:
    """The rows of one blob.

    Examples
    --------
    >>> record = next(packed(3, pl.DataFrame({"a": [1, 2]})))
    >>> unpacked(record.column("blob")[0].as_py())["a"].to_list()
    [1, 2]
    """
    return pl.read_ipc_stream(io.BytesIO(blob))


def frames(records: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pl.DataFrame]]:
    """Places and rows of what Spark gives."""
    for record in records:
        for place, rows, blob in zip(*(record.column(n) for n in ("place", "rows", "blob")), strict=True):
            if rows.as_py() >= 0:
                yield place.as_py(), unpacked(blob.as_buffer())


def given_up(place: int) -> pa.RecordBatch:
    """The record of an answer that grew too large."""
    return pa.record_batch([[place], [-1], [b""]], schema=_SCHEMA)


def gone(record: pa.RecordBatch) -> set[int]:
    """Places of answers that grew too large."""
    return {
        place.as_py()
        for place, rows in zip(record.column("place"), record.column("rows"), strict=True)
        if rows.as_py() < 0
    }


def chosen(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns, or none, of as many rows."""
    return frame.select(columns) if columns else pl.DataFrame(height=frame.height)


def hashed(frame: pl.DataFrame, by: Sequence[str], buckets: int) -> pl.Series:
    """A number below `buckets` for each row, the same wherever the columns `by` have the same values.

    Null and NaN are one value, and so are 0 and −0. The numbers hold within one version of Polars alone.

    Examples
    --------
    >>> numbers = hashed(pl.DataFrame({"x": [0.0, -0.0, None, float("nan")]}), ["x"], 1000)
    >>> bool(numbers[0] == numbers[1]), bool(numbers[2] == numbers[3])
    (True, True)
    """
    if not by:
        return pl.repeat(0, frame.height, dtype=pl.Int32, eager=True)
    plain = [_plain(key, frame.schema[name]) for key, name in zip(keys(by, frame.schema), by, strict=True)]
    return frame.select((pl.struct(plain).hash(_SEED) % buckets).cast(pl.Int32)).to_series()


def _plain(key: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A key whose bits are equal where its values are: 0 for −0, text for categories."""
    if dtype.is_float():
        return key + 0.0
    return key.cast(pl.String) if isinstance(dtype, pl.Categorical | pl.Enum) else key


def bucketed(frame: pl.DataFrame, places: pl.Series) -> Iterator[pa.RecordBatch]:
    """Records of the rows of each place."""
    order = places.arg_sort()
    sorted_rows, sorted_places = frame[order], places[order]
    runs = sorted_places.rle().struct.unnest() if len(places) else pl.DataFrame({"len": [], "value": []})
    start = 0
    for length, place in runs.iter_rows():
        yield from packed(place, sorted_rows[start : start + length])
        start += length
