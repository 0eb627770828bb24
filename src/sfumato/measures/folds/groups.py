"""Groups of people and of released records with equal keys, counted of all records wherever the rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.finding import Findings
from sfumato.data.hidden import leaving
from sfumato.data.query import Counts, Folded
from sfumato.data.roles import Role
from sfumato.data.sides import Sides
from sfumato.data.traces import keys_of, other_types
from sfumato.measures.folds.asking import each_told
from sfumato.measures.folds.reading import synthetic_throughout
from sfumato.measures.known import Known
from sfumato.measures.subject import Subject

__all__ = ["Groups", "both_lists", "plain", "released_types", "too_many", "true_types", "variables"]

TOO_MANY_KEYS = (
    "{figure} was left out: there are too many combinations of {columns} to count them. A limit on it counts as not "
    "met."
)


class Groups:
    """What intruders know of people and what was released of them, as combinations of columns and how many have each.

    Parameters
    ----------
    subject
        All records.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject, self.sides = subject, subject.everybody
        leaves = self.sides.after.codebook.only(leaving(self.sides.after.codebook))
        self.all_keys = keys_of(subject.traces, leaves)
        self.people = _people(subject)
        self.released = released_types(subject, self.sides)

    @property
    def keys(self) -> list[str]:
        """The keys that people and records have."""
        return [n for n in self.all_keys if n in self.people and n in self.released]

    @property
    def targets(self) -> list[str]:
        """What nobody must learn, as far as people and records have it."""
        return [n for n in self.subject.sensitive if n in self.people and n in self.released]

    def known(self, columns: Sequence[str]) -> Known | None:
        """Both sides by these columns; None where there are too many combinations."""
        sides = self.sides
        source = sides.before if synthetic_throughout(self.subject) else sides.after
        people = _groups(source, {n: self.people[n] for n in columns})
        records = _groups(sides.after, {n: n for n in columns})
        if people is None or records is None:
            return None
        return Known(people, records, variables(sides), self.all_keys, aligned=False)


def too_many(figure: str, columns: Sequence[str]) -> Findings:
    """A note in the place of a figure."""
    return Findings(notes=(TOO_MANY_KEYS.format(figure=figure, columns=", ".join(columns)),))


def variables(sides: Sides) -> Codebook:
    """What is known of the variables of both tables."""
    return Codebook({**sides.before.codebook, **sides.after.codebook.only(leaving(sides.after.codebook))})


def released_types(subject: Subject, sides: Sides) -> pl.Schema:
    """Types of the released columns that are compared: ids of records that are nobody's say nothing."""
    left_out = variables(sides).the(Role.RECORD) if synthetic_throughout(subject) else None
    return pl.Schema({n: sides.after.schema[n] for n in leaving(sides.after.codebook) if n != left_out})


def true_types(subject: Subject, sides: Sides) -> pl.Schema:
    """Types of the true columns that are compared: those that were not coarsened, nor changed their type, since."""
    schema = pl.Schema({n: sides.before.schema[n] for n in leaving(sides.before.schema)})
    if synthetic_throughout(subject):
        return schema
    gone = {*subject.traces.coarsened, *other_types(subject.traces, schema, released_types(subject, sides))}
    return pl.Schema({n: t for n, t in schema.items() if n not in gone})


def _groups(data: Parted, columns: Mapping[str, str]) -> pl.DataFrame | None:
    """How many records there are of each combination of columns, by the names that they get; None of too many."""
    if not columns:
        return each_told(data, [Counts(())])[0]
    named = [pl.col(source).alias(n) for n, source in columns.items()]
    book = Codebook({n: data.codebook[source] for n, source in columns.items()})
    return each_told(data.map(lambda batch: batch.select(named), codebook=book), [Counts(tuple(columns))])[0]


def _people(subject: Subject) -> dict[str, str]:
    """The columns of which a true value is known, and where it stands: as the release has them in memory.

    Of records that are somebody's it stands beside the released ones. What was coarsened since is known in the terms of
    the release, and ids are those of the release.
    """
    sides, traces = subject.everybody, subject.traces
    true = true_types(subject, sides)
    if synthetic_throughout(subject):
        return {n: n for n in true}
    schema = sides.after.schema
    where = {n: n if n in traces.replaced else sides.true(n) for n in true}
    coarse = [n for n in traces.coarsened if n in leaving(sides.after.codebook) and n not in traces.masked]
    where |= {n: n for n in coarse} | {n: sides.true(n) for n in coarse if _only_emptied(sides, n)}
    return {n: source for n, source in where.items() if source in schema}


def _only_emptied(sides: Sides, column: str) -> bool:
    """Whether all values of a column that are left are the true ones."""
    was, schema = sides.true(column), sides.after.schema
    if was == column or not (schema[was] == schema[column] or both_lists(schema, was, column)):
        return False
    now, true = (plain(n, schema[n]) for n in (column, was))

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.select((~((true == now) | now.is_null()).fill_null(True)).sum().cast(pl.Int64).alias("other"))

    return not sides.after.ask(Folded((was, column), f, lambda frames: frames.sum())).item()


def both_lists(schema: Mapping[str, pl.DataType], one: str, other: str) -> bool:
    """Whether two columns are of a list of categories each: a release lists those that are left."""
    return isinstance(schema[one], pl.Enum) and isinstance(schema[other], pl.Enum)


def plain(name: str, dtype: pl.DataType) -> pl.Expr:
    """A column whose values can be compared with those of another list of categories."""
    return pl.col(name).cast(pl.String) if isinstance(dtype, pl.Enum) else pl.col(name)
