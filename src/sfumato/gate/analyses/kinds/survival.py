"""Survival by intervals: the life table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.gate.analyses.kind import Kind
from sfumato.gate.analyses.values import digits, node_of, sides, values_of

__all__ = ["KIND", "present"]


def present(content: Mapping[str, Any], request: Any, records: Any) -> dict[str, Any]:
    """How many were at risk and had the event in each interval, and the life table's survival at its end.

    Those who left within an interval without the event count as at risk for half of it (the actuarial estimate).
    """
    time, groups = request.formula.response, request.formula.columns[1:]
    at = content["columns"].index
    intervals = _in_order(time, records)
    _, happened = sides(request.event, request, records)
    known = set(values_of(request.event, records))
    counts: dict[tuple[str, ...], Any] = {}
    for row in content["rows"]:
        if row[at(time)] in intervals and row[at(request.event)] in known:
            own = counts.setdefault(tuple(row[at(one)] for one in groups), np.zeros((len(intervals), 2)))
            own[intervals.index(row[at(time)]), int(row[at(request.event)] == happened)] += row[len(content["by"])]
    rows = [line for group, own in sorted(counts.items()) for line in _life_table(group, intervals, own)]
    columns = [*groups, time, "at_risk", "events", "survival"]
    by = [[node_of(name).variable, node_of(name).level] for name in (*groups, time)]
    return {**content, "by": by, "columns": columns, "rows": rows}


def _life_table(group: tuple[str, ...], intervals: list[str], own: Any) -> list[list[Any]]:
    left, survival, out = own.sum(), 1.0, []
    for name, (gone, events) in zip(intervals, own, strict=True):
        exposed = left - gone / 2
        survival *= 1 - events / exposed if exposed > 0 else 1.0
        out.append([*group, name, int(left), int(events), digits(survival, 6)])
        left -= gone + events
    return out


def _in_order(name: str, records: Any) -> list[str]:
    """Intervals in the order of the codes that they hold."""
    node = node_of(name)
    groups = records.structure.groups(node)
    values = set(values_of(name, records))
    return [g for g in dict.fromkeys(groups[i] for i in records.structure.place(node)) if g in values]


KIND = Kind(
    "survival",
    "Survival by intervals",
    statbarn="hazard and survival",
    sentence=(
        "How many were at risk and had the event in each interval of a level, by group, and the life table's "
        "survival. Decided as the table of interval, event and group."
    ),
    example="`weeks@interval` ~ ward",
    response="category",
    shape="table",
    needs=("event",),
    thresholds={},
    present=present,
)
