"""Values of a column, group after group: what sums and order statistics of groups are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["Groups"]

_VALUE = "sfumato:value"


@dataclass(frozen=True)
class Groups:
    """Values of one column, group after group.

    Parameters
    ----------
    keys
        The columns `by`, a row a group; no column without any.
    values
        Values that are not missing, shape (n,).
    starts
        Where each group begins, shape (g,).

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["m", "f", "m"], "age": [30.0, 40.0, 20.0]})
    >>> Groups.of(frame, [pl.col("sex")], pl.col("age"), order=True).values.tolist()
    [40.0, 20.0, 30.0]
    """

    keys: pl.DataFrame
    values: NDArray[np.float64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, frame: pl.DataFrame, by: Sequence[pl.Expr], value: pl.Expr, order: bool = False) -> Groups:
        """Group the values of an expression; in the order of the keys, and within groups if `order` says so."""
        each = value.alias(_VALUE)
        some = pl.col(_VALUE).drop_nulls()
        some = some.sort() if order else some
        if not by:
            values = frame.lazy().select(each).select(some).collect().to_series().to_numpy()
            return cls(pl.DataFrame(height=1), values, np.zeros(1, dtype=np.int64))
        names = [key.meta.output_name() for key in by]
        lists = frame.lazy().select(*by, each).group_by(names).agg(some).sort(names).collect()
        sizes = lists[_VALUE].list.len().to_numpy().astype(np.int64)
        flat = lists.filter(sizes > 0)[_VALUE].explode().to_numpy()
        return cls(lists.select(names), flat, np.cumsum(sizes) - sizes)

    def each(self) -> Iterator[tuple[dict[str, Any], NDArray[np.float64]]]:
        """Keys and values of each group."""
        starts, ends = self.starts.tolist(), [*self.starts[1:].tolist(), len(self.values)]
        rows = self.keys.to_dicts() if self.keys.width else [{}]
        return ((row, self.values[low:high]) for row, low, high in zip(rows, starts, ends, strict=False))
