"""The decision: may somebody who knows all this be told that as well, under a policy? A pure function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from sfumato.gate.analyses.scope import apart
from sfumato.gate.case import Case
from sfumato.gate.criteria import attribution, dominance, extremes, interval, sap
from sfumato.gate.criteria.interval import EFFORT
from sfumato.gate.margin import Margin, Node, base_of
from sfumato.gate.noise import allowed
from sfumato.gate.policy import Policy, protected_count
from sfumato.gate.records import Records
from sfumato.gate.stages.exact import Joint
from sfumato.gate.stages.verdict import Verdict

__all__ = ["Answer", "Decision", "holds", "is_known", "judge", "together"]

Answer = Literal["granted", "refused", "undecided"]


@dataclass(frozen=True)
class Decision:
    """What was decided, and what it rests on.

    Parameters
    ----------
    decision
        `granted`, `refused`, or `undecided`: neither safety nor the lack of it was proved within the work that is
        allowed.
    reasons
        `known`, or the criteria that do not hold (that are not proved to hold).
    stage
        What showed it: `known`, `released`, `cover`, `exchange`, `exact`. For the ledger and stewards: never told.
    work
        Units of work: records looked at, and cells of programs. Equal on every machine.
    case
        What would be known; confidential.
    """

    decision: Answer
    reasons: tuple[str, ...]
    stage: str
    work: int
    case: Case = field(repr=False, compare=False)

    @property
    def granted(self) -> bool:
        """Whether it may be told."""
        return self.decision == "granted"

    @cached_property
    def joint_cells(self) -> int:
        """Cells of the coarsest table from which all that would be known follows."""
        return self.case.joint_cells

    def small(self, count: int) -> int:
        """How many joint cells hold 1 to `count` people; confidential."""
        joint = self.case.scope.joint(self.case.nodes)
        return int(np.count_nonzero((joint.count >= 1) & (joint.count <= count)))

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "decision": self.decision,
            "reasons": list(self.reasons),
            "stage": self.stage,
            "work": self.work,
            "joint_cells": self.joint_cells,
        }


def is_known(records: Records, knowledge: Iterable[Margin], request: Margin) -> bool:
    """Whether one margin that is known gives what is asked by summing.

    A margin of a variable's own codes gives the sums of that variable.
    """
    structure = records.structure
    for margin in knowledge:
        if structure.covers(margin, request):
            return True
        summed = {base_of(request.value), request.weight} - {""}
        if summed and all(structure.tells(margin.nodes, Node(name)) for name in summed if name in structure.codes):
            counts = Margin.of(request.nodes, version=request.version)
            if all(name in structure.codes for name in summed) and structure.covers(margin, counts):
                return True
    return False


def judge(
    data: Records,
    knowledge: Iterable[Margin],
    request: Margin,
    policy: Policy,
    *,
    broken: bool = False,
    effort: float = EFFORT,
) -> Decision:
    """Decide whether somebody who knows some margins may be told another one.

    Parameters
    ----------
    data
        The records.
    knowledge
        All that they know, or that somebody who would come to know it knows.
    request
        What is asked.
    policy
        What must hold afterwards.
    broken
        What is known breaks the policy already, by an exception or because the policy was tightened. Then only what
        moves no end of a joint cell that fails, and makes no other one fail, is granted.
    effort
        Units of work for what cheap stages leave open.

    Returns
    -------
    Decision
        The same on every machine and for every order of records and of knowledge.

    Notes
    -----
    Granting rests on a proof that all criteria hold for everything that would be known, against an attacker who knows
    these margins, how many people there are, the codebook, and who can reason in whole numbers. It says nothing of one
    who knows some of the people, of what is probable rather than possible, and of margins that were shared without
    being declared.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.gate.reading import records_of
    >>> rows = pl.DataFrame({"A": ["1", "1", "2"], "B": ["1", "2", "1"], "n": [2, 3, 3]})
    >>> data = records_of(rows, count="n")
    >>> policy = Policy(interval={"count": 2, "width": 4})
    >>> a, b = Margin.of([Node("A")]), Margin.of([Node("B")])
    >>> judge(data, [], a, policy).decision, judge(data, [a], b, policy).decision
    ('granted', 'refused')
    """
    held = sorted(set(map(data.structure.canonical, knowledge)))
    wanted = data.structure.canonical(request)
    if is_known(data, held, wanted):
        return Decision("granted", ("known",), "known", 0, Case.of(data, held))
    if wanted.noise:
        return _noisy(data, [*held, wanted], policy, Case.of(data, held), given=False)
    case = Case.of(data, [*held, wanted])
    return _decided(case, holds(case, policy, Case.of(data, held) if broken and held else None, effort))


def together(data: Records, knowledge: Iterable[Margin], policy: Policy, *, effort: float = EFFORT) -> Decision:
    """Decide whether somebody may know some margins together: when people join, or share."""
    held = sorted(set(map(data.structure.canonical, knowledge)))
    case = Case.of(data, held)
    noisy = _noisy(data, held, policy, case, given=True)
    if not noisy.granted or all(margin.noise for margin in held):
        return noisy
    return _decided(case, holds(case, policy, effort=effort))


def _noisy(data: Records, held: Sequence[Margin], policy: Policy, case: Case, *, given: bool) -> Decision:
    """Whether all noisy releases may be known together: within the budget, and about records that are far apart."""
    verdict = allowed(held, policy, given=given)
    if verdict.holds and _shows_zeros(data, held, policy):
        return Decision("refused", ("attribution",), "noise", 0, case)
    if not verdict.holds:
        return Decision("refused", verdict.reasons, "noise", 0, case)
    if not apart(data, held, protected_count(policy)):
        return Decision("refused", ("scope",), "noise", 0, case)
    return Decision("granted", (), "noise" if any(margin.noise for margin in held) else "known", 0, case)


def _shows_zeros(data: Records, held: Sequence[Margin], policy: Policy) -> bool:
    """Whether a perturbed table, whose zeros are true, has a variable that must not be learned."""
    if policy.attribution is None:
        return False
    hidden = {name for own in policy.attribution.variables for name in (own, *data.structure.derived.get(own, ()))}
    return any(margin.noise and not margin.fit and hidden & {n.variable for n in margin.nodes} for margin in held)


def _decided(case: Case, found: dict[str, Verdict]) -> Decision:
    work = sum(verdict.work for verdict in found.values())
    failed = tuple(name for name, verdict in found.items() if verdict.holds is False)
    open_ = tuple(name for name, verdict in found.items() if verdict.holds is None)
    reasons = failed or open_
    answer: Answer = "refused" if failed else "undecided" if open_ else "granted"
    told = [found[name] for name in reasons] if reasons else list(found.values())
    stage = max((verdict.stage for verdict in told), key=_ORDER.index, default="known")  # of counts nothing is asked
    return Decision(answer, reasons, stage, work, case)


_ORDER = ("known", "noise", "open", "released", "cover", "exchange", "exact")


def holds(case: Case, policy: Policy, beside: Case | None = None, effort: float = EFFORT) -> dict[str, Verdict]:
    """What each criterion says of all that would be known; nothing more is looked at once one does not hold.

    Parameters
    ----------
    case
        What would be known.
    policy
        The criteria.
    beside
        What is known already, where it breaks the policy.
    effort
        Units of work for what cheap stages leave open.
    """
    joint = Joint(case)
    checks: dict[str, Callable[[], Verdict | None]] = {
        "sum": lambda: extremes.check(case, beside) if case.sums else None,
        "dominance": lambda: dominance.check(case, policy.rules, beside, effort) if case.sums or case.counted else None,
        "interval": lambda: interval.check(case, policy.interval, joint, beside, effort) if policy.interval else None,
        "attribution": lambda: (
            attribution.check(case, policy.attribution, joint, effort) if policy.attribution else None
        ),
        "sap": lambda: sap.check(case, policy.sap) if policy.sap else None,
    }
    out: dict[str, Verdict] = {}
    for name, check in checks.items():
        verdict = check()
        if verdict is not None:
            out[name] = verdict
            if verdict.holds is False:
                break
    return out
