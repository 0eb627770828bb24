"""Exchange values between records: within groups of similar ones, rank swapping, or swapping with any record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Swapped
from sfumato.data.hidden import DONORS, OWN
from sfumato.data.roles import Kind, Role
from sfumato.methods.base import Method, Stage, unit_problems
from sfumato.methods.checks import role_problems, strata_problems
from sfumato.methods.drawn_grid import with_multiples
from sfumato.methods.swap.exchanging import Exchanging, Summing, donor
from sfumato.methods.swap.stages import Swapping, Telling
from sfumato.methods.swap.values import amount

__all__ = ["Swap"]

_NO_RANKS = (Kind.CATEGORICAL, Kind.TEXT, Kind.GEOGRAPHIC)


class Swap(Method):
    """Exchange values within groups of similar records, with a record whose rank is near, or with any.

    With `group` each value becomes that of a donor drawn from the record's group of similar ones, itself among them,
    column by column. Protects against an intruder who knows all these columns and looks for a record: the rows of a
    group have one law, so that no guess of whose row it is is right more often than once in `group`. It does not hide
    what the people of a group have in common (`inference`, attack `released`), nor columns that it does not list.

    With `window` or `random` it protects against an intruder who knows a value and looks for the record: the value
    stands at somebody else's record.
    Every value stays in the file (but for `perturb`), so extremes are as visible as before (top-code them first:
    `derive` with `min(income, 500)`); only whose they are is hidden. It does not protect columns that it does not list,
    and the record of a missing value keeps its place.

    An intruder is assumed to know the code and the window: then the true value lies within the window of ranks around
    the released one, and each further swapped column that is known narrows the choice (Nin, Herranz and Torra 2008).

    Margins are kept exactly, overall and within each combination of `by`; relations with other columns weaken, little
    with a narrow window, wholly (but for `by`) with `random`.

    Parameters
    ----------
    columns
        The columns, each exchanged on its own.
    window
        Greatest distance between the ranks of two that exchange, as a share of all ranks, above 0 and below 1: 0.05 is
        5% of the values. Needs numbers or dates. One of `group`, `window` and `random`.
    random
        Exchange with any record; categories and text will do.
    group
        Fewest records in a group of similar ones, 3 to 1000, over all `columns` and within each combination of `by`.
        Needs no id of records: without one, draws are keyed on what is in a row.
    by
        Exchange only within each combination of these columns.
    together
        Move the columns as one, ranked by the first: relations among them stay. With `group`: sets of columns that have
        one donor each, for instance a number and the category that it was cut into.
    perturb
        Draw each exchanged number anew, evenly between the values that this share of all ranks lie below and above it,
        between 0 and 1: 0.02 is 2% of the values. Without it a release without one person tells, beside an earlier one,
        which value has gone. Categories stay as they are. Numbers keep their decimals; where there are too many, they
        become multiples of about a thousandth of the column's sd. Dates are whole days, times whole seconds.

    References
    ----------
    Groups: Domingo-Ferrer and Mateo-Sanz (2002), doi:10.1109/69.979982. Values drawn within them: Domingo-Ferrer and
    González-Nicolás (2010), Information Sciences 180, 2834–2844. What stands out is moved: Shlomo, Tudor and Groom
    (2010), LNCS 6344. Ranks: Moore (1996), US Bureau of the Census, Statistical Research Division Report 96/04;
    Dalenius and Reiss (1982), doi:10.1016/0378-3758(82)90058-1; Nin, Herranz and Torra (2008),
    doi:10.1016/j.datak.2007.07.006.

    Examples
    --------
    >>> Swap(columns=("bmi",), window=0.05, by=("sex",)).together
    False
    >>> Swap(columns=("low", "bwt", "age"), group=5, together=[("low", "bwt")]).sets
    (('low', 'bwt'), ('age',))
    """

    masks: ClassVar[bool] = True
    whole_strata: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    draws_by_id: ClassVar[bool] = True

    do: Literal["swap"] = "swap"
    columns: tuple[str, ...] = Field(min_length=1)
    window: float | None = None
    random: bool = False
    by: tuple[str, ...] = ()
    group: int | None = Field(default=None, ge=3, le=1000)
    together: bool | tuple[tuple[str, ...], ...] = False
    perturb: float | None = Field(default=None, gt=0, lt=1)

    @model_validator(mode="after")
    def _one_way(self) -> Swap:
        if (self.window is not None) + self.random + (self.group is not None) != 1:
            raise ValueError("swap takes one of `group`, `window` and `random: true`")
        if self.window is not None and not 0 < self.window < 1:
            raise ValueError("`window` is a share of the ranks, above 0 and below 1: 0.05 is 5% of them")
        if problem := self._set_problem():
            raise ValueError(problem)
        if len({*self.columns, *self.by}) < len(self.columns) + len(self.by):
            raise ValueError("a column may stand only once among columns and by")
        return self

    def _set_problem(self) -> str | None:
        """What is wrong with `together`, if anything."""
        if self.group is None:
            return None if isinstance(self.together, bool) else "`together` is true or false without `group`"
        if self.together is True:
            return "with `group`, `together` lists sets of columns: all as one would be whole records"
        named = [n for each in self.together or () for n in each]
        if unknown := [n for n in named if n not in self.columns]:
            return f"`together` names {', '.join(unknown)}, which `columns` does not list"
        if len(set(named)) < len(named) or any(len(each) < 2 for each in self.together or ()):
            return "each set of `together` has two columns or more, and no column stands in two of them"
        if len(self.columns) > 1 and len(self.sets) == 1:
            return "`together` may not hold all columns in one set: whole records would be exchanged"
        return None

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """With `group`: the columns in sets that have one donor each."""
        return Swapped(columns=self.columns, together=self.together).sets

    @property
    def keyed_on(self) -> tuple[Role, ...]:
        """The roles of the ids that its draws are keyed on: within groups any names of the records will do."""
        return (Role.RECORD,) if self.group is None else ()

    @property
    def exchanges(self) -> bool:
        """Values change places, and gaps with them."""
        return True

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns whose numbers get noise."""
        return () if self.perturb is None else self.columns

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers or dates to rank, categories in `by`, and ids to key the draws on."""
        problems = super().check(codebook) + strata_problems(codebook, self.by)
        problems += unit_problems(self.name, codebook) if self.group is None else []
        weights = [n for n in self.columns if n in codebook and codebook[n].role == Role.WEIGHT and self.group]
        problems += role_problems(codebook, [n for n in self.columns if n not in weights])
        if self.window is not None:
            ranked = self.columns[:1] if self.together else self.columns
            problems += [
                f"column {n!r} is {codebook[n].kind}, which has no ranks: use `random: true` in place of `window`"
                for n in ranked
                if n in codebook and codebook[n].kind in _NO_RANKS
            ]
        known = [codebook[n] for n in self.columns if n in codebook]
        if self.perturb is not None and known and not any(map(amount, known)):
            problems.append("`perturb` draws numbers and dates anew, and none of the columns holds such: leave it out")
        return problems

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Exchange within whole strata; then look at what it did to each column."""
        if self.group is not None:
            return self._in_groups(codebook, self.group, states)
        match len(states):
            case 0:
                together = bool(self.together)
                return Swapping(codebook, self.columns, self.window, self.by, together, self.perturb).stage()
            case 1:
                return Telling(codebook, self.columns).stage()
        return None

    def _in_groups(self, codebook: Codebook, group: int, states: tuple[Any, ...]) -> Stage | None:
        match len(states):
            case 0:
                return Exchanging(codebook, self.columns, group, self.by, self.sets, self.perturb).stage()
            case 1:
                return Summing(codebook, self.columns, self.sets, states[0]).stage()
        return None

    def reconstructions(self, states: tuple[Any, ...]) -> Mapping[str, Mapping[str, pl.Expr]]:
        """Whose values each set of columns bears, so that guesses can be held against those without them."""
        if self.group is None or len(states) != 1:
            return {}
        return {DONORS: {OWN: pl.col(OWN)} | {each[0]: pl.col(donor(each[0])) for each in self.sets}}

    def disclose(self, states: tuple[Any, ...]) -> tuple[Swapped, ...]:
        """How far values moved, which columns moved as one, and what that did to relations."""
        told = self.model_dump(include={"columns", "by", "window", "together", "perturb", "group"})
        if self.group is None:
            return (Swapped(**told, rounded=states[0]),)
        learned, done = states
        moved = round(20 * done.moved) / 20
        shift = None if done.relations_shift is None else round(done.relations_shift, 2)
        return (Swapped(**told, rounded=learned.steps, moved=moved, relations_shift=shift),)

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """What numbers that were drawn anew are multiples of."""
        if not states:
            return codebook
        return with_multiples(codebook, states[0] if self.group is None else states[0].steps)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Correlation of released with original values, and how many are as they were."""
        notes: tuple[str, ...] = states[1] if self.group is None else states[1].notes
        return notes
