"""Where a plan stops: the first edit of it that holds, found by running it; limits are never loosened."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.data.finding import Finding
from sfumato.data.hidden import ROW
from sfumato.data.profile import profile
from sfumato.data.roles import NOT_LEARNT, Role
from sfumato.data.yaml import load_yaml
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import SfumatoError
from sfumato.measures.registry import figure, measure_of
from sfumato.measures.saying import percent
from sfumato.plan.binding import entered
from sfumato.plan.by_groups import GROUPS
from sfumato.plan.drafted import DraftedPlan
from sfumato.plan.edited import Edited
from sfumato.plan.editing.differing import differing
from sfumato.plan.editing.edits import add, set_value
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.report.report import Report
from sfumato.tuning.drafts import draft_for
from sfumato.tuning.edits import KINDS, Ground, Version, failing

__all__ = ["COSTS", "Advised", "advise"]

_MOST_RUNS, _MOST_SECONDS = 12, 60.0
_BETTER = 0.98
"""An edit helps where what is too much falls below this share of what it was."""
_IDLE = 2
"""So many versions of a ladder that do not help, one after the other, end it: the smallest group grows by jumps."""
_WORST = 100.0
"""How far above its limit a figure counts at most, and what a refusal counts."""
_FOR_DRAFTS = 4
"""Runs that are kept for drafts."""
_DRAFT = "a draft from the plan's roles: {what}"
_EXCHANGED = "values exchanged in groups of {size}"
COSTS = frozenset({"columns_kept", "records_kept", "relations_shift", "cells_deleted", "uniques_sample"})
"""What is measured beside limits: what an edit costs, and whether what leaves singles somebody out."""
Run = Callable[[Plan], Report]


@dataclass(frozen=True)
class Advised:
    """The first edit of a plan that holds, or why there is none.

    Parameters
    ----------
    edits
        What is changed, in words, one for each kind of edit.
    before
        The plan as it was, as YAML.
    text
        The plan that holds, as YAML; None where none does.
    report
        What came of it.
    because
        Where none holds, why: the best that was reached, with its column.
    runs
        How often steps and measures were run.

    Examples
    --------
    >>> held = Advised(("k 5 in step 1 (centroids)",), "k: 3\\n", "k: 5\\n")
    >>> held.diff
    ('- k: 3', '+ k: 5')
    >>> held.to_plain()
    {'edits': ['k 5 in step 1 (centroids)'], 'plan': 'k: 5\\n', 'holds': True}
    """

    edits: tuple[str, ...]
    before: str
    text: str | None = None
    report: Report | None = None
    because: str = ""
    runs: int = 0

    @property
    def diff(self) -> tuple[str, ...]:
        """Lines that go, with `-`, and lines that come, with `+`."""
        places = differing(self.before, self.text or self.before)
        return tuple(line for p in places for line in (*(f"- {x}" for x in p.gone), *(f"+ {x}" for x in p.new)))

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        if self.text is None:
            return {"holds": False, "because": self.because}
        return {"edits": list(self.edits), "plan": self.text, "holds": True}


def advise(
    text: str, folder: Path, data: PolarsDataset, report: Report, run: Run, progress: Progress = quiet
) -> Advised:
    """Look for the cheapest edit of a plan that holds: its steps and what its limits need are run each time.

    Kinds of edits come in a fixed order: new ids for those that leave, larger groups, wider bands, merged categories,
    fewer strata, more noise, what leaves open exchanged among similar records, a column left out, and last drafts from
    the plan's roles that keep all its limits. An edit that helps and does not suffice stays while the next kind is
    tried. At most 12 runs are made, and none is begun after 60 seconds of CPU.

    Parameters
    ----------
    text, folder
        The plan as YAML; of one table; and where it lies.
    data
        The table, in memory.
    report
        What came of the plan; it does not hold.
    run
        Runs a plan on the table, with the secret that the release will have, and measures at least its limits and
        `COSTS`.
    progress
        Called before each run.

    Returns
    -------
    Advised

    Notes
    -----
    What holds here holds for these records and this secret. No limit is changed, and nothing is said to be unknown that
    the plan does not say.
    """
    return _Search(text, folder, data, report, run, progress).found()


class _NothingDrafted(Exception):
    """Why nothing could be drafted."""


class _Search:
    def __init__(
        self, text: str, folder: Path, data: PolarsDataset, report: Report, run: Run, progress: Progress
    ) -> None:
        self.before, self.folder, self.data, self.run, self.progress = text, folder, data, run, progress
        self.plan = self._plan(text)
        self.runs, self.started = 0, time.process_time()
        self.ground = self._ground(text, report)
        self.words: list[str] = []

    def _plan(self, text: str) -> Plan:
        return Plan.from_yaml(text, self.folder)

    def found(self) -> Advised:
        """The first edit that holds, or what came nearest."""
        for version, report in self._edited():
            if report.verdict == "holds":
                edits = (*self.words, version.words)
                return Advised(edits, self.before, version.text, report, runs=self.runs)
        drafted = self._drafted()
        if isinstance(drafted, Advised):
            return drafted
        return Advised((), self.before, because=self._nearest(drafted), runs=self.runs)

    def _edited(self) -> Iterator[tuple[Version, Report]]:
        """Every version that is run; the ground moves on to the best of each kind."""
        for kind in KINDS:
            best: tuple[Version, Ground] | None = None
            ground, idle = self.ground, 0
            for version in kind.versions(ground):
                if self.runs >= _MOST_RUNS - _FOR_DRAFTS or time.process_time() - self.started > _MOST_SECONDS:
                    return
                report = self._tried(version)
                if report is None:
                    continue
                yield version, report
                reached = ground if best is None else best[1]
                if _too_much(report) < _BETTER * _too_much(reached.report):
                    best, idle = (version, self._ground(version.text, report)), 0
                else:
                    idle += 1
                if kind.ladder and idle == _IDLE:
                    break
            if best is not None:
                self.words.append(best[0].words)
                self.ground = best[1]

    def _tried(self, version: Version) -> Report | None:
        """What comes of a version; None where it cannot be run."""
        self.progress(f"trying: {version.words}", self.runs / _MOST_RUNS)
        try:
            plan = self._plan(version.text)
            self.runs += 1
            return self.run(plan)
        except SfumatoError:
            return None

    def _ground(self, text: str, report: Report) -> Ground:
        plan = self._plan(text)
        table = entered(plan, self.data)
        rows = replace(table, frame=table.frame.drop(ROW, strict=False), codebook=table.codebook.without(ROW))
        return Ground(text, plan, report, rows)

    def _drafted(self) -> Advised | str:
        """The first draft from the plan's roles that holds; else why not."""
        told = ""
        for drafts in (self._of_groups, self._within_keys):
            try:
                for version in drafts():
                    if self.runs >= _MOST_RUNS:
                        return told
                    report = self._tried(version)
                    if report is not None and report.verdict == "holds":
                        return Advised((version.words,), self.before, version.text, report, runs=self.runs)
            except _NothingDrafted as nothing:
                told = str(nothing)
            except SfumatoError:
                continue
        return told

    def _of_groups(self) -> Iterator[Version]:
        """Values exchanged in groups, of the size that a draft has, and larger ones."""
        drafted = self._draft()
        text = self._drafted_into(drafted)
        place = next((i for i, step in enumerate(self._plan(text).steps) if step.name == "swap"), None)
        if place is None:  # the plan says itself what nobody knows
            yield Version(_DRAFT.format(what=f"keys made coarser, {drafted.group} or more alike"), text)
        elif not any(_of_classes(limit.measure) for limit in self.plan.limits):  # else no column is left that they bind
            for size in (drafted.group or 0, *(size for size in GROUPS if size > (drafted.group or 0))):
                version = set_value(text, ["steps", place, "group"], size)
                yield Version(_DRAFT.format(what=_EXCHANGED.format(size=size)), version)

    def _within_keys(self) -> Iterator[Version]:
        """Values exchanged within groups of some keys, which stay as they are: limits on classes speak of these."""
        drafted = self._draft()
        text = self._drafted_into(drafted)
        steps = self._plan(text).steps
        place = next((i for i, step in enumerate(steps) if step.name == "swap"), None)
        if place is None:
            return
        columns, sets = steps[place].changes, getattr(steps[place], "together", None)
        for size in (drafted.group or GROUPS[0], *(size for size in GROUPS if size > (drafted.group or 0))):
            by = self._large_classes(columns, size)
            rest = [n for n in columns if n not in by]
            if not by or not rest:
                return
            version = set_value(text, ["steps", place, "columns"], rest)
            version = set_value(version, ["steps", place, "by"], by)
            version = set_value(version, ["steps", place, "group"], size)
            if isinstance(sets, tuple) and sets:
                fewer = [[n for n in each if n in rest] for each in sets]
                version = set_value(version, ["steps", place, "together"], [each for each in fewer if len(each) > 1])
            what = f"{_EXCHANGED.format(size=size)} within {', '.join(by)}"
            yield Version(_DRAFT.format(what=what), version)

    def _large_classes(self, columns: Collection[str], size: int) -> list[str]:
        """Keys with few values whose combinations are shared by enough records, also for three groups of this size."""
        table, limits = self.ground.table, self.plan.limits
        least = max([3 * size, *(x.at_least for x in limits if x.at_least is not None and _of_classes(x.measure))])
        book = table.codebook
        free = [n for n in table.columns if n in columns and book[n].role == Role.KEY and not book[n].numeric]
        by: list[str] = []
        for n in sorted(free, key=lambda n: table.frame[n].n_unique()):
            if int(table.frame.group_by([*by, n]).len()["len"].min()) >= least:  # type: ignore[arg-type]
                by.append(n)
        return by

    def _draft(self) -> DraftedPlan:
        frame, book = self.data.frame, self.data.codebook
        drafted, _ = draft_for(frame, book, profile(frame, book), self.plan.title, edited=Edited(self.plan))
        if drafted.because is not None:
            raise _NothingDrafted(drafted.because)
        return drafted

    def _drafted_into(self, drafted: DraftedPlan) -> str:
        """The plan with a draft's steps, with what it knows of other variables, and with limits that it lacks."""
        plan, (value, _) = self._plan(drafted.text), load_yaml(drafted.text)
        text = self.before
        for name in plan.variables:
            if name not in self.plan.variables:
                text = set_value(text, ["variables", name], value["variables"][name])
        text = set_value(text, ["steps"], value["steps"])
        for limit, said in zip(plan.limits, value["limits"], strict=True):
            if not any(_same(own, limit) for own in self.plan.limits):
                text = add(text, ["limits"], None, said)
        return text

    def _nearest(self, why: str) -> str:
        """The best that was reached, with the column that its figure is of, or that tells most people apart."""
        if why:
            return why
        report = self.ground.report
        tried = f"with the best of {self.runs} edits" if self.words else f"none of {self.runs} edits helps:"
        worst = max(failing(report), key=_over, default=None)
        if worst is None:
            stands = next(iter(report.refusals), "what leaves unchanged singles out people whom the keys do not")
            return f"{tried} this still stands against it: {stands}"
        return f"{tried} {_clause(worst)}; the limit is {_told(worst, worst.limit)}{self._column(worst)}"

    def _column(self, worst: Finding) -> str:
        if worst.variable is not None:
            return f" ({worst.variable})"
        frame, book = self.ground.table.frame, self.ground.table.codebook
        free = [n for n in self.ground.leaving if book[n].role not in NOT_LEARNT]
        most = max(free, key=lambda n: (frame[n].n_unique(), n), default=None)
        return "" if most is None else f"; {most}, with {frame[most].n_unique():,} values, tells most records apart"


