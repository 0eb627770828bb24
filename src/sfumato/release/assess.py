"""Measure files as they are: the risk of one table or of two, and what a protected table still says."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import COPY, Additive, Averaged, Disclosure, Shuffled, Swapped, Synthetic
from sfumato.data.finding import Findings
from sfumato.data.pair import Pair, numbers
from sfumato.data.roles import IDS, Role
from sfumato.data.traces import keys_of
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.scanned import ScannedDataset
from sfumato.errors import DataError
from sfumato.measures.copies import Copies
from sfumato.measures.known import Known
from sfumato.measures.measuring import Measuring
from sfumato.measures.registry import figures
from sfumato.measures.risk.attackers.error_law import laws
from sfumato.measures.risk.h_rank.h_rank import HRank
from sfumato.measures.risk.h_rank.h_rank import h_rank as measure_h_rank
from sfumato.measures.risk.scenarios.copies import by_all_copies
from sfumato.measures.subject import WIDE, Subject
from sfumato.plan.knows import knowledge
from sfumato.plan.limits import apply_limits, attacking_for, intruding_for
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split
from sfumato.release.classes import classes_of, exposed, exposed_beside
from sfumato.release.copies import NOBODYS as NOBODYS_ROWS
from sfumato.release.copies import apart, over_copies
from sfumato.release.earlier import Before, with_record
from sfumato.release.gaps import noted_beside
from sfumato.release.intruder import known_people
from sfumato.release.measure import NO_CLASSES, NO_NUMBERS, measure, sensitive_categories
from sfumato.release.named import Named
from sfumato.release.pairing import Align, pair_tables
from sfumato.release.prepared import Prepared
from sfumato.release.secret import Secret
from sfumato.release.supports import refuse_supports, with_supports

__all__ = ["compare", "h_rank", "risk", "risk_of_scan"]

OTHER_IDS = (
    "The plan pseudonymises the ids in {record}, so records of the two tables are joined only with the old and new ids "
    "that `protect --crosswalk FILE` wrote (--crosswalk FILE, crosswalk=), or with the secret that the release was "
    "made with (--secret-file FILE, secret=, or SFUMATO_SECRET)."
)
NOBODYS = (
    "Rows are nobody's (--align none), so nothing was measured that compares records or counts people who share their "
    "keys: what the table tells is held against the control."
)
NEEDS_CONTROL = (
    "With --align none rows are nobody's, and what the table tells of its people is measured beside a control: give "
    "people of the same kind who are not in it (--control FILE)."
)
SEVERAL_COPIES = (
    f"The protected table numbers copies in a column {COPY!r}: what they tell is measured one by one. Leave the "
    "release's datapackage.json beside it, or give one copy without that column."
)
BESIDE_CONTROL = frozenset({"inference", "membership"})
"""What rows that are nobody's tell beside a control."""
ALL_COPIES = "Inference and membership are no means: intruders have all copies together."


