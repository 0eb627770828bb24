"""Measures that need no more than counts of groups: told of all records, wherever the rows are.

They are the measures in memory: these are given groups and how many records each has in the place of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.disclosure import COPY
from sfumato.data.finding import Findings
from sfumato.data.hidden import WAS, leaving
from sfumato.data.query import Counts, Folded
from sfumato.data.roles import Role
from sfumato.data.traces import Traces
from sfumato.measures.known import Known
from sfumato.measures.risk import disclosive_correct, replicated_uniques
from sfumato.measures.utility.stacked import compared
from sfumato.measures.utility.table_ratio import among_copies, findings_of, findings_of_copies
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.copies import over_copies
from sfumato.release.intruder import keys_of
from sfumato.release.measure import sensitive_categories
from sfumato.release.parted.cells import Counted, look, told
from sfumato.release.parted.run import PartedRun
from sfumato.release.protect import other_types

__all__ = ["COUNTED", "TOO_MANY_CELLS", "TOO_MANY_KEYS", "copies_of", "counted", "counted_of_copies"]

COUNTED = frozenset({"table_ratio", "replicated_uniques", "disclosive_correct"})
"""The figures that are told."""
TOO_MANY_CELLS = (
    "Tables beside chance: there is no figure of tables that have too many cells to count, and they are in no mean: "
    "{tables}."
)
TOO_MANY_KEYS = (
    "{figure} was left out: there are too many combinations of {columns} to count them. A limit on it counts as not "
    "met."
)


def counted(plan: Plan, ran: PartedRun, progress: Progress = quiet) -> Findings:
    """Tables beside chance; where records are nobody's or a limit asks, `replicated_uniques` and `disclosive_correct`.

    They equal what the measures of these names give of the same rows in memory, to 1e-9; of synthetic copies they are
    means.

    Parameters
    ----------
    plan, ran
        The plan, and what its run left behind.
    progress
        Called with what is being done, and the share of it that is done.
    """
    found = counted_of_copies(plan, ran, progress)
    if ran.disclosure.synthetic is None:
        return found[0]
    return over_copies([partial(_as_found, one) for one in found], ran.disclosure, quiet)


def counted_of_copies(plan: Plan, ran: PartedRun, progress: Progress = quiet) -> list[Findings]:
    """As `counted`, of each synthetic copy by itself, in the order of `copies_of`.

    Parameters
    ----------
    plan, ran, progress
        As for `counted`.
    """
    progress("measuring tables of one and two columns", 0)
    copies = copies_of(ran)
    ratios = _table_ratios(plan.traces, ran, copies)
    progress("measuring groups of keys", 0.8)
    return [Findings.together([ratio, _alike(plan, copy)]) for ratio, copy in zip(ratios, copies, strict=True)]


def _as_found(found: Findings, progress: Progress) -> Findings:
    return found


def copies_of(ran: PartedRun) -> list[PartedRun]:
    """The run as if each synthetic copy were what it left behind; itself where there is one.

    Parameters
    ----------
    ran
        What a run left behind.
    """
    synthetic = ran.disclosure.synthetic
    if synthetic is None or synthetic.copies == 1 or COPY not in ran.after.schema:
        return [ran] * (synthetic.copies if synthetic is not None else 1)
    given, before, after = (
        [_copy(data, i + 1) if COPY in data.schema else data for i in range(synthetic.copies)]
        for data in (ran.given, ran.before, ran.after)
    )
    return [replace(ran, given=given[i], before=before[i], after=after[i]) for i in range(synthetic.copies)]


def _copy(data: Parted, number: int) -> Parted:
    """One copy of a table that holds several."""

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.filter(pl.col(COPY) == number).drop(COPY)

    return data.map(f, codebook=data.codebook.without(COPY))


def _is_nobodys(ran: PartedRun) -> bool:
    """Whether the released records are no person's."""
    return (synthetic := ran.disclosure.synthetic) is not None and synthetic.kind == "full"


def _book(ran: PartedRun) -> Codebook:
    """What is known of the variables of both tables."""
    return Codebook({**ran.before.codebook, **ran.after.codebook.only(leaving(ran.after.codebook))})


def _released(ran: PartedRun) -> pl.Schema:
    """Types of the released columns that are compared: ids of records that are nobody's say nothing."""
    left_out = _book(ran).the(Role.RECORD) if _is_nobodys(ran) else None
    return pl.Schema({n: ran.after.schema[n] for n in leaving(ran.after.codebook) if n != left_out})


def _true(traces: Traces, ran: PartedRun) -> pl.Schema:
    """Types of the true columns that are compared: those that were not coarsened, nor changed their type, since."""
    schema = pl.Schema({n: ran.before.schema[n] for n in leaving(ran.before.schema)})
    if _is_nobodys(ran):
        return schema
    gone = {*traces.coarsened, *other_types(traces, schema, _released(ran))}
    return pl.Schema({n: t for n, t in schema.items() if n not in gone})


def _table_ratios(traces: Traces, ran: PartedRun, copies: Sequence[PartedRun]) -> list[Findings]:
    """`table_ratio` of each copy, as `sfumato.measures.utility.table_ratio` has it of tables in memory."""
    book, true, released = _book(ran), _true(traces, copies[0]), _released(copies[0])
    record = None if _is_nobodys(ran) else ran.after.codebook.the(Role.RECORD)
    names = compared(true.to_frame(), released.to_frame(), book, () if record is None else (record,))
    drawn = (synthetic := ran.disclosure.synthetic) is not None and synthetic.kind == "partial"
    changed = None if _is_nobodys(ran) else [n for n in names if f"{WAS}{n}" in copies[0].after.schema]
    moved = None if changed is None or drawn else _moved(copies[0], changed)
    seen = look(names, copies[0].before, [copy.after for copy in copies], book, changed, moved)
    if seen.same and any((both := seen.alone()).varies):
        return [_noted(findings_of(both, True), both)] * len(copies)
    beside, against = seen.counted()
    if not drawn:
        return [_noted(findings_of(both, False), both) for both in beside]
    return [_noted(findings_of_copies(both, lambda of: among_copies(against, of)), both) for both in beside]


