"""What a frame needs before a format of few types can take it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.files.table import about, checked_names, finite, listed
from sfumato.errors import FileError

__all__ = ["EXACT", "padded", "plain", "refuse_zero_characters"]

EXACT = 2**53
"""The largest whole number up to which a double holds every one."""


def plain(frame: pl.DataFrame, suffix: str, booleans: bool = False) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Bring a frame to the types that spreadsheets and statistical packages share.

    Afterwards every column is Int64, Float64, String, Date, Datetime in microseconds without a zone, Time, or, where
    the format has them, Boolean. NaN becomes null.

    Parameters
    ----------
    frame
        Any flat frame.
    suffix
        The format, for the sentences.
    booleans
        Whether the format has truth values; otherwise they become 0 and 1.

    Returns
    -------
    tuple
        The frame, and what was changed.

    Raises
    ------
    FileError
        What the format would lose without a trace: whole numbers beyond 2^53, durations, text with zero characters.
    DataError
        Infinite values; column names that are empty or duplicated.

    Examples
    --------
    >>> import polars as pl
    >>> plain(pl.DataFrame({"ill": [True, None]}), ".sav")
    (shape: (2, 1)
    ┌──────┐
    │ ill  │
    │ ---  │
    │ i64  │
    ╞══════╡
    │ 1    │
    │ null │
    └──────┘, (".sav files hold true as 1 and false as 0: column 'ill'.",))
    """
    checked_names(frame.columns)
    durations = _of(frame, pl.Duration)
    if durations:
        raise FileError(f"{suffix} files hold no durations: {listed(durations)}. Turn them into numbers first.")
    refuse_zero_characters(frame, suffix)
    _refuse_large(frame, suffix)
    notes = _notes(frame, suffix, booleans)
    text = pl.col(pl.Categorical, pl.Enum, pl.Null)
    frame = frame.with_columns(text.cast(pl.String), pl.col(_whole(frame)).cast(pl.Int64))
    frame = frame.with_columns(pl.col(pl.Decimal, pl.Float32).cast(pl.Float64))
    frame = frame.with_columns(pl.col(pl.Datetime).dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    frame = frame.with_columns(pl.col(pl.Datetime).cast(pl.Datetime("us")))
    if not booleans:
        frame = frame.with_columns(pl.col(pl.Boolean).cast(pl.Int64))
    return finite(frame), notes


def refuse_zero_characters(frame: pl.DataFrame, suffix: str) -> None:
    """Refuse text with zero characters, at which most programs end a text.

    Raises
    ------
    FileError
        Names the columns.
    """
    texts = _of(frame, pl.String)
    found = frame.select(pl.col(texts).str.contains("\0", literal=True).any()).row(0) if texts else ()
    broken = [name for name, bad in zip(texts, found, strict=True) if bad]
    if broken:
        raise FileError(f"{suffix} files hold no zero characters in text: {listed(broken)}. Remove them first.")


def padded(frame: pl.DataFrame, suffix: str) -> tuple[str, ...]:
    """Give a note if text ends with blanks, in formats that pad text with them.

    Examples
    --------
    >>> import polars as pl
    >>> padded(pl.DataFrame({"a": ["x "]}), ".sav")
    (".sav files hold no blanks at the end of text: column 'a'.",)
    """
    texts = frame.select(pl.col(pl.String))
    trailing = [column.name for column in texts.iter_columns() if column.str.ends_with(" ").any()]
    return about(f"{suffix} files hold no blanks at the end of text", trailing)


def _of(frame: pl.DataFrame, *types: type[pl.DataType]) -> list[str]:
    return [name for name, dtype in frame.schema.items() if isinstance(dtype, types)]


def _whole(frame: pl.DataFrame) -> list[str]:
    return [name for name, dtype in frame.schema.items() if dtype.is_integer()]


def _refuse_large(frame: pl.DataFrame, suffix: str) -> None:
    large = [name for name in _whole(frame) if not _exact(frame[name])]
    if large:
        advice = "Make them text first."
        raise FileError(f"{suffix} files hold no whole numbers beyond 2^53 exactly: {listed(large)}. {advice}")


def _exact(column: pl.Series) -> bool:
    narrow = column.cast(pl.Int64, strict=False)
    return narrow.null_count() == column.null_count() and bool(narrow.is_between(-EXACT, EXACT).all())


def _notes(frame: pl.DataFrame, suffix: str, booleans: bool) -> tuple[str, ...]:
    zoned = [n for n in _of(frame, pl.Datetime) if frame[n].dtype.time_zone is not None]  # type: ignore[attr-defined]
    blank = [n for n in _of(frame, pl.String, pl.Categorical, pl.Enum) if (frame[n].cast(pl.String) == "").any()]
    fine = [n for n in _of(frame, pl.Datetime, pl.Time) if _finer_than_milliseconds(frame[n])]
    said: Sequence[tuple[list[str], str]] = (
        ([] if booleans else _of(frame, pl.Boolean), "hold true as 1 and false as 0"),
        (_of(frame, pl.Decimal), "hold decimal numbers as floating point"),
        (zoned, "hold no time zones, so times are in UTC"),
        (fine, "hold times to the millisecond"),
        (blank, "do not tell empty text from missing"),
    )
    return tuple(f"{suffix} files {words}: {listed(columns)}." for columns, words in said if columns)


def _finer_than_milliseconds(times: pl.Series) -> bool:
    return bool((times.dt.nanosecond() % 1_000_000 != 0).any())