def risk(
    data: PolarsDataset,
    protected: PolarsDataset | None = None,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    align: Align | None = None,
    plan: Plan | None = None,
    released: bool = False,
    disclosure: Disclosure | None = None,
    earlier: Before | None = None,
    control: PolarsDataset | None = None,
    named: Named | None = None,
    told: Sequence[str] = (),
    how: Measuring | None = None,
    secret: Secret | None = None,
    also: Callable[[Subject], None] | None = None,
    only: Set[str] | None = None,
    progress: Progress = quiet,
) -> Findings:
    """Measure the risk of a table as it is, or of a protected table against its original.

    Parameters
    ----------
    data
        The table, or the original.
    protected
        The protected table.
    columns
        Numeric columns that an intruder knows; by default those that the plan masks, else all.
    by
        Columns that an intruder knows: of one table its keys, of two the strata that records were kept apart in. By
        default the plan's; of one table without a plan the keys that `init` would guess, which a note names.
    record
        Column with the record's id, on which the two are joined.
    align
        `row-order`: row i of one is row i of the other. `none`: rows are nobody's, so that only what is measured of
        whole tables and with a control is.
    plan
        Roles, kinds, limits; its preparing steps are run on `data` first, and keys that a later step would mask are no
        keys of classes.
    released
        Whether `data` is itself the release of the plan, so that it has been through all steps.
    disclosure
        What the release tells of `protected` (or of `data`, where that is a release); attackers know it.
    earlier
        Earlier releases of the same people, with the true values of this one.
    control
        People of the same kind who are not in `protected`.
    named
        Roles over those of the plan, of the file and of what is guessed: keys make the classes of group `keys`,
        sensitive variables are measured whatever their kind.
    secret
        The secret that `protected` was made with, where the plan pseudonymised the ids on which the two are joined.
    also
        Called with what was measured, once it is.
    only
        Where rows are nobody's, only measures that give one of these figures.

    Raises
    ------
    DataError
        For two tables with neither `record` nor `align`: guessing would blame the wrong record.
    """
    synthetic = disclosure.synthetic if disclosure is not None else None
    several = protected is not None and COPY in protected.columns
    if disclosure is not None and synthetic is not None and (align != "none" or several):
        given: dict[str, Any] = {"columns": columns, "by": by, "record": record, "align": align, "plan": plan}
        given |= {"released": released, "earlier": earlier, "control": control, "named": named, "how": how}
        given |= {"told": told}
        return _risk_of_copies(data, protected, disclosure, given | {"secret": secret}, progress)
    named = named or Named()
    how = replace(_for_limits(how or Measuring(), plan or Plan()), together=len(named.sensitive) > 1)
    if protected is None:
        found = _risk_of_one(data, columns, by, plan, released, named, how, progress, also)
        if earlier is None:
            return found
        release = Prepared.of_release(with_record(data, record), plan or Plan())
        return found + _beside(release, earlier, disclosure or Disclosure(), how, progress)
    tables = Prepared.prepare(data, protected, plan, secret).named(named)
    if control is not None:
        control = Prepared.prepare(control, None, plan).before
    if align == "none":
        if control is None and synthetic is None:
            raise DataError(NEEDS_CONTROL)
        if COPY in protected.columns and COPY not in data.columns:
            raise DataError(SEVERAL_COPIES)
        return _risk_of_nobodys(tables, record, named, how, control, told, progress, also, only)
    record = tables.record(record)
    if align is None and tables.told_apart(record, secret):
        raise DataError(OTHER_IDS.format(record=record))
    if record is None and align is None:
        raise DataError(
            "To compare records of two tables, name the column with the record's id (--record NAME), say that row i of "
            "one is row i of the other (--align row-order), or that rows are nobody's (--align none)."
        )
    pair = tables.pair(columns, by, record, align)
    after = PolarsDataset(pair.tables.after, tables.codebook)
    seen = exposed(tables.plan, tables.released, pair)
    strata = tuple(n for n in pair.by if n in after.columns and _still_classes(tables, n))
    masked = (*pair.columns, *tables.plan.traces.masked)
    keys = seen.keys if tables.plan.steps else tuple(n for n in seen.keys if n not in masked)
    keys = named.keys or keys
    sensitive = named.sensitive or tuple(n for n in sensitive_categories(tables.codebook) if n in after.columns)
    left = seen if tables.plan.steps else exposed_beside(pair, tables.released)
    wide = [c for c in left.classes if c.group in WIDE]
    subject = Subject(
        with_record(after, record),
        given=tables.before,
        before=tables.before,
        pair=pair,
        classes=(*classes_of(keys, strata), *wide),
        sensitive=sensitive,
        disclosure=disclosure or Disclosure(),
        how=how,
        earlier=() if earlier is None else earlier.releases,
        truth=None if earlier is None else earlier.truth,
        intruder=_intruder(tables, pair, record, named, control, told),
        asked=frozenset(limit.measure for limit in tables.plan.limits),
        knowing=left.knowing,
    )
    found = measure(subject, progress, "risk")
    if also is not None:
        also(subject)
    return _judged(Findings(notes=seen.notes) + found, tables.plan)


def _risk_of_copies(
    data: PolarsDataset,
    protected: PolarsDataset | None,
    disclosure: Disclosure,
    given: dict[str, Any],
    progress: Progress,
) -> Findings:
    """The risk of a release of synthetic values, copy by copy; of rows that are nobody's what can be said of such."""
    told = disclosure.synthetic
    full = told is not None and told.kind == "full"
    if protected is None:
        if full:
            return Findings(notes=(NOBODYS_ROWS,))
        copies = apart(data, disclosure)
        each = [lambda part, copy=copy: risk(copy, **given, progress=part) for copy in copies]
        return over_copies(each, disclosure, progress)
    given |= {"align": "none", "disclosure": disclosure} if full else {"disclosure": disclosure.without_synthetic}
    copies, subjects = apart(protected, disclosure), list[Subject]()
    given |= {"also": subjects.append}
    if full and len(copies) > 1:
        given |= {"only": frozenset(figures()) - BESIDE_CONTROL}
    each = [lambda part, copy=copy: risk(data, copy, **given, progress=part) for copy in copies]
    one_by_one, at_once = split(progress, [2.0, 1.0])
    found = over_copies(each, disclosure, one_by_one)
    known = [subject.intruder for subject in subjects if subject.intruder is not None]
    how = subjects[0].how if subjects else Measuring()
    if not full:
        return by_all_copies(found, known, how.intruding, how.missing)
    return found if len(copies) < 2 else found + _of_all_copies(subjects, known, given["plan"], at_once)


