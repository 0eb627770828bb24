"""Put synthetic values in the place of true ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from sfumato.data.codebook import Codebook, Scalar, Variable
from sfumato.data.described import Described
from sfumato.data.disclosure import COPY, Synthetic
from sfumato.data.expression import parse
from sfumato.data.hidden import HIDDEN
from sfumato.data.roles import IDS, NUMERIC_KINDS, Kind, Role
from sfumato.errors import FormulaError
from sfumato.methods.base import Method, Stage, needs_unit, unit_problems, unknown_problems
from sfumato.methods.checks import strata_problems
from sfumato.methods.drawn_grid import with_multiples
from sfumato.methods.synthesise.copies import SWEEPS, Ruled, Synthesis
from sfumato.methods.synthesise.households.stage import MakingHouseholds
from sfumato.methods.synthesise.keep import Kept, in_order, in_turn, read
from sfumato.methods.synthesise.lookup import Lookup
from sfumato.methods.synthesise.ordered import Order
from sfumato.methods.synthesise.stage import MISSING, Making, Replaces
from sfumato.methods.synthesise.structure import Structure

__all__ = ["Rule", "Synthesise"]

_MOST_COPIES, _MOST_SWEEPS = 100, 100
Models = Literal["cart", "parametric"]
Methods = Literal["cart", "parametric", "structure"]


class Rule(Described):
    """What must hold in every synthetic record.

    Parameters
    ----------
    if
        A condition on columns that are drawn before: `age < 16`.
    column
        The column that it settles.
    value
        The value that the column has where the condition holds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    condition: str = Field(alias="if")
    column: str
    value: Scalar | None

    @field_validator("condition")
    @classmethod
    def _parses(cls, condition: str) -> str:
        return _checked(condition)


def _checked(formula: str) -> str:
    try:
        parse(formula)
    except FormulaError as error:
        raise ValueError(str(error)) from None
    return formula


