"""Run a plan several times, each with another public secret, and average the figures: what tuning goes by.

The secrets are fixed and public, so that tuning can be repeated and tells nothing of the real one. At every value of
the tuned parameter the same draws are used again (common random numbers), so that figures move with the parameter and
not with chance. In a release that is not so: there another strength has draws of its own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.draws import Draws, Purpose, Watched
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.measures.measuring import Measuring
from sfumato.plan.binding import entered
from sfumato.plan.conditions import Condition, Figure
from sfumato.plan.parameter import Parameter
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split, within
from sfumato.release.gaps import watched, without_notes
from sfumato.release.measure import EFFORT
from sfumato.release.measured import measure_run
from sfumato.release.rehearsal import asks_for_rehearsal, rehearse
from sfumato.release.run import Ran, run_steps
from sfumato.tuning.averaging import LEVEL, Averaged, Point, averaged, single

__all__ = ["Replica", "Replications"]

_FEWEST = 3
_CLEAR = 0.9999
"""Level of the interval that must keep away from the bound for fewer replications to do. It is high, since each figure
is looked at again after every run."""
_OF_ONE_DRAW = frozenset({"h_rank", "attribute_posterior", "attribute_nearest", "attribute_alike"})
"""Measures whose interval tells how one draw of the noise may differ from the next: replications tell that."""
_FRESH_FROM = 1001
"""Number of the first replication that no search goes by: a search makes 1000 at most."""
_MODEL, _TABLES = Figure("standardised_difference"), Figure("u_main")


class Replica(Watched):
    """The draws of one replication.

    Parameters
    ----------
    number
        Number of the replication, from 1; the secret is SHA-256 of `sfumato tune <number>`.
    smooth
        A method whose draws shall not depend on its strength.

    Examples
    --------
    >>> draws = Replica(1, smooth="noise")
    >>> weak, strong = (Purpose("noise", "bmi", strength) for strength in ("0.1", "0.2"))
    >>> bool(draws.normal(np.array([7], dtype=np.uint64), weak) == draws.normal(np.array([7], dtype=np.uint64), strong))
    True
    """

    def __init__(self, number: int, smooth: str | None = None) -> None:
        super().__init__(hashlib.sha256(f"sfumato tune {number}".encode()).digest())
        self._smooth = smooth

    def words(
        self, unit: NDArray[np.uint64], what: Purpose, value: NDArray[np.uint64] | None = None
    ) -> NDArray[np.uint64]:
        """As in `Watched`."""
        if what.method == self._smooth:  # what stands after the bar numbers the attempts at one draw
            what = replace(what, strength="|".join(["", *what.strength.split("|")[1:]]))
        return super().words(unit, what, value)


@dataclass
class _Runs:
    """What the replications at one value gave so far."""

    worst: list[list[Finding | None]]
    utility: list[dict[str, float | None]] = field(default_factory=list)
    findings: Findings = field(default_factory=Findings)
    disclosure: Disclosure = field(default_factory=Disclosure)

    def figures(self, level: float = LEVEL) -> tuple[Averaged | None, ...]:
        return tuple(averaged(of_one, level) for of_one in self.worst)


class Replications:
    """Runs a plan at values of a parameter, each value once, and gives averaged figures.

    Parameters
    ----------
    parameter
        The parameter with its plan.
    data
        The table.
    conditions
        The limits, at least one.
    utility
        The utility figures; without any the user's model's largest standardised difference, or `u_main` where
        there is no such analysis.
    how
        How things are measured.
    most
        Most replications, at least 2.
    progress
        Called with what is being done, for the work before any value; `parts` are for the values.
    kept
        The probability with which one run must keep each limit; None: the mean must.
    """

    def __init__(
        self,
        parameter: Parameter,
        data: PolarsDataset,
        conditions: Sequence[Condition],
        utility: Sequence[Figure],
        how: Measuring,
        most: int,
        progress: Progress,
        kept: float | None = None,
    ) -> None:
        self._probability, self._further = kept, _FRESH_FROM
        self.parameter, self.conditions, self.utility = parameter, tuple(conditions), tuple(utility)
        self.points: dict[float, Point] = {}
        self.findings: dict[float, Findings] = {}
        self.disclosures: dict[float, Disclosure] = {}
        self.parts: Iterator[Progress] = iter(())
        """The progress of each value that is still to be tried; those that were not expected tell nothing."""
        self._how, self._most = how, most
        sample = None if how.attacking is None else how.attacking.sample
        self._sampled = sample is not None and data.frame.height > sample
        steps = parameter.plan.steps
        name = steps[parameter.step].name
        self._smooth = name if sum(step.name == name for step in steps) == 1 else None
        self._read = entered(parameter.plan, data)
        self._watched = watched(steps, self._read.codebook)
        self._data, self._done = self._prepared(self._read, progress)

    def _prepared(self, data: PolarsDataset, progress: Progress) -> tuple[PolarsDataset, int]:
        """The data after the preparing steps before the tuned one, where these draw nothing; and how many they are."""
        first = self.parameter.plan.preparing()[: self.parameter.step]
        drawing = Replica(1)
        ran = run_steps(first, data, drawing, progress, gaps=self._watched)
        return (data, 0) if drawing.drawn or drawing.broke_ties or ran.gaps is None else (ran.gaps, len(first))

    def at(self, value: float) -> Point:
        """The averaged figures at a value.

        Raises
        ------
        PlanError, DataError
            Where the plan cannot run at this value, or a limit or utility figure speaks of nothing that is measured.
        """
        if value not in self.points:
            self.points[value] = self._average(value)
        return self.points[value]

    def _average(self, value: float) -> Point:
        plan = self.parameter.tuned(value)
        runs = _Runs([[] for _ in self.conditions])
        first: pl.DataFrame | None = None
        parts = split(within(next(self.parts, quiet), self._where(value)), [1] * self._most)
        for number, part in enumerate(parts, 1):
            draws = Replica(number, self._smooth)
            ran = self._run(plan, draws, value, within(part, f"run {number} of at most {self._most}"))
            frame = ran.after.frame
            again = first is not None and not draws.drawn and frame.equals(first)
            self._note(runs, plan, ran, value)
            first = frame if first is None else first
            if again or not (draws.drawn or draws.broke_ties) or (number >= _FEWEST and self._clear(runs)):
                break
        return self._point(value, runs)

    def fresh(self, value: float, count: int, progress: Progress = quiet) -> int:
        """Find anew how many runs at a value keep to the limits, with other secrets than the search went by.

        The value was chosen so that the runs of the search just meet the limits, so their own `kept` flatters it.

        Parameters
        ----------
        value
            A value that was run.
        count
            How many further runs; they are as public as the others.
        progress
            Called with what is being done.

        Returns
        -------
        int
            How many were made: none where the steps draw nothing, since a further run would be the same again.
        """
        plan, runs = self.parameter.tuned(value), _Runs([[] for _ in self.conditions])
        for number, part in enumerate(split(within(progress, self._where(value)), [1] * count), 1):
            draws = Replica(self._further)
            self._further += 1  # runs that a value was chosen by do not judge the next
            ran = self._run(plan, draws, value, within(part, f"further run {number} of {count}"))
            if not (draws.drawn or draws.broke_ties):
                return 0
            self._note(runs, plan, ran, value)
        self.points[value] = replace(self.points[value], kept=self._kept(runs))
        return count

    def _run(self, plan: Plan, draws: Draws, value: float, progress: Progress) -> Ran[PolarsDataset]:
        where = self._where(value)
        steps, self._draws = plan.steps[self._done :], draws
        running, self._measuring = split(progress, [sum(step.effort for step in steps), EFFORT])
        try:
            return replace(run_steps(steps, self._data, draws, running, gaps=self._watched), entering=self._read)
        except DataError as error:
            raise DataError(f"With {where} the plan cannot run; give a narrower range. {error}") from None

    def _where(self, value: float) -> str:
        return f"{self.parameter.path} = {value:g}"

    def _note(self, runs: _Runs, plan: Plan, ran: Ran[PolarsDataset], value: float) -> None:
        """Add the figures of one run."""
        asked = {c.limit.measure for c in self.conditions}
        found = self._measured(plan, ran, asked | {u.measure for u in self.utility or (_MODEL,)})
        if not self.utility:
            self.utility = (_MODEL,) if found.select(_MODEL.measure) else (_TABLES,)
            if _TABLES in self.utility:
                found += self._measured(plan, ran, {_TABLES.measure})
        for condition, of_one in zip(self.conditions, runs.worst, strict=True):
            if not any(condition.limit.binds(f) for f in found):
                raise DataError(
                    f"The limit {str(condition)!r} speaks of nothing that is measured of this plan and these data. "
                    "Check its variable, group, at and attack against the findings of `sfumato protect`."
                )
            worst = condition.worst(found)
            if worst is not None and worst.measure in _OF_ONE_DRAW and not self._sampled:
                worst = replace(worst, interval=None)
            of_one.append(worst)
        runs.utility.append({str(u): u.of(found) for u in self.utility})
        runs.findings, runs.disclosure = found, ran.disclosure

    def _measured(self, plan: Plan, ran: Ran[PolarsDataset], only: Set[str]) -> Findings:
        rehearsed = None
        if asks_for_rehearsal([c.limit for c in self.conditions]):
            rehearsed = rehearse(plan, plan.steps[self._done :], without_notes(self._data), self._draws)
        return measure_run(plan, ran, self._how, self._measuring, only, rehearsed=rehearsed).findings

    def _clear(self, runs: _Runs) -> bool:
        """Whether every figure is so far from its bound that more replications would change no verdict."""
        for condition, figure in zip(self.conditions, self._judged(runs, _CLEAR), strict=True):
            if figure is None or figure.low == figure.high:  # equal so far is not yet certain
                return False
            if condition.holds(figure.low) != condition.holds(figure.high):
                return False
        return True

    def _judged(self, runs: _Runs, level: float | None = None) -> tuple[Averaged | None, ...]:
        """What limits are held against: the mean's interval, or where one further run lies."""
        if self._probability is None:
            return runs.figures(level or LEVEL)
        return tuple(single(of_one, level or self._probability) for of_one in runs.worst)

    def _point(self, value: float, runs: _Runs) -> Point:
        figures, judged = runs.figures(), self._judged(runs)
        excess = [_excess(c, f) for c, f in zip(self.conditions, judged, strict=True)]
        held = tuple(
            f is not None and c.holds(f.low if c.lower else f.high)
            for c, f in zip(self.conditions, judged, strict=True)
        )
        names = runs.utility[0]
        means = {name: _mean_of([run[name] for run in runs.utility]) for name in names}
        self.findings[value], self.disclosures[value] = runs.findings, runs.disclosure
        return Point(value, held, figures, int(np.argmax(excess)), means, len(runs.utility), self._kept(runs))

    def _kept(self, runs: _Runs) -> float:
        """Share of the runs whose own figures keep to every limit."""
        kept = [
            [f is not None and f.value is not None and condition.holds(f.value) for f in of_one]
            for condition, of_one in zip(self.conditions, runs.worst, strict=True)
        ]
        return float(np.mean(np.all(kept, axis=0)))


def _excess(condition: Condition, figure: Averaged | None) -> float:
    """By how much the far end of a figure's interval goes beyond the bound."""
    if figure is None:
        return math.inf
    return condition.excess(figure.low if condition.lower else figure.high)


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None
