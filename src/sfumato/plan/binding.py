"""What a plan and its data say of each other, before it runs: types, dates, kinds, roles, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar, cast

import polars as pl
import polars.selectors as cs

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset, EachColumn, Parted, ask_all, with_codebook
from sfumato.data.files.infer import infer
from sfumato.data.files.table import checked, listed
from sfumato.data.hidden import ROW
from sfumato.data.query import COUNT, SIZE, Classes, Counts, Folded
from sfumato.data.roles import Role
from sfumato.data.sketch import Sketch, sketch_of
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import DataError, PlanError, Problem
from sfumato.plan.known import merged
from sfumato.plan.plan import Plan
from sfumato.plan.reading import gaps, texts_to_read, typed

__all__ = [
    "NEEDS_RECORD",
    "entered",
    "guesses",
    "loaded",
    "plain_types",
    "read_parts",
    "refuse_several",
    "refuse_together",
    "unique_record",
]

NEEDS_RECORD = (
    "there is no column with the record's id, on which everything that is drawn and put in order hangs where the "
    "table is not in memory: say so under variables, for instance id: {role: record}"
)
_SEVERAL = (
    "a plan of several tables runs in memory: its links are searched among all rows. Protect each table with a plan of "
    "its own, with pseudonymise under one secret where they must join, or take --engine memory"
)
_TYPE = "type"
_BEGINNING = 1 << 16


D = TypeVar("D", bound=Dataset)


def loaded(plan: Plan | str | PathLike[str], data: object) -> Plan:
    """A plan that is given as it is or by its path.

    Parameters
    ----------
    plan
        A `Plan`, or the path of one.
    data
        What is given for the data.

    Raises
    ------
    PlanError
        As in `Plan.load`; where the path of the data stands in place of the plan's it says so.

    Examples
    --------
    >>> loaded("cohort.csv", "plan.yaml")
    Traceback (most recent call last):
    sfumato.errors.PlanError: 1 problem in the plan:
      - the arguments are swapped: the plan comes first ('plan.yaml'), then the data ('cohort.csv')
    """
    if isinstance(plan, Plan):
        return plan
    try:
        return Plan.load(plan)
    except PlanError:
        if isinstance(data, str | PathLike) and _is_plan(data) and not _is_plan(plan):
            swapped = f"the plan comes first ({fspath(data)!r}), then the data ({fspath(plan)!r})"
            raise PlanError([f"the arguments are swapped: {swapped}"]) from None
        raise


def _is_plan(path: str | PathLike[str]) -> bool:
    """Whether a file is a plan by its name, or by its first lines."""
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        return True
    try:
        with Path(path).open("rb") as file:
            return re.search(rb"(?m)^sfumato:", file.read(_BEGINNING)) is not None
    except OSError:
        return False


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
    frame = plan.read(data.frame)
    book = plan.codebook(frame, data.codebook)
    frame = gaps(frame, book)  # those of the file, where its codes are not told
    refuse_together(
        lambda: plan.check(book, released=released),
        lambda: plan.check_kinds(frame),
        lambda: plan.check_amounts(frame, data.codebook),
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
        With NaN and codes of gaps as missing, texts as dates and numbers where the plan says so and all of them are.

    Raises
    ------
    PlanError
        Everything that is wrong with the plan for these data.
    DataError
        No rows; infinite values; ids that are missing or stand twice.
    """
    refuse_several(plan)
    data = _without_gaps(plan, plain_types(data))
    record = _record(plan, data.codebook)
    texts = [*texts_to_read(data.schema, plan.variables)]
    asked: list[Any] = [Counts(()), *(_types_of(n, plan.variables[n]) for n in texts)]
    if record is not None:
        asked.append(Classes((record,)))
    sketch, answers = sketch_of(data, data.schema, asked)
    if not answers[0].item(0, COUNT):
        raise DataError("The table has no rows. A table needs at least one row.")
    if sketch.infinite:
        infinite = [n for n in sketch.columns if n in sketch.infinite]
        raise DataError(f"Infinite values in {listed(infinite)}. Replace them by missing values or by finite ones.")
    types = _told(texts, answers[1 : len(texts) + 1])
    data, sketch = _typed(data, types), _sketch_typed(sketch, texts, types)
    book = plan.codebook(sketch, data.codebook)
    refuse_together(
        lambda: _refuse_no_record(book),
        lambda: plan.check(book),
        lambda: plan.check_kinds(sketch),
        lambda: plan.check_amounts(sketch, data.codebook),
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


_TYPES: Mapping[str, pl.DataType] = {
    "date": pl.Date(),
    "datetime": pl.Datetime("us"),
    "integer": pl.Int64(),
    "number": pl.Float64(),
}


def _without_gaps(plan: Plan, data: Parted) -> Parted:
    """The data with null in the place of codes that the plan calls gaps."""
    if not any(m.gap for n, v in plan.variables.items() if n in data.schema for m in v.missing):
        return data
    return data.map(EachColumn(lambda batch: gaps(batch, plan.variables)))


def read_parts(plan: Plan, data: Parted) -> Parted:
    """The data as the plan has them read, see `sfumato.plan.plan.Plan.read`.

    Parameters
    ----------
    plan
        The plan.
    data
        A table that is not in memory. Only texts that it calls dates or numbers are looked at.
    """
    data = _without_gaps(plan, data)
    texts = [*texts_to_read(data.schema, plan.variables)]
    return _typed(data, _told(texts, ask_all(data, [_types_of(n, plan.variables[n]) for n in texts])))


def _types_of(column: str, variable: Variable) -> Folded:
    """Which dates or numbers, if any, the texts of a column are."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        found = typed(batch.to_series(), variable)
        named = (name for name, dtype in _TYPES.items() if dtype == found.dtype)
        word = next(named, "other") if found.drop_nulls().len() else None
        return pl.DataFrame({_TYPE: [] if word is None else [word]}, schema={_TYPE: pl.String})

    return Folded((column,), f, lambda frames: frames.unique())


def _told(texts: Sequence[str], answers: Sequence[pl.DataFrame]) -> dict[str, str]:
    """The type of each column of which all parts have the same, or whole numbers and others."""
    types = {n: {*answer[_TYPE].to_list()} for n, answer in zip(texts, answers, strict=True)}
    types |= {n: {"number"} for n, found in types.items() if found == {"integer", "number"}}
    return {n: min(found) for n, found in types.items() if len(found) == 1 and found <= _TYPES.keys()}


def _typed(data: Parted, types: Mapping[str, str]) -> Parted:
    """The data with texts as dates and numbers."""
    if not types:
        return data

    def as_told(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(_as(batch[n], _TYPES[name]) for n, name in types.items())

    return data.map(as_told)


def _as(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    found = infer(texts)[0]
    if found.dtype == dtype or (found.dtype == pl.Int64 and dtype == pl.Float64):
        return found.cast(dtype)
    return pl.Series(texts.name, [None], dtype).new_from_index(0, texts.len())


def _sketch_typed(sketch: Sketch, texts: Sequence[str], types: Mapping[str, str]) -> Sketch:
    """The sketch with these columns as told; of texts that are not all so one that is not is kept."""
    series = dict(sketch.series)
    for n in texts:
        if n in types:
            series[n] = _as(series[n], _TYPES[types[n]])
        else:
            series[n] = pl.concat([series[n], pl.Series(n, ["no date, nor a number"])])
    return Sketch(series, sketch.missing, sketch.infinite)


def unique_record(frame: pl.DataFrame, record: str, where: str) -> None:
    """Refuse record ids that are missing or stand twice."""
    if frame[record].null_count():
        raise DataError(f"The record column {record!r} of {where} has missing ids. Every record needs one.")
    if frame[record].n_unique() < frame.height:
        raise DataError(f"The record column {record!r} of {where} holds an id more than once. Ids must be unique.")
