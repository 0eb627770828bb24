"""Tables beside chance of all records, by counts of their cells over parts: `sfumato.measures.utility.table_ratio`."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.finding import Findings
from sfumato.data.query import Folded
from sfumato.data.roles import Role
from sfumato.data.sides import Sides
from sfumato.measures.folds.groups import both_lists, plain, released_types, true_types, variables
from sfumato.measures.folds.reading import synthetic_throughout
from sfumato.measures.subject import Subject
from sfumato.measures.utility.cells_folded import Counted, look
from sfumato.measures.utility.stacked import compared
from sfumato.measures.utility.table_ratio import among_copies, findings_of, findings_of_copies

__all__ = ["TOO_MANY_CELLS", "folded"]

TOO_MANY_CELLS = (
    "Tables beside chance: there is no figure of tables that have too many cells to count, and they are in no mean: "
    "{tables}."
)


def folded(subject: Subject) -> Findings:
    """The lines `table_ratio` of one copy; all copies are looked at together, once.

    Parameters
    ----------
    subject
        What a plan did to columns, and all records.
    """
    sides = subject.everybody
    return sides.once("table_ratio", lambda: _of_copies(subject, sides.copies()))[sides.number]


def _of_copies(subject: Subject, copies: Sequence[Sides]) -> list[Findings]:
    """The lines of each copy, as of tables in memory."""
    first, nobodys = copies[0], synthetic_throughout(subject)
    book, true, released = variables(first), true_types(subject, first), released_types(subject, first)
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
    if any(schema[was] != schema[now] and not both_lists(schema, was, now) for was, now in pairs):
        return None
    differs = [plain(was, schema[was]).ne_missing(plain(now, schema[now])) for was, now in pairs]

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.select(pl.any_horizontal(pl.lit(False), *differs).sum().cast(pl.Int64).alias("moved"))

    return Folded(tuple(n for pair in pairs for n in pair), f, lambda frames: frames.sum())
