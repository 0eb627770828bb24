"""What every engine offers: three members, no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self, runtime_checkable

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.query import Query

__all__ = ["Dataset", "rows"]


@runtime_checkable
class Dataset(Protocol):
    """A table with its codebook, wherever its rows are kept.

    A data set is a value: `map` gives a new one and leaves the old as it was.
    """

    @property
    def codebook(self) -> Codebook:
        """What is known about each variable, in column order."""
        ...

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer one of the four questions of `sfumato.data.query`, in the form stated there."""
        ...

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> Self:
        """Apply `f` to every batch of rows and put the results together.

        Parameters
        ----------
        f
            Takes a frame and gives a frame; may drop rows and change columns, must not add rows, and gives the same
            columns for every batch. An empty table is one empty batch.
        by
            Without it, batches are any partition of the rows. With it (even with no names), each call receives one
            whole stratum: all records that share the values of `by`, null and NaN counting as one value of their own.
        codebook
            What is known about the variables afterwards; without it, what was known before.

        Returns
        -------
        Dataset
            Rows that are left keep the order of the input. The codebook keeps what is known of the columns that are
            left; columns that it does not list have an empty entry.
        """
        ...


def rows(data: Dataset, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of a data set in memory, of some columns or of all.

    For what no question can tell: comparing records, fitting models.

    Examples
    --------
    >>> from sfumato.engines.polars import PolarsDataset
    >>> rows(PolarsDataset(pl.DataFrame({"a": [1], "b": [2]}), Codebook()), ["b"]).columns
    ['b']
    """
    batches: list[pl.DataFrame] = []

    def keep(batch: pl.DataFrame) -> pl.DataFrame:
        batches.append(batch if columns is None else batch.select(columns))
        return batch

    data.map(keep)
    return pl.concat(batches)
