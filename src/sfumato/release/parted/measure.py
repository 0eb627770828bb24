"""What is measured of a run where rows are not in memory.

A small table is brought into memory and measured there. Of a larger one, questions tell of all rows what they can
(classes, means, quantiles, how far values moved), and the rest is measured on a sample. What a sample would tell
wrongly is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted, ask_all
from sfumato.data.finding import Finding, Findings
from sfumato.data.hidden import leaving
from sfumato.data.query import COUNT, SIZE, Classes, Counts
from sfumato.data.sides import Rows
from sfumato.engines.hidden_columns import HiddenColumns
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import TooManyGroups
from sfumato.measures.measuring import Measuring
from sfumato.measures.registry import figures_in, measures, ours
from sfumato.measures.subject import Subject
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, split
from sfumato.release.classes import Exposed, missing_rule
from sfumato.release.copies import over_copies
from sfumato.release.earlier import Before
from sfumato.release.measure import NO_CLASSES, measure, sensitive_categories
from sfumato.release.parted.counted import COUNTED, counted, counted_of_copies
from sfumato.release.parted.exact import exact
from sfumato.release.parted.exposing import exposed_off_memory
from sfumato.release.parted.found import closeness, linked
from sfumato.release.parted.hidden import hidden
from sfumato.release.parted.matched import neighbour
from sfumato.release.parted.run import PartedRun
from sfumato.release.parted.targets import PEOPLE, targets_of
from sfumato.release.protect import measure_run, pair_of, subject_of
from sfumato.release.run import Ran

__all__ = [
    "AMONG_ALL",
    "EARLIER_LEFT_OUT",
    "LEFT_OUT",
    "MOST_LINES",
    "NO_SAMPLE",
    "SAMPLED",
    "STRATA_SAMPLED",
    "TOO_MANY",
    "among_all",
    "everybody_of",
    "in_memory",
    "measure_few",
    "measure_many",
    "sampled_of",
]

SAMPLED = (
    "The table is large: what compares records one by one was measured on {most:,} of them, chosen by a fixed public "
    "rule. Who looks for a record among all finds it less often than among these."
)
AMONG_ALL = (
    "Who takes the nearest or likeliest record (linkage_nearest, risk2, nearest and predicted of h_rank, match_correct "
    f"of the neighbour with the linker nearest) was tried for {PEOPLE:,} people among all records; the intervals are "
    "of shares of everybody."
)
STRATA_SAMPLED = (
    "What can be computed back from averages was tried in whole strata of together at most {most:,} records, chosen "
    "by a fixed public rule."
)
LEFT_OUT = (
    "The table is large: attackers who need all records at once (attribute_risk and its like, scenarios of intruders "
    "but for the neighbour with the linker nearest, inference, membership, reconstruction without strata that are "
    "small enough) were left out. A limit on what they find counts as not met."
)
EARLIER_LEFT_OUT = (
    "what the earlier releases tell beside this one was not measured: that is done for tables of at most {most:,} "
    "records, whose ids are those of single people. Take `earlier` out of the plan, if nobody has got them"
)
"""A clause, as refusals are."""
OTHERS_LEFT_OUT = (
    "The table is large: {figures} (of another package) cannot be measured of it. A limit on one of them counts as not "
    "met."
)
NO_SAMPLE = (
    "The table is large, and its released records are not those of single people: measures that compare records were "
    "left out. A limit on one of them counts as not met."
)
TOO_MANY = (
    "There are too many classes to look at each of them: the size of the smallest was measured, and all other measures "
    "of classes were left out. A limit on one of them counts as not met."
)
MOST_LINES = 1_000
"""Most single classes that are told one by one."""
CLASS_LINES = f"There are more than {MOST_LINES:,} classes: they are not told one by one."
_LINKED = frozenset({"linkage_nearest", "linkage_one_to_one"})
"""What a sample need not tell where people are looked for among all records."""


def measure_few(
    plan: Plan,
    ran: PartedRun,
    how: Measuring,
    progress: Progress,
    earlier: Callable[[], Before | None] = lambda: None,
) -> Findings | None:
    """Measure a run of a small table as in memory; None where it is large, or its ids are not those of records.

    Parameters
    ----------
    plan, ran, how, progress
        The plan as run, what its run left behind, how things are measured, and who is told.
    earlier
        Opens earlier releases of the same people.
    """
    if max(int(each.ask(Counts(())).item(0, COUNT)) for each in (ran.given, ran.before, ran.after)) > how.most:
        return None
    rows = ran.sides.whole()
    return None if rows is None else measure_run(plan, in_memory(ran, rows), how, progress, earlier=earlier()).findings


def in_memory(ran: PartedRun, rows: Rows) -> Ran[PolarsDataset]:
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
    )


def measure_many(plan: Plan, ran: PartedRun, how: Measuring, progress: Progress) -> Findings:
    """Measure a run of a large table: by questions, by people who are looked for among all records, and by samples.

    Parameters
    ----------
    plan, ran, how, progress
        As of `measure_few`.
    """
    others = _left_out_of_others()
    if ran.disclosure.synthetic is not None:
        return Findings(notes=(*others, NO_SAMPLE)) + _of_copies(plan, ran, how, progress)
    of_everybody, of_counts, of_records = split(progress, [3, 1, 5])
    seen = exposed_off_memory(plan, ran.after)
    everybody = everybody_of(plan, ran, how, seen)
    found = _of_everybody(everybody, of_everybody)
    moved = counted(everybody, of_counts)
    sample = ran.sides.sample(how.most)
    if sample is None:
        return Findings(notes=(*seen.notes, *others, NO_SAMPLE)) + Findings.together([found, moved])
    known = {f.measure for each in (found, moved) for f in each} | COUNTED
    names = figures_in("sample") - known
    apart, alone, searching = split(of_records, [1, 2, 2])

    def of(rows: Rows) -> Subject:
        return sampled_of(plan, ran, rows, how, seen)

    in_strata, strata = figures_in("strata"), _strata(plan, ran, how.most)
    of_strata = Findings() if strata is None else measure(of(strata), apart, only=in_strata)
    of_strata = Findings(tuple(f for f in of_strata if f.measure in in_strata), of_strata.notes)
    people = of(sample)
    if people.two.aligned and people.two.columns:
        names -= _LINKED
    of_people = among_all(people, measure(people, alone, only=names), searching)
    tried = (STRATA_SAMPLED.format(most=how.most),) if of_strata else ()
    notes = (*seen.notes, *others, SAMPLED.format(most=how.most), *tried, LEFT_OUT)
    known_notes = {*found.notes, *moved.notes}
    looked_at = Findings.together([of_strata, of_people])
    rest = tuple(n for n in looked_at.notes if n != NO_CLASSES or n in known_notes)
    return Findings(notes=notes) + Findings.together([found, moved, Findings(looked_at.lines, rest)])


def _left_out_of_others() -> tuple[str, ...]:
    """A note on the measures of other packages that large tables do without; `LEFT_OUT` tells of ours."""
    brought = [m for m in measures().values() if m.forms == ("memory",) and m.names.isdisjoint(ours())]
    names = [figure.name for each in brought for figure in each.figures]
    return (OTHERS_LEFT_OUT.format(figures=", ".join(names)),) if names else ()


def everybody_of(plan: Plan, ran: PartedRun, how: Measuring, seen: Exposed) -> Subject:
    """What measures look at that are told of all records.

    Parameters
    ----------
    plan, ran, how
        As of `measure_few`.
    seen
        The classes of the release.
    """
    after = _released(ran.after)
    return Subject(
        after,
        given=ran.given,
        before=ran.before,
        classes=seen.classes,
        sensitive=sensitive_categories(after.codebook),
        disclosure=ran.disclosure,
        traces=plan.traces,
        sides=ran.sides,
        how=replace(how, missing=missing_rule(plan)),
        suppression=ran.suppression,
        asked=frozenset(limit.measure for limit in plan.limits),
    )


def sampled_of(plan: Plan, ran: PartedRun, rows: Rows, how: Measuring, seen: Exposed) -> Subject:
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


def _of_everybody(subject: Subject, progress: Progress) -> Findings:
    """What classes and sums tell of all records."""
    of_classes, of_values = split(progress, [2, 1])
    found = _briefly(_of_classes(subject, of_classes))
    of_values("measuring how far values moved", 0)
    return Findings.together([found, exact(subject)])


def _of_copies(plan: Plan, ran: PartedRun, how: Measuring, progress: Progress) -> Findings:
    """What classes, sums and counts tell of synthetic copies: each is measured by itself, as in memory.

    Counted together, all copies of a person would make one class of people alike.
    """
    of_counts, of_everybody = split(progress, [1, 3])
    counts = counted_of_copies(everybody_of(plan, ran, how, exposed_off_memory(plan, ran.after)), of_counts)

    def of(copy: HiddenColumns, told: Findings) -> Callable[[Progress], Findings]:
        def findings(part: Progress) -> Findings:
            seen = exposed_off_memory(plan, copy.after)
            one = replace(ran, given=copy.given, before=copy.before, after=copy.after)
            everybody = everybody_of(plan, one, how, seen)
            return Findings.together([Findings(notes=seen.notes), _of_everybody(everybody, part), told])

        return findings

    return over_copies([*map(of, ran.sides.copies(), counts)], ran.disclosure, of_everybody)


def _strata(plan: Plan, ran: PartedRun, most: int) -> Rows | None:
    """A sample of whole strata, of masking steps that have any."""
    by = [n for n in plan.traces.strata if n in ran.after.codebook]
    try:
        return ran.sides.strata(by, most)
    except TooManyGroups:
        return None


def among_all(sample: Subject, sampled: Findings, progress: Progress, people: int = PEOPLE) -> Findings:
    """The findings of a sample, with those of attackers who take the nearest record told of people among all records.

    Parameters
    ----------
    sample
        A sample of the records, with all of them behind it.
    sampled
        What was measured of it.
    progress
        Told before all records are gone through.
    people
        How many of the sample are looked for.
    """
    pair, after = sample.two, sample.everybody.after
    if not pair.aligned:
        return sampled
    progress(f"looking for {min(people, pair.after.height):,} people among all records", 0)
    asked = [neighbour(sample, people)]
    if pair.columns:
        targets = targets_of(sample, pair.columns, people)
        records = int(after.ask(Counts(())).item(0, COUNT))
        asked += [linked(sample, targets, records), closeness(sample, targets, records)]
        asked += [hidden(sample, targets, sampled)]
    questions = [each for each in asked if each is not None]
    if not questions:
        return sampled
    answers = iter(ask_all(after, [q for each in questions for q in each.questions]))
    found = Findings.together([each.told([next(answers) for _ in each.questions]) for each in questions])
    new = {f.measure for f in found}
    return Findings(tuple(f for f in sampled if f.measure not in new), (AMONG_ALL, *sampled.notes)) + found


def _of_classes(subject: Subject, progress: Progress) -> Findings:
    """What classes tell; where there are too many of them, the size of the smallest."""
    try:
        return measure(subject, progress, only=figures_in("folded"))
    except TooManyGroups:
        found = measure(replace(subject, classes=(), sensitive=()), progress, only=figures_in("folded"))
    sizes = [(group, subject.after.ask(Classes(group.by))) for group in subject.classes]
    least = [(group.group, told[SIZE].min()) for group, told in sizes if not told.is_empty()]
    lines = [Finding("k_anonymity", group=group, value=float(k)) for group, k in least if isinstance(k, int)]
    notes = tuple(note for note in found.notes if note != NO_CLASSES)
    return Findings((*lines, *found.lines), (*notes, TOO_MANY))


def _briefly(found: Findings) -> Findings:
    """Without the lines of single classes, where there are very many."""
    single = [f for f in found if f.measure in ("class_size", "class_risk")]
    if len(single) <= MOST_LINES:
        return found
    lines = tuple(f for f in found if f.measure not in ("class_size", "class_risk") or f.limit is not None)
    return Findings(lines, (*found.notes, CLASS_LINES))


def _released(after: Parted) -> Parted:
    """The data without hidden columns."""
    columns = leaving(after.codebook)
    return after.map(lambda batch: batch.select(columns), codebook=after.codebook.only(columns))
