"""What is asked for and what is known: whole margins, in one canonical form.

A margin is a set of nodes (a variable, or a level of one), what is summed over it, and the version of the data. Parts
of a margin may be shown; what is decided and remembered is the whole (slices decided alone give the data away).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.errors import DataError

__all__ = ["FIRST", "Margin", "Node", "base_of", "canonical_json", "parsed", "squared"]

FIRST = "v1"
"""The version of data that have no others."""
_PARTS = re.compile(r"(?<!\\)([,@|])")
_SQUARES = "@squares of "  # no variable of the data can be named so


def squared(variable: str) -> str:
    """What stands for the squares of a variable where they are summed: models tell such sums, no table does.

    Examples
    --------
    >>> Margin.of([Node("sex")], value=squared("cost")).label
    'squares of cost|sex'
    """
    return _SQUARES + variable


def base_of(summed: str) -> str:
    """The variable of which the values, or their squares, are summed.

    Examples
    --------
    >>> base_of(squared("cost")), base_of("cost")
    ('cost', 'cost')
    """
    return summed.removeprefix(_SQUARES)


@dataclass(frozen=True, order=True)
class Node:
    """A variable, or one of its levels.

    Parameters
    ----------
    variable
        Its name.
    level
        Name of the level; empty for the variable's own codes.

    Examples
    --------
    >>> str(Node("region", "county")), str(Node("sex"))
    ('region@county', 'sex')
    """

    variable: str
    level: str = ""

    def __str__(self) -> str:
        return f"{self.variable}@{self.level}" if self.level else self.variable


@dataclass(frozen=True, order=True)
class Margin:
    """A margin of one version of the data.

    Parameters
    ----------
    nodes
        Without repeats, in rising order; none is the grand total.
    value
        The variable that is summed, or its squares (`squared`); empty for counts. A sum brings the counts of its cells.
    weight
        The variable that weights each record; empty for none. A weighted count brings the unweighted one.
    version
        Name of the version.
    noise
        The variance of the noise of a perturbed table, or the square of a protected fit's tau; empty where what is
        told is true.
    fit
        The canonical form of a protected fit, as JSON; empty where it is a table.

    Examples
    --------
    >>> Margin.of([Node("b"), Node("a"), Node("b")]).label
    'a,b'
    >>> Margin.of([Node("a")], value="cost").label
    'cost|a'
    """

    nodes: tuple[Node, ...] = ()
    value: str = ""
    weight: str = ""
    version: str = FIRST
    noise: str = ""
    fit: str = ""

    @classmethod
    def of(
        cls, nodes: Iterable[Node], value: str = "", weight: str = "", version: str = FIRST, noise: str = ""
    ) -> Margin:
        """A margin of nodes in any order."""
        return cls(tuple(sorted(set(nodes))), value, weight, version, noise)

    @property
    def label(self) -> str:
        """As commands write it: `cost|A,B`."""
        if self.fit:
            told = json.loads(self.fit)
            return f"~{told['kind']}: {told['formula']}"
        by = ",".join(map(str, self.nodes))
        value = self.value.removeprefix("@")
        summed = f"{value}*{self.weight}" if value and self.weight else value or self.weight
        perturbed = "~" if self.noise else ""
        return perturbed + (f"{summed}|{by}" if summed else by)

    def to_plain(self) -> dict[str, Any]:
        """The canonical form, for JSON."""
        exact = {
            "by": [[node.variable, node.level] for node in self.nodes],
            "value": self.value,
            "version": self.version,
            "weight": self.weight,
        }
        return exact | ({"noise": self.noise} if self.noise else {}) | ({"fit": self.fit} if self.fit else {})

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Margin:
        """Read what `to_plain` wrote."""
        nodes = [Node(variable, level) for variable, level in plain["by"]]
        table = cls.of(nodes, plain["value"], plain["weight"], plain["version"], plain.get("noise", ""))
        return replace(table, fit=plain["fit"]) if plain.get("fit") else table

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical form.

        Examples
        --------
        >>> Margin().digest == hashlib.sha256(b'{"by":[],"value":"","version":"v1","weight":""}').hexdigest()
        True
        """
        return hashlib.sha256(canonical_json(self.to_plain())).hexdigest()


def canonical_json(value: Any) -> bytes:
    """JSON that is the same wherever it is written: sorted keys, no spaces, UTF-8, no floats.

    Raises
    ------
    ValueError
        For a float.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    _refuse_floats(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise ValueError("canonical JSON holds no floats")
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        _refuse_floats(part)


def parsed(text: str, variables: Sequence[str], levels: Iterable[tuple[str, str]], version: str = FIRST) -> Margin:
    """Read a margin as commands write it: `A,region@county`, `cost|A,B`; nothing is the grand total.

    Parameters
    ----------
    text
        Nodes with commas between; before them, with a bar, the variable that is summed. A backslash before a comma, a
        bar or an @ makes it part of a name.
    variables, levels
        What there is.
    version
        Of which version.

    Raises
    ------
    DataError
        Unknown names.

    Examples
    --------
    >>> parsed("region@county, A", ["A", "region"], [("region", "county")]).label
    'A,region@county'
    """
    known_levels = set(levels)
    summed, bar, by = _split(text, "|")
    value = summed if bar else ""
    if value and value not in variables:
        raise DataError(f"There is no variable {value!r} to be summed. Variables: {', '.join(variables)}.")
    nodes = []
    rest = by if bar else text
    while rest.strip():
        one, _, rest = _split(rest, ",")
        variable, at, level = _split(one, "@")
        node = Node(_plain(variable), _plain(level) if at else "")
        if node.variable not in variables:
            raise DataError(f"There is no variable {node.variable!r}. Variables: {', '.join(variables)}.")
        if node.level and (node.variable, node.level) not in known_levels:
            own = [level for name, level in sorted(known_levels) if name == node.variable]
            raise DataError(f"{node.variable!r} has no level {node.level!r}. Its levels: {', '.join(own) or 'none'}.")
        nodes.append(node)
    return Margin.of(nodes, _plain(value), version=version)


def _split(text: str, mark: str) -> tuple[str, str, str]:
    """What stands before the first such mark, the mark, and what stands behind it."""
    for found in _PARTS.finditer(text):
        if found.group(1) == mark:
            return text[: found.start()], mark, text[found.end() :]
    return text, "", ""


def _plain(name: str) -> str:
    return re.sub(r"\\([,@|])", r"\1", name.strip())
