"""Keep only the records that have a value in every one of some columns."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
from pydantic import Field

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Suppressed
from sfumato.data.query import Folded
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.checks import whole_unit

__all__ = ["CompleteCases"]


class CompleteCases(Method):
    """Leave out records with a missing value in any of the columns.

    Prepares data for methods that need every value. Where a column says which records are of a household, or of a
    person, all of these go with one. It protects nobody, and estimates hold only for people like those
    who answered everything.

    Parameters
    ----------
    columns
        The columns that must have a value; null, NaN and user-missing codes are none.

    Examples
    --------
    >>> CompleteCases(columns=("bmi",)).name
    'complete_cases'
    """

    do: Literal["complete_cases"] = "complete_cases"
    columns: tuple[str, ...] = Field(min_length=1)

    @property
    def keeps_gaps(self) -> bool:
        """Cells stay as they are."""
        return True

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass that filters; where households or persons go as a whole, a look before it."""
        if (unit := whole_unit(codebook)) is not None:
            return None if states else self._whole(unit, codebook)

        def transform(batch: pl.DataFrame, state: object, draws: StepDraws) -> pl.DataFrame:
            missing = [codebook.missing(n, batch.schema[n]) for n in self.columns]
            return batch.filter(~pl.any_horizontal(missing))

        return None if states else Stage(transform=transform)

    def _whole(self, unit: str, codebook: Codebook) -> Stage:
        """Whoever lacks a value in one record goes with all of them."""

        def lacking(batch: pl.DataFrame) -> pl.Series:
            missing = [codebook.missing(n, batch.schema[n]) for n in self.columns]
            return batch.select(pl.any_horizontal(missing)).to_series()

        def f(batch: pl.DataFrame) -> pl.DataFrame:
            return batch.filter(lacking(batch)).select(unit).unique()

        asked = Folded(tuple(dict.fromkeys((unit, *self.columns))), f, pl.DataFrame.unique)

        def transform(batch: pl.DataFrame, state: pl.Series, draws: StepDraws) -> pl.DataFrame:
            return batch.filter(~(lacking(batch) | batch[unit].is_in(state.implode()).fill_null(False)))

        return Stage(transform, (asked,), lambda answers: answers[0].to_series().drop_nulls())

    def disclose(self, states: tuple[Any, ...]) -> tuple[Suppressed, ...]:
        """The rule."""
        return (Suppressed(columns=self.columns, rule="records with a missing value in any of these were left out"),)
