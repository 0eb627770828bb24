"""What a plan and its data say of each other, before it runs: types, dates, kinds, roles, ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import polars as pl
import polars.selectors as cs

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset, EachColumn, Parted, with_codebook
from sfumato.data.files.infer import infer
from sfumato.data.files.table import checked, listed
from sfumato.data.hidden import ROW
from sfumato.data.query import COUNT, SIZE, Classes, Counts, Folded
from sfumato.data.roles import Kind, Role
from sfumato.data.sketch import Sketch, sketch_of
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import DataError, PlanError, Problem
from sfumato.plan.known import merged
from sfumato.plan.plan import Plan

__all__ = ["NEEDS_RECORD", "entered", "guesses", "plain_types", "refuse_several", "refuse_together", "unique_record"]

NEEDS_RECORD = (
    "there is no column with the record's id, on which everything that is drawn and put in order hangs where the "
    "table is not in memory: say so under variables, for instance id: {role: record}"
)
_SEVERAL = (
    "a plan of several tables runs in memory: its links are searched among all rows. Protect each table with a plan of "
    "its own, with pseudonymise under one secret where they must join, or take --engine memory"
)
_TYPE = "type"


D = TypeVar("D", bound=Dataset)


def entered(plan: Plan, data: D, *, released: bool = True) -> D:
    """The data with the plan's codebook, where the plan can run on them.

    Parameters
    ----------
    plan
        The plan.
    data
        The table as it was opened. In memory it gets the run's own record numbers.
    released
        Whether records are released: if not, a plan need not say what becomes of identifiers.

    Raises
    ------
    PlanError
        Everything that is wrong with the plan for these data.
    DataError
        No rows; infinite values; ids that are missing or stand twice.
    """
    if held(data):
        return cast(D, _numbered(plan, data, released))
    return cast(D, _looked_at(plan, cast(Parted, data)))


def refuse_several(plan: Plan) -> None:
    """Refuse a plan of several tables.

    Raises
    ------
    PlanError
        It says what to do instead.
    """
    if plan.tables:
        raise PlanError([_SEVERAL])


def plain_types(data: Parted) -> Parted:
    """The table as readers of files give it: NaN as missing, a column without any type as text.

    Raises
    ------
    DataError
        Columns of lists, records or bytes; names that are empty.
    """
    checked(pl.DataFrame({n: pl.Series(n, [None], t) for n, t in data.schema.items()}))
    if getattr(data, "as_read", False) or not any(t.is_float() or t == pl.Null for t in data.schema.values()):
        return data
    return data.map(EachColumn(_plain))


def _plain(batch: pl.DataFrame) -> pl.DataFrame:
    return batch.with_columns(cs.float().fill_nan(None), cs.by_dtype(pl.Null).cast(pl.String))


def _numbered(plan: Plan, data: PolarsDataset, released: bool) -> PolarsDataset:
    """The data with the plan's codebook and the run's own record numbers."""
    frame = plan.dated(data.frame)
    book = plan.codebook(frame, data.codebook)
    refuse_together(
        lambda: plan.check(book, released=released),
        lambda: plan.check_kinds(frame),
        lambda: plan.check_roles(frame, data.codebook) if released else None,
    )
    if released:
        plan.refuse_betrayal(PolarsDataset(frame, book))
    if (record := book.the(Role.RECORD)) is not None:
        unique_record(frame, record, "the data")
    return PolarsDataset(frame.with_row_index(ROW), book, data.suffix)


def refuse_together(*checks: Callable[[], None]) -> None:
    """Raise what several checks find as one error."""
    problems: list[Problem] = []
    for check in checks:
        try:
            check()
        except PlanError as error:
            problems += error.problems
    if problems:
        raise PlanError(problems)


def _looked_at(plan: Plan, data: Parted) -> Parted:
    """The data with the plan's codebook, of a table that is not in memory: by counts, and one look at its columns.

    Parameters
    ----------
    plan
        The plan.
    data
        The table as it was opened.

    Returns
    -------
    Parted
        With NaN as missing, texts as dates where the plan says so and all of them are.

    Raises
    ------
    PlanError
        Everything that is wrong with the plan for these data.
    DataError
        No rows; infinite values; ids that are missing or stand twice.
    """
    refuse_several(plan)
    data = plain_types(data)
    record = _record(plan, data.codebook)
    texts = [n for n, v in plan.variables.items() if v.kind == Kind.DATE and data.schema.get(n) == pl.String]
    asked: list[Any] = [Counts(()), *map(_temporal, texts)]
    if record is not None:
        asked.append(Classes((record,)))
    sketch, answers = sketch_of(data, data.schema, asked)
    if not answers[0].item(0, COUNT):
        raise DataError("The table has no rows. A table needs at least one row.")
    if sketch.infinite:
        infinite = [n for n in sketch.columns if n in sketch.infinite]
        raise DataError(f"Infinite values in {listed(infinite)}. Replace them by missing values or by finite ones.")
    types = {n: answer[_TYPE].to_list() for n, answer in zip(texts, answers[1 : len(texts) + 1], strict=True)}
    dates = {n: found[0] for n, found in types.items() if len(found) == 1 and found[0] in _TEMPORAL}
    data, sketch = _dated(data, dates), _sketch_dated(sketch, texts, dates)
    book = plan.codebook(sketch, data.codebook)
    refuse_together(
        lambda: _refuse_no_record(book),
        lambda: plan.check(book),
        lambda: plan.check_kinds(sketch),
        lambda: plan.check_roles(sketch, data.codebook),
    )
    plan.refuse_betrayal(with_codebook(data, book))
    if record is not None:
        _refuse_ids(record, sketch, answers[-1])
    return with_codebook(data, book)


def guesses(plan: Plan, book: Codebook) -> tuple[str, ...]:
    """A sentence for every variable whose role or kind the plan does not say; `book` is what the run goes by."""
    return tuple(f"{n}: taken as {v.role}, {v.kind}" for n, v in book.items() if n not in plan.variables)


def _record(plan: Plan, known: Codebook) -> str | None:
    """The column of ids, as the plan or the data say."""
    said = {n: merged(plan.variables.get(n), known[n] if n in known else Variable()) for n in known}
    found = Codebook(said).with_role(Role.RECORD)
    return found[0] if len(found) == 1 else None


def _refuse_no_record(book: Codebook) -> None:
    if not book.with_role(Role.RECORD):
        raise PlanError([NEEDS_RECORD])


def _refuse_ids(record: str, sketch: Sketch, sizes: pl.DataFrame) -> None:
    """Refuse ids that are missing or stand twice: each class of records with one id is one record."""
    if record in sketch.missing:
        raise DataError(f"The record column {record!r} of the data has missing ids. Every record needs one.")
    if (sizes[SIZE] > 1).any():
        raise DataError(
            f"The record column {record!r} of the data holds an id more than once, in one part or in several. Ids must "
            f"be unique."
        )


_TEMPORAL: Mapping[str, pl.DataType] = {"date": pl.Date(), "datetime": pl.Datetime("us")}


def _temporal(column: str) -> Folded:
    """Which dates, if any, the texts of a column are."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({_TYPE: list(_types(batch.to_series()))}, schema={_TYPE: pl.String})

    return Folded((column,), f, lambda frames: frames.unique())


