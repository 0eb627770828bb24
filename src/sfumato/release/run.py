"""Run the steps of a plan over a data set, on whatever engine it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset, rows
from sfumato.data.disclosure import Averaged, Coarsened, Disclosed, Disclosure
from sfumato.data.error_model import Bounds
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Role
from sfumato.data.suppression import Suppression
from sfumato.draws import Draws
from sfumato.errors import EmptyRelease
from sfumato.methods.base import ROW, Method, Stage, StepDraws
from sfumato.progress import Progress, quiet, split
from sfumato.report.report import StepDone

__all__ = ["Ran", "repeat_step", "run_step", "run_steps"]

D = TypeVar("D", bound=Dataset)


@dataclass(frozen=True)
class Ran(Generic[D]):
    """What a run of steps leaves behind.

    Parameters
    ----------
    given
        The data as they entered the first step that coarsens or masks; the result where none does.
    before
        The data as they entered the first step that masks; `given` where none does.
    after
        The result.
    steps
        Each step as it was run.
    disclosure
        What analysts are told.
    reconstructions
        What an attacker could compute from the result, by name: columns, with the numbers of the records.
    suppression
        How many records and cells steps took out, from `given` on.
    """

    given: D
    before: D
    after: D
    steps: tuple[StepDone, ...] = ()
    disclosure: Disclosure = field(default_factory=Disclosure)
    reconstructions: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    suppression: Suppression = field(default_factory=Suppression, repr=False)


def run_steps(
    steps: Sequence[Method],
    data: D,
    draws: Draws,
    progress: Progress = quiet,
    *,
    table: str = "",
    plan: str = "",
) -> Ran[D]:
    """Run steps one after another.

    Parameters
    ----------
    steps
        Methods, already checked against the codebook.
    data
        The data; they are left as they were.
    draws
        Keyed draws.
    progress
        Called with what is being done, and the share of the steps' work that is done.
    table, plan
        Name of the table in a plan of several, and digest of its plan: pseudonyms of this table alone are keyed on
        both.

    Raises
    ------
    EmptyRelease
        As soon as no column or no record is left.
    """
    given: D | None = None
    before: D | None = None
    heights = [_height(data)]
    done: list[StepDone] = []
    disclosed: list[Disclosed] = []
    reconstructions: dict[str, pl.DataFrame] = {}
    gone = Suppression()
    parts = split(progress, [step.effort for step in steps])
    for i, (step, part) in enumerate(zip(steps, parts, strict=True)):
        part(f"step {i + 1} of {len(steps)}: {step.name}", 0)
        if (step.masks or step.coarsens) and given is None:
            given = data
        if step.masks and before is None:
            before = data
        data, states, frames = run_step(step, data, draws, table=table, plan=plan)
        heights.append(_height(data))
        _refuse_empty(steps, data, heights)
        said = step.disclose(states)
        disclosed = _told(disclosed, step, said)
        if given is not None:
            gone += replace(step.suppressed(states), of=heights[-2])
        sentence = " ".join(Disclosure(said).sentences()) or step.sentence()
        notes, warnings = step.notes(states), step.warnings(states)
        done.append(StepDone(step.name, step.masks, sentence, notes, step.model_dump(), warnings, step.coarsens))
        if step.masks and ROW in data.codebook:
            for name, view in step.reconstructions(frames, states).items():
                earlier = reconstructions.get(name)
                reconstructions[name] = (
                    view if earlier is None else earlier.drop(view.columns[1:], strict=False).join(view, on=ROW)
                )
    given = given or data
    return Ran(given, before or given, data, tuple(done), Disclosure(tuple(disclosed)), reconstructions, gone)


def _height(data: Dataset) -> int:
    return int(data.ask(Counts(())).item(0, COUNT))


def _refuse_empty(steps: Sequence[Method], data: Dataset, heights: Sequence[int]) -> None:
    """Refuse to go on with nothing, and name the steps that left it out; `heights` are those before and after each."""
    done = steps[: len(heights) - 1]
    if not [name for name in data.codebook if name != ROW]:
        named = _named([i for i, step in enumerate(done) if step.name == "drop"], done)
        raise EmptyRelease(f"No column is left to release. Look at {named}: keep at least one column.")
    if heights[0] and not heights[-1]:
        named = _named([i for i in range(len(done)) if heights[i + 1] < heights[i]], done)
        raise EmptyRelease(f"No record is left to release. Look at {named}: leave out fewer records.")


def _named(numbers: Sequence[int], steps: Sequence[Method]) -> str:
    return " and ".join(f"step {i + 1} ({steps[i].name})" for i in numbers)


def _told(disclosed: Sequence[Disclosed], step: Method, said: Sequence[Disclosed]) -> list[Disclosed]:
    """What is disclosed after a step. Where two steps recoded a column, no interval of either is told any more.

    Steps whose own disclosure says what else became of the values (`pram`, `swap`, `impute`) leave intervals true: of
    the values as they were then.
    """
    explained = {n for part in said if not isinstance(part, Coarsened) for n in part.columns}
    merged = {n for part in said if isinstance(part, Averaged) for n in part.merged}
    disclosed, said = _both_ends(disclosed, said, {*step.changes} - explained)
    recoded = {n for part in disclosed if isinstance(part, Coarsened) for n in part.columns}
    return [*_in_words(disclosed, {*step.changes} - explained | merged), *_in_words(said, recoded)]


def _both_ends(
    disclosed: Sequence[Disclosed], said: Sequence[Disclosed], changed: Collection[str]
) -> tuple[list[Disclosed], list[Disclosed]]:
    """Put the bounds of a column that was coded at one end and then at the other into one part, where both hold."""
    own = {
        n: ends for part in said if isinstance(part, Coarsened) and part.only_bounds for n, ends in part.bounds.items()
    }
    known = [part for part in disclosed if isinstance(part, Coarsened)]
    held = {n: ends for part in known if part.only_bounds for n, ends in part.bounds.items()}
    once = [n for n in own if n in held and n in changed and sum(n in part.columns for part in known) == 1]
    merged = {n: both for n in once if (both := _joined(held[n], own[n])) is not None}
    if not merged:
        return list(disclosed), list(said)
    rest = [p for part in disclosed for p in _without(part, merged)]
    new = [p for part in said for p in _without(part, merged)]
    return rest, [*new, Coarsened(tuple(merged), bounds=merged)]


def _joined(one: Bounds, two: Bounds) -> Bounds | None:
    """Two bounds, each open at the end that the other is not; None where they are not so."""
    low, high = (a if b is None else b for a, b in zip(one, two, strict=True))
    apart = (one[0] is None) == (two[1] is None) and (one[1] is None) == (two[0] is None)
    return (low, high) if apart and low is not None and high is not None and low < high else None


def _without(part: Disclosed, columns: Collection[str]) -> Iterator[Disclosed]:
    """A part of a disclosure, without bounds of some columns; nothing where it tells of these alone."""
    if not isinstance(part, Coarsened) or not part.only_bounds:
        yield part
    elif bounds := {n: ends for n, ends in part.bounds.items() if n not in columns}:
        yield Coarsened(tuple(bounds), bounds=bounds)


def _in_words(parts: Sequence[Disclosed], columns: Collection[str]) -> Iterator[Disclosed]:
    for part in parts:
        yield from part.in_words(columns) if isinstance(part, Coarsened) else (part,)


def run_step(
    step: Method, data: D, draws: Draws, *, table: str = "", plan: str = ""
) -> tuple[D, tuple[Any, ...], list[pl.DataFrame]]:
    """Run the stages of one step.

    Parameters
    ----------
    step
        The step.
    data, draws, table, plan
        As for `run_steps`.

    Returns
    -------
    data, states, frames
        The data afterwards; what each stage learned; of a step that masks the rows after each stage.
    """
    book = data.codebook
    own = _draws_of(step, book, draws, table, plan)
    states: tuple[Any, ...] = ()
    frames: list[pl.DataFrame] = []
    while (stage := step.stage(book, states)) is not None:
        state = stage.fit([data.ask(query) for query in stage.queries])
        data = _passed(stage, state, own, data)
        states = (*states, state)
        frames.append(rows(data) if step.masks else pl.DataFrame())
    return data.map(lambda batch: batch, codebook=step.describe(book, states)), states, frames


def repeat_step(step: Method, data: D, states: tuple[Any, ...], draws: Draws, *, table: str = "", plan: str = "") -> D:
    """Do with other data what a step did, with what it has learned.

    Parameters
    ----------
    step
        The step.
    data
        Data with the columns that it needs.
    states
        What each of its stages learned.
    draws, table, plan
        As for `run_steps`.
    """
    book = data.codebook
    own = _draws_of(step, book, draws, table, plan)
    for i, state in enumerate(states):
        stage = step.stage(book, states[:i])
        assert stage is not None, "there is a stage for each state"
        data = _passed(stage, state, own, data)
    return data.map(lambda batch: batch, codebook=step.describe(book, states))


def _draws_of(step: Method, book: Codebook, draws: Draws, table: str, plan: str) -> StepDraws:
    return StepDraws(draws, step.name, book.the(Role.RECORD), book.the(Role.HOUSEHOLD), table, plan)


def _passed(stage: Stage, state: Any, own: StepDraws, data: D) -> D:
    """One pass of a stage over the data."""
    return data.map(lambda batch: stage.transform(batch, state, own), stage.by)
