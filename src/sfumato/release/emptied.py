"""Keys that steps took single values out of, beside what is released of them, for whoever would guess these back."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sfumato.data.hidden import CELLS, ROW
from sfumato.data.publishable import Publishable
from sfumato.data.suppression import Emptied
from sfumato.measures.saying import listed
from sfumato.plan.plan import Plan

__all__ = ["CHANGED", "emptied_of"]

CHANGED = (
    "{step} took values out of {keys}, and later steps changed {columns}: whether the values can be guessed from the "
    "rule was not measured."
)


def emptied_of(
    plan: Plan, after: pl.DataFrame, views: Mapping[str, pl.DataFrame]
) -> tuple[tuple[Emptied, ...], tuple[str, ...]]:
    """Both sides of each step of a plan that takes out single values, and notes on those that cannot be compared.

    Parameters
    ----------
    plan
        The plan as run.
    after
        The result, with the numbers of the records.
    views
        What the run kept, by name: keys as they entered such steps, with the numbers of the records.
    """
    found: list[Emptied] = []
    notes: list[str] = []
    for i, step in enumerate(plan.steps):
        rule = step.empties
        if rule is None or CELLS.format(i) not in views:
            continue
        columns = (*rule.keys, *rule.by)
        later = {n for each in plan.steps[i + 1 :] for n in each.changes}
        if changed := [n for n in columns if n in later or n not in after.columns]:
            notes.append(Publishable(CHANGED.format(step=step.name, keys=listed(rule.keys), columns=listed(changed))))
            continue
        was = views[CELLS.format(i)].unique(ROW)
        both = after.select(ROW).join(was, on=ROW, how="left", maintain_order="left")
        found.append(Emptied(rule, both.drop(ROW), after.select(columns)))
    return tuple(found), tuple(notes)
