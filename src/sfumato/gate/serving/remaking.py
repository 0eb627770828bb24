"""Making again, from an entry, what a store held beside it: the release, and what waits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.errors import SfumatoError
from sfumato.gate.analyses.request import Request
from sfumato.gate.content import checked_where
from sfumato.gate.derived import State
from sfumato.gate.ledger import Entry
from sfumato.gate.margin import Margin, Node, canonical_json
from sfumato.gate.serving.analysing import Analysing
from sfumato.gate.serving.asking import _Asked, where_of
from sfumato.gate.serving.core import asked_of

if TYPE_CHECKING:
    from sfumato.gate.store.store import Writer

__all__ = ["Remaking"]


class Remaking(Analysing):
    """The part of a gate that makes again what its store lost."""

    def remade(self, state: State, entry: Entry) -> str:
        """The release of an entry, as it was given; empty where it cannot be made again.

        That it is the same is shown by its hash, which the entry has: nothing else is given back.

        Parameters
        ----------
        state
            Before the entry.
        entry
            Which gave it.
        """
        for mean in (False, True):
            try:
                made = self._content_again(state, entry, mean)
            except (SfumatoError, KeyError, ValueError):  # the data changed, or what is said about them
                return ""
            text = canonical_json({**made, "ledger": {"seq": entry.seq - 1, "hash": entry.previous}}).decode()
            if hashlib.sha256(text.encode()).hexdigest() == entry.body["content"]:
                return text
        return ""

    def _content_again(self, state: State, entry: Entry, mean: bool) -> Mapping[str, Any]:
        then = state.copy()
        then.datasets = dict(self._state.datasets)  # the newest say most of what columns mean; hashes tell the rest
        request, where, analysis = _asked_for(entry.body)
        records = self._records(then, entry.dataset)
        if analysis is not None and analysis.kind.shape != "table":
            found = self._decided_fit(then, entry.who, entry.dataset, analysis, records)
            return found.content or {}
        margin = Margin.from_plain(entry.body["margin"])
        chosen = checked_where(where, records)
        asked = _Asked(entry.who, entry.dataset, request, chosen, margin, records, analysis, mean)
        return self._content(then, asked)

    @staticmethod
    def waits_again(writer: Writer, entry: Entry) -> None:
        """Let a request, or an exception, wait again, or no more, as an entry says."""
        from sfumato.gate.store.store import token

        body = entry.body
        if entry.kind == "request" and "queue" in body:
            for row in writer.queued():
                if int(row.seq) == int(body["queue"]):
                    writer.dequeue(row.id, body["decision"], entry.seq)
        elif entry.kind == "request" and body["decision"] == "undecided":
            request, where, analysis = _asked_for(body)
            writer.enqueue(token(), entry, asked_of(entry.dataset, request, where, analysis))
        elif entry.kind == "user" and body["step"] == "removed":
            for row in writer.queued():
                if row.who == entry.who:
                    writer.dequeue(row.id, "refused", entry.seq)
        elif entry.kind == "exception":
            _exception_again(writer, entry)
        elif entry.kind == "version":
            for columns in body.get("no_chance", ()):
                _close(writer, entry, {"dataset": entry.dataset, "chance": columns}, "withdrawn")


def _exception_again(writer: Writer, entry: Entry) -> None:
    """Let an exception wait, or no more: a table, or that columns hang together by chance."""
    from sfumato.gate.store.store import token

    body = entry.body
    if "chance" in body:
        asked: dict[str, Any] = {"dataset": entry.dataset, "chance": list(body["chance"])}
        asked |= {"digest": body["digest"]} if "digest" in body else {}
    else:
        asked = asked_of(entry.dataset, Margin.from_plain(body["margin"]), {})
    if body["step"] == "proposed":
        writer.propose(token(), entry, asked, body["by"], body["reason"])
    else:
        _close(writer, entry, asked, body["step"])


def _close(writer: Writer, entry: Entry, asked: Mapping[str, Any], state: str) -> None:
    """Let the oldest exception wait no more that is of the same and, where it was confirmed, by the same steward."""
    own = _what(asked)
    for row in writer.exceptions():
        same = _what(json.loads(row.asked)) == own and row.dataset == entry.dataset
        if state == "confirmed":
            same = same and (row.proposed_by, row.reason) == (entry.body["proposed_by"], entry.body["reason"])
        if same and ("chance" in asked or row.who == entry.who):
            writer.close_exception(row.id, state, entry.seq)
            return


def _what(asked: Mapping[str, Any]) -> tuple[Any, Any]:
    """What an exception is of."""
    return asked.get("margin"), sorted(asked.get("chance", ()))


def _asked_for(body: Mapping[str, Any]) -> tuple[Margin, dict[Node, tuple[str, ...]], Request | None]:
    """What was asked, from the entry of a request: what it is shown by, what is shown, and the analysis."""
    margin, shown = Margin.from_plain(body["margin"]), body["shown"]
    by = [Node(variable, level) for variable, level in shown["by"]]
    request = Margin.of(by, margin.value, margin.weight, margin.version, margin.noise)
    analysis = Request.from_plain(body["analysis"], margin.version) if "analysis" in body else None
    return request, where_of(shown["where"]), analysis
