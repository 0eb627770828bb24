"""What somebody may come to know: the criteria that a policy sets, the stricter the less trusted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from sfumato.data.described import Described
from sfumato.errors import DataError, FormulaError
from sfumato.gate.margin import canonical_json
from sfumato.tables.rules import Rule, leaves, read_rules

__all__ = [
    "PRESETS",
    "Attribution",
    "Interval",
    "Noise",
    "Perturbed",
    "Policy",
    "PublicRule",
    "Sap",
    "of_criteria",
    "protected_count",
]

_FROZEN = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_MOST = 1_000_000
_SHARES = ("p(10)", "nk(2,90)")
"""The rules of ACRO, which hold for sums where a policy names none."""


class Interval(Described):
    """Small cells stay uncertain: every joint cell with a true count of 1 to `count` can be `width` wide or wider.

    No group of 1 to `count` people can then be known to have at most `count`.

    Parameters
    ----------
    count
        The largest count that is protected.
    width
        The least difference between the most and the least that such a cell can be; more than `count`.

    Examples
    --------
    >>> Interval(count=4, width=10).width
    10
    """

    model_config = _FROZEN

    count: int = Field(ge=1, le=_MOST)
    width: int = Field(ge=2, le=2 * _MOST)

    @model_validator(mode="after")
    def _wider(self) -> Interval:
        if self.width < self.count + 1:
            raise ValueError(
                f"`width` must be {self.count + 1} or more: less does not hide that a group has at most {self.count}"
            )
        return self


class Attribution(Described):
    """What a group has stays uncertain.

    Parameters
    ----------
    variables
        What must not be learned.
    rule
        `positive`: of every group, two levels of the variable or more remain possible. `any`: all remain possible.
    """

    model_config = _FROZEN

    variables: tuple[str, ...] = Field(min_length=1)
    rule: Literal["positive", "any"] = "positive"


class Sap(Described):
    """Attribution by subtraction (reconstructed): how likely one who knows k people finds a zero.

    Parameters
    ----------
    known
        How many people are known.
    at_most
        The probability that is allowed.
    """

    model_config = _FROZEN

    known: int = Field(ge=0, le=10_000)
    at_most: float = Field(ge=0, le=1)


class Noise(Described):
    """How much all noisy releases together may tell.

    Parameters
    ----------
    mu_at_most
        Of somebody who knows all others: the square root of the sum of what each release adds.
    """

    model_config = _FROZEN

    mu_at_most: float = Field(gt=0, le=100)


class Perturbed(Described):
    """Tables that are perturbed by cell keys.

    Parameters
    ----------
    variance
        Of the noise of each cell.
    """

    model_config = _FROZEN

    variance: float = Field(gt=0, le=1000)


class PublicRule(Described):
    """When a table may go to the public: it stands in a share of the maximal releases, or was asked for often enough.

    Parameters
    ----------
    share
        Of the maximal releases.
    grants
        After so many grants to others, instead.
    """

    model_config = _FROZEN

    share: float = Field(default=0.5, gt=0, le=1)
    grants: int | None = Field(default=None, ge=1)


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "research": {"interval": {"count": 4, "width": 10}},
    "public": {"interval": {"count": 9, "width": 20}},
    "acro": {"interval": {"count": 9, "width": 10}, "dominance": ["nk(2,90)", "p(10)"]},
    "datashield": {"interval": {"count": 2, "width": 3}},
}
"""What `preset` stands for: 10 units is the rule of ACRO and of the ESSnet, 3 that of DataSHIELD."""


class Policy(Described):
    """The criteria that all that somebody knows together must meet.

    A table is given only where it is proved that every criterion holds. A policy without any would give everything away
    and is refused.

    Parameters
    ----------
    preset
        Criteria by name, which keys beside it replace: `research`, `public`, `acro`, `datashield`.
    interval
        Small cells stay uncertain.
    attribution
        What a group has stays uncertain.
    dominance
        Rules on shares for sums, means and exact fits: `p(10)` and `nk(2,90)` where none are named. Others may stand in
        their place, but not none: five costs of 0 and one of 912,345 are one person's cost.
    sap
        Attribution by subtraction.
    grants_per_day, requests_per_day
        At most so many; offers are requests.
    noise
        How much all noisy releases together may tell.
    perturbed
        Perturbed tables may be offered.
    public
        When a table may go to the public, for the public's policy.

    Examples
    --------
    >>> Policy(preset="research").interval.count
    4
    """

    model_config = _FROZEN

    preset: str | None = None
    interval: Interval | None = None
    attribution: Attribution | None = None
    dominance: tuple[str, ...] = Field(default=_SHARES, min_length=1)
    sap: Sap | None = None
    grants_per_day: int | None = Field(default=None, ge=0)
    requests_per_day: int | None = Field(default=None, ge=0)
    noise: Noise | None = None
    perturbed: Perturbed | None = None
    public: PublicRule | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        if "simulatable" in given:
            raise ValueError("`simulatable` went, since it refused everything that was new: leave it out")
        if given.get("preset") is None:
            return given
        preset = given["preset"]
        if preset not in PRESETS:
            raise ValueError(f"`preset` is one of {', '.join(PRESETS)}")
        return {**PRESETS[preset], **given}

    @field_validator("dominance", mode="before")
    @classmethod
    def _rules(cls, given: Any) -> Any:
        rules = (given,) if isinstance(given, str) else given
        if not isinstance(rules, list | tuple) or not all(isinstance(one, str) for one in rules):
            return given
        for one in rules:
            if not re.fullmatch(r"\s*(p|pq|nk)\s*\([^()]*\)\s*", one):
                raise ValueError("rules of dominance are p(10), pq(10,50) or nk(2,85)")
            _checked(one)
        return tuple(rules)

    @model_validator(mode="after")
    def _some_criterion(self) -> Policy:
        named = "dominance" in self.model_fields_set  # the rules that every policy has are no criterion of its own
        if not (self.interval or self.attribution or named or self.sap):
            raise ValueError(
                "a policy needs a criterion (`interval`, `attribution`, `dominance`, `sap`) or a `preset`: without one "
                "it would give everything away"
            )
        return self

    def to_plain(self) -> dict[str, Any]:
        """For entries of the ledger: fractions as texts."""
        plain: dict[str, Any] = _as_decimals(self.model_dump(mode="json"))
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Policy:
        """Read what `to_plain` wrote, also that of earlier versions.

        Notes
        -----
        A policy without rules on shares gets those of all. One by which nothing that was new was given (`simulatable`,
        which went) gives nothing now either, by an interval that nothing meets, until a steward sets another.

        Examples
        --------
        >>> policy = Policy(preset="research", public={"share": 0.1})
        >>> Policy.from_plain(policy.to_plain()) == policy
        True
        """
        kept = {key: one for key, one in plain.items() if key != "simulatable" and (key != "dominance" or one)}
        if plain.get("simulatable"):
            kept |= {"interval": {"count": _MOST, "width": 2 * _MOST}, "perturbed": None}
        return cls.model_validate(kept)

    @property
    def criteria(self) -> tuple[Any, ...]:
        """What knowledge must meet: all but limits of a day, and rules for what is asked anew."""
        return self.interval, self.attribution, self.dominance, self.sap

    @model_validator(mode="after")
    def _noisy_enough(self) -> Policy:
        if self.interval is not None and self.perturbed is not None:
            least = (self.interval.width / 4) ** 2
            if self.perturbed.variance < least:
                raise ValueError(f"`variance` must be {least:g} or more: less noise than the interval's width hides")
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of what it asks; with a key that went, so that entries of earlier versions name the same policy."""
        asked = {**self.model_dump(mode="json", exclude={"preset"}), "simulatable": False}
        return hashlib.sha256(canonical_json(_as_texts(asked))).hexdigest()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules on shares; there are always some."""
        return tuple(_checked(one) for one in self.dominance)


def _checked(text: str) -> Rule:
    try:
        rule = read_rules(text)
    except FormulaError as error:  # its own words name what is allowed
        raise ValueError(str(error)) from None
    return rule if isinstance(rule, Rule) else next(iter(leaves(rule)))


def _as_texts(value: Any) -> Any:
    """Fractions as strings: canonical JSON holds no floats."""
    if isinstance(value, float):
        return str(Fraction(value).limit_denominator(10**9))
    if isinstance(value, dict):
        return {key: _as_texts(one) for key, one in value.items()}
    return [_as_texts(one) for one in value] if isinstance(value, list | tuple) else value


def _as_decimals(value: Any) -> Any:
    """Fractions as the shortest texts that give them back."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {key: _as_decimals(one) for key, one in value.items()}
    return [_as_decimals(one) for one in value] if isinstance(value, list | tuple) else value


