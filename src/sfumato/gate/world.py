"""Who is there, who shares with whom, and what each of them may know; every change is a decision.

A principal is a user, an organisation, a group or the public; each has one policy. What x holds may reach y where an
edge leads from x to y, and what the public holds reaches everybody. What a principal may know only grows: leaving
changes the future alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sfumato.errors import DataError
from sfumato.gate.criteria.interval import EFFORT
from sfumato.gate.decision import Answer, Decision, is_known, judge, together
from sfumato.gate.margin import Margin
from sfumato.gate.policy import Policy
from sfumato.gate.records import Records

__all__ = ["PUBLIC", "Knowledge", "Outcome", "Principal", "World"]

PUBLIC = "public"
"""The principal that everybody can be."""
Kind = Literal["user", "organisation", "group", "public"]
Knowledge = frozenset[Margin]


@dataclass(frozen=True)
class Principal:
    """Somebody who may know something.

    Parameters
    ----------
    name
        An id that is never given again.
    kind
        What it is.
    policy
        Name of its policy.
    """

    name: str
    kind: Kind
    policy: str


@dataclass(frozen=True)
class Outcome:
    """What was decided, and what everybody knows if it is carried out.

    Parameters
    ----------
    decision
        `granted`, `refused` or `undecided`.
    reasons, stage, work
        As in `Decision`.
    grown
        By principal and data set, all that they know then, where that is more than before.
    edges
        Who shares with whom then; None where that does not change.
    """

    decision: Answer
    reasons: tuple[str, ...] = ()
    stage: str = "known"
    work: int = 0
    grown: Mapping[tuple[str, str], Knowledge] = field(default_factory=dict)
    edges: frozenset[tuple[str, str]] | None = None

    @property
    def granted(self) -> bool:
        """Whether it is carried out."""
        return self.decision == "granted"


@dataclass
class World:
    """Principals, edges and knowledge at one moment.

    Parameters
    ----------
    datasets
        The records of each data set.
    policies
        By name.
    principals
        By name; the public is always among them.
    edges
        Pairs of names: what the first holds may reach the second.
    knowledge
        By principal and data set.
    broken
        Principals and data sets whose knowledge breaks the policy, by an exception or since the policy was tightened.

    Examples
    --------
    >>> world = World({}, {"public": Policy(preset="public"), "research": Policy(preset="research")})
    >>> for name in ("north", "ann"):
    ...     world.add(Principal(name, "organisation" if name == "north" else "user", "research"))
    >>> world.carry_out(world.join("ann", "north"))
    >>> sorted(world.reach("ann"))
    ['ann', 'north']
    """

    datasets: Mapping[str, Records]
    policies: Mapping[str, Policy]
    principals: dict[str, Principal] = field(default_factory=dict)
    edges: frozenset[tuple[str, str]] = frozenset()
    knowledge: dict[tuple[str, str], Knowledge] = field(default_factory=dict)
    broken: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.principals.setdefault(PUBLIC, Principal(PUBLIC, "public", PUBLIC))

    def knows(self, who: str, dataset: str) -> Knowledge:
        """All that somebody may know of a data set."""
        return self.knowledge.get((who, dataset), frozenset())

    def policy(self, who: str) -> Policy:
        """The policy of somebody."""
        return self.policies[self.principals[who].policy]

    def reach(self, who: str) -> frozenset[str]:
        """Who may come to know what somebody holds, with themselves."""
        return self._reached(who, self.edges)

    def _reached(self, who: str, edges: Iterable[tuple[str, str]]) -> frozenset[str]:
        onward: dict[str, list[str]] = {}
        for x, y in edges:
            onward.setdefault(x, []).append(y)
        found, fresh = {who}, [who]
        while fresh:
            one = fresh.pop()
            if one == PUBLIC:
                return frozenset(self.principals)
            for other in onward.get(one, ()):
                if other not in found:
                    found.add(other)
                    fresh.append(other)
        return frozenset(found)

    def add(self, principal: Principal) -> None:
        """Declare somebody; what is public they know at once, though their policy may be stricter.

        Raises
        ------
        DataError
            A name that was given before, or a policy that there is not.
        """
        if principal.name in self.principals:
            raise DataError(f"There is, or was, somebody named {principal.name!r}: names are given once.")
        if principal.policy not in self.policies:
            known = ", ".join(self.policies)
            raise DataError(f"There is no policy {principal.policy!r}. Policies: {known}.")
        self.principals[principal.name] = principal
        for dataset in self.datasets:
            if held := self.knows(PUBLIC, dataset):
                self.knowledge[principal.name, dataset] = held
                if not together(self.datasets[dataset], held, self.policy(principal.name)).granted:
                    self.broken.add((principal.name, dataset))

    def ask(self, who: str, dataset: str, request: Margin, *, effort: float = EFFORT) -> Outcome:
        """Decide a request: whoever may come to know it must be allowed to, with all they know.

        What is remembered is what was asked: what a level does not tell today it may tell once a version brings more
        codes. Nothing is changed; see `carry_out`.

        `effort` is as for `judge`.
        """
        return self.ask_all(who, dataset, [request], effort=effort)

    def ask_all(self, who: str, dataset: str, requests: Sequence[Margin], *, effort: float = EFFORT) -> Outcome:
        """Decide several margins as one: all of them are told, or none. An exact fit follows from such.

        Nothing is changed; `effort` is as for `judge`.
        """
        self._refuse_unknown(who)
        data = self.datasets[dataset]
        if not _unknown(data, self.knows(who, dataset), requests):
            return Outcome("granted", ("known",))
        grown, done = {}, {}
        for one in sorted(self.reach(who)):
            held = self.knows(one, dataset)
            more = _unknown(data, held, requests)
            if not more:
                continue
            broken = (one, dataset) in self.broken
            key = held, self.principals[one].policy, broken
            if key not in done:
                done[key] = _judged(data, held, more, self.policy(one), broken, effort)
                if done[key].decision == "refused":
                    break
            grown[one, dataset] = held | more
        return _outcome(list(done.values()), grown, None)

    def exception(self, who: str, dataset: str, request: Margin) -> Outcome:
        """What a steward's exception would make everybody know; criteria are not asked."""
        self._refuse_unknown(who)
        data = self.datasets[dataset]
        grown = {}
        for one in sorted(self.reach(who)):
            held = self.knows(one, dataset)
            if not is_known(data, held, request):
                grown[one, dataset] = held | {request}
        return Outcome("granted", ("exception",), "exception", 0, grown)

    def join(self, who: str, where: str, *, guest: bool = False) -> Outcome:
        """Decide whether somebody may become a member; a guest receives and gives nothing back."""
        self._refuse_unknown(who, where)
        if who == PUBLIC:
            raise DataError("The public is no member of anything.")
        edges = {(where, who)} if guest else {(who, where), (where, who)}
        return self._connect(self.edges | edges)

    def share(self, giver: str, taker: str) -> Outcome:
        """Decide whether one may pass on to another all that it holds."""
        self._refuse_unknown(giver, taker)
        return self._connect(self.edges | {(giver, taker)})

    def leave(self, who: str, where: str) -> Outcome:
        """End a membership, or sharing in both directions; what is known stays known."""
        self._refuse_unknown(who, where)
        return Outcome("granted", edges=self.edges - {(who, where), (where, who)})

    def withdraw(self, giver: str, taker: str) -> Outcome:
        """End sharing in one direction."""
        self._refuse_unknown(giver, taker)
        return Outcome("granted", edges=self.edges - {(giver, taker)})

    def carry_out(self, outcome: Outcome) -> None:
        """Let what was granted be so."""
        if outcome.granted:
            self.knowledge.update(outcome.grown)
            if outcome.edges is not None:
                self.edges = outcome.edges

    def _connect(self, edges: frozenset[tuple[str, str]]) -> Outcome:
        """Decide who would come to know what along new edges."""
        grown, done = {}, {}
        reached = {one: self._reached(one, edges) for one in self.principals}
        for dataset, data in sorted(self.datasets.items()):
            for one in sorted(self.principals):
                held = self.knows(one, dataset)
                more = {
                    margin
                    for other in self.principals
                    if one in reached[other]
                    for margin in self.knows(other, dataset)
                    if not is_known(data, held, margin)
                }
                if not more:
                    continue
                everything = held | more
                grown[one, dataset] = everything
                if (one, dataset) in self.broken or self._from_broken(one, dataset, reached):
                    return Outcome("refused", ("interval",), "exception")
                key = dataset, everything, self.principals[one].policy
                if key not in done:
                    done[key] = together(data, everything, self.policy(one))
                    if done[key].decision == "refused":
                        return _outcome(list(done.values()), {}, None)
        return _outcome(list(done.values()), grown, edges)

    def _from_broken(self, one: str, dataset: str, reached: Mapping[str, frozenset[str]]) -> bool:
        """Whether somebody would receive from one whose knowledge breaks the policy."""
        return any(
            (other, dataset) in self.broken and one in reached[other] for other in self.principals if other != one
        )

    def _refuse_unknown(self, *names: str) -> None:
        for name in names:
            if name not in self.principals:
                raise DataError(f"There is nobody named {name!r}.")


