"""Run the steps of a plan over a data set, on whatever engine it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Generic, TypeVar, cast

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset, Parted, rows, with_codebook
from sfumato.data.disclosure import Averaged, Coarsened, Disclosed, Disclosure
from sfumato.data.error_model import Bounds
from sfumato.data.hidden import CELLS, HIDDEN, ROW, VIEW, WAS
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import IDS
from sfumato.data.suppression import Suppression
from sfumato.draws import Draws
from sfumato.engines.hidden_columns import HiddenColumns
from sfumato.errors import EmptyRelease
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split
from sfumato.release.gaps import noted_after, noted_before, watched, without_notes
from sfumato.release.persons import asked, in_parts, of_each_person
from sfumato.release.taking import Taking
from sfumato.report.report import StepDone

__all__ = ["Ran", "carried", "first_late", "off_memory", "repeat_step", "run_plan", "run_step", "run_steps"]

D = TypeVar("D", bound=Dataset)
Parts = tuple[tuple[Method, tuple[Any, ...]], ...]
"""A step as it was run, with what its stages learned."""


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
        What an attacker could compute from the result, and what he would guess (`CELLS`), by name: columns, with the
        numbers of the records. Off memory it stands in hidden columns of the result.
    suppression
        How many records and cells steps took out, from `given` on.
    entering
        The data as they entered the first step, before anything was done to them.
    gaps
        The result with what was noted of its gaps (`sfumato.release.gaps`), in hidden columns.
    """

    given: D
    before: D
    after: D
    steps: tuple[StepDone, ...] = ()
    disclosure: Disclosure = field(default_factory=Disclosure)
    reconstructions: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    suppression: Suppression = field(default_factory=Suppression, repr=False)
    entering: D | None = None
    gaps: D | None = None

    @cached_property
    def sides(self) -> HiddenColumns:
        """What its records were, and what is released of them, as measures ask for it where rows are not in memory."""
        given, before, after = (cast(Parted, data) for data in (self.given, self.before, self.after))
        entering = cast(Parted, self.entering if self.entering is not None else self.given)
        return HiddenColumns(given, before, after, self.disclosure, entering=entering)


def run_plan(plan: Plan, entering: D, draws: Draws, progress: Progress = quiet, taking: Taking | None = None) -> Ran[D]:
    """Run a plan's steps.

    Parameters
    ----------
    plan
        The plan, bound to the columns.
    entering
        The data with the plan's codebook.
    draws, progress, taking
        As for `run_steps`.
    """
    was = carried(plan) if off_memory(entering) else ()
    told = {"table": plan.table_name, "plan": plan.digest}
    gaps = watched(plan.steps, entering.codebook)
    return run_steps(plan.steps, entering, draws, progress, **told, was=was, gaps=gaps, taking=taking)


def carried(plan: Plan) -> tuple[str, ...]:
    """The columns whose true values travel beside the released ones: those that steps change from the first that masks.

    Examples
    --------
    >>> carried(Plan(steps=[{"do": "noise", "columns": ["age"], "sd": 2}]))
    ('age',)
    """
    return plan.traces.late


