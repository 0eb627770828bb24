"""How each step of a plan runs where rows are not in memory: over batches, or over whole strata, and in how many looks.

A step needs whole strata where what it does to a record hangs on all others of its stratum: these are gathered, and at
most so many records of one fit into memory. Every other step learns a few figures of all records and then goes over
batches.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.query import SIZE, Classes
from sfumato.errors import DataError
from sfumato.methods.base import Method
from sfumato.plan.plan import Plan

__all__ = ["StepRun", "check_strata", "how_steps_run"]


@dataclass(frozen=True)
class StepRun:
    """How a step runs.

    Parameters
    ----------
    do
        The method.
    how
        `batch`: over any batches of rows. `stratum`: over whole strata.
    passes
        How often all rows are gone through for what it must know of them; at least one, in which its rows are made.
    """

    do: str
    how: Literal["batch", "stratum"]
    passes: int

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"do": self.do, "how": self.how, "passes": self.passes}


def how_steps_run(plan: Plan, codebook: Codebook) -> list[StepRun]:
    """Tell how each step runs.

    Parameters
    ----------
    plan
        The plan, bound to the columns.
    codebook
        Of the data as they enter.

    Examples
    --------
    >>> plan = Plan(steps=[{"do": "swap", "columns": ["age"], "by": ["sex"], "random": True}])
    >>> [step.to_plain() for step in how_steps_run(plan, Codebook())]
    [{'do': 'swap', 'how': 'stratum', 'passes': 1}]
    """
    told = []
    for step in plan.steps:
        passes = step.later_passes + _first_look(step, codebook)
        told.append(StepRun(step.name, "stratum" if step.whole_strata else "batch", max(1, passes)))
        with suppress(DataError):
            codebook = step.describe(codebook)
    return told


def _first_look(step: Method, codebook: Codebook) -> int:
    """Whether it asks anything of the rows as they enter it."""
    with suppress(KeyError):  # a column that an earlier step makes, of which nothing is known yet
        stage = step.stage(codebook, ())
        return int(stage is not None and bool(stage.queries))
    return 1


def check_strata(plan: Plan, data: Dataset, most: int) -> None:
    """Refuse strata that are too large for steps that need them whole, by counts alone.

    Parameters
    ----------
    plan
        The plan, bound to the columns.
    data
        The data as they enter.
    most
        Most records of a stratum.

    Raises
    ------
    DataError
        It names the columns of `by`, and no size and no category. Strata of columns that an earlier step changes are
        told only when that step has run.
    """
    changed: set[str] = set()
    for number, step in enumerate(plan.steps):
        by = tuple(step.strata)
        told = step.whole_strata and not changed & {*by} and {*by} <= {*data.codebook}
        if told and (data.ask(Classes(by))[SIZE] > most).any():
            raise DataError(too_large(step, number, most))
        changed |= {*step.changes}


def too_large(step: Method, number: int, most: int) -> str:
    """Say that a stratum is too large, and what to do."""
    by = list(step.strata)
    whole = f"some stratum of {', '.join(by)}" if by else "the table, which is one stratum to it,"
    takes_by = "by" in type(step).model_fields
    finer = ("finer columns in `by`" if by else "columns in `by`") + ", or " if takes_by else ""
    return (
        f"step {number + 1} ({step.name}) needs whole strata, and {whole} holds more than {most:,} records "
        f"(--max-stratum). Take {finer}a larger bound where there is memory for it."
    )
