"""Shuffle values between records so that ranks keep their relations."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Shuffled
from sfumato.data.roles import IDS, Kind, Role
from sfumato.methods.base import Method, Stage, unit_problems, unknown_problems
from sfumato.methods.checks import role_problems, strata_problems
from sfumato.methods.shuffle.stages import Shuffling
from sfumato.methods.swap.stages import Telling

__all__ = ["Shuffle"]

_NO_RANKS = (Kind.CATEGORICAL, Kind.TEXT, Kind.GEOGRAPHIC)


class Shuffle(Method):
    """Put the values of columns into an order drawn anew, so that ranks are related to others as they were.

    Protects against an intruder who knows a value and looks for the record, or who found the record and reads a value:
    which value a record gets is drawn given its `given` and `by` alone and hangs on its own value no more than on
    anybody's. So whoever knows true values of the columns finds the record no better than by what is given; whoever
    knows what is given predicts the value as well as any model could, and no better. It does not protect what is given,
    nor the values themselves: the largest income is still in the file (top-code it first), and a second release without
    somebody shows which value has gone. And where `given` nearly tells a column, so does the release.

    Each column holds exactly the values that it held, within each combination of `by`, and missing values keep their
    place. Rank correlations among `columns` and with `given` are kept but for chance; curved relations become as
    straight, in normal scores, as they can be; relations with other columns stay only as far as they follow from these.

    Parameters
    ----------
    columns
        Numbers, dates or ordered categories whose values are shuffled, all of them at once.
    given
        Columns with which relations are kept, and which stay as they are: numbers, dates and ordered categories by
        their ranks, other categories each by itself (those of fewer than 10 records together).
    by
        Columns within whose combinations values are shuffled, each with relations of its own.

    References
    ----------
    Muralidhar and Sarathy (2006), doi:10.1287/mnsc.1050.0503.

    Examples
    --------
    >>> Shuffle(columns=("income", "wealth"), given=("age", "education"), by=("sex",)).changes
    ('income', 'wealth')
    """

    masks: ClassVar[bool] = True
    whole_strata: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    draws_by_id: ClassVar[bool] = True
    effort: ClassVar[float] = 3.0

    do: Literal["shuffle"] = "shuffle"
    columns: tuple[str, ...] = Field(min_length=1)
    given: tuple[str, ...] = ()
    by: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _once(self) -> Self:
        named = (*self.columns, *self.given, *self.by)
        if len(set(named)) < len(named):
            raise ValueError("a column may stand only once among columns, given and by")
        return self

    @property
    def exchanges(self) -> bool:
        """Values change places, and gaps with them."""
        return True

    def check(self, codebook: Codebook) -> list[str]:
        """What has ranks in `columns`, values in `given`, categories in `by`, and ids to key the draws on."""
        problems = unknown_problems(codebook, (*self.columns, *self.given, *self.by))
        problems += unit_problems(self.name, codebook)
        problems += role_problems(codebook, self.columns) + strata_problems(codebook, self.by)
        for n in (n for n in self.columns if n in codebook):
            if codebook[n].kind in _NO_RANKS:
                problems.append(
                    f"column {n!r} is {codebook[n].kind}, which has no ranks: use swap with `random: true`, or pram, "
                    f"or say what its order is, under variables: {n}: {{kind: ordinal, order: [...]}}"
                )
        for n in (n for n in self.given if n in codebook):
            if codebook[n].role in (*IDS, Role.IDENTIFIER):
                problems.append(f"column {n!r} in given has role {codebook[n].role}, which says nothing of values")
            elif codebook[n].kind == Kind.TEXT:
                problems.append(f"column {n!r} in given is text; it takes numbers, dates and categories")
        return problems

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Shuffle within whole strata; then look at what it did to each column."""
        match len(states):
            case 0:
                return Shuffling(codebook, self.columns, self.given, self.by).stage()
            case 1:
                return Telling(codebook, self.columns).stage()
        return None

    def disclose(self, states: tuple[Any, ...]) -> tuple[Shuffled, ...]:
        """What was given, and within what."""
        return (Shuffled(columns=self.columns, given=self.given, by=self.by),)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Correlation of released with original values, and how many are as they were."""
        notes: tuple[str, ...] = states[1]
        return notes
