"""Measure what a run in memory left behind: what measures look at, and each synthetic copy by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.data.hidden import DONORS, ROW
from sfumato.data.pair import Pair, numbers
from sfumato.data.roles import Role
from sfumato.data.suppression import Emptied
from sfumato.data.traces import Traces, keys_of, other_types
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, FormulaError
from sfumato.kernels.glm import Family
from sfumato.measures.copies import Copies
from sfumato.measures.intruding import PAIRS_OF_RELEASES
from sfumato.measures.known import Known
from sfumato.measures.leaving import Leaving
from sfumato.measures.measuring import Measuring
from sfumato.measures.risk.scenarios.copies import by_all_copies
from sfumato.measures.subject import RELEASED, Classes, Subject
from sfumato.measures.utility.default_model import default_model
from sfumato.measures.utility.model import comparison_of
from sfumato.plan.knows import knowledge
from sfumato.plan.limits import attacking_for, intruding_for
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.classes import Exposed, exposed, missing_rule
from sfumato.release.copies import apart, over_copies
from sfumato.release.earlier import Before
from sfumato.release.emptied import emptied_of
from sfumato.release.intruder import known_people
from sfumato.release.measure import measure, sensitive_categories
from sfumato.release.rehearsal import Rehearsed
from sfumato.release.run import Ran

__all__ = ["Measured", "measure_run", "pair_of", "subject_of"]


@dataclass(frozen=True)
class Measured:
    """What was measured of a run.

    Parameters
    ----------
    findings
        Every figure.
    pair
        The tables that they are of, where these are in memory.
    how
        How they were measured, with the model that was taken.
    seen
        The classes of the release, and who knows what.
    intruder
        What intruders know.
    refusals
        Why the release is refused, whatever limits say.
    again
        Measures group `released` once more as if nobody knew some columns; None where that is not done.
    """

    findings: Findings
    pair: Pair | None
    how: Measuring
    seen: Exposed
    intruder: Known | None = field(default=None, repr=False)
    refusals: tuple[str, ...] = ()
    again: Callable[[Sequence[str]], Findings] | None = field(default=None, repr=False)


def measure_run(
    plan: Plan,
    ran: Ran[PolarsDataset],
    how: Measuring,
    progress: Progress,
    only: Set[str] | None = None,
    earlier: Before | None = None,
    rehearsed: Rehearsed | None = None,
    leaving: tuple[Leaving, ...] = (),
) -> Measured:
    """Measure what a run left behind; with `only`, no more than what these measures need.

    Of synthetic copies each is measured by itself, and findings are the means; the pair is the first copy's.
    """
    told = ran.disclosure.synthetic
    if told is None:
        return _measure_one(plan, ran, pair_of(plan, ran), None, progress, how, only, earlier, rehearsed, leaving)
    measured: list[Measured] = []
    each = _copies(ran)
    copies = Copies(tuple(pair_of(plan, copy) for copy in each), told.kind == "partial")

    def of(copy: Ran[PolarsDataset], pair: Pair) -> Callable[[Progress], Findings]:
        def findings(part: Progress) -> Findings:
            once = None if measured else rehearsed  # a rehearsal has all copies of its own
            measured.append(_measure_one(plan, copy, pair, copies, part, how, only, earlier, once))
            return measured[-1].findings

        return findings

    found = over_copies(list(map(of, each, copies.pairs)), ran.disclosure, progress)
    first = measured[0]
    known = [each.intruder for each in measured if each.intruder is not None]
    return replace(first, findings=by_all_copies(found, known, first.how.intruding, first.how.missing))


def _copies(ran: Ran[PolarsDataset]) -> list[Ran[PolarsDataset]]:
    """The run as if each copy were what it left behind."""
    gaps = ran.after if ran.gaps is None else ran.gaps
    tables = zip(*(apart(data, ran.disclosure) for data in (ran.given, ran.before, ran.after, gaps)), strict=True)
    return [replace(ran, given=given, before=before, after=after, gaps=gaps) for given, before, after, gaps in tables]


def _measure_one(
    plan: Plan,
    ran: Ran[PolarsDataset],
    pair: Pair,
    copies: Copies | None,
    progress: Progress,
    how: Measuring,
    only: Set[str] | None,
    earlier: Before | None,
    rehearsed: Rehearsed | None,
    leaving: tuple[Leaving, ...] = (),
) -> Measured:
    seen = exposed(plan, ran.after.codebook.without(ROW), pair)
    emptied, not_guessed = _emptied(plan, ran)
    subject = replace(
        subject_of(plan, ran, pair, how, seen, only),
        earlier=() if earlier is None else earlier.releases,
        rehearsal=None if rehearsed is None else rehearsed.known,
        copies=copies,
        emptied=emptied,
        leaving=leaving,
    )
    notes = (*seen.notes, *not_guessed, *(() if rehearsed is None else rehearsed.notes))
    found = Findings(notes=notes) + measure(subject, progress, only=only)
    named = frozenset(limit.measure for limit in plan.limits)
    return Measured(found, pair, subject.how, seen, subject.intruder, again=partial(_without, subject, seen, named))


def _without(subject: Subject, seen: Exposed, only: Set[str], unknown: Sequence[str]) -> Findings:
    """Figures of those who know all that leaves but some columns."""
    left = set(unknown)
    by = tuple(n for n in seen.released if n not in left)
    knowing = [replace(each, by=by, masked=tuple(n for n in each.masked if n not in left)) for each in seen.knowing]
    told = tuple(each for each in knowing if each.group == RELEASED)
    classes = (Classes(RELEASED, by),) if by else ()
    found = measure(replace(subject, classes=classes, knowing=told), quiet, only=only)
    return Findings(tuple(f for f in found if f.group == RELEASED))


def subject_of(
    plan: Plan, ran: Ran[PolarsDataset], pair: Pair, how: Measuring, seen: Exposed, only: Set[str] | None = None
) -> Subject:
    """What measures look at.

    Parameters
    ----------
    plan, ran
        The plan, and what its run left behind.
    pair
        The tables side by side, see `pair_of`.
    how
        How things are measured, as far as somebody said.
    seen
        The classes of the release.
    only
        The figures that are asked for; None: all.
    """
    if how.attacking is None:
        how = replace(how, attacking=attacking_for(plan.limits))
    if how.intruding is None:
        usual = ("neighbour",) if any(step.masks for step in plan.steps) and pair.aligned else ()
        how = replace(how, intruding=intruding_for(plan.limits, knowledge(plan.knows), usual))
    if only is None or not only.isdisjoint({"standardised_difference", "ci_overlap"}):
        how = _with_model(how, pair)
    return Subject(
        _unnumbered(ran.after),
        given=_unnumbered(ran.given),
        before=_unnumbered(ran.before),
        pair=pair,
        entering=None if ran.entering is None else _unnumbered(ran.entering),
        result=ran.gaps,
        noted=ran.gaps is not None,
        classes=seen.classes,
        knowing=seen.knowing,
        sensitive=sensitive_categories(ran.after.codebook.without(ROW)),
        guessed=sensitive_categories(ran.after.codebook.without(ROW)),
        donors=_donors(ran),
        disclosure=ran.disclosure,
        traces=plan.traces,
        how=replace(how, missing=missing_rule(plan)),
        unscaled=_unscaled(pair, ran),
        suppression=ran.suppression,
        truth=_unnumbered(ran.before).frame.drop(plan.traces.coarsened, strict=False),
        intruder=_intruder(plan, ran, pair),
        asked=frozenset(only or ()) | {limit.measure for limit in plan.limits},
    )


def _intruder(plan: Plan, ran: Ran[PolarsDataset], pair: Pair) -> Known | None:
    """What intruders know of the people of the release; None where none of its columns is known to anybody."""
    keys = keys_of(plan.traces, ran.after.codebook.without(ROW))
    if not keys and not plan.traces.known:
        return None
    raw = ran.before.frame
    if raw.height != ran.after.frame.height:
        raw = raw.join(ran.after.frame.select(ROW), on=ROW, how="semi", maintain_order="left")
    return known_people(plan.traces, pair, pair.codebook, keys, record=pair.record, raw=raw, pairs=PAIRS_OF_RELEASES)


def _emptied(plan: Plan, ran: Ran[PolarsDataset]) -> tuple[tuple[Emptied, ...], tuple[str, ...]]:
    """Keys that values were taken out of; rows that are nobody's lost none."""
    if (told := ran.disclosure.synthetic) is not None and told.kind == "full":
        return (), ()
    return emptied_of(plan, ran.after.frame, ran.reconstructions)


