"""What intruders know of the people of a release: true values in its terms, and a control of others."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.holding import holding
from sfumato.data.pair import Pair
from sfumato.data.traces import Traces
from sfumato.draws import written
from sfumato.errors import DataError
from sfumato.measures.intruding import PAIRS
from sfumato.measures.known import Known

__all__ = ["comparable", "known_people", "refuse_members"]

IN_BOTH = (
    "Some people of the release are in the control: its {record} holds ids that stand in the release. A control is of "
    "people who are not in it."
)
SAME_ROWS = (
    "Some people of the original are in the control: rows are equal in all columns, {record} among them, which tells "
    "every row from the others. A control is of people who are not in the release."
)
NOT_THERE = "The control (--control) has no column {columns}. It needs what the intruder knows, and what is guessed."
OTHER_TYPE = "The control (--control) has other types than the original: {told}. Give it the same."


def known_people(
    traces: Traces,
    pair: Pair,
    codebook: Codebook,
    keys: Sequence[str],
    *,
    control: pl.DataFrame | None = None,
    needed: Sequence[str] = (),
    record: str | None = None,
    other_type: Sequence[str] = (),
    raw: pl.DataFrame | None = None,
    pairs: int = PAIRS,
) -> Known:
    """Put what is true of people beside what was released of them.

    A released column that no step masks, and that was coarsened since, is known as it was released: whoever knows a
    value can coarsen it, too.

    Parameters
    ----------
    traces
        What the plan that made the release did to columns.
    pair
        The table as it entered the first step that masks, and the release.
    codebook
        Of the release.
    keys
        What an intruder may know.
    control
        People who are not in the release.
    needed
        Columns that the control must have besides.
    record
        The column with the record's id.
    other_type
        Columns that are numbers in one table and categories in the other: nobody can compare them.
    raw
        The true values with the columns that were coarsened after masking began, row by row.
    pairs
        Most pairs that are compared.

    Raises
    ------
    DataError
        Where the control lacks columns, holds others than the original does, or people of the release.
    """
    people, released = pair.before.drop(other_type, strict=False), pair.after
    if pair.aligned:
        coarse = [n for n in traces.coarsened if n in released.columns and n not in traces.masked]
        people = people.with_columns(_in_its_terms(n, raw, released) for n in coarse)
    if control is not None:
        control = _checked(control, people, released, (*keys, *needed), record)
    return Known(people, released, codebook, tuple(keys), pair.aligned, control, record, pairs)


def _in_its_terms(column: str, raw: pl.DataFrame | None, released: pl.DataFrame) -> pl.Series:
    """What is known of a coarsened column: the true values where cells were only emptied, else the coarser ones."""
    there = released[column]
    if raw is None or column not in raw.columns or raw.schema[column] != there.dtype:
        return there
    true = raw[column]
    return true if ((true == there) | there.is_null()).fill_null(True).all() else there


def _checked(
    control: pl.DataFrame, people: pl.DataFrame, released: pl.DataFrame, columns: Sequence[str], record: str | None
) -> pl.DataFrame:
    """The control with the types of the people of the release.

    It comes from elsewhere, and is not trusted.
    """
    if missing := [n for n in dict.fromkeys(columns) if n in people.columns and n not in control.columns]:
        raise DataError(NOT_THERE.format(columns=", ".join(map(repr, missing))))
    if not control.height:
        raise DataError("The control (--control) holds no record.")
    if record is not None and record in control.columns:
        refuse_members(control, people, released, record)
    both = [n for n in people.columns if n in control.columns and n != record]
    strange = [n for n in both if not comparable(people.schema[n], control.schema[n])]
    if record is None:
        _refuse_same_rows(control, people, [n for n in both if n not in strange])
    if told := [n for n in strange if n in columns]:
        of = (f"{n!r} holds {holding(control.schema[n])}, in the original {holding(people.schema[n])}" for n in told)
        raise DataError(OTHER_TYPE.format(told="; ".join(of)))
    return control.drop(strange)


def comparable(one: pl.DataType, two: pl.DataType) -> bool:
    """Whether values of two types can be compared.

    Examples
    --------
    >>> comparable(pl.Int64(), pl.Float32()), comparable(pl.Int64(), pl.String())
    (True, False)
    """
    return pl.Null in (one, two) or _kind(one) == _kind(two)


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return "date" if dtype in (pl.Date, pl.Datetime) else str(dtype.base_type())


def refuse_members(control: pl.DataFrame, people: pl.DataFrame, released: pl.DataFrame, record: str) -> None:
    """Refuse a control with people of the release, by the ids that both have.

    Parameters
    ----------
    control, people, released
        The tables.
    record
        The column with the record's id.

    Raises
    ------
    DataError
        Names the column, and no id.
    """
    ids = written(control[record].drop_nulls())
    for table in (people, released):
        if record in table.columns and ids.is_in(written(table[record].drop_nulls()).implode()).any():
            raise DataError(IN_BOTH.format(record=repr(record)))


def _refuse_same_rows(control: pl.DataFrame, people: pl.DataFrame, columns: Sequence[str]) -> None:
    """Where no id was named: refuse rows that are equal in all columns, if one of these tells all rows apart.

    Raises
    ------
    DataError
        Names that column, and no value.
    """
    codes = [n for n in columns if not people.schema[n].is_float() and not control.schema[n].is_float()]
    apart = next((n for n in codes if all(_tells_apart(table[n]) for table in (people, control))), None)
    if apart is None:
        return
    both = control.select(n for n in columns if control.schema[n] == people.schema[n])
    if apart in both.columns and both.join(people, on=both.columns, how="semi", nulls_equal=True).height:
        raise DataError(SAME_ROWS.format(record=repr(apart)))


def _tells_apart(column: pl.Series) -> bool:
    return len(column) > 1 and column.n_unique() == len(column)