def _of_all_copies(subjects: Sequence[Subject], copies: Sequence[Known], plan: Plan | None, part: Progress) -> Findings:
    """What copies tell beside a control, whose rows are nobody's: intruders have all of them."""
    rows = pl.concat([copy.released for copy in copies], how="vertical_relaxed")
    subject = replace(subjects[0], intruder=replace(copies[0], released=rows))
    found = measure(subject, part, "risk", BESIDE_CONTROL)
    notes = tuple(n for n in found.notes if n != NO_CLASSES)
    return _judged(Findings(found.lines, (*((ALL_COPIES,) if found.lines else ()), *notes)), plan or Plan())


def _intruder(
    tables: Prepared,
    pair: Pair,
    record: str | None,
    named: Named,
    control: PolarsDataset | None,
    told: Sequence[str] = (),
) -> Known:
    """What intruders know of the people of the protected table."""
    return known_people(
        tables.plan.traces,
        pair,
        tables.codebook,
        named.keys or keys_of(tables.plan.traces, tables.released) or tuple(told),
        control=None if control is None else control.frame,
        needed=named.sensitive,
        record=record,
        other_type=[n for n in tables.before.columns if tables.other_type(n)],
        raw=pair.before,
    )


def _risk_of_nobodys(
    tables: Prepared,
    record: str | None,
    named: Named,
    how: Measuring,
    control: PolarsDataset | None,
    told: Sequence[str],
    progress: Progress,
    also: Callable[[Subject], None] | None,
    only: Set[str] | None,
) -> Findings:
    """The risk of a table whose rows are nobody's: what it tells of its people beyond what it tells of others."""
    tables, notes = tables.comparable(named.keys, named.sensitive)
    record = record if record is not None else tables.before.codebook.the(Role.RECORD)
    pair = pair_tables(tables.before.frame, tables.released_frame, tables.codebook, columns=(), align="none")
    sensitive = named.sensitive or tuple(n for n in sensitive_categories(tables.codebook) if n in pair.after.columns)
    subject = Subject(
        PolarsDataset(pair.after, tables.codebook),
        sensitive=sensitive,
        how=how,
        intruder=_intruder(tables, pair, record, named, control, told),
    )
    found = measure(subject, progress, "risk", only)
    if also is not None:
        also(subject)
    rest = tuple(n for n in found.notes if n != NO_CLASSES)
    return _judged(Findings(found.lines, (NOBODYS, *notes, *rest)), tables.plan)


def _risk_of_one(
    data: PolarsDataset,
    columns: Sequence[str] | None,
    by: Sequence[str] | None,
    plan: Plan | None,
    released: bool,
    named: Named,
    how: Measuring,
    progress: Progress,
    also: Callable[[Subject], None] | None,
) -> Findings:
    """The risk of a table as it is: what its keys alone give away."""
    tables = Prepared.of_release(data, plan or Plan()) if released else Prepared.prepare(data, None, plan)
    tables = tables.named(named)
    notes: tuple[str, ...] = ()
    if columns:
        tables.columns(columns)
    if named.keys:
        classes = classes_of(named.keys, tables.by(by))
    elif by:
        classes = classes_of(tables.by(by), ())
    else:
        if not (released or tables.plan.steps or tables.codebook.with_role(Role.KEY)):
            tables, notes = tables.guessed(named)
        classes = exposed(tables.plan, tables.codebook).classes
    sensitive = named.sensitive or sensitive_categories(tables.before.codebook)
    limited = frozenset(limit.measure for limit in tables.plan.limits)
    subject = Subject(tables.before, classes=classes, sensitive=sensitive, how=how, asked=limited)
    found = measure(subject, progress, "risk")
    if also is not None:
        also(subject)
    return _judged(Findings(notes=notes) + found, tables.plan)


