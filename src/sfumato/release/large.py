"""What is measured of a run where rows are not in memory.

A small table is brought into memory and measured there. Of a larger one each measure says what it can tell, and how.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.finding import Findings
from sfumato.data.hidden import leaving
from sfumato.data.publishable import Publishable
from sfumato.data.query import COUNT, Counts
from sfumato.data.sides import Rows
from sfumato.engines.hidden_columns import HiddenColumns
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import TooManyGroups
from sfumato.measures.measure import Way
from sfumato.measures.measuring import PEOPLE, Measuring
from sfumato.measures.subject import Subject
from sfumato.plan.plan import Plan
from sfumato.progress import Progress
from sfumato.release.classes import Exposed, exposed_off_memory, missing_rule
from sfumato.release.copies import over_copies
from sfumato.release.earlier import Before
from sfumato.release.forms import by_forms, left_out_of_others
from sfumato.release.measure import sensitive_categories
from sfumato.release.measured import Measured, measure_run, pair_of, subject_of
from sfumato.release.run import Ran

__all__ = [
    "AMONG_ALL",
    "EARLIER_LEFT_OUT",
    "LEFT_OUT",
    "NO_SAMPLE",
    "SAMPLED",
    "STRATA_SAMPLED",
    "everybody_of",
    "in_memory",
    "measure_few",
    "measure_many",
    "measure_off_memory",
    "sampled_of",
]

SAMPLED = (
    "The table is large: what compares records one by one was measured on {most:,} of them, chosen by a fixed public "
    "rule. Who looks for a record among all finds it less often than among these."
)
AMONG_ALL = Publishable(
    "Who takes the nearest or likeliest record (linkage_nearest, risk2, nearest and predicted of h_rank, match_correct "
    "of the neighbour with the linker nearest) or the only one with a combination (uniques_kept) was tried for "
    f"{PEOPLE:,} people among all records; the intervals are of shares of everybody."
)
STRATA_SAMPLED = (
    "What can be computed back from averages was tried in whole strata of together at most {most:,} records, chosen "
    "by a fixed public rule."
)
LEFT_OUT = Publishable(
    "The table is large: attackers who need all records at once (attribute_risk and its like, scenarios of intruders "
    "but for the neighbour with the linker nearest, inference beside a control, membership, reconstruction without "
    "strata that are small enough) were left out. A limit on what they find counts as not met."
)
EARLIER_LEFT_OUT = (
    "what the earlier releases tell beside this one was not measured: that is done for tables of at most {most:,} "
    "records, whose ids are those of single people. Take `earlier` out of the plan, if nobody has got them"
)
"""A clause, as refusals are."""
NO_SAMPLE = Publishable(
    "The table is large, and its released records are not those of single people: measures that compare records were "
    "left out. A limit on one of them counts as not met."
)


def measure_off_memory(
    plan: Plan, ran: Ran[Parted], how: Measuring, progress: Progress, earlier: Callable[[], Before | None]
) -> Measured:
    """Measure what a run left behind whose rows are not in memory.

    Parameters
    ----------
    plan, ran, how, progress
        The plan as run, what its run left behind, how things are measured, and who is told.
    earlier
        Opens earlier releases of the same people; a large table is refused beside them.
    """
    seen = exposed_off_memory(plan, ran.after)
    if (few := measure_few(plan, ran, how, progress, earlier=earlier)) is not None:
        return Measured(few.findings, None, how, seen, again=few.again)
    refused = (EARLIER_LEFT_OUT.format(most=how.most),) if any(each.truth for each in plan.earlier) else ()
    return Measured(measure_many(plan, ran, how, progress), None, how, seen, refusals=refused)


def measure_few(
    plan: Plan,
    ran: Ran[Parted],
    how: Measuring,
    progress: Progress,
    earlier: Callable[[], Before | None] = lambda: None,
) -> Measured | None:
    """Measure a run of a small table as in memory; None where it is large, or its ids are not those of records.

    Parameters
    ----------
    plan, ran, how, progress
        The plan as run, what its run left behind, how things are measured, and who is told.
    earlier
        Opens earlier releases of the same people.
    """
    tables = (_read(ran), ran.given, ran.before, ran.after)
    if max(int(each.ask(Counts(())).item(0, COUNT)) for each in tables) > how.most:
        return None
    rows = ran.sides.whole()
    return None if rows is None else measure_run(plan, in_memory(ran, rows), how, progress, earlier=earlier())


def in_memory(ran: Ran[Parted], rows: Rows) -> Ran[PolarsDataset]:
    """A run as one in memory leaves it behind, with so many of its rows.

    Parameters
    ----------
    ran
        What a run left behind.
    rows
        Some of its rows, or all.
    """

    def of(frame: pl.DataFrame, book: Codebook) -> PolarsDataset:
        return PolarsDataset(frame, book.only([n for n in frame.columns if n in book]))

    return Ran(
        of(rows.given, Codebook({**ran.before.codebook, **ran.given.codebook})),
        of(rows.before, ran.before.codebook),
        of(rows.after, ran.after.codebook),
        ran.steps,
        ran.disclosure,
        dict(rows.views),
        ran.suppression,
        None if rows.entering is None else of(rows.entering, _read(ran).codebook),
        None if rows.gaps is None else of(rows.gaps, ran.after.codebook),
    )


def _read(ran: Ran[Parted]) -> Parted:
    """The table as it was read."""
    return ran.given if ran.entering is None else ran.entering


def measure_many(plan: Plan, ran: Ran[Parted], how: Measuring, progress: Progress) -> Findings:
    """Measure a run of a large table: by questions, by people who are looked for among all records, and by samples.

    Parameters
    ----------
    plan, ran, how, progress
        As of `measure_few`.
    """
    others = left_out_of_others()
    if ran.disclosure.synthetic is not None:
        return Findings(notes=(*others, NO_SAMPLE)) + _of_copies(plan, ran, how, progress)
    seen = exposed_off_memory(plan, ran.after)
    everybody, sample = everybody_of(plan, ran, ran.sides, how, seen), ran.sides.sample(how.most)
    if sample is None:
        return Findings(notes=(*seen.notes, *others, NO_SAMPLE)) + by_forms({"folded": everybody}, progress).findings
    some, strata = sampled_of(plan, ran, sample, how, seen), _strata(plan, ran, how.most)
    subjects: dict[Way, Subject] = {"folded": everybody, "people": some}
    if strata is not None:
        subjects["strata"] = sampled_of(plan, ran, strata, how, seen)
    subjects["sample"] = some
    told = by_forms(subjects, progress)
    tried = (Publishable(STRATA_SAMPLED.format(most=how.most)),) if "strata" in told.found else ()
    among = (AMONG_ALL,) if "people" in told.asked else ()
    notes = (*seen.notes, *others, Publishable(SAMPLED.format(most=how.most)), *tried, LEFT_OUT, *among)
    return Findings(notes=notes) + told.findings


def everybody_of(plan: Plan, ran: Ran[Parted], sides: HiddenColumns, how: Measuring, seen: Exposed) -> Subject:
    """What measures look at that are told of all records.

    Parameters
    ----------
    plan, ran, how
        As of `measure_few`.
    sides
        All records, or those of one synthetic copy.
    seen
        The classes of the release.
    """
    after = _released(sides.after)
    return Subject(
        after,
        given=sides.given,
        before=sides.before,
        entering=sides.entering,
        result=sides.after,
        noted=True,
        classes=seen.classes,
        sensitive=sensitive_categories(after.codebook),
        disclosure=ran.disclosure,
        traces=plan.traces,
        sides=sides,
        how=replace(how, missing=missing_rule(plan)),
        suppression=ran.suppression,
        asked=frozenset(limit.measure for limit in plan.limits),
    )


def sampled_of(plan: Plan, ran: Ran[Parted], rows: Rows, how: Measuring, seen: Exposed) -> Subject:
    """What measures look at that compare records one by one: some of them, with all behind them.

    Parameters
    ----------
    plan, ran, how, seen
        As of `everybody_of`.
    rows
        The records.
    """
    some = in_memory(ran, rows)
    subject = subject_of(plan, some, pair_of(plan, some), how, seen)
    return replace(subject, classes=(), sensitive=(), sides=ran.sides)


def _of_copies(plan: Plan, ran: Ran[Parted], how: Measuring, progress: Progress) -> Findings:
    """What classes, sums and counts tell of synthetic copies: each is measured by itself, as in memory.

    Counted together, all copies of a person would make one class of people alike.
    """

    def of(copy: HiddenColumns) -> Callable[[Progress], Findings]:
        def findings(part: Progress) -> Findings:
            seen = exposed_off_memory(plan, copy.after)
            return (
                Findings(notes=seen.notes)
                + by_forms({"folded": everybody_of(plan, ran, copy, how, seen)}, part).findings
            )

        return findings

    return over_copies([of(copy) for copy in ran.sides.copies()], ran.disclosure, progress)


def _strata(plan: Plan, ran: Ran[Parted], most: int) -> Rows | None:
    """A sample of whole strata, of masking steps that have any."""
    by = [n for n in plan.traces.strata if n in ran.after.codebook]
    try:
        return ran.sides.strata(by, most)
    except TooManyGroups:
        return None


def _released(after: Parted) -> Parted:
    """The data without hidden columns."""
    columns = leaving(after.codebook)
    return after.map(lambda batch: batch.select(columns), codebook=after.codebook.only(columns))
