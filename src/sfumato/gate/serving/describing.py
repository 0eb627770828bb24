"""The codebook as analysts see it, and requests that are written by its names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.data.roles import IDS, NUMERIC_KINDS, Kind, Role
from sfumato.errors import DataError
from sfumato.gate.margin import Margin, Node
from sfumato.gate.serving.core import Core

__all__ = ["Codebook", "Described", "Describing"]

_BY = (Kind.CATEGORICAL, Kind.ORDINAL)
_NEVER_BY = (*IDS, Role.IDENTIFIER, Role.WEIGHT)


@dataclass(frozen=True)
class Described:
    """A variable, as analysts see it: nothing of the records but what the codebook says.

    Parameters
    ----------
    name, role, kind
        Of the variable.
    label
        What it is, in words; empty where that is not said.
    codes
        Its codes, where a table can be shown by it; none else.
    levels
        By name of a level its groups.
    summed
        Whether it can be summed.
    """

    name: str
    role: str
    kind: str
    label: str = ""
    codes: tuple[str, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    summed: bool = False

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "role": self.role,
            "kind": self.kind,
            "label": self.label,
            "codes": list(self.codes),
            "levels": {level: list(groups) for level, groups in self.levels.items()},
            "summed": self.summed,
        }


@dataclass(frozen=True)
class Codebook:
    """A data set, as analysts see it.

    Parameters
    ----------
    id
        Its name.
    versions
        Oldest first.
    variables
        In the order of its columns.
    """

    id: str
    versions: tuple[str, ...]
    variables: tuple[Described, ...]

    def nodes(self) -> dict[str, Node]:
        """What a table can be shown by, as requests write it: `sex`, `age@band10`."""
        own = {variable.name: Node(variable.name) for variable in self.variables if variable.codes}
        levels = {f"{v.name}@{level}": Node(v.name, level) for v in self.variables for level in v.levels}
        return {**levels, **own}

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.id,
            "versions": list(self.versions),
            "variables": [variable.to_plain() for variable in self.variables],
        }


class Describing(Core):
    """The part of a gate that says what there is to ask for."""

    def codebook(self, dataset: str) -> Codebook:
        """A data set's variables, codes and levels, and its versions.

        Raises
        ------
        DataError
            There is no such data set.
        DataStopped
            Its file changed.
        """
        with self._lock:
            self._catch_up()
            records = self._records(self._state, dataset)
            known = dict(self.sources.codebook(dataset, self._state.datasets[dataset]).items())
        structure = records.structure
        levels: dict[str, dict[str, tuple[str, ...]]] = {}
        for variable, level in sorted(structure.levels):
            levels.setdefault(variable, {})[level] = structure.groups(Node(variable, level))
        names = list(
            dict.fromkeys([*(n for n in known if n in structure.codes or n in records.numbers), *structure.variables])
        )
        made = []
        for name in names:
            said = known.get(name)
            kind = Kind.CATEGORICAL if said is None or said.kind is None else said.kind
            role = Role.OTHER if said is None else said.role
            shown = kind in _BY and role not in _NEVER_BY
            made.append(
                Described(
                    name,
                    role.value,
                    kind.value,
                    (said.label if said is not None else None) or "",
                    structure.codes.get(name, ()) if shown else (),
                    levels.get(name, {}),
                    name in records.numbers and kind in NUMERIC_KINDS and role not in _NEVER_BY,
                )
            )
        return Codebook(dataset, records.versions, tuple(made))

    def request(
        self,
        dataset: str,
        by: Sequence[str],
        where: Mapping[str, Sequence[str]] | None = None,
        *,
        value: str = "",
        weight: str = "",
        version: str | None = None,
    ) -> tuple[Margin, dict[Node, tuple[str, ...]]]:
        """A request by the codebook's names; of the newest version where none is named.

        Parameters
        ----------
        dataset
            Name of the data set.
        by
            Variables of categories, and levels: `sex`, `age@band10`.
        where
            By such a name, the groups that are shown.
        value, weight
            The variable that is summed, and the one that weights each record; empty for none.
        version
            Name of the version.

        Raises
        ------
        DataError
            Names that there are not, or that no table is shown by: numbers, identifiers, weights.
        """
        book = self.codebook(dataset)
        wanted = version or book.versions[-1]
        if wanted not in book.versions:
            raise DataError(f"There is no version {wanted!r} of {dataset!r}. Versions: {', '.join(book.versions)}.")
        for name in (value, weight):
            known = next((one for one in book.variables if one.name == name), None)
            if known is not None and known.role in (*IDS, Role.IDENTIFIER):
                raise DataError(f"{name!r} cannot be summed: it says who somebody is.")
        return Margin.of([_node(name, book) for name in by], value, weight, wanted), self.groups(dataset, where)

    def groups(self, dataset: str, where: Mapping[str, Sequence[str]] | None) -> dict[Node, tuple[str, ...]]:
        """Groups by node, from groups by name.

        Parameters
        ----------
        dataset
            Name of the data set.
        where
            By a name of the codebook (`sex`, `age@band10`), the groups that are shown.

        Raises
        ------
        DataError
            Names that no table is shown by.
        """
        book = self.codebook(dataset) if where else Codebook(dataset, (), ())
        return {_node(name, book): tuple(groups) for name, groups in (where or {}).items()}


def _node(name: str, book: Codebook) -> Node:
    nodes = book.nodes()
    if name not in nodes:
        raise DataError(_no_node(name, book))
    return nodes[name]


def _no_node(name: str, book: Codebook) -> str:
    variable, at, level = name.partition("@")
    own = next((one for one in book.variables if one.name in (name, variable)), None)
    if own is None:
        return f"There is no variable {variable!r}. Variables: {', '.join(one.name for one in book.variables)}."
    levels = ", ".join(f"{own.name}@{one}" for one in own.levels) or "none"
    if at and own.name == variable:
        return f"{variable!r} has no level {level!r}. Its levels: {levels}."
    return f"No table is shown by {own.name!r}: it is {own.kind}, {own.role}. Its levels: {levels}."