def _types(texts: pl.Series) -> Iterator[str]:
    typed = infer(texts)[0]
    if typed.dtype.is_temporal():
        yield "date" if typed.dtype == pl.Date else "datetime"
    elif texts.drop_nulls().len():
        yield "other"


def _dated(data: Parted, dates: Mapping[str, str]) -> Parted:
    """The data with texts as dates."""
    if not dates:
        return data

    def read(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(_as_dates(batch[n], _TEMPORAL[kind]) for n, kind in dates.items())

    return data.map(read)


def _as_dates(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    typed = infer(texts)[0]
    return typed if typed.dtype == dtype else pl.Series(texts.name, [None], dtype).new_from_index(0, texts.len())


def _sketch_dated(sketch: Sketch, texts: Sequence[str], dates: Mapping[str, str]) -> Sketch:
    """The sketch with these columns as dates; of texts that are not all dates one that is none is kept."""
    series = dict(sketch.series)
    for n in texts:
        if n in dates:
            series[n] = _as_dates(series[n], _TEMPORAL[dates[n]])
        else:
            series[n] = pl.concat([series[n], pl.Series(n, ["no date"])])
    return Sketch(series, sketch.missing, sketch.infinite)


def unique_record(frame: pl.DataFrame, record: str, where: str) -> None:
    """Refuse record ids that are missing or stand twice."""
    if frame[record].null_count():
        raise DataError(f"The record column {record!r} of {where} has missing ids. Every record needs one.")
    if frame[record].n_unique() < frame.height:
        raise DataError(f"The record column {record!r} of {where} holds an id more than once. Ids must be unique.")
