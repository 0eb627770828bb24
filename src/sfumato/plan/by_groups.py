"""Draft a plan where nothing is said of who knows what: all that leaves counts as known, and is exchanged in groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import polars as pl

from sfumato.data.hidden import HIDDEN
from sfumato.data.kinds import FEW_TEXTS, Facts
from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, Kind, Role
from sfumato.data.unseen import seen
from sfumato.errors import DataError
from sfumato.plan.belonging import belonging
from sfumato.plan.coarsening import levels_of, year_of
from sfumato.plan.draft import id_lines, parameter_line, variable_lines
from sfumato.plan.drafted import LeftOut
from sfumato.plan.spelling import yaml_list
from sfumato.plan.wishes import Purpose

__all__ = ["ASKED", "FEWEST_RECORDS", "GROUPS", "Asked", "Exchange", "exchange_of"]

GROUPS = (5, 8, 12, 20, 30)
"""Fewest records in a group, as they are tried."""
FEWEST_RECORDS = 15
"""Below so many records there are no three groups of five."""
_PERTURB = 0.02
_DATES = "how its dates are written could not be told"
_PLACE = "coordinates point to a place"
_FINE_PLACES = "its places could not be made broader"
_EMPTY = "it holds no value"
_NESTED = "it holds lists or records"


@dataclass(frozen=True)
class Asked:
    """What must hold for a purpose: people found, combinations that survive, and what a release adds to a guess."""

    linkage_nearest: float
    uniques_kept: float
    inference: float


ASKED = MappingProxyType({"scientific-use": Asked(0.2, 0.05, 0.2), "public-use": Asked(0.09, 0.02, 0.1)})
"""European Medicines Agency, Policy 0070: .09; data under a contract: .2 (El Emam 2013)."""


@dataclass(frozen=True)
class Exchange:
    """What a drafted exchange does.

    Parameters
    ----------
    guesses
        What is known of the variables.
    columns
        Columns that are exchanged in groups.
    left_out
        Columns that leave, with the reason.
    coarser
        Parameters of the step that makes a date or a place broader, by column.
    together
        Sets of columns that have one donor.
    sensitive
        Exchanged categories that nobody must learn.
    numbers
        Whether there are numbers to be drawn anew.
    """

    guesses: tuple[Guess, ...]
    columns: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    coarser: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()
    sensitive: tuple[str, ...] = ()
    numbers: bool = True

    def without(self, column: str, because: str) -> Exchange:
        """The same, where one more column leaves."""
        columns = tuple(n for n in self.columns if n != column)
        together = (tuple(n for n in each if n != column) for each in self.together)
        return replace(
            self,
            columns=columns,
            left_out=(*self.left_out, LeftOut(column, because)),
            coarser={n: step for n, step in self.coarser.items() if n != column},
            together=tuple(each for each in together if 1 < len(each) < len(columns)),
            sensitive=tuple(n for n in self.sensitive if n != column),
            numbers=any(g.name in columns and _drawn(g) for g in self.guesses),
        )

    @property
    def units(self) -> tuple[str, ...]:
        """Ids by which rows can be put together: of persons and households, whether they leave or not."""
        return tuple(g.name for g in self.guesses if g.variable.role in (Role.PERSON, Role.HOUSEHOLD))

    @property
    def kept(self) -> tuple[str, ...]:
        """Columns that leave, ids among them."""
        gone = {one.column for one in self.left_out}
        return tuple(g.name for g in self.guesses if g.name not in gone)

    def lines(
        self,
        group: int,
        purpose: Purpose,
        shared: Collection[str] = (),
        said: Mapping[str, str] = MappingProxyType({}),
    ) -> list[str]:
        """The lines on variables, steps and limits.

        Parameters
        ----------
        group
            Fewest records in a group.
        purpose
            What must hold.
        shared
            Ids that another table has too.
        said
            What stands of some variables already, as `variable_lines` takes it.
        """
        ids = [g for g in self.guesses if g.variable.role in IDS and g.name in self.kept]
        variables = variable_lines(self.guesses, said)
        return [*variables, *self._steps(group), *self._ids_left_out(), *id_lines(ids, shared), *self._limits(purpose)]

    def _steps(self, group: int) -> Iterator[str]:
        yield "steps:"
        yield from self._dropped([one for one in self.left_out if one.column not in self.units])
        steps = list(self.coarser.items())
        for step in (step for i, (_, step) in enumerate(steps) if step not in [s for _, s in steps[:i]]):
            columns = [n for n, each in steps if each == step]
            what = "year" if step["do"] == "coarsen_date" else "broader group"
            yield f"  # Of {seen(', '.join(columns))} the {what} stays."
            yield parameter_line(step, columns)
        if not self.columns:
            return
        parameters = [f"columns: {yaml_list(self.columns)}", f"group: {group}"]
        parameters += [f"perturb: {_PERTURB}"] if self.numbers else []
        if self.together:
            parameters.append(f"together: [{', '.join(map(yaml_list, self.together))}]")
        yield f"  # Each value becomes that of one of at least {group} similar records, so that nobody can say whose"
        yield "  # row it is, whatever they know. What belongs together has one donor."
        yield f"  - {{do: swap, {', '.join(parameters)}}}"

    def _ids_left_out(self) -> Iterator[str]:
        """Ids that leave do so last: until then they say which rows are masked as one."""
        yield from self._dropped([one for one in self.left_out if one.column in self.units])

    @staticmethod
    def _dropped(columns: Sequence[LeftOut]) -> Iterator[str]:
        if columns:
            yield from (f"  # {one.column!r} is left out: {one.because}." for one in columns)
            yield f"  - {{do: drop, columns: {yaml_list([one.column for one in columns])}}}"

    def _limits(self, purpose: Purpose) -> Iterator[str]:
        asked = ASKED[purpose]
        yield "# What must hold, or the release is not written. All that leaves counts as known to others: name under"
        yield "# `unknown` what nobody outside knows, or draft anew with --keys."
        yield "limits:"
        yield f"  - {{measure: linkage_nearest, group: released, at_most: {asked.linkage_nearest}}}"
        yield f"  - {{measure: uniques_kept, at_most: {asked.uniques_kept}}}"
        if self.sensitive:
            yield f"  - {{measure: inference, group: risk, attack: released, at_most: {asked.inference}}}"


def exchange_of(frame: pl.DataFrame, guesses: Sequence[Guess]) -> Exchange:
    """Choose what leaves, what becomes broader, and what is exchanged.

    Parameters
    ----------
    frame
        The table.
    guesses
        What is known of its variables.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> from sfumato.data.profile import profile
    >>> mails = [f"a{i}@example.org" for i in range(30)]
    >>> rows = pl.DataFrame({"email": mails, "age": [20 + i % 17 for i in range(30)]})
    >>> chosen = exchange_of(rows, profile(rows, Codebook()))
    >>> chosen.columns, [one.column for one in chosen.left_out]
    (('age',), ['email'])
    """
    if any(n.startswith(HIDDEN) for n in frame.columns):
        raise DataError(f"Names of columns that begin with {HIDDEN!r} are sfumato's own. Rename them first.")
    left_out: list[LeftOut] = []
    coarser: dict[str, Mapping[str, Any]] = {}
    columns: list[Guess] = []
    for g in guesses:
        step = _broader(frame, g)
        if step is not None:
            coarser[g.name] = step
        if (why := None if step is not None else _why_it_goes(frame, g)) is not None:
            left_out.append(LeftOut(g.name, why))
        elif g.variable.role not in IDS:
            columns.append(g)
    names = tuple(g.name for g in columns)
    alike = [g for g in columns if g.name not in coarser]
    sets = belonging(frame, {g.name: g.variable for g in alike})
    learnt = [g for g in columns if g.variable.private or g.variable.role == Role.OUTCOME]
    return Exchange(
        tuple(guesses),
        names,
        tuple(left_out),
        coarser,
        tuple(each for each in sets if len(each) < len(names)),
        tuple(g.name for g in learnt if not g.variable.numeric),
        any(map(_drawn, columns)),
    )


def _broader(frame: pl.DataFrame, guess: Guess) -> Mapping[str, Any] | None:
    """The step that leaves of a date the year, of a place or a code the broadest group; None where there is none."""
    variable, column = guess.variable, frame.get_column(guess.name)
    if guess.leaves or variable.role in (Role.IDENTIFIER, *IDS):
        return None
    if variable.kind == Kind.DATE:
        year = year_of(column, variable)
        return None if year is None else year.parameters
    if guess.scheme or variable.kind == Kind.GEOGRAPHIC:
        levels = levels_of(column, variable, guess.scheme)
        return levels[-1].parameters if levels else None
    return None


def _why_it_goes(frame: pl.DataFrame, guess: Guess) -> str | None:
    """Why a column leaves for what it is; None where it stays."""
    variable, column = guess.variable, frame.get_column(guess.name)
    if guess.leaves or variable.role == Role.IDENTIFIER or variable.kind == Kind.TEXT:
        return guess.reason if variable.kind != Kind.TEXT or not column.dtype.is_nested() else _NESTED
    if variable.role in IDS:
        return None
    if variable.kind == Kind.DATE:
        return _DATES
    if variable.kind == Kind.GEOGRAPHIC and column.dtype.is_numeric():
        return _PLACE
    if variable.kind == Kind.GEOGRAPHIC and not Facts(column, variable).few(FEW_TEXTS):
        return _FINE_PLACES
    return _EMPTY if Facts(column, variable).values.is_empty() else None


def _drawn(guess: Guess) -> bool:
    """Whether its numbers are drawn anew."""
    return guess.variable.numeric and guess.variable.role != Role.WEIGHT
