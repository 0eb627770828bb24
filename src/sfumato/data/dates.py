"""Dates from texts and numbers: what each can be read as, and how finely it is known.

A text that may be read in two ways keeps both readings: 03/04/1958 is in March or in April.
"""

from __future__ import annotations

import datetime
import re
import warnings

import polars as pl

from sfumato.errors import DataError

__all__ = ["DAY", "EXCEL", "MONTH", "NOTHING", "YEAR", "excel_dates", "grain_of", "read_dates", "refuse_format"]

NOTHING, YEAR, MONTH, DAY = 0, 1, 2, 3
"""How finely a date is known."""

EXCEL = "excel"
"""In place of a format: numbers are Excel's, days since 1900."""

_READ = {"one": pl.Date, "other": pl.Date, "grain": pl.Int8}
_DAY_PARTS = re.compile(r"%[-_0]?[dejDFxvcsU+]")
_MONTH_PARTS = re.compile(r"%[-_0]?[mbBh]")
_TIME_PARTS = re.compile(r"%[-_0]?(?:[HkIlMSTRrXpPcsz+]|:+z|#z|\.?[0-9]?f)")
_FULL = r"^([1-9][0-9]{3})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})(?:[T ].*)?$"
_BASIC = r"^((?:1[89]|2[01])[0-9]{2})([0-9]{2})([0-9]{2})$"
_YEAR_LAST = r"^([0-9]{1,2})[-/. ]([0-9]{1,2})[-/. ]([1-9][0-9]{3})(?:[T ,].*)?$"
_PARTIAL = r"^([1-9][0-9]{3})(?:[-/.]([0-9]{1,2}))?$"
_LAST_SERIAL = 2_958_465  # 31 December 9999


def grain_of(format: str) -> int:
    """How finely texts of a format tell a date.

    Examples
    --------
    >>> [grain_of(f) for f in ("%d.%m.%Y", "%b %Y", "%Y")]
    [3, 2, 1]
    """
    if _DAY_PARTS.search(format):
        return DAY
    return MONTH if _MONTH_PARTS.search(format) else YEAR


def refuse_format(format: str) -> None:
    """Refuse a format that says no year, or that dates cannot be read by.

    Raises
    ------
    DataError
        With what a format looks like.
    """
    if format == EXCEL:
        return
    try:
        written = pl.Series([datetime.datetime(2001, 2, 3, 4, 5, 6)]).dt.strftime(format)
        read = _by_format(written, format)["one"][0]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        read = None
    if read is None or read.year != 2001:
        raise DataError(
            "`format` says how dates are written, with the year: %d/%m/%Y for 31/12/1958, %Y%m%d for 19581231, %b %Y "
            "for Dec 1958; or excel for Excel's serial numbers"
        )


def read_dates(texts: pl.Series, format: str | None = None, day_first: bool | None = None) -> pl.DataFrame:
    """Read dates.

    Years (`1958`) and months (`1958-04`) are always understood; without a format ISO 8601 too, numbers with the year
    last, which have both readings where the order is not given, and other texts with a month's name and a year of four
    digits.

    Parameters
    ----------
    texts
        Texts, none of which is missing.
    format
        How they are written, as `strftime` has it.
    day_first
        Whether the day stands before the month where both are numbers and the year is last.

    Returns
    -------
    DataFrame
        In the order of `texts`: `one` (a day in what is known), `other` (in the other reading; null where there is
        none), and `grain`: 3 where the day is known, 2 month and year, 1 the year, 0 nothing.

    Examples
    --------
    >>> read = read_dates(pl.Series(["03/04/1958", "25/04/1958", "1958-04", "4 April 1958", "?"]))
    >>> [str(day) for day in read["one"]]
    ['1958-04-03', '1958-04-25', '1958-04-01', '1958-04-04', 'None']
    >>> [str(day) for day in read["other"]]
    ['1958-03-04', 'None', 'None', 'None', 'None']
    >>> read["grain"].to_list()
    [3, 3, 2, 3, 0]
    """
    stripped = texts.alias("text").str.strip_chars()
    if format is not None:
        found = _by_format(stripped, format)
    else:
        found = stripped.to_frame().select(*_numbers(day_first))
        found = _named(stripped, found, day_first)
    partial = stripped.to_frame().select(*_partial())
    nothing = pl.col("grain") == NOTHING
    both = pl.concat([found, partial.rename({"one": "part", "grain": "fine"})], how="horizontal")
    return both.select(
        pl.when(nothing).then("part").otherwise("one").alias("one"),
        "other",
        pl.when(nothing).then("fine").otherwise("grain").cast(pl.Int8).alias("grain"),
    )


def _by_format(texts: pl.Series, format: str) -> pl.DataFrame:
    grain = grain_of(format)
    more = {DAY: "", MONTH: " %d", YEAR: " %m %d"}[grain]
    filled = texts + {DAY: "", MONTH: " 01", YEAR: " 01 01"}[grain]
    if _TIME_PARTS.search(format):
        read = filled.str.to_datetime(format + more, strict=False, time_unit="us").dt.date()
    else:
        read = filled.str.to_date(format + more, strict=False)
    found = pl.DataFrame({"one": read, "other": None}, schema_overrides={"other": pl.Date})
    return found.with_columns(grain=pl.when(pl.col("one").is_null()).then(NOTHING).otherwise(grain).cast(pl.Int8))


