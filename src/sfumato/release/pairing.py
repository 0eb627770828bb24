"""Put an original and a protected table side by side, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.pair import Pair
from sfumato.data.roles import IDS, Role
from sfumato.data.unseen import seen
from sfumato.draws import written
from sfumato.errors import DataError
from sfumato.plan.binding import unique_record

__all__ = ["Align", "numeric_columns", "pair_tables", "refuse_unknown"]

Align = Literal["row-order", "none"]


def refuse_unknown(names: Sequence[str], frame: pl.DataFrame, where: str) -> None:
    """Refuse names that a table does not have."""
    unknown = [n for n in names if n not in frame.columns]
    if unknown:
        raise DataError(
            f"There is no column {', '.join(map(repr, unknown))} in {where}. Columns: {seen(', '.join(frame.columns))}."
        )


def numeric_columns(codebook: Codebook, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that measures of numbers are of: continuous and integer ones, without ids and weights."""
    not_measured = (*IDS, Role.IDENTIFIER, Role.WEIGHT)
    return tuple(n for n in names if n in codebook and codebook[n].numeric and codebook[n].role not in not_measured)


def pair_tables(
    before: pl.DataFrame,
    after: pl.DataFrame,
    codebook: Codebook,
    *,
    columns: Sequence[str],
    by: Sequence[str] = (),
    record: str | None = None,
    align: Align | None = None,
) -> Pair:
    """Join two tables on the record id, or align them row by row where that is asked for.

    Parameters
    ----------
    before, after
        Original and protected table.
    codebook
        What is known about the variables of both.
    columns, by
        As in `Pair`.
    record
        Column with the record's id in both. Records that only one table has are left out.
    align
        `row-order`: row i of one goes with row i of the other. `none`, or without `record` and `align`: the pair is not
        aligned, and only whole tables can be compared.

    Raises
    ------
    DataError
        For unknown columns, ids that are not unique, unequal heights, rows that a common id shows to be in another
        order, or columns of different types.
    """
    for frame, where in ((before, "the original"), (after, "the protected table")):
        refuse_unknown((*columns, *by, *((record,) if record else ())), frame, where)
    before, after = _same_types(before, after, record)
    notes: tuple[str, ...] = ()
    whole = None
    if record is not None:
        unique_record(before, record, "the original")
        unique_record(after, record, "the protected table")
        whole = (before, after)
        before, after, notes = _joined(before, after, record)
        whole = whole if notes else None
    elif align == "row-order":
        _refuse_other_order(before, after)
    aligned = record is not None or align == "row-order"
    return Pair(before, after, codebook, tuple(columns), tuple(by), aligned, record, notes, whole)


def _refuse_other_order(before: pl.DataFrame, after: pl.DataFrame) -> None:
    """Refuse tables of which row i cannot go with row i: a slip here shows less risk than there is."""
    if before.height != after.height:
        raise DataError("align: row-order needs tables with equal numbers of rows. Name the record column instead.")
    for n in before.columns:
        if n in after.columns and before.schema[n] == after.schema[n] and not before.schema[n].is_float():
            one, two = before[n], after[n]
            if not one.equals(two) and one.n_unique() == one.len() and one.sort().equals(two.sort()):
                raise DataError(
                    f"The rows of the two tables are in different orders: column {n!r} holds the same ids in both, but "
                    f"not row by row. Join them on it (record {n!r}) in place of align: row-order."
                )


def _joined(
    before: pl.DataFrame, after: pl.DataFrame, record: str
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[str, ...]]:
    """The records that both tables have, in the order of ids."""
    one, two = before[record], after[record]
    if one.dtype != two.dtype:  # ids that are equal are equal whatever their types
        one, two = written(one), written(two)
    first = pl.DataFrame({"id": one}).with_row_index("before")
    both = first.join(pl.DataFrame({"id": two}).with_row_index("after"), on="id").sort("id")
    if both.is_empty():
        raise DataError(
            f"No id of {record!r} stands in both tables. Are they the same people's, with the same ids? Where a step "
            "pseudonymised them, give the plan and the secret that the release was made with (--plan, --secret-file)."
        )
    notes: tuple[str, ...] = ()
    if both.height < max(before.height, after.height):
        notes = ("Some records stand in one of the tables only; measures that compare records leave them out.",)
    return before[both["before"]], after[both["after"]], notes


def _same_types(before: pl.DataFrame, after: pl.DataFrame, record: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Bring columns that both tables have to comparable types: yes/no and 0/1 are one, whole numbers and floats are."""
    for n in before.columns:
        if n == record or n not in after.columns or before.schema[n] == after.schema[n]:
            continue
        one, two = before.schema[n], after.schema[n]
        if pl.Boolean in (one, two) and (one.is_numeric() or two.is_numeric()):
            before, after = (t.with_columns(pl.col(n).cast(pl.Int64)) for t in (before, after))
        elif not (one.is_numeric() and two.is_numeric()) and pl.Null not in (one, two):
            before, after = (t.with_columns(pl.col(n).cast(pl.String)) for t in (before, after))
    return before, after
