"""Where the places of a plan stand in its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sfumato.errors import PlanError, Problem
from sfumato.plan.editing.tree import Path, Tree

__all__ = ["located", "place"]


def place(text: str, path: Path) -> tuple[int, int]:
    """Tell where a key or an item begins: line and column, both from 1.

    Parameters
    ----------
    text
        A plan as YAML.
    path
        Keys, and positions of items from 0.

    Raises
    ------
    PlanError
        Where the path leads nowhere, or the text is no YAML.

    Examples
    --------
    >>> place("steps:\\n  - {do: noise, k: 3}", ["steps", 0, "k"])
    (2, 17)
    """
    tree = Tree(text)
    begin = tree.begin(tree.spot(path)) if path else tree.root.start_mark.index
    line = tree.line(begin)
    return line + 1, begin - tree.start(line) + 1


def located(text: str, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Give problems the lines that they have in a text, in the order of the lines.

    A problem keeps the line that it has. Else it gets that of the nearest key or item on the way along its path; a
    problem of the whole plan, and of a variable that the text does not mention, has none.

    Parameters
    ----------
    text
        The plan that the problems are of; where it is no YAML, they stay as they are.
    problems
        As `PlanError.problems` has them.

    Examples
    --------
    >>> [str(p) for p in located("steps:\\n  - {do: noise}", [Problem("k is too small", path=("steps", 0, "k"))])]
    ['line 2: k is too small']
    """
    given = tuple(problems)
    try:
        tree = Tree(text)
    except PlanError:
        return given
    found = (p if p.line is not None else replace(p, line=_nearest(tree, p.path)) for p in given)
    return tuple(sorted(found, key=lambda problem: (problem.line is None, problem.line or 0)))


def _nearest(tree: Tree, path: Path) -> int | None:
    spot = tree.walk(path)
    sections = 3 if path[:1] == ("tables",) else 1  # the line of `variables` would be no line of one of them
    return tree.line_of(spot) if len(spot.path) > sections or (spot.path and len(spot.path) == len(path)) else None
