"""What somebody can recover now from all that they may know: for stewards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.gate.case import Case
from sfumato.gate.margin import Margin
from sfumato.gate.records import Records
from sfumato.gate.stages.cover import ends
from sfumato.gate.stages.exact import LARGEST, Joint

__all__ = ["Recovered", "recovered"]

_SHOWN = 20


@dataclass(frozen=True)
class Recovered:
    """What can be told of the cells of the joint table; confidential.

    Parameters
    ----------
    joint_cells
        How many there are.
    zeros, ones
        Cells that hold somebody's absence, or a single person, for certain; None where it was not found out.
    exact
        Whether the ends are those of the attacker; else they lie within what he is given beside, and cells may be less
        certain than shown.
    narrowest
        The small cells that are known most closely: their codes, `count`, `lower`, `upper`.
    """

    joint_cells: int
    zeros: int | None
    ones: int
    exact: bool
    narrowest: pl.DataFrame

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "joint_cells": self.joint_cells,
            "zeros": self.zeros,
            "ones": self.ones,
            "exact": self.exact,
            "narrowest": self.narrowest.to_dicts(),
        }


def recovered(data: Records, knowledge: Iterable[Margin], *, shown: int = _SHOWN) -> Recovered:
    """Find what somebody who knows some margins can recover.

    Parameters
    ----------
    data
        The records.
    knowledge
        All that they may know.
    shown
        How many cells are listed.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.gate.margin import Node
    >>> from sfumato.gate.reading import records_of
    >>> data = records_of(pl.DataFrame({"A": [1, 1, 2], "B": [1, 2, 2], "n": [1, 3, 4]}), count="n")
    >>> found = recovered(data, [Margin.of([Node("A"), Node("B")])])
    >>> found.zeros, found.ones, found.narrowest["count"].to_list()
    (1, 1, [1, 3, 4])
    """
    held_true = sorted({data.structure.canonical(margin) for margin in knowledge if not margin.noise})
    if not held_true:
        return Recovered(0, 0, 0, True, pl.DataFrame())
    case = Case.of(data, held_true)
    joint = case.scope.joint(case.nodes)
    held = np.flatnonzero(joint.count)
    first = np.zeros(len(joint.count), dtype=np.int64)
    first[joint.cell] = np.arange(case.scope.rows)
    cliques, between, exact = case.cover
    low, high = ends(case, cliques, between, first[held])
    zeros: int | None = None
    if case.joint_cells <= LARGEST:
        reach = Joint(case).reach
        cells = Joint(case).of_records(first[held])
        low, high = np.array([reach.ends(int(cell)) for cell in cells]).reshape(-1, 2).T
        zeros = sum(not reach.reaches(cell) for cell in range(case.joint_cells))
        exact = True
    order = np.lexsort((joint.count[held], high - low))[:shown]
    columns: dict[str, Any] = {}
    for node in case.nodes:
        groups = np.array(case.structure.groups(node), dtype=object)
        columns[str(node)] = groups[case.scope.column(node)[first[held[order]]]].tolist()
    told = {"count": joint.count[held[order]], "lower": low[order], "upper": high[order]}
    return Recovered(
        case.joint_cells, zeros, int(((low == 1) & (high == 1)).sum()), exact, pl.DataFrame(columns | told)
    )
