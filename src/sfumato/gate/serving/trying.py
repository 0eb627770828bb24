"""What a policy would have decided otherwise: a dry run over the ledger, which changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.errors import DataError, DataStopped
from sfumato.gate.derived import State
from sfumato.gate.ledger import Entry
from sfumato.gate.margin import Margin
from sfumato.gate.policy import Policy
from sfumato.gate.serving.core import Core

__all__ = ["MOST", "Changed", "Tried", "Trying"]

MOST = 1_000
"""Decisions of the ledger that are made again at most: the newest ones."""


@dataclass(frozen=True)
class Changed:
    """A decision that would be another one.

    Parameters
    ----------
    seq
        Number of its entry.
    who, dataset
        About whom, and which data set; for sharing none.
    decision, would
        As it was, and as it would be.
    """

    seq: int
    who: str
    dataset: str
    decision: str
    would: str

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        own = {"seq": self.seq, "who": self.who, "dataset": self.dataset}
        return own | {"decision": self.decision, "would": self.would}


@dataclass(frozen=True)
class Tried:
    """What came of a dry run.

    Parameters
    ----------
    version
        Number that the policy would have.
    changed
        Decisions that would be others.
    looked_at, all
        How many decisions were made again, and how many there are.
    """

    version: int
    changed: tuple[Changed, ...]
    looked_at: int
    all: int

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "version": self.version,
            "changed": [one.to_plain() for one in self.changed],
            "looked_at": self.looked_at,
            "all": self.all,
        }


class Trying(Core):
    """The part of a gate that tries what is not in force."""

    def try_policy(self, name: str, policy: Policy) -> Tried:
        """Make the newest decisions again, as if a policy had been in force: nothing is written.

        What would have been refused is not known to the later ones, and what would have been given is.

        Parameters
        ----------
        name
            Of the policy; a new one changes nothing, as nobody has it.
        policy
            What would be asked.

        Raises
        ------
        DataError
            A name that a policy cannot have.
        """
        self._catch_up()
        now = self._state
        with self.store.reading() as view:
            entries = list(view.entries(0, now.head[0]))
        if name not in now.policies:
            return Tried(1, (), 0, sum(map(_decides, entries)))
        places = [i for i, entry in enumerate(entries) if _decides(entry)]
        first = places[-MOST] if len(places) > MOST else 0
        state = State()
        for entry in entries[:first]:
            state.apply(entry)
        changed = []
        for entry in entries[first:]:
            would = self._would(_with(state, name, policy), entry, now)
            if would != entry.body.get("decision") and _decides(entry):
                told = str(entry.body["decision"])
                changed.append(Changed(entry.seq, entry.who, entry.dataset, told, would or told))
            state.apply(_as_if(entry, would))
        return Tried(now.policies[name][0] + 1, tuple(changed), min(len(places), MOST), len(places))

    def _would(self, state: State, entry: Entry, now: State) -> str | None:
        """What would be decided; None where it is not decided anew."""
        if not _decides(entry):
            return None
        body = entry.body
        try:
            if entry.kind == "edge":
                known = sorted({dataset for (_, dataset), held in state.knowledge.items() if held})
                world = state.world({one: self._records(now, one) for one in known})
                if body["step"] == "join":
                    return world.join(entry.who, body["to"], guest=bool(body.get("guest"))).decision
                return world.share(entry.who, body["to"]).decision
            world = state.world({entry.dataset: self._records(now, entry.dataset)})
            found = world.ask(entry.who, entry.dataset, Margin.from_plain(body["margin"])).decision
            longer = found == "undecided" and "queue" in body  # it was decided with more work
            return str(body["decision"]) if longer else found
        except (DataStopped, DataError):  # what cannot be looked at stays as it was
            return str(body["decision"])


def _decides(entry: Entry) -> bool:
    """Whether an entry is a decision by criteria; a steward's is not."""
    if entry.kind in ("request", "repeat"):
        return entry.body.get("stage") != "steward" and "margin" in entry.body
    return entry.kind == "edge" and entry.body["step"] in ("join", "share")


def _with(state: State, name: str, policy: Policy) -> State:
    if name in state.policies:
        state.policies[name] = state.policies[name][0], policy
    return state


def _as_if(entry: Entry, would: str | None) -> Entry:
    """The entry that would stand there."""
    if would is None or would == entry.body.get("decision"):
        return entry
    body: Mapping[str, Any] = {**entry.body, "decision": would}
    kind = "request" if entry.kind == "repeat" else entry.kind
    return Entry(entry.seq, entry.at, kind, entry.who, entry.dataset, body, entry.previous, entry.hash)
