"""Tables of some variables as a lattice: which are given, which could be, which maximal releases hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from sfumato.render.drawing import GOOD, INK, MUTED, PAPER, RISKY, RULE, WIDTH, Drawing

__all__ = ["State", "lattice", "letters"]

State = Literal["granted", "possible", "closed"]
_HIGH = 66.0
_RADIUS = 15.0


def letters(variables: Sequence[str]) -> dict[str, str]:
    """A letter for each variable.

    Examples
    --------
    >>> letters(["sex", "age"])
    {'sex': 'A', 'age': 'B'}
    """
    return {name: chr(ord("A") + i) for i, name in enumerate(variables)}


def lattice(
    variables: Sequence[str],
    states: Mapping[frozenset[str], State],
    contained: Mapping[frozenset[str], int],
    name: str = "lattice",
) -> str:
    """Draw tables in rows, those of one variable below; lines lead to those with one variable more.

    A filled circle is a table that is known, a ring one that could still be given, a cross one that could not.

    Parameters
    ----------
    variables
        Their names; more than five cannot be read.
    states
        By table, as the set of its variables.
    contained
        By table, in how many maximal releases it stands.
    name
        Unique in the page.

    Returns
    -------
    str
        An `svg` element.

    Examples
    --------
    >>> lattice(["a"], {frozenset("a"): "granted"}, {frozenset("a"): 3})[:12]
    '<svg viewBox'
    """
    letter = letters(variables)
    tables = sorted(states, key=lambda one: (len(one), sorted(letter[v] for v in one)))
    rows = [[one for one in tables if len(one) == many] for many in range(1, len(variables) + 1)]
    drawing = Drawing(
        WIDTH,
        _HIGH * len(rows) + 12,
        name,
        "Tables and what they are part of",
        "Each circle is a table of some variables; the list beside the picture says the same in words.",
    )
    at = {}
    for i, row in enumerate(rows):
        y = _HIGH * (len(rows) - 1 - i) + 26
        for j, table in enumerate(row):
            at[table] = (WIDTH * (j + 0.5) / len(row), y)
    for small in tables:
        for large in tables:
            if len(large) == len(small) + 1 and small < large:
                (x, y), (x2, y2) = at[small], at[large]
                drawing.line(x, y, x2, y2, colour=RULE, width=0.8)
    for table in tables:
        _node(drawing, *at[table], "".join(sorted(letter[v] for v in table)), states[table], contained.get(table))
    return drawing.to_svg()


def _node(drawing: Drawing, x: float, y: float, label: str, state: State, many: int | None) -> None:
    size = 11 if len(label) < 4 else 8.5
    if state == "granted":
        drawing.circle(x, y, _RADIUS, fill=GOOD, colour=GOOD)
        drawing.text(x, y, label, anchor="middle", colour=PAPER, size=size, bold=True)
    elif state == "possible":
        drawing.circle(x, y, _RADIUS, fill=PAPER, colour=GOOD, line=2)
        drawing.text(x, y, label, anchor="middle", colour=INK, size=size)
    else:
        drawing.circle(x, y, _RADIUS, fill=PAPER, colour=RULE, line=1)
        drawing.text(x, y, label, anchor="middle", colour=MUTED, size=size)
        drawing.line(x - 10, y + 10, x + 10, y - 10, colour=RISKY, width=1.5)
    if many is not None:
        drawing.rectangle(x - 12, y + _RADIUS + 1, 24, 13, fill=PAPER)
        drawing.text(x, y + _RADIUS + 8, str(many), anchor="middle", colour=MUTED, size=10)
