"""How the cells of a table are read by what a plan says of its variables: gaps as gaps, texts as dates or numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from sfumato.data.codebook import Variable
from sfumato.data.files.infer import infer
from sfumato.data.roles import Kind

__all__ = ["gaps", "read", "texts_to_read", "typed"]


def gaps(frame: pl.DataFrame, variables: Mapping[str, Variable]) -> pl.DataFrame:
    """The table with null in the place of codes that are plain gaps.

    Parameters
    ----------
    frame
        Some columns of a table, or all.
    variables
        What a plan says of them.

    Examples
    --------
    >>> book = {"age": Variable(missing=({"code": "*", "gap": True}, "refused"))}
    >>> gaps(pl.DataFrame({"age": ["30", "*", "refused"]}), book)["age"].to_list()
    ['30', None, 'refused']
    """
    schema = frame.schema
    codes = {n: [m for m in v.missing if m.gap] for n, v in variables.items() if n in schema}
    tests = {n: [m.expression(pl.col(n), schema[n]) for m in found] for n, found in codes.items() if found}
    return frame.with_columns(
        pl.when(~pl.any_horizontal(test).fill_null(False)).then(pl.col(n)).alias(n) for n, test in tests.items()
    )


def texts_to_read(schema: Mapping[str, pl.DataType], variables: Mapping[str, Variable]) -> Iterator[str]:
    """Columns of text that a plan calls dates, or numbers beside codes for a gap, which made the column one of text."""
    for n, variable in variables.items():
        numbers = variable.numeric and any(m.gap for m in variable.missing)
        if schema.get(n) == pl.String and (variable.kind == Kind.DATE or numbers):
            yield n


def typed(texts: pl.Series, variable: Variable) -> pl.Series:
    """Texts as what the plan calls them, where all of them are that; else as they are.

    Examples
    --------
    >>> typed(pl.Series(["30", None]), Variable(kind="integer")).to_list()
    [30, None]
    >>> typed(pl.Series(["30", "old"]), Variable(kind="integer")).to_list()
    ['30', 'old']
    """
    found = infer(texts)[0]
    return found if (found.dtype.is_temporal() if variable.kind == Kind.DATE else found.dtype.is_numeric()) else texts


def read(frame: pl.DataFrame, variables: Mapping[str, Variable]) -> pl.DataFrame:
    """The table as a plan has it read: gaps first, then texts as dates and numbers.

    Examples
    --------
    >>> book = {"age": Variable(kind="integer", missing=({"code": "*", "gap": True},))}
    >>> read(pl.DataFrame({"age": ["30", "*"]}), book)["age"].to_list()
    [30, None]
    """
    frame = gaps(frame, variables)
    return frame.with_columns(typed(frame[n], variables[n]) for n in texts_to_read(frame.schema, variables))
