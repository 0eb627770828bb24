"""What a column can be coarsened to by what it is: dates to years, postcodes to areas, codes to broader groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hierarchy import as_texts
from sfumato.data.kinds import NEARLY_ALL
from sfumato.data.roles import Kind
from sfumato.methods.by_value import ByValue
from sfumato.methods.coarsen_date import CoarsenDate
from sfumato.methods.coarsen_postcode import CoarsenPostcode
from sfumato.methods.generalising import with_codes
from sfumato.methods.truncate_code import TruncateCode

__all__ = ["Level", "levels_of", "year_of"]

_GROUPS = {"soc2020": (3, 2, 1), "isco": (3, 2, 1), "sic": (3, 2), "icd10": (3,)}
"""Characters that stay of codes, finest first: never the codes in full."""
_WRITTEN = "%Y%m%d"


@dataclass(frozen=True)
class Level:
    """A column as a step leaves it.

    Parameters
    ----------
    parameters
        The step's, with `do` and without `columns`.
    values
        What it leaves.
    variable
        What is known of these.
    """

    parameters: Mapping[str, Any]
    values: pl.Series
    variable: Variable


def year_of(column: pl.Series, variable: Variable) -> Level | None:
    """The years of a column of dates; None where it does not tell how they are written.

    Parameters
    ----------
    column
        Dates, texts, or whole numbers such as 19581231.
    variable
        What is known of it.

    Examples
    --------
    >>> born = pl.Series("born", ["03/04/1958", "12/11/1960"])
    >>> year_of(born, Variable(kind="date")).values.to_list()
    [1958, 1960]
    >>> year_of(pl.Series("born", ["03/04/58", "12/11/60"]), Variable(kind="date"))
    """
    more: dict[str, Any] = {"format": _WRITTEN} if column.dtype.is_numeric() else {}
    frame, book = column.to_frame(), Codebook({column.name: variable})
    step = CoarsenDate(columns=(column.name,), to="year", invalid="missing", **more)
    if step.check(book):
        return None
    years = step.coarse(frame, book)
    held = frame.select(~book.missing(column.name, column.dtype)).to_series()
    lost = int((held & years.is_null()).sum())
    if not held.any() or lost > (1 - NEARLY_ALL) * int(held.sum()):
        return None
    more |= {"invalid": "missing"} if lost else {}
    return Level({"do": "coarsen_date", "to": "year", **more}, years, step.describe(book)[column.name])


def levels_of(column: pl.Series, variable: Variable, scheme: str | None = None) -> tuple[Level, ...]:
    """What is left of postcodes or of codes of a classification, finest first; nothing where most are none.

    Parameters
    ----------
    column
        Texts, or codes as whole numbers.
    variable
        What is known of it.
    scheme
        The classification of its codes.

    Examples
    --------
    >>> homes = pl.Series("home", ["LS2 9JT", "ls29ab", "W1A 1AA"])
    >>> [level.values.to_list() for level in levels_of(homes, Variable(kind="geographic"))]
    [['LS2', 'LS2', 'W1A'], ['LS', 'LS', 'W']]
    """
    name = column.name
    steps: Sequence[ByValue]
    if scheme is not None:
        steps = [TruncateCode(columns=(name,), keep=n, scheme=scheme) for n in _GROUPS[scheme]]
    elif variable.kind == Kind.GEOGRAPHIC and column.dtype in (pl.String, pl.Categorical, pl.Enum):
        steps = [CoarsenPostcode(columns=(name,), to=to) for to in ("district", "area")]
    else:
        return ()
    if any(step.check(Codebook({name: variable})) for step in steps):
        return ()
    levels = [level for step in steps if (level := _level(step, column, variable)) is not None]
    return tuple(levels) if len(levels) == len(steps) else ()


def _level(step: ByValue, column: pl.Series, variable: Variable) -> Level | None:
    name, frame, book = column.name, column.to_frame(), Codebook({column.name: variable})
    text = as_texts(pl.col(name), column.dtype)
    held = frame.filter(~book.missing(name, column.dtype)).select(text).to_series()
    distinct = held.unique()
    numeric = column.dtype.is_numeric()
    new = step.broader(distinct, numeric, step.length(distinct) if numeric else 0)
    if distinct.is_empty() or new.null_count() > (1 - NEARLY_ALL) * len(new):
        return None
    coarse = with_codes(name, column.dtype, book, text.replace_strict(distinct, new, default=None))
    parameters = step.model_dump(exclude_unset=True, exclude={"columns"})
    return Level({"do": step.name, **parameters}, frame.select(coarse).to_series(), step.describe(book)[name])