def _date(pattern: str, year: int, month: int, day: int) -> pl.Expr:
    """The date of three groups of a pattern; null where there is none."""
    part = [pl.col("text").str.extract(pattern, g).str.zfill(n) for g, n in ((year, 4), (month, 2), (day, 2))]
    return pl.concat_str(part, separator="-").str.to_date("%Y-%m-%d", strict=False)


def _numbers(day_first: bool | None) -> tuple[pl.Expr, ...]:
    """What numbers with signs between are read as: ISO 8601, or with the year last."""
    iso = pl.coalesce(_date(_FULL, 1, 2, 3), _date(_BASIC, 1, 2, 3))
    by_day, by_month = _date(_YEAR_LAST, 3, 2, 1), _date(_YEAR_LAST, 3, 1, 2)
    if day_first is not None:
        last, other = by_day if day_first else by_month, pl.lit(None, dtype=pl.Date)
    else:
        last, other = pl.coalesce(by_day, by_month), pl.when(by_day != by_month).then(by_month)
    one = pl.coalesce(iso, last)
    grain = pl.when(one.is_null()).then(NOTHING).otherwise(DAY).cast(pl.Int8)
    return one.alias("one"), other.alias("other"), grain.alias("grain")


def _partial() -> tuple[pl.Expr, ...]:
    """Years, and years with a month."""
    month = pl.col("text").str.extract(_PARTIAL, 2)
    text = pl.concat_str(
        [pl.col("text").str.extract(_PARTIAL, 1), month.fill_null("1").str.zfill(2), pl.lit("01")], separator="-"
    )
    one = text.str.to_date("%Y-%m-%d", strict=False)
    grain = pl.when(one.is_null()).then(NOTHING).when(month.is_null()).then(YEAR).otherwise(MONTH)
    return one.alias("one"), grain.alias("grain")


def _named(texts: pl.Series, found: pl.DataFrame, day_first: bool | None) -> pl.DataFrame:
    """Read what is left and has a name of a month by a library, text by text."""
    left = (found["grain"] == NOTHING) & texts.str.contains(r"[A-Za-z]{3}") & texts.str.contains(r"\b[0-9]{4}\b")
    if not left.any():
        return found
    distinct = texts.filter(left).unique()
    read = [_by_library(text, bool(day_first)) for text in distinct]
    of = pl.DataFrame(
        {"text": distinct, "named": [r[0] for r in read], "fine": [r[1] for r in read]},
        schema_overrides={"named": pl.Date, "fine": pl.Int8},
    )
    both = pl.concat([found, texts.to_frame()], how="horizontal").join(of, on="text", how="left", maintain_order="left")
    return both.select(
        pl.coalesce("one", "named").alias("one"),
        "other",
        pl.when(pl.col("grain") == NOTHING).then(pl.col("fine").fill_null(NOTHING)).otherwise("grain").alias("grain"),
    )


def _by_library(text: str, day_first: bool) -> tuple[datetime.date | None, int]:
    """A text as dateutil reads it; parts that it does not tell show by differing with what they are filled up from."""
    from dateutil import parser  # type: ignore[import-untyped]

    fillers = (datetime.datetime(2000, 1, 1), datetime.datetime(2004, 2, 2))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of time zones that it does not know
            one, two = (parser.parse(text, default=filler, dayfirst=day_first) for filler in fillers)
    except (ValueError, OverflowError, TypeError):
        return None, NOTHING
    if one.year != two.year or not re.search(rf"(?<!\d){one.year:04d}(?!\d)", text):
        return None, NOTHING  # no year, or a guessed century
    if one.month != two.month:
        return datetime.date(one.year, 1, 1), YEAR
    return (one.date(), DAY) if one.day == two.day else (datetime.date(one.year, one.month, 1), MONTH)


def excel_dates(serials: pl.Series) -> pl.DataFrame:
    """Read serial numbers of Excel (days since 1900; fractions are times), as `read_dates` does texts.

    Excel takes 1900 for a leap year: 59 is 28 February, 61 is 1 March, and 60, a day that never was, tells its month.

    Parameters
    ----------
    serials
        Numbers, none of which is missing.

    Examples
    --------
    >>> read = excel_dates(pl.Series([1.0, 59, 60, 61, 21_278.75, 0]))
    >>> [str(day) for day in read["one"]]
    ['1900-01-01', '1900-02-28', '1900-02-01', '1900-03-01', '1958-04-03', 'None']
    >>> read["grain"].to_list()
    [3, 3, 2, 3, 3, 0]
    """
    number = pl.col("serial")
    day = number.cast(pl.Float64).floor()
    known = (day >= 1) & (day <= _LAST_SERIAL)
    days = pl.when(known).then(day + pl.when(day < 60).then(1).otherwise(0)).cast(pl.Int64)
    that_never_was = day == 60
    one = pl.lit(datetime.date(1899, 12, 30)) + pl.duration(days=days)
    return (
        serials.alias("serial")
        .to_frame()
        .select(
            one=pl.when(that_never_was).then(pl.lit(datetime.date(1900, 2, 1))).otherwise(one).cast(pl.Date),
            other=pl.lit(None, dtype=pl.Date),
            grain=pl.when(~known).then(NOTHING).when(that_never_was).then(MONTH).otherwise(DAY).cast(pl.Int8),
        )
    )
