"""Files with several records of a person: people are counted, and what is the same in all records is masked once.

Drawn row by row, the noise of a value that stands in all records of a person averages out. What varies is drawn by
record: a draw for all records of a person would leave the differences between them exact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset, ask_all
from sfumato.data.hidden import VIEW
from sfumato.data.query import COUNT, Counts, Folded, Query
from sfumato.data.roles import Role
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import DataError
from sfumato.measures.persons import PERSONS, counted
from sfumato.methods.base import Method, needs_unit

__all__ = ["asked", "in_parts", "of_each_person", "varying"]

D = TypeVar("D", bound=Dataset)
T = TypeVar("T")

_WITHIN_ROWS = (
    "{step}: {columns} differ between the records of a person ({person}), {why}. Leave them out of this step: noise, "
    "pram and swap with `group` mask what differs record by record"
)
_WHY = {
    "centroids": "and a person's own records would be averaged",
    "shuffle": "and a person's own records would be exchanged with one another",
    "swap": "and `window` and `random` would exchange a person's own records with one another",
    "draw_by": "and one draw for all of them would leave the differences between them exact",
    "anonymise": "so that a person would stand in several groups and be counted in each",
    "suppress_cells": "so that a person would stand in several groups and be counted in each",
}
_WHOLE_PERSONS = (
    "synthesise: {columns} differ between the records of a person ({person}), and drawn record by record a person's "
    "records would contradict one another. Draw whole persons (`persons: true` and `time: COLUMN`), or drop {person} "
    "before"
)
_WRITE_TWO = (
    "{step}: {same} are the same in all records of a person ({person}), and {differ} differ. Noise that hangs together "
    "cannot be drawn once for the ones and by record for the others: write two steps"
)
_FEW = (
    "{step}: some combinations of {by} hold the records of fewer than min_stratum ({fewest}) different persons "
    "({person}), and what is disclosed of them would be theirs. Use fewer or broader columns in `by`"
)
_STRATA = (
    "{step}: {same} are the same in all records of a person ({person}), and the strata {strata} differ, so that they "
    "would be drawn several times for a person, and average out. Take columns for `by` that are the same, too"
)
_SPLIT = (
    "sample: {columns} in `by` differ between the records of a person ({person}), which stay or go together. Take "
    "columns for `by` that are the same for all of them, or leave `by` out"
)
_IN_MEMORY = (
    "{step} is done once for each person ({person}), for which all records must be in memory. Run it on a smaller "
    "table, or drop {person} before it"
)
_FEW_DIFFER = 0.5
"""Draws are by person where a column differs between the records of at most this share of the persons."""
_WHOLE = (frozenset(_WHY) - {"draw_by"}) | {"synthesise"}


def varying(data: Dataset, columns: Sequence[str], share: float = 0.0) -> tuple[str, ...]:
    """Those of some columns whose known values differ between the records of some person.

    Parameters
    ----------
    data
        A table whose codebook says which column holds the person.
    columns
        The columns.
    share
        They differ for more than this share of the persons who have several records.
    """
    person = data.codebook.the(Role.PERSON)
    named = tuple(n for n in dict.fromkeys(columns) if n in data.codebook and n != person)
    if person is None or not named:
        return ()

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        known = [~data.codebook.missing(n, batch.schema[n]) for n in named]
        told = [pl.when(k).then(_word(pl.col(n), batch.schema[n])) for n, k in zip(named, known, strict=True)]
        sides = [(x.min().alias(f"low {i}"), x.max().alias(f"high {i}")) for i, x in enumerate(told)]
        return batch.group_by(person).agg(pl.len().alias("n"), *(x for side in sides for x in side))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        sides = [(pl.col(f"low {i}").min(), pl.col(f"high {i}").max()) for i in range(len(named))]
        return frames.group_by(person).agg(pl.col("n").sum(), *(x for side in sides for x in side))

    found = data.ask(Folded((person, *named), f, merge)).filter(pl.col("n") > 1)
    differ = found.select((pl.col(f"low {i}") != pl.col(f"high {i}")).sum().alias(n) for i, n in enumerate(named))
    return tuple(n for n in named if differ[n].item() > share * found.height)


def _word(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A number for each value, equal for equal ones."""
    if dtype.is_float():
        value = value.cast(pl.Float64) + 0.0
    return (value.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else value).hash()


