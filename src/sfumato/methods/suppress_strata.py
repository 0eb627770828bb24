"""Leave out the records of strata that are too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Suppressed
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import COUNT, Counts
from sfumato.data.suppression import Suppression
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.strata import LOOKED_UP, category

__all__ = ["SuppressStrata"]


_GONE = f"{HIDDEN}gone"


@dataclass(frozen=True)
class Small:
    """The strata that are too small, a row each, and how many records they hold."""

    strata: pl.DataFrame
    records: int


class SuppressStrata(Method):
    """Leave out all records of strata that hold fewer than a smallest count.

    Protects against an intruder who knows the stratum of somebody in it: nobody who is left stands in a stratum smaller
    than `min_count`. It does not hide that the stratum was small, nor protect the other columns.

    Parameters
    ----------
    by
        The columns whose combinations are the strata.
    min_count
        Smallest stratum that stays, at least 2.
    max_suppressed
        Largest share of the records that may go; more is an error.

    Examples
    --------
    >>> SuppressStrata(by=("sex", "region"), min_count=5).max_suppressed
    0.05
    """

    coarsens: ClassVar[bool] = True

    do: Literal["suppress_strata"] = "suppress_strata"
    by: tuple[str, ...] = Field(min_length=1)
    min_count: int = Field(ge=2)
    max_suppressed: float = Field(default=0.05, ge=0, le=1)

    @property
    def counts_records(self) -> bool:
        """Strata need so many."""
        return True

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """A look at the sizes of strata, and one pass over any batches."""

        def fit(frames: Sequence[pl.DataFrame]) -> Small:
            counts = frames[0]
            small = counts.filter(pl.col(COUNT) < self.min_count)
            records = int(small[COUNT].sum())
            if records > self.max_suppressed * int(counts[COUNT].sum()):
                raise DataError(
                    f"suppress_strata would leave out more than the share {self.max_suppressed:g} of the records "
                    f"(max_suppressed). Use fewer or broader columns in by ({', '.join(self.by)}), a smaller "
                    f"min_count, or allow a larger share."
                )
            return Small(small.select(self.by), records)

        def transform(batch: pl.DataFrame, state: Small, draws: StepDraws) -> pl.DataFrame:
            if state.strata.is_empty():
                return batch
            keys = batch.select(category(n, batch.schema[n]) for n in self.by)
            gone = keys.join(state.strata.with_columns(pl.lit(True).alias(_GONE)), on=self.by, **LOOKED_UP)
            return batch.filter(gone[_GONE].is_null())

        return None if states else Stage(transform=transform, queries=(Counts(self.by),), fit=fit)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Suppressed, ...]:
        """The rule."""
        return (
            Suppressed(columns=self.by, rule=f"records in combinations of fewer than {self.min_count} were left out"),
        )

    def suppressed(self, states: tuple[Any, ...]) -> Suppression:
        """The records that went."""
        return Suppression(records=states[0].records)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many went."""
        return (f"{states[0].records} records were left out.",)
