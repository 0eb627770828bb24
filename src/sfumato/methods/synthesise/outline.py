"""What `method: structure` takes from a column: its kind, a power of ten or decades, and gaps to a tenth.

No value of the data is in it, no category, no extreme, and no number of decimals or letters. What the plan says of a
column goes before all that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar, Variable
from sfumato.data.roles import NUMERIC_KINDS, Kind, Role
from sfumato.methods.drawn_grid import time_unit
from sfumato.methods.synthesise.coding import Coding

__all__ = ["Outline", "outline_of", "type_of"]

Floats = NDArray[np.float64]

_FEWEST = 20
"""Of fewer values nothing is learnt, and of fewer records nothing about gaps."""
_MIDDLE = 0.05, 0.95
_UNKNOWN_POWER, _UNKNOWN_YEARS = 2, (2000, 2009)
"""What stands for the size of numbers, and for years, where nothing is learnt."""
_MOST_WHOLE, _MOST = 18, 300
"""Largest powers of ten that a whole number, or any, is drawn up to."""
_DIGITS, _MOST_DECIMALS = 3, 9
_FIRST_YEAR, _LAST_YEAR = 1, 9989
_LETTERS: tuple[Scalar, ...] = ("a", "b", "c")
_TEXT: tuple[Scalar, ...] = ("text",)


@dataclass(frozen=True)
class Outline:
    """What is drawn of one column.

    Parameters
    ----------
    coding
        How it is coded: with its range, or its categories; gaps behind these, and what rules demand behind gaps.
    categories
        How many categories are drawn; 0 of a number.
    gaps
        How many kinds of gaps are drawn.
    share
        Share of rows that have one, in tenths.
    learnt
        Whether the lower, and the upper end of its range are learnt, and no plan's.
    """

    coding: Coding
    categories: int
    gaps: int
    share: float
    learnt: tuple[bool, bool] = (False, False)

    def between(self, low: float, high: float) -> Outline:
        """The same with another range."""
        return replace(self, coding=replace(self.coding, ends=(low, high), edges=np.array([high])))


def type_of(dtype: pl.DataType, variable: Variable) -> pl.DataType:
    """The type in which a column leaves: that of its kind, so that it tells no size, no length and no category.

    Examples
    --------
    >>> type_of(pl.Int8(), Variable(kind="integer")), type_of(pl.Enum(["f", "m"]), Variable(kind="categorical"))
    (Int64, String)
    """
    if dtype == pl.Boolean or isinstance(dtype, pl.Date | pl.Datetime):
        return dtype
    if variable.kind == Kind.DATE:
        return pl.Date()
    if dtype.is_integer():
        return pl.Int64()
    if dtype.is_numeric() or variable.kind == Kind.CONTINUOUS:
        return pl.Float64()
    return pl.Int64() if variable.kind == Kind.INTEGER else pl.String()


def outline_of(column: pl.Series, codebook: Codebook, wanted: Sequence[Scalar | None] = ()) -> Outline:
    """Outline a column.

    Parameters
    ----------
    column
        The original's.
    codebook
        Of the table: `range`, `order`, `labels` and missing codes are the plan's.
    wanted
        Values that rules demand.

    Examples
    --------
    >>> made = outline_of(pl.Series("pay", [float(i) for i in range(1, 400)]), Codebook({"pay": Variable()}))
    >>> made.coding.ends, made.share
    ((0.0, 1000.0), 0.0)
    """
    name = column.name
    variable = codebook[name] if name in codebook else Variable()
    dtype = type_of(column.dtype, variable)
    missing = column.to_frame().select(codebook.missing(name, column.dtype)).to_series()
    few = len(column) < _FEWEST
    share = 0.0 if few else math.floor(10 * (missing.mean() or 0.0) + 0.5) / 10  # type: ignore[operator]
    codes = list(_codes(variable, dtype))
    gaps: list[object] = (codes or [None]) if share else []
    more = [value for value in _typed(wanted, dtype, none=True) if value not in gaps]
    if dtype == pl.Boolean or dtype == pl.String or not _is_amount(variable, dtype):
        levels = _levels(variable, dtype)
        special = (*levels, *gaps, *(value for value in more if value not in levels))
        return Outline(Coding(name, dtype, special, True, np.zeros(0), None), len(levels), len(gaps), share)
    values = column.filter(~missing)
    demanded = (value for value in more if value is None or value in codes)
    coding = Coding(name, dtype, (*gaps, *demanded), True, np.zeros(1), 0)
    out = Outline(coding, 0, len(gaps), share, (True, True))
    return _of_dates(out, values) if dtype.is_temporal() else _of_numbers(out, values, variable)


def _is_amount(variable: Variable, dtype: pl.DataType) -> bool:
    return dtype.is_temporal() or variable.kind in (None, *NUMERIC_KINDS)


def _codes(variable: Variable, dtype: pl.DataType) -> Iterator[object]:
    """The codes of missing values that a column of this type can hold; of a range of codes its lowest."""
    if dtype.is_temporal() or dtype == pl.Boolean:
        return
    told = [code.low if code.code is None else code.code for code in variable.missing if not code.gap]
    yield from _typed(told, dtype)


def _levels(variable: Variable, dtype: pl.DataType) -> tuple[object, ...]:
    """The categories that are drawn: the plan's; else yes and no, 1, 2 and 3, or letters, as the type is."""
    if dtype == pl.Boolean:
        return False, True
    if variable.kind == Kind.TEXT:
        return _TEXT
    told = [
        value for value in (*variable.order, *variable.labels) if not any(m.matches(value) for m in variable.missing)
    ]
    usual = _LETTERS if dtype == pl.String else (1, 2, 3)
    return tuple(_typed(told, dtype)) or tuple(_typed(usual, dtype))


