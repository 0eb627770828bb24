"""Random tables for the round trips, and what is honestly equal after them."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import polars as pl
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook
from sfumato.data.files import Table, read_table, write_table

_ODD = [
    'a"b',
    'say "hi"',
    "two\nlines",
    "cr\rhere",
    "crlf\r\nhere",
    " lead",
    "trail ",
    "=1+1",
    "+44",
    "-x",
    "@x",
    "007",
    "1.5",
    "1,5",
    "a,b\tc|d",
    "true",
    "2020-02-30",
    "2020-01-01",
    "NA",
    "",
    " ",
    "é€😀",
    "\u2028",
    "#c",
    "'",
]
# A column of nothing but "inf" reads as infinite numbers and is refused.
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
    st.sampled_from([*_ODD, ";"]),
).filter(lambda text: "inf" not in text.lower())
INTEGER = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9), st.sampled_from([2**63 - 1, -(2**63)]))
SAFE_INTEGER = st.one_of(
    st.integers(-(2**53), 2**53), st.integers(-9, 9), st.sampled_from([2**31 - 28, -(2**31), 2**53])
)
FLOAT = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([5e-324, 2.2e-308, -0.0, 0.1 + 0.2, 1e16, 1 / 3, 123456789.125]),
)
DATE = st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))
MICROSECONDS = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31))
MILLISECONDS = MICROSECONDS.map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000))
NAME = st.from_regex(r"q[A-Za-z0-9_]{0,20}", fullmatch=True)


@st.composite
def frames(
    draw: st.DrawFn,
    integers: st.SearchStrategy[int] = SAFE_INTEGER,
    floats: st.SearchStrategy[float] = FLOAT,
    texts: st.SearchStrategy[str] = TEXT,
    dates: st.SearchStrategy[datetime.date] = DATE,
    datetimes: st.SearchStrategy[datetime.datetime] = MILLISECONDS,
    names: st.SearchStrategy[str] = NAME,
) -> pl.DataFrame:
    kinds = {
        "integer": (integers, pl.Int64),
        "float": (floats, pl.Float64),
        "text": (texts, pl.String),
        "boolean": (st.booleans(), pl.Boolean),
        "date": (dates, pl.Date),
        "datetime": (datetimes, pl.Datetime("us")),
    }
    columns = draw(st.lists(names, min_size=1, max_size=4, unique_by=str.lower))
    height = draw(st.integers(1, 8))
    series = []
    for name in columns:
        cells, dtype = kinds[draw(st.sampled_from(sorted(kinds)))]
        values = draw(st.lists(st.none() | cells, min_size=height, max_size=height))
        series.append(pl.Series(name, values, dtype=dtype))
    return pl.DataFrame(series)


def table(frame: pl.DataFrame, codebook: Codebook | None = None, suffix: str = ".csv") -> Table:
    return Table(frame, (codebook or Codebook()).only(frame.columns), suffix)


def round_trip(frame: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Write and read a frame; gives what came back, and what writing said."""
    notes = write_table(table(frame), path)
    return read_table(path).frame, notes


def changed(frame: pl.DataFrame, dtype: type[pl.DataType], change: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    return frame.with_columns(change(pl.col(dtype)))


def empty_text_is_missing(frame: pl.DataFrame) -> pl.DataFrame:
    return changed(frame, pl.String, lambda c: c.replace("", None))


def assert_same(actual: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Exactly equal: names, types, nulls and values."""
    assert_frame_equal(actual, expected, check_exact=True)


def as_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """All numbers as doubles, for formats that do not tell whole numbers from others."""
    return frame.with_columns(pl.col(pl.Int64).cast(pl.Float64))
