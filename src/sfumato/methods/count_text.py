"""Replace a list of entries in a cell by how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, field_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened
from sfumato.data.query import Counts
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.texts import folded, general, label_problems, parts, refuse_no_text, replaced, text_problems, there

__all__ = ["CountText"]

_INSTEAD = "numbers need no counting"


class CountText(Method):
    """Say how many entries a cell holds, in place of the entries: one area of medical speciality, two or more.

    Protects against an intruder who knows somebody's entries; how many there are may still be rare. It says nothing of
    other columns.

    Parameters
    ----------
    columns
        The columns to replace, all alike.
    separator
        What stands between the entries of a cell. An entry that stands twice counts once.
    labels
        Texts for none, one, two and so on; the last one stands for that many or more.
    nothing
        Texts that stand for no entry, such as none or n/a.

    Examples
    --------
    >>> CountText(columns=["field"], labels=["none", "one area", "two or more areas"]).separator
    ';'
    """

    coarsens: ClassVar[bool] = True

    do: Literal["count_text"] = "count_text"
    columns: tuple[str, ...] = Field(min_length=1)
    separator: str = Field(default=";", min_length=1)
    labels: tuple[str, ...] = ("none", "one", "two or more")
    nothing: tuple[str, ...] = ()

    @field_validator("labels")
    @classmethod
    def _different(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if len(labels) < 2 or len(set(labels)) < len(labels) or not all(label.strip() for label in labels):
            raise ValueError("two or more different texts are needed, for none, one, and so on")
        return labels

    def check(self, codebook: Codebook) -> list[str]:
        """Texts are needed, and labels that stand for nothing else."""
        return [
            *super().check(codebook),
            *text_problems(codebook, self.columns, _INSTEAD),
            *label_problems(codebook, self.columns, self.labels),
        ]

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Ordered texts."""
        return codebook.replace(**{n: general(codebook[n], self.labels) for n in self.columns})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, text by text, after a look at which there are."""

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, _Counted]:
            return {n: self._fitted(n, counts, codebook) for n, counts in zip(self.columns, answers, strict=True)}

        def transform(batch: pl.DataFrame, state: dict[str, _Counted], draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(replaced(n, batch.schema[n], codebook, state[n].new) for n in self.columns)

        return None if states else Stage(transform, tuple(Counts((n,)) for n in self.columns), fit)

    def _fitted(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> _Counted:
        refuse_no_text(column, counts.schema[column], self.name, _INSTEAD)
        none = {folded(text) for text in self.nothing}
        rows = there(counts, column, codebook).rows()
        last = len(self.labels) - 1
        new: dict[str, str | None] = {}
        new |= {text: self.labels[min(len({*parts(text, self.separator)} - none), last)] for text, _ in rows}
        return _Counted(new, sum(count for _, count in rows))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """That only the number of entries is told."""
        return (Coarsened(self.columns, f"to the number of entries: {', '.join(self.labels)}"),)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many records were changed."""
        return tuple(f"{n}: {counted.records} records changed." for n, counted in states[0].items())


@dataclass(frozen=True)
class _Counted:
    """The label of every text of a column, and how many records have one."""

    new: dict[str, str | None]
    records: int
