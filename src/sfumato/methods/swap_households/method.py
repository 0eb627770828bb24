"""Exchange households between areas: targeted record swapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosed, Exchanged, Suppressed
from sfumato.data.publishable import Publishable
from sfumato.data.roles import IDS, Kind, Role
from sfumato.data.suppression import Suppression
from sfumato.methods.base import Method, Stage, unit_problems, unknown_problems
from sfumato.methods.checks import role_problems
from sfumato.methods.swap_households.stages import Exchanging, Told, Weeding

__all__ = ["SwapHouseholds"]


class SwapHouseholds(Method):
    """Let households that stand out in their area change places with similar ones elsewhere, and some others too.

    Protects against an intruder who knows where somebody lives and looks for them there, in the file or in tables made
    of it: those who are rare in their area are somewhere else, and nobody can be sure of any other household. It does
    not protect somebody who is rare in the whole file: whoever knows that finds the record wherever it is said to be,
    and learns the rest (`k_anonymity` counts it: keys stay as they are). Nor does it protect what names the place in
    another way: other geographic columns, ids that follow the areas, an order by area.

    Each household at risk changes places with one of another area, from the top level down: on the first level on which
    fewer than `k` people of its area are like one of its members in `keys`. Then pairs change places until up to `rate`
    of the households of each lowest area have. Only `geography` and `carry` move, and for all members, so that every
    other relation within households stays, and the households of each area and profile are as many as they were.

    Parameters
    ----------
    geography
        Columns that say where a household is, the broadest first. An area of a level is one of these columns within
        all broader ones.
    keys
        What an intruder may know of a person.
    k
        Fewest people of an area who are alike in `keys`, at least 1; of 1 nobody is at risk.
    similar
        Profiles: columns in which two households that change places are alike, the preferred profile first. The next is
        taken where fewer than two candidates are left. Of a column that differs within households, all members' values
        together count.
    rate
        Largest share of the households of each lowest area that change places, from 0 to 1, those at risk and their
        partners included; where more are at risk, more do.
    carry
        Columns that move with the household, as what describes the place: one value for each household.
    on_unswapped
        What happens where a household at risk finds no partner: an `error`; `keep` it as it is; or `suppress` its
        records, which are left out.

    References
    ----------
    Shlomo, Tudor and Groom (2010), doi:10.1007/978-3-642-15838-4_4.

    Examples
    --------
    >>> step = SwapHouseholds(geography=("region", "district"), keys=("sex", "age"), similar=(("size",),))
    >>> step.changes, step.k, step.rate
    (('region', 'district'), 3, 0.05)
    """

    masks: ClassVar[bool] = True
    whole_strata: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    draws_by_id: ClassVar[bool] = True
    effort: ClassVar[float] = 5.0

    do: Literal["swap_households"] = "swap_households"
    geography: tuple[str, ...] = Field(min_length=1)
    keys: tuple[str, ...] = Field(min_length=1)
    k: int = Field(default=3, ge=1)
    similar: tuple[tuple[str, ...], ...] = Field(min_length=1)
    rate: float = Field(default=0.05, ge=0, le=1)
    carry: tuple[str, ...] = ()
    on_unswapped: Literal["error", "keep", "suppress"] = "error"

    @model_validator(mode="after")
    def _sane(self) -> Self:
        if not all(self.similar):
            raise ValueError("each profile of `similar` needs a column: similar: [[size, ages], [size]]")
        for name, columns in self._named():
            if len(set(columns)) < len(columns):
                raise ValueError(f"`{name}` names a column twice")
        if both := sorted(set(self.geography) & set(self.carry)):
            raise ValueError(f"{', '.join(both)}: in `geography`, and in `carry`")
        stays = {*self.keys, *(n for profile in self.similar for n in profile)}
        if both := sorted(stays & set(self.changes)):
            raise ValueError(f"{', '.join(both)}: in `keys` or `similar`, and in what moves (`geography`, `carry`)")
        return self

    def _named(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The parameters that list columns."""
        yield from (("geography", self.geography), ("keys", self.keys), ("carry", self.carry))
        yield from (("similar", profile) for profile in self.similar)

    @property
    def exchanges(self) -> bool:
        """Households change places, and gaps with them."""
        return True

    @property
    def changes(self) -> tuple[str, ...]:
        """What moves with a household."""
        return (*self.geography, *self.carry)

    @property
    def keyed_on(self) -> tuple[Role, ...]:
        """Households change places as one."""
        return (Role.HOUSEHOLD,)

    def check(self, codebook: Codebook) -> list[str]:
        """Columns that are there, categories where people are counted, and ids of households."""
        used = tuple(dict.fromkeys(n for _, columns in self._named() for n in columns))
        problems = unknown_problems(codebook, used) + unit_problems(self.name, codebook, "household")
        weights = {n for n in self.carry if n in codebook and codebook[n].role == Role.WEIGHT}
        problems += role_problems(codebook, [n for n in self.changes if n not in weights])
        for name, columns in self._named():
            for n in (n for n in columns if n in codebook and name != "carry"):
                if name != "geography" and codebook[n].role in (*IDS, Role.IDENTIFIER):
                    problems.append(f"column {n!r} in {name} has role {codebook[n].role}, in which nobody is alike")
                elif codebook[n].kind == Kind.CONTINUOUS:
                    problems.append(f"column {n!r} in {name} is continuous; it takes categories (recode with `band`)")
        return problems

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """Exchange over the whole table; then look at what became of those at risk."""
        household = codebook.the(Role.HOUSEHOLD)
        match len(states):
            case 0 if household is not None:
                return Exchanging(self, codebook, household).stage()
            case 1:
                return Weeding(self.on_unswapped == "suppress").stage()
        return None

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """Who changed places with whom, by rule; how many found no partner is a finding."""
        told = self.model_dump(include={"geography", "keys", "k", "similar", "rate"})
        said = Exchanged(columns=self.changes, **told)
        if self.on_unswapped != "suppress":
            return (said,)
        rule = "households that should have been exchanged and found no partner were left out"
        return (said, Suppressed(columns=self.geography, rule=rule))

    def suppressed(self, states: tuple[Any, ...]) -> Suppression:
        """Records of households at risk that found no partner: left out, or still there."""
        told: Told = states[1]
        if self.on_unswapped == "suppress":
            return Suppression(records=told.records, unswapped=0)
        return Suppression(unswapped=told.records)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many households were at risk, changed places, and found no partner."""
        told: Told = states[1]
        became = {"keep": "stay as they are", "suppress": "were left out"}.get(self.on_unswapped, "are left")
        note = f"Of {told.households} households {told.at_risk} were at risk, and {told.moved} changed places"
        left = f"{told.left} at risk found no partner and {became}." if told.left else "All at risk found a partner."
        without = f" {told.nowhere} have no area and took no part." if told.nowhere else ""
        return (f"{note}. {left}{without}",)

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Where somebody at risk stays."""
        told: Told = states[1]
        if self.on_unswapped != "keep" or not told.left:
            return ()
        return (
            Publishable(
                f"swap_households left households where they are that hold somebody of whom fewer than {self.k} in the "
                "area have the same keys: no other area has two households of their profile.",
                "Add a profile of fewer columns to `similar`, recode keys more broadly, or leave these households out "
                "(on_unswapped: suppress).",
            ),
        )