def risk_of_scan(data: ScannedDataset, named: Named, how: Measuring, progress: Progress = quiet) -> Findings:
    """Measure the risk of a file that is scanned rather than read, by the keys that were named.

    Parameters
    ----------
    data
        The file.
    named
        With keys.
    how
        How things are measured.
    progress
        Called with what is being done, and the share of the work that is done.

    Raises
    ------
    DataError
        Where columns cannot have these roles.
    """
    named.check(data.schema)
    data.check(named.columns)
    named.check_weights(data.rows, data.codebook)
    data = replace(data, codebook=named.on(data.codebook))
    sensitive = named.sensitive or sensitive_categories(data.codebook)
    how = replace(how, together=len(named.sensitive) > 1)
    return measure(Subject(data, classes=classes_of(named.keys, ()), sensitive=sensitive, how=how), progress, "risk")


def _beside(release: Prepared, earlier: Before, disclosure: Disclosure, how: Measuring, progress: Progress) -> Findings:
    """What earlier releases tell beside a release, and how well its records are hidden in the mean of all."""
    data, truth = release.before, earlier.truth
    assert truth is not None, "the true values were asked for"
    record = data.codebook.the(Role.RECORD)
    pair = None
    if record is not None and record in truth.columns:
        amounts = (Additive, Averaged, Shuffled, Swapped)
        masked = [n for part in disclosure if isinstance(part, amounts) for n in part.columns]
        there = {n for n in truth.columns if truth.schema[n].is_numeric() or truth.schema[n] == pl.Boolean}
        columns = [n for n in dict.fromkeys(masked) if n in there and data.frame[n].dtype.is_numeric()]
        pair = pair_tables(truth, data.frame, data.codebook, columns=columns, record=record) if columns else None
    subject = Subject(
        PolarsDataset(data.frame, data.codebook),
        pair=pair,
        disclosure=disclosure,
        how=how,
        earlier=earlier.releases,
        truth=truth,
    )
    found = measure(subject, progress, "risk", {"differencing", "h_rank"})
    of_others = (NO_CLASSES, NO_NUMBERS)  # which the measures of the one release have spoken of
    return _judged(Findings(found.lines, tuple(n for n in found.notes if n not in of_others)), release.plan)


def _for_limits(how: Measuring, plan: Plan) -> Measuring:
    """Attackers as asked for, else as the plan's limits need them; in either case every `at` that limits name."""
    knows = knowledge(plan.knows)
    if how.intruding is None:
        how = replace(how, intruding=intruding_for(plan.limits, knows))
    elif knows:
        how = replace(how, intruding=replace(how.intruding, knows=knows))
    needed = attacking_for(plan.limits)
    if needed is None:
        return how
    return replace(how, attacking=needed if how.attacking is None else replace(how.attacking, at=needed.at))


def _still_classes(tables: Prepared, column: str) -> bool:
    """Whether a category is still one in the protected table: noise makes numbers of it."""
    assert tables.after is not None
    return not tables.plan.steps or not tables.after.codebook[column].numeric


def compare(
    before: PolarsDataset,
    after: PolarsDataset,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    align: Align | None = None,
    plan: Plan | None = None,
    how: Measuring | None = None,
    disclosure: Disclosure | None = None,
    supports: Codebook | None = None,
    secret: Secret | None = None,
    progress: Progress = quiet,
) -> Findings:
    """Measure what a protected table still says.

    Without `record` and `align` the tables are compared as wholes; measures that need pairs of records are left out,
    which a note says. Synthetic copies are compared one by one; with `supports`, what their release says of its
    variables, grades are added. Parameters as in `risk`.
    """
    told = disclosure.synthetic if disclosure is not None else None
    if supports is not None:
        refuse_supports(told)
    if disclosure is not None and told is not None:
        given: dict[str, Any] = {"columns": columns, "by": by, "plan": plan, "how": how, "secret": secret}
        given |= {"told": disclosure}
        if told.kind == "full":  # ids are new, and say nothing
            ids = [n for n in after.codebook.with_role(Role.RECORD) if n in before.columns]
            before, after = (replace(data, frame=data.frame.drop(ids)) for data in (before, after))
            given |= {"record": None, "align": "none"}
        else:
            given |= {"record": record, "align": align}
        compared = [_compared(before, copy, **given) for copy in apart(after, disclosure)]
        copies = Copies(tuple(one.subject.two for one in compared), told.kind == "partial")
        each = [lambda part, one=one: one.measured(part, copies) for one in compared]
        found = over_copies(each, disclosure, progress, only_loss=True)
        if supports is None:
            return found
        others = [name for part in disclosure.without_synthetic for name in part.columns]
        return with_supports(found, copies, supports, told, others, how or Measuring())
    return _compared(before, after, columns, by, record, align, plan, how, secret, Disclosure()).measured(progress)


