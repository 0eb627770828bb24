"""What would be, without anything being so: for stewards before they decide, and for analysts before they ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sfumato.errors import DataError
from sfumato.gate.decision import is_known
from sfumato.gate.margin import Margin, Node
from sfumato.gate.maximal import Maximal, maximal_of
from sfumato.gate.serving.core import Core, Release
from sfumato.gate.world import Outcome

__all__ = ["MOST_DRAWN", "Foreseen", "Surveyed", "Surveying"]

MOST_DRAWN = 5
"""Most variables whose tables are looked at one by one."""
_RESTARTS = 30


@dataclass(frozen=True)
class Foreseen:
    """What a change of sharing would do.

    Parameters
    ----------
    decision, reasons
        What would be decided.
    edges
        Who would pass on to whom, beyond what they do now.
    learn
        Who would come to know more, and how many tables they did not know; confidential.
    reach
        Of each of the two, who may come to know what it holds, now and then.
    """

    decision: str
    reasons: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    learn: Mapping[str, int]
    reach: Mapping[str, tuple[frozenset[str], frozenset[str]]]


@dataclass(frozen=True)
class Surveyed:
    """Tables of some variables, and how they stand.

    Parameters
    ----------
    maximal
        The maximal safe releases of these variables under a policy.
    states
        By table, as the set of its variables: `granted` where somebody knows it, `possible` where it could be given to
        them now, else `closed`; of no table where there are too many variables to look at all.
    """

    maximal: Maximal
    states: Mapping[frozenset[str], Literal["granted", "possible", "closed"]]


class Surveying(Core):
    """The part of a gate that looks ahead. Nothing of it is written down, and nothing changes."""

    def given_already(self, who: str, dataset: str, margin: Margin) -> Release | None:
        """An own release from which a table of counts follows; the data are not looked at.

        Parameters
        ----------
        who
            To whom it was given.
        dataset, margin
            The table.
        """
        with self._lock:
            self._catch_up()
            structure = self._records(self._state, dataset).structure
        with self.store.reading() as view:
            for row in view.releases(who):
                release = self._release_of(row)
                content = release.content
                if row.dataset != dataset or content.get("where") or "analysis" in content or not content["exact"]:
                    continue
                given = Margin.of([Node(*node) for node in content["by"]], version=content["version"])
                if not (margin.value or margin.weight) and structure.covers(given, replace(margin, noise="")):
                    return release
        return None

    def foresee_join(self, who: str, where: str, guest: bool = False) -> Foreseen:
        """What would be if somebody became a member.

        Raises
        ------
        DataError
            Unknown names.
        """
        with self._lock:
            self._catch_up()
            self._refuse_unknown(self._state, who, where)
            outcome = self._world(self._state).join(who, where, guest=guest)
            return self._foreseen(outcome, {(where, who)} if guest else {(who, where), (where, who)})

    def foresee_share(self, giver: str, taker: str) -> Foreseen:
        """What would be if one passed on to another all that it holds.

        Raises
        ------
        DataError
            Unknown names.
        """
        with self._lock:
            self._catch_up()
            self._refuse_unknown(self._state, giver, taker)
            return self._foreseen(self._world(self._state).share(giver, taker), {(giver, taker)})

    def _foreseen(self, outcome: Outcome, more: set[tuple[str, str]]) -> Foreseen:
        state = self._state
        after = state.copy()
        after.edges = state.edges | more
        learn: dict[str, set[tuple[str, Margin]]] = {}
        for (giver, dataset), held in state.knowledge.items():
            for who in after.reach(giver):
                new = held - state.knows(who, dataset)
                learn.setdefault(who, set()).update((dataset, margin) for margin in new)
        names = sorted({name for edge in more for name in edge})
        return Foreseen(
            outcome.decision,
            outcome.reasons,
            tuple(sorted(more - state.edges)),
            {who: len(tables) for who, tables in sorted(learn.items()) if tables},
            {name: (state.reach(name), after.reach(name)) for name in names},
        )

    def surveyed(
        self, dataset: str, policy: str, variables: Sequence[str], who: str, *, restarts: int = _RESTARTS
    ) -> Surveyed:
        """The maximal safe releases of some variables, and which of their tables somebody has or could be given.

        Parameters
        ----------
        dataset
            Name of the data set.
        policy
            Name of the policy that releases must meet.
        variables
            With codes; at most five are looked at table by table.
        who
            Whose tables are looked at.
        restarts
            How many releases are searched for where there are too many to go through all.

        Raises
        ------
        DataError
            Unknown names, or nothing is safe.
        """
        with self._lock:
            self._catch_up()
            state = self._state
            self._refuse_unknown(state, who)
            if policy not in state.policies:
                raise DataError(f"There is no policy {policy!r}. Policies: {', '.join(sorted(state.policies))}.")
            records = replace(
                self._records(state, dataset)
            )  # with counts of its own: it takes seconds, and nobody waits
        found = maximal_of(records, state.policies[policy][1], None, restarts, variables=list(variables))
        if len(variables) > MOST_DRAWN:
            return Surveyed(found, {})
        world = state.world({dataset: records})
        states: dict[frozenset[str], Literal["granted", "possible", "closed"]] = {}
        for mask in range(1, 1 << len(variables)):
            names = [name for i, name in enumerate(variables) if mask >> i & 1]
            margin = Margin.of((Node(name) for name in names), version=records.versions[-1])
            if is_known(records, state.knows(who, dataset), margin):
                states[frozenset(names)] = "granted"
            else:
                states[frozenset(names)] = "possible" if world.ask(who, dataset, margin).granted else "closed"
        return Surveyed(found, states)