class Synthesise(Method):
    """Draw values from models in the place of true ones: of all columns, of some, or of missing cells.

    Each column is drawn given those before it, by trees whose leaves hold `min_leaf` donors, so that relations between
    columns are kept as far as the trees see them. All columns: nobody's record is in the release, though what is
    common in the data is common in it. Some columns, or the records of `where`: the people are true, and only what was
    drawn is not. `where: missing`: missing cells are filled in; that prepares and protects nobody.

    Protects against an intruder who looks for a person's record: in full synthesis rows are nobody's, and drawn values
    are a donor's of a leaf of many. It does not protect whoever is so different from all others that the leaf tells
    them, nor by itself against being told for a member or having a value guessed (`replicated_uniques`, `membership`
    and `inference` measure it), nor from what the data teach about people alike. A leaf of donors releases true values:
    top-code extremes before, or draw between donors (`smooth`).

    Several copies let `fit` give honest intervals. Relations that the models leave out are lost to every analyst: final
    figures are to be had from the true data.

    Parameters
    ----------
    columns
        The columns that are drawn; `all` for every one but the record's id.
    where
        Draw for the records of this condition alone; `missing` draws what is missing.
    copies
        How many copies, from 1 to 100. More copies tell intruders more, too.
    rows
        Rows of each copy, where all columns are drawn; as many as there are records where it is left out. Of whole
        households or persons as many are drawn as that many rows have, so that rows come near to it.
    method
        How columns are drawn: `cart` by trees, `parametric` by regressions with main effects alone; or for a column
        either, the others by trees. `structure`: names and kinds alone, and nothing of the data.
    order
        The order in which columns are drawn; those that it does not list follow as `columns` lists them, or the file.
    predictors
        For a column, those that it is drawn from; all before it where it is not listed.
    min_leaf
        Fewest donors of a leaf.
    smooth
        Draw numbers on the line between donors, then as many decimals as the column has; where there are too many, in
        multiples of about a thousandth of its sd. Dates are whole days, times whole seconds.
    proper
        Draw the models' parameters before values, anew for each copy: trees are fitted to a Bayesian bootstrap of the
        records, regressions draw their coefficients and the variance.
    sweeps
        Of missing cells: how often they are drawn again, each given all other columns as they are filled in. After 0 a
        gap hangs on no later column that has gaps.
    by
        One synthesis within each combination of these columns, which stay true.
    rules
        What must hold in every synthetic record: where `if` holds, `column` has `value`. Records of which it is true
        take no part in fitting that column.
    derived
        Columns that are computed from synthetic ones, by formulas.
    keep
        Relations that no synthetic record breaks: `a <= b`, `a < b`, and `x of y` where y tells x.
    households
        Draw whole households: what is the same for all of one once, with its size and make-up, then members, head
        first, each given those before. Needs a column with the role household.
    head
        The column whose lowest value, or first category, the head of a household has, as the relation to the head:
        members come in its order. Where it is left out the largest numbers come first, as the eldest.
    persons
        Draw whole persons: what is the same in all their rows once, then rows in the order of `time`, each given the
        first row and the one before. Needs a column with the role person.
    time
        The column by which the rows of a person follow each other, a number or date; it is drawn as its difference from
        the row before. Rows without it come last.

    References
    ----------
    Reiter (2005), Journal of Official Statistics 21, 441-462; Nowok, Raab and Dibben (2016), doi:10.18637/jss.v074.i11.

    Examples
    --------
    >>> Synthesise(columns="all", copies=3).min_leaf
    5
    """

    draws_by_id: ClassVar[bool] = True
    whole_strata: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    effort: ClassVar[float] = 20.0
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {"method": ("cart", "parametric"), "smooth": ("false", "true")}
    )

    do: Literal["synthesise"] = "synthesise"
    columns: Literal["all"] | tuple[str, ...] = "all"
    where: str | None = None
    copies: int = Field(default=5, ge=1, le=_MOST_COPIES)
    rows: int | None = Field(default=None, ge=1)
    method: Methods | dict[str, Models] = "cart"
    order: tuple[str, ...] = ()
    predictors: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    min_leaf: int = Field(default=5, ge=1)
    smooth: bool = False
    proper: bool = False
    sweeps: int = Field(default=SWEEPS, ge=0, le=_MOST_SWEEPS)
    by: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    derived: dict[str, str] = Field(default_factory=dict)
    keep: tuple[str, ...] = ()
    households: bool = False
    head: str | None = None
    persons: bool = False
    time: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_epsilon(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and "epsilon" in given:
            raise ValueError(
                "`epsilon` is refused: no differential privacy is promised here. Generators that promise it cannot be "
                "keyed, so that repeated releases could be averaged, and need a ledger of all of them"
            )
        return given

    @field_validator("where")
    @classmethod
    def _condition(cls, where: str | None) -> str | None:
        return where if where is None or where == MISSING else _checked(where)

    @field_validator("derived")
    @classmethod
    def _formulas(cls, derived: dict[str, str]) -> dict[str, str]:
        return {name: _checked(formula) for name, formula in derived.items()}

    @field_validator("keep")
    @classmethod
    def _relations(cls, keep: tuple[str, ...]) -> tuple[str, ...]:
        for text in keep:
            read(text)
        return keep

    @model_validator(mode="after")
    def _sane(self) -> Synthesise:
        named = self.columns if isinstance(self.columns, tuple) else ()
        if self.columns == ():
            raise ValueError("`columns` names no column: list those to be drawn, or say `all`")
        if len({*named, *self.by}) < len(named) + len(self.by) or len(set(self.order)) < len(self.order):
            raise ValueError("a column may stand only once among columns and by, and once in order")
        if self.where is not None and self.households:
            raise ValueError("`households` draws whole households, and `where` picks records: leave one of them out")
        if self.where is not None and self.persons:
            raise ValueError("`persons` draws whole persons, and `where` picks records: leave one of them out")
        if self.head is not None and not self.households:
            raise ValueError("`head` says who is head of a household: say `households: true`, too")
        if self.persons and self.households:
            raise ValueError("`persons` draws whole persons and `households` whole households: leave one of them out")
        if self.persons != (self.time is not None):
            raise ValueError(
                "`persons: true` needs `time`, the column that orders a person's rows, and `time` needs it"
            )
        if self.where is not None and self.rows is not None:
            raise ValueError("`rows` is for copies of all columns: with `where` the records are the original's")
        if self.where != MISSING and self.sweeps != SWEEPS:
            raise ValueError("`sweeps` is for missing cells: `where: missing`")
        if self._structure and (senseless := [name for name in _OF_MODELS if self._says(name)]):
            out = ", ".join(f"`{name}`" for name in senseless)
            raise ValueError(f"`method: structure` draws from no model of the data: leave {out} out")
        return self

    @property
    def _structure(self) -> bool:
        return self.method == "structure"

    def _says(self, name: str) -> bool:
        return bool(getattr(self, name) != type(self).model_fields[name].get_default(call_default_factory=True))

    def kind(self, codebook: Codebook) -> Replaces:
        """Whether all columns are synthetic, some, or missing cells alone."""
        if self.where == MISSING:
            return "missing"
        return "full" if self.where is None and set(self._free(codebook)) <= {*self._named(codebook)} else "partial"

    def bound(self, codebook: Codebook) -> Synthesise:
        """The step with its columns named, for a table with this codebook."""
        return self.model_copy(update={"columns": self._named(codebook)}) if self.columns == "all" else self

    def _free(self, codebook: Codebook) -> tuple[str, ...]:
        """All columns that could be drawn, in the order of the file: not ids, nor what stays true or is computed."""
        return tuple(
            name
            for name, variable in codebook.items()
            if variable.role != Role.RECORD
            and not (self._whole is not None and variable.role == self._whole)
            and not name.startswith(HIDDEN)
            and name not in (*self.by, *self.derived)
        )

    @property
    def _whole(self) -> Role | None:
        """The role of the ids of whom whole ones are drawn: households or persons."""
        if self.households:
            return Role.HOUSEHOLD
        return Role.PERSON if self.persons else None

    def _named(self, codebook: Codebook) -> tuple[str, ...]:
        """The columns that are drawn, in their order: those of `order` first, then as they are listed, weights last."""
        named = self._free(codebook) if self.columns == "all" else self.columns
        rest = [name for name in named if name not in self.order]
        last = [name for name in rest if name in codebook and codebook[name].role == Role.WEIGHT]
        first = [name for name in self.order if name in named]
        return in_order((*first, *(n for n in rest if n not in last), *last), self._kept(codebook), self.order)

    def _kept(self, codebook: Codebook) -> tuple[Order | Lookup, ...]:
        return tuple(read(text, codebook) for text in self.keep)

    def _given(self, codebook: Codebook) -> tuple[str, ...]:
        """The columns that stay true and help to draw the others."""
        if self.kind(codebook) == "full":
            return ()
        named = self._named(codebook)
        free = sorted(self._free(codebook))  # whatever the order of the file
        return tuple(
            name
            for name in free
            if name not in named and codebook[name].role not in _NO_PART and codebook[name].kind != Kind.TEXT
        )

    @property
    def later_passes(self) -> int:
        """One, for the people of the households that were drawn, or the rows of persons."""
        return int(self._whole is not None)

    @property
    def masks(self) -> bool:  # type: ignore[override]
        """Whether it protects: filling in what is missing does not."""
        return self.where != MISSING

    @property
    def keyed_on(self) -> tuple[Role, ...]:
        """Draws are keyed on records, and where whole households or persons are drawn on these, too."""
        return (Role.RECORD,) if self._whole is None else (Role.RECORD, self._whole)

    @property
    def hides_categories(self) -> bool:
        """Labels and missing codes of a file are often those that occur in it."""
        return self._structure

    @property
    def counts_records(self) -> bool:
        """Leaves of members may be of one household."""
        return self.households

    @property
    def exchanges(self) -> bool:
        """Values are drawn, gaps among them; missing cells alone are filled in."""
        return self.where != MISSING

    @property
    def changes(self) -> tuple[str, ...]:
        """The columns that are drawn or computed; those of `all` are known once the step is bound to a table."""
        return (*(self.columns if isinstance(self.columns, tuple) else ()), *self.derived)

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns that are drawn between donors."""
        return self.columns if self.smooth and isinstance(self.columns, tuple) else ()

    @property
    def reads(self) -> tuple[str, ...]:
        """What `where` looks at; formulas and rules read what is drawn."""
        return () if self.where in (None, MISSING) else parse(str(self.where)).names

    def check(self, codebook: Codebook) -> list[str]:
        """Columns that can be drawn, in an order in which everything is there when it is needed."""
        named = self._named(codebook)
        kept = (n for one in self._kept(codebook) for n in one.names if n not in self.derived)
        single = (n for n in (self.head, self.time) if n is not None)
        mentioned = (*named, *self.order, *kept, *self.by, *self.predictors, *self.reads, *single)
        problems = unknown_problems(codebook, (*mentioned, *(n for own in self.predictors.values() for n in own)))
        problems += strata_problems(codebook, self.by)
        problems += list(self._column_problems(codebook, named))
        problems += list(self._order_problems(codebook, named))
        problems += list(self._rule_problems(codebook, named))
        problems += list(self._derived_problems(codebook))
        problems += list(self._keep_problems(codebook, named))
        if COPY in codebook and self.copies > 1:
            problems.append(f"the copies are numbered in a column {COPY!r}, which the table has already: rename it")
        if self.rows is not None and self.kind(codebook) != "full":
            problems.append("`rows` is for copies of all columns; here the records are the original's")
        problems += list(self._household_problems(codebook, named))
        problems += list(self._person_problems(codebook, named))
        if self._structure and self.kind(codebook) != "full":
            problems.append("`method: structure` is of all columns, for it tells of none: say `columns: all`")
        if self.kind(codebook) != "full" or (self.proper and self._whole is None):
            problems += unit_problems(self.name, codebook)
        return problems

    def _household_problems(self, codebook: Codebook, named: tuple[str, ...]) -> Iterator[str]:
        if not self.households:
            return
        household = codebook.the(Role.HOUSEHOLD)
        if household is None:
            yield "`households` needs a column with the household's id: say so under variables, home: {role: household}"
        elif household in self.by:
            yield f"`by` names the household's own column {household!r}: each would be drawn by itself"
        if self.head in codebook and self.head not in (*named, *self._given(codebook)):
            yield f"`head` names {self.head}, which is neither drawn nor stays true and tells of people"
        elif self.head in named and self.kind(codebook) != "full":
            yield f"`head` names {self.head}, which is drawn: true people are ordered by what stays true alone"

    def _person_problems(self, codebook: Codebook, named: tuple[str, ...]) -> Iterator[str]:
        if not self.persons:
            return
        person = codebook.the(Role.PERSON)
        if person is None:
            yield "`persons` needs a column with the person's id: say so under variables, patient: {role: person}"
        elif person in self.by:
            yield f"`by` names the person's own column {person!r}: each would be drawn by itself"
        elif self.kind(codebook) != "full" and codebook.the(Role.RECORD) is None:
            yield needs_unit(self.name, "record")  # rows of one person are told apart
        if self.time is None or self.time not in codebook:
            return
        if self.time not in (*named, *self._given(codebook)):
            yield f"`time` names {self.time}, which is neither drawn nor stays true and differs between rows"
        elif self.time in named and self.kind(codebook) != "full":
            yield f"`time` names {self.time}, which is drawn: true rows are ordered by what stays true alone"
        if codebook[self.time].kind not in (*NUMERIC_KINDS, Kind.DATE, None):
            yield f"`time` names {self.time}, which is {codebook[self.time].kind}: only numbers and dates order rows"
        if any(rule.column == self.time for rule in self.rules):
            yield f"a rule settles {self.time}, which `time` has rise from row to row"
        if any(isinstance(one, Lookup) and self.time in one.names for one in self._kept(codebook)):
            yield f"`keep` tells a column by {self.time}, or that by another, and `time` has it rise from row to row"

    def _column_problems(self, codebook: Codebook, named: tuple[str, ...]) -> Iterator[str]:
        if not named:
            yield "there is no column to draw"
        for name in (n for n in named if n in codebook):
            role, kind = codebook[name].role, codebook[name].kind
            if self._structure and (role not in _NO_PART):
                continue
            if self._structure:
                yield f"column {name!r} has role {role}, and `method: structure` invents no ids: drop it before"
            elif role == Role.HOUSEHOLD and self._whole is None:
                yield (
                    f"column {name!r} has role household: say `households: true` to draw whole households, or drop it "
                    "before"
                )
            elif role == Role.PERSON and self._whole is None:
                yield (
                    f"column {name!r} has role person: say `persons: true` and `time: COLUMN` to draw whole persons "
                    "with their rows, or drop it before"
                )
            elif role in _NO_PART:
                yield f"column {name!r} has role {role}, which is not drawn: drop it before, or list the other columns"
            elif kind == Kind.TEXT:
                yield f"column {name!r} is text, of which nothing can be drawn: drop it before, or list other columns"

    def _order_problems(self, codebook: Codebook, named: tuple[str, ...]) -> Iterator[str]:
        for name in (n for n in self.order if n in codebook and n not in named):
            yield f"`order` lists {name}, which is not drawn"
        for name in (n for n in self.method if n not in named) if isinstance(self.method, dict) else ():
            yield f"`method` lists {name}, which is not drawn"
        place = {name: i for i, name in enumerate(named)}
        for name, own in self.predictors.items():
            if name not in place:
                yield f"`predictors` lists {name}, which is not drawn"
                continue
            late = [n for n in own if place.get(n, -1) >= place[name]]
            if late and not (self.where == MISSING and self.sweeps and name not in own):
                yield f"{name} is drawn before {', '.join(late)}, so that it cannot be drawn from it: change `order`"
            away = [n for n in own if n in codebook and n not in place and n not in self._given(codebook)]
            if away:
                yield f"{', '.join(away)} cannot help to draw {name}: only what is drawn before it, or stays true, can"

    def _rule_problems(self, codebook: Codebook, named: tuple[str, ...]) -> Iterator[str]:
        place = {name: i for i, name in enumerate(named)}
        for rule in self.rules:
            if rule.column not in place:
                yield f"a rule settles {rule.column}, which is not drawn"
                continue
            there = (*self._given(codebook), *named[: place[rule.column]])
            if late := [n for n in parse(rule.condition).names if n not in there]:
                yield f"the rule for {rule.column} looks at {', '.join(late)}, which is not there when it is drawn"
            if any(rule.condition == r.condition and rule.column == r.column and rule is not r for r in self.rules):
                yield f"two rules settle {rule.column} under one condition"

    def _derived_problems(self, codebook: Codebook) -> Iterator[str]:
        if self.derived and self.kind(codebook) == "missing":
            yield "`derived` is for copies, not for missing cells: use a step derive"
        if both := [n for n in self.derived if isinstance(self.columns, tuple) and n in self.columns]:
            yield f"{', '.join(both)} cannot be drawn and computed"
        known = {*codebook, *self.derived}
        names = {n: parse(formula).names for n, formula in self.derived.items()}
        if away := sorted({n for own in names.values() for n in own if n not in known}):
            yield f"`derived` computes from {', '.join(away)}, of which there is no column"
        elif len(turn := in_turn(names)) < len(names):
            yield f"`derived` goes round in a circle: {', '.join(sorted(set(names) - set(turn)))}"

    def _keep_problems(self, codebook: Codebook, named: tuple[str, ...]) -> Iterator[str]:
        if self.keep and self.where == MISSING:
            yield "`keep` is for copies, not for missing cells: what is filled in may break it"
            return
        settled = tuple(rule.column for rule in self.rules)
        yield from Kept(
            self._kept(codebook),
            codebook,
            named,
            self._given(codebook),
            self.by,
            tuple(self.derived),
            settled,
            tuple(self.predictors),
            self.smooth,
        ).problems()

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Copies are numbered; ids of rows that are nobody's are whole numbers; nothing drawn is missing any more."""
        kind, named = self.kind(codebook), self._named(codebook)
        new: dict[str, Variable] = {COPY: Variable(kind=Kind.INTEGER)} if self.copies > 1 else {}
        for name, variable in codebook.items():
            if kind == "full" and variable.role == Role.RECORD:
                new[name] = Variable(role=Role.RECORD, kind=Kind.INTEGER)
            elif kind == "full" and variable.role in (Role.HOUSEHOLD, Role.PERSON):
                new[name] = Variable(role=variable.role, kind=Kind.INTEGER)
            elif kind == "missing" and name in named:
                new[name] = variable.model_copy(update={"missing": ()})
            elif self._structure:  # a multiple would be of other numbers, and a format may tell how long values are
                codes = tuple(code for code in variable.missing if not code.gap)
                new[name] = variable.model_copy(update={"multiple": None, "format": None, "missing": codes})
            else:
                new[name] = variable
        for name, formula in self.derived.items():
            new.setdefault(name, Variable(kind=_KINDS.get(parse(formula).kind(), Kind.CONTINUOUS)))
        return with_multiples(Codebook(new), states[-1]["told"].rounded if states else {})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass over the whole table; of households and persons a second look, at how many rows the copies have."""
        if not states:
            return self._making(codebook).stage()
        making = self._making(codebook) if len(states) == 1 else None
        return making.counted(states[0]) if isinstance(making, MakingHouseholds) else None

    def _making(self, codebook: Codebook) -> Making:
        formulas = {n: parse(formula) for n, formula in self.derived.items()}
        synthesis = (Structure if self._structure else Synthesis)(
            self.name,
            self._named(codebook),
            self._given(codebook),
            self.predictors,
            self.copies,
            self.min_leaf,
            self.smooth,
            self.proper,
            tuple(Ruled(parse(rule.condition), rule.column, rule.value) for rule in self.rules),
            self._strength,
            frozenset(n for n in self._named(codebook) if self._model(n) == "parametric"),
            self.sweeps,
            plain=frozenset() if self.time is None else frozenset({self.time}),
            orders=tuple(one for one in self._kept(codebook) if isinstance(one, Order)),
            lookups=tuple(one for one in self._kept(codebook) if isinstance(one, Lookup)),
        )
        given = (
            synthesis,
            self.kind(codebook),
            self.by,
            self.rows,
            None if self.where in (None, MISSING) else parse(str(self.where)),
            tuple((n, formulas[n]) for n in in_turn({n: one.names for n, one in formulas.items()})),
            codebook.the(Role.RECORD),
            codebook,
        )
        whole = None if self._whole is None else codebook.the(self._whole)
        return Making(*given) if whole is None else MakingHouseholds(*given, whole, self.head, self.time)

    def _model(self, column: str) -> Methods:
        return self.method if isinstance(self.method, str) else self.method.get(column, "cart")

    @property
    def _strength(self) -> str:
        """The parameters in the draws; more copies are more of the same draws."""
        without = {"copies"} if self.households else {"copies", "households", "head"}
        of_gaps = set() if self.where == MISSING else {"sweeps"}
        unused = {name for name in ("keep", "persons", "time") if not getattr(self, name)}
        told = self.model_dump(mode="json", exclude=without | of_gaps | unused)
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def disclose(self, states: tuple[Any, ...]) -> tuple[Synthetic, ...]:
        """What is synthetic, in how many copies, and how many rows each has beside the original."""
        return (states[-1]["told"],)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How often the original breaks a rule; which columns were taken for the household's, or person's."""
        broken, kept = states[0]["broken"].items(), states[0]["kept"]
        rules = tuple(
            f"{text}: {many} records of the original break this {'relation' if text in kept else 'rule'}."
            for text, many in broken
            if many
        )
        if self._whole is None:
            return rules
        shared = ", ".join(states[-1]["shared"]) or "no column"
        same = "for all of each household" if self.households else "in all rows of each person"
        return (*rules, f"The same {same}, and drawn once for it: {shared}.")


_NO_PART = (*IDS, Role.IDENTIFIER)
_OF_MODELS = ("where", "by", "predictors", "min_leaf", "smooth", "proper", "households", "persons")
"""Parameters without a meaning where nothing is drawn from the data."""
_KINDS = {"boolean": Kind.CATEGORICAL, "text": Kind.CATEGORICAL, "date": Kind.DATE}