def _unnumbered(data: PolarsDataset) -> PolarsDataset:
    """The data without the run's own numbers of records."""
    return replace(data, frame=data.frame.drop(ROW, strict=False), codebook=data.codebook.without(ROW))


def pair_of(plan: Plan, ran: Ran[PolarsDataset]) -> Pair:
    """The table as it enters the first masking step beside the result, joined on the run's own record numbers.

    Columns that were coarsened in between, or changed their type, are left out of the first: they cannot be compared.
    Ids that were replaced in between are those of the release in both.
    """
    after = ran.after.frame
    if (told := ran.disclosure.synthetic) is not None and told.kind == "full":
        return _of_nobodys(ran)
    traces = plan.traces
    other_type = other_types(traces, ran.before.frame.schema, after.schema)
    left_out = dict.fromkeys((*traces.coarsened, *other_type))
    before = ran.before.frame.drop(left_out, strict=False)
    whole, notes = None, []
    if before.height != after.height:
        whole = (before.drop(ROW, *traces.replaced, strict=False), after.drop(ROW))
        before = before.join(after.select(ROW), on=ROW, how="semi", maintain_order="left")
        notes.append("Steps left records out: measures that compare records are of those that are left.")
    before = _with_released_ids(traces, before, after)
    if coarse := [n for n in traces.coarsened if n in ran.after.columns]:
        notes.append(f"{', '.join(coarse)}: coarsened, so left out of every comparison of values.")
    if changed := [n for n in other_type if n not in traces.coarsened]:
        notes.append(f"{', '.join(changed)}: of another type than before, so left out of every comparison of values.")
    book = ran.after.codebook
    compared = dict.fromkeys((*traces.masked, *traces.comparable))
    both = [n for n in compared if n in ran.before.frame.columns and n in after.columns]
    masked = [n for n in both if ran.before.codebook[n].numeric or book[n].numeric]  # codes too, once they are noisy
    there = [n for n in masked if n in before.columns]
    columns = tuple(n for n in there if after.schema[n].is_numeric() and _counts(before.schema[n]))
    if changed := [n for n in masked if n not in columns]:
        notes.append(
            f"No attack on {', '.join(changed)} was measured: a later step made it something else than numbers."
        )
    by = tuple(n for n in traces.strata if n in after.columns)
    known = Codebook({**ran.before.codebook, **book}).without(ROW)
    tables = (before.drop(ROW), after.drop(ROW))
    return Pair(*tables, known, columns, by, True, book.the(Role.RECORD), tuple(notes), whole)


