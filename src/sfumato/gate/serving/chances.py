"""Dependences between columns as stewards see them, and what two of them call chance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sfumato.errors import DataError, NotThere
from sfumato.gate.dependences.found import Dependence, digests
from sfumato.gate.dependences.words import BY_CHANCE, chance_problems, columns_in, sentence
from sfumato.gate.derived import Columns, Described, Found, State, columns_of
from sfumato.gate.serving.core import Settled
from sfumato.gate.serving.stewarding import Stewarding, reason_of

if TYPE_CHECKING:
    from sfumato.gate.store.store import Writer

__all__ = ["Chances", "Hanging", "lines_of"]


@dataclass(frozen=True)
class Hanging:
    """A dependence that was found, and what stewards say of it.

    Parameters
    ----------
    dependence
        What hangs on what.
    chance
        Empty where it counts; `proposed` where one steward called it chance, and it counts still; `confirmed` where a
        second did, and it counts no more.
    exception, by, because
        Id of the proposal, whose it was, and why; empty where there is none.
    """

    dependence: Dependence
    chance: Literal["", "proposed", "confirmed"] = ""
    exception: str = ""
    by: str = ""
    because: str = ""

    @property
    def columns(self) -> Columns:
        """All its columns, in rising order."""
        return columns_in(self.dependence)

    @property
    def words(self) -> str:
        """What hangs on what, in words."""
        return sentence(self.dependence)

    @property
    def proposable(self) -> bool:
        """Whether it can be called chance: its kind is no arithmetic, and nobody did so yet."""
        return self.dependence.kind in BY_CHANCE and not self.chance

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        more = {"version": self.dependence.version, "chance": self.chance, "exception": self.exception or None}
        return self.dependence.to_plain() | more | {"by": self.by, "because": self.because}


class Chances(Stewarding):
    """The part of a gate in which stewards look at dependences, and say which are chance.

    It weakens what is proved to call one chance. So it takes two stewards, as any exception does, and until a second
    confirmed it the dependence counts. That it counts again takes one.
    """

    def dependences(self, dataset: str) -> list[Hanging]:
        """What was found to hang together in a data set, most telling first.

        Parameters
        ----------
        dataset
            Name of the data set.

        Raises
        ------
        DataError
            There is no such data set.
        DataStopped
            Its file changed.
        """
        with self._lock:
            self._catch_up()
            self._records(self._state, dataset)
            described = self._state.datasets[dataset]
            found = self.sources.found(dataset, described)
        said = self._said(dataset)
        described = described.without_chance(described.lapsed(digests(found)))
        return [self._hanging(one, said.get(columns_in(one)), described) for one in found]

    def idle_chances(self, dataset: str) -> list[Columns]:
        """Columns that are said to hang together by chance, of which nothing is found any more."""
        found = {one.columns for one in self.dependences(dataset)}
        return [one for one in self._state.datasets[dataset].chance if one not in found]

    @staticmethod
    def _hanging(one: Dependence, row: Any, described: Described) -> Hanging:
        if one.kind not in BY_CHANCE:
            return Hanging(one)
        confirmed = columns_in(one) in described.chance
        if row is None or not (confirmed or row.state == "open"):
            return Hanging(one, "confirmed" if confirmed else "")
        return Hanging(one, "confirmed" if confirmed else "proposed", row.id, row.proposed_by, row.reason)

    def _said(self, dataset: str) -> dict[Columns, Any]:
        """The newest proposal about each set of columns of a data set."""
        with self.store.reading() as view:
            return {tuple(own): row for row, own in _proposals(view.proposals(), dataset)}

    def propose_chance(self, dataset: str, columns: Iterable[str], by: str, reason: str) -> str:
        """Propose that a dependence counts as chance; a second steward has to confirm it.

        Parameters
        ----------
        dataset
            Name of the data set.
        columns
            All columns of the dependence.
        by
            A steward.
        reason
            Why; it stands in the ledger.

        Returns
        -------
        str
            The exception's id.

        Raises
        ------
        DataError
            Nothing was found of these columns, or what is arithmetic; it was proposed or confirmed already.
        """
        from sfumato.gate.store.store import token

        told, own = reason_of(reason), columns_of(columns)
        name = token()

        def decide(state: State) -> str:
            self._refuse_no_steward(state, by)
            return self._refuse_no_chance(state, dataset, own)

        def write(writer: Writer, state: State, digest: str) -> str:
            if any(columns_of(one) == own for _, one in _proposals(writer.exceptions(), dataset)):
                raise DataError("That these columns hang together by chance is proposed already.")
            body = {"step": "proposed", "chance": list(own), "digest": digest, "by": by, "reason": told}
            entry = self._append(writer, state, "exception", by, dataset, body)
            writer.propose(name, entry, {"dataset": dataset, "chance": list(own), "digest": digest}, by, told)
            return name

        self._catch_up()
        return self._settled(decide, write, datasets=[dataset])

    def _refuse_no_chance(self, state: State, dataset: str, columns: Columns) -> str:
        """The digest of what is found between columns now, if it can be called chance."""
        self._records(state, dataset)  # it is there, and as it was
        described = state.datasets[dataset]
        found = self.sources.found(dataset, described)
        now = digests(found)
        if columns in described.chance and columns not in described.lapsed(now):
            raise DataError("These columns hang together by chance already: two stewards said so.")
        if problems := chance_problems([columns], found):
            raise DataError(problems[0])
        return now[columns]

    def confirm_exception(self, exception_id: str, by: str) -> Settled:
        """Give what another steward proposed to give, or let that be chance which they proposed as chance.

        Parameters
        ----------
        exception_id
            Its id.
        by
            A steward: neither who proposed it, nor for whom it is.
        """
        with self.store.reading() as view:
            rows = view.exceptions(exception_id)
            proposal = next(iter(view.entries(int(rows[0].seq) - 1, int(rows[0].seq))), None) if rows else None
        if proposal is None or "chance" not in proposal.body:
            return super().confirm_exception(exception_id, by)
        [row] = rows
        columns, dataset, proposer = columns_of(proposal.body["chance"]), proposal.dataset, str(proposal.body["by"])
        digest = str(proposal.body["digest"])
        if (proposal.kind, proposal.who, dataset) != ("exception", row.who, row.dataset):
            raise DataError("What was proposed is not what stands in the ledger: verify it first.")

        def decide(state: State) -> list[list[Any]]:
            self._refuse_no_steward(state, by)
            self._refuse_no_second(by, proposer)
            if self._refuse_no_chance(state, dataset, columns) != digest:
                raise DataError("Something else is found between these columns than was proposed: propose it anew.")
            return self._judged_with(state, dataset, state.datasets[dataset].with_chance(columns, digest))

        def write(writer: Writer, state: State, broken: list[list[Any]]) -> Settled:
            if writer.exceptions(exception_id)[0].state != "open":
                raise DataError("This exception waits no more.")
            body: dict[str, Any] = {"step": "confirmed", "chance": list(columns), "decision": "granted"}
            body["reasons"], body["digest"] = ["exception"], digest
            body |= {"broken": broken, "by": by, "proposed_by": proposer, "reason": str(proposal.body["reason"])}
            entry = self._append(writer, state, "exception", by, dataset, body)
            writer.close_exception(exception_id, "confirmed", entry.seq)
            return Settled("granted", ("exception",), entry.head)

        self._catch_up()
        return self._settled(decide, write)

    def withdraw_chance(self, dataset: str, columns: Iterable[str], by: str, reason: str) -> Settled:
        """Let a dependence count again that was called chance, or take back that it was proposed.

        What was given stays given; who then knows more than their policy allows is marked.

        Parameters
        ----------
        dataset, columns
            As in `propose_chance`.
        by
            A steward: that more counts takes one.
        reason
            Why; it stands in the ledger.

        Raises
        ------
        NotThere
            Nobody called it chance.
        """
        told, own = reason_of(reason), columns_of(columns)

        def decide(state: State) -> list[list[Any]]:
            self._refuse_no_steward(state, by)
            if dataset not in state.datasets or not (own in state.datasets[dataset].chance or self._open(dataset, own)):
                raise NotThere("Nobody called it chance that these columns hang together.")
            return self._judged_with(state, dataset, state.datasets[dataset].without_chance([own]))

        def write(writer: Writer, state: State, broken: list[list[Any]]) -> Settled:
            body: dict[str, Any] = {"step": "withdrawn", "chance": list(own), "decision": "granted", "broken": broken}
            entry = self._append(writer, state, "exception", by, dataset, {**body, "by": by, "reason": told})
            self._close(writer, dataset, [own], entry.seq)
            return Settled("granted", (), entry.head)

        self._catch_up()
        return self._settled(decide, write)

    def _open(self, dataset: str, columns: Columns) -> bool:
        with self.store.reading() as view:
            return any(columns_of(own) == columns for _, own in _proposals(view.exceptions(), dataset))

    def _outdated(self, dataset: str, now: Mapping[Columns, str]) -> list[Columns]:
        """Columns of proposals that wait, between which something else is found now than was proposed."""
        with self.store.reading() as view:
            rows = list(_proposals(view.exceptions(), dataset))
        waiting = {columns_of(own): json.loads(row.asked).get("digest") for row, own in rows}
        return sorted(columns for columns, digest in waiting.items() if now.get(columns, digest) != digest)

    @staticmethod
    def _close(writer: Writer, dataset: str, columns: Iterable[Columns], seq: int) -> None:
        """Let proposals wait no more that columns hang together by chance."""
        gone = set(columns)
        for row, own in _proposals(writer.exceptions(), dataset):
            if columns_of(own) in gone:
                writer.close_exception(row.id, "withdrawn", seq)

    def _judged_with(self, state: State, dataset: str, described: Described) -> list[list[Any]]:
        """Whose knowledge breaks their policy, or no more does, where a data set is described so."""
        draft = state.copy()
        draft.datasets[dataset] = described
        return self._broken(draft, set(state.people), None, dataset)


def lines_of(found: Sequence[Dependence]) -> Found:
    """What was found, as entries of the ledger say it: no figure but how many combinations cannot be.

    Examples
    --------
    >>> lines_of([Dependence("never", ("a", "b"), None, 3, 41.5, "v2")])
    (('never', ('a', 'b'), '', 'v2', 3),)
    """
    return tuple(sorted((one.kind, one.of, one.to or "", one.version, one.combinations) for one in found))


def _proposals(rows: Iterable[Any], dataset: str) -> Iterable[tuple[Any, Sequence[str]]]:
    """Rows of exceptions that are about chance in a data set, with the columns of each."""
    for row in rows:
        asked: Mapping[str, Any] = json.loads(row.asked)
        if row.dataset == dataset and "chance" in asked:
            yield row, asked["chance"]
