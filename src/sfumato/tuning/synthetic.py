"""Draft a plan for a synthetic copy, and try what other settings of it cost."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import SfumatoError
from sfumato.measures.measuring import Measuring
from sfumato.plan.binding import entered
from sfumato.plan.drafted import DraftedPlan
from sfumato.plan.edited import Edited
from sfumato.plan.plan import Plan
from sfumato.plan.relations import Relation
from sfumato.plan.synthetic import LIMITS, SETTINGS, Limits, Settings, SyntheticPlan, synthetic_of
from sfumato.plan.wishes import Purpose, Wishes
from sfumato.progress import Progress, quiet, split
from sfumato.release.gaps import without_notes
from sfumato.release.measured import measure_run
from sfumato.release.rehearsal import rehearse
from sfumato.release.run import run_steps
from sfumato.tuning.drafting import chosen_records, places, unit_of

__all__ = ["MOST_TRIED", "DraftedCopy", "Trial", "draft_synthetic", "the_chosen"]

MOST_TRIED: Final = 20_000
"""Records on which settings are tried."""
_WORSE = 1.5
"""How many times the best mean ratio of tables what is chosen may have."""
_MEASURED = frozenset({"table_ratio", "pmse_ratio", "membership", "inference"})


@dataclass(frozen=True)
class Trial:
    """What one setting came to; None where it was not measured. Confidential: it stands in no plan.

    Parameters
    ----------
    settings
        How columns were drawn.
    table_ratio, worst
        Mean and largest ratio of tables of two columns to what chance does.
    pmse_ratio
        How well rows of the copy are told from the original's, beside chance: by trees, else by regression.
    membership
        How well members are told from others: area under the curve.
    inference
        What the copy tells of its people beyond what it tells of others, in the worst column.
    holds
        Whether it meets the limits.
    chosen
        Whether the plan has it.
    because
        Why it could not be tried.
    """

    settings: Settings
    table_ratio: float | None = None
    worst: float | None = None
    pmse_ratio: float | None = None
    membership: float | None = None
    inference: float | None = None
    holds: bool = False
    chosen: bool = False
    because: str | None = None

    def to_plain(self) -> dict[str, Any]:
        """The JSON form."""
        told: dict[str, Any] = dict(vars(self.settings)) | {"table_ratio": self.table_ratio, "largest": self.worst}
        told |= {n: getattr(self, n) for n in ("pmse_ratio", "membership", "inference", "holds", "chosen")}
        return told | ({} if self.because is None else {"because": self.because})


@dataclass(frozen=True)
class DraftedCopy:
    """A drafted plan for a synthetic copy, and what it was drafted from.

    Parameters
    ----------
    drafted
        The plan, and what it does.
    relations
        The relations that were found.
    trials
        What settings came to; none where nothing was tried.
    settings
        How columns are drawn.
    guesses
        What the plan takes each variable for.
    """

    drafted: DraftedPlan
    relations: tuple[Relation, ...]
    trials: tuple[Trial, ...]
    settings: Settings
    guesses: tuple[Guess, ...] = ()


def draft_synthetic(
    frame: pl.DataFrame,
    codebook: Codebook,
    guesses: Sequence[Guess],
    title: str,
    wishes: Wishes,
    edited: Edited | None = None,
    *,
    trying: bool = False,
    progress: Progress = quiet,
) -> DraftedCopy:
    """Draft a plan with one step `synthesise`: relations of the file are kept, and settings are tried where asked.

    Parameters
    ----------
    frame, codebook
        The table, and what its file says of it.
    guesses
        What is known of its variables.
    title
        Title of the plan, where no edited one has it.
    wishes
        What the release is for.
    edited
        An edited plan, whose title, variables and relations stay.
    trying
        Whether settings are tried, with draws that are thrown away, on at most `MOST_TRIED` records.
    progress
        Called with what is being done.
    """
    progress("looking for relations", 0)
    known = Codebook({g.name: g.variable for g in guesses})
    plan = synthetic_of(frame, guesses, known, edited)
    drawn = any(g.variable.role not in IDS for g in guesses if g.name in plan.columns)
    few = _FEW if frame.height < _FEWEST else None
    because = few if drawn else _NOTHING
    trials: tuple[Trial, ...] = ()
    if trying and because is None:
        some = PolarsDataset(chosen_records(frame, unit_of(guesses), MOST_TRIED), codebook)
        parts = split(progress, [1] * len(SETTINGS))
        tried = [_tried(plan, each, some, wishes.purpose, part) for each, part in zip(SETTINGS, parts, strict=True)]
        trials = the_chosen(tried)
    settings = next((one.settings for one in trials if one.chosen), SETTINGS[0])
    text = plan.text(title, wishes.purpose, settings, tried=bool(trials), edited=edited)
    drafted = DraftedPlan(
        text if because is None else f"# This file cannot be released in this way because {because}.\n{text}",
        wishes.purpose,
        "synthesise",
        tuple(n for n in plan.columns if n not in {g.name for g in guesses if g.variable.role in IDS}),
        (),
        plan.columns,
        plan.left_out,
        because=because,
    )
    return DraftedCopy(drafted, plan.relations, trials, settings, plan.guesses)


_FEWEST = 20
"""Half of them, on which a copy is rehearsed, fill two leaves."""
_FEW = f"it has fewer than {_FEWEST} records"
_NOTHING = "no column could stay: none is of a kind that may"


def _tried(plan: SyntheticPlan, settings: Settings, some: PolarsDataset, purpose: Purpose, progress: Progress) -> Trial:
    """Draw one copy, and measure what came of it; the secret hangs on the records, and nothing of it is released."""
    told = "parametric" if settings.method == "parametric" else f"cart, leaves of {settings.min_leaf}"
    progress(f"trying {told}", 0)
    try:
        made = Plan.from_yaml(plan.text("a draft", purpose, settings, tried=True))
        data = entered(made, some)
        made = made.bound(data.codebook)
        key = b"synthetic trial" + np.sort(places(some.frame).to_numpy()).tobytes()
        draws = Draws(hashlib.sha256(key).digest())
        ran = run_steps(made.steps, data, draws)
        rehearsed = rehearse(made, made.steps, without_notes(data), draws)
        found = measure_run(made, ran, Measuring(), quiet, only=_MEASURED, rehearsed=rehearsed).findings
    except SfumatoError as fault:
        return Trial(settings, because=str(fault))
    return _of(settings, found, LIMITS[purpose])


def _of(settings: Settings, found: Findings, limits: Limits) -> Trial:
    """The figures that a draft goes by, and whether they meet the limits; what attacks find is the strongest line's."""
    two_way = found.select("table_ratio", group="two-way")
    ratios = [f.value for f in two_way if f.variable is not None and f.value is not None]
    mean = next((f.value for f in two_way if f.variable is None), None)
    told = {f.group: f.value for f in found.select("pmse_ratio") if f.value is not None}
    member = [f.value for f in found.select("membership", group="auc") if f.attack is None and f.value is not None]
    guessed = [f.value for f in found.select("inference", group="risk") if f.attack is None and f.value is not None]
    membership, inference = max(member, default=None), max(guessed, default=None)
    holds = membership is not None and membership <= limits.membership
    return Trial(
        settings,
        mean,
        max(ratios, default=None),
        told.get("trees", next(iter(told.values()), None)),
        membership,
        inference,
        holds and (inference is None or inference <= limits.inference),
    )


def the_chosen(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Choose one: of those that meet the limits (else of all) the one that tells members least and loses little.

    Little is lost where the mean ratio of tables is at most 1.5 times the best. Of those that tell as little the first
    is taken; where nothing was measured, the first of all.

    Examples
    --------
    >>> trees = Trial(Settings(), table_ratio=0.8, membership=0.61, holds=True)
    >>> smoother = Trial(Settings("parametric"), table_ratio=1.0, membership=0.52, holds=True)
    >>> [one.chosen for one in the_chosen([trees, smoother])]
    [False, True]
    """
    held = [one for one in trials if one.holds] or [one for one in trials if one.membership is not None]
    ratios = [one.table_ratio for one in held if one.table_ratio is not None]
    near = [one for one in held if not ratios or (one.table_ratio or 0.0) <= _WORSE * min(ratios)]
    best = min(near, key=lambda one: one.membership or 0.0, default=trials[0])
    return tuple(replace(one, chosen=one is best) for one in trials)
