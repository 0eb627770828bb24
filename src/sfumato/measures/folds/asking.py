"""Questions of several measures, asked together: one pass over all records for each round, however many ask."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

import polars as pl

from sfumato.data.dataset import Dataset, ask_all
from sfumato.data.finding import Findings
from sfumato.data.query import Query
from sfumato.errors import TooManyGroups

__all__ = ["TOO_MANY", "Asking", "Question", "Told", "answered", "at_once", "each_told"]

TOO_MANY = (
    "There are too many classes to look at each of them: the size of the smallest was measured, and all other measures "
    "of classes were left out. A limit on one of them counts as not met."
)


class Question(NamedTuple):
    """What is asked, and of which rows."""

    of: Dataset
    query: Query


Asking = Generator[Sequence[Question], Sequence[pl.DataFrame], Findings]
"""Yields questions, is sent the answers in their order, and returns findings."""


def each_told(data: Dataset, queries: Sequence[Query]) -> list[pl.DataFrame | None]:
    """Answers to several questions; None to one of which there would be too many groups.

    Parameters
    ----------
    data
        Who is asked.
    queries
        The questions, answered in one pass where the engine can and none has too many groups.
    """
    try:
        return [*ask_all(data, queries)]
    except TooManyGroups:
        if len(queries) == 1:
            return [None]
        return [answer for query in queries for answer in each_told(data, [query])]


class Told(NamedTuple):
    """What one has found, and whether it asked all records for it."""

    findings: Findings
    asked: bool


def answered(told: Sequence[Findings | Asking]) -> list[Told]:
    """Let those who ask go on until all have their findings.

    Parameters
    ----------
    told
        Findings, and those who ask for theirs; what these yield in one round is asked together.

    Examples
    --------
    >>> def asks() -> Asking:
    ...     yield ()
    ...     return Findings(notes=("nothing was asked",))
    >>> [each.findings.notes for each in answered([Findings(), asks()])]
    [(), ('nothing was asked',)]
    """
    found = [Told(one, False) if isinstance(one, Findings) else Told(Findings(), False) for one in told]
    asking = {i: one for i, one in enumerate(told) if not isinstance(one, Findings)}
    waiting: dict[int, Sequence[Question]] = {}

    def goes_on(i: int, answers: Sequence[pl.DataFrame] | None) -> None:
        try:
            waiting[i] = next(asking[i]) if answers is None else asking[i].send(answers)
        except StopIteration as ended:
            found[i] = Told(ended.value, answers is not None)

    for i in asking:
        goes_on(i, None)
    while waiting:
        round_of, waiting = waiting, {}
        answers = _in_one_pass([question for asked in round_of.values() for question in asked])
        for i, asked in round_of.items():
            goes_on(i, [answers.pop(0) for _ in asked])
    return found


def at_once(asking: Asking) -> Findings:
    """What is found by somebody who asks alone: of a table in memory a second look costs little.

    Examples
    --------
    >>> def asks() -> Asking:
    ...     yield ()
    ...     return Findings(notes=("nothing was asked",))
    >>> at_once(asks()).notes
    ('nothing was asked',)
    """
    return answered([asking])[0].findings


def _in_one_pass(questions: Sequence[Question]) -> list[pl.DataFrame]:
    """Answers in the order of the questions, each table asked once, and each question of it once."""
    asked: dict[int, dict[Query, None]] = {}
    for question in questions:
        asked.setdefault(id(question.of), {})[question.query] = None
    known: dict[int, dict[Query, pl.DataFrame]] = {}
    for data in {id(question.of): question.of for question in questions}.values():
        queries = list(asked[id(data)])
        known[id(data)] = dict(zip(queries, ask_all(data, queries), strict=True))
    return [known[id(question.of)][question.query] for question in questions]
