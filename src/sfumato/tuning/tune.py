"""Find the least protection that holds: tune a number of a plan until its limits are met, and no further."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from sfumato.engines.polars import PolarsDataset
from sfumato.errors import PlanError
from sfumato.measures.attacking import USUAL
from sfumato.measures.confidence import wilson
from sfumato.measures.measuring import Measuring
from sfumato.plan.conditions import Condition, Figure
from sfumato.plan.knows import knowledge
from sfumato.plan.limits import apply_limits, attacking_for, intruding_for
from sfumato.plan.parameter import Parameter
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split
from sfumato.report.advice import advice
from sfumato.tuning.averaging import Point
from sfumato.tuning.halving import Halving
from sfumato.tuning.replicate import Replications

__all__ = ["Tuned", "tune"]

_MANY = 100_000
_MOST_REPLICATIONS, _MOST_POINTS = 1000, 200
_NARROWEST = 1e-6
_KEPT = (
    "kept at {parameter} is the share of {fresh} further runs, with other secrets than the search went by. At other "
    "values it is that of the search's own runs, which flatters values near a limit."
)
_SURE = (
    "A release made with a secret that nobody knows keeps the limits with a probability of about {kept:.0%} (95% "
    "interval {low:.0%} to {high:.0%}): so many of {fresh} runs did, with secrets that nothing was chosen by."
)
_MOST_STEPS = 10
"""How often a value is raised because too few further runs kept to the limits there."""
_FRESH = ((10_000, 20), (_MANY, 10), (None, 5))
"""Further runs at the value found, by the most records that they are made for."""


@dataclass(frozen=True)
class Tuned:
    """What tuning found.

    Parameters
    ----------
    parameter
        What was tuned, for instance `steps.0.share`.
    value
        The least protection that meets all limits; where none does, the most that was tried (or, where limits pull
        opposite ways, the least that meets the first of them).
    met
        Whether all limits are met there.
    path
        Every value that was tried, in order, with its figures.
    limits
        The limits.
    plan
        The plan with `value`.
    notes
        What should be known of the search, and what to try where the limits are not met.
    fresh
        Of how many further runs the value's `kept` is, with other secrets than the search went by; 0 where none were
        made: no limit is met, or nothing is drawn.
    drawn
        Whether runs differ by what is drawn.
    choices
        Where a choice was tuned, its values: `value`, and those of the path, are their numbers from 0.
    """

    parameter: str
    value: float
    met: bool
    path: tuple[Point, ...]
    limits: tuple[Condition, ...]
    plan: Plan = field(repr=False)
    notes: tuple[str, ...] = ()
    fresh: int = 0
    drawn: bool = True
    choices: tuple[str, ...] = ()

    def stated(self, value: float) -> float | str:
        """A value as a plan writes it.

        Parameters
        ----------
        value
            One of the path.
        """
        return self.choices[int(value)] if self.choices else value

    @property
    def kept(self) -> tuple[float, tuple[float, float]] | None:
        """Probability that a release with an unknown secret keeps all limits at the value found, and its 95% interval.

        None where it was not estimated, as no value meets the limits. Where nothing is drawn it is certain.
        """
        if not self.met:
            return None
        if not self.drawn:
            return 1.0, (1.0, 1.0)
        share = next(point.kept for point in self.path if point.value == self.value)
        return (share, wilson(share * self.fresh, self.fresh)) if self.fresh else None

    def to_plain(self) -> dict[str, Any]:
        """The JSON form."""
        path = [
            {
                "value": self.stated(p.value),
                "risk": p.risk,
                "interval": None if p.interval is None else list(p.interval),
                "utility": p.utility,
                "met": p.met,
                "limit": str(self.limits[p.nearest]),
                "replications": p.replications,
                "kept": p.kept,
            }
            for p in self.path
        ]
        return {
            "parameter": self.parameter,
            "value": self.stated(self.value),
            "met": self.met,
            "limits": [str(limit) for limit in self.limits],
            "kept": None if self.kept is None else {"value": self.kept[0], "interval": list(self.kept[1])},
            "path": path,
            "notes": list(self.notes),
        }

    def tidy(self) -> pl.DataFrame:
        """A frame with one row for each value tried: value, risk, low, high, met, limit, replications, kept, utility.

        `risk` with its 95% interval is the figure of `limit`, the one that is nearest to breaking there; `kept` is the
        share of runs whose own figures kept to every limit, at the value found of further runs (see `fresh`).
        """
        rows = [
            {
                "value": self.stated(float(p.value)),
                "risk": p.risk,
                "low": None if p.interval is None else p.interval[0],
                "high": None if p.interval is None else p.interval[1],
                "met": p.met,
                "limit": str(self.limits[p.nearest]),
                "replications": p.replications,
                "kept": p.kept,
                **p.utility,
            }
            for p in self.path
        ]
        figures = dict.fromkeys(("risk", "low", "high", *self.path[0].utility), pl.Float64)
        return pl.DataFrame(rows, schema_overrides=figures)

    def _repr_html_(self) -> str:
        return str(self.tidy()._repr_html_())


def tune(
    plan: Plan,
    data: PolarsDataset,
    *,
    parameter: str,
    between: tuple[float, float] | tuple[str, str],
    limits: Sequence[Condition] = (),
    utility: Sequence[Figure] = (),
    how: Measuring | None = None,
    replications: int | None = None,
    tolerance: float = 0.01,
    grid: int = 0,
    kept: float | None = None,
    progress: Progress = quiet,
) -> Tuned:
    """Find the least protection within a range that meets all limits.

    The search halves the range (on the log scale where both ends are above 0, on whole numbers where the parameter
    takes no others), so it assumes that figures rise or fall steadily with the parameter. Which way, it finds from
    the two ends.

    A figure is the mean over replications, each with another public secret, and the far end of its 95% interval must
    meet the limit. That is a statement on the mean: the one release that is made later has its own draw, which
    `protect` measures and judges, and about one in two fails. With `kept` each run must keep its limits with that
    probability; the value is raised until as many further runs do, and how many do then is found anew.

    Parameters
    ----------
    plan
        The plan; what it gives for the parameter is replaced.
    data
        The table.
    parameter
        What is tuned, see `Parameter`.
    between
        Lowest and highest value; of a choice two of its values.
    limits
        What must hold; by default the plan's limits.
    utility
        Figures to report beside the risk, see `Replications`.
    how
        How things are measured. Where it names no attackers they are the usual ones and those that limits name.
    replications
        Most runs at each value; by default 10, and 5 above 100,000 records. Fewer are made where a figure is far from
        its limit, and one where the steps draw nothing.
    tolerance
        Share of the value to which it is found.
    grid
        Number of values, evenly spread over the range, that are tried besides: for the frontier.
    kept
        The probability, 0.5 to 0.999, with which one release must keep all limits; None: the mean must.
    progress
        Called with what is being done, and the share of the work that is expected to be done.

    Raises
    ------
    PlanError
        Where the plan, the parameter or the range is wrong.
    DataError
        Where the data are not fit for a step.
    """
    knob = Parameter(parameter, plan)
    low, high = _range(knob, between)
    limits = tuple(limits) or tuple(Condition(limit) for limit in plan.limits)
    if replications is None:
        replications = 5 if data.frame.height > _MANY else 10
    _refuse(limits, replications, tolerance, grid, kept)
    for end in (low, high):
        knob.tuned(end)  # so that a range that the step refuses is told of before any work
    how = how or Measuring()
    if how.attacking is None:
        how = replace(how, attacking=attacking_for([c.limit for c in limits]) or USUAL)
    if how.intruding is None:
        how = replace(how, intruding=intruding_for([c.limit for c in limits], knowledge(plan.knows)))
    further = _further(data.frame.height, replications) * (1 if kept is None else 2)
    halves = Halving.expected(low, high, whole=knob.whole, tolerance=tolerance)
    first, searching, along, again = split(progress, [0, halves, grid, further / replications])
    runs = Replications(knob, data, limits, utility, how, replications, first, kept)
    search = Halving(runs.at, limits, name=parameter, whole=knob.whole, tolerance=tolerance, text=knob.text)
    runs.parts = iter(split(searching, [1] * halves))
    value, notes = search.run(low, high)
    extra = _grid(low, high, grid, search)
    runs.parts = iter(split(along, [1] * len(extra)))
    for each in extra:
        runs.at(each)
    if kept is not None:
        value = _raised(value, high if search.upward else low, kept, further, runs, search)
    fresh = runs.fresh(value, further, again) if runs.points[value].met else 0
    path = tuple(runs.points[v] for v in sorted(runs.points))
    found = runs.points[value]
    notes = [*notes, *_unsteady(path, search)]
    if fresh and kept is not None:
        share = found.kept
        interval = wilson(share * fresh, fresh)
        notes.append(_SURE.format(kept=share, fresh=fresh, low=interval[0], high=interval[1]))
    elif fresh:
        notes.append(_KEPT.format(parameter=f"{parameter} = {knob.text(value)}", fresh=fresh))
    if not found.met:
        broken = [c.limit for c, held in zip(limits, found.held, strict=True) if not held]
        notes += advice(apply_limits(runs.findings[value], broken), runs.disclosures[value]).to_try
    return Tuned(
        parameter,
        value,
        found.met,
        path,
        limits,
        knob.tuned(value),
        tuple(notes),
        fresh,
        bool(fresh) or not found.met,
        knob.choices,
    )


def _raised(value: float, strong: float, kept: float, further: int, runs: Replications, search: Halving) -> float:
    """The value, moved on towards more protection until enough further runs keep to the limits there."""
    for _ in range(_MOST_STEPS):
        if not runs.points[value].met or not runs.fresh(value, further) or runs.points[value].kept >= kept:
            break
        step = 1 if search.whole else 2 * search.tolerance * abs(strong if value == 0 else value)
        higher = search.rounded(min(value + step, strong) if search.upward else max(value - step, strong))
        if higher == value:
            break
        value = higher
        runs.at(value)
    return value


def _further(records: int, replications: int) -> int:
    """How many further runs the value found gets: fewer of large tables, and where few runs were asked for."""
    most = next(count for size, count in _FRESH if size is None or records <= size)
    return min(most, 4 * replications)


def _range(knob: Parameter, between: tuple[float, float] | tuple[str, str]) -> tuple[float, float]:
    if knob.choices or isinstance(between[0], str) or isinstance(between[1], str):
        return _chosen(knob, between)
    low, high = between
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise PlanError([f"the range {low:g} to {high:g} is none: give the lower number first"])
    if knob.whole:
        if low != round(low) or high != round(high):
            raise PlanError([f"{knob.path} takes whole numbers only, and so does its range"])
        return int(low), int(high)
    return float(low), float(high)


def _chosen(knob: Parameter, between: tuple[float | str, float | str]) -> tuple[int, int]:
    """The numbers of two values of a choice, the lower first."""
    one, other = between
    if not knob.choices:
        raise PlanError([f"{knob.path} is a number, and so are both ends of its range"])
    if isinstance(one, str) and isinstance(other, str) and one != other:
        low, high = sorted((knob.number(one), knob.number(other)))
        return low, high
    raise PlanError([f"{knob.path} is chosen: give two of its values as the range, {':'.join(knob.choices[:2])}"])


def _refuse(limits: Sequence[Condition], replications: int, tolerance: float, grid: int, kept: float | None) -> None:
    problems = []
    if not limits:
        problems.append("there is no limit to tune to: give one (linkage_nearest < 0.2), or write limits into the plan")
    if not 2 <= replications <= _MOST_REPLICATIONS:
        problems.append(f"replications must lie between 2 and {_MOST_REPLICATIONS}")
    if not _NARROWEST <= tolerance <= 0.5:
        problems.append(f"tolerance must lie between {_NARROWEST:g} and 0.5")
    if kept is not None and not 0.5 <= kept <= 0.999:
        problems.append("kept is a probability between 0.5 and 0.999")
    if not 0 <= grid <= _MOST_POINTS:
        problems.append(f"grid must lie between 0 and {_MOST_POINTS}")
    if problems:
        raise PlanError(problems)


def _grid(low: float, high: float, count: int, search: Halving) -> list[float]:
    """Values spread evenly over the range, on the log scale where both ends are above 0."""
    spread = np.geomspace if low > 0 else np.linspace
    inner = [search.rounded(float(v)) for v in spread(low, high, max(count, 2))[1:-1]]
    return [v for v in dict.fromkeys(inner) if low < v < high]


def _unsteady(path: Sequence[Point], search: Halving) -> list[str]:
    """Say where more protection stopped meeting what less had met."""
    held = [search.steady(point) for point in (path if search.upward else reversed(path))]
    if held == sorted(held):
        return []
    return [
        "The figures do not move steadily with the parameter: some values between those that meet the limits do not. "
        "Look at the path before you choose."
    ]
