"""Stewards' work: policies, what waits, exceptions."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError, DataStopped, NotThere
from sfumato.gate.analyses.request import Request
from sfumato.gate.content import whole
from sfumato.gate.criteria.interval import EFFORT
from sfumato.gate.dependences.words import CONSEQUENCE, joined
from sfumato.gate.derived import State
from sfumato.gate.margin import Margin
from sfumato.gate.policy import Policy
from sfumato.gate.recover import Recovered, recovered
from sfumato.gate.serving.asking import Asking, _Found, where_of
from sfumato.gate.serving.core import COMMAND_LINE, Settled

if TYPE_CHECKING:
    from sfumato.gate.store.store import Writer

__all__ = ["Stewarding", "Waiting", "reason_of"]

LONGER = 100
"""How many times the usual work the queue's requests get."""
_LONGEST = 2_000


@dataclass(frozen=True)
class Waiting:
    """A request that waits, or an exception that waits for a second steward.

    Parameters
    ----------
    id, who, dataset
        Of the request.
    margin
        What it is shown by, and what is summed.
    at
        When it was asked; empty for exceptions.
    by, reason
        Who proposes an exception, and why.
    chance
        Columns that hang on one another by chance, if the exception is confirmed; none where it is about a table.
    """

    id: str
    who: str
    dataset: str
    margin: Margin
    at: str = ""
    by: str = ""
    reason: str = ""
    chance: tuple[str, ...] = ()

    @property
    def means(self) -> str:
        """What its confirmation means beyond what it says; empty for a table."""
        return CONSEQUENCE if self.chance else ""

    @property
    def words(self) -> str:
        """What is proposed, in words."""
        if self.chance:
            return f"that {joined(self.chance)} hang together in {self.dataset} by chance"
        return f"to give {self.margin.label} of {self.dataset} to {self.who}"

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        own: dict[str, Any] = {"id": self.id, "who": self.who, "dataset": self.dataset, "table": self.margin.label}
        own |= {"chance": list(self.chance), "means": self.means} if self.chance else {}
        return own | {"version": self.margin.version, "at": self.at, "by": self.by, "reason": self.reason}