def in_parts(step: Method, data: Dataset) -> tuple[tuple[Method, bool], ...]:
    """A step as it is run, and whether on one record of each person.

    Parameters
    ----------
    step
        The step.
    data
        The table that it would be run on.

    Returns
    -------
    tuple
        The step as it is where no column says whom records are about, or it draws whole persons; with draws by person
        where all that it masks is the same in all records of each; one part for what is, and one for what is not.

    Raises
    ------
    DataError
        Where it averages, exchanges or shifts a person's own records.
    """
    person = data.codebook.the(Role.PERSON)
    if getattr(step, "persons", False):
        return ((step, False),)
    if step.name == "sample" and (differ := varying(data, step.strata)):
        raise DataError(_SPLIT.format(columns=", ".join(differ), person=person))
    drawn, whole = hasattr(step, "draw_by") and step.draws_by_id, step.name in _WHOLE
    if person is None or not (drawn or whole) or not (step.masks or step.coarsens):
        return ((step, False),)
    _refuse_few(step, data, person)
    # a draw for a person hangs on the value, too: a slip in few records moves neither the others nor these together
    differ = varying(data, (*step.changes, *step.strata), _FEW_DIFFER if drawn else 0.0)
    if not differ:
        return ((step.model_copy(update={"draw_by": "person"}), False),) if drawn else ((step, True),)
    by = getattr(step, "draw_by", None)
    if by == "person" or not (drawn or getattr(step, "group", None) is not None):
        _refuse(step, "draw_by" if by == "person" else step.name, differ, person)
    if by == "household":
        return ((step, False),)
    if drawn and data.codebook.the(Role.RECORD) is None:
        raise DataError(needs_unit(step.name, "record"))
    same = tuple(n for n in step.changes if n not in differ)
    return _divided(step, same, tuple(n for n in step.changes if n in differ), person, set(step.strata) & set(differ))


def _refuse_few(step: Method, data: Dataset, person: str) -> None:
    """Refuse strata whose figures would be disclosed and are those of too few persons, however many their records."""
    fewest = getattr(step, "min_stratum", None)
    if step.draws_by_id and step.strata and fewest is not None and getattr(step, "on_small", None) is None:
        persons = counted(data, step.strata)[PERSONS]
        if persons.len() and int(persons.min()) < fewest:  # type: ignore[arg-type]
            told = {"step": step.name, "by": ", ".join(step.strata), "person": person, "fewest": fewest}
            raise DataError(_FEW.format(**told))


def _refuse(step: Method, why: str, columns: Sequence[str], person: str) -> None:
    told = {"columns": ", ".join(columns), "person": person}
    if why == "synthesise":
        raise DataError(_WHOLE_PERSONS.format(**told))
    raise DataError(_WITHIN_ROWS.format(step=step.name, why=_WHY[why], **told))


def _divided(
    step: Method, same: tuple[str, ...], own: tuple[str, ...], person: str, strata: Collection[str]
) -> tuple[tuple[Method, bool], ...]:
    """The part of a step that is of people, and that of records."""
    if not same:
        return ((step, False),)
    if strata:
        named = {"same": ", ".join(same), "person": person, "strata": ", ".join(sorted(strata))}
        raise DataError(_STRATA.format(step=step.name, **named))
    if any(getattr(step, n, None) for n in ("correlated", "covariance", "dummies")):
        named = {"same": ", ".join(same), "person": person, "differ": ", ".join(own)}
        raise DataError(_WRITE_TWO.format(step=step.name, **named))
    parts = (_only(step, same), _only(step, own))
    if hasattr(step, "draw_by"):
        return ((parts[0].model_copy(update={"draw_by": "person"}), False), (parts[1], False))
    return ((parts[0], True), (parts[1], False))


