"""A data set that answers a question once: several measures ask for the same counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.query import COUNT, WEIGHT, Counts, Query

__all__ = ["Remembered"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Remembered:
    """Another data set, whose answers are kept.

    Parameters
    ----------
    data
        The data set that is asked.
    together
        Columns whose combinations are counted once: counts of some of them are had by adding up these.
    weight
        The column that is summed with them.

    Examples
    --------
    >>> from sfumato.engines.polars import PolarsDataset
    >>> data = Remembered(PolarsDataset(pl.DataFrame({"sex": ["f", "m"]}), Codebook()))
    >>> data.ask(Counts(("sex",))) is data.ask(Counts(("sex",)))
    True
    """

    data: Dataset
    together: tuple[str, ...] = ()
    weight: str | None = None
    _answers: dict[Query, pl.DataFrame] = field(default_factory=dict, init=False, repr=False, compare=False)
    _derived: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def codebook(self) -> Codebook:
        """What is known about each variable."""
        return self.data.codebook

    @property
    def engine(self) -> str:
        """Where its rows are."""
        return self.data.engine

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer a question, the second time from memory; counts of columns that are counted together from these."""
        if query not in self._answers:
            self._answers[query] = self._part(query) if self._is_part(query) else self.data.ask(query)
        return self._answers[query]

    def knows(self, query: Query) -> bool:
        """Whether a question was answered already."""
        return query in self._answers

    def learn(self, query: Query, answer: pl.DataFrame) -> None:
        """Keep an answer that was had together with others."""
        self._answers[query] = answer

    def once(self, what: Hashable, make: Callable[[], _T]) -> _T:
        """What is worked out from the answers, worked out once.

        Parameters
        ----------
        what
            Its name, with everything that it depends on beside these rows.
        make
            Works it out.
        """
        if what not in self._derived:
            self._derived[what] = make()
        return self._derived[what]  # type: ignore[no-any-return]

    def _is_part(self, query: Query) -> bool:
        if not isinstance(query, Counts) or not set(query.by) <= set(self.together):
            return False
        return query.weight in (None, self.weight) and query != Counts(self.together, self.weight)

    def _part(self, query: Query) -> pl.DataFrame:
        """Counts of some of the columns that are counted together."""
        assert isinstance(query, Counts)
        whole = self.ask(Counts(self.together, self.weight))
        sums = [COUNT] if query.weight is None else [COUNT, WEIGHT]
        if not query.by:
            return whole.select(pl.col(sums).sum())
        return whole.lazy().group_by(query.by).agg(pl.col(sums).sum()).sort(query.by).collect()

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> Remembered:
        """Apply `f` as the other data set does; what is remembered is of the old rows and stays behind."""
        return Remembered(self.data.map(f, by, codebook))
