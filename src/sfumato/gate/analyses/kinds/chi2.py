"""Pearson's test of independence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.gate.analyses.kind import Kind
from sfumato.gate.analyses.values import digits, values_of

__all__ = ["KIND", "present"]


def present(content: Mapping[str, Any], request: Any, records: Any) -> dict[str, Any]:
    """The table, with the statistic, its degrees of freedom and p; missing values and empty lines take no part."""
    from scipy.stats import chi2_contingency

    names = request.formula.columns
    place = [content["columns"].index(name) for name in names]
    values = [values_of(name, records) for name in names]
    table = np.zeros([len(own) for own in values])
    for row in content["rows"]:
        if all(row[at] in own for at, own in zip(place, values, strict=True)):
            at = tuple(own.index(row[at]) for at, own in zip(place, values, strict=True))
            table[at] += row[len(content["by"])]
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return dict(content)
    found = chi2_contingency(table, correction=False)
    statistics = {"chi2": digits(found.statistic), "df": int(found.dof), "p": digits(found.pvalue)}
    return {**content, "statistics": statistics}


KIND = Kind(
    "chi2",
    "Test of independence",
    statbarn="statistical hypothesis tests",
    sentence="Pearson's chi-squared of a table, with the table that it comes from: both are decided as that table.",
    example="sex ~ ward",
    response="category",
    shape="table",
    thresholds={},
    present=present,
)