def _only(step: Method, columns: tuple[str, ...]) -> Method:
    """The step for some of its columns; sets of columns that move together stay sets as far as they go."""
    update: dict[str, Any] = {"columns": columns}
    if isinstance(sets := getattr(step, "together", None), tuple):
        fewer = [tuple(n for n in each if n in columns) for each in sets]
        update["together"] = tuple(each for each in fewer if len(each) > 1) or False
    return step.model_copy(update=update)


def asked(data: Dataset, queries: Sequence[Query], step: Method) -> list[pl.DataFrame]:
    """Answers to a step's questions; where it counts, and somebody has several records, of people and not of records.

    Parameters
    ----------
    data
        The table.
    queries
        The questions.
    step
        The step.
    """
    person = data.codebook.the(Role.PERSON)
    if person is None or not step.counts_records:
        return ask_all(data, queries)
    people = {
        i: counted(data, q.by).select(*q.by, pl.col(PERSONS).alias(COUNT))
        for i, q in enumerate(queries)
        if isinstance(q, Counts) and q.by and q.weight is None and person not in q.by
    }
    rest = iter(ask_all(data, [q for i, q in enumerate(queries) if i not in people]))
    return [people[i] if i in people else next(rest) for i in range(len(queries))]


def of_each_person(step: Method, data: D, run: Callable[[PolarsDataset], tuple[PolarsDataset, T]]) -> tuple[D, T]:
    """Run a step on one record of each person, and give what became of it to all of the person's records.

    Gaps stay the gaps that they were, and a person who is left out goes with all records.

    Parameters
    ----------
    step
        The step; all that it looks at is the same in all records of each person, but for gaps.
    data
        The table.
    run
        Runs the step's stages, and tells what they learned.
    """
    person = data.codebook.the(Role.PERSON)
    assert person is not None, "there is one where this is asked for"
    if not held(data):
        raise DataError(_IN_MEMORY.format(step=step.name, person=person))
    rows = cast(PolarsDataset, data)
    one, learned = run(PolarsDataset(_people(rows, person), _of_people(rows.codebook, person)))
    new = [n for n in one.frame.columns if n in step.changes or n not in rows.frame.columns]
    told = one.frame.select(person, *(pl.col(n).alias(f"{_NEW}{i}") for i, n in enumerate(new)))
    beside = rows.frame.join(told, on=person, how="inner", nulls_equal=True, maintain_order="left")
    stay = [n for n in rows.frame.columns if n in one.frame.columns or n not in step.changes]
    made = [n for n in new if n not in rows.frame.columns]
    out = beside.with_columns(_given(rows, n, f"{_NEW}{i}") for i, n in enumerate(new)).select(*stay, *made)
    book = {**rows.codebook, **{n: one.codebook[n] for n in new if n in one.codebook}}
    done = replace(rows, frame=out, codebook=Codebook({n: book[n] for n in out.columns if n in book}))
    return cast(D, done), learned


_NEW = "sfumato:new:"


def _given(rows: PolarsDataset, column: str, new: str) -> pl.Expr:
    """What a record gets of a column: gaps stay."""
    if column not in rows.frame.columns or column.startswith(VIEW):
        return pl.col(new).alias(column)
    gap = rows.codebook.missing(column, rows.frame.schema[column])
    return pl.when(gap).then(pl.col(column)).otherwise(pl.col(new)).alias(column)


def _people(rows: PolarsDataset, person: str) -> pl.DataFrame:
    """One record of each person, with the known value of what is the same in all; the step asks for no other."""
    frame = rows.frame
    known = {n: pl.col(n).filter(~rows.codebook.missing(n, t)) for n, t in frame.schema.items() if n != person}
    each = frame.group_by(person, maintain_order=True)
    told = each.agg(pl.coalesce(x.first(), pl.col(n).first()).alias(n) for n, x in known.items())
    return told.select(frame.columns)


def _of_people(book: Codebook, person: str) -> Codebook:
    """The codebook of a table of people: its record is the person."""
    plain = {n: v.model_copy(update={"role": Role.OTHER}) if v.role == Role.RECORD else v for n, v in book.items()}
    return Codebook({**plain, person: book[person].model_copy(update={"role": Role.RECORD})})