def _typed(values: Sequence[Scalar | None], dtype: pl.DataType, *, none: bool = False) -> Iterator[object]:
    """Values in a type, each once; those that it cannot hold are left out."""
    once = {}
    for value in values:
        if value is None:
            held: object = None
        elif dtype == pl.String:
            held = str(value)
        else:
            held = pl.Series([value], strict=False).cast(dtype, strict=False)[0]
            held = None if isinstance(value, float) and held != value else held  # 2.5 is no whole number
        if held is not None or (none and value is None):
            once[held] = held
    yield from once.values()


def _of_numbers(out: Outline, values: pl.Series, variable: Variable) -> Outline:
    whole = out.coding.dtype.is_integer() or variable.kind == Kind.INTEGER
    number = values.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    low, high = _middle(np.sort(number[np.isfinite(number)]))
    known = variable.range or (None, None)
    power = _power(max(abs(low), abs(high)), whole=whole)
    learnt = (-(10.0**power) if low < 0 else 0.0, 10.0**power)
    ends = [own if said is None else said for own, said in zip(learnt, known, strict=True)]
    if ends[0] > ends[1]:  # the plan's one end is beyond what is learnt
        ends = [ends[0], ends[0] + 10.0**power] if known[0] is not None else [ends[1] - 10.0**power, ends[1]]
    decimals = 0 if whole else _decimals(ends[0], ends[1])
    unit = 10.0**-decimals
    if variable.role == Role.WEIGHT:
        ends[0] = max(ends[0], unit)  # a weight of 0 counts nobody
        ends[1] = max(ends)
    out = replace(out, coding=replace(out.coding, decimals=decimals), learnt=(known[0] is None, known[1] is None))
    return out.between(float(ends[0]), float(ends[1]))


def _middle(number: Floats) -> tuple[float, float]:
    """Ends of the middle 90%, which are values, not the least and not the largest one."""
    if len(number) < _FEWEST:
        return 0.0, 10.0**_UNKNOWN_POWER
    low, high = _places(len(number))
    return float(number[low]), float(number[high])


def _places(many: int) -> tuple[int, int]:
    last = many - 1
    return math.ceil(_MIDDLE[0] * last), math.floor(_MIDDLE[1] * last)


def _power(size: float, *, whole: bool) -> int:
    """The least power of ten that is not below a size."""
    if size <= 0:
        return 0
    power = math.ceil(math.log10(size) - 1e-12)
    return min(max(power, 0), _MOST_WHOLE) if whole else min(max(power, -_MOST_DECIMALS), _MOST)


def _decimals(low: float, high: float) -> int:
    """So many that there are about a thousand numbers or more; as few as one, so that they are seen to be decimal."""
    width = high - low or 1.0
    return min(max(_DIGITS - math.ceil(math.log10(width) - 1e-12), 1), _MOST_DECIMALS)


def _of_dates(out: Outline, values: pl.Series) -> Outline:
    """From the first day of the first decade to the last of the last one that the middle 90% are in."""
    dtype = out.coding.dtype
    if not values.dtype.is_temporal():
        values = values.cast(pl.String).str.to_date("%Y-%m-%d", strict=False)
    held = values.drop_nulls().sort()
    first, last = _UNKNOWN_YEARS
    if len(held) >= _FEWEST:
        years = [int(held.gather([place]).dt.year()[0]) for place in _places(len(held))]
        low, high = (min(max(year, _FIRST_YEAR), _LAST_YEAR) for year in years)
        first, last = max(low // 10 * 10, _FIRST_YEAR), high // 10 * 10 + 9
    ends = pl.select(low=pl.datetime(first, 1, 1), high=pl.datetime(last, 12, 31, 23, 59, 59))
    unit = None
    if isinstance(dtype, pl.Datetime):
        ends = ends.cast(pl.Datetime(dtype.time_unit))
        unit = time_unit(dtype)
    else:
        ends = ends.cast(pl.Date)
    low_end, high_end = (float(ends[name].to_physical()[0]) for name in ("low", "high"))
    return replace(out, coding=replace(out.coding, step=unit)).between(low_end, high_end)
