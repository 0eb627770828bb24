"""The plan: what the variables are, which steps are taken, and what must hold at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl
from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset
from sfumato.data.described import Described
from sfumato.data.detectors import looks_identifying
from sfumato.data.files.hierarchies import HierarchyFiles, digest
from sfumato.data.files.named import AS_RUN
from sfumato.data.hidden import HIDDEN
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.kinds import Columns, Facts, sniff_kinds
from sfumato.data.problems import problems_of
from sfumato.data.roles import IDS, Kind, Role
from sfumato.data.traces import Traces, keys_of
from sfumato.data.yaml import MAX_BYTES, Lines, dump_yaml, load_yaml, plain
from sfumato.errors import DataError, PlanError, Problem
from sfumato.measures.earlier import MOST_EARLIER
from sfumato.measures.intruding import Scenario
from sfumato.measures.registry import figures
from sfumato.methods.base import Method
from sfumato.plan.amounts import no_amounts
from sfumato.plan.earlier import EarlierRelease
from sfumato.plan.known import merged, nameless, unfit
from sfumato.plan.knows import Knows, knows_problems
from sfumato.plan.limits import Limit, no_measure
from sfumato.plan.reading import read
from sfumato.plan.sequence import sequence_problems
from sfumato.plan.step import AnyStep, step_words
from sfumato.plan.tables import Access, DeclaredLink, TablePlan, about_persons, refuse_names
from sfumato.plan.traces import traces_of
from sfumato.plan.unknown import BETRAYS, Unknown, betrayed, unknown_problems

__all__ = ["FORMAT", "EarlierRelease", "Plan"]

FORMAT: Literal[1] = 1
"""Version of the plan's format."""

_ONCE = (*IDS, Role.WEIGHT)


