"""Versions of data sets, and what is said about them: taken over, and knowledge judged again by what hangs together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError, DataStopped
from sfumato.gate.config import DatasetConfig, TableSource
from sfumato.gate.dependences.found import Dependence, digests
from sfumato.gate.dependences.missing import few_missing, missing_problems, missing_tells
from sfumato.gate.dependences.words import CONSEQUENCE, chance_problems, in_words, joined
from sfumato.gate.derived import Columns, Described, Found, State, Version, columns_of
from sfumato.gate.policy import Policy
from sfumato.gate.records import Records
from sfumato.gate.replay import too_near
from sfumato.gate.serving.chances import Chances, lines_of
from sfumato.gate.serving.core import COMMAND_LINE, Settled
from sfumato.gate.sources import COPIES, copied
from sfumato.gate.world import Outcome

if TYPE_CHECKING:
    from sfumato.gate.store.store import Writer

__all__ = ["Added", "Versions"]


@dataclass(frozen=True)
class Added(Settled):
    """What came of a version, or of what is said anew about a data set.

    Parameters
    ----------
    dataset, version
        Of which; no version where only what is said changed.
    begun, ended
        Dependences that were not found before, and those that were and are no more.
    broken
        Whose knowledge breaks their policy from then on.
    few_missing
        Numbers of which a few people have none: `missing_told` would let more of their sums be given.
    missing_tells
        Of numbers of which it is no secret who has none, what else that tells.
    proposed
        Columns that hang together by chance, as the configuration says and a second steward has to confirm.
    lapsed
        Columns between which something else is found than what stewards called chance: it counts again.
    """

    dataset: str = ""
    version: str = ""
    begun: Found = ()
    ended: Found = ()
    broken: tuple[str, ...] = ()
    few_missing: tuple[str, ...] = ()
    missing_tells: tuple[tuple[str, tuple[str, ...]], ...] = ()
    proposed: tuple[Columns, ...] = ()
    lapsed: tuple[Columns, ...] = ()

    @property
    def notes(self) -> list[str]:
        """What a steward should know of it, in words; of the data nothing but names of columns."""
        of = f"{self.dataset}: "
        out = [f"{of}{_BEGINS[word]} {_words(one)}." for word, own in _changes(self) for one in own]
        out += [
            f"{of}between {joined(one)} something else is found than what stewards called chance: it counts again, "
            "until it is proposed and confirmed anew."
            for one in self.lapsed
        ]
        if self.begun:
            out.append(f"{of}what was found counts as known to everybody. See: sfumato gate dependences")
        if self.broken:
            out.append(
                f"{of}{joined(self.broken)} {'know' if len(self.broken) > 1 else 'knows'} more than allowed now."
            )
        out += [
            f"{of}that {joined(one)} hang together by chance waits for a second steward: sfumato gate queue list. "
            f"{CONSEQUENCE}"
            for one in self.proposed
        ]
        out += [
            f"{of}who has no {name} tells {joined(others)}: no secret either." for name, others in self.missing_tells
        ]
        if self.few_missing:
            out.append(
                f"{of}a few people have no {joined(self.few_missing)}, so that sums are refused. Where it is no secret "
                f"who has none, write under {self.dataset}: missing_told: [{', '.join(self.few_missing)}]"
            )
        return out

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return super().to_plain() | {
            "dependences": {word: [_plain(one) for one in own] for word, own in _changes(self)},
            "broken": list(self.broken),
            "few_missing": list(self.few_missing),
            "missing_tells": {name: list(others) for name, others in self.missing_tells},
            "chance_proposed": [list(one) for one in self.proposed],
            "chance_lapsed": [list(one) for one in self.lapsed],
        }


def _changes(added: Added) -> list[tuple[str, Found]]:
    return [("begun", added.begun), ("ended", added.ended)]


_BEGINS = {"begun": "found:", "ended": "no longer found:"}


@dataclass(frozen=True)
class _Judged:
    """What follows from a new version, or from what is said anew."""

    outcome: Outcome
    found: Found | None = None
    broken: tuple[tuple[str, str, bool], ...] = ()
    few_missing: tuple[str, ...] = ()
    missing_tells: tuple[tuple[str, tuple[str, ...]], ...] = ()
    lapsed: tuple[Columns, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """What its entry says."""
        told = {} if self.found is None else {"found": [[kind, list(of), *more] for kind, of, *more in self.found]}
        return {**told, "broken": [list(one) for one in self.broken]}


class Versions(Chances):
    """The part of a gate that takes over data, and what is said about them."""

    def add_version(self, dataset: str, name: str, source: str | TableSource, *, by: str = COMMAND_LINE) -> Added:
        """Add a version of a data set, the first one too.

        Dependences between its columns are found anew, and all that anybody knows of the data set is judged by them.

        Parameters
        ----------
        dataset
            Which the configuration describes.
        name
            Of the version.
        source
            A file, seen from the configuration; or a table of a database, which is copied.
        by
            Who adds it.

        Returns
        -------
        Added
            Refused where only a few records came or went since an earlier version.

        Raises
        ------
        DataError
            Record ids that are missing, stand twice or stand in another data set; what cannot be read; `chance` of what
            was not found, or is arithmetic; `missing_told` of what tells a sensitive variable.
        """
        if dataset not in self.config.datasets:
            known = ", ".join(sorted(self.config.datasets)) or "none"
            raise DataError(f"The configuration has no data set {dataset!r}. Data sets: {known}.")
        self._catch_up()
        if by != COMMAND_LINE:
            self._refuse_no_steward(self._state, by)
        before = self._state.datasets.get(dataset, Described())
        if name in [one.name for one in before.versions]:
            raise DataError(f"There is a version {name!r} of {dataset!r} already.")
        if set(self.config.datasets[dataset].versions) <= {name, *(one.name for one in before.versions)}:
            self._refuse_unnamed(dataset, by)
        if before.versions and self.sources.hashes(dataset) != dict(before.codebook):
            self._say_anew(dataset, by)
            before = self._state.datasets[dataset]
        path, sha256 = copied(self.config, dataset, name, source)
        version = Version(name, path, sha256)

        def decide(state: State) -> _Judged:
            known = state.datasets.get(dataset, Described())
            if name in [one.name for one in known.versions]:
                raise DataError(f"There is a version {name!r} of {dataset!r} already.")
            self.sources.refuse_shared_people(dataset, version, state.datasets)
            said = replace(known, codebook=self.sources.hashes(dataset), versions=(*known.versions, version))
            records = self.sources.records(dataset, said)
            if too_near(records, {key: policy for key, (_, policy) in state.policies.items()}):
                return _Judged(Outcome("refused", ("version",), "released"))
            return self._judged(state, dataset, said, records, by)

        def write(writer: Writer, state: State, judged: _Judged) -> Added:
            body: dict[str, Any] = {
                "version": name,
                "path": path,
                "sha256": sha256,
                "codebook": self.sources.hashes(dataset),
            }
            body |= {**self._outcome_body(judged.outcome), **judged.to_plain(), "by": by}
            if judged.lapsed:
                body["no_chance"] = [list(columns) for columns in judged.lapsed]
            entry = self._append(writer, state, "version", by, dataset, body)
            self._close(writer, dataset, judged.lapsed, entry.seq)
            return _added(judged, entry.head, dataset, name, before)

        settled = self._settled(decide, write)
        if not settled.granted:
            if path.startswith(f"{COPIES}/"):
                self.config.path(path).unlink(missing_ok=True)
            return settled
        return replace(settled, proposed=self._propose_said(dataset, by))

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

        Raises
        ------
        DataError
            It protects a variable about which it tells something that a number is missing, and the configuration says
            that this is no secret.
        """
        self._catch_up()
        protected = _protected(policy)
        for dataset, described in self._state.datasets.items():
            said = self.config.datasets.get(dataset)
            if said is None or not said.missing_told or not protected:
                continue
            with suppress(DataStopped):
                records = self.sources.records(dataset, described)
                found = self.sources.found(dataset, described)
                if problems := missing_problems(said.missing_told, records, found, protected):
                    raise DataError(" ".join(problems))
        return super().set_policy(name, policy, by=by)

    def take_over(self, name: str, *, by: str = COMMAND_LINE) -> list[Added]:
        """Add the versions of a data set that are not there yet, and take over what is said about it anew.

        Parameters
        ----------
        name
            Of the data set.
        by
            Who does it.

        Returns
        -------
        list of Added
            What changed, in order.

        Raises
        ------
        DataError
            What cannot be taken over.
        """
        said, known = self.config.datasets[name], self._state.datasets.get(name)
        out = [] if known is None or self._is_said(name, known) else [self._say_anew(name, by)]
        there = {} if known is None else {version.name: version for version in known.versions}
        for version, source in said.versions.items():
            if version in there:
                if not isinstance(source, TableSource) and source != there[version].path:
                    raise DataError(
                        f"The version {version!r} of {name!r} is another file in the ledger. Give it a new name."
                    )
                continue
            added = self.add_version(name, version, source, by=by)
            if not added.granted:
                raise DataError(
                    f"The version {version!r} of {name!r} is too near an earlier one: so few came or went that tables "
                    "of both would tell about them."
                )
            out.append(added)
        if not out and (proposed := self._propose_said(name, by)):  # the last time it came no further
            out.append(Added("granted", (), self._state.head, name, proposed=proposed))
        return out

    def _is_said(self, name: str, known: Described) -> bool:
        """Whether the ledger has what is said about a data set, and what is found in it."""
        if self.sources.hashes(name) != dict(known.codebook):
            return False
        try:
            found = self.sources.found(name, known)
            now = digests(found)
            return lines_of(found) == known.found and not known.lapsed(now) and not self._outdated(name, now)
        except DataStopped:  # the file is not what it was: nothing is told of it, and nothing new is found
            return True

    def _say_anew(self, name: str, by: str) -> Added:
        """Take over what the configuration says about a data set, and judge by what is found in it now."""
        said, known = self.sources.hashes(name), self._state.datasets[name]
        _refuse_other_meanings(name, said, known.codebook)
        taken_out = _gone(said, known.codebook)
        self._refuse_unnamed(name, by)

        def decide(state: State) -> _Judged:
            anew = replace(state.datasets[name], codebook=said).without_chance(taken_out)
            try:
                return self._judged(state, name, anew, self.sources.records(name, anew), by)
            except DataStopped:
                return _Judged(Outcome("granted"), None, tuple(map(tuple, self._judged_with(state, name, anew))))

        def write(writer: Writer, state: State, judged: _Judged) -> Added:
            gone = sorted({*taken_out, *judged.lapsed})
            body = {"version": "", "codebook": said, "decision": "granted", "by": by, **judged.to_plain()}
            entry = self._append(writer, state, "version", by, name, {**body, "no_chance": [list(one) for one in gone]})
            self._close(writer, name, gone, entry.seq)
            return _added(judged, entry.head, name, "", known)

        settled = self._settled(decide, write)
        return replace(settled, proposed=self._propose_said(name, by))

    def _refuse_unnamed(self, dataset: str, by: str) -> None:
        """Refuse to propose for nobody what the configuration calls chance: who did so could confirm it alone."""
        said, known = self.config.datasets[dataset], self._state.datasets.get(dataset, Described())
        new = [one for one in _wanted(said) if one not in known.chance and not self._open(dataset, one)]
        if new and by == COMMAND_LINE:
            raise DataError(_unnamed(dataset, new))

    def _judged(self, state: State, dataset: str, described: Described, records: Records, by: str) -> _Judged:
        """Judge what everybody knows of a data set by what hangs together in it.

        Raises
        ------
        DataError
            With all that is wrong about what is said of chance and of missing values.
        """
        said, found = self.config.datasets[dataset], self.sources.found(dataset, described)
        everything = set(said.versions) <= {one.name for one in described.versions}
        wanted = [one for one in _wanted(said) if one not in described.chance] if everything else []
        problems = chance_problems(wanted, found)
        lapsed = self._lapsed(dataset, described, found)
        if by == COMMAND_LINE and (again := [one for one in lapsed if everything and one in _wanted(said)]):
            raise DataError(_unnamed(dataset, again))
        protected = records.structure.sensitive.union(
            *(_protected(policy) for _, policy in state.policies.values()),
            *(_protected(policy) for policy in self.config.policies.values()),
        )
        problems += missing_problems(said.missing_told, records, found, protected)
        if problems:
            raise DataError(f"Data set {dataset!r}: {' '.join(problems)}")
        tells = ((name, missing_tells(name, found)) for name in said.missing_told)
        return _Judged(
            Outcome("granted"),
            lines_of(found),
            tuple((who, own, is_so) for who, own, is_so in self._judged_with(state, dataset, described)),
            few_missing(records, said.missing_told),
            tuple((name, others) for name, others in tells if others),
            lapsed,
        )

    def _lapsed(self, dataset: str, described: Described, found: Sequence[Dependence]) -> tuple[Columns, ...]:
        """What stewards called chance, or proposed as chance, and is found otherwise now."""
        now = digests(found)
        return tuple(sorted({*described.lapsed(now), *self._outdated(dataset, now)}))

    def _propose_said(self, dataset: str, by: str) -> tuple[Columns, ...]:
        """Propose what the configuration calls chance and nobody proposed yet; give what was proposed."""
        said, described = self.config.datasets[dataset], self._state.datasets[dataset]
        if not set(said.versions) <= {one.name for one in described.versions}:
            return ()  # what it is about may come with a version that is not there yet
        self._refuse_unnamed(dataset, by)
        out = []
        for columns, because in _wanted(said).items():
            if columns in described.chance or self._open(dataset, columns):
                continue
            if not chance_problems([columns], self.sources.found(dataset, described)):  # it may be arithmetic by now
                self.propose_chance(dataset, columns, by, because)
                out.append(columns)
        return tuple(out)


