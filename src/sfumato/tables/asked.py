"""What a table is asked for: `--by` in words, several tables of the same data, variables of several columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.table import RESERVED

__all__ = ["By", "Chain", "Trees", "asked_tables", "given_trees"]

By = str | Sequence[str] | Sequence[Sequence[str]]
Trees = Mapping[str, Hierarchy | Sequence[Hierarchy]]

_NESTED = ">"
_MOST = 50


@dataclass(frozen=True)
class Chain:
    """Columns of one variable from the broadest to the finest, and how many of them a table goes down.

    Examples
    --------
    >>> Chain(("A10", "A21"), "A88").columns
    ('A10', 'A21')
    """

    columns: tuple[str, ...]
    variable: str


def asked_tables(by: By) -> tuple[tuple[Chain, ...], ...]:
    """Read what tables are asked for.

    Parameters
    ----------
    by
        Variables of a table, as a list or as a text with commas; a list of such for several tables. `A10>A21>A88` are
        nested columns of one variable, which is named after its finest level. The beginning of a chain that another
        table goes further down is of the same variable.

    Raises
    ------
    DataError
        No variable, a variable twice in a table, a name of a column that table files need.

    Examples
    --------
    >>> [[chain.variable for chain in table] for table in asked_tables(["A10>A21,SIZE", "A10,CJ"])]
    [['A21', 'SIZE'], ['A21', 'CJ']]
    """
    tables = [[_columns(part) for part in table] for table in _listed(by)]
    chains = {chain for table in tables for chain in table}
    out = tuple(tuple(Chain(chain, _variable(chain, chains)) for chain in table) for table in tables)
    for table in out:
        names = [chain.variable for chain in table]
        if not names:
            raise DataError("A table needs a variable to count by. Name its columns in `by`.")
        if twice := next((n for n in names if names.count(n) > 1), None):
            raise DataError(
                f"{twice!r} stands twice in one table. Other groupings of it go into a second table: give --by again "
                "(`by` as a list of lists)."
            )
        if taken := next((n for n in names if n in RESERVED), None):
            raise DataError(f"{taken!r} is a name that table files need for themselves. Rename the column.")
    return tuple(dict.fromkeys(out))


def _listed(by: By) -> list[list[str]]:
    """By table its variables; a plain list of texts is one table, unless one of them has a comma."""
    if isinstance(by, str):
        return [by.split(",")]
    parts = list(by)
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts) and not any("," in part for part in texts):
        return [texts]
    return [part.split(",") if isinstance(part, str) else list(part) for part in parts]


def _columns(part: str) -> tuple[str, ...]:
    columns = tuple(name.strip() for name in part.split(_NESTED))
    if not all(columns):
        raise DataError("`by` has an empty name. Write columns with commas between, nested ones as broad>fine.")
    if len(set(columns)) < len(columns) or len(columns) > _MOST:
        raise DataError(f"`by` names a column twice in a chain, or more than {_MOST} of them.")
    return columns


def _variable(chain: tuple[str, ...], chains: set[tuple[str, ...]]) -> str:
    """The finest level of the longest chain that begins so."""
    longer = [other for other in chains if other[: len(chain)] == chain]
    return min(longer, key=lambda other: (-len(other), other))[-1]


def given_trees(trees: Trees | None, variables: Sequence[str]) -> dict[str, tuple[Hierarchy, ...]]:
    """The hierarchies that were given, one or several for a variable.

    Raises
    ------
    DataError
        For a variable that no table has.
    """
    given = {n: (h,) if isinstance(h, Hierarchy) else tuple(h) for n, h in (trees or {}).items()}
    if unknown := [n for n in given if n not in variables]:
        raise DataError(f"{', '.join(map(repr, unknown))} has a hierarchy, but is no variable of the table.")
    return given
