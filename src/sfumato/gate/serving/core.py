"""How a gate decides outside a transaction, and writes inside one only what still holds."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sfumato.errors import DataError, DataStopped, GateStopped, SecretError
from sfumato.gate.analyses.request import Request
from sfumato.gate.config import Config
from sfumato.gate.content import rounded
from sfumato.gate.decision import together
from sfumato.gate.derived import State
from sfumato.gate.ledger import Entry, now
from sfumato.gate.margin import Margin, canonical_json
from sfumato.gate.records import Records
from sfumato.gate.sources import Sources
from sfumato.gate.world import Knowledge, Outcome, World
from sfumato.release.secret import Secret

if TYPE_CHECKING:
    from sfumato.gate.store.store import Store, Writer

__all__ = ["COMMAND_LINE", "Core", "Release", "Settled", "knowledge_hash"]

COMMAND_LINE = "command line"
"""Who did it, where nobody is named."""
_TRIES = 5
"""After so many decisions that were overtaken, the next is made while nobody else writes."""
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Settled:
    """What came of a change.

    Parameters
    ----------
    decision
        `granted`, `refused` or `undecided`.
    reasons
        The criteria that do not hold, or are not proved to.
    ledger
        Number and hash of its entry.
    """

    decision: str
    reasons: tuple[str, ...]
    ledger: tuple[int, str]

    @property
    def granted(self) -> bool:
        """Whether it was carried out."""
        return self.decision == "granted"

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        seq, digest = self.ledger
        return {"decision": self.decision, "reasons": list(self.reasons), "ledger": {"seq": seq, "hash": digest}}


@dataclass(frozen=True)
class Release:
    """A table that was given.

    Parameters
    ----------
    id
        Which nobody guesses.
    who, dataset, at
        To whom, of what, when.
    content
        What was given: columns, rows, disclosure, and where the ledger stood before.
    sha256
        Of the content's canonical JSON, which its entry names.
    ledger
        Number and hash of its entry.
    """

    id: str
    who: str
    dataset: str
    at: str
    content: Mapping[str, Any]
    sha256: str
    ledger: tuple[int, str]

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        return [*self.content["columns"], *(["mean"] if self._without_mean else [])]

    @property
    def rows(self) -> list[list[Any]]:
        """Its rows; sums and means as numbers of three significant digits."""
        labels = max(len(self.content["by"]), 1 if "count" not in self.content["columns"] else 0)
        rows = [
            [float(one) if i >= labels and isinstance(one, str) else one for i, one in enumerate(row)]
            for row in self.content["rows"]
        ]
        if self._without_mean:
            rows = [[*row, float(rounded(row[-1] / row[-2])) if row[-2] else None] for row in rows]
        return rows

    @property
    def _without_mean(self) -> bool:
        """Whether an older gate gave it, which kept sums alone where means were asked for."""
        return bool(self.content.get("mean"))

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        plain = {
            "id": self.id,
            "columns": self.columns,
            "rows": self.rows,
            "exact": self.content["exact"],
            "disclosure": told(self.content["disclosure"]),
        }
        statistics = self.content.get("statistics")
        return plain if statistics is None else {**plain, "statistics": told(statistics)}


def knowledge_hash(held: Knowledge) -> str:
    """SHA-256 of all that somebody knows of a data set."""
    return hashlib.sha256(canonical_json([margin.to_plain() for margin in sorted(held)])).hexdigest()


class Core:
    """What all parts of a gate stand on: the store, the data sets, and the state that follows from the ledger."""

    def __init__(self, config: Config, store: Store, state: State) -> None:
        self.config = config
        self.store = store
        self.sources = Sources(config, self._refuse_other_secret)
        self._fingerprint: str | None = None
        with suppress(SecretError):  # one that is missing is missed where it is needed
            self._refuse_other_secret(Secret.find(config.path(config.secret_file)))
        self._lock = threading.RLock()
        self._state = state

    def _refuse_other_secret(self, secret: Secret) -> None:
        """Refuse a secret that is not the one that the store was made with: noise drawn anew could be averaged."""
        own = secret.fingerprint
        if self._fingerprint is None:
            with self.store.looking() as look:
                self._fingerprint = look.fingerprint()
        if self._fingerprint is None:
            with self.store.doors() as doors:
                self._fingerprint = doors.remember_fingerprint(own)
        if self._fingerprint != own:
            raise DataError(
                "The secret is another one than this store was made with: what was given with noise would be given "
                "with other noise. Bring the secret's file back."
            )

    def _settled(
        self,
        decide: Callable[[State], T],
        write: Callable[[Writer, State, T], R],
        *,
        datasets: Iterable[str] | None = None,
        inputs: Callable[[State], Any] = lambda state: state.head,
    ) -> R:
        """Decide at the head that is known; write if what was decided by is still so, else decide again.

        Parameters
        ----------
        decide
            What is to be written, from the state; it changes nothing.
        write
            Writes it; the state that it is given is kept when all is written.
        datasets
            Those that are decided about; all where it is None.
        inputs
            What a decision depends on.
        """
        with self._lock:
            for _ in range(_TRIES):
                before = self._state
                found = decide(before)
                with self.store.writing(self._named(datasets)) as writer:
                    fresh = self._ahead(writer)
                    if fresh.head == before.head or inputs(fresh) == inputs(before):
                        out = write(writer, fresh, found)
                        overtaken = False
                    else:
                        overtaken = True
                self._state = fresh
                if not overtaken:
                    return out
            with self.store.writing(self._named(datasets)) as writer:
                fresh = self._ahead(writer)
                out = write(writer, fresh, decide(fresh.copy()))
            self._state = fresh
            return out

    def _named(self, datasets: Iterable[str] | None) -> list[str]:
        return sorted(self._state.datasets if datasets is None else datasets)

    def _ahead(self, view: Any) -> State:
        """The state at the head of the store; the own one is left as it is."""
        fresh = self._state.copy()
        head = view.head()
        if fresh.head == head:
            return fresh
        for entry in view.entries(fresh.head[0], head[0]):
            fresh.apply(entry)
        if fresh.head != head:
            raise GateStopped("The ledger is not what it was: verify it before anything else is decided.")
        return fresh

    def _catch_up(self) -> None:
        """Take over what others wrote."""
        with self._lock, self.store.reading() as view:
            self._state = self._ahead(view)

    @staticmethod
    def _append(writer: Writer, state: State, kind: str, who: str, dataset: str, body: Mapping[str, Any]) -> Entry:
        """Write an entry and what follows from it."""
        entry = writer.append(kind, who, dataset, body, now())
        writer.follow(state.apply(entry), state)
        return entry

    def _records(self, state: State, dataset: str) -> Records:
        if dataset not in state.datasets:
            known = ", ".join(sorted(state.datasets)) or "none"
            raise DataError(f"There is no data set {dataset!r}. Data sets: {known}.")
        return self.sources.records(dataset, state.datasets[dataset])

    def _world(self, state: State) -> World:
        """The world of all data sets of which anybody knows something."""
        known = sorted({dataset for (_, dataset), held in state.knowledge.items() if held})
        return state.world({dataset: self._records(state, dataset) for dataset in known})

    def _breaks(self, state: State, who: str, dataset: str, held: Knowledge, policy: Any = None) -> bool:
        """Whether knowledge is not proved to meet a policy; so it is where the data cannot be looked at."""
        wanted = policy or state.policies[state.people[who].principal.policy][1]
        try:
            return not together(self._records(state, dataset), held, wanted).granted
        except DataStopped:
            return True

    def _refuse_unknown(self, state: State, *names: str) -> None:
        for name in names:
            if name not in state.people or not state.people[name].active:
                raise DataError(f"There is nobody named {name!r}.")

    @staticmethod
    def _outcome_body(outcome: Outcome) -> dict[str, Any]:
        return {
            "decision": outcome.decision,
            "reasons": list(outcome.reasons),
            "stage": outcome.stage,
            "work": int(outcome.work),
        }

    @staticmethod
    def _release_of(row: Any) -> Release:
        content = json.loads(row.content)
        return Release(row.id, row.who, row.dataset, row.at, content, row.digest, (int(row.seq), row.hash))


def told(kept: Any) -> Any:
    """What a release keeps beside its rows, with numbers as numbers: canonical JSON holds no floats."""
    if isinstance(kept, Mapping):
        return {name: _number(one) if name != "sentence" else one for name, one in kept.items()}
    return kept


def _number(kept: Any) -> Any:
    try:
        return float(kept) if isinstance(kept, str) else kept
    except ValueError:
        return kept


def plain_where(where: Mapping[Any, Iterable[str]]) -> list[list[Any]]:
    """Groups by node, for JSON."""
    return [[node.variable, node.level, list(groups)] for node, groups in sorted(where.items())]


def asked_of(
    dataset: str,
    request: Margin,
    where: Mapping[Any, Iterable[str]],
    analysis: Request | None = None,
    *,
    mean: bool = False,
) -> dict[str, Any]:
    """What was asked, for JSON."""
    table: dict[str, Any] = {"dataset": dataset, "margin": request.to_plain(), "where": plain_where(where)}
    table |= {"mean": True} if mean else {}
    return table if analysis is None else {**table, "analysis": analysis.to_plain()}
