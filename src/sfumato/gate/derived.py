"""What follows from the entries of the ledger: who is there, who shares with whom, and what each may know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.gate.ledger import Entry
from sfumato.gate.margin import Margin
from sfumato.gate.policy import Policy
from sfumato.gate.records import Records
from sfumato.gate.world import PUBLIC, Knowledge, Principal, World

__all__ = ["Change", "Columns", "Described", "Found", "Person", "State", "Version", "columns_of"]

Columns = tuple[str, ...]
"""Columns that hang on one another, in rising order."""
Found = tuple[tuple[str, Columns, str, str, int], ...]
"""What was found to hang together, a line for each: kind, columns, which of them is told, version, combinations."""
_CHANCE, _FOUND = "@chance", "@found"


@dataclass(frozen=True)
class Person:
    """A principal, as the ledger knows it.

    Parameters
    ----------
    principal
        Its name, kind and policy.
    role
        `analyst`, `steward` or `auditor` of a user; empty for others.
    active
        False once it was removed; its name is not given again.
    """

    principal: Principal
    role: str = ""
    active: bool = True


@dataclass(frozen=True)
class Version:
    """A version of a data set: its file, and what the file's hash was.

    Parameters
    ----------
    name, path
        Of the version, and of its file.
    sha256
        Of the file's bytes.
    """

    name: str
    path: str
    sha256: str


@dataclass(frozen=True)
class Described:
    """A data set, as the ledger knows it.

    Parameters
    ----------
    codebook
        Hashes of what is said about it.
    versions
        Oldest first.
    confirmed
        Columns that hang on one another by chance, as two stewards said, in rising order; each with the digest of what
        was found between them then: found otherwise, it counts.
    found
        Which dependences knowledge was judged by last; None where an older gate did not look for any.
    """

    codebook: Mapping[str, Any] = field(default_factory=dict)
    versions: tuple[Version, ...] = ()
    confirmed: tuple[tuple[Columns, str], ...] = ()
    found: Found | None = None

    @classmethod
    def of(cls, kept: Mapping[str, Any], versions: tuple[Version, ...]) -> Described:
        """Read what `kept` gave."""
        codebook = {name: own for name, own in kept.items() if name not in (_CHANCE, _FOUND)}
        return cls(
            codebook,
            versions,
            tuple((tuple(columns), str(digest)) for columns, digest in kept.get(_CHANCE, ())),
            found_of(kept[_FOUND]) if _FOUND in kept else None,
        )

    def kept(self) -> dict[str, Any]:
        """All of it but its versions, for JSON."""
        out = {**self.codebook}
        if self.confirmed:
            out[_CHANCE] = [[list(columns), digest] for columns, digest in self.confirmed]
        if self.found is not None:
            out[_FOUND] = [[kind, list(columns), *more] for kind, columns, *more in self.found]
        return out

    @property
    def chance(self) -> tuple[Columns, ...]:
        """Columns that hang on one another by chance, as two stewards said."""
        return tuple(columns for columns, _ in self.confirmed)

    def lapsed(self, now: Mapping[Columns, str]) -> tuple[Columns, ...]:
        """Columns between which something else is found now than what two stewards called chance."""
        return tuple(columns for columns, digest in self.confirmed if now.get(columns, digest) != digest)

    def with_chance(self, columns: Iterable[str], digest: str) -> Described:
        """The same where what was found between some columns is chance."""
        return replace(self, confirmed=tuple(sorted({**dict(self.confirmed), columns_of(columns): digest}.items())))

    def without_chance(self, columns: Iterable[Iterable[str]]) -> Described:
        """The same where the dependences of some columns count again."""
        gone = {columns_of(one) for one in columns}
        return replace(self, confirmed=tuple(one for one in self.confirmed if one[0] not in gone))


def columns_of(columns: Iterable[str]) -> Columns:
    """Columns in rising order, each once.

    Examples
    --------
    >>> columns_of(["ward", "age"])
    ('age', 'ward')
    """
    return tuple(sorted(set(columns)))


def found_of(plain: Iterable[Any]) -> Found:
    """Read what an entry says was found."""
    return tuple((str(k), tuple(map(str, of)), str(to), str(version), int(many)) for k, of, to, version, many in plain)


@dataclass(frozen=True)
class Change:
    """What an entry changes.

    Parameters
    ----------
    entry
        The entry.
    grown
        By principal and data set, the margins that they come to know.
    broken
        Principals and data sets whose knowledge breaks the policy from then on (True) or no more (False).
    """

    entry: Entry
    grown: Mapping[tuple[str, str], Knowledge] = field(default_factory=dict)
    broken: Mapping[tuple[str, str], bool] = field(default_factory=dict)


@dataclass
class State:
    """All that follows from the entries up to one of them.

    It rests on the entries alone: no record and no codebook is looked at.

    Parameters
    ----------
    head
        Number and hash of the last entry.
    people
        By name.
    policies
        By name, as they are in force, with the number of the version.
    edges
        Pairs of names: what the first holds may reach the second.
    knowledge
        By principal and data set.
    broken
        Principals and data sets whose knowledge breaks the policy.
    datasets
        By name.
    log_since
        When the log was begun anew; empty where it has been there from the first entry.

    Examples
    --------
    >>> from sfumato.gate.ledger import chained
    >>> state = State()
    >>> body = {"decision": "granted", "margin": Margin().to_plain()}
    >>> for kind, who, text in (
    ...     ("user", "ann", {"step": "added", "kind": "user", "policy": "research", "role": "analyst"}),
    ...     ("request", "ann", body),
    ... ):
    ...     _ = state.apply(chained(state.head, kind, who, "ward", text))
    >>> [margin.nodes for margin in state.knowledge["ann", "ward"]]
    [()]
    """

    head: tuple[int, str] = (0, "0" * 64)
    people: dict[str, Person] = field(default_factory=dict)
    policies: dict[str, tuple[int, Policy]] = field(default_factory=dict)
    edges: frozenset[tuple[str, str]] = frozenset()
    knowledge: dict[tuple[str, str], Knowledge] = field(default_factory=dict)
    broken: set[tuple[str, str]] = field(default_factory=set)
    datasets: dict[str, Described] = field(default_factory=dict)
    log_since: str = ""
    _reach: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.people.setdefault(PUBLIC, Person(Principal(PUBLIC, "public", PUBLIC)))

    def copy(self) -> State:
        """Another one, which may go on without this one."""
        return State(
            self.head,
            dict(self.people),
            dict(self.policies),
            self.edges,
            dict(self.knowledge),
            set(self.broken),
            dict(self.datasets),
            self.log_since,
        )

    def world(self, datasets: Mapping[str, Records]) -> World:
        """The world that decisions are made in.

        Parameters
        ----------
        datasets
            The records of those that are to be decided about.
        """
        return World(
            datasets,
            {name: policy for name, (_, policy) in self.policies.items()},
            {name: person.principal for name, person in self.people.items()},
            self.edges,
            dict(self.knowledge),
            set(self.broken),
        )

    def reach(self, who: str) -> frozenset[str]:
        """Who may come to know what somebody holds, with themselves."""
        if who not in self._reach:
            self._reach[who] = World({}, {}, {n: p.principal for n, p in self.people.items()}, self.edges).reach(who)
        return self._reach[who]

    def knows(self, who: str, dataset: str) -> Knowledge:
        """All that somebody may know of a data set."""
        return self.knowledge.get((who, dataset), frozenset())

    def stewards(self) -> frozenset[str]:
        """Those who are stewards now."""
        return frozenset(name for name, one in self.people.items() if one.role == "steward" and one.active)

    def apply(self, entry: Entry) -> Change:
        """Let an entry be so.

        Returns
        -------
        Change
            What it changed.
        """
        body = entry.body
        if entry.kind in ("user", "edge"):
            self._reach.clear()
        grown: dict[tuple[str, str], Knowledge] = {}
        if entry.kind == "user":
            grown = self._user(entry.who, body)
        elif entry.kind == "log":
            self.log_since = entry.at if body["step"] == "started" else self.log_since
        elif entry.kind == "policy":
            self.policies[body["name"]] = int(body["version"]), Policy.from_plain(body["policy"])
        elif "charged" in body:  # refused, and that tells something
            grown = self._told(self.reach(entry.who), [(entry.dataset, Margin.from_plain(m)) for m in body["charged"]])
        elif body.get("decision") != "granted":
            pass
        elif entry.kind == "edge":
            grown = self._edge(entry.who, body)
        elif entry.kind == "version":
            self._version(entry.dataset, body)
        elif entry.kind == "exception" and "chance" in body:
            self._chance(entry.dataset, body)
        elif entry.kind == "request" or (entry.kind == "exception" and body["step"] == "confirmed"):
            told = body["margins"] if "margins" in body else [body["margin"]]
            margins = [(entry.dataset, Margin.from_plain(one)) for one in told]
            grown = self._told(self.reach(entry.who), margins)
        broken = {(who, dataset): bool(is_so) for who, dataset, is_so in body.get("broken", ())}
        self.broken -= {key for key, is_so in broken.items() if not is_so}
        self.broken |= {key for key, is_so in broken.items() if is_so}
        self.head = entry.head
        return Change(entry, grown, broken)

    def _user(self, who: str, body: Mapping[str, Any]) -> dict[tuple[str, str], Knowledge]:
        if body["step"] == "removed":
            self.people[who] = replace(self.people[who], active=False)
            self.edges = frozenset(edge for edge in self.edges if who not in edge)
            return {}
        self.people[who] = Person(Principal(who, body["kind"], body["policy"]), body.get("role", ""))
        return self._told([who], list(self._held(PUBLIC)))

    def _edge(self, who: str, body: Mapping[str, Any]) -> dict[tuple[str, str], Knowledge]:
        where, step = body["to"], body["step"]
        if step in ("leave", "withdraw"):
            gone = {(who, where), (where, who)} if step == "leave" else {(who, where)}
            self.edges -= gone
            return {}
        made = [(where, who)] if step == "join" else [(who, where)]
        if step == "join" and not body.get("guest"):
            made.append((who, where))
        self.edges |= set(made)
        self._reach.clear()
        grown: dict[tuple[str, str], Knowledge] = {}
        for giver, taker in made:
            for key, more in self._told(self.reach(taker), list(self._held(giver))).items():
                grown[key] = grown.get(key, frozenset()) | more
        return grown

    def _version(self, dataset: str, body: Mapping[str, Any]) -> None:
        known = self.datasets.get(dataset, Described())
        more = (Version(body["version"], body["path"], body["sha256"]),) if body["version"] else ()
        found = found_of(body["found"]) if "found" in body else known.found
        own = replace(known, codebook=body["codebook"], versions=known.versions + more, found=found)
        self.datasets[dataset] = own.without_chance(body.get("no_chance", ()))

    def _chance(self, dataset: str, body: Mapping[str, Any]) -> None:
        """Two stewards said that columns hang on one another by chance, or one that they do not."""
        known = self.datasets[dataset]
        if body["step"] == "confirmed":
            self.datasets[dataset] = known.with_chance(body["chance"], body["digest"])
        elif body["step"] == "withdrawn":
            self.datasets[dataset] = known.without_chance([body["chance"]])

    def _held(self, who: str) -> Iterator[tuple[str, Margin]]:
        for (one, dataset), held in self.knowledge.items():
            if one == who:
                yield from ((dataset, margin) for margin in held)

    def _told(self, people: Iterable[str], what: list[tuple[str, Margin]]) -> dict[tuple[str, str], Knowledge]:
        """Let some know some margins; give what is new to whom."""
        grown: dict[tuple[str, str], set[Margin]] = {}
        for who in people:
            for dataset, margin in what:
                if margin not in self.knowledge.get((who, dataset), frozenset()):
                    grown.setdefault((who, dataset), set()).add(margin)
        for key, more in grown.items():
            self.knowledge[key] = self.knowledge.get(key, frozenset()) | more
        return {key: frozenset(more) for key, more in grown.items()}
