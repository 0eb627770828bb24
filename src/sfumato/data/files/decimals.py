"""What stands before the decimal places of numbers in text, and between their thousands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

__all__ = [
    "SIGN_AND_WHOLE",
    "Decimal",
    "Decimals",
    "grouped",
    "is_grouped",
    "number",
    "plain",
    "sniff_decimal",
    "unread",
]

Decimal = Literal[".", ","]

SIGN_AND_WHOLE = r"-?(?:0|[1-9][0-9]*)"
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_OTHER: dict[Decimal, Decimal] = {".": ",", ",": "."}
_GAPS = r" \x{00a0}\x{202f}'’"
_SAMPLE = 10_000


def number(decimal: Decimal) -> str:
    """Give the form of a number without separators of thousands, a regular expression.

    Examples
    --------
    >>> import re
    >>> bool(re.match(number(","), "-1,5")), bool(re.match(number("."), "007"))
    (True, False)
    """
    point = _escaped(decimal)
    return rf"^(?:{SIGN_AND_WHOLE}(?:{point}[0-9]*)?|-?{point}[0-9]+){_EXPONENT}$"


def grouped(decimal: Decimal) -> str:
    """Give the form of a number with separators of thousands: the other sign, a blank or an apostrophe."""
    return _grouped(decimal, "+", "?")


def _grouped(decimal: Decimal, groups: str, places: str) -> str:
    separators = [_escaped(_OTHER[decimal]), *(rf"[{gap}]" for gap in (" ", r"\x{00a0}", r"\x{202f}", "'", "’"))]
    body = "|".join(f"(?:{separator}[0-9]{{3}}){groups}" for separator in separators)
    return rf"^-?[1-9][0-9]{{0,2}}(?:{body})(?:{_escaped(decimal)}[0-9]+){places}$"


def _escaped(sign: Decimal) -> str:
    """Give a sign as a regular expression has it."""
    return r"\." if sign == "." else ","


def is_grouped(present: pl.Series, decimal: Decimal, certain: bool) -> bool:
    """Tell whether cells are numbers with separators of thousands.

    Parameters
    ----------
    present
        The cells, none missing.
    decimal
        The sign before the decimal places.
    certain
        Whether that sign is known; else some cell must tell it: one with places behind groups, or with two signs
        between groups (`1.234,5`, `1.234.567`). Blanks and apostrophes alone never do: telephone numbers have them.

    Examples
    --------
    >>> import polars as pl
    >>> cells = pl.Series(["1.234", "999"])
    >>> is_grouped(cells, ",", certain=True), is_grouped(cells, ",", certain=False)
    (True, False)
    """
    if not _fits(present.head(100), decimal) or not _fits(present, decimal):
        return False
    by_sign = rf"{_escaped(_OTHER[decimal])}[0-9]{{3}}"
    return _tells(present, decimal) or (certain and bool(present.str.contains(by_sign).any()))


def _fits(cells: pl.Series, decimal: Decimal) -> bool:
    return bool((cells.str.contains(number(decimal)) | cells.str.contains(grouped(decimal))).all())


def _tells(cells: pl.Series, decimal: Decimal) -> bool:
    other = _escaped(_OTHER[decimal])
    both = cells.str.contains(_grouped(decimal, "+", ""))
    return bool((both | cells.str.contains(rf"^-?[1-9][0-9]{{0,2}}(?:{other}[0-9]{{3}}){{2,}}$")).any())


def unread(name: str, present: pl.Series) -> tuple[str, ...]:
    """Give a note on a column of texts that could be numbers; it names the option that says so.

    Examples
    --------
    >>> import polars as pl
    >>> print(*unread("income", pl.Series(["1.234,50", "999,00"])))
    Column 'income' is read as text. If it holds numbers, state --decimal "," (in Python decimal=",").
    """
    signs = [sign for sign in _OTHER if _fits(present.head(100), sign) and _fits(present, sign)]
    if not signs or present.str.contains(rf"^{SIGN_AND_WHOLE}$").all():
        return ()
    if not present.str.contains("[.,]").any():
        return (f"Column {name!r} holds numbers with blanks or apostrophes between digits; it is read as text.",)
    options = " or ".join(f'--decimal "{sign}"' for sign in signs)
    python = " or ".join(f'decimal="{sign}"' for sign in signs)
    return (f"Column {name!r} is read as text. If it holds numbers, state {options} (in Python {python}).",)


def plain(tokens: pl.Series, decimal: Decimal) -> pl.Series:
    """Give numbers without separators of thousands and with a point before the decimal places.

    Examples
    --------
    >>> import polars as pl
    >>> plain(pl.Series(["1.234,5", "1 000"]), ",").to_list()
    ['1234.5', '1000']
    """
    bare = tokens.str.replace_all(rf"[{_GAPS}{_OTHER[decimal]}]", "")
    return bare.str.replace(",", ".", literal=True) if decimal == "," else bare


@dataclass(frozen=True)
class Decimals:
    """What the columns of a file tell of their decimal sign.

    Parameters
    ----------
    sign
        The sign that most columns of numbers have.
    certain
        Whether some column can have no other.
    unsure
        Columns whose numbers could have this sign before decimal places or between thousands.
    """

    sign: Decimal = "."
    certain: bool = False
    unsure: tuple[str, ...] = ()


def sniff_decimal(columns: Sequence[pl.Series]) -> Decimals:
    """Tell whether numbers have a decimal point or a decimal comma, by the columns of texts that they stand in.

    Where columns differ, a comma needs more of them than a point. A column in which the sign always stands before three
    digits (`1,234`) counts only where no other column tells.

    Examples
    --------
    >>> import polars as pl
    >>> sniff_decimal([pl.Series(["1,5", "2"]), pl.Series(["a", "b"])]).sign
    ','
    >>> sniff_decimal([pl.Series("income", ["1,234", "20,500"])])
    Decimals(sign=',', certain=False, unsure=('income',))
    """
    sure: dict[Decimal, int] = {".": 0, ",": 0}
    unsure: dict[Decimal, list[str]] = {".": [], ",": []}
    pointed = _plainly_pointed(columns)
    sure["."] += sum(pointed)
    for column in (c for c, known in zip(columns, pointed, strict=True) if not known):
        cells = column.alias("").drop_nulls().head(_SAMPLE).str.strip_chars()  # "^…$" would be taken for a pattern
        if not cells.str.contains("[.,]").any():
            continue
        for sign in sure:
            if _has_places(cells, sign):
                if _fits(cells, _OTHER[sign]):
                    unsure[sign].append(column.name)
                else:
                    sure[sign] += 1
            elif is_grouped(cells, sign, certain=False):
                sure[sign] += 1
    votes = {sign: sure[sign] or (len(unsure[sign]) if not any(sure.values()) else 0) for sign in sure}
    best: Decimal = "," if votes[","] > votes["."] else "."
    return Decimals(best, sure[best] > 0, () if sure[best] else tuple(unsure[best]))


def _plainly_pointed(columns: Sequence[pl.Series]) -> list[bool]:
    """Tell of each column, in one pass, whether its numbers can only have a decimal point: most do, in most files."""
    if len({len(column) for column in columns}) != 1:  # of no one table
        return [False] * len(columns)
    names = [str(j) for j in range(len(columns))]
    frame = pl.DataFrame([column.alias(n) for n, column in zip(names, columns, strict=True)])
    cells = pl.all().drop_nulls().head(_SAMPLE).str.strip_chars()
    points = frame.select(cells.str.contains(".", literal=True).any()).row(0)
    frame = frame.select(n for n, some in zip(names, points, strict=True) if some)
    if not frame.width:
        return [False] * len(columns)
    plain_points = frame.select(cells.str.contains(number(".")).all()).row(0)
    commas = frame.select((cells.str.contains(number(",")) | cells.str.contains(grouped(","))).all()).row(0)
    found = {n for n, yes, no in zip(frame.columns, plain_points, commas, strict=True) if yes and not no}
    return [n in found for n in names]


def _has_places(cells: pl.Series, sign: Decimal) -> bool:
    """Tell whether cells are numbers and some have this sign before decimal places."""
    if not cells.str.contains(sign, literal=True).any():
        return False
    return bool(cells.str.contains(number(sign)).all())
