"""Everything that data object to in a plan, at once, without running it."""

from __future__ import annotations

from typing import Any

from sfumato.api.read import read_whole
from sfumato.errors import PlanError, Problem, SfumatoError
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan

__all__ = ["check"]


def check(plan: Plan, data: Any) -> tuple[Problem, ...]:
    """Look whether a plan can run on a table, and list every problem.

    What can be known of columns, kinds and ids alone is looked at; what a step finds out about values only when it runs
    is not.

    Parameters
    ----------
    plan
        The plan; its own lines are told where it was read from text.
    data
        What `read` gives or takes.

    Returns
    -------
    tuple of Problem
        None where it can run.

    Examples
    --------
    >>> import polars as pl
    >>> plan = Plan.from_yaml("sfumato: 1\\ntitle: t\\nsteps:\\n  - {do: drop, columns: [nobody]}\\n")
    >>> [problem.line for problem in check(plan, pl.DataFrame({"age": [1, 2]}))]
    [4]
    """
    try:
        entered(plan, read_whole(data, "Checking a plan here"))
    except PlanError as error:
        return error.problems
    except SfumatoError as error:
        return (Problem(str(error)),)
    return ()