@dataclass(frozen=True)
class _Compared:
    """Two tables that are compared, what is said of them, and the plan whose limits bind."""

    subject: Subject
    notes: tuple[str, ...]
    plan: Plan

    def measured(self, progress: Progress, copies: Copies | None = None) -> Findings:
        found = measure(replace(self.subject, copies=copies), progress, "compare")
        return _judged(Findings(notes=self.notes) + found, self.plan)


def _compared(
    before: PolarsDataset,
    after: PolarsDataset,
    columns: Sequence[str] | None,
    by: Sequence[str] | None,
    record: str | None,
    align: Align | None,
    plan: Plan | None,
    how: Measuring | None,
    secret: Secret | None,
    told: Disclosure,
) -> _Compared:
    """Put one table beside another; parameters as in `compare`, `told` is what is disclosed."""
    prepared = Prepared.prepare(before, after, plan, secret)
    joined = None if align == "none" else prepared.record(record)
    alone: tuple[str, ...] = ()
    if align is None and prepared.told_apart(joined, secret):
        if record is not None:
            raise DataError(OTHER_IDS.format(record=record))
        alone, joined = (OTHER_IDS.format(record=joined),), None
    tables, notes = prepared.comparable(columns, by, [joined] if joined else None)
    pair = tables.pair(columns, by, joined, align)
    whole = pair.tables
    subject = Subject(
        PolarsDataset(whole.after, tables.codebook),
        before=PolarsDataset(whole.before, tables.codebook),
        pair=pair,
        entering=_by_record(prepared.read, joined),
        result=_with_gaps(prepared, pair, told),
        noted=pair.aligned,
        disclosure=told,
        how=how or Measuring(),
    )
    return _Compared(subject, (*alone, *notes), tables.plan)


def _by_record(data: PolarsDataset, record: str | None) -> PolarsDataset:
    """The data with the column on which they are joined as ids."""
    if record is None or record not in data.codebook:
        return data
    ids = data.codebook[record].model_copy(update={"role": Role.RECORD})
    return replace(data, codebook=data.codebook.replace(**{record: ids}))


def _with_gaps(tables: Prepared, pair: Pair, told: Disclosure) -> PolarsDataset | None:
    """The protected table with all its columns, and with the gaps that its records had where they are told apart."""
    read, after = tables.read, tables.after
    if after is None or not pair.aligned:
        return after
    steps = tables.plan.steps
    if pair.record is not None and any(step.replaces and pair.record in step.changes for step in steps):
        read = tables.before  # whose ids are those of the release
    moved = {n for step in steps if step.exchanges for n in step.changes}
    drawn = {n for part in told if isinstance(part, Synthetic) for n in part.columns}
    return noted_beside(read, after, pair.record, moved | drawn)


def h_rank(
    true: PolarsDataset,
    noisy: PolarsDataset | None,
    *,
    columns: Sequence[str] | None,
    by: Sequence[str] | None,
    record: str | None,
    disclosure: Disclosure | None,
    **how: Any,
) -> HRank:
    """Measure how well records are hidden; parameters as in `sfumato.h_rank`, `how` goes to the measure."""
    tables = Prepared.prepare(true, noisy, None)
    if record is None and noisy is not None:
        known = noisy.codebook.the(Role.RECORD)
        record = known if known in true.columns else None
    names = tables.columns(
        columns or [n for n in _numbers(true) if noisy is None or (n in noisy.columns and n != record)]
    )
    if noisy is not None:
        pair = tables.pair(names, by, record, None if record else "row-order")
        frame, x, z = pair.before, pair.x, pair.z
    else:
        frame, x, z = tables.before.frame, numbers(tables.before.frame, names, tables.codebook), None
    by = tuple(by or ())
    label = None if not by else frame.select(pl.struct(by).rank("dense")).to_series().to_numpy().astype("int64") - 1
    told = () if disclosure is None else tuple(laws(disclosure, names, frame, by))
    return measure_h_rank(x, z, laws=told, label=label, **how)


def _numbers(data: PolarsDataset) -> list[str]:
    """Columns that hold numbers, codes and yes/no among them, and are no ids."""
    ids = data.codebook.with_role(*IDS, Role.IDENTIFIER, Role.WEIGHT)
    schema = data.frame.schema
    return [n for n, dtype in schema.items() if (dtype.is_numeric() or dtype == pl.Boolean) and n not in ids]


def _judged(found: Findings, plan: Plan) -> Findings:
    """Apply the limits on what was measured; the others are for `protect`, which measures everything."""
    return apply_limits(found, [limit for limit in plan.limits if any(limit.binds(f) for f in found)])
