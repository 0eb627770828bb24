"""The numbers of a plan that can be tuned."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.errors import PlanError
from sfumato.plan.parameter import Parameter
from sfumato.plan.plan import Plan

__all__ = ["tunable"]


def tunable(plan: Plan) -> dict[str, float]:
    """The numbers of a plan's steps by the names that `tune` takes, each with its value.

    Parameters
    ----------
    plan
        Of one table.

    Returns
    -------
    dict of str to float
        In the order of the plan; numbers by column each for itself.

    Examples
    --------
    >>> from sfumato import steps
    >>> tunable(Plan(steps=[steps.Noise(columns=["bmi"], share=0.1)]))["steps.0.share"]
    0.1
    """
    found: dict[str, float] = {}
    for number, step in enumerate(plan.steps):
        for name, value in step.model_dump().items():
            given = {f".{key}": one for key, one in value.items()} if isinstance(value, Mapping) else {"": value}
            for column, one in given.items():
                path = f"steps.{number}.{name}{column}"
                if isinstance(one, int | float) and not isinstance(one, bool) and _is_one(path, plan):
                    found[path] = one
    return found


def _is_one(path: str, plan: Plan) -> bool:
    try:
        Parameter(path, plan)
    except PlanError:
        return False
    return True