class Stewarding(Asking):
    """The part of a gate that stewards work with."""

    def policies(self) -> dict[str, Policy]:
        """Policies in force, by name."""
        self._catch_up()
        return {name: policy for name, (_, policy) in self._state.policies.items()}

    def policy_versions(self) -> dict[str, tuple[int, Policy]]:
        """Policies in force, with the numbers of their versions."""
        self._catch_up()
        return dict(self._state.policies)

    def set_policy(self, name: str, policy: Policy, *, by: str = COMMAND_LINE) -> Settled:
        """Let a policy be in force from now on.

        Knowledge that does not meet a stricter one is marked: whoever has it gets only what moves nothing that fails.

        Parameters
        ----------
        name
            Of the policy; a new one, or one that there is.
        policy
            What must hold.
        by
            Who sets it.
        """

        def decide(state: State) -> list[list[Any]]:
            known = state.policies.get(name)
            if known is None or known[1].criteria == policy.criteria:
                return []
            return self._broken(state, {n for n, one in state.people.items() if one.principal.policy == name}, policy)

        def write(writer: Writer, state: State, broken: list[list[Any]]) -> Settled:
            version = state.policies[name][0] + 1 if name in state.policies else 1
            body = {"name": name, "version": version, "policy": policy.to_plain(), "digest": policy.digest}
            entry = self._append(writer, state, "policy", by, "", {**body, "broken": broken, "by": by})
            return Settled("granted", (), entry.head)

        self._catch_up()
        return self._settled(decide, write)

    def _broken(self, state: State, people: set[str], policy: Policy | None, only: str = "") -> list[list[Any]]:
        """Whose knowledge breaks a policy and did not, or the reverse."""
        out: list[list[Any]] = []
        for (who, dataset), held in sorted(state.knowledge.items(), key=lambda item: item[0]):
            if who in people and held and only in ("", dataset):
                breaks = self._breaks(state, who, dataset, held, policy)
                if breaks != ((who, dataset) in state.broken):
                    out.append([who, dataset, breaks])
        return out

    def recovered(self, who: str, dataset: str, shown: int = 20) -> Recovered:
        """What somebody can recover now from all that they may know; for stewards alone.

        Raises
        ------
        DataError
            Unknown names.
        """
        self._catch_up()
        self._refuse_unknown(self._state, who)
        records = replace(self._records(self._state, dataset))  # with counts of its own: requests go on beside it
        return recovered(records, self._state.knowledge.get((who, dataset), frozenset()), shown=shown)

    def queue(self) -> list[Waiting]:
        """Requests that are undecided, oldest first."""
        with self.store.reading() as view:
            return [_waiting(row) for row in view.queued()]

    def work(self, effort: float = LONGER * EFFORT) -> list[Settled]:
        """Decide again what waits, with more work; what is proved is given by a new entry at the head as it is then.

        Parameters
        ----------
        effort
            Units of work.

        Returns
        -------
        list of Settled
            One for each request that waited, oldest first; those that stay undecided name their old entry. Those of a
            data set that stands still wait on.
        """
        out = []
        for waiting in self.queue():
            with suppress(DataStopped):
                out.append(self._worked(waiting.id, effort))
        return out

    def _worked(self, name: str, effort: float) -> Settled:
        row = self._queued(name)
        asked = json.loads(row.asked)
        margin, where = Margin.from_plain(asked["margin"]), where_of(asked["where"])
        analysis = Request.from_plain(asked["analysis"], margin.version) if "analysis" in asked else None

        def decide(state: State) -> _Found:
            mean = bool(asked.get("mean"))
            return self._decided(state, row.who, row.dataset, margin, where, effort, analysis=analysis, mean=mean)

        def write(writer: Writer, state: State, found: _Found) -> Settled:
            outcome = found.outcome
            now = writer.queued(name)[0]
            if outcome.decision == "undecided" or now.state != "open":
                entry = next(iter(writer.entries(row.seq - 1, row.seq)))
                return Settled("undecided", outcome.reasons, entry.head)
            entry, _ = self._written(writer, state, found, {"queue": row.seq})
            for one, other in found.tried:
                body = {"margin": one.to_plain(), "for": entry.seq, **self._outcome_body(other)}
                self._append(writer, state, "offer", row.who, row.dataset, body)
            writer.dequeue(name, outcome.decision, entry.seq)
            return Settled(outcome.decision, outcome.reasons, entry.head)

        self._catch_up()
        inputs = lambda state: self._inputs(state, row.who, row.dataset)  # noqa: E731
        return self._settled(decide, write, datasets=[row.dataset], inputs=inputs)

    def refuse(self, queue_id: str, by: str, reason: str) -> Settled:
        """Refuse a request that waits.

        Parameters
        ----------
        queue_id
            Its id.
        by
            A steward.
        reason
            Why; it stands in the ledger.
        """
        row = self._queued(queue_id)
        asked = json.loads(row.asked)
        told = reason_of(reason)

        def write(writer: Writer, state: State, found: None) -> Settled:
            self._refuse_no_steward(state, by)
            if writer.queued(queue_id)[0].state != "open":
                raise DataError("This request waits no more.")
            body = {"margin": asked["margin"], "decision": "refused", "reasons": ["steward"], "stage": "steward"}
            entry = self._append(
                writer, state, "request", row.who, row.dataset, {**body, "queue": row.seq, "by": by, "reason": told}
            )
            writer.dequeue(queue_id, "refused", entry.seq)
            return Settled("refused", ("steward",), entry.head)

        self._catch_up()
        return self._settled(lambda state: self._refuse_no_steward(state, by), write, datasets=[row.dataset])

    def exceptions(self) -> list[Waiting]:
        """Exceptions that wait for a second steward."""
        with self.store.reading() as view:
            return [_waiting(row) for row in view.exceptions()]

    def propose_exception(self, who: str, dataset: str, margin: Margin, by: str, reason: str) -> str:
        """Propose to give a table though it was not proved safe; a second steward has to confirm it.

        Parameters
        ----------
        who, dataset, margin
            What is to be given to whom.
        by
            A steward; not `who`.
        reason
            Why; it stands in the ledger.

        Returns
        -------
        str
            The exception's id.
        """
        from sfumato.gate.serving.core import asked_of
        from sfumato.gate.store.store import token

        told = reason_of(reason)
        name = token()

        def decide(state: State) -> Any:
            self._refuse_no_steward(state, by)
            if by == who:
                raise DataError("A steward makes no exception for themselves.")
            return self._checked(state, who, dataset, margin, {})

        def write(writer: Writer, state: State, asked: Any) -> str:
            body = {"step": "proposed", "margin": asked.margin.to_plain(), "by": by, "reason": told}
            entry = self._append(writer, state, "exception", who, dataset, body)
            writer.propose(name, entry, asked_of(dataset, margin, {}), by, told)
            return name

        self._catch_up()
        return self._settled(decide, write, datasets=[dataset])

    def propose_waiting(self, queue_id: str, by: str, reason: str) -> str:
        """Propose a request that waits as an exception; it waits on until that is confirmed.

        Parameters
        ----------
        queue_id
            Its id.
        by
            A steward; not who asked.
        reason
            Why; it stands in the ledger.

        Returns
        -------
        str
            The exception's id.
        """
        row = self._queued(queue_id)
        if row.state != "open":
            raise DataError("This request waits no more.")
        asked = json.loads(row.asked)
        shown = where_of(asked["where"])
        margin = Margin.from_plain(asked["margin"])
        return self.propose_exception(row.who, row.dataset, whole(margin, shown), by, reason)

    def confirm_exception(self, exception_id: str, by: str) -> Settled:
        """Give what another steward proposed to give.

        All that somebody knows by it, and whether that breaks their policy, stands in the ledger.

        Parameters
        ----------
        exception_id
            Its id.
        by
            A steward: neither who proposed it, nor for whom it is.
        """
        with self.store.reading() as view:
            rows = view.exceptions(exception_id)
        if not rows:
            raise NotThere("There is no such exception.")
        row = rows[0]
        with self.store.reading() as view:
            proposal = next(iter(view.entries(int(row.seq) - 1, int(row.seq))), None)
        if proposal is None or (proposal.kind, proposal.who, proposal.dataset) != ("exception", row.who, row.dataset):
            raise DataError("What was proposed is not what stands in the ledger: verify it first.")
        margin, proposer = Margin.from_plain(proposal.body["margin"]), str(proposal.body["by"])

        def decide(state: State) -> tuple[_Found, list[list[Any]]]:
            self._refuse_no_steward(state, by)
            self._refuse_no_second(by, proposer, row.who)
            return self._excepted(state, row.who, row.dataset, margin)

        def write(writer: Writer, state: State, found: tuple[_Found, list[list[Any]]]) -> Settled:
            if writer.exceptions(exception_id)[0].state != "open":
                raise DataError("This exception waits no more.")
            one, broken = found
            more = {"step": "confirmed", "broken": broken, "by": by, "proposed_by": proposer}
            entry, _ = self._written(writer, state, one, {**more, "reason": row.reason}, "exception")
            writer.close_exception(exception_id, "confirmed", entry.seq)
            return Settled("granted", ("exception",), entry.head)

        self._catch_up()
        return self._settled(decide, write, datasets=[row.dataset])

    def _refuse_no_second(self, by: str, proposer: str, receiver: str = "") -> None:
        """Refuse whoever is not a second steward, apart from who proposed an exception and from whom it is for."""
        if by in (proposer, receiver):
            raise DataError("An exception is confirmed by a second steward, who is not the one that it is for.")
        if proposer in self._added_by(by) or by in self._added_by(proposer):
            raise DataError("One of the two stewards was added by the other: a third one confirms it.")

    def _added_by(self, who: str) -> set[str]:
        """Who added somebody, who added these, and so on."""
        with self.store.reading() as view:
            added = {
                entry.who: str(entry.body.get("by", ""))
                for entry in view.entries()
                if entry.kind == "user" and entry.body.get("step") == "added"
            }
        found: set[str] = set()
        while (by := added.get(who, "")) and by not in found:
            found.add(by)
            who = by
        return found

    def _excepted(self, state: State, who: str, dataset: str, margin: Margin) -> tuple[_Found, list[list[Any]]]:
        """What an exception gives, and whose knowledge breaks their policy by it."""
        asked = self._checked(state, who, dataset, margin, {})
        outcome = state.world({dataset: asked.records}).exception(who, dataset, asked.margin)
        after = state.copy()
        for one in state.reach(who):
            after.knowledge[one, dataset] = after.knows(one, dataset) | {asked.margin}
        broken = self._broken(after, set(state.reach(who)), None, dataset)
        told = [one for one in broken if one[2]]  # an exception heals nothing
        return _Found(asked, outcome, content=self._content(state, asked)), told

    def _queued(self, name: str) -> Any:
        with self.store.reading() as view:
            rows = view.queued(name)
        if not rows:
            raise NotThere("There is no such request in the queue.")
        return rows[0]

    def _refuse_no_steward(self, state: State, by: str) -> None:
        if by not in state.stewards():
            raise DataError(f"{by!r} is no steward.")


def reason_of(text: str) -> str:
    """A reason, without spaces around it; refused where it is none."""
    if not 3 <= len(text.strip()) <= 2_000 or "\x00" in text:
        raise DataError("Give a reason, in 3 to 2,000 characters: it stands in the ledger.")
    return text.strip()


def _waiting(row: Any) -> Waiting:
    asked = json.loads(row.asked)
    margin = Margin.from_plain(asked["margin"]) if "margin" in asked else Margin(version="")
    at, by, reason = (getattr(row, name, "") for name in ("at", "proposed_by", "reason"))
    return Waiting(row.id, row.who, row.dataset, margin, at, by, reason, tuple(asked.get("chance", ())))