def _noted(found: Findings, both: Counted) -> Findings:
    """The findings with a word on what was not counted."""
    return (
        found + Findings(notes=(TOO_MANY_CELLS.format(tables=", ".join(gone)),)) if (gone := both.uncounted) else found
    )


def _moved(ran: PartedRun, changed: Sequence[str]) -> Folded | None:
    """Counts the records that differ in these columns from what they were; None where all do, by the columns' types."""
    schema = ran.after.schema
    pairs = [(f"{WAS}{n}", n) for n in changed]
    if any(schema[was] != schema[now] and not _both_lists(schema, was, now) for was, now in pairs):
        return None
    differs = [_plain(was, schema[was]).ne_missing(_plain(now, schema[now])) for was, now in pairs]

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.select(pl.any_horizontal(pl.lit(False), *differs).sum().cast(pl.Int64).alias("moved"))

    return Folded(tuple(n for pair in pairs for n in pair), f, lambda frames: frames.sum())


def _alike(plan: Plan, ran: PartedRun) -> Findings:
    """`replicated_uniques` and `disclosive_correct`, where they are worth it, of groups of people and of records."""
    book, released = _book(ran), _released(ran)
    all_keys = keys_of(plan.traces, ran.after.codebook.only(leaving(ran.after.codebook)))
    asked = {limit.measure for limit in plan.limits}
    wanted = COUNTED - {"table_ratio"} if _is_nobodys(ran) else asked & COUNTED
    if not wanted or not (all_keys or any(each.keys for each in plan.knows.values())):
        return Findings()
    people = _people(plan.traces, ran)
    keys = [n for n in all_keys if n in people and n in released]
    sensitive = sensitive_categories(ran.after.codebook.only(leaving(ran.after.codebook)))
    targets = [n for n in sensitive if n in people and n in released and n not in all_keys]
    source = ran.before if _is_nobodys(ran) else ran.after

    def known(columns: Sequence[str]) -> Known | None:
        tables = _groups(source, {n: people[n] for n in columns}), _groups(ran.after, {n: n for n in columns})
        if tables[0] is None or tables[1] is None:
            return None
        return Known(tables[0], tables[1], book, all_keys, aligned=False)

    found = []
    both = known([*keys, *targets]) if "disclosive_correct" in wanted and sensitive else None
    if "replicated_uniques" in wanted:
        alone = both if both is not None else known(keys)
        found.append(_too_many("replicated_uniques", keys) if alone is None else replicated_uniques.findings(alone))
    if "disclosive_correct" in wanted and sensitive:
        which = [*keys, *targets]
        found.append(
            _too_many("disclosive_correct", which) if both is None else disclosive_correct.findings(both, sensitive)
        )
    return Findings.together(found)


def _too_many(figure: str, columns: Sequence[str]) -> Findings:
    return Findings(notes=(TOO_MANY_KEYS.format(figure=figure, columns=", ".join(columns)),))


def _groups(data: Parted, columns: Mapping[str, str]) -> pl.DataFrame | None:
    """How many records there are of each combination of columns, by the names that they get; None of too many."""
    if not columns:
        return told(data, [Counts(())])[0]
    named = [pl.col(source).alias(n) for n, source in columns.items()]
    book = Codebook({n: data.codebook[source] for n, source in columns.items()})
    return told(data.map(lambda batch: batch.select(named), codebook=book), [Counts(tuple(columns))])[0]


def _people(traces: Traces, ran: PartedRun) -> dict[str, str]:
    """The columns of which a true value is known, and where it stands: as the release has them in memory.

    Of records that are somebody's it stands beside the released ones. What was coarsened since is known in the terms of
    the release, and ids are those of the release.
    """
    true = _true(traces, ran)
    if _is_nobodys(ran):
        return {n: n for n in true}
    schema = ran.after.schema
    where = {n: f"{WAS}{n}" if f"{WAS}{n}" in schema and n not in traces.replaced else n for n in true}
    coarse = [n for n in traces.coarsened if n in leaving(ran.after.codebook) and n not in traces.masked]
    where |= {n: n for n in coarse} | {n: f"{WAS}{n}" for n in coarse if _only_emptied(ran, n)}
    return {n: source for n, source in where.items() if source in schema}


def _only_emptied(ran: PartedRun, column: str) -> bool:
    """Whether all values of a column that are left are the true ones."""
    was, schema = f"{WAS}{column}", ran.after.schema
    if was not in schema or not (schema[was] == schema[column] or _both_lists(schema, was, column)):
        return False
    now, true = (_plain(n, schema[n]) for n in (column, was))

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.select((~((true == now) | now.is_null()).fill_null(True)).sum().cast(pl.Int64).alias("other"))

    return not ran.after.ask(Folded((was, column), f, lambda frames: frames.sum())).item()


def _both_lists(schema: Mapping[str, pl.DataType], one: str, other: str) -> bool:
    """Whether two columns are of a list of categories each: a release lists those that are left."""
    return isinstance(schema[one], pl.Enum) and isinstance(schema[other], pl.Enum)


def _plain(name: str, dtype: pl.DataType) -> pl.Expr:
    return pl.col(name).cast(pl.String) if isinstance(dtype, pl.Enum) else pl.col(name)
