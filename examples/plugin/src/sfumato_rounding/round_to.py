"""Round numbers to multiples of a base."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened
from sfumato.methods.base import Method, Stage, StepDraws, numeric_problems

__all__ = ["RoundTo"]


class RoundTo(Method):
    """Round numbers to multiples of a base.

    Protects against whoever knows a value to more digits than are left. It does not protect whose value stands out, nor
    where other columns tell the value again.

    Parameters
    ----------
    columns
        The columns to round.
    base
        What values become multiples of, above 0. Halves go to the even multiple.

    Examples
    --------
    >>> RoundTo(columns=("income",), base=100).disclose(())[0].sentence()
    'income: rounded to multiples of 100.'
    """

    coarsens: ClassVar[bool] = True
    stays_comparable: ClassVar[bool] = True

    do: Literal["round_to"] = "round_to"
    columns: tuple[str, ...] = Field(min_length=1)
    base: float = Field(gt=0)

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers only: it is asked before any data are touched."""
        return super().check(codebook) + numeric_problems(codebook, self.columns)

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass; a value does not depend on others, so nothing is asked before it."""

        def transform(batch: pl.DataFrame, state: None, draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(self._rounded(name, batch.schema[name], codebook) for name in self.columns)

        return None if states else Stage(transform)

    def _rounded(self, name: str, dtype: pl.DataType, codebook: Codebook) -> pl.Expr:
        """A missing code stays what it is."""
        multiple = (pl.col(name) / self.base).round(mode="half_to_even") * self.base
        return pl.when(codebook.missing(name, dtype)).then(name).otherwise(multiple).cast(dtype).alias(name)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """The base, which an analysis needs: it stands in the plan that is published anyway."""
        return (Coarsened(self.columns, rounded=dict.fromkeys(self.columns, self.base)),)
