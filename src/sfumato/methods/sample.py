"""Release a random sample of the records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Sampled
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Kind, Role
from sfumato.draws import plain, units
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws, unit_problems
from sfumato.methods.checks import strata_problems

__all__ = ["Sample"]


class Sample(Method):
    """Keep a random sample of the records, so that nobody can be sure that somebody is in the release.

    Protects against an intruder who knows that somebody is in the original data: with chance 1 − `fraction` the record
    is not there, and who seems alone in the sample may have twins outside it. It does not protect whoever is sampled
    from an intruder who knows that they are, nor anybody who is alone in the population as well.

    The records kept are those with the smallest keyed draws. The draw is the record's alone: a larger sample holds
    every smaller one, so that two samples of the same data tell no more than the larger.

    A column with the role weight is divided by `fraction`, so that weighted totals stay what they were in expectation.

    Parameters
    ----------
    fraction
        Share of the records that is kept, above 0 to 1. Of n records it keeps n·fraction, a half rounded up.
    by
        Sample within each combination of these columns, so that shares of the combinations stay. Each keeps its own
        n·fraction, rounded up or down by a keyed draw, so that everybody's chance is `fraction` even in a combination
        of one, which may then vanish.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, doi:10.1002/9781118348239, section 3.3.

    Examples
    --------
    >>> Sample(fraction=0.5).disclose(("weight",))[0].sentence()
    'all columns: the release is a random sample of 0.5 of the records; the weights in weight were divided by it.'
    """

    masks: ClassVar[bool] = True
    draws_by_id: ClassVar[bool] = True

    do: Literal["sample"] = "sample"
    fraction: float
    by: tuple[str, ...] = Field(default=())

    @field_validator("fraction")
    @classmethod
    def _share(cls, fraction: float) -> float:
        if not 0 < fraction <= 1:
            raise ValueError("a share of the records is needed, above 0 and at most 1: 0.1 keeps a tenth of them")
        return fraction

    def check(self, codebook: Codebook) -> list[str]:
        """Categories in `by`, and ids to key the draws on."""
        return super().check(codebook) + unit_problems(self.name, codebook) + strata_problems(codebook, self.by)

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Weights need not be whole any more, nor few."""
        weight = codebook.the(Role.WEIGHT)
        if weight is None:
            return codebook
        return codebook.replace(**{weight: codebook[weight].model_copy(update={"kind": Kind.CONTINUOUS})})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass over whole strata. The state is the name of the column with weights."""
        weight = codebook.the(Role.WEIGHT)

        def fit(answers: Sequence[pl.DataFrame]) -> str | None:
            n = int(answers[0][COUNT].sum())
            if n and n * self.fraction < 0.5:
                raise DataError("sample: `fraction` is so small that no record would be kept. Use a larger one.")
            return weight

        def transform(batch: pl.DataFrame, state: str | None, draws: StepDraws) -> pl.DataFrame:
            kept = batch.filter(pl.Series(self._kept(batch, draws), dtype=pl.Boolean))
            return kept if state is None else kept.with_columns(self._reweighted(state, batch.schema[state], codebook))

        return None if states else Stage(transform, (Counts(()),), fit, by=self.by)

    def _kept(self, batch: pl.DataFrame, draws: StepDraws) -> np.ndarray[Any, Any]:
        """Whether each record of a stratum is kept, shape (n,)."""
        unit = draws.units(batch)
        whole, rest = divmod(batch.height * self.fraction + 1e-9, 1)
        up = rest >= (self._rounding(batch, draws) if self.by else 0.5)
        kept = np.zeros(batch.height, dtype=bool)
        kept[draws.draws.permutation(unit, draws.purpose("", "record"))[: int(whole) + up]] = True
        return kept

    def _rounding(self, batch: pl.DataFrame, draws: StepDraws) -> float:
        """The stratum's draw: its size is rounded up where the part of a record that is left over reaches it."""
        labels = batch.select(pl.col(n).fill_nan(None) if batch.schema[n].is_float() else pl.col(n) for n in self.by)
        text = repr(tuple(map(plain, labels.row(0)))) if batch.height else ""
        return float(draws.draws.uniform(units([text]), draws.purpose("", f"stratum of {self.by!r}"))[0])

    def _reweighted(self, weight: str, dtype: pl.DataType, codebook: Codebook) -> pl.Expr:
        """Weights divided by the fraction; missing codes stay."""
        value = pl.col(weight).cast(pl.Float64)
        return pl.when(codebook.missing(weight, dtype)).then(value).otherwise(value / self.fraction).alias(weight)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Sampled, ...]:
        """The fraction."""
        return (Sampled(by=self.by, fraction=self.fraction, weight=states[0]),)
