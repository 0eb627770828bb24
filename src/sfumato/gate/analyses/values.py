"""Small things that all kinds of analysis read from the codebook, and how figures are written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sfumato.errors import DataError
from sfumato.gate.margin import Node
from sfumato.gate.records import Records

if TYPE_CHECKING:
    from sfumato.gate.analyses.request import Request

__all__ = ["digits", "is_number", "node_of", "sides", "values_of"]


def node_of(name: str) -> Node:
    """The node that a name in a formula is: `age@band10` is a level of `age`."""
    variable, _, level = name.partition("@")
    return Node(variable, level)


def is_number(name: str, categorical: bool, records: Records) -> bool:
    """Whether a name in a formula stands for numbers."""
    return not categorical and name in records.numbers and name not in records.factors


def values_of(name: str, records: Records) -> tuple[str, ...]:
    """The groups of a variable or level that are values, not kinds of missing."""
    node = node_of(name)
    structure = records.structure
    gone = structure.missing.get(node.variable, frozenset())
    codes = structure.codes[node.variable]
    kept = {int(place) for code, place in zip(codes, structure.place(node), strict=True) if code not in gone}
    return tuple(group for i, group in enumerate(structure.groups(node)) if i in kept)


def sides(name: str, request: Request, records: Records) -> tuple[str, str]:
    """The two values of a binary variable, the one that counts as 1 last.

    Raises
    ------
    DataError
        It has more or fewer values in the codebook, or `where` leaves one alone.
    """
    if node_of(name).variable not in records.structure.codes:
        raise DataError(f"{name!r} must have two values.")
    held = values_of(name, records)
    if len(held) != 2:
        raise DataError(f"{name!r} must have two values in the codebook, beside missing ones.")
    chosen = request.where.get(node_of(name))
    if chosen is not None and len(set(chosen) & set(held)) < 2:
        raise DataError(f"`where` leaves one value of {name!r} alone: there is nothing to explain.")
    if name == request.formula.response and request.positive:
        if request.positive not in held:
            raise DataError(f"`positive` is no value of {name!r} in the codebook.")
        return next(one for one in held if one != request.positive), request.positive
    return held[0], held[1]


def digits(value: float, many: int = 12) -> str:
    """A figure as text, to so many significant digits.

    Examples
    --------
    >>> digits(0.1 + 0.2), digits(1234567.0, 3), digits(-0.0)
    ('0.3', '1230000', '0')
    """
    if value == 0 or not math.isfinite(value):
        return "0"
    rounded = float(f"{value:.{many - 1}e}")
    return repr(int(rounded)) if rounded == int(rounded) and abs(rounded) < 1e15 else repr(rounded)
