"""Gaps as they were, which travel with the records of a run in hidden columns, so that what steps emptied and filled in
is counted cell by cell.

What a column held is noted before the first step that could empty or fill its cells. A step that exchanges or draws
values among records moves gaps: what happened until then is added up before it, and gaps are noted once more after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.hidden import DELETED, FILLED, GAP, ROW
from sfumato.data.roles import IDS, Role
from sfumato.draws import written
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.base import Method

__all__ = ["noted_after", "noted_before", "noted_beside", "watched", "without_notes"]

D = TypeVar("D", bound=Dataset)
_IDS = (*IDS, Role.IDENTIFIER)


def watched(steps: Sequence[Method], codebook: Codebook) -> frozenset[str]:
    """The columns of a table whose cells some step could empty or fill.

    Parameters
    ----------
    steps
        The steps.
    codebook
        Of the table as it enters the first.

    Examples
    --------
    >>> from sfumato.methods.impute import Impute
    >>> sorted(watched([Impute(columns=("age",), method="mode")], Codebook().only(["age", "sex"])))
    ['age']
    """
    could = (n for step in steps if not (step.exchanges or step.keeps_gaps) for n in step.changes)
    return frozenset(n for n in could if n in codebook and codebook[n].role not in _IDS)


def noted_before(step: Method, data: D, columns: Collection[str]) -> D:
    """The data as a step is to have them: with gaps noted, or what happened until an exchange added up.

    Parameters
    ----------
    step
        The step.
    data
        The data before it.
    columns
        The columns that are `watched`.
    """
    own = [n for n in _own(step, data, columns) if step.exchanges == (f"{GAP}{n}" in data.codebook)]
    if not own:
        return data
    return _with(data, own, _added_up if step.exchanges else _gaps)


def noted_after(step: Method, data: D, columns: Collection[str]) -> D:
    """The data after a step, with gaps noted once more where it exchanged values; arguments as of `noted_before`."""
    own = _own(step, data, columns) if step.exchanges else []
    return _with(data, own, _gaps) if own else data


def without_notes(data: D) -> D:
    """The data without what was noted of gaps."""
    hidden = [n for n in data.codebook if n.startswith((GAP, DELETED, FILLED))]
    return data.map(lambda batch: batch.drop(hidden)) if hidden else data


def noted_beside(
    read: PolarsDataset, after: PolarsDataset, record: str | None, exchanged: Collection[str] = ()
) -> PolarsDataset:
    """A released table with the gaps that its records had when they were read.

    Parameters
    ----------
    read, after
        The table as it was read, and as it is released.
    record
        The column with the record's id in both; without it, row i of one is row i of the other.
    exchanged
        Columns whose gaps moved, so that none was deleted or filled in.

    Examples
    --------
    >>> read, after = (PolarsDataset(pl.DataFrame({"a": values}), Codebook()) for values in ([1, None], [None, 2]))
    >>> noted_beside(read, after, None)["sfumato:gap:a"].to_list()
    [False, True]
    """
    names = [n for n in read.columns if n in after.columns and n not in exchanged and n != record]
    if not names:
        return after
    gaps = read.frame.select(read.codebook.missing(n, read.schema[n]).alias(f"{GAP}{n}") for n in names)
    if record is None:
        return replace(after, frame=after.frame.hstack(gaps))
    gaps, frame = (f.with_columns(written(t[record]).alias(ROW)) for f, t in ((gaps, read), (after.frame, after)))
    return replace(after, frame=frame.join(gaps, on=ROW, how="left", maintain_order="left").drop(ROW))


def _own(step: Method, data: Dataset, columns: Collection[str]) -> list[str]:
    return [n for n in dict.fromkeys(step.changes) if n in columns and n in data.codebook]


def _with(data: D, names: Sequence[str], noted: Callable[[str, pl.Expr, pl.DataFrame], Iterator[pl.Expr]]) -> D:
    book = data.codebook

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(x for n in names for x in noted(n, book.missing(n, batch.schema[n]), batch))

    return data.map(f)


def _gaps(name: str, gap: pl.Expr, batch: pl.DataFrame) -> Iterator[pl.Expr]:
    yield gap.alias(f"{GAP}{name}")


def _added_up(name: str, gap: pl.Expr, batch: pl.DataFrame) -> Iterator[pl.Expr]:
    was = pl.col(f"{GAP}{name}")
    for column, happened in ((f"{DELETED}{name}", gap & ~was), (f"{FILLED}{name}", was & ~gap)):
        before = pl.col(column) if column in batch.columns else pl.lit(0, pl.Int64)
        yield (before + happened.cast(pl.Int64)).alias(column)
