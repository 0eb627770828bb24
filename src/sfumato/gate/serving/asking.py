"""Requests: decided, written, and only then answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError, KeyUsed, LimitReached
from sfumato.gate.analyses.request import Request
from sfumato.gate.analyses.tables import of_table
from sfumato.gate.content import Where, checked_where, content, refuse_unknown, whole
from sfumato.gate.criteria.interval import EFFORT
from sfumato.gate.decide import margin_of
from sfumato.gate.derived import State
from sfumato.gate.ledger import Entry, now
from sfumato.gate.margin import Margin, Node, canonical_json
from sfumato.gate.noise import written
from sfumato.gate.offers import MOST, Offer, offered
from sfumato.gate.public import Publishing
from sfumato.gate.records import Records
from sfumato.gate.serving.core import Core, Release, asked_of, knowledge_hash, plain_where
from sfumato.gate.world import PUBLIC, Outcome

if TYPE_CHECKING:
    from sfumato.gate.store.store import View, Writer

__all__ = ["Answer", "Asking"]

_WANTED = "asked"
"""The noise of a request, before it is known how much the policy has."""


@dataclass(frozen=True)
class Answer:
    """What somebody is told.

    Parameters
    ----------
    id
        Which nobody guesses.
    decision
        `granted`, `refused` or `undecided`.
    reasons
        `known`, or names of the criteria that do not hold, or are not proved to.
    offers
        What could be had instead.
    release
        The table, where it is given.
    ledger
        Number and hash of the entry.
    """

    id: str
    decision: str
    reasons: tuple[str, ...]
    offers: tuple[Offer, ...]
    release: Release | None
    ledger: tuple[int, str]

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.id,
            "decision": self.decision,
            "reasons": list(self.reasons),
            "offers": [offer.to_plain() for offer in self.offers],
            "release": None if self.release is None else self.release.to_plain(),
            "ledger": {"seq": self.ledger[0], "hash": self.ledger[1]},
        }


@dataclass(frozen=True)
class _Asked:
    """A request, checked against the codebook."""

    who: str
    dataset: str
    request: Margin
    where: Mapping[Node, tuple[str, ...]]
    margin: Margin
    records: Records
    analysis: Request | None = None
    mean: bool = False

    def to_plain(self) -> dict[str, Any]:
        """What was asked, for JSON."""
        return asked_of(self.dataset, self.request, self.where, self.analysis, mean=self.mean)


@dataclass(frozen=True)
class _Found:
    """What was decided about it, and about what is offered instead."""

    asked: _Asked
    outcome: Outcome
    tried: tuple[tuple[Margin, Outcome], ...] = ()
    offers: tuple[Offer, ...] = ()
    content: Mapping[str, Any] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


class Asking(Core):
    """The part of a gate that answers requests."""

    def ask(
        self,
        who: str,
        dataset: str,
        margin: Margin,
        where: Where | None = None,
        key: str | None = None,
        *,
        perturbed: bool = False,
        analysis: Request | None = None,
        mean: bool = False,
    ) -> Answer:
        """Decide a request, write it down, and give what is granted.

        Parameters
        ----------
        who
            An analyst, or `public`.
        dataset
            Name of the data set.
        margin
            What it is shown by, and what is summed.
        where
            By node the groups that are shown. Decided and remembered is the whole table.
        key
            Of the request: the same key gets the same answer, and nothing is decided again.
        perturbed
            The counts with noise, of the variance that their policy has. It is of another budget than true tables.
        analysis
            What is worked out from the table, where it is more than the table: see `analyse`.
        mean
            Whether a column of means stands beside the sums.

        Raises
        ------
        DataError
            Unknown names; a key that stood with another request.
        DataStopped
            The data set's file changed.
        LimitReached
            No more requests, or grants, on this day.
        """
        with self._lock:
            if perturbed and (margin.value or margin.weight):
                raise DataError("Only counts are perturbed: ask for the table without a sum and without a weight.")
            if mean and not margin.value:
                raise DataError("A mean is of a variable that is summed.")
            margin = replace(margin, noise=_WANTED if perturbed else "")
            told = asked_of(dataset, margin, dict(where or {}), analysis, mean=mean)
            more: dict[str, Any] = {"analysis": analysis, "mean": mean}
            return self._once(
                who, dataset, key, told, lambda state: self._decided(state, who, dataset, margin, where or {}, **more)
            )

    def _once(
        self, who: str, dataset: str, key: str | None, told: Mapping[str, Any], decide: Callable[[State], _Found]
    ) -> Answer:
        """Decide and write what is asked, unless its key was answered."""
        from sfumato.gate.store.store import digest

        text = digest(canonical_json(told))
        if key is not None and (not 1 <= len(key) <= 200 or not key.isprintable()):
            raise DataError("The key of a request has 1 to 200 printable characters.")
        with self.store.reading() as view:
            if key is not None and (earlier := self._earlier(view, who, key, text)):
                return earlier
            self._state = self._ahead(view)
            self._refuse_others(self._state, who)
            self._within_limits(view, self._state, who)
        return self._settled(
            decide,
            lambda writer, state, found: self._answered(writer, state, found, key, text),
            datasets=[dataset],
            inputs=lambda state: self._inputs(state, who, dataset),
        )

    def read_request(
        self, dataset: str, table: str, version: str | None = None, where: Mapping[str, Sequence[str]] | None = None
    ) -> tuple[Margin, dict[Node, tuple[str, ...]]]:
        """A request as commands write it; of the newest version where none is named.

        Parameters
        ----------
        dataset
            Name of the data set.
        table
            Nodes with commas between; a sum as `cost|A,B`.
        version
            Name of the version.
        where
            By node the groups that are shown.

        Raises
        ------
        DataError
            Unknown names.
        """
        self._catch_up()
        records = self._records(self._state, dataset)
        wanted = version or records.versions[-1]
        if wanted not in records.versions:
            raise DataError(f"There is no version {wanted!r} of {dataset!r}. Versions: {', '.join(records.versions)}.")
        margin = margin_of(table, records, wanted)
        chosen = {margin_of(node, records).nodes: tuple(groups) for node, groups in (where or {}).items()}
        if any(len(nodes) != 1 for nodes in chosen):
            raise DataError("What is shown is said node by node: region@area=North.")
        return margin, {nodes[0]: groups for nodes, groups in chosen.items()}

    def release(self, name: str) -> Release | None:
        """A release by its id."""
        with self.store.reading() as view:
            row = view.release(name)
            return None if row is None else self._release_of(row)

    def releases(self, who: str | None = None, after: int = 0, limit: int = 100) -> list[Release]:
        """Releases of somebody, or all, in the order of their entries.

        Parameters
        ----------
        who
            To whom.
        after
            Only those whose entries have larger numbers.
        limit
            At most so many.
        """
        with self.store.reading() as view:
            return [self._release_of(row) for row in view.releases(who, after, limit)]

    def answer(self, name: str, who: str) -> Answer | None:
        """An answer by its id; None where it is not theirs."""
        with self.store.reading() as view:
            found = view.answered(name)
            return None if found is None or found[0] != who else self._answer_of(view, found[1])

    def _refuse_others(self, state: State, who: str) -> None:
        self._refuse_unknown(state, who)
        person = state.people[who]
        if who != PUBLIC and person.role != "analyst":
            raise DataError(f"{who!r} is no analyst: who asks needs an account of that role.")

    def _earlier(self, view: View, who: str, key: str, text: str) -> Answer | None:
        found = view.answer(who, key)
        if found is None:
            return None
        if found[0] != text:
            raise KeyUsed("This key stood with another request. Give every request a key of its own.")
        return self._answer_of(view, found[1])

    def _within_limits(self, view: View, state: State, who: str) -> int | None:
        """Refuse more requests than a day has; give how many grants are left."""
        policy = state.policies[state.people[who].principal.policy][1]
        if policy.requests_per_day is None and policy.grants_per_day is None:
            return None
        asked, given = view.today(who, now()[:10])
        if policy.requests_per_day is not None and asked >= policy.requests_per_day:
            said = f"No more than {policy.requests_per_day} requests a day: go on tomorrow."
            raise LimitReached(said, _to_midnight())
        return None if policy.grants_per_day is None else policy.grants_per_day - given

    def _inputs(self, state: State, who: str, dataset: str) -> tuple[Any, ...]:
        """All that a decision about a request depends on."""
        reach = sorted(state.reach(who))
        policies = {name: policy for name, (_, policy) in state.policies.items()}
        knows = tuple(state.knowledge.get((one, dataset)) for one in reach)
        broken = tuple((one, dataset) in state.broken for one in reach)
        people = tuple(state.people.items()) if who == PUBLIC else tuple(state.people.get(one) for one in reach)
        return reach, people, knows, broken, policies, state.datasets.get(dataset)

    def _checked(self, state: State, who: str, dataset: str, margin: Margin, where: Where) -> _Asked:
        self._refuse_others(state, who)
        records = self._records(state, dataset)
        refuse_unknown(margin, where, records)
        chosen = checked_where(where, records)
        return _Asked(who, dataset, margin, chosen, whole(margin, chosen), records)

    def _decided(
        self,
        state: State,
        who: str,
        dataset: str,
        margin: Margin,
        where: Where,
        effort: float = EFFORT,
        *,
        analysis: Request | None = None,
        mean: bool = False,
    ) -> _Found:
        if margin.noise == _WANTED:
            margin = replace(margin, noise=_noise(state, who) or "1")
        asked = replace(self._checked(state, who, dataset, margin, where), analysis=analysis, mean=mean)
        world = state.world({dataset: asked.records})

        def decide(one: Margin) -> Outcome:
            outcome = world.ask(who, dataset, one, effort=effort)
            if outcome.granted and outcome.reasons != ("known",) and not self._may_be_public(state, asked, one):
                return Outcome("refused", ("public",), outcome.stage, outcome.work)
            return outcome

        outcome = decide(asked.margin)
        tried: list[tuple[Margin, Outcome]] = []

        def grants(one: Margin) -> bool:
            tried.append((one, decide(one)))
            return tried[-1][1].granted

        offers = (
            offered(asked.records.structure, asked.margin, grants, _noise(state, who))
            if outcome.decision == "refused"
            else ()
        )
        if outcome.decision == "refused" and analysis is None and len(offers) < MOST:
            for one, own in self._models_instead(state, asked):
                tried.append((one, own))
                offers += (Offer("analysis", one),) if own.granted else ()
        return _Found(asked, outcome, tuple(tried), offers, self._content(state, asked) if outcome.granted else None)

    def _models_instead(self, state: State, asked: _Asked) -> Iterable[tuple[Margin, Outcome]]:
        """Models that may be had in place of a table that is refused, each decided."""
        return ()

    @staticmethod
    def _content(state: State, asked: _Asked) -> dict[str, Any]:
        policy = state.policies[state.people[asked.who].principal.policy][1]
        made = content(asked.dataset, asked.records, asked.request, asked.where, policy, mean=asked.mean)
        return made if asked.analysis is None else of_table(made, asked.analysis, asked.records)

    def _may_be_public(self, state: State, asked: _Asked, margin: Margin) -> bool:
        """The rule for the public, where its policy has one."""
        rule = state.policies[state.people[PUBLIC].principal.policy][1].public
        if asked.who != PUBLIC or rule is None:
            return True
        with self.store.reading() as view:
            grants = view.given_to_others(asked.dataset)
        users = {one.principal.policy for one in state.people.values() if one.active and one.role == "analyst"}
        others = [state.policies[name][1] for name in sorted(users)]
        kept = self._publishing.get(asked.dataset)
        if kept is None or kept.data is not asked.records:
            kept = self._publishing[asked.dataset] = Publishing(asked.records)
        return kept.allows(margin, rule, others, grants)

    @property
    def _publishing(self) -> dict[str, Publishing]:
        kept: dict[str, Publishing] = self.__dict__.setdefault("_kept_publishing", {})
        return kept

    def _answered(self, writer: Writer, state: State, found: _Found, key: str | None, text: str) -> Answer:
        """Write a decision and all that comes with it, in one transaction."""
        asked = found.asked
        if key is not None and (earlier := self._earlier(writer, asked.who, key, text)):
            return earlier
        self._refuse_others(state, asked.who)
        left = self._within_limits(writer, state, asked.who)
        repeat = found.outcome.granted and found.outcome.reasons == ("known",)
        if left is not None and left <= 0 and not repeat:
            raise LimitReached("No more grants today: what is known already can still be had.", _to_midnight())
        entry, release = self._written(writer, state, found, {})
        for margin, outcome in found.tried:
            body = {"margin": margin.to_plain(), "for": entry.seq, **self._outcome_body(outcome)}
            self._append(writer, state, "offer", asked.who, asked.dataset, body)
        return self._remembered(writer, found, entry, release, key, text)

    def _remembered(
        self, writer: Writer, found: _Found, entry: Entry, release: Release | None, key: str | None, text: str
    ) -> Answer:
        from sfumato.gate.store.store import token

        asked, outcome = found.asked, found.outcome
        answer = Answer(token(), outcome.decision, outcome.reasons, found.offers, release, entry.head)
        plain = {
            "id": answer.id,
            "decision": answer.decision,
            "reasons": list(answer.reasons),
            "offers": [{"kind": one.kind, "margin": one.margin.to_plain()} for one in answer.offers],
            "release": None if release is None else release.id,
            "seq": entry.seq,
            "hash": entry.hash,
        }
        writer.remember(answer.id, entry, key, text, plain)
        if outcome.decision == "undecided":
            writer.enqueue(answer.id, entry, asked.to_plain())
        return answer

    def _written(
        self, writer: Writer, state: State, found: _Found, more: Mapping[str, Any], kind: str | None = None
    ) -> tuple[Entry, Release | None]:
        """Write the entry of a request and, where it is granted, its release."""
        from sfumato.gate.store.store import token

        asked, outcome = found.asked, found.outcome
        policy = state.policies[state.people[asked.who].principal.policy][1]
        text = ""
        if found.content is not None:
            seq, before = writer.at_head
            text = canonical_json({**found.content, "ledger": {"seq": seq, "hash": before}}).decode()
        body = {
            "margin": asked.margin.to_plain(),
            "shown": {"by": asked.request.to_plain()["by"], "where": plain_where(asked.where)},
            **self._outcome_body(outcome),
            "policy": policy.digest,
            "knowledge": knowledge_hash(state.knows(asked.who, asked.dataset)),
            "content": hashlib.sha256(text.encode()).hexdigest() if text else "",
            **({} if asked.analysis is None else {"analysis": asked.analysis.to_plain()}),
            **found.more,
            **more,
        }
        repeat = outcome.granted and outcome.reasons == ("known",)
        entry = self._append(writer, state, kind or ("repeat" if repeat else "request"), asked.who, asked.dataset, body)
        if not text:
            return entry, None
        name = token()
        writer.give(name, entry, text)
        digest = str(body["content"])
        return entry, Release(name, asked.who, asked.dataset, entry.at, json.loads(text), digest, entry.head)

    def _answer_of(self, view: View, plain: Mapping[str, Any]) -> Answer:
        row = None if plain["release"] is None else view.release(plain["release"])
        release = None if row is None else self._release_of(row)
        offers = tuple(Offer(one["kind"], Margin.from_plain(one["margin"])) for one in plain["offers"])
        head = int(plain["seq"]), str(plain["hash"])
        return Answer(plain["id"], plain["decision"], tuple(plain["reasons"]), offers, release, head)


def _noise(state: State, who: str) -> str:
    """The variance of tables that are perturbed for somebody; empty where none are."""
    own = state.policies[state.people[who].principal.policy][1].perturbed
    return "" if own is None else written(own.variance)


def _to_midnight() -> int:
    """Seconds to the next day, in UTC: days of limits are those of entries."""
    at = datetime.now(UTC)
    return 86_400 - (3600 * at.hour + 60 * at.minute + at.second)


def where_of(plain: Sequence[Sequence[Any]]) -> dict[Node, tuple[str, ...]]:
    """Read what `plain_where` wrote."""
    return {Node(variable, level): tuple(groups) for variable, level, groups in plain}
