"""Several questions answered in one pass over streamed rows, or in as few as the longest of them takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import polars as pl

from sfumato.data.query import COUNT, Folded, Moments, Query
from sfumato.engines.folding import Asking

__all__ = ["answer_together", "counting", "fold_all", "told_by"]

_MERGED = 32
"""Small frames that are kept before they are merged."""

Batches = Callable[[Sequence[str] | None], Iterator[pl.DataFrame]]


class _Fold:
    """What one question has been told so far."""

    def __init__(self, query: Folded, most: int | None) -> None:
        self.query, self.most, self.parts, self.rows = query, most, list[pl.DataFrame](), 0
        self.over = False

    def take(self, rows: pl.DataFrame) -> None:
        if self.over:
            return
        part = self.query.f(rows)
        self.parts.append(part)
        self.rows += part.height
        if len(self.parts) == _MERGED or (self.most is not None and self.rows > 2 * self.most):
            merged = self.merged()
            self.parts, self.rows = [merged], merged.height
            self.over = self.most is not None and merged.height > self.most

    def merged(self) -> pl.DataFrame:
        return self.query.merge(pl.concat(self.parts))


def fold_all(batches: Batches, queries: Sequence[Folded], most: Mapping[int, int] | None = None) -> list[pl.DataFrame]:
    """Answer questions in one pass, over the columns that any of them names.

    Parameters
    ----------
    batches
        Streams rows of some columns.
    queries
        The questions.
    most
        Of some questions, by number: with more rows than this they are given up, and their answer has no column.
    """
    folds = [_Fold(query, (most or {}).get(i)) for i, query in enumerate(queries)]
    for batch in batches(list(dict.fromkeys(n for query in queries for n in query.columns))):
        seen: dict[tuple[str, ...], pl.DataFrame] = {}  # one frame for all questions on the same columns
        for fold in folds:
            columns = fold.query.columns
            if columns not in seen:
                seen[columns] = batch.select(columns) if columns else pl.DataFrame(height=batch.height)
            fold.take(seen[columns])
    return [_within(fold) for fold in folds]


def _within(fold: _Fold) -> pl.DataFrame:
    answer = pl.DataFrame() if fold.over else fold.merged()
    return pl.DataFrame() if fold.most is not None and answer.height > fold.most else answer


def answer_together(
    batches: Batches, askings: Mapping[int, Asking], counted: Mapping[int, Folded], most: int
) -> tuple[dict[int, pl.DataFrame], dict[int, pl.DataFrame]]:
    """Answer questions that take one fold or more, and count groups in the first pass where these are few.

    Parameters
    ----------
    batches
        Streams rows of some columns.
    askings
        Questions, by number.
    counted
        Counts of groups, by number.
    most
        Most groups of one.

    Returns
    -------
    answers, counts
        By number; counts of more groups are left out.
    """
    answers: dict[int, pl.DataFrame] = {}
    now = {i: next(asking) for i, asking in askings.items()}
    known: dict[int, pl.DataFrame] = {}
    first = dict(counted)
    while now or first:
        numbers, told = list(now), list(first)
        queries = [*(now[i] for i in numbers), *(first[i] for i in told)]
        found = fold_all(batches, queries, dict.fromkeys(range(len(numbers), len(queries)), most))
        known |= {i: answer for i, answer in zip(told, found[len(numbers) :], strict=True) if answer.width}
        first, now = {}, {}
        for i, answer in zip(numbers, found, strict=False):
            try:
                now[i] = askings[i].send(answer)
            except StopIteration as end:
                answers[i] = end.value
    return answers, known


def counting(by: Sequence[str], grouped: Sequence[pl.Expr]) -> Folded:
    """Counts of groups as a fold; `grouped` are the columns `by` as they are told apart."""
    names = list(by)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        if not names:
            return pl.DataFrame({COUNT: [batch.height]}, schema={COUNT: pl.Int64})
        return batch.group_by(grouped).agg(pl.len().cast(pl.Int64).alias(COUNT))

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by(names).agg(pl.col(COUNT).sum()) if names else frames.select(pl.col(COUNT).sum())

    return Folded(tuple(by), f, merge)


def told_by(queries: Sequence[Query]) -> dict[int, int]:
    """By which of several `Moments` each is told, by number: one of its columns, and maybe others, in finer groups.

    Examples
    --------
    >>> told_by([Moments(("a", "b"), ("sex",)), Moments(("a",)), Moments(("c",))])
    {0: 0, 1: 0, 2: 2}
    """
    asked = {i: query for i, query in enumerate(queries) if isinstance(query, Moments)}
    found: dict[int, int] = {}
    for i in sorted(asked, key=lambda i: (-len(asked[i].by), -len(asked[i].columns))):
        own = asked[i]
        finer = (j for j in found if {*own.by} <= {*asked[j].by} and {*own.columns} <= {*asked[j].columns})
        found[i] = found[j] if (j := next(finer, None)) is not None else i
    return dict(sorted(found.items()))