def _wanted(said: DatasetConfig) -> dict[Columns, str]:
    """What a configuration calls chance, and why."""
    return {columns_of(one.columns): one.because for one in said.chance}


def _unnamed(dataset: str, columns: Sequence[Columns]) -> str:
    return (
        f"`chance` of {dataset} is new or found otherwise ({'; '.join(map(joined, columns))}): a steward proposes it, "
        "and another one confirms it. Run: sfumato gate init --by STEWARD (or dataset add). Where there is no steward "
        "yet, leave `chance` out until there is one."
    )


def _gone(said: dict[str, Any], before: Any) -> list[Columns]:
    """What a configuration called chance, and does no more."""
    return [columns_of(one) for one in before.get("chance", ()) if one not in said.get("chance", ())]


def _protected(policy: Policy) -> frozenset[str]:
    """The variables that a policy's `attribution` names."""
    return frozenset() if policy.attribution is None else frozenset(policy.attribution.variables)


def _refuse_other_meanings(name: str, said: dict[str, Any], before: Any) -> None:
    if said["rows"] != before["rows"]:
        raise DataError(f"`record` and `count` of the data set {name!r} stay as they are: make it another data set.")
    for what in ("levels", "cohorts"):
        changed = sorted(one for one, told in before[what].items() if said[what].get(one) != told)
        if changed:
            raise DataError(
                f"{', '.join(changed)} ({what} of {name!r}) changed or went: tables were given by them. Give new "
                "ones new names."
            )


def _added(judged: _Judged, head: tuple[int, str], dataset: str, version: str, before: Described) -> Added:
    now, then = _names(judged.found), _names(before.found)
    unknown = judged.found is None
    return Added(
        judged.outcome.decision,
        judged.outcome.reasons,
        head,
        dataset,
        version,
        tuple(one for one in judged.found or () if one[:4] not in then),
        () if unknown else tuple(one for one in before.found or () if one[:4] not in now),
        tuple(who for who, _, is_so in judged.broken if is_so),
        judged.few_missing,
        judged.missing_tells,
        lapsed=judged.lapsed,
    )


def _names(found: Found | None) -> set[tuple[Any, ...]]:
    return {one[:4] for one in found or ()}


def _words(one: tuple[str, Columns, str, str, int]) -> str:
    kind, of, to, version, _ = one
    return in_words(kind, of, to or None, version)


def _plain(one: tuple[str, Columns, str, str, int]) -> dict[str, Any]:
    kind, of, to, version, many = one
    return {"kind": kind, "from": list(of), "to": to or None, "version": version, "combinations": many}
