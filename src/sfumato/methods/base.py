"""What a method is: frozen parameters, and stages made of pure functions.

A stage asks the data set for aggregates, fits a state to the answers, and transforms batches of rows under that state.
Parameters are public (they stand in the plan); states are confidential; what analysts may know is the disclosure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import ConfigDict, model_validator

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.described import Described
from sfumato.data.disclosure import Disclosed
from sfumato.data.files.named import NamedFile, files_in
from sfumato.data.query import Query
from sfumato.data.roles import IDS, Role
from sfumato.data.suppression import Emptying, Suppression
from sfumato.draws import Draws, Purpose, units
from sfumato.errors import DataError

__all__ = [
    "DrawBy",
    "Method",
    "Stage",
    "StepDraws",
    "needs_unit",
    "numeric_problems",
    "unit_problems",
    "unknown_problems",
]

DrawBy = Literal["record", "person", "household"]
"""Whose id draws are keyed on."""


@dataclass(frozen=True)
class StepDraws:
    """The draws of one step: knows which columns hold the units.

    Parameters
    ----------
    draws
        The release's keyed draws.
    method
        Name of the method that draws.
    record
        Column with the record's id, if there is one.
    household
        Column with the household's id, if there is one.
    person
        Column with the id of whom several records are about, if there is one.
    table
        Name of the table in a plan of several; empty in a plan of one.
    plan
        Digest of the table's plan.
    """

    draws: Draws
    method: str
    record: str | None
    household: str | None = None
    table: str = ""
    plan: str = ""
    person: str | None = None

    def purpose(self, column: str, strength: str, draw: int = 0) -> Purpose:
        """What is drawn for a column, at a strength as it is disclosed."""
        return Purpose(self.method, column, strength, draw)

    def units(self, batch: pl.DataFrame, draw_by: DrawBy = "record") -> NDArray[np.uint64]:
        """The unit that each record's draws are keyed on, shape (n,): its own id, its person's or its household's."""
        column = {"record": self.record, "person": self.person, "household": self.household}[draw_by]
        if column is None:
            raise DataError(needs_unit(self.method, draw_by))
        ids = batch[column]
        if ids.null_count():
            raise DataError(f"Column {column!r} has missing ids, so {self.method} cannot key its draws on it.")
        return units(ids)

    def whole(self, batch: pl.DataFrame) -> NDArray[np.uint64]:
        """The unit that stays or goes as a whole, shape (n,): a record's household, else its person, else itself."""
        columns = [n for n in (self.household, self.person, self.record) if n is not None]
        if not columns:
            raise DataError(needs_unit(self.method, "record"))
        out = units(batch[columns[-1]]) if not batch[columns[-1]].null_count() else self.units(batch)
        for n in reversed(columns[:-1]):
            out = np.where(batch[n].is_null().to_numpy(), out, units(batch[n].fill_null(strategy="max")))
        return out

    def tie_break(self, batch: pl.DataFrame) -> NDArray[np.uint64] | None:
        """A keyed number for each record, shape (n,), to break ties so that row order does not matter.

        None where there is no record column.
        """
        if self.record is None:
            return None
        return self.draws.words(units(batch[self.record]), Purpose(self.method, "tie"))[:, 0]


def _nothing(answers: Sequence[pl.DataFrame]) -> None:
    """Learn nothing: the state of a stage that asks no question."""


@dataclass(frozen=True)
class Stage:
    """One look at the data and one pass over them.

    Parameters
    ----------
    transform
        Gives the new rows of a batch from (batch, state, draws).
    queries
        What is asked before.
    fit
        Makes the state of the answers, in the order of `queries`.
    by
        Columns whose whole strata `transform` must see; None if any batch will do.
    drawn
        Rounds at random what was learned, where that is disclosed; gives the state that the pass goes by.
    taking
        In place of `fit` and `drawn`, where an earlier release has the same step: makes the state of the answers and of
        what that release disclosed, so that values that did not change keep their draws. None where the earlier
        disclosure does not tell it exactly, or no longer protects. Only stages have it that learn what is disclosed.
    """

    transform: Callable[[pl.DataFrame, Any, StepDraws], pl.DataFrame]
    queries: tuple[Query, ...] = ()
    fit: Callable[[Sequence[pl.DataFrame]], Any] = _nothing
    by: tuple[str, ...] | None = None
    drawn: Callable[[Any, StepDraws], Any] | None = None
    taking: Callable[[Sequence[pl.DataFrame], Sequence[Disclosed]], Any | None] | None = None


