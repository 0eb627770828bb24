"""What the intruder of a scenario knows, where that is not every key, exactly."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated

from pydantic import ConfigDict, Field

from sfumato.data.codebook import Codebook
from sfumato.data.described import Described
from sfumato.measures.intruding import Knowledge, Scenario

__all__ = ["Knows", "knowledge", "knows_problems"]


class Knows(Described):
    """What one intruder knows of a person.

    Parameters
    ----------
    keys
        The columns; by default all keys. Poor data protect: what an intruder cannot know, or knows badly, finds nobody.
    error
        By column how wrong the intruder is: a number is off by a normal error with this standard deviation, in the
        column's own unit; a category is with this probability another one, drawn from its margin.

    Examples
    --------
    >>> Knows(keys=["age", "sex"], error={"age": 2}).error["age"]
    2.0
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    keys: tuple[str, ...] | None = Field(default=None, min_length=1)
    error: dict[str, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)


def knowledge(knows: Mapping[Scenario, Knows]) -> dict[str, Knowledge]:
    """The same as measures take it.

    Examples
    --------
    >>> knowledge({"neighbour": Knows(keys=["age"])})["neighbour"].keys
    ('age',)
    """
    return {name: Knowledge(each.keys, each.error) for name, each in knows.items()}


def knows_problems(knows: Knows, released: Codebook, gone: Collection[str]) -> Iterator[str]:
    """Tell what is wrong with the knowledge of one intruder.

    Parameters
    ----------
    knows
        What is known.
    released
        What is known of the released variables.
    gone
        Columns of the data that are not released: to know them helps nobody.

    Examples
    --------
    >>> list(knows_problems(Knows(keys=["shoe"]), Codebook(), ()))
    ["it names 'shoe', which is no column of the data"]
    """
    named = dict.fromkeys((*(knows.keys or ()), *knows.error))
    if strange := [n for n in named if n not in released and n not in gone]:
        yield f"it names {', '.join(map(repr, strange))}, which is no column of the data"
    if dropped := [n for n in named if n not in released and n in gone]:
        yield f"it names {', '.join(map(repr, dropped))}, which is not released: there is nothing to compare it with"
    if beside := [n for n in knows.error if knows.keys is not None and n not in knows.keys]:
        yield f"`error` names {', '.join(map(repr, beside))}, which is not among its `keys`"
    for n, error in knows.error.items():
        if error > 1 and n in released and released[n].kind is not None and not _measured(released, n):
            yield f"`error` of {n!r}, a category, is the probability that another one is known: from 0 to 1"


def _measured(released: Codebook, column: str) -> bool:
    return released[column].numeric or released[column].kind == "date"
