"""Options that the commands of decisions share, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfumato.engines.polars import PolarsDataset
    from sfumato.gate.policy import Policy
    from sfumato.gate.reading import Levels

_COUNTS = ("n", "count", "counts", "freq", "frequency", "obs")

__all__ = [
    "Attribution",
    "Chance",
    "Count",
    "DependencesOption",
    "Dominance",
    "IntervalOption",
    "LevelsFile",
    "Never",
    "chances",
    "hint_of_counts",
    "nevers",
    "policy_of",
    "read_groups",
]

Count = Annotated[str | None, typer.Option(help="The column of counts of a table; else every row is one person.")]
IntervalOption = Annotated[
    str | None,
    typer.Option(
        metavar="COUNT:WIDTH",
        help="Every joint cell of 1 to COUNT people can be WIDTH more or less. 4:10 where no criterion is given.",
    ),
]
Attribution = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VARIABLE:RULE",
        help="What a group has stays uncertain: positive (two levels remain possible) or any (all do). Repeat it.",
    ),
]
Dominance = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE",
        help="A rule on shares for sums: p(10), pq(10,50), nk(2,85). Repeat it. p(10) and nk(2,90) else.",
    ),
]
LevelsFile = Annotated[
    Path | None, typer.Option(help="YAML file of levels: variable, then level, then a file with code and group.")
]
Never = Annotated[
    list[str] | None,
    typer.Option(metavar="A=x,B=y", help="A combination of codes that cannot be: sex=M,pregnant=yes. Repeat it."),
]

Chance = Annotated[
    list[str] | None,
    typer.Option(metavar="A,B", help="Columns that were found to hang on one another, by chance alone. Repeat it."),
]
DependencesOption = Annotated[
    Literal["found", "declared"],
    typer.Option(help="What counts as known: all that is found in the data, or levels and --never alone."),
]


def policy_of(interval: str | None, attribution: list[str] | None, dominance: list[str] | None = None) -> Policy:
    """The criteria that options name.

    Raises
    ------
    DataError
        What cannot be read, or is no criterion.
    """
    from pydantic import ValidationError

    from sfumato.data.plain_errors import plain_errors
    from sfumato.errors import DataError
    from sfumato.gate.policy import of_criteria

    pair = None
    if interval is not None:
        parts = interval.split(":")
        if len(parts) != 2 or not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
            raise DataError("--interval is COUNT:WIDTH, two whole numbers: 4:10.")
        pair = int(parts[0]), int(parts[1])
    rules: dict[str, str] = {}
    for one in attribution or []:
        variable, colon, rule = one.rpartition(":")
        if not colon or not variable or rule not in ("positive", "any"):
            raise DataError("--attribution is VARIABLE:positive or VARIABLE:any.")
        rules[variable] = rule
    try:
        return of_criteria(pair, rules, dominance or None)
    except ValidationError as error:
        raise DataError("; ".join(sentence for _, sentence in plain_errors(error, None))) from None


def nevers(given: Sequence[str] | None) -> list[dict[str, str]]:
    """Combinations that cannot be."""
    from sfumato.gate.reading import read_never

    return [read_never(one) for one in given or []]


def chances(given: Sequence[str] | None) -> list[tuple[str, ...]]:
    """Sets of columns that hang on one another by chance."""
    return [tuple(part.strip() for part in one.split(",")) for one in given or []]


def hint_of_counts(data: PolarsDataset, count: str | None) -> None:
    """Tell where a table of counts seems to be taken for records."""
    from sfumato.cli.talk import say

    if count is not None:
        return
    for name in data.columns:
        others = [other for other in data.columns if other != name]
        named = name.lower() in _COUNTS and data[name].dtype.is_integer()
        if named and others and data.frame.select(others).n_unique() == len(data):
            say([f"Column {name!r} looks like counts. If it is, say --count {name}: else every row is one person."])


def read_groups(path: Path | None) -> Levels | None:
    """The levels in a file."""
    from sfumato.gate.reading import read_levels

    return None if path is None else read_levels(path, path.parent)