class Method(Described):
    """A step of a plan. Subclasses hold its parameters.

    Parameters
    ----------
    do
        Names the method.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _no_yes_for_numbers(cls, given: Any) -> Any:
        """Refuse true and false where a number is needed, which would be taken for 1 and 0."""
        if isinstance(given, dict):
            numeric = {n: str(f.annotation) for n, f in cls.model_fields.items()}
            for name, value in given.items():
                kind = numeric.get(name, "bool")
                if "bool" not in kind and ("float" in kind or "int" in kind) and _has_truth(value):
                    raise ValueError(f"{name} takes numbers, not true or false")
        return given

    def refuse_idle(self, goes_with: Mapping[str, str]) -> None:
        """Refuse parameters that somebody wrote and that change nothing beside the others as they are.

        Parameters
        ----------
        goes_with
            By parameter that would change nothing, what it needs. One that has its default is none that somebody wrote;
            parameters whose effect hangs on the data are none that change nothing.

        Raises
        ------
        ValueError
            It says what to write.
        """
        for name, needed in goes_with.items():
            if getattr(self, name) != type(self).model_fields[name].get_default(call_default_factory=True):
                raise ValueError(f"`{name}` changes nothing without {needed}: write that, or leave `{name}` out")

    effort: ClassVar[float] = 1.0
    """How long it takes, for the share of progress: 1 for a mere pass over the data."""

    masks: ClassVar[bool] = False
    """Whether it protects; steps that only prepare the data do not."""

    coarsens: ClassVar[bool] = False
    """Whether it tells less in a way that whoever knows a value can repeat: broader categories, records left out."""

    stays_comparable: ClassVar[bool] = False
    """Whether numbers that it coarsens stay numbers, which can be compared with what they were."""

    replaces: ClassVar[bool] = False
    """Whether it puts other values in the place of ids, by which nothing can be drawn or joined as before."""

    draws_by_id: ClassVar[bool] = False
    """Whether what it does hangs on draws that are keyed on ids of records or households."""

    draws_error: ClassVar[bool] = False
    """Whether it discloses the law of an error, which a later step on the same columns would make untrue."""

    whole_strata: ClassVar[bool] = False
    """Whether what it does to a record hangs on all others of its stratum, which are gathered where rows are not in
    memory; every other method learns a few figures of all records, and then goes over batches."""

    passes: ClassVar[int] = 1
    """How often it goes through all rows at most, for what it must know of them: its first stage, which may ask
    nothing, and those after it that ask."""

    choices: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    """Parameters that are no numbers and can be tuned, each with its values as a plan writes them."""

    averages: ClassVar[bool] = False
    """Whether it averages the values of its columns, which must then be amounts and not codes."""

    @property
    def name(self) -> str:
        """The method's name, as `do` has it."""
        return str(getattr(self, "do"))  # noqa: B009  every subclass has its own literal `do`

    @property
    def later_passes(self) -> int:
        """How many of its passes come after the first stage, with these parameters at most."""
        return self.passes - 1

    @property
    def keeps_gaps(self) -> bool:
        """Whether a cell of its columns holds a value afterwards exactly if it held one before, where both stay."""
        return False

    @property
    def exchanges(self) -> bool:
        """Whether it exchanges or draws values among records: gaps move with them, none is deleted or filled in."""
        return False

    @property
    def hides_categories(self) -> bool:
        """Whether no category leaves that the plan does not name, not even where the data's file names it."""
        return False

    @property
    def counts_records(self) -> bool:
        """Whether it takes what enough records share for what enough people share."""
        return False

    @property
    def keyed_on(self) -> tuple[Role, ...]:
        """The roles of the ids that its draws are keyed on."""
        if not self.draws_by_id:
            return ()
        return (Role(getattr(self, "draw_by", Role.RECORD)),)

    @property
    def strata(self) -> tuple[str, ...]:
        """The columns that it keeps apart."""
        return tuple(getattr(self, "by", ()) or ())

    @property
    def changes(self) -> tuple[str, ...]:
        """The columns whose values it changes."""
        return tuple(getattr(self, "columns", ()))

    @property
    def amounts(self) -> tuple[str, ...]:
        """Columns whose numbers it masks or smooths by their size, which makes no sense of dates and codes."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Other columns from which it computes values."""
        return ()

    @property
    def files(self) -> tuple[NamedFile, ...]:
        """The files that its parameters name; a plan says from which folder they are seen."""
        return tuple(files_in([getattr(self, name) for name in type(self).model_fields]))

    def bound(self, codebook: Codebook) -> Method:
        """The step with its columns named, where it says that they are all of a table's."""
        return self

    def check(self, codebook: Codebook) -> list[str]:
        """Tell what is wrong with the step for a table with this codebook, before any data are touched."""
        return unknown_problems(codebook, (*self.changes, *self.strata))

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Give the codebook after the step; before it was run, what is known without its states."""
        return codebook

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Give the next stage, from the states of those before it; None when there are no more."""
        raise NotImplementedError

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """What analysts must know; nothing that was learned about few people."""
        return ()

    def sentence(self) -> str:
        """What it does, in words that may be published; for steps without a disclosure."""
        return f"{self.name}: {', '.join(self.changes)}."

    def suppressed(self, states: tuple[Any, ...]) -> Suppression:
        """How many records and cells it took out. Confidential."""
        return Suppression()

    @property
    def empties(self) -> Emptying | None:
        """The rule by which it takes out single values of keys, where it does; whoever knows it may guess some back."""
        return None

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """What the custodian should know of how it went. May hold counts."""
        return ()

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """What the custodian should be told before anything else. Names columns and thresholds, no figure of theirs."""
        return ()

    def reconstructions(self, states: tuple[Any, ...]) -> Mapping[str, Mapping[str, pl.Expr]]:
        """Columns that an attacker could compute from the release, to be attacked as well as it.

        Asked after each stage, before the next one runs; most steps have none.

        Parameters
        ----------
        states
            The state of each stage so far.

        Returns
        -------
        mapping
            By the name of the view and of the column of which the attacker has a better one: how it is computed from
            the table as the stage left it.
        """
        return {}


