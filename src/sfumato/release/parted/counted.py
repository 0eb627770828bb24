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
from sfumato.data.finding import Findings
from sfumato.data.hidden import leaving
from sfumato.data.query import Counts, Folded
from sfumato.data.roles import Role
from sfumato.data.sides import Sides
from sfumato.data.traces import keys_of, other_types
from sfumato.measures.known import Known
from sfumato.measures.risk import disclosive_correct, replicated_uniques
from sfumato.measures.subject import Subject
from sfumato.measures.utility.stacked import compared
from sfumato.measures.utility.table_ratio import among_copies, findings_of, findings_of_copies
from sfumato.progress import Progress, quiet
from sfumato.release.copies import over_copies
from sfumato.release.parted.cells import Counted, look, told

__all__ = ["COUNTED", "TOO_MANY_CELLS", "TOO_MANY_KEYS", "counted", "counted_of_copies"]

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


def counted(subject: Subject, progress: Progress = quiet) -> Findings:
    """Tables beside chance; where records are nobody's or a limit asks, `replicated_uniques` and `disclosive_correct`.

    They equal what the measures of these names give of the same rows in memory, to 1e-9; of synthetic copies they are
    means.

    Parameters
    ----------
    subject
        What a plan did to columns, and all records.
    progress
        Called with what is being done, and the share of it that is done.
    """
    found = counted_of_copies(subject, progress)
    if subject.disclosure.synthetic is None:
        return found[0]
    return over_copies([partial(_as_found, one) for one in found], subject.disclosure, quiet)


def counted_of_copies(subject: Subject, progress: Progress = quiet) -> list[Findings]:
    """As `counted`, of each synthetic copy by itself, in the order of `Sides.copies`.

    Parameters
    ----------
    subject, progress
        As for `counted`.
    """
    progress("measuring tables of one and two columns", 0)
    copies = subject.everybody.copies()
    ratios = _table_ratios(subject, copies)
    progress("measuring groups of keys", 0.8)
    each = (replace(subject, sides=copy) for copy in copies)
    return [Findings.together([ratio, _alike(copy)]) for ratio, copy in zip(ratios, each, strict=True)]


def _as_found(found: Findings, progress: Progress) -> Findings:
    return found


def _is_nobodys(subject: Subject) -> bool:
    """Whether the released records are no person's."""
    return (synthetic := subject.disclosure.synthetic) is not None and synthetic.kind == "full"


def _book(sides: Sides) -> Codebook:
    """What is known of the variables of both tables."""
    return Codebook({**sides.before.codebook, **sides.after.codebook.only(leaving(sides.after.codebook))})


def _released(subject: Subject, sides: Sides) -> pl.Schema:
    """Types of the released columns that are compared: ids of records that are nobody's say nothing."""
    left_out = _book(sides).the(Role.RECORD) if _is_nobodys(subject) else None
    return pl.Schema({n: sides.after.schema[n] for n in leaving(sides.after.codebook) if n != left_out})


def _true(subject: Subject, sides: Sides) -> pl.Schema:
    """Types of the true columns that are compared: those that were not coarsened, nor changed their type, since."""
    schema = pl.Schema({n: sides.before.schema[n] for n in leaving(sides.before.schema)})
    if _is_nobodys(subject):
        return schema
    gone = {*subject.traces.coarsened, *other_types(subject.traces, schema, _released(subject, sides))}
    return pl.Schema({n: t for n, t in schema.items() if n not in gone})


def _table_ratios(subject: Subject, copies: Sequence[Sides]) -> list[Findings]:
    """`table_ratio` of each copy, as `sfumato.measures.utility.table_ratio` has it of tables in memory."""
    first, nobodys = copies[0], _is_nobodys(subject)
    book, true, released = _book(first), _true(subject, first), _released(subject, first)
    record = None if nobodys else first.after.codebook.the(Role.RECORD)
    names = compared(true.to_frame(), released.to_frame(), book, () if record is None else (record,))
    drawn = (synthetic := subject.disclosure.synthetic) is not None and synthetic.kind == "partial"
    changed = None if nobodys else [n for n in names if first.true(n) != n]
    moved = None if changed is None or drawn else _moved(first, changed)
    seen = look(names, first.before, [copy.after for copy in copies], book, changed, moved)
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


def _moved(sides: Sides, changed: Sequence[str]) -> Folded | None:
    """Counts the records that differ in these columns from what they were; None where all do, by the columns' types."""
    schema = sides.after.schema
    pairs = [(sides.true(n), n) for n in changed]
    if any(schema[was] != schema[now] and not _both_lists(schema, was, now) for was, now in pairs):
        return None
    differs = [_plain(was, schema[was]).ne_missing(_plain(now, schema[now])) for was, now in pairs]

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.select(pl.any_horizontal(pl.lit(False), *differs).sum().cast(pl.Int64).alias("moved"))

    return Folded(tuple(n for pair in pairs for n in pair), f, lambda frames: frames.sum())


def _alike(subject: Subject) -> Findings:
    """`replicated_uniques` and `disclosive_correct`, where they are worth it, of groups of people and of records."""
    sides, nobodys, sensitive = subject.everybody, _is_nobodys(subject), subject.sensitive
    book, released = _book(sides), _released(subject, sides)
    all_keys = keys_of(subject.traces, sides.after.codebook.only(leaving(sides.after.codebook)))
    wanted = COUNTED - {"table_ratio"} if nobodys else subject.asked & COUNTED
    if not wanted or not (all_keys or subject.traces.known):
        return Findings()
    people = _people(subject)
    keys = [n for n in all_keys if n in people and n in released]
    targets = [n for n in sensitive if n in people and n in released and n not in all_keys]
    source = sides.before if nobodys else sides.after

    def known(columns: Sequence[str]) -> Known | None:
        tables = _groups(source, {n: people[n] for n in columns}), _groups(sides.after, {n: n for n in columns})
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


def _people(subject: Subject) -> dict[str, str]:
    """The columns of which a true value is known, and where it stands: as the release has them in memory.

    Of records that are somebody's it stands beside the released ones. What was coarsened since is known in the terms of
    the release, and ids are those of the release.
    """
    sides, traces = subject.everybody, subject.traces
    true = _true(subject, sides)
    if _is_nobodys(subject):
        return {n: n for n in true}
    schema = sides.after.schema
    where = {n: n if n in traces.replaced else sides.true(n) for n in true}
    coarse = [n for n in traces.coarsened if n in leaving(sides.after.codebook) and n not in traces.masked]
    where |= {n: n for n in coarse} | {n: sides.true(n) for n in coarse if _only_emptied(sides, n)}
    return {n: source for n, source in where.items() if source in schema}


def _only_emptied(sides: Sides, column: str) -> bool:
    """Whether all values of a column that are left are the true ones."""
    was, schema = sides.true(column), sides.after.schema
    if was == column or not (schema[was] == schema[column] or _both_lists(schema, was, column)):
        return False
    now, true = (_plain(n, schema[n]) for n in (column, was))

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.select((~((true == now) | now.is_null()).fill_null(True)).sum().cast(pl.Int64).alias("other"))

    return not sides.after.ask(Folded((was, column), f, lambda frames: frames.sum())).item()


def _both_lists(schema: Mapping[str, pl.DataType], one: str, other: str) -> bool:
    """Whether two columns are of a list of categories each: a release lists those that are left."""
    return isinstance(schema[one], pl.Enum) and isinstance(schema[other], pl.Enum)


def _plain(name: str, dtype: pl.DataType) -> pl.Expr:
    return pl.col(name).cast(pl.String) if isinstance(dtype, pl.Enum) else pl.col(name)