def protected_count(policy: Policy) -> int:
    """The largest group that is protected; that of research where a policy has no interval.

    Examples
    --------
    >>> protected_count(Policy(preset="public"))
    9
    """
    count = PRESETS["research"]["interval"]["count"] if policy.interval is None else policy.interval.count
    return int(count)


def of_criteria(
    interval: tuple[int, int] | None,
    attribution: Mapping[str, str] | None = None,
    dominance: str | Sequence[str] | None = None,
) -> Policy:
    """A policy from what one call names; without an interval or an attribution that of research.

    Parameters
    ----------
    interval
        Count and width.
    attribution
        Rule by variable.
    dominance
        Rules on shares, in place of those that every policy has.

    Examples
    --------
    >>> of_criteria((4, 10)).interval.width
    10
    """
    wanted: dict[str, Any] = {}
    if interval is not None:
        wanted["interval"] = {"count": interval[0], "width": interval[1]}
    if attribution:
        rules = set(attribution.values())
        if len(rules) > 1:
            raise DataError("All variables of `attribution` have one rule.")
        wanted["attribution"] = {"variables": tuple(attribution), "rule": rules.pop()}
    wanted = wanted or {"preset": "research"}
    if dominance is not None:
        wanted["dominance"] = dominance
    return Policy(**wanted)
