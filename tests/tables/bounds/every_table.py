"""All whole tables that have given sums, one after the other: independent of everything of ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.tables.table import Table

Sum = tuple[list[int], float, float]
"""Cells that are added up, the least and the most of their sum."""


def sums_of(shape: Sequence[int], keep: Sequence[int], low: np.ndarray, high: np.ndarray) -> list[Sum]:
    """The sums that a margin tells, cells numbered in the order of their codes."""
    places = list(np.ndindex(*shape))
    out = []
    for cell in np.ndindex(*(shape[i] for i in keep)):
        of = [n for n, place in enumerate(places) if all(place[i] == c for i, c in zip(keep, cell, strict=True))]
        out.append((of, float(low[cell]), float(high[cell])))
    return out


def ends(shape: Sequence[int], sums: Sequence[Sum]) -> tuple[np.ndarray, np.ndarray] | None:
    """The least and the most of every cell over all tables; None where there is none."""
    n = int(np.prod(shape))
    of_cell = [[k for k, (cells, _, _) in enumerate(sums) if i in cells] for i in range(n)]
    last = [max(cells) for cells, _, _ in sums]
    left = [high for _, _, high in sums]
    short = [low for _, low, _ in sums]
    low, high, table = np.full(n, np.inf), np.full(n, -np.inf), [0] * n

    def walk(i: int) -> None:
        if i == n:
            np.minimum(low, table, out=low)
            np.maximum(high, table, out=high)
            return
        for value in range(int(min(left[k] for k in of_cell[i])) + 1):
            for k in of_cell[i]:
                left[k] -= value
                short[k] -= value
            table[i] = value
            if all(short[k] <= 0 or last[k] > i for k in of_cell[i]):
                walk(i + 1)
            for k in of_cell[i]:
                left[k] += value
                short[k] += value

    walk(0)
    return None if np.isinf(low).any() else (low.reshape(shape), high.reshape(shape))


def table_of(values: np.ndarray, names: str, **columns: np.ndarray) -> Table:
    """A margin as a table without totals; NaN is not told."""
    place = np.indices(values.shape).reshape(values.ndim, -1)
    codes = {name: [f"{name}{i}" for i in place[k]] for k, name in enumerate(names)}
    more = {name: pl.Series(one.ravel()).fill_nan(None) for name, one in columns.items()}
    return Table.of(
        pl.DataFrame({**codes, "count": pl.Series(values.ravel(), dtype=pl.Float64).fill_nan(None), **more})
    )
