"""Leave columns out: the first thing to do with direct identifiers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Dropped
from sfumato.methods.base import Method, Stage

__all__ = ["Drop"]


class Drop(Method):
    """Leave columns out of the release.

    Protects against anyone who would look a direct identifier up; says nothing about what the other columns give away.

    Parameters
    ----------
    columns
        The columns to leave out.
    reason
        Why, for the readers of the release: `cannot be aggregated`.

    Examples
    --------
    >>> Drop(columns=("name",)).sentence()
    'drop: name.'
    """

    do: Literal["drop"] = "drop"
    columns: tuple[str, ...] = Field(min_length=1)
    reason: str | None = None

    @field_validator("reason")
    @classmethod
    def _one_line(cls, reason: str | None) -> str | None:
        """A clause, for it stands within a sentence."""
        text = " ".join((reason or "").split()).removesuffix(".")
        return text or None

    @property
    def keeps_gaps(self) -> bool:
        """The columns are gone."""
        return True

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """The codebook without the columns."""
        return codebook.without(*self.columns)

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass that drops them."""
        return None if states else Stage(transform=lambda batch, state, draws: batch.drop(self.columns))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Dropped, ...]:
        """Which columns are gone."""
        return (Dropped(columns=self.columns, reason=self.reason or ""),)

    def sentence(self) -> str:
        """The columns and the reason."""
        return super().sentence() if self.reason is None else f"drop: {', '.join(self.columns)} ({self.reason})."