def _unknown(data: Records, held: Knowledge, requests: Iterable[Margin]) -> Knowledge:
    """Those that nothing that is held gives."""
    return frozenset(one for one in requests if not is_known(data, held, one))


def _judged(data: Records, held: Knowledge, more: Knowledge, policy: Policy, broken: bool, effort: float) -> Decision:
    """Decide one margin, or several that are told together."""
    if len(more) == 1:
        return judge(data, held, next(iter(more)), policy, broken=broken, effort=effort)
    if broken:
        one = judge(data, held, min(more), policy, broken=broken, effort=effort)
        return replace(one, decision="refused", reasons=("interval",)) if one.granted else one
    return together(data, held | more, policy, effort=effort)


def _outcome(
    decisions: list[Decision], grown: Mapping[tuple[str, str], Knowledge], edges: frozenset[tuple[str, str]] | None
) -> Outcome:
    """The decision that all single ones come to: refused by one is refused."""
    work = sum(one.work for one in decisions)
    for answer in ("refused", "undecided"):
        if own := [one for one in decisions if one.decision == answer]:
            reasons = tuple(sorted({reason for one in own for reason in one.reasons}))
            return Outcome(answer, reasons, own[-1].stage, work)
    stage = max((one.stage for one in decisions), default="known", key=lambda s: _ORDER.index(s))
    return Outcome("granted", () if decisions else ("known",), stage, work, grown, edges)


_ORDER = ("known", "noise", "open", "released", "cover", "exchange", "exact", "exception")
