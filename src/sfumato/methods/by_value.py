"""Steps that replace each value by a broader text, value by value, and that some values do not fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field

from sfumato.data.codebook import Codebook
from sfumato.data.hierarchy import as_texts
from sfumato.data.publishable import Publishable
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Role
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.checks import role_problems
from sfumato.methods.generalising import as_category, with_codes

__all__ = ["ByValue", "Learned"]


@dataclass(frozen=True)
class Learned:
    """What is learned of a column. Confidential.

    Parameters
    ----------
    changed
        Records whose value became another one.
    invalid
        Records whose value does not fit.
    records
        Records with a value.
    length
        To how many digits numbers are filled up from the left; 0 for none.
    """

    changed: int
    invalid: int
    records: int
    length: int = 0


class ByValue(Method):
    """A step that gives a text for each text.

    Parameters
    ----------
    columns
        The columns to change, all alike.
    invalid
        What becomes of values that do not fit: they become `missing`, stay (`keep`), or are refused (`error`).
    """

    coarsens: ClassVar[bool] = True
    fitting: ClassVar[str] = ""
    """What values are to be, in words: `postcodes`."""

    columns: tuple[str, ...] = Field(min_length=1)
    invalid: Literal["missing", "keep", "error"] = "missing"

    @abstractmethod
    def broader(self, texts: pl.Series, numeric: bool, length: int) -> pl.Series:
        """Give the new text of each different text, null where it does not fit.

        Parameters
        ----------
        texts
            Different texts, none of which is missing.
        numeric
            Whether they stood as numbers in the column.
        length
            To how many digits such numbers are filled up; 0 for none.
        """

    def length(self, texts: pl.Series) -> int:
        """To how many digits the numbers of a column are filled up from the left, told from all of them; 0 for none."""
        return 0

    def check(self, codebook: Codebook) -> list[str]:
        """The columns must be there, and an id stays an id."""
        mended = {n: codebook[n] for n in self.columns if n in codebook and codebook[n].role != Role.IDENTIFIER}
        return super().check(codebook) + role_problems(Codebook(mended), self.columns)

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Categories, as texts."""
        return codebook.replace(**{n: as_category(codebook[n]) for n in self.columns})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, value by value, after a look at the different values."""

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, Learned]:
            return {n: self._learned(n, a, codebook) for n, a in zip(self.columns, answers, strict=True)}

        def transform(batch: pl.DataFrame, state: dict[str, Learned], draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(self._changed(n, batch, codebook, state[n].length) for n in self.columns)

        return None if states else Stage(transform, tuple(Counts((n,)) for n in self.columns), fit)

    def _learned(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> Learned:
        """Count what changes and what does not fit, and refuse the latter where the step says so."""
        dtype = counts.schema[column]
        self.refuse_type(column, dtype)
        held = counts.filter(~codebook.missing(column, dtype))
        texts = held.select(as_texts(pl.col(column), dtype).alias("text")).to_series()
        numeric, length = dtype.is_numeric(), self.length(texts.unique()) if dtype.is_numeric() else 0
        new = self.broader(texts, numeric, length)
        records = held[COUNT]
        invalid = int(records.filter(new.is_null()).sum())
        if invalid and self.invalid == "error":
            raise DataError(
                f"Column {column!r} holds values that are no {self.fitting} (invalid: error). Correct them, give them "
                "codes under `missing`, or say what becomes of them: invalid: missing."
            )
        changed = int(records.filter((new != texts).fill_null(False)).sum())
        return Learned(changed, invalid, int(records.sum()), length)

    def refuse_type(self, column: str, dtype: pl.DataType) -> None:
        """Refuse columns of a type that cannot hold what is needed.

        Raises
        ------
        DataError
            With the column's name and what to do.
        """

    def _changed(self, column: str, batch: pl.DataFrame, codebook: Codebook, length: int) -> pl.Expr:
        dtype = batch.schema[column]
        text = as_texts(pl.col(column), dtype)
        distinct = batch.filter(~codebook.missing(column, dtype)).select(text.alias("text").unique()).to_series()
        new = self.broader(distinct, dtype.is_numeric(), length)
        coarse = text.replace_strict(distinct, new, default=None, return_dtype=pl.String)
        return with_codes(column, dtype, codebook, pl.coalesce(coarse, text) if self.invalid == "keep" else coarse)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many values changed, and how many did not fit."""
        did = {"missing": "became missing", "keep": "stayed as they were", "error": ""}[self.invalid]
        learned: dict[str, Learned] = states[0]
        changed = (f"{n}: {one.changed} values changed." for n, one in learned.items())
        unfit = (
            f"{n}: {one.invalid} values were no {self.fitting} and {did}." for n, one in learned.items() if one.invalid
        )
        return (*changed, *unfit)

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns in which values stayed that do not fit, or of which little is left."""
        learned: dict[str, Learned] = states[0]
        kept = [n for n, one in learned.items() if one.invalid and self.invalid == "keep"]
        lost = [n for n, one in learned.items() if 2 * one.invalid > one.records and self.invalid == "missing"]
        told = []
        if kept:
            told.append(
                f"{self.name}: {', '.join(kept)} held values that are no {self.fitting}; they leave as they are "
                "(invalid: keep), whatever they say of people. Read them, or take invalid: missing."
            )
        if lost:
            told.append(
                Publishable(
                    f"{self.name}: most values of {', '.join(lost)} were no {self.fitting} and became missing.",
                    "Is it the right column, and the right parameters?",
                )
            )
        return tuple(told)