def _of_nobodys(ran: Ran[PolarsDataset]) -> Pair:
    """The original beside rows that are nobody's."""
    known = Codebook({**ran.before.codebook, **ran.after.codebook}).without(ROW)
    before, after = ran.before.frame.drop(ROW), ran.after.frame.drop(ROW)
    record = known.the(Role.RECORD)
    return Pair(before, after.select(n for n in after.columns if n != record), known, (), (), False)


def _with_released_ids(traces: Traces, before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """The table before with the ids that the release has in the place of its own."""
    replaced = [n for n in traces.replaced if n in before.columns and n in after.columns]
    if not replaced:
        return before
    given = before.drop(replaced).join(after.select(ROW, *replaced), on=ROW, how="left", maintain_order="left")
    return given.select(before.columns)


def _counts(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def _unscaled(pair: Pair, ran: Ran[PolarsDataset]) -> np.ndarray | None:
    """What an attacker could rebuild of the masked columns, row by row of the pair."""
    view = ran.reconstructions.get("unscaled")
    if view is None:
        return None
    better = [n for n in view.columns if n in pair.columns]
    joined = ran.after.frame.drop(better).join(view, on=ROW, how="left", maintain_order="left")
    return numbers(joined, pair.columns, pair.codebook)


def _donors(ran: Ran[PolarsDataset]) -> pl.DataFrame | None:
    """Whose values released records bear, row by row; None where none were drawn within groups."""
    view = ran.reconstructions.get(DONORS)
    if view is None:
        return None
    return ran.after.frame.select(ROW).join(view, on=ROW, how="left", maintain_order="left").drop(ROW)


def _with_model(how: Measuring, pair: Pair) -> Measuring:
    if how.model is None and (usual := _usual_model(pair.tables)) is not None:
        try:
            comparison_of(pair.tables, *usual)
        except (DataError, FormulaError):  # nobody asked for this model, so that it cannot be fitted is no error
            return how
        return replace(how, model=usual[0], family=usual[1], usual=True)
    return how


def _usual_model(tables: Pair) -> tuple[str, Family] | None:
    return default_model(tables.before, tables.after, tables.codebook)
