"""Exchange values between records: rank swapping, or swapping with any record."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Swapped
from sfumato.data.roles import Kind
from sfumato.methods.base import Method, Stage, unit_problems
from sfumato.methods.checks import role_problems, strata_problems
from sfumato.methods.drawn_grid import with_multiples
from sfumato.methods.swap.stages import Swapping, Telling, amount

__all__ = ["Swap"]

_NO_RANKS = (Kind.CATEGORICAL, Kind.TEXT, Kind.GEOGRAPHIC)


class Swap(Method):
    """Exchange each record's value with that of another record whose rank is near, or with any.

    Protects against an intruder who knows a value and looks for the record: the value stands at somebody else's record.
    Every value stays in the file (but for `perturb`), so extremes are as visible as before (top-code them first:
    `derive` with `min(income, 500)`); only whose they are is hidden. It does not protect columns that it does not list,
    and the record of a missing value keeps its place.

    An intruder is assumed to know the code and the window: then the true value lies within the window of ranks around
    the released one, and each further swapped column that is known narrows the choice (Nin, Herranz and Torra 2008).

    Margins are kept exactly, overall and within each combination of `by`; relations with other columns weaken, little
    with a narrow window, wholly (but for `by`) with `random`.

    Parameters
    ----------
    columns
        The columns, each exchanged on its own.
    window
        Greatest distance between the ranks of two that exchange, as a share of all ranks, above 0 and below 1: 0.05 is
        5% of the values. Needs numbers or dates. Either this or `random`.
    random
        In place of `window`: exchange with any record; categories and text will do.
    by
        Exchange only within each combination of these columns.
    together
        Move the columns as one, ranked by the first: relations among them stay.
    perturb
        Draw each exchanged number anew, evenly between the values that this share of all ranks lie below and above it,
        between 0 and 1: 0.02 is 2% of the values. Without it a release without one person tells, beside an earlier one,
        which value has gone. Categories stay as they are. Numbers keep their decimals; where there are too many, they
        become multiples of about a thousandth of the column's sd. Dates are whole days, times whole seconds.

    References
    ----------
    Moore (1996), US Bureau of the Census, Statistical Research Division Report 96/04. Dalenius and Reiss (1982),
    doi:10.1016/0378-3758(82)90058-1. Nin, Herranz and Torra (2008), doi:10.1016/j.datak.2007.07.006.

    Examples
    --------
    >>> Swap(columns=("bmi",), window=0.05, by=("sex",)).together
    False
    """

    masks: ClassVar[bool] = True
    whole_strata: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    draws_by_id: ClassVar[bool] = True

    do: Literal["swap"] = "swap"
    columns: tuple[str, ...] = Field(min_length=1)
    window: float | None = None
    random: bool = False
    by: tuple[str, ...] = ()
    together: bool = False
    perturb: float | None = Field(default=None, gt=0, lt=1)

    @model_validator(mode="after")
    def _one_way(self) -> Swap:
        if (self.window is None) == (not self.random):
            raise ValueError("swap takes either `window` or `random: true`")
        if self.window is not None and not 0 < self.window < 1:
            raise ValueError("`window` is a share of the ranks, above 0 and below 1: 0.05 is 5% of them")
        if len({*self.columns, *self.by}) < len(self.columns) + len(self.by):
            raise ValueError("a column may stand only once among columns and by")
        return self

    @property
    def exchanges(self) -> bool:
        """Values change places, and gaps with them."""
        return True

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns whose numbers get noise."""
        return () if self.perturb is None else self.columns

    def check(self, codebook: Codebook) -> list[str]:
        """Numbers or dates to rank, categories in `by`, and ids to key the draws on."""
        problems = super().check(codebook) + unit_problems(self.name, codebook)
        problems += role_problems(codebook, self.columns) + strata_problems(codebook, self.by)
        if self.window is not None:
            ranked = self.columns[:1] if self.together else self.columns
            problems += [
                f"column {n!r} is {codebook[n].kind}, which has no ranks: use `random: true` in place of `window`"
                for n in ranked
                if n in codebook and codebook[n].kind in _NO_RANKS
            ]
        known = [codebook[n] for n in self.columns if n in codebook]
        if self.perturb is not None and known and not any(map(amount, known)):
            problems.append("`perturb` draws numbers and dates anew, and none of the columns holds such: leave it out")
        return problems

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Exchange within whole strata; then look at what it did to each column."""
        match len(states):
            case 0:
                return Swapping(codebook, self.columns, self.window, self.by, self.together, self.perturb).stage()
            case 1:
                return Telling(codebook, self.columns).stage()
        return None

    def disclose(self, states: tuple[Any, ...]) -> tuple[Swapped, ...]:
        """How far values moved, and whether the columns moved as one."""
        told = self.model_dump(include={"columns", "by", "window", "together", "perturb"})
        return (Swapped(**told, rounded=states[0]),)

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """What numbers that were drawn anew are multiples of."""
        return with_multiples(codebook, states[0]) if states else codebook

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Correlation of released with original values, and how many are as they were."""
        notes: tuple[str, ...] = states[1]
        return notes