def _has_truth(value: object) -> bool:
    """Whether a parameter is true or false, or holds one of them."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return isinstance(value, bool) or any(map(_has_truth, parts))


def unknown_problems(codebook: Codebook, names: Sequence[str]) -> list[str]:
    """One sentence for all of `names` that the table does not have."""
    unknown = [n for n in dict.fromkeys(names) if n not in codebook]
    if not unknown:
        return []
    return [f"there is no column {', '.join(map(repr, unknown))} at this step; columns: {', '.join(codebook)}"]


def numeric_problems(codebook: Codebook, columns: Sequence[str]) -> list[str]:
    """A sentence for each of `columns` that may not be averaged."""
    problems = []
    for name in columns:
        variable = codebook[name] if name in codebook else Variable(kind="continuous")
        if variable.role in (*IDS, Role.IDENTIFIER):
            problems.append(f"column {name!r} has role {variable.role}, which this step must not change")
        elif not variable.numeric:
            problems.append(
                f"column {name!r} is {variable.kind}; this step averages numbers. If its values are amounts and not "
                f"codes, say so under variables: {name}: {{kind: continuous}}"
            )
    return problems


def needs_unit(method: str, draw_by: DrawBy) -> str:
    """Say that a step has no id to key its draws on."""
    return (
        f"{method} draws at random for each {draw_by}, so it needs a column with the {draw_by}'s id: say so under "
        f"variables, for instance id: {{role: {draw_by}}}"
    )


def unit_problems(method: str, codebook: Codebook, draw_by: DrawBy = "record") -> list[str]:
    """A sentence where a step that draws has no column with the ids to key its draws on.

    Where several records are about a person, draws for each record may turn out to be draws for each person.
    """
    roles = (Role.RECORD, Role.PERSON) if draw_by == "record" else (Role(draw_by),)
    return [] if codebook.with_role(*roles) else [needs_unit(method, draw_by)]
