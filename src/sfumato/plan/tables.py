"""The tables of a plan of several files, and the links between them that a release keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, SerializeAsAny, field_validator, model_validator

from sfumato.data.codebook import Variable
from sfumato.data.described import Described
from sfumato.data.roles import Role
from sfumato.measures.intruding import Scenario
from sfumato.plan.knows import Knows
from sfumato.plan.limits import Limit
from sfumato.plan.step import AnyStep
from sfumato.plan.unknown import Unknown

__all__ = ["ACCESS", "MOST_TABLES", "TAKEN", "Access", "DeclaredLink", "TablePlan", "about_persons", "refuse_names"]

MOST_TABLES = 100
"""Most tables of a plan: every two are searched for links."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
Access = Literal["open", "safeguarded", "controlled"]
ACCESS: tuple[Access, ...] = get_args(Access)
"""Ways of access, the most open first."""
TAKEN = ("datapackage", "plan", "report")
"""Names of a release's papers, which no table can have."""


class TablePlan(Described):
    """One table of a plan of several: what a plan of one table has, and the file.

    Parameters
    ----------
    file
        Name of the data file, in the folder that is given to `protect` (by default the plan's own). One file may stand
        in several tables.
    variables, steps, limits, knows, unknown
        As in a plan of one table.
    access
        How the released table is accessed, where that is not as the plan says: `open`, `safeguarded` (registered users)
        or `controlled` (a safe room). Such tables go to a folder of their own.

    Examples
    --------
    >>> TablePlan(file="visits.csv").steps
    ()
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = Field(min_length=1)
    variables: dict[str, Variable] = Field(default_factory=dict)
    steps: tuple[SerializeAsAny[AnyStep], ...] = ()
    limits: tuple[Limit, ...] = ()
    knows: dict[Scenario, Knows] = Field(default_factory=dict)
    unknown: tuple[Unknown, ...] = ()
    access: Access | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_empty_entries(cls, given: Any) -> Any:
        return {k: v for k, v in given.items() if v is not None} if isinstance(given, dict) else given

    @field_validator("file")
    @classmethod
    def _plain(cls, file: str) -> str:
        if file in (".", "..") or any(sign in file for sign in "/\\\0:"):
            raise ValueError("the plain name of a file is needed, without folders: the folder is given to protect")
        return file


class DeclaredLink(Described):
    """A link between two tables that the release keeps on purpose.

    Parameters
    ----------
    from_
        The table whose records belong to records of the other: `from` in YAML.
    to
        The other table; `on` is unique there.
    on
        Columns that both tables release, with equal values for what belongs together.

    Examples
    --------
    >>> DeclaredLink.model_validate({"from": "visits", "to": "farmers", "on": ["farm"]}).on
    ('farm',)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    from_: str = Field(alias="from")
    to: str
    on: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _of_two(self) -> Self:
        if self.from_ == self.to:
            raise ValueError("a link is between two tables")
        if len(set(self.on)) < len(self.on):
            raise ValueError("`on` names a column twice")
        return self

    @property
    def tables(self) -> frozenset[str]:
        """Both tables."""
        return frozenset((self.from_, self.to))


def about_persons(tables: Mapping[str, TablePlan], links: Sequence[DeclaredLink]) -> dict[str, TablePlan]:
    """Tables whose records a declared link makes those of persons: limits then count persons, not records.

    A column that belongs to a record or person of the other table, and that has no role, is the `person` where there is
    none yet.

    Parameters
    ----------
    tables
        The tables by name.
    links
        The declared links; the tables that they name are there.

    Examples
    --------
    >>> ward = TablePlan(file="ward.csv", variables={"id": Variable(role="record")})
    >>> link = DeclaredLink(from_="visits", to="ward", on=("id",))
    >>> about_persons({"ward": ward, "visits": TablePlan(file="visits.csv")}, [link])["visits"].variables["id"].role
    <Role.PERSON: 'person'>
    """
    found: dict[str, TablePlan] = {}
    for link in links:
        own, theirs = found.get(link.from_, tables[link.from_]).variables, tables[link.to].variables
        (first, *more) = link.on
        whose, now = theirs.get(first, Variable()).role, own.get(first, Variable())
        taken = any(variable.role == Role.PERSON for variable in own.values())
        if not more and not taken and now.role == Role.OTHER and whose in (Role.RECORD, Role.PERSON):
            variables = {**own, first: now.model_copy(update={"role": Role.PERSON})}
            found[link.from_] = tables[link.from_].model_copy(update={"variables": variables})
    return found


def refuse_names(tables: dict[str, Any]) -> dict[str, Any]:
    """Refuse names of tables that could not be names of files beside a release's papers.

    Examples
    --------
    >>> refuse_names({"../visits": 1})
    Traceback (most recent call last):
    ValueError: names of tables are letters, digits, - and _, at most 64 of them, and become names of files
    """
    if len(tables) > MOST_TABLES:
        raise ValueError(f"at most {MOST_TABLES} tables")
    if not all(_NAME.fullmatch(name) for name in tables):
        raise ValueError("names of tables are letters, digits, - and _, at most 64 of them, and become names of files")
    folded = [name.lower() for name in tables]
    if len(set(folded)) < len(folded) or not set(folded).isdisjoint(TAKEN):
        raise ValueError(f"names of tables must differ in more than case, and not be {', '.join(TAKEN)}")
    return tables