def run_steps(
    steps: Sequence[Method],
    data: D,
    draws: Draws,
    progress: Progress = quiet,
    *,
    table: str = "",
    plan: str = "",
    was: Sequence[str] = (),
    gaps: Collection[str] = (),
    taking: Taking | None = None,
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
    was
        Columns whose values, as they enter the first step that masks (where none does, that coarsens), travel beside
        the released ones in hidden columns `WAS`; what an attacker could compute then stays in hidden columns `VIEW`.
    gaps
        Columns whose gaps are noted on the way, see `sfumato.release.gaps`.
    taking
        From which earlier releases steps take what these disclosed.

    Raises
    ------
    EmptyRelease
        As soon as no column or no record is left.
    """
    read = data
    given: D | None = None
    before: D | None = None
    heights: list[int | None] = []
    done: list[StepDone] = []
    disclosed: list[Disclosed] = []
    gone = Suppression()
    views = ROW in data.codebook or bool(was)
    first = first_late(steps)
    parts = split(progress, [step.effort for step in steps])
    for i, (step, part) in enumerate(zip(steps, parts, strict=True)):
        part(f"step {i + 1} of {len(steps)}: {step.name}", 0)
        if (step.masks or step.coarsens) and given is None:
            given = without_notes(data)
        if step.masks and before is None:
            before = without_notes(data)
        if i == first and was:
            data = _carrying(data, was)
        if views and step.empties is not None:
            data = _viewed(data, {CELLS.format(i): {n: pl.col(n) for n in step.empties.keys}})
        data = entering = noted_before(step, data, gaps)
        data, ran, height = _run_step(step, data, draws, table, plan, views, taking)
        data = noted_after(step, data, gaps)
        if off_memory(data) and _no_column(data):
            _refuse_no_record(steps, [*heights, _height(entering)])
        heights.append(height)
        _refuse_no_column(steps[: i + 1], data)
        for one, learned in ran:
            states = learned.states
            said = one.disclose(states)
            disclosed = _told(disclosed, one, said)
            if given is not None:
                gone += replace(one.suppressed(states), of=height or 0)
            sentence = " ".join(Disclosure(said).sentences()) or one.sentence()
            notes, warnings = one.notes(states), (*one.warnings(states), *learned.taken)
            done.append(StepDone(one.name, one.masks, sentence, notes, one.model_dump(), warnings, one.coarsens))
        if height == 0 or not off_memory(data):
            _refuse_no_record(steps, [*heights, _height(data)])
    heights.append(_height(data))
    _refuse_no_record(steps, heights)
    if given is not None and off_memory(data) and gone != Suppression(of=gone.of):
        gone = replace(gone, of=_height(given))
    given = given or data
    after, reconstructions = _apart(data) if ROW in data.codebook else (data, {})
    before = before or (after if given is data else given)
    given = after if given is data else given
    return Ran(given, before, after, tuple(done), Disclosure(tuple(disclosed)), reconstructions, gone, read, data)


def first_late(steps: Sequence[Method]) -> int:
    """The number of the first step that masks; where none does, of the first that coarsens; else how many there are.

    Examples
    --------
    >>> first_late([])
    0
    """
    masking = [i for i, step in enumerate(steps) if step.masks]
    coarsening = [i for i, step in enumerate(steps) if step.coarsens]
    return (masking or coarsening or [len(steps)])[0]


def off_memory(data: Dataset) -> bool:
    """Whether looking at the rows of a data set once more is costly: they are not in memory.

    Examples
    --------
    >>> from sfumato.engines.polars import PolarsDataset
    >>> off_memory(PolarsDataset(pl.DataFrame({"a": [1]}), Codebook()))
    False
    """
    return hasattr(data, "write_parts")


def _carrying(data: D, columns: Sequence[str]) -> D:
    """The data with values of some columns once more, in hidden columns."""
    there = [n for n in columns if n in data.codebook]
    return data.map(lambda batch: batch.with_columns(pl.col(n).alias(f"{WAS}{n}") for n in there))


def _apart(data: D) -> tuple[D, dict[str, pl.DataFrame]]:
    """Data in memory without what was noted and what an attacker could compute: that by name, with records' numbers."""
    if off_memory(data):
        return data, {}
    data = without_notes(data)
    hidden = [n for n in data.codebook if n.startswith(VIEW)]
    if not hidden:
        return data, {}
    frame = rows(data, [ROW, *hidden])
    named: dict[str, list[pl.Expr]] = {}
    for n in hidden:
        name, column = n.removeprefix(VIEW).split(":", 1)
        named.setdefault(name, []).append(pl.col(n).alias(column))
    return data.map(lambda batch: batch.drop(hidden)), {
        name: frame.select(ROW, *columns) for name, columns in named.items()
    }


def _height(data: Dataset) -> int:
    return int(data.ask(Counts(())).item(0, COUNT))


def _refuse_no_column(done: Sequence[Method], data: Dataset) -> None:
    """Refuse to go on with no column, and name the steps that dropped them."""
    if _no_column(data):
        named = _named([i for i, step in enumerate(done) if step.name == "drop"], done)
        raise EmptyRelease(f"No column is left to release. Look at {named}: keep at least one column.")


def _no_column(data: Dataset) -> bool:
    return all(name.startswith(HIDDEN) for name in data.codebook)


def _refuse_no_record(steps: Sequence[Method], heights: Sequence[int | None]) -> None:
    """Refuse to go on with no record, and name the steps that left them out.

    `heights` are those before each step, where they were counted, and the one after the last.
    """
    if heights[-1] or heights[0] == 0 or len(heights) < 2:
        return
    known = [(i, height) for i, height in enumerate(heights) if height is not None]
    fell = [(i, j) for (i, high), (j, low) in pairwise(known) if low < high]
    if heights[0] is None:
        fell = [(0, known[0][0]), *fell]
    named = _named([step for i, j in fell for step in range(i, j)], steps)
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


def run_step(step: Method, data: D, draws: Draws, *, table: str = "", plan: str = "") -> tuple[D, Parts]:
    """Run the stages of one step.

    Parameters
    ----------
    step
        The step.
    data, draws, table, plan
        As for `run_steps`.

    Returns
    -------
    data, parts
        The data afterwards; the step as it was run, with what each stage learned: where several records are about a
        person, maybe in parts, see `sfumato.release.persons`.
    """
    data, ran, _ = _run_step(step, data, draws, table, plan, False)
    return data, tuple((one, learned.states) for one, learned in ran)


def _run_step(
    step: Method, data: D, draws: Draws, table: str, plan: str, views: bool, taking: Taking | None = None
) -> tuple[D, tuple[tuple[Method, _Done], ...], int | None]:
    """As `run_step`, with how many records entered, where that was counted: off memory in a pass that is made anyway.

    With `views` what an attacker could compute is kept in hidden columns.
    """
    ran: list[tuple[Method, _Done]] = []
    for one, of_people in in_parts(step, data):
        run = partial(_run_stages, one, step=step, draws=draws, table=table, plan=plan, views=views, taking=taking)
        data, done = of_each_person(one, data, run) if of_people else run(data)
        ran.append((one, done))
    return data, tuple(ran), ran[0][1].height


@dataclass(frozen=True)
class _Done:
    """What the stages of a step learned, how many records entered, and what is said of what was taken over."""

    states: tuple[Any, ...]
    height: int | None
    taken: tuple[str, ...] = ()


def _run_stages(
    one: Method, data: D, *, step: Method, draws: Draws, table: str, plan: str, views: bool, taking: Taking | None
) -> tuple[D, _Done]:
    """Run the stages of a step, or of a part of it, as they are; `step` is as the plan has it."""
    book = data.codebook
    own = _draws_of(one, book, draws, table, plan)
    states: tuple[Any, ...] = ()
    height = None if off_memory(data) else _height(data)
    then = None if taking is None else taking.told(step)
    taken: list[bool] = []
    while (stage := one.stage(book, states)) is not None:
        if not states and stage.queries and height is None:
            answers = asked(data, [Counts(()), *stage.queries], one)
            height = int(answers.pop(0).item(0, COUNT))
        else:
            answers = asked(data, stage.queries, one)
        state = None if then is None or stage.taking is None else stage.taking(answers, then)
        taken += [] if stage.taking is None else [state is not None]
        if state is None:
            state = stage.fit(answers)
            state = state if stage.drawn is None else stage.drawn(state, own)
        data = _passed(stage, state, own, data)
        states = (*states, state)
        if views and one.masks and (told := one.reconstructions(states)):
            data = _viewed(data, told)
    said = () if taking is None or not taken else (taking.said(one, then, all(taken)),)
    return with_codebook(data, _described(one, book, states)), _Done(states, height, said)


def _described(step: Method, book: Codebook, states: tuple[Any, ...]) -> Codebook:
    """The codebook after a step; columns that it changes lie on no other grid than it says."""
    bare = {n: book[n].model_copy(update={"multiple": None}) for n in step.changes if n in book and book[n].multiple}
    return step.describe(Codebook({**book, **bare}), states)


def _viewed(data: D, told: Mapping[str, Mapping[str, pl.Expr]]) -> D:
    """The data with what an attacker could compute; of a column that has such a view already the later one."""
    columns = {f"{VIEW}{name}:{n}": x for name, view in told.items() for n, x in view.items()}
    return data.map(lambda batch: batch.with_columns(x.alias(n) for n, x in columns.items()))


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
    return with_codebook(data, _described(step, book, states))


def _draws_of(step: Method, book: Codebook, draws: Draws, table: str, plan: str) -> StepDraws:
    record, person, household = (book.the(role) for role in IDS)
    return StepDraws(draws, step.name, record, household, table, plan, person)


def _passed(stage: Stage, state: Any, own: StepDraws, data: D) -> D:
    """One pass of a stage over the data."""
    return data.map(lambda batch: stage.transform(batch, state, own), stage.by)
