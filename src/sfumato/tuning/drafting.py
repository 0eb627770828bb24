"""Try a drafted exchange on some records: the smallest groups that hold, and which columns must leave if none does."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Swapped
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, Role
from sfumato.data.unseen import seen
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import SfumatoError
from sfumato.measures.measuring import Measuring
from sfumato.measures.units import UNITS, of_units
from sfumato.methods.swap.method import Swap
from sfumato.plan.binding import entered
from sfumato.plan.by_groups import ASKED, FEWEST_RECORDS, GROUPS, Asked, Exchange, exchange_of
from sfumato.plan.draft import head
from sfumato.plan.drafted import DraftedPlan, Tried
from sfumato.plan.edited import Edited
from sfumato.plan.plan import Plan
from sfumato.plan.wishes import Wishes
from sfumato.progress import Progress, quiet
from sfumato.release.classes import Exposed
from sfumato.release.measured import measure_run
from sfumato.release.run import run_steps

__all__ = [
    "MOST_TRIED",
    "Chosen",
    "Tested",
    "Trying",
    "chosen_records",
    "draft_by_groups",
    "places",
    "try_groups",
    "unit_of",
]

MOST_TRIED = 2_000
"""Records on which a draft is tried."""
_FURTHER = ((300, 9), (1_000, 3))
"""Up to so many records an exchange is drawn so many times more before it is said to hold."""
_MARGIN = 1.1
"""What a release draws is not what was tried: figures keep this far from their limits."""
_SDS, _TOLD_FROM = 3.5, 5
"""Standard deviations of what is drawn by which figures keep from their limits, and draws that tell these."""
_MOST_CANDIDATES = 6
_MOST_LEAVING = 12
_FEW = "it has fewer than {fewest} records, and exchange needs three groups of five"
_NOTHING_LEFT = "no column could stay: {why}"
_ALONE = "beside what nobody must learn nothing is left that it could be guessed from"
_NO_LIMITS = "# None was found that meets them: without limits nothing is released by this plan."
_TOGETHER = "its rows are found together"
_FOUND = "with it too many people would be found"
_GUESSED = "its values could be guessed too well"
_SINGLED_OUT = "with it too many combinations would stay unique"
_MEASURED = frozenset({"linkage_nearest", "uniques_kept", "inference"})


@dataclass(frozen=True)
class Tested:
    """What a run of an exchange came to.

    Parameters
    ----------
    findings
        What was measured.
    moved
        By how much correlations move on average.
    pair, seen
        The tables before and after, and who knows what.
    """

    findings: Findings
    moved: float | None
    pair: Pair | None
    seen: Exposed


@dataclass(frozen=True)
class _Trial:
    """What one group came to; each share over its limit, the worst first."""

    group: int
    tried: Tried
    excess: tuple[tuple[float, str, str | None, str | None], ...]
    fault: str | None = None

    @property
    def holds(self) -> bool:
        return self.fault is None and all(_MARGIN * share <= 1 for share, *_ in self.excess)

    @property
    def worst(self) -> float:
        return float("inf") if self.fault is not None else max((share for share, *_ in self.excess), default=0.0)


def draft_by_groups(
    frame: pl.DataFrame,
    codebook: Codebook,
    guesses: Sequence[Guess],
    wishes: Wishes,
    title: str,
    edited: Edited | None = None,
    progress: Progress = quiet,
) -> DraftedPlan:
    """Draft an exchange within groups that holds although every column that leaves is known, or say why none does.

    It is tried, with draws that are thrown away, on at most `MOST_TRIED` records. The first group of `GROUPS` that
    meets all limits is taken; where none does, the column whose absence helps most leaves, one after the other, but no
    outcome and none that the custodian wants to keep.

    Parameters
    ----------
    frame, codebook
        The table, and what its file says of it.
    guesses
        What is known of its variables.
    wishes
        What the release is for, and which columns are to be kept.
    title
        Title of the plan.
    edited
        An edited plan whose title and variables stay.
    progress
        Called before each trial.
    """
    tried = try_groups(frame, codebook, guesses, wishes, progress)
    chosen, because = tried.chosen, tried.because
    said = [] if because is None else [f"# This file cannot be released in this way because {because}."]
    top = head(title) if edited is None else edited.head()
    own = {} if edited is None else edited.lines(guesses)
    lines = chosen.lines(tried.group, wishes.purpose, said=own)
    if because is not None:  # an exchange without limits is refused, whatever is drawn
        lines = [*lines[: lines.index("limits:")], _NO_LIMITS]
    text = seen("\n".join([*said, *top, *lines]) + "\n", lines=True)
    roles = {g.name: g.variable.role for g in guesses}
    return DraftedPlan(
        text,
        wishes.purpose,
        "swap",
        tuple(n for n in chosen.kept if roles[n] not in IDS),
        (),
        chosen.kept,
        chosen.left_out,
        tried.group,
        tried.figures,
        because=because,
    )


@dataclass(frozen=True)
class Chosen:
    """What trials came to: the columns and the size of groups, what was measured, and why nothing holds if so."""

    chosen: Exchange
    group: int
    figures: Tried
    because: str | None = None


def try_groups(
    frame: pl.DataFrame, codebook: Codebook, guesses: Sequence[Guess], wishes: Wishes, progress: Progress = quiet
) -> Chosen:
    """Choose what leaves, and the size of groups; parameters as of `draft_by_groups`."""
    chosen = exchange_of(frame, guesses)
    if not chosen.columns or frame.height < FEWEST_RECORDS:
        few = frame.height < FEWEST_RECORDS
        nothing = _NOTHING_LEFT.format(why="none is of a kind that may")
        why_not = _FEW.format(fewest=FEWEST_RECORDS) if few else nothing
        return Chosen(chosen, GROUPS[0], Tried(records=frame.height), why_not)
    some = chosen_records(frame, unit_of(guesses))
    chosen, trial = Trying(PolarsDataset(some, codebook), wishes, progress).search(chosen)
    why: str | None = None
    if not trial.holds:
        why = " ".join(trial.fault.split()).rstrip(".") if trial.fault else _NOTHING_LEFT.format(why=_reason(trial)[1])
    return Chosen(chosen, trial.group, trial.tried, why)


def places(frame: pl.DataFrame) -> pl.Series:
    """A number for each record that hangs on its values alone, so that a file is drafted alike in any order."""
    try:
        return frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).hash_rows(seed=0)
    except PolarsError:  # values of a type that cannot be hashed
        return pl.Series(np.arange(frame.height, dtype=np.uint64))


def chosen_records(frame: pl.DataFrame, unit: str | None = None, most: int | None = None) -> pl.DataFrame:
    """All records, or so many as a draft is tried on, chosen by what is in them.

    Parameters
    ----------
    frame
        The table.
    unit
        The id of the persons or households whose rows are chosen together: in part they would be found otherwise.
    most
        How many at most; `MOST_TRIED` where it is left out.
    """
    most = MOST_TRIED if most is None else most
    if frame.height <= most:
        return frame
    place = places(frame)
    if unit is None:
        return frame[np.argsort(place.to_numpy(), kind="stable")[:most]]
    known = pl.col(unit).is_not_null()
    table = frame.select(unit, place.alias("sfumato:place"))
    first = table.select(pl.when(known).then(pl.col("sfumato:place").min().over(unit)).otherwise("sfumato:place"))
    order = np.argsort(first.to_series().to_numpy(), kind="stable")
    ranked = first.to_series().to_numpy()[order]
    whole = ranked[:most] < ranked[most]
    return frame[order[:most][whole]] if whole.any() else frame[order[:most]]


def unit_of(guesses: Sequence[Guess]) -> str | None:
    """The id of the largest units that there are: households hold persons.

    Parameters
    ----------
    guesses
        What is known of the variables.
    """
    ids = {g.variable.role: g.name for g in guesses}
    return ids.get(Role.HOUSEHOLD, ids.get(Role.PERSON))


class Trying:
    """Runs exchanges over some records and measures what came of them.

    What is drawn hangs on the records, so that the same file is drafted alike; it is thrown away: no release has it.
    """

    def __init__(self, data: PolarsDataset, wishes: Wishes, progress: Progress) -> None:
        self.data, self.frame, self.wishes, self.progress = data, data.frame, wishes, progress
        self.asked: Asked = ASKED[wishes.purpose]
        self.key, self.runs = b"trial" + np.sort(places(self.frame).to_numpy()).tobytes(), 0
        self.plans: dict[tuple[str, ...], tuple[Plan, PolarsDataset]] = {}

    def search(self, chosen: Exchange) -> tuple[Exchange, _Trial]:
        """The columns and the group that hold; where there are none, the last that were tried."""
        best = self._smallest(chosen)
        if not best.holds and (ids := self._joining(chosen, best)):
            for each in ids:
                chosen = chosen.without(each, _TOGETHER)
            best = self._smallest(chosen)
        for _ in range(_MOST_LEAVING):
            if best.holds or len(chosen.columns) < 2:
                break
            measure, why = _reason(best)
            options = [(self._one(less, best.group), less) for less in self._less(chosen, best, measure, why)]
            if not options:
                break
            trial, chosen = min(options, key=lambda option: option[0].worst)
            best = self._smallest(chosen) if trial.holds else trial
        return chosen, best

    def _smallest(self, chosen: Exchange) -> _Trial:
        """The smallest groups that hold, or the best of all."""
        trials = []
        for group in (g for g in GROUPS if 3 * g <= self.frame.height):
            trials.append(self._surely(chosen, group))
            if trials[-1].holds:
                return trials[-1]
        return min(trials, key=lambda trial: trial.worst)

    def _joining(self, chosen: Exchange, trial: _Trial) -> list[str]:
        """Ids that join rows by which too many people would be found, but for those that are to be kept."""
        roles = {UNITS[attack] for share, _, _, attack in trial.excess if attack is not None and _MARGIN * share > 1}
        ids = [g.name for g in chosen.guesses if g.variable.role in roles and g.name in chosen.kept]
        return [n for n in ids if n not in self.wishes.keep]

    def _less(self, chosen: Exchange, trial: _Trial, measure: str, why: str) -> list[Exchange]:
        """The exchange without each of the columns whose absence may help."""
        roles = {g.name: g.variable.role for g in chosen.guesses}
        free = [n for n in chosen.columns if roles[n] != Role.OUTCOME and n not in self.wishes.keep]
        guessed = [v for _, m, v, _ in trial.excess if m == "inference" and v in free]
        if measure == "inference" and guessed:
            return [chosen.without(str(guessed[0]), why)]
        many = sorted(free, key=lambda n: (-self.frame[n].n_unique(), n))
        return [chosen.without(n, why) for n in many[:_MOST_CANDIDATES]]

    def _surely(self, chosen: Exchange, group: int) -> _Trial:
        """One trial, or several put together, where there are so few records that figures hang on what is drawn."""
        trials = [self._one(chosen, group)]
        further = next((times for most, times in _FURTHER if self.frame.height <= most), 0)
        for _ in range(further):
            if not trials[-1].holds:
                return trials[-1]
            trials.append(self._one(chosen, group))
        return _together(trials)

    def _one(self, chosen: Exchange, group: int) -> _Trial:
        """Run the draft with one size of groups."""
        self.progress(f"trying groups of {group}", 0)
        try:
            measured = self.measured(chosen, group)
        except SfumatoError as fault:
            return _Trial(group, Tried(records=self.frame.height), (), str(fault))
        found, moved = measured.findings, measured.moved
        lines = [(name, _bound(found, name)) for name in vars(self.asked)]
        excess = [
            (f.value / getattr(self.asked, name), name, f.variable, f.attack if of_units(f) else None)
            for name, several in lines
            for f in several
            if f.value is not None
        ]
        if chosen.sensitive and not dict(lines)["inference"]:
            return _Trial(group, Tried(records=self.frame.height), (), _ALONE)
        figures = {
            name: max((f.value for f in several if f.value is not None), default=None) for name, several in lines
        }
        tried = Tried(**figures, records=self.frame.height, relations_shift=moved)
        return _Trial(group, tried, tuple(sorted(excess, key=lambda each: -each[0])))

    def measured(self, chosen: Exchange, group: int) -> Tested:
        """Run an exchange, and measure what came of it.

        Parameters
        ----------
        chosen
            What is exchanged.
        group
            Fewest records in a group.
        """
        plan, data = self._planned(chosen)
        steps = [s.model_copy(update={"group": group}) if isinstance(s, Swap) else s for s in plan.steps]
        plan = plan.model_copy(update={"steps": tuple(steps)})
        self.runs += 1
        draws = Draws(hashlib.sha256(self.key + self.runs.to_bytes(4, "little")).digest())
        ran = run_steps(plan.steps, data, draws)
        moved = next((part.relations_shift for part in ran.disclosure if isinstance(part, Swapped)), None)
        found = measure_run(plan, ran, Measuring(), quiet, only=_MEASURED)
        return Tested(found.findings, moved, found.pair, found.seen)

    def _planned(self, chosen: Exchange) -> tuple[Plan, PolarsDataset]:
        """The plan of an exchange and the records that enter it, read once for all groups; ids stay as they are."""
        if chosen.kept not in self.plans:
            plan = Plan.from_yaml("\n".join([*head("a draft"), *chosen.lines(GROUPS[0], self.wishes.purpose)]))
            plan = plan.model_copy(update={"steps": tuple(step for step in plan.steps if not step.replaces)})
            data = entered(plan, self.data)
            self.plans[chosen.kept] = plan.bound(data.codebook), data
        return self.plans[chosen.kept]


def _together(trials: Sequence[_Trial]) -> _Trial:
    """Several trials as one, with what nearly every further draw will keep to."""
    if len(trials) == 1:
        return trials[0]
    shares: dict[tuple[str, str | None, str | None], list[float]] = {}
    for share, measure, variable, attack in (each for trial in trials for each in trial.excess):
        shares.setdefault((measure, variable, attack), []).append(share)
    excess = sorted(((_likely(every), *line) for line, every in shares.items()), key=lambda each: -each[0])
    worst = max(trials, key=lambda trial: trial.worst)
    return replace(worst, excess=tuple(excess))


def _likely(shares: Sequence[float]) -> float:
    """What a further draw will hardly exceed; of few draws the worst of them."""
    most = max(shares)
    return most if len(shares) < _TOLD_FROM else max(most, float(np.mean(shares) + _SDS * np.std(shares, ddof=1)))


def _bound(found: Findings, measure: str) -> list[Finding]:
    """The lines that a drafted limit binds."""
    group, attack = ("risk", "released") if measure == "inference" else ("released", None)
    return [f for f in found.select(measure, group=group) if attack is None or f.attack == attack]


def _reason(trial: _Trial) -> tuple[str, str]:
    """The figure that is farthest from its limit, and what it says of a column."""
    measure = trial.excess[0][1] if trial.excess else "linkage_nearest"
    words: dict[str, str] = {"inference": _GUESSED, "uniques_kept": _SINGLED_OUT}
    return measure, words.get(measure, _FOUND)
