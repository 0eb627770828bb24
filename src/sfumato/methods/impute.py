"""Fill in missing values, so that methods which need every value can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Imputed
from sfumato.data.query import COUNT, Counts, Moments, Quantiles, Query
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws, numeric_problems
from sfumato.methods.gaps import followed, gaps_by_value, telling

__all__ = ["Impute"]


@dataclass(frozen=True)
class _Learned:
    """What is filled in, by column; and of columns whose gaps follow from a category, that category."""

    fills: Mapping[str, Any]
    follows: Mapping[str, str] = field(default_factory=dict)


class Impute(Method):
    """Replace missing values by the column's median, mean or mode, or by a category of their own.

    Prepares; it protects nobody. All filled-in cells of a column are equal, which shows as a spike, and spread and
    relations are understated. Null, NaN and user-missing codes are all filled.

    Parameters
    ----------
    columns
        The columns to fill.
    method
        `median` and `mean` need numbers; `mode` takes the most frequent value, of several the first in order;
        `category` is a category of their own, in columns of text.
    value
        The category that `category` fills in.

    Examples
    --------
    >>> Impute(columns=("age",), method="median").value
    'missing'
    """

    do: Literal["impute"] = "impute"
    columns: tuple[str, ...] = Field(min_length=1)
    method: Literal["median", "mean", "mode", "category"]
    value: str = "missing"

    @model_validator(mode="after")
    def _nothing_idle(self) -> Impute:
        """The category, where none is filled in."""
        self.refuse_idle({} if self.method == "category" else {"value": "`method: category`"})
        return self

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns whose gaps get a number from the middle."""
        return self.columns if self.method in ("mean", "median") else ()

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers for median and mean."""
        problems = super().check(codebook)
        if self.method in ("median", "mean"):
            problems += numeric_problems(codebook, self.columns)
        return problems

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """The columns have no missing codes afterwards."""
        filled = {n: codebook[n].model_copy(update={"missing": ()}) for n in self.columns}
        return codebook.replace(**filled)

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass that fills with what one question told."""
        if states:
            return None
        categories = telling(codebook, self.columns)
        asked = (gaps_by_value(codebook, self.columns, categories),) if categories else ()
        queries: tuple[Query, ...] = (*(self._query(n) for n in self.columns), *asked)

        def fit(answers: Sequence[pl.DataFrame]) -> _Learned:
            fills = {n: self._fill(n, a, codebook) for n, a in zip(self.columns, answers, strict=False)}
            return _Learned(fills, followed(answers[-1]) if categories else {})

        def transform(batch: pl.DataFrame, state: _Learned, draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(self._filled(n, batch.schema[n], codebook, state.fills[n]) for n in self.columns)

        return Stage(transform=transform, queries=queries, fit=fit)

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns that have no value where another one says so: what is filled in there cannot be true."""
        return tuple(
            f"{column}: its gaps follow from {category}, so that what is filled in gainsays it. Leave them as gaps."
            for column, category in (states[0].follows.items() if states else ())
        )

    def _query(self, column: str) -> Query:
        if self.method == "median":
            return Quantiles(column, (0.5,))
        return Moments((column,)) if self.method == "mean" else Counts((column,))

    def _fill(self, column: str, answer: pl.DataFrame, codebook: Codebook) -> Any:
        if self.method == "category":
            return self.value
        if self.method in ("median", "mean"):
            fill = answer["value" if self.method == "median" else "mean"][0]
        else:
            present = answer.filter(~codebook.missing(column, answer.schema[column]))
            ordered = present.sort(COUNT, column, descending=[True, False])
            fill = ordered[column][0] if ordered.height else None
        if fill is None:
            raise DataError(
                f"Column {column!r} has no value at all, so impute has nothing to fill in. Drop it instead."
            )
        return fill

    def _filled(self, column: str, dtype: pl.DataType, codebook: Codebook, fill: Any) -> pl.Expr:
        if self.method == "category" and dtype.is_numeric():
            raise DataError(
                f"Column {column!r} holds numbers, which cannot take the category {self.value!r}. "
                "Use method median, mean or mode, or recode it to text first."
            )
        value = pl.col(column)
        if dtype.is_integer():
            # a mean that is not whole turns the column into floats
            fill, value = (int(fill), value) if fill == int(fill) else (fill, value.cast(pl.Float64))
        return pl.when(codebook.missing(column, dtype)).then(pl.lit(fill)).otherwise(value).alias(column)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Imputed, ...]:
        """The method; the value filled in is an ordinary value of the release and needs no telling."""
        what = f"category {self.value!r}" if self.method == "category" else self.method
        return (Imputed(columns=self.columns, method=what),)
