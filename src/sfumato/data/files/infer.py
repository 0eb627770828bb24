"""Types from text: what the cells of a column of a CSV file look like."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.files.decimals import SIGN_AND_WHOLE, Decimal, is_grouped, number, plain, unread
from sfumato.errors import DataError

__all__ = ["MISSING_MARKS", "infer", "infer_columns", "marked", "mixed"]

_INTEGER = rf"^{SIGN_AND_WHOLE}$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_DIGITS = r"^[+-]?[0-9]+$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_DATETIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?$"
_BEGINS_TYPED = r"^\s*[+-]?(?:[.,]?[0-9]|(?i:inf|true|false))"
_BOOLEAN = r"^(?:true|True|TRUE|false|False|FALSE)$"
MISSING_MARKS = (
    *("NA", "N/A", "n/a", "na", "n.a.", "N.A.", "#N/A", "#NA", "<NA>", "NaN", "nan", "NULL", "null", "None"),
    *("-", "--", "–", "—", ".", "..", "?"),
)
"""What stands for a missing value in a column of numbers, dates or truth values. In a column of text it is text."""


def infer(text: pl.Series, decimal: Decimal = ".", certain: bool = False) -> tuple[pl.Series, tuple[str, ...]]:
    """Give a column of texts the type that all of its cells have.

    Whole numbers become Int64, other numbers Float64, `true`/`false` Boolean, ISO dates Date and ISO date-times
    without a zone Datetime; anything else stays text. Codes with leading zeros (`007`) or a plus sign (telephone
    numbers) stay text, and so do whole numbers beyond 64 bits. In a column that is typed otherwise, cells of blanks and
    `MISSING_MARKS` (`NA`, `n/a`, `-` and the like) are missing.

    Parameters
    ----------
    text
        The cells; null where empty.
    decimal
        The sign before the decimal places.
    certain
        Whether that sign is known. Numbers with separators of thousands are read as such where it is, or where they
        tell it themselves (`1.234,50`).

    Returns
    -------
    tuple
        The typed column, and notes that name it: mixed content, `NA` read as missing, separators of thousands.

    Raises
    ------
    DataError
        Numbers among which one is infinite or beyond the range of floating point.

    Examples
    --------
    >>> import polars as pl
    >>> typed, notes = infer(pl.Series("age", ["31", None, "NA"]))
    >>> typed.to_list(), notes
    ([31, None, None], ("'NA' is read as missing in column 'age'.",))
    """
    stripped = text.alias("").str.strip_chars()  # A name such as "^a$" would be taken for a pattern.
    tokens = stripped.set(stripped.is_in(["", *MISSING_MARKS]), None)
    present = tokens.drop_nulls()
    if present.is_empty():
        return text, ()
    notes: tuple[str, ...] = ()
    typed = _typed(text.name, tokens, present, decimal)
    numeric = typed is None and _all(present.head(20), "^-?[0-9]")
    if numeric and is_grouped(present, decimal, certain):
        bare = plain(tokens, decimal)
        typed = _numbers(text.name, bare, bare.drop_nulls(), ".")
        notes = (f"Signs between the digits of column {text.name!r} are read as separators of thousands.",)
    if typed is None:
        perhaps = unread(text.name, present) if numeric else ()
        return text, perhaps or mixed(text, decimal) or _codes(text.name, present)
    return typed.alias(text.name), marked(text.name, stripped) + notes


def marked(name: str, cells: pl.Series) -> tuple[str, ...]:
    """Give a note if some cells are marks of missing values; it names the marks.

    Examples
    --------
    >>> import polars as pl
    >>> marked("age", pl.Series(["31", "n/a"]))
    ("'n/a' is read as missing in column 'age'.",)
    """
    found = set(cells.filter(cells.is_in(MISSING_MARKS)).unique())
    marks = [mark for mark in MISSING_MARKS if mark in found]
    verb = "is" if len(marks) == 1 else "are"
    return (f"{', '.join(map(repr, marks))} {verb} read as missing in column {name!r}.",) if marks else ()


def infer_columns(
    texts: Sequence[pl.Series], decimal: Decimal = ".", certain: bool = False
) -> list[tuple[pl.Series, tuple[str, ...]]]:
    """Do what `infer` does for each of many columns, in one pass for plain numbers and for plain text.

    Parameters
    ----------
    texts
        The columns, all of one height.
    decimal, certain
        As `infer` takes them.

    Examples
    --------
    >>> import polars as pl
    >>> ages, sexes = infer_columns([pl.Series("age", ["31", None]), pl.Series("sex", ["f", "m"])])
    >>> ages[0].to_list(), sexes[0].to_list()
    ([31, None], ['f', 'm'])
    """
    numbered = {str(j): text for j, text in enumerate(texts)}
    frame = pl.DataFrame([text.alias(j) for j, text in numbered.items()])
    typed = _plain_numbers(frame, decimal)
    typed |= _plain_texts(frame, [j for j in numbered if j not in typed])
    return [
        (typed[j].alias(text.name), ()) if j in typed else infer(text, decimal, certain) for j, text in numbered.items()
    ]


def _plain_numbers(frame: pl.DataFrame, decimal: Decimal) -> dict[str, pl.Series]:
    """The columns of texts that are numbers in every cell that is not empty, without blanks or marks, typed."""
    held = [n for n, nulls in zip(frame.columns, frame.null_count().row(0), strict=True) if nulls < frame.height]
    whole = _of_form(frame, held, _INTEGER)
    others = _of_form(frame, [n for n in held if n not in whole], number(decimal))
    point = pl.col(others).str.replace(",", ".", literal=True) if decimal == "," else pl.col(others)
    typed = frame.select(pl.col(whole).cast(pl.Int64, strict=False), point.cast(pl.Float64, strict=False))
    lost = typed.null_count().row(0)
    infinite = dict(zip(others, typed.select(pl.col(others).is_infinite().any()).row(0), strict=True)) if others else {}
    return {
        n: typed[n]
        for n, nulls in zip(typed.columns, lost, strict=True)
        if nulls == frame[n].null_count() and not infinite.get(n)
    }


def _plain_texts(frame: pl.DataFrame, names: list[str]) -> dict[str, pl.Series]:
    """The columns of texts in which no cell begins as a number, a date or a truth value does."""
    if not names:
        return {}
    some = frame.select(pl.col(names).str.contains(_BEGINS_TYPED).any()).row(0)
    return {n: frame[n] for n, found in zip(names, some, strict=True) if not found}


def _of_form(frame: pl.DataFrame, names: list[str], pattern: str) -> list[str]:
    """The columns all of whose cells have a form."""
    if not names:
        return []
    fit = frame.select(pl.col(names).str.contains(pattern).all()).row(0)
    return [n for n, fits in zip(names, fit, strict=True) if fits]


def _typed(name: str, tokens: pl.Series, present: pl.Series, decimal: Decimal) -> pl.Series | None:
    """Give the typed column, or None where it is text. Looks at one cell first, as most columns are text."""
    first = present.head(1)
    if _all(first, _BOOLEAN):
        return tokens.str.to_lowercase() == "true" if _all(present, _BOOLEAN) else None
    if _all(first, _DATE) and _all(present, _DATE):
        return _whole(tokens, tokens.str.to_date("%Y-%m-%d", strict=False))
    if _all(first, _DATETIME) and _all(present, _DATETIME):
        return _whole(tokens, _datetimes(tokens))
    return _numbers(name, tokens, present, decimal)


def _numbers(name: str, tokens: pl.Series, present: pl.Series, decimal: Decimal) -> pl.Series | None:
    if _all(present, _INTEGER):
        return _whole(tokens, tokens.cast(pl.Int64, strict=False))
    infinite = present.str.contains(_INFINITE)
    if not (infinite | present.str.contains(number(decimal))).all():
        return None
    if decimal == ",":
        tokens = tokens.str.replace(",", ".", literal=True)
    numbers = tokens.cast(pl.Float64, strict=False)
    if infinite.any() or numbers.is_infinite().any():
        raise DataError(f"Column {name!r} holds infinite values. Replace them by missing values or by finite ones.")
    return _whole(tokens, numbers)


def _datetimes(tokens: pl.Series) -> pl.Series:
    spaced = tokens.str.replace("T", " ", literal=True)
    spaced = pl.select(pl.when(spaced.str.len_bytes() == 16).then(spaced + ":00").otherwise(spaced)).to_series()
    return spaced.rename(tokens.name).str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)


def _whole(tokens: pl.Series, typed: pl.Series) -> pl.Series | None:
    """Give `typed` if it lost no cell (a date of 30 February, a number beyond 64 bits)."""
    return typed if typed.null_count() == tokens.null_count() else None


def _all(cells: pl.Series, pattern: str) -> bool:
    return bool(cells.str.contains(pattern).all())


def mixed(text: pl.Series, decimal: Decimal = ".") -> tuple[str, ...]:
    """Give a note if some cells of a column of texts are numbers and others are not.

    Examples
    --------
    >>> import polars as pl
    >>> mixed(pl.Series("dose", ["5", "five"]))
    ("Column 'dose' holds numbers and text; it is read as text.",)
    """
    numbers = text.alias("").drop_nulls().str.strip_chars().str.contains(number(decimal))
    if numbers.any() and not numbers.all():
        return (f"Column {text.name!r} holds numbers and text; it is read as text.",)
    return ()


def _codes(name: str, present: pl.Series) -> tuple[str, ...]:
    if _all(present, _DIGITS):
        return (f"Column {name!r} holds codes (leading zeros, a plus sign, very long numbers); it is read as text.",)
    return ()
