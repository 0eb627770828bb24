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

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many values each group has, shape (g,)."""
        return np.diff(self.starts, append=len(self.values))

    @classmethod
    def of(cls, frame: pl.DataFrame, by: Sequence[pl.Expr], value: pl.Expr, order: bool = False) -> Groups:
        """Group the values of an expression; in the order of the keys, and within groups if `order` says so."""
        return cls.of_several(frame, by, [value], order)[0]

    @classmethod
    def of_several(
        cls, frame: pl.DataFrame, by: Sequence[pl.Expr], values: Sequence[pl.Expr], order: bool = False
    ) -> list[Groups]:
        """Group the values of several expressions at once."""
        each = [value.alias(f"{_VALUE}{i}") for i, value in enumerate(values)]
        some = [pl.col(f"{_VALUE}{i}").drop_nulls() for i in range(len(each))]
        some = [x.sort() for x in some] if order else some
        if not by:
            columns = (frame.lazy().select(x).select(own).collect() for x, own in zip(each, some, strict=True))
            one, start = pl.DataFrame(height=1), np.zeros(1, dtype=np.int64)
            return [cls(one, column.to_series().to_numpy(), start) for column in columns]
        names = [key.meta.output_name() for key in by]
        lists = frame.lazy().select(*by, *each).group_by(names).agg(some).sort(names).collect()
        keys, found = lists.select(names), []
        for held in lists.select(pl.exclude(names)).iter_columns():
            sizes = held.list.len().to_numpy().astype(np.int64)
            flat = held.filter(sizes > 0).explode().to_numpy()
            found.append(cls(keys, flat, np.cumsum(sizes) - sizes))
        return found

    def lists(self) -> Iterator[NDArray[np.float64]]:
        """Values of each group."""
        starts, ends = self.starts.tolist(), [*self.starts[1:].tolist(), len(self.values)]
        return (self.values[low:high] for low, high in zip(starts, ends, strict=False))

    def ends(self) -> tuple[pl.Series, pl.Series]:
        """Smallest and largest value of each group, shape (g,), missing where there is none."""
        filled = np.flatnonzero(self.sizes)
        ends = []
        for which in (np.minimum, np.maximum):
            found = np.full(len(self.starts), np.nan)
            found[filled] = which.reduceat(self.values, self.starts[filled]) if len(filled) else []
            ends.append(pl.Series(found, nan_to_null=True))
        return ends[0], ends[1]

    def each(self) -> Iterator[tuple[dict[str, Any], NDArray[np.float64]]]:
        """Keys and values of each group."""
        rows = self.keys.to_dicts() if self.keys.width else [{}]
        return zip(rows, self.lists(), strict=False)
