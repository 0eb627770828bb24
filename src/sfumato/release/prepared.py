"""Tables to be assessed, as a plan's preparing steps leave them, with what is said of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.pair import Pair
from sfumato.data.profile import profile
from sfumato.data.roles import Role
from sfumato.draws import PUBLIC, Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.plan.plan import Plan
from sfumato.plan.reading import gaps
from sfumato.release.named import Named
from sfumato.release.package.papers import papers_of
from sfumato.release.pairing import Align, numeric_columns, pair_tables, refuse_unknown
from sfumato.release.run import run_steps
from sfumato.release.secret import Secret
from sfumato.release.taking import Published, Taking

__all__ = ["OTHER_TYPE", "Prepared"]

GUESSED = (
    "What an intruder may know was guessed from names and values: {columns}. Say otherwise with --keys, or in a plan: "
    "`sfumato init FILE --out plan.yaml`, then `sfumato protect plan.yaml FILE --out release`."
)
OTHER_TYPE = (
    "{columns}: numbers in one table and categories in the other (coarsened, perhaps), left out of every comparison."
)
NO_KEYS = (
    "No column looks like one that an intruder may know. Name those that are with --keys, or in a plan: `sfumato init "
    "FILE --out plan.yaml`."
)


@dataclass(frozen=True)
class Prepared:
    """The tables to assess, prepared, with what is said of them, and the original as it was read."""

    before: PolarsDataset
    after: PolarsDataset | None
    plan: Plan
    read: PolarsDataset

    @classmethod
    def prepare(
        cls, before: PolarsDataset, after: PolarsDataset | None, plan: Plan | None, secret: Secret | None = None
    ) -> Prepared:
        """Run the plan's preparing steps on the original; a protected table has been through them.

        Ids that the plan replaces become those of the protected table where the secret is known.
        """
        plan = plan or Plan()
        before = replace(before, frame=plan.read(before.frame))
        after = after if after is None else replace(after, frame=plan.read(after.frame))
        book = plan.codebook(before.frame, before.codebook)
        before = replace(before, frame=gaps(before.frame, book))  # those of the file, where its codes are not told
        if plan.steps:
            plan.check(book)
        plan.check_kinds(before.frame)
        draws = PUBLIC if secret is None else Draws(secret.value)  # of one table alone, any ids will do
        given = PolarsDataset(before.frame, book, before.suffix)
        told = None if after is None else papers_of(after)  # cuts that were taken over, or rounded at random
        taking = None if told is None else Taking(told.fingerprint, (Published.of(told),))
        entered = run_steps(
            plan.preparing(), given, draws, table=plan.table_name, plan=plan.digest, taking=taking
        ).after
        if after is not None:
            described = entered.codebook
            if secret is not None:
                entered = _with_given_ids(entered, after, plan, draws)
            for step in plan.late:
                described = step.describe(described)
            known = {n: v for n, v in described.items() if n in after.columns}
            sniffed = plan.codebook(after.frame, Codebook({**after.codebook, **known}))
            after = PolarsDataset(after.frame, Codebook({**sniffed, **known}), after.suffix)
        return cls(entered, after, plan, given)

    @classmethod
    def of_release(cls, data: PolarsDataset, plan: Plan) -> Prepared:
        """A table that is itself the release of a plan."""
        return cls(data, None, plan, data)

    def guessed(self, named: Named) -> tuple[Prepared, tuple[str, ...]]:
        """The one table with the roles that `init` would write, under those that were named, and a note on it."""
        guesses = {g.name: g.variable for g in profile(self.before.frame, self.before.codebook)}
        before = replace(self.before, codebook=named.on(Codebook(guesses)))
        keys = before.codebook.with_role(Role.KEY)
        note = GUESSED.format(columns=", ".join(keys)) if keys else NO_KEYS
        return replace(self, before=before), (note,)

    def named(self, named: Named) -> Prepared:
        """The tables with the roles that somebody named.

        Raises
        ------
        DataError
            Where columns cannot have these roles.
        """
        if not named:
            return self
        tables = [t for t in (self.before, self.after) if t is not None]
        for table in tables:
            named.check(table.frame.schema)
            named.check_weights(table.frame.lazy(), table.codebook)
        told = [replace(t, codebook=named.on(t.codebook)) for t in tables]
        return replace(self, before=told[0], after=told[1] if len(told) > 1 else None)

    @property
    def released_frame(self) -> pl.DataFrame:
        """The protected table's rows."""
        assert self.after is not None
        return self.after.frame

    @property
    def released(self) -> Codebook:
        """What is known about the protected table's variables."""
        assert self.after is not None
        return Codebook({n: self.codebook[n] for n in self.after.columns if n in self.codebook})

    @property
    def codebook(self) -> Codebook:
        """What is known about the variables of both."""
        return Codebook({**(self.after.codebook if self.after else {}), **self.before.codebook})

    def columns(self, given: Sequence[str] | None, record: str | None = None) -> tuple[str, ...]:
        """The columns asked for, else those that the plan masks, else every numeric one but the record's id."""
        if given:
            refuse_unknown(given, self.before.frame, "the original")
            schema = self.before.frame.schema
            not_numeric = [n for n in given if not (schema[n].is_numeric() or schema[n] == pl.Boolean)]
            if not_numeric:
                raise DataError(
                    f"Column {', '.join(map(repr, not_numeric))} is not numeric. Name numeric columns only."
                )
            return tuple(given)
        common = [n for n in self.before.columns if n != record and (self.after is None or n in self.after.columns)]
        masked = [n for n in self.plan.traces.masked if n in common]
        numeric = numeric_columns(self.before.codebook, masked or common)  # of exchanged columns some hold categories
        return tuple(n for n in numeric if self.after is None or not self.other_type(n))

    def comparable(self, *given: Sequence[str] | None) -> tuple[Prepared, tuple[str, ...]]:
        """The tables without columns that are numbers in one and categories in the other, and a note that says so.

        Columns that somebody asks for stay, and are refused where they are needed as numbers.
        """
        assert self.after is not None, "a pair needs two tables"
        asked = {n for names in given for n in names or ()}
        coarse = set(self.plan.traces.coarsened) & set(self.after.columns)
        changed = [n for n in self.before.columns if n not in asked and (n in coarse or self.other_type(n))]
        if not changed:
            return self, ()
        before = replace(self.before, frame=self.before.frame.drop(changed))
        after = replace(self.after, frame=self.after.frame.drop(changed))
        return replace(self, before=before, after=after), (OTHER_TYPE.format(columns=", ".join(changed)),)

    def other_type(self, column: str) -> bool:
        """Whether a column is of numbers in one table and of something else in the other."""
        assert self.after is not None
        if column not in self.after.columns:
            return False
        one, two = (t.frame.schema[column] for t in (self.before, self.after))
        texts = sum(dtype in (pl.String, pl.Categorical, pl.Enum) for dtype in (one, two))
        dates = one.is_temporal() + two.is_temporal()
        numbers = one.is_numeric() or two.is_numeric()
        return (texts == 1 and bool(numbers or dates)) or (dates == 1 and numbers)

    def by(self, given: Sequence[str] | None) -> tuple[str, ...]:
        """The strata asked for, else the plan's."""
        if given:
            refuse_unknown(given, self.before.frame, "the original")
            return tuple(given)
        both = set(self.before.columns) & set(self.after.columns if self.after else self.before.columns)
        return tuple(n for n in self.plan.traces.strata if n in both)

    def record(self, given: str | None) -> str | None:
        """The record column named, else the plan's where both tables have it."""
        if given is not None:
            return given
        known = self.before.codebook.the(Role.RECORD)
        return known if known and self.after is not None and known in self.after.columns else None

    def told_apart(self, record: str | None, secret: Secret | None) -> bool:
        """Whether the plan replaced the ids on which the tables are to be joined, and nobody gave the secret."""
        return (
            secret is None
            and record is not None
            and any(step.replaces and record in step.changes for step in self.plan.steps)
        )

    def pair(
        self, columns: Sequence[str] | None, by: Sequence[str] | None, record: str | None, align: Align | None
    ) -> Pair:
        """Both tables, joined or aligned."""
        assert self.after is not None, "a pair needs two tables"
        return pair_tables(
            self.before.frame,
            self.after.frame,
            self.codebook,
            columns=self.columns(columns, record),
            by=self.by(by),
            record=record,
            align=align,
        )


def _with_given_ids(before: PolarsDataset, after: PolarsDataset, plan: Plan, draws: Draws) -> PolarsDataset:
    """The original with the ids that late steps of its plan gave to the release."""
    for step in (step for step in plan.late if step.replaces and set(step.changes) <= set(before.columns)):
        if getattr(step, "format", None) == "number" and len(before) != len(after):
            raise DataError(
                f"{step.name} numbered the ids of a release from which steps left records out, so that they are not "
                "found again in the original. Take format: code."
            )
        before = run_steps([step], before, draws, table=plan.table_name, plan=plan.digest).after
    return before
