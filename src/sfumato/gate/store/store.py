"""Reading and writing a store: entries, what follows from them, releases, answers, the queue."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, func, insert, select, update

from sfumato.errors import DataError, GateStopped
from sfumato.gate.derived import Change, Described, Person, State, Version
from sfumato.gate.ledger import Entry, chained
from sfumato.gate.log import Log
from sfumato.gate.margin import Margin, canonical_json
from sfumato.gate.policy import Policy
from sfumato.gate.store import engine as engines
from sfumato.gate.store import schema as t
from sfumato.gate.store.doors import Doors
from sfumato.gate.world import PUBLIC, Principal

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["Store", "View", "Writer", "digest", "token"]

_PAGE = 5_000
_given = select(t.releases, t.ledger.c.hash).outerjoin(t.ledger, t.ledger.c.seq == t.releases.c.seq)


def digest(text: str | bytes) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def token() -> str:
    """An id that nobody guesses."""
    return secrets.token_hex(12)


@dataclass
class Store:
    """A store that is open.

    Parameters
    ----------
    engine
        Of the database.
    log
        The file that every entry is written to before anything rests on it; without one nothing is written.
    stopped
        Why nothing is told from it; empty where nothing is known to be wrong.
    """

    engine: Engine
    log: Log | None = None
    stopped: str = ""

    @classmethod
    def make(cls, url: str) -> Store:
        """Make a store, or bring it to the newest revision."""
        with engines.told():
            store = cls(engines.opened(url, make=True))
            try:
                engines.migrated(store.engine)
            except BaseException:
                store.close()
                raise
        return store

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a store that is there, of this revision.

        Raises
        ------
        DataError, FileError
            There is none, it has no tables yet, or a newer version made it.
        """
        with engines.told():
            store = cls(engines.opened(url))
            try:
                with engines.reading(store.engine) as connection:
                    engines.refuse_other_revisions(connection)
            except BaseException:
                store.close()
                raise
        return store

    def close(self) -> None:
        """Let go of its connections."""
        self.engine.dispose()

    @contextmanager
    def seeing(self) -> Iterator[View]:
        """See one state of it, whatever its log says: to look for what is wrong, or to write what the log lacks."""
        with engines.reading(self.engine) as connection:
            yield View(connection)

    @contextmanager
    def reading(self) -> Iterator[View]:
        """See one state of it, every entry of which is in the log.

        Raises
        ------
        GateStopped, FileError
            It was set back, something was found to be wrong with it, or its log cannot be written.
        """
        self._refuse_stopped()
        known = None if self.log is None else self.log.head
        with self.seeing() as view:
            if self.log is not None and known is not None and view.head() != known:
                self.log.refuse_set_back(view.head(), known)
                self._log(view.head())
            yield view

    def _refuse_stopped(self) -> None:
        if self.stopped:
            raise GateStopped(self.stopped)

    @contextmanager
    def doors(self) -> Iterator[Doors]:
        """Look up and change who may come in. The ledger is neither read nor held."""
        with engines.writing(self.engine) as connection:
            yield Doors(connection)

    @contextmanager
    def looking(self) -> Iterator[Doors]:
        """Look up who may come in."""
        with engines.reading(self.engine) as connection:
            yield Doors(connection)

    @contextmanager
    def writing(self, datasets: Sequence[str]) -> Iterator[Writer]:
        """Change it: all of it at the end, or nothing. Nobody else writes meanwhile.

        When it ends, what was written is in the store and its entries are in the log, on the disk: nothing that rests
        on them may leave before.

        Parameters
        ----------
        datasets
            Those that are decided about; whoever changes who shares with whom names all.

        Raises
        ------
        GateStopped, FileError
            As `reading`. Where the log cannot be written at the end, the entries are in the store, and nothing else is
            read or written until they are in the log too.
        """
        self._refuse_stopped()
        if self.log is None:
            raise DataError("This store was opened to be looked at: nothing is written to it.")
        self.log.refuse_gone()
        known = self.log.head
        with engines.writing(self.engine) as connection:
            writer = Writer.locked(connection, datasets)
            self.log.refuse_set_back(writer.head(), known)
            yield writer
        if writer.head() != self.log.head:
            self._log(writer.head())

    def _log(self, head: tuple[int, str]) -> None:
        """Bring an entry that was seen, and all before it, into the log."""
        assert self.log is not None
        self.log.catch_up(self.seeing)
        if self.log.head == head:
            return
        with self.seeing() as view:  # another one may have been put in its place meanwhile
            if [entry.head for entry in view.entries(head[0] - 1, head[0])] != [head][: head[0]]:
                raise GateStopped("The store was exchanged while this was decided. Nothing is told of it. Ask again.")

    @contextmanager
    def mending(self) -> Iterator[Writer]:
        """Write what follows from the entries, whatever is stored of it: see `sfumato.gate.serving.mending`."""
        with engines.writing(self.engine) as connection:
            yield Writer.locked(connection, [])


