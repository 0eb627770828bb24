"""Values in broader categories of a hierarchy: what `recode` and `anonymise` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Missing, Scalar, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.data.extended import shown
from sfumato.data.hierarchy import EVERYTHING, Hierarchy, as_texts
from sfumato.data.roles import Kind, Role
from sfumato.errors import DataError

__all__ = [
    "OTHER",
    "Unlisted",
    "as_category",
    "coarsened",
    "code_text",
    "described",
    "generalised",
    "refuse_unlisted",
    "two_levels",
    "unlisted",
    "with_codes",
]

OTHER = "other"
"""The category of values that a hierarchy does not list, where they are given one."""


class Unlisted(DataError):
    """Values that hierarchies do not list, of all keys at once.

    Attributes
    ----------
    values : dict
        By key, each value with the number of its records: for the custodian alone, never for a message.
    """

    def __init__(self, values: Mapping[str, Mapping[str, int]]) -> None:
        self.values = {key: dict(counts) for key, counts in values.items()}
        super().__init__(
            f"The hierarchies of {', '.join(values)} do not list all values that are there. Add them (recode can do "
            "without: unknown: missing, or other). --internal-report lists them."
        )


def code_text(code: Missing) -> str:
    """A missing code, or a range of them, as a category."""
    return f"{code.low:g} to {code.high:g}" if code.code is None else f"{shown(code.code)}"


def generalised(column: str, dtype: pl.DataType, codebook: Codebook, level: Mapping[str, str]) -> pl.Expr:
    """A column in the categories of a level: texts, null where a value is missing or not listed.

    User-missing codes stay categories of their own: each says why there is no value. Where all is one category, codes
    and missing values are in it too.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [39, 41, -9]})
    >>> book = Codebook({"age": Variable(missing=[-9])})
    >>> below = generalised("age", frame.schema["age"], book, {"39": "30-39", "41": "40-49"})
    >>> frame.select(below).to_series().to_list()
    ['30-39', '40-49', '-9']
    """
    value = pl.col(column)
    if set(level.values()) == {EVERYTHING}:
        return pl.repeat(EVERYTHING, pl.len()).alias(column)
    old, new = list(level), list(level.values())
    text = as_texts(value, dtype).replace_strict(old, new, default=None, return_dtype=pl.String)
    return with_codes(column, dtype, codebook, text)


def with_codes(column: str, dtype: pl.DataType, codebook: Codebook, new: pl.Expr) -> pl.Expr:
    """New texts of a column, in which user-missing codes stay categories of their own, and missing values missing.

    Examples
    --------
    >>> frame, book = pl.DataFrame({"age": [39, -9, None]}), Codebook({"age": Variable(missing=[-9])})
    >>> frame.select(with_codes("age", frame.schema["age"], book, pl.lit("adult"))).to_series().to_list()
    ['adult', '-9', None]
    """
    text: pl.Expr = pl.when(~codebook.missing(column, dtype)).then(new)
    for code in codebook[column].missing:  # each says why there is no value
        is_code = code.expression(pl.col(column), dtype).fill_null(False)
        text = pl.when(is_code).then(pl.lit(code_text(code))).otherwise(text)
    return text.alias(column)


def as_category(variable: Variable, kind: Kind = Kind.CATEGORICAL, order: Sequence[Scalar] = ()) -> Variable:
    """What is known of a variable after its values became texts of other categories: what spoke of the old is gone.

    An identifier is a key then, for others may know what is left of it.

    Examples
    --------
    >>> as_category(Variable(role="identifier", kind="text", missing=[-9])).missing[0].code
    '-9'
    """
    update: dict[str, Any] = {
        "role": Role.KEY if variable.role == Role.IDENTIFIER else variable.role,
        "kind": kind,
        "order": tuple(order),
        "missing": tuple(Missing(code=code_text(code), label=code.label) for code in variable.missing),
        "labels": {},
        "hierarchy": {},
    }
    return variable.model_copy(update=update | dict.fromkeys(("range", "measure", "format", "unit")))


def unlisted(counts: pl.DataFrame, column: str, count: str, codebook: Codebook, hierarchy: Hierarchy) -> dict[str, int]:
    """The values that a hierarchy does not list, with their records, from counts of a column."""
    dtype = counts.schema[column]
    there = counts.filter(~codebook.missing(column, dtype)).select(as_texts(pl.col(column), dtype), pl.col(count))
    found = there.filter(~pl.col(column).is_in(list(hierarchy.leaves))).group_by(column).agg(pl.col(count).sum())
    return {str(value): int(n) for value, n in found.sort(column).rows()}


def refuse_unlisted(found: Mapping[str, Mapping[str, int]]) -> None:
    """Refuse values that no hierarchy lists.

    Raises
    ------
    Unlisted
        With the names of all keys that have some.
    """
    if some := {key: values for key, values in found.items() if values}:
        raise Unlisted(some)


def described(variable: Variable, hierarchy: Hierarchy, level: int) -> Variable:
    """What is known of a variable whose values are categories of a level: a text, ordered where they are intervals."""
    if level == 0:
        return variable
    bands = hierarchy.bands(level, variable.kind == Kind.INTEGER)
    rest = hierarchy.above(level)
    codes = tuple(Missing(code=code_text(code), label=code.label) for code in variable.missing)
    return variable.model_copy(
        update={
            "kind": Kind.ORDINAL if bands else Kind.CATEGORICAL,
            "order": (*bands, *(code.code for code in codes)) if bands else (),
            "hierarchy": {} if rest is None else rest.to_variable(),
            "missing": codes,
            "labels": {},
            "range": None,
            "measure": None,
            "format": None,
        }
    )


def coarsened(column: str, variable: Variable, hierarchy: Hierarchy, level: int) -> tuple[Coarsened, ...]:
    """What a level tells less; with the interval of each category where values are numbers."""
    if level == 0:
        return ()
    if level == hierarchy.height:
        return (Coarsened((column,), "to one category, *"),)
    bands = hierarchy.bands(level, variable.kind == Kind.INTEGER)
    how = f"to level {level} of its hierarchy"
    return (Coarsened((column,), f"{how}, intervals" if bands else how, bands),)


def two_levels(values: Sequence[str]) -> Hierarchy:
    """The hierarchy of a key that has none: itself, and everything."""
    return Hierarchy(tuple((value,) for value in values))
