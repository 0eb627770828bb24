"""A data set that answers a question once: several measures ask for the same counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.query import Query

__all__ = ["Remembered"]


@dataclass(frozen=True)
class Remembered:
    """Another data set, whose answers are kept.

    Parameters
    ----------
    data
        The data set that is asked.

    Examples
    --------
    >>> from sfumato.data.query import Counts
    >>> from sfumato.engines.polars import PolarsDataset
    >>> data = Remembered(PolarsDataset(pl.DataFrame({"sex": ["f", "m"]}), Codebook()))
    >>> data.ask(Counts(("sex",))) is data.ask(Counts(("sex",)))
    True
    """

    data: Dataset
    _answers: dict[Query, pl.DataFrame] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def codebook(self) -> Codebook:
        """What is known about each variable."""
        return self.data.codebook

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer a question, the second time from memory."""
        if query not in self._answers:
            self._answers[query] = self.data.ask(query)
        return self._answers[query]

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> Remembered:
        """Apply `f` as the other data set does; what is remembered is of the old rows and stays behind."""
        return Remembered(self.data.map(f, by, codebook))