def _of_classes(measure: str) -> bool:
    """Whether a figure is one of groups of records that are alike, so that something must leave as it was."""
    found = measure_of(measure)
    return found is not None and found.family == "groups"


def _same(one: Any, other: Any) -> bool:
    """Whether two limits speak of the same figures, from the same side."""
    named = ("measure", "variable", "group", "at", "attack")
    return all(getattr(one, n) == getattr(other, n) for n in named) and (one.at_most is None) == (other.at_most is None)


def _too_much(report: Report) -> float:
    """How far a report is from holding: of each limit that is broken by how much, and refusals."""
    against = len(report.refusals) + (report.verdict == "undecided") + len(report.open_ids)
    return sum(map(_over, failing(report))) + _WORST * (against or (report.verdict != "holds" and not failing(report)))


def _over(line: Finding) -> float:
    """A figure by its limit, from the side from which it is broken; 1 keeps to it."""
    if line.value is None or not line.limit:
        return _WORST if line.value is None else min(1 + abs(line.value), _WORST)
    ratio = line.value / line.limit
    return min(ratio if ratio > 1 else 1 / max(ratio, 1 / _WORST), _WORST)


def _clause(line: Finding) -> str:
    said = figure(line.measure)
    value = "not measured" if line.value is None else _told(line, line.value)
    return said.clause.format(value) if said.clause and line.value is not None else f"{line.measure} is {value}"


def _told(line: Finding, value: float | None) -> str:
    said = figure(line.measure)
    return percent(value or 0.0) if said.form == "share" or said.percent else f"{value:g}"
