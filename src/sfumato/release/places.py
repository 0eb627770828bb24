"""What gives the true place of exchanged households away: columns, and an order, that follow the areas."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.roles import Role
from sfumato.draws import PUBLIC, Purpose, units, written
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.saying import listed
from sfumato.methods.swap_households import SwapHouseholds
from sfumato.plan.plan import Plan

__all__ = ["told_places"]

_FOLLOWS = 0.5
"""Share of neighbours in one area, of what is left above chance, from which on a column is said to follow the areas."""

Ints = NDArray[np.int64]


def told_places(plan: Plan, before: PolarsDataset, after: PolarsDataset) -> Iterator[str]:
    """Warn of released columns, and of an order of rows, by which neighbours are nearly always of one area.

    Whoever sorts by such a column sees an exchanged household among those of the area that it came from.

    Parameters
    ----------
    plan
        The plan as run.
    before
        The table as it enters.
    after
        The released table.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> table = PolarsDataset(pl.DataFrame({"a": [1]}), Codebook())
    >>> list(told_places(Plan(), table, table))
    []
    """
    for step in (s for s in plan.steps if isinstance(s, SwapHouseholds)):
        household = before.codebook.the(Role.HOUSEHOLD)
        if household is None or any(n not in before.columns for n in step.geography):
            continue
        homes = before.frame.filter(pl.col(household).is_not_null())
        homes = homes.unique(household, keep="first", maintain_order=True)
        if homes.height < 2:
            continue
        areas = [_labels(homes, step.geography[: i + 1]) for i in range(len(step.geography))]
        ids = homes[household]
        chance = PUBLIC.permutation(
            units(ids if ids.dtype.is_integer() else written(ids)), Purpose("order", "told places")
        )
        changed = {n for s in plan.steps if s.masks or s.coarsens or s.replaces for n in s.changes}
        whole = [n for n in after.columns if n in homes.columns and n not in changed and n not in step.changes]
        told = [n for n in whole if _follows(_sorted_by(homes[n], chance), areas)]
        if told:
            yield (
                f"{listed(told)} gives exchanged households back: sorted by it, neighbours are nearly always of one "
                f"area ({', '.join(step.geography)}). Move it with them (carry), drop it, or, where it is an id, "
                "replace it after swap_households (pseudonymise)."
            )
        if plan.order == "input" and _follows(np.arange(homes.height), areas):
            yield (
                f"The order of rows gives exchanged households back: neighbours are nearly always of one area "
                f"({', '.join(step.geography)}). Leave `order: input` out."
            )


def _labels(frame: pl.DataFrame, columns: tuple[str, ...]) -> Ints:
    """A number for each combination of values, shape (n,)."""
    label = frame.select(pl.struct(pl.col(columns).cast(pl.String)).rank("dense")).to_series()
    return label.to_numpy().astype(np.int64)


def _sorted_by(column: pl.Series, chance: NDArray[np.intp]) -> Ints:
    """Rows in the order of a column; those that tie by chance."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return np.asarray(chance, dtype=np.int64)
    value = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
    return np.asarray(chance[value.gather(chance).arg_sort().to_numpy()], dtype=np.int64)


def _follows(order: Ints, areas: list[Ints]) -> bool:
    """Whether neighbours in an order share an area of some level far more often than any two do."""
    for area in areas:
        share = float((area[order][1:] == area[order][:-1]).mean())
        count = np.bincount(area)
        chance = float((count * (count - 1.0)).sum() / (len(area) * (len(area) - 1.0)))
        if share - chance > _FOLLOWS * (1 - chance):
            return True
    return False
