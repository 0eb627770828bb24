"""Acceptance limits: what must hold for a release to be written, and which attackers must be tried to tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import ConfigDict, model_validator

from sfumato.data.described import Described
from sfumato.data.finding import Finding, Findings
from sfumato.measures.attacking import DEFAULT, USUAL, Attacking
from sfumato.measures.intruding import Intruding, Knowledge
from sfumato.measures.registry import failed_measures, figures, measure_of
from sfumato.measures.subject import EVERYTHING
from sfumato.plug_ins import and_left_out

__all__ = ["Limit", "apply_limits", "attacking_for", "intruding_for", "no_measure", "unmeasured"]

_LAST_BITS = 1e-12
_LARGEST_AT = 1000
"""The largest t that a limit on P(h ≤ t) may name: counting further takes long and tells nothing of risk."""


class Limit(Described):
    """A bound on a measure.

    It binds every finding of the measure, unless `variable`, `group`, `at` or `attack` narrows it: also those of
    whoever knows all rows of a person or household (attacks `person`, `household`), and those of
    whoever knows all that leaves as it was (group `released`), but not of whoever besides knows what the plan says that
    nobody does (`everything`), unless it names that group. A finding without a value does not meet it.

    Parameters
    ----------
    measure
        Name of the measure.
    at_least, at_most
        The bound; one of both.
    variable, group, at, attack
        Only findings with these are bound.

    Examples
    --------
    >>> Limit(measure="risk1", at_most=0.05).holds(Finding("risk1", value=0.04))
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    measure: str
    at_least: float | None = None
    at_most: float | None = None
    variable: str | None = None
    group: str | None = None
    at: float | None = None
    attack: str | None = None

    @model_validator(mode="after")
    def _one_bound(self) -> Limit:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("a limit has either `at_least` or `at_most`")
        return self

    def binds(self, finding: Finding) -> bool:
        """Whether it speaks of a finding; of whoever knows what is said to be unknown only if it names that group."""
        if finding.group == EVERYTHING and self.group is None:
            return False
        narrowing = ("variable", "group", "at", "attack")
        return finding.measure == self.measure and all(
            getattr(self, n) in (None, getattr(finding, n)) for n in narrowing
        )

    def holds(self, finding: Finding) -> bool:
        """Whether a finding keeps to it; the last bits of a sum, which hang on the processor, decide nothing."""
        if finding.value is None:
            return False
        if math.isclose(finding.value, self.bound, rel_tol=_LAST_BITS):
            return True
        return finding.value > self.bound if self.at_least is not None else finding.value < self.bound

    @property
    def bound(self) -> float:
        """The number."""
        return self.at_least if self.at_least is not None else self.at_most or 0.0


def attacking_for(limits: Sequence[Limit]) -> Attacking | None:
    """Which attackers must be tried, so that limits can be judged: the usual ones, and those that limits name.

    The same is asked by whatever measures for limits, so that tuning and protecting judge alike.

    Parameters
    ----------
    limits
        Of a plan, or given to tune.

    Returns
    -------
    Attacking or None
        None where no limit speaks of attackers.

    Raises
    ------
    DataError
        Where a limit names an attack that there is not.

    Examples
    --------
    >>> attacking_for([Limit(measure="h_rank", at=3, attack="averaging:2", at_most=0.1)]).attacks
    ('nearest', 'predicted', 'averaging:2')
    """
    from sfumato.measures.risk.attackers.attackers import Attack
    from sfumato.measures.risk.h_rank.measure import EARLIER, WORST

    measured = (measure_of(limit.measure) for limit in limits)
    if not any(measure is not None and "disclosure" in measure.needs for measure in measured):
        return None
    own = [limit for limit in limits if limit.measure == "h_rank"]
    named = [limit.attack for limit in own if limit.attack not in (None, EARLIER, WORST)]
    for name in named:
        Attack.parse(name)
    at = {int(t) for limit in own if (t := limit.at) is not None and t in range(_LARGEST_AT + 1)}
    return replace(USUAL, attacks=tuple(dict.fromkeys((*DEFAULT, *named))), at=tuple(sorted(at)))


def intruding_for(
    limits: Sequence[Limit], knows: Mapping[str, Knowledge], usual: Sequence[str] = ()
) -> Intruding | None:
    """Which intruders who know keys must be tried, so that limits can be judged: the usual ones, and those they name.

    Parameters
    ----------
    limits
        Of a plan, or given to tune.
    knows
        What each intruder knows.
    usual
        Scenarios that are tried anyway.

    Returns
    -------
    Intruding or None
        None where none is.

    Raises
    ------
    DataError
        Where a limit names a scenario that there is not.

    Examples
    --------
    >>> intruding_for([Limit(measure="match_correct", attack="claim", at_most=0.5)], {}).scenarios
    ('claim',)
    """
    asked = [limit.attack or "neighbour" for limit in limits if limit.measure.startswith("match_")]
    scenarios = tuple(dict.fromkeys((*usual, *asked)))
    return Intruding(scenarios, knows=knows) if scenarios else None


def unmeasured(finding: Finding) -> bool:
    """Whether a limit is not met because there is no figure (rather than a bad one). Of the custodian's findings.

    Examples
    --------
    >>> unmeasured(Finding("risk1", limit=0.1, ok=False)), unmeasured(Finding("risk1", value=0.2, limit=0.1, ok=False))
    (True, False)
    """
    return finding.ok is False and finding.value is None


def no_measure(name: str) -> str:
    """Say that no measure gives a figure, and which there are.

    Examples
    --------
    >>> no_measure("k_anonimity").startswith("there is no measure 'k_anonimity'; measures: k_anonymity, ")
    True
    """
    return f"there is no measure {name!r}; measures: {', '.join(figures())}{and_left_out(failed_measures())}"


def apply_limits(findings: Findings, limits: Sequence[Limit]) -> Findings:
    """Mark each finding with the limit that binds it; of several, one that does not hold.

    A limit that binds no finding at all is not met: it is added as a finding without a value, and a note says so.
    """
    lines = list(findings.lines)
    notes = list(findings.notes)
    for limit in limits:
        bound = [i for i, f in enumerate(lines) if limit.binds(f)]
        for i in bound:
            if lines[i].ok is not False:
                lines[i] = replace(lines[i], limit=limit.bound, ok=limit.holds(lines[i]))
        if not bound:
            narrowed = limit.model_dump(include={"measure", "variable", "group", "at", "attack"})
            lines.append(Finding(**narrowed, limit=limit.bound, ok=False))
            notes.append(f"The limit on {limit.measure} could not be checked: nothing was measured that it speaks of.")
    return replace(findings, lines=tuple(lines), notes=tuple(notes))
