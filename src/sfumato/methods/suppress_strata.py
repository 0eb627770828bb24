"""Leave out the records of strata that are too small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Suppressed
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import IDS, Role
from sfumato.data.suppression import Suppression
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.checks import strata_problems, whole_unit
from sfumato.methods.strata import LOOKED_UP, category

__all__ = ["SuppressStrata"]


_GONE = f"{HIDDEN}gone"


@dataclass(frozen=True)
class Small:
    """The strata that are too small, a row each, households or persons who go, and how many records they all hold."""

    strata: pl.DataFrame
    records: int
    units: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)


class SuppressStrata(Method):
    """Leave out all records of strata that hold fewer than a smallest count.

    Protects against an intruder who knows the stratum of somebody in it: nobody who is left stands in a stratum smaller
    than `min_count`. Where a column says which records are of a household, or of a person, all of these go with one;
    where one says whom records are about, strata are counted in persons. It does not hide that the stratum was small,
    nor protect the other columns.

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

    def check(self, codebook: Codebook) -> list[str]:
        """Strata that are no ids."""
        ids = [n for n in self.by if n in codebook and codebook[n].role in (*IDS, Role.IDENTIFIER)]
        return [*super().check(codebook), *strata_problems(codebook, ids)]

    @property
    def counts_records(self) -> bool:
        """Strata need so many."""
        return True

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """A look at the sizes of strata, and one pass over any batches."""
        if (unit := whole_unit(codebook)) is not None:
            return None if states else self._whole(unit, codebook.the(Role.PERSON))

        def fit(frames: Sequence[pl.DataFrame]) -> Small:
            counts = frames[0]
            small = counts.filter(pl.col(COUNT) < self.min_count)
            records = self._few(int(small[COUNT].sum()), int(counts[COUNT].sum()))
            return Small(small.select(self.by), records)

        def transform(batch: pl.DataFrame, state: Small, draws: StepDraws) -> pl.DataFrame:
            return batch if state.strata.is_empty() else batch.filter(~self._in(batch, state.strata))

        return None if states else Stage(transform=transform, queries=(Counts(self.by),), fit=fit)

    def _in(self, batch: pl.DataFrame, strata: pl.DataFrame) -> pl.Series:
        """Whether each record stands in one of some strata."""
        keys = batch.select(category(n, batch.schema[n]) for n in self.by)
        return keys.join(strata.with_columns(pl.lit(True).alias(_GONE)), on=self.by, **LOOKED_UP)[_GONE].is_not_null()

    def _few(self, gone: int, of: int) -> int:
        """How many records go; an error where these are too many."""
        if gone > self.max_suppressed * of:
            raise DataError(
                f"suppress_strata would leave out more than the share {self.max_suppressed:g} of the records "
                f"(max_suppressed). Use fewer or broader columns in by ({', '.join(self.by)}), a smaller "
                f"min_count, or allow a larger share."
            )
        return gone

    def _whole(self, unit: str, person: str | None) -> Stage:
        """Households or persons go as a whole, and with them whoever stands in a stratum that they made too small."""
        columns = tuple(dict.fromkeys((*self.by, unit, *([] if person is None else [person]))))
        size = pl.col(COUNT).sum() if person is None else pl.col(person).n_unique()

        def fit(frames: Sequence[pl.DataFrame]) -> Small:
            left = frames[0]
            while (few := self._small(left, size)).height:
                left = left.join(few.drop_nulls(unit), on=unit, how="anti")
                left = left.join(few, on=columns, how="anti", nulls_equal=True)
            gone = frames[0].join(left, on=columns, how="anti", nulls_equal=True)
            records = self._few(int(gone[COUNT].sum()), int(frames[0][COUNT].sum()))
            nobodys = gone.filter(pl.col(unit).is_null()).select(self.by).unique(maintain_order=True)
            return Small(nobodys, records, gone.select(unit).drop_nulls().unique(maintain_order=True))

        def transform(batch: pl.DataFrame, state: Small, draws: StepDraws) -> pl.DataFrame:
            goes = batch[unit].is_in(state.units[unit].implode()).fill_null(False)
            return batch.filter(~(goes | (batch[unit].is_null() & self._in(batch, state.strata))))

        return Stage(transform=transform, queries=(Counts(columns),), fit=fit)

    def _small(self, counts: pl.DataFrame, size: pl.Expr) -> pl.DataFrame:
        """The lines of counts that are of strata which are too small."""
        sizes = counts.group_by(self.by).agg(size.alias(_GONE)).filter(pl.col(_GONE) < self.min_count)
        return counts.join(sizes, on=self.by, how="semi", nulls_equal=True)

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
