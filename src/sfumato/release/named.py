"""Roles that somebody names on the way: what an intruder knows, what nobody must learn, weight, household."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.roles import NUMERIC_KINDS, Kind, Role
from sfumato.data.unseen import seen
from sfumato.errors import DataError

__all__ = ["Named"]


@dataclass(frozen=True)
class Named:
    """Columns that were named for a role.

    Parameters
    ----------
    keys
        What an intruder may know.
    sensitive
        What an intruder must not learn, whatever its kind.
    weight
        Sampling weights.
    household
        Id of the household.
    person
        Id of whom several records are about.

    Examples
    --------
    >>> Named(keys=("sex",)).on(Codebook({"sex": Variable(), "age": Variable(role="key")})).with_role("key")
    ('sex',)
    """

    keys: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    weight: str | None = None
    household: str | None = None
    person: str | None = None

    def __bool__(self) -> bool:
        return any(self._roles().values())

    def _roles(self) -> dict[Role, tuple[str, ...]]:
        return {
            Role.KEY: self.keys,
            Role.SENSITIVE: self.sensitive,
            Role.WEIGHT: (self.weight,) if self.weight is not None else (),
            Role.HOUSEHOLD: (self.household,) if self.household is not None else (),
            Role.PERSON: (self.person,) if self.person is not None else (),
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that were named."""
        return tuple(name for names in self._roles().values() for name in names)

    def check(self, schema: pl.Schema) -> None:
        """Refuse columns that are not there, that are named twice, and weights that are no numbers.

        Raises
        ------
        DataError
            Names the columns.
        """
        problems = list(self._problems(schema))
        if problems:
            raise DataError(" ".join(problems))

    def _problems(self, schema: pl.Schema) -> Iterator[str]:
        if unknown := [n for n in dict.fromkeys(self.columns) if n not in schema]:
            yield f"There is no column {_listed(unknown)}. Columns of the table: {seen(', '.join(schema))}."
        if both := [n for n in self.sensitive if n in self.keys]:
            yield (
                f"{_listed(both)}: named as keys and as sensitive. What an intruder knows cannot be learnt: name each "
                "column once."
            )
        twice = {n for n in self.columns if self.columns.count(n) > 1} - set(both)
        if twice:
            roles = "keys, sensitive, weight, household and person"
            yield f"{_listed(sorted(twice))}: named twice among {roles}. Name it once."
        if self.weight is not None and self.weight in schema and not schema[self.weight].is_numeric():
            yield f"Column {self.weight!r} is not numeric, so it holds no sampling weights."

    def check_weights(self, rows: pl.LazyFrame, codebook: Codebook) -> None:
        """Refuse weights that are not above 0; missing values and codes are none.

        Raises
        ------
        DataError
            Names the column.
        """
        if self.weight is None:
            return
        dtype = rows.collect_schema()[self.weight]
        given = rows.select(pl.col(self.weight).filter(~codebook.missing(self.weight, dtype)))
        least, most = given.select(least=pl.all().min(), most=pl.all().max()).collect(engine="streaming").row(0)
        if least is None or not least > 0 or most == float("inf"):
            raise DataError(
                f"Sampling weights must be finite and above 0, and column {self.weight!r} has others. Mend them, or "
                "say under `missing` in a plan which codes stand for missing."
            )

    def on(self, codebook: Codebook) -> Codebook:
        """The codebook with these roles: where columns are named for a role, no others have it."""
        named = {name: role for role, names in self._roles().items() for name in names}
        filled = {role for role, names in self._roles().items() if names}
        if Role.SENSITIVE in filled:
            filled.add(Role.OUTCOME)
        return Codebook({n: _with(v, named.get(n), filled) for n, v in codebook.items()})


def _with(variable: Variable, role: Role | None, filled: set[Role]) -> Variable:
    if role is None:
        update: dict[str, object] = {"role": Role.OTHER} if variable.role in filled else {}
        update |= {"sensitive": False} if Role.SENSITIVE in filled else {}
        return variable.model_copy(update=update)
    numbers = variable.kind if variable.kind in NUMERIC_KINDS else Kind.CONTINUOUS
    return variable.model_copy(update={"role": role} | ({"kind": numbers} if role == Role.WEIGHT else {}))


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))