@dataclass
class View:
    """What a store holds."""

    connection: Connection

    def _rows(self, statement: Any) -> list[Any]:
        return list(self.connection.execute(statement))

    def head(self) -> tuple[int, str]:
        """Number and hash of the last entry."""
        row = self.connection.execute(select(t.chain.c.seq, t.chain.c.hash)).one()
        return int(row[0]), str(row[1])

    def entries(self, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Entries in order, some thousands at a time."""
        while True:
            wanted = select(t.ledger).where(t.ledger.c.seq > after).order_by(t.ledger.c.seq).limit(_PAGE)
            rows = self._rows(wanted if upto is None else wanted.where(t.ledger.c.seq <= upto))
            for row in rows:
                yield _entry(row)
            if len(rows) < _PAGE:
                return
            after = rows[-1].seq

    def search(self, dataset: str | None, who: str | None, after: int, limit: int) -> list[Entry]:
        """Entries of a data set or about somebody, in order."""
        c = t.ledger.c
        wanted = select(t.ledger).where(c.seq > after).order_by(c.seq).limit(limit)
        for column, name in ((c.dataset, dataset), (c.who, who)):
            wanted = wanted if name is None else wanted.where(column == name)
        return [_entry(row) for row in self._rows(wanted)]

    def state(self) -> State:
        """What follows from the entries, as it is stored."""
        people = {
            row.name: Person(Principal(row.name, row.kind, row.policy), row.role, bool(row.active))
            for row in self._rows(select(t.principals))
        }
        known: dict[tuple[str, str], set[Margin]] = {}
        margins: dict[str, Margin] = {}
        for row in self._rows(select(t.knowledge)):
            if row.margin not in margins:
                margins[row.margin] = Margin.from_plain(json.loads(row.margin))
            known.setdefault((row.who, row.dataset), set()).add(margins[row.margin])
        policies = {
            row.name: (int(row.version), Policy.from_plain(json.loads(row.body)))
            for row in self._rows(select(t.policies).order_by(t.policies.c.version))
        }
        return State(
            self.head(),
            people,
            policies,
            frozenset((row.giver, row.taker) for row in self._rows(select(t.edges))),
            {key: frozenset(held) for key, held in known.items()},
            {(row.who, row.dataset) for row in self._rows(select(t.broken))},
            self._datasets(),
        )

    def _datasets(self) -> dict[str, Described]:
        versions: dict[str, list[Version]] = {}
        for row in self._rows(select(t.versions).order_by(t.versions.c.dataset, t.versions.c.position)):
            versions.setdefault(row.dataset, []).append(Version(row.name, row.path, row.sha256))
        return {
            row.name: Described.of(json.loads(row.codebook), tuple(versions.get(row.name, ())))
            for row in self._rows(select(t.datasets))
        }

    def releases(self, who: str | None = None, after: int = 0, limit: int = _PAGE) -> list[Any]:
        """Releases in the order of their entries, of somebody or all, with the hashes of these."""
        c = t.releases.c
        wanted = _given.where(c.seq > after).order_by(c.seq).limit(limit)
        return self._rows(wanted if who is None else wanted.where(c.who == who))

    def release(self, name: str) -> Any | None:
        """A release by its id, with the hash of its entry."""
        return self.connection.execute(_given.where(t.releases.c.id == name)).one_or_none()

    def answer(self, who: str, key: str) -> tuple[str, dict[str, Any]] | None:
        """What was answered to a key, and the hash of what was asked with it."""
        c = t.answers.c
        row = self.connection.execute(select(c.request, c.answer).where(and_(c.who == who, c.key == key))).one_or_none()
        return None if row is None else (row[0], json.loads(row[1]))

    def answered(self, name: str) -> tuple[str, dict[str, Any]] | None:
        """An answer by its id, and to whom."""
        c = t.answers.c
        row = self.connection.execute(select(c.who, c.answer).where(c.id == name)).one_or_none()
        return None if row is None else (row[0], json.loads(row[1]))

    def answers(self) -> list[tuple[int, str, dict[str, Any]]]:
        """All answers: number of the entry, to whom, what."""
        c = t.answers.c
        rows = self._rows(select(c.seq, c.who, c.answer).order_by(c.seq))
        return [(int(row.seq), row.who, json.loads(row.answer)) for row in rows]

    def proposals(self) -> list[Any]:
        """All exceptions that were ever proposed."""
        return self._rows(select(t.exceptions).order_by(t.exceptions.c.seq))

    def today(self, who: str, day: str) -> tuple[int, int]:
        """How many requests (repeats and offers too) and how many grants somebody had on a day."""
        c, r = t.ledger.c, t.releases.c
        asked = select(func.count()).where(and_(c.who == who, c.at >= day, c.kind.in_(("request", "repeat", "offer"))))
        given = select(func.count()).where(and_(r.who == who, r.at >= day, r.kind == "request"))
        return self.connection.execute(asked).scalar_one(), self.connection.execute(given).scalar_one()

    def given_to_others(self, dataset: str) -> int:
        """How many tables of a data set were given to others than the public."""
        r = t.releases.c
        wanted = select(func.count()).where(and_(r.dataset == dataset, r.kind == "request", r.who != PUBLIC))
        return self.connection.execute(wanted).scalar_one()

    def queued(self, name: str | None = None) -> list[Any]:
        """Requests that wait, oldest first; or one, whatever its state."""
        c = t.queue.c
        wanted = select(t.queue).order_by(c.seq)
        return self._rows(wanted.where(c.state == "open") if name is None else wanted.where(c.id == name))

    def exceptions(self, name: str | None = None) -> list[Any]:
        """Exceptions that wait for a second steward; or one, whatever its state."""
        c = t.exceptions.c
        wanted = select(t.exceptions).order_by(c.seq)
        return self._rows(wanted.where(c.state == "open") if name is None else wanted.where(c.id == name))

    def credential(self, who: str) -> tuple[str, bool] | None:
        """The hash of somebody's password, and whether it holds once only."""
        row = self.connection.execute(select(t.credentials).where(t.credentials.c.who == who)).one_or_none()
        return None if row is None else (row.hash, bool(row.once))


@dataclass
class Writer(View):
    """A transaction that writes; it holds the chain, so nobody else does."""

    at_head: tuple[int, str] = (0, "")

    def head(self) -> tuple[int, str]:
        """Number and hash of the last entry, as it is held."""
        return self.at_head

    @classmethod
    def locked(cls, connection: Connection, datasets: Sequence[str]) -> Writer:
        """Take hold of the rows of data sets, in order, then of the chain."""
        if connection.dialect.name != "sqlite":  # there, who writes is alone
            names = t.datasets.c.name
            for name in sorted(datasets):
                connection.execute(select(names).where(names == name).with_for_update())
        row = connection.execute(select(t.chain.c.seq, t.chain.c.hash).with_for_update()).one()
        return cls(connection, (int(row[0]), str(row[1])))

    def append(self, kind: str, who: str, dataset: str, body: Mapping[str, Any], at: str) -> Entry:
        """Write the next entry."""
        entry = chained(self.at_head, kind, who, dataset, body, at)
        self.adopt(entry)
        return entry

    def adopt(self, entry: Entry) -> None:
        """Write an entry as it stands elsewhere: the next one of the same chain."""
        row = {name: getattr(entry, name) for name in ("seq", "at", "kind", "who", "dataset", "previous", "hash")}
        self.connection.execute(insert(t.ledger).values(**row, body=canonical_json(entry.body).decode()))
        self.connection.execute(update(t.chain).values(seq=entry.seq, hash=entry.hash))
        self.at_head = entry.head

    def rewrite(self, state: State) -> None:
        """Write all that follows from the entries in place of what is stored; passwords and tokens stay with people.

        Parameters
        ----------
        state
            What follows from them.
        """
        for table in (t.knowledge, t.broken, t.edges, t.versions, t.datasets, t.policies):
            self.connection.execute(delete(table))
        stored = {row.name for row in self._rows(select(t.principals.c.name))}
        for name in sorted(stored - set(state.people)):
            self._shut_out(name)
            self.connection.execute(delete(t.principals).where(t.principals.c.name == name))
        for name, person in sorted(state.people.items()):
            one = person.principal
            row = {"kind": one.kind, "policy": one.policy, "role": person.role, "active": person.active}
            if name in stored:
                self.connection.execute(update(t.principals).where(t.principals.c.name == name).values(**row))
            else:
                self.connection.execute(insert(t.principals).values(name=name, **row))
            if not person.active:
                self._shut_out(name)
        again = State()
        for entry in self.entries():
            self._follow(again.apply(entry), again)
        self._edges(state.edges)
        self.connection.execute(update(t.chain).values(seq=state.head[0], hash=state.head[1]))
        self.at_head = state.head

    def _shut_out(self, name: str) -> None:
        for own in (t.credentials, t.tokens, t.sessions):
            self.connection.execute(delete(own).where(own.c.who == name))

    def follow(self, change: Change, state: State) -> None:
        """Write what an entry changed; `state` is that after it."""
        entry = change.entry
        if entry.kind == "user":
            self._person(state.people[entry.who])
        if entry.kind in ("user", "edge"):
            self._edges(state.edges)
        self._follow(change, state)

    def _follow(self, change: Change, state: State) -> None:
        entry = change.entry
        if entry.kind == "policy":
            version, policy = state.policies[entry.body["name"]]
            body = canonical_json(policy.to_plain()).decode()
            row = {"name": entry.body["name"], "version": version, "body": body, "digest": policy.digest}
            self.connection.execute(insert(t.policies).values(**row, seq=entry.seq))
        if entry.body.get("decision") == "granted" and (entry.kind == "version" or "chance" in entry.body):
            self._dataset(entry, state.datasets[entry.dataset])
        rows = [
            {
                "who": who,
                "dataset": dataset,
                "digest": margin.digest,
                "margin": canonical_json(margin.to_plain()).decode(),
                "seq": entry.seq,
            }
            for (who, dataset), more in sorted(change.grown.items())
            for margin in sorted(more)
        ]
        if rows:
            self.connection.execute(insert(t.knowledge), rows)
        for (who, dataset), is_so in sorted(change.broken.items()):
            c = t.broken.c
            self.connection.execute(delete(t.broken).where(and_(c.who == who, c.dataset == dataset)))
            if is_so:
                self.connection.execute(insert(t.broken).values(who=who, dataset=dataset))

    def _person(self, person: Person) -> None:
        one = person.principal
        self._shut_out(one.name)  # who is removed is out at once
        if person.active:
            row = {"name": one.name, "kind": one.kind, "policy": one.policy}
            self.connection.execute(insert(t.principals).values(**row, role=person.role, active=True))
        else:
            self.connection.execute(update(t.principals).where(t.principals.c.name == one.name).values(active=False))

    def _edges(self, edges: frozenset[tuple[str, str]]) -> None:
        c = t.edges.c
        stored = {(row.giver, row.taker) for row in self._rows(select(t.edges))}
        for giver, taker in sorted(stored - edges):
            self.connection.execute(delete(t.edges).where(and_(c.giver == giver, c.taker == taker)))
        for giver, taker in sorted(edges - stored):
            self.connection.execute(insert(t.edges).values(giver=giver, taker=taker))

    def _dataset(self, entry: Entry, described: Described) -> None:
        codebook = canonical_json(described.kept()).decode()
        c = t.datasets.c
        if self.connection.execute(select(c.name).where(c.name == entry.dataset)).one_or_none() is None:
            row = {"name": entry.dataset, "codebook": codebook, "seq": entry.seq}
            self.connection.execute(insert(t.datasets).values(**row))
        else:
            self.connection.execute(update(t.datasets).where(c.name == entry.dataset).values(codebook=codebook))
        if entry.body.get("version"):
            newest = described.versions[-1]
            row = {"dataset": entry.dataset, "name": newest.name, "position": len(described.versions) - 1}
            row |= {"path": newest.path, "sha256": newest.sha256, "seq": entry.seq}
            self.connection.execute(insert(t.versions).values(**row))

    def public(self) -> None:
        """Write the principal that everybody can be, where it is not there."""
        if self.connection.execute(select(t.principals).where(t.principals.c.name == PUBLIC)).one_or_none() is None:
            row = {"name": PUBLIC, "kind": "public", "role": "", "policy": PUBLIC, "active": True}
            self.connection.execute(insert(t.principals).values(**row))

    def give(self, name: str, entry: Entry, content: str) -> None:
        """Keep a release."""
        row = {"id": name, "seq": entry.seq, "who": entry.who, "dataset": entry.dataset, "at": entry.at}
        row |= {"kind": entry.kind, "content": content, "digest": digest(content)}
        self.connection.execute(insert(t.releases).values(**row))

    def remember(self, name: str, entry: Entry, key: str | None, asked: str, answer: Mapping[str, Any]) -> None:
        """Keep an answer, for the key that it was asked with."""
        row = {"id": name, "seq": entry.seq, "who": entry.who, "key": key, "request": asked}
        self.connection.execute(insert(t.answers).values(**row, answer=canonical_json(answer).decode()))

    def enqueue(self, name: str, entry: Entry, asked: Mapping[str, Any]) -> None:
        """Let a request wait."""
        row = {"id": name, "seq": entry.seq, "who": entry.who, "dataset": entry.dataset, "at": entry.at}
        self.connection.execute(insert(t.queue).values(**row, asked=canonical_json(asked).decode(), state="open"))

    def dequeue(self, name: str, state: str, seq: int) -> None:
        """Let it wait no more."""
        self.connection.execute(update(t.queue).where(t.queue.c.id == name).values(state=state, closed=seq))

    def propose(self, name: str, entry: Entry, asked: Mapping[str, Any], by: str, reason: str) -> None:
        """Keep an exception until a second steward confirms it."""
        row = {"id": name, "seq": entry.seq, "who": entry.who, "dataset": entry.dataset, "proposed_by": by}
        row |= {"reason": reason, "asked": canonical_json(asked).decode(), "state": "open"}
        self.connection.execute(insert(t.exceptions).values(**row))

    def close_exception(self, name: str, state: str, seq: int) -> None:
        """Confirmed, or not."""
        c = t.exceptions.c
        self.connection.execute(update(t.exceptions).where(c.id == name).values(state=state, closed=seq))

    def set_password(self, who: str, hashed: str, *, once: bool) -> None:
        """Keep the hash of a password."""
        self.connection.execute(delete(t.credentials).where(t.credentials.c.who == who))
        row = {"who": who, "kind": "password", "hash": hashed, "once": once}
        self.connection.execute(insert(t.credentials).values(**row))


def _entry(row: Any) -> Entry:
    try:
        body = json.loads(row.body)
    except ValueError:  # it was changed by hand: its hash tells
        body = {}
    if not isinstance(body, dict):
        body = {}
    return Entry(int(row.seq), row.at, row.kind, row.who, row.dataset, body, row.previous, row.hash)