class Plan(Described):
    """What is done to a table, in a form that can be written down, checked and repeated.

    Parameters
    ----------
    sfumato
        Version of the format, 1.
    title
        What the release is called.
    description
        Anything that readers of the release should know.
    variables
        What each variable is; any not listed has role other, and its kind is taken from the data.
    steps
        The steps in order.
    limits
        What must hold for the release to be written.
    knows
        By scenario what its intruder knows, where that is not every key, exactly: `neighbour`, `cross_match`, `trawl`,
        `claim`.
    unknown
        Released columns that nobody outside knows of anybody, and why: the custodian's word, which is published.
    order
        `input`: records leave in the order of the input, which may tell who is who. Else they leave in an order of
        their own, keyed on record and plan; without a record column, sorted by what is released of them.
    earlier
        Earlier releases of the same people, newest first, see `EarlierRelease`. Not part of the plan as run or digest.
    tables
        In place of `variables`, `steps`, `limits`, `knows` and `unknown`: for each table its file and these.
    links
        Links between tables that the release keeps; every other one that is found stops it. A column that links records
        to persons is the `person`, see `about_persons`.
    access
        How the release is accessed: `open`, `safeguarded` (registered users) or `controlled` (a safe room).
    consent
        What people agreed to that allows this release, in words for its readers; it holds nothing about single people.

    Examples
    --------
    >>> from sfumato.methods.drop import Drop
    >>> plan = Plan(title="cohort", variables={"name": {"role": "identifier"}}, steps=[Drop(columns=["name"])])
    >>> Plan.from_yaml(plan.to_yaml()) == plan
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sfumato: Literal[1] = FORMAT
    title: str = "Untitled"
    description: str | None = None
    variables: dict[str, Variable] = Field(default_factory=dict)
    steps: tuple[SerializeAsAny[AnyStep], ...] = ()
    limits: tuple[Limit, ...] = ()
    knows: dict[Scenario, Knows] = Field(default_factory=dict)
    unknown: tuple[Unknown, ...] = ()
    order: Literal["input"] | None = None
    earlier: tuple[EarlierRelease, ...] = Field(default=(), max_length=MOST_EARLIER)
    tables: dict[str, TablePlan] = Field(default_factory=dict)
    links: tuple[DeclaredLink, ...] = ()
    access: Access | None = None
    consent: str | None = None

    _lines: Lines = PrivateAttr(default_factory=dict)
    _base: Path = PrivateAttr(default_factory=Path)
    _table: str = PrivateAttr(default="")

    @field_validator("tables")
    @classmethod
    def _names(cls, tables: dict[str, TablePlan]) -> dict[str, TablePlan]:
        return {**refuse_names(tables)}

    @model_validator(mode="after")
    def _one_table_or_several(self) -> Self:
        own = (self.variables, self.steps, self.limits, self.knows, self.unknown, self.earlier)
        if self.tables and any(own):
            said = "variables, steps, limits, knows, unknown"
            raise ValueError(f"with `tables`, what is said of one table ({said}) stands in the table")
        known = f"tables: {', '.join(self.tables) or 'none'}"
        for link in self.links:
            if strange := sorted(link.tables - self.tables.keys()):
                named = ", ".join(map(repr, strange))
                raise ValueError(f"`links` names {named}, which is no table of the plan; {known}")
        self.tables.update(about_persons(self.tables, self.links))
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash(self.digest)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Plan:
        """Read a plan file.

        Raises
        ------
        PlanError
            With every problem at once, each with its line.
        """
        try:
            with Path(path).open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
            text = raw.decode("utf-8-sig")
        except FileNotFoundError:
            raise PlanError([f"there is no file {str(path)!r}"]) from None
        except OSError as error:
            raise PlanError([f"{str(path)!r} cannot be read: {error.strerror}"]) from None
        except UnicodeDecodeError:
            raise PlanError([f"{str(path)!r} is not a text file in UTF-8"]) from None
        return cls.from_yaml(text, Path(path).parent)

    @classmethod
    def from_yaml(cls, text: str, folder: Path = Path()) -> Plan:
        """Read a plan from YAML text, as if it lay in a folder; errors as in `load`."""
        value, lines = load_yaml(text)
        if not isinstance(value, Mapping):
            raise PlanError(["a plan is a mapping that begins with `sfumato: 1`"])
        given = value.get("sfumato")
        if isinstance(given, int) and given > FORMAT:
            newer = (
                f"this plan has format {given}; this version of sfumato reads format {FORMAT}. Install a newer sfumato."
            )
            raise PlanError([Problem(newer, lines["sfumato",], ("sfumato",))])
        if given is None:
            raise PlanError(["the key `sfumato: 1`, the version of the format, is missing"])
        try:
            plan = cls.model_validate({k: v if v is not None else _EMPTY.get(k) for k, v in value.items()})
        except ValidationError as error:
            raise PlanError(problems_of(error, value, lines, place=_where, words=step_words())) from None
        plan._lines = lines
        return plan._seen_from(folder)

    def to_plain(self) -> dict[str, Any]:
        """Plain values, every parameter written out; without `earlier`, which says where the custodian keeps files."""
        values: dict[str, Any] = {"sfumato": self.sfumato, "title": self.title}
        values |= {"description": self.description} if self.description else {}
        if self.tables:
            values["tables"] = {
                name: {"file": t.file, **self.table(name)._own(), **({"access": t.access} if t.access else {})}
                for name, t in self.tables.items()
            }
            if self.links:
                values["links"] = [{"from": link.from_, "to": link.to, "on": list(link.on)} for link in self.links]
        else:
            values |= self._own()
        if self.order:
            values["order"] = self.order
        if self.access:
            values["access"] = self.access
        if self.consent:
            values["consent"] = self.consent
        return values

    def _own(self) -> dict[str, Any]:
        """What is said of one table."""
        values: dict[str, Any] = {"variables": Codebook(self.variables).to_plain()}
        values["steps"] = [plain(self._as_run(i)) for i in range(len(self.steps))]
        if self.limits:
            values["limits"] = [limit.model_dump(exclude_none=True) for limit in self.limits]
        if self.knows:
            values["knows"] = {name: plain(each.model_dump(exclude_defaults=True)) for name, each in self.knows.items()}
        if self.unknown:
            values["unknown"] = [plain(each.model_dump()) for each in self.unknown]
        return values

    def table(self, name: str) -> Plan:
        """The plan of one of several tables, as a plan of that table alone.

        Raises
        ------
        PlanError
            Where the plan has no such table.

        Examples
        --------
        >>> plan = Plan(title="Farms", tables={"visits": {"file": "visits.csv"}})
        >>> plan.table("visits").title
        'Farms: visits'
        """
        if name not in self.tables:
            raise PlanError([f"the plan has no table {name!r}; tables: {', '.join(self.tables) or 'none'}"])
        own = self.tables[name]
        plan = Plan(
            title=f"{self.title}: {name}",
            description=self.description,
            variables=own.variables,
            steps=own.steps,
            limits=own.limits,
            knows=own.knows,
            unknown=own.unknown,
            order=self.order,
            access=self.access_of(name),
            consent=self.consent,
        )
        plan._lines = {path[2:]: line for path, line in self._lines.items() if path[:2] == ("tables", name)}
        plan._table = name
        return plan._seen_from(self._base)

    def with_table(self, name: str, plan: Plan) -> Plan:
        """The plan with other variables, steps and limits of one of several tables.

        Parameters
        ----------
        name
            The table.
        plan
            A plan of it alone, as `table` gives it.
        """
        said = ("variables", "steps", "limits", "knows", "unknown")
        own = {name: getattr(plan, name) for name in said}
        tables = self.tables | {name: self.tables[name].model_copy(update=own)}
        return self.model_copy(update={"tables": tables}).beside(self)

    def only(self, names: Collection[str]) -> Plan:
        """The plan of some of several tables, and of the links among them.

        Examples
        --------
        >>> plan = Plan(title="Farms", tables={n: {"file": f"{n}.csv"} for n in ("farmers", "visits")})
        >>> list(plan.only(["visits"]).tables)
        ['visits']
        """
        tables = {name: table for name, table in self.tables.items() if name in names}
        links = tuple(link for link in self.links if link.tables <= tables.keys())
        return self.model_copy(update={"tables": tables, "links": links}).beside(self)

    def the_table(self, name: str | None) -> Plan:
        """The plan itself where it is of one table, else that of the table named.

        Raises
        ------
        PlanError
            Where a table must be named, or none can.
        """
        if name is not None:
            return self.table(name)
        if self.tables:
            raise PlanError([f"the plan has several tables: name one (--table, table=): {', '.join(self.tables)}"])
        return self

    def access_of(self, table: str) -> Access | None:
        """How one of several tables is accessed: as it says itself, else as the plan does."""
        return self.tables[table].access or self.access

    @property
    def table_name(self) -> str:
        """The table's name in a plan of several; else empty."""
        return self._table

    def _as_run(self, step: int) -> dict[str, Any]:
        """The parameters of a step; of files that it names the digests and their names, not where they lie."""
        values = {"do": self.steps[step].name, **self.steps[step].model_dump(context=AS_RUN)}
        if values.get("hierarchies"):
            values["hierarchies"]["folder"] = Path(values["hierarchies"]["folder"]).name
        if found := self._hierarchies.get(step):
            values["hierarchies"]["sha256"] = {key: digest(hierarchy) for key, hierarchy in found.items()}
        return values

    def beside(self, other: Plan) -> Plan:
        """The plan, as if it lay where another does: files and folders that it names are looked for there."""
        return self._seen_from(other._base)

    def _seen_from(self, base: Path) -> Plan:
        self._base = base
        for known in ("digest", "_hierarchies"):  # of what a copy was made from
            self.__dict__.pop(known, None)
        steps = (*self.steps, *(step for table in self.tables.values() for step in table.steps))
        for file in (file for step in steps for file in step.files):
            file.lies_beside(base)
        return self

    @cached_property
    def _hierarchies(self) -> dict[int, dict[str, Hierarchy]]:
        """By step, the hierarchies that it takes from files; none of a plan as it was run whose folder is elsewhere."""
        found = {}
        for i, step in enumerate(self.steps):
            files: HierarchyFiles | None = getattr(step, "hierarchies", None)
            if files is not None and not (files.sha256 and not (self._base / files.folder).exists()):
                found[i] = files.read(self._base, step.changes)
        return found

    def to_yaml(self) -> str:
        """The plan as YAML."""
        return dump_yaml(self.to_plain())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan; it changes with any parameter."""
        return hashlib.sha256(self.to_yaml().encode()).hexdigest()

    def codebook(self, frame: Columns, known: Codebook) -> Codebook:
        """What is known of variables: the plan's word first, then the file's; kinds left open from the data."""
        both = {n: merged(self.variables.get(n), known[n] if n in known else Variable()) for n in frame.columns}
        for n, hierarchy in ((n, h) for found in self._hierarchies.values() for n, h in found.items()):
            if n in both:
                both[n] = both[n].model_copy(update={"hierarchy": hierarchy.to_variable()})
        book = sniff_kinds(frame, Codebook(both))
        return nameless(book, self.variables) if any(step.hides_categories for step in self.steps) else book

    def check_kinds(self, frame: Columns) -> None:
        """Refuse kinds that the plan states and the data do not have.

        Raises
        ------
        PlanError
            With every problem at once.
        """
        stated = {n: v for n, v in self.variables.items() if n in frame.columns and v.kind is not None}
        problems = [
            self._problem(f"column {n!r} is said to be {variable.kind}, but {why}", "variables", n)
            for n, variable in stated.items()
            if (why := unfit(frame.get_column(n), variable)) is not None
            and not (variable.kind == Kind.DATE and self._read_by_its_step(n))
        ]
        if problems:
            raise PlanError(problems)

    def read(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The table as the plan has it read.

        Codes that it calls gaps (`gap: true`) are null; texts are dates where it says so and all of them are, in ISO
        8601, and numbers where only such codes made the column one of text.
        """
        return read(frame, self.variables)

    def _read_by_its_step(self, column: str) -> bool:
        """Whether the first step that looks at a column drops it, or reads dates in any form."""
        touched = (step for step in self.steps if column in (*step.changes, *step.strata, *step.reads))
        first = next(touched, None)
        return first is not None and first.name in ("drop", "coarsen_date")

    def check_roles(self, frame: Columns, known: Codebook) -> None:
        """Refuse to release columns that look like identifiers and whose role nobody has said.

        Any role that the plan states, `other` too, is a word on the matter; so is what the file knows.

        Raises
        ------
        PlanError
            With every problem at once.
        """
        book = Codebook({n: known[n] if n in known else Variable() for n in frame.columns})
        unknown = {n: v.model_copy(update={"role": Role.IDENTIFIER}) for n, v in book.items() if v.role == Role.OTHER}
        released = self._described(book.replace(**unknown)).with_role(Role.IDENTIFIER)  # those that no step replaces
        record = any(v.role == Role.RECORD for v in (*book.values(), *self.variables.values()))
        unsaid = [n for n, v in book.items() if v.role == Role.OTHER and n in released and not self._says_role(n)]
        problems = [
            self._problem(
                f"column {n!r} looks like an identifier ({why}) and would be released, and the plan does not say what "
                f"it is. Add {{do: drop, columns: [{n}]}}, or say its role under variables: {n}: {{role: other}}",
                *("variables", n),
            )
            for n in unsaid
            if (why := looks_identifying(Facts(frame.get_column(n), book[n]), record=record)) is not None
        ]
        if problems:
            raise PlanError(problems)

    def check_amounts(self, frame: Columns, known: Codebook) -> None:
        """Refuse to mask or smooth whole numbers that look like dates or codes and whose kind nobody has said.

        Raises
        ------
        PlanError
            With every problem at once.
        """
        found = no_amounts(self.steps, self.variables, frame, known)
        if problems := [self._problem(why, "variables", n) for n, why in found]:
            raise PlanError(problems)

    def _says_role(self, column: str) -> bool:
        return column in self.variables and "role" in self.variables[column].model_fields_set

    def _described(self, codebook: Codebook) -> Codebook:
        """The codebook after all steps; what cannot be described is among the problems of the step itself."""
        for step in self.steps:
            with suppress(DataError):
                codebook = step.describe(codebook)
        return codebook

    def guesses(self, frame: Columns, known: Codebook) -> tuple[str, ...]:
        """A sentence for every variable whose role or kind the plan does not say."""
        book = self.codebook(frame, known)
        return tuple(f"{n}: taken as {v.role}, {v.kind}" for n, v in book.items() if n not in self.variables)

    def check(self, codebook: Codebook, *, released: bool = True) -> None:
        """Refuse a plan that cannot run on a table with this codebook, before any data are touched.

        Parameters
        ----------
        codebook
            What is known about the table's variables.
        released
            Whether its records are released; else identifiers may stay, and earlier releases do not matter.

        Raises
        ------
        PlanError
            With every problem at once.
        """
        problems = list(self._variable_problems(codebook))
        book = codebook
        for i, step in enumerate(self.steps):
            found = [
                *step.check(book),
                *self._perhaps_codes(step, codebook),
                *sequence_problems(self.steps[:i], step, book),
            ]
            problems += [self._problem(p, "steps", i, place=f"step {i + 1} ({step.name})") for p in found]
            with suppress(DataError):  # of unknown columns, which are among the problems already
                book = step.describe(book)
        identifiers = book.with_role(Role.IDENTIFIER) if released else ()
        problems += [
            self._problem(
                f"variable {n!r} is an identifier and no step drops or replaces it; add: {{do: drop, columns: [{n}]}}",
                *("variables", n),
            )
            for n in identifiers
        ]
        problems += self._apart_from_earlier(codebook) if released else ()
        for i, limit in enumerate(self.limits):
            if limit.measure not in figures():
                problems.append(self._problem(no_measure(limit.measure), "limits", i))
        for name, knows in self.knows.items():
            wrong = knows_problems(knows, book, codebook)
            problems += [self._problem(p, "knows", name, place=f"knows, {name}") for p in wrong]
        known = {*keys_of(self.traces, book), *self.traces.strata}
        for i, each in enumerate(self.unknown):
            wrong = unknown_problems(each, book, codebook, known, ordered=self.order == "input")
            problems += [self._problem(p, "unknown", i, place=f"unknown {i + 1}") for p in wrong]
        if problems:
            raise PlanError(problems)

    def refuse_betrayal(self, data: Dataset) -> None:
        """Refuse published reasons that hold a value of an identifier or id of the data, with a `PlanError`."""
        told = betrayed(self.unknown, data)
        if problems := [self._problem(BETRAYS, "unknown", i, place=f"unknown {i + 1}") for i in told]:
            raise PlanError(problems)

    def _variable_problems(self, codebook: Codebook) -> Iterator[Problem]:
        for n in self._strangers(codebook):
            yield self._problem(f"variable {n!r} is not in the data", "variables", n)
        for n in codebook:
            if n.startswith(HIDDEN):
                yield Problem(f"names that begin with {HIDDEN!r} are sfumato's own")
        for role in _ONCE:
            if len(several := codebook.with_role(role)) > 1:
                yield Problem(f"only one variable can have the role {role}: {', '.join(several)}")

    def _perhaps_codes(self, step: Method, codebook: Codebook) -> Iterator[str]:
        """Whole numbers that nobody called amounts: they may be codes, which must not be averaged."""
        for n in step.changes if step.averages else ():
            stated = n in self.variables and self.variables[n].kind is not None
            if n in codebook and codebook[n].kind == Kind.INTEGER and not stated:
                yield (
                    f"column {n!r} holds whole numbers, which may be codes. If they are amounts, say so under "
                    f"variables: {n}: {{kind: integer}} (or continuous)"
                )

    def _apart_from_earlier(self, codebook: Codebook) -> Iterator[Problem]:
        """Earlier releases, whose records are found by ids that a step replaces."""
        record = codebook.the(Role.RECORD)
        if any(each.truth for each in self.earlier) and any(
            step.replaces and record in step.changes for step in self.steps
        ):
            said = (
                f"earlier releases are compared record by record, and a step replaces the ids in {record}: measure "
                f"them with a plan without that step, which changes no other column"
            )
            yield self._problem(said, "earlier")

    def _strangers(self, codebook: Codebook) -> Iterator[str]:
        made = {n for step in self.steps for n in step.changes if step.name == "derive"}
        return (n for n in self.variables if n not in codebook and n not in made)

    def _problem(self, message: str, *path: str | int, place: str = "") -> Problem:
        return Problem(message, self._lines.get(path), path, place)

    def stated(self, step: int) -> frozenset[str]:
        """The keys that the plan's file has for a step (numbered from 0); none where the plan is from no file."""
        return frozenset(str(path[2]) for path in self._lines if len(path) == 3 and path[:2] == ("steps", step))

    def bound(self, codebook: Codebook) -> Plan:
        """The plan with the columns of every step named, for a table with this codebook, on which it can run."""
        steps = []
        for step in self.steps:
            steps.append(step.bound(codebook))
            codebook = step.describe(codebook)
        made = self.model_copy(update={"steps": tuple(steps)})
        made.__dict__.pop("digest", None)
        return made if made.steps != self.steps else self

    def preparing(self) -> tuple[Method, ...]:
        """The steps before the first one that masks; where none does, before the first that coarsens."""
        masking = [i for i, step in enumerate(self.steps) if step.masks]
        coarsening = [i for i, step in enumerate(self.steps) if step.coarsens]
        return self.steps[: (masking or coarsening or [len(self.steps)])[0]]

    @property
    def late(self) -> tuple[Method, ...]:
        """The steps that do not prepare."""
        return self.steps[len(self.preparing()) :]

    @property
    def traces(self) -> Traces:
        """What the steps do to columns."""
        known = (n for each in self.knows.values() for n in each.keys or ())
        return traces_of(self.steps, self.late, known)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema of the format, from which editors complete."""
        schema = super().json_schema()
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "required": ["sfumato"]}


_EMPTY: dict[str, Any] = {
    "variables": {},
    "steps": (),
    "limits": (),
    "knows": {},
    "unknown": (),
    "title": "Untitled",
    "earlier": (),
    "tables": {},
    "links": (),
}


def _where(path: Sequence[str | int]) -> str:
    if len(path) > 2 and path[0] == "tables":
        return f"table {path[1]}, {_where(path[2:])}"
    kind = {"steps": "step", "limits": "limit", "unknown": "unknown"}.get(str(path[0])) if len(path) > 1 else None
    if kind is not None and isinstance(path[1], int):
        return ", ".join([f"{kind} {path[1] + 1}", *map(str, path[2:])])
    return ", ".join(map(str, path))
