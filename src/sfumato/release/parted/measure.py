"""What is measured of a run where rows are not in memory.

A small table is brought into memory and measured there. Of a larger one, questions tell of all rows what they can
(classes, means, quantiles, how far values moved), and the rest is measured on a sample. What a sample would tell
wrongly is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sfumato.data.dataset import Parted, ask_all
from sfumato.data.finding import Finding, Findings
from sfumato.data.hidden import leaving
from sfumato.data.query import COUNT, SIZE, Classes, Counts
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import TooManyGroups
from sfumato.measures.attacking import USUAL
from sfumato.measures.measuring import Measuring
from sfumato.measures.registry import figures_in, measures, ours
from sfumato.measures.subject import Subject
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, split
from sfumato.release.classes import Exposed, missing_rule
from sfumato.release.copies import over_copies
from sfumato.release.earlier import Before
from sfumato.release.measure import NO_CLASSES, measure, sensitive_categories
from sfumato.release.parted.counted import COUNTED, copies_of, counted, counted_of_copies
from sfumato.release.parted.exact import exact
from sfumato.release.parted.exposing import exposed_off_memory
from sfumato.release.parted.found import closeness, linked
from sfumato.release.parted.hidden import hidden
from sfumato.release.parted.matched import neighbour
from sfumato.release.parted.run import PartedRun
from sfumato.release.parted.sample import sample_of, strata_of, whole_of
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
    "measure_few",
    "measure_many",
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
    whole = whole_of(ran)
    return None if whole is None else measure_run(plan, whole, how, progress, earlier=earlier()).findings


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
    found = _of_everybody(plan, ran, how, seen, of_everybody)
    moved = counted(plan, ran, of_counts)
    sample = sample_of(ran, how.most)
    if sample is None:
        return Findings(notes=(*seen.notes, *others, NO_SAMPLE)) + Findings.together([found, moved])
    known = {f.measure for each in (found, moved) for f in each} | COUNTED
    names = figures_in("sample") - known
    apart, alone, searching = split(of_records, [1, 2, 2])

    def of(rows: Ran[PolarsDataset]) -> Subject:
        return replace(subject_of(plan, rows, pair_of(plan, rows), how, seen), classes=(), sensitive=())

    in_strata, strata = figures_in("strata"), _strata(plan, ran, how.most)
    of_strata = Findings() if strata is None else measure(of(strata), apart, only=in_strata)
    of_strata = Findings(tuple(f for f in of_strata if f.measure in in_strata), of_strata.notes)
    people = of(sample)
    if people.two.aligned and people.two.columns:
        names -= _LINKED
    of_people = among_all(ran, people, measure(people, alone, only=names), searching, replaced=plan.traces.replaced)
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


def _of_everybody(plan: Plan, ran: PartedRun, how: Measuring, seen: Exposed, progress: Progress) -> Findings:
    """What classes and sums tell of all records."""
    of_classes, of_values = split(progress, [2, 1])
    after = _released(ran.after)
    subject = Subject(
        after,
        given=ran.given,
        before=ran.before,
        classes=seen.classes,
        sensitive=sensitive_categories(after.codebook),
        disclosure=ran.disclosure,
        how=replace(how, missing=missing_rule(plan)),
        suppression=ran.suppression,
        asked=frozenset(limit.measure for limit in plan.limits),
    )
    found = _briefly(_of_classes(subject, of_classes))
    of_values("measuring how far values moved", 0)
    return Findings.together([found, exact(plan.traces, ran, how.interval)])


def _of_copies(plan: Plan, ran: PartedRun, how: Measuring, progress: Progress) -> Findings:
    """What classes, sums and counts tell of synthetic copies: each is measured by itself, as in memory.

    Counted together, all copies of a person would make one class of people alike.
    """
    of_counts, of_everybody = split(progress, [1, 3])
    counts = counted_of_copies(plan, ran, of_counts)

    def of(copy: PartedRun, told: Findings) -> Callable[[Progress], Findings]:
        def findings(part: Progress) -> Findings:
            seen = exposed_off_memory(plan, copy.after)
            return Findings.together([Findings(notes=seen.notes), _of_everybody(plan, copy, how, seen, part), told])

        return findings

    return over_copies([*map(of, copies_of(ran), counts)], ran.disclosure, of_everybody)


def _strata(plan: Plan, ran: PartedRun, most: int) -> Ran[PolarsDataset] | None:
    """A sample of whole strata, of masking steps that have any."""
    by = [n for n in plan.traces.strata if n in ran.after.codebook]
    try:
        return strata_of(ran, by, most)
    except TooManyGroups:
        return None


def among_all(
    ran: PartedRun,
    sample: Subject,
    sampled: Findings,
    progress: Progress,
    people: int = PEOPLE,
    replaced: Sequence[str] = (),
) -> Findings:
    """The findings of a sample, with those of attackers who take the nearest record told of people among all records.

    Parameters
    ----------
    ran
        What a run left behind.
    sample
        A sample of its records.
    sampled
        What was measured of it.
    progress
        Told before all records are gone through.
    people
        How many of the sample are looked for.
    replaced
        Columns of ids in whose place others stand.
    """
    pair = sample.two
    if not pair.aligned:
        return sampled
    progress(f"looking for {min(people, pair.after.height):,} people among all records", 0)
    asked = [neighbour(ran, sample, people, replaced)]
    if pair.columns:
        targets = targets_of(ran, sample, pair.columns, people)
        records = int(ran.after.ask(Counts(())).item(0, COUNT))
        asked += [
            linked(ran, targets, pair, records),
            closeness(targets, pair, records, sample.how.w1, sample.how.w2),
            hidden(ran, targets, pair, sample.how.attacking or USUAL, sample.disclosure, sampled),
        ]
    questions = [each for each in asked if each is not None]
    if not questions:
        return sampled
    answers = iter(ask_all(ran.after, [q for each in questions for q in each.questions]))
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
