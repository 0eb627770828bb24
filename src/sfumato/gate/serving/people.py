"""People, organisations and groups, and who shares with whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError
from sfumato.gate.derived import Person, State
from sfumato.gate.serving.core import COMMAND_LINE, Core, Settled
from sfumato.gate.serving.passwords import one_time
from sfumato.gate.world import PUBLIC, Kind, Outcome, Principal

if TYPE_CHECKING:
    from sfumato.gate.store.store import Writer

__all__ = ["ROLES", "People"]

ROLES = ("analyst", "steward", "auditor")
"""What a user may be: one who asks, one who decides what is open, one who reads the ledger."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")


class People(Core):
    """The part of a gate that knows who is there."""

    def add_user(self, name: str, organisation: str | None, role: str, policy: str, *, by: str = COMMAND_LINE) -> str:
        """Declare a user.

        Parameters
        ----------
        name
            An id that is never given again.
        organisation
            Which they join at once; the rest of it must be allowed to share with them.
        role
            `analyst`, `steward` or `auditor`.
        policy
            Name of their policy.
        by
            Who declares them.

        Returns
        -------
        str
            A password for the first login; it is kept nowhere but as a hash.

        Raises
        ------
        DataError
            A name that was given, unknown names, or a membership that is not granted.
        """
        if role not in ROLES:
            raise DataError(f"There is no role {role!r}. Roles: {', '.join(ROLES)}.")
        password, hashed = _password()

        def decide(state: State) -> Outcome | None:
            self._refuse_name(state, name, policy)
            if organisation is None:
                return None
            self._refuse_no_place(state, organisation)
            draft = self._with(state, name, "user", policy)
            outcome = self._world(draft).join(name, organisation)
            if not outcome.granted:
                raise DataError(
                    f"{name!r} cannot join {organisation!r}: somebody would come to know more than their policy allows "
                    f"({', '.join(outcome.reasons)})."
                )
            return outcome

        def write(writer: Writer, state: State, outcome: Outcome | None) -> str:
            self._declare(writer, state, name, "user", policy, role, by)
            writer.set_password(name, hashed, once=True)
            if outcome is not None and organisation is not None:
                self._edge(writer, state, name, organisation, "join", outcome, by)
            return password

        self._catch_up()
        return self._settled(decide, write)

    def remove_user(self, name: str, *, by: str = COMMAND_LINE) -> Settled:
        """Take somebody's account and memberships, and what waits for them.

        What they know stays known, and their name is not given again.

        Raises
        ------
        DataError
            The last steward cannot be removed.
        """

        def decide(state: State) -> None:
            self._refuse_unknown(state, name)
            if not state.people[name].role:
                raise DataError(f"{name!r} is no user.")
            if state.stewards() == {name}:
                raise DataError(f"{name!r} is the last steward. Make somebody else one first.")

        def write(writer: Writer, state: State, found: None) -> Settled:
            entry = self._append(writer, state, "user", name, "", {"step": "removed", "by": by})
            for row in writer.queued():
                if row.who == name:
                    writer.dequeue(row.id, "refused", entry.seq)
            return Settled("granted", (), entry.head)

        self._catch_up()
        return self._settled(decide, write)

    def add_organisation(self, name: str, policy: str, *, by: str = COMMAND_LINE) -> Settled:
        """Declare an organisation, whose members share all that they know."""
        return self._place(name, "organisation", policy, by)

    def add_group(self, name: str, policy: str, *, by: str = COMMAND_LINE) -> Settled:
        """Declare a group, as an organisation of people of several."""
        return self._place(name, "group", policy, by)

    def join(self, who: str, where: str, guest: bool = False, *, by: str = COMMAND_LINE) -> Settled:
        """Decide whether somebody may become a member.

        Parameters
        ----------
        who, where
            Who joins what.
        guest
            Receives what the others hold, and gives nothing back.
        by
            Who lets them.
        """

        def decide(state: State) -> Outcome:
            self._refuse_pair(state, who, where)
            self._refuse_no_place(state, where)
            return self._world(state).join(who, where, guest=guest)

        return self._connect(who, where, "join", decide, by, guest)

    def share(self, giver: str, taker: str, *, by: str = COMMAND_LINE) -> Settled:
        """Decide whether one may pass on to another all that it holds."""

        def decide(state: State) -> Outcome:
            self._refuse_pair(state, giver, taker)
            return self._world(state).share(giver, taker)

        return self._connect(giver, taker, "share", decide, by)

    def leave(self, who: str, where: str, *, by: str = COMMAND_LINE) -> Settled:
        """End a membership; what is known stays known."""

        def decide(state: State) -> Outcome:
            self._refuse_pair(state, who, where)
            if not {(who, where), (where, who)} & state.edges:
                raise DataError(f"{who!r} is no member of {where!r}.")
            return Outcome("granted")

        return self._connect(who, where, "leave", decide, by)

    def withdraw(self, giver: str, taker: str, *, by: str = COMMAND_LINE) -> Settled:
        """End sharing in one direction; what is known stays known."""

        def decide(state: State) -> Outcome:
            self._refuse_pair(state, giver, taker)
            if (giver, taker) not in state.edges:
                raise DataError(f"{giver!r} does not share with {taker!r}.")
            return Outcome("granted")

        return self._connect(giver, taker, "withdraw", decide, by)

    def people(self) -> dict[str, Person]:
        """Everybody, by name; those too who were removed."""
        self._catch_up()
        return dict(self._state.people)

    def edges(self) -> frozenset[tuple[str, str]]:
        """Who passes on to whom all that it holds."""
        self._catch_up()
        return self._state.edges

    def _connect(
        self,
        who: str,
        where: str,
        step: str,
        decide: Callable[[State], Outcome],
        by: str,
        guest: bool = False,
    ) -> Settled:
        def write(writer: Writer, state: State, outcome: Outcome) -> Settled:
            return self._edge(writer, state, who, where, step, outcome, by, guest)

        self._catch_up()
        return self._settled(decide, write)

    def _edge(
        self,
        writer: Writer,
        state: State,
        who: str,
        where: str,
        step: str,
        outcome: Outcome,
        by: str,
        guest: bool = False,
    ) -> Settled:
        body = {"step": step, "to": where, "guest": guest, "by": by, **self._outcome_body(outcome)}
        entry = self._append(writer, state, "edge", who, "", body)
        return Settled(outcome.decision, outcome.reasons, entry.head)

    def _place(self, name: str, kind: Kind, policy: str, by: str) -> Settled:
        def write(writer: Writer, state: State, found: None) -> Settled:
            return self._declare(writer, state, name, kind, policy, "", by)

        self._catch_up()
        return self._settled(lambda state: self._refuse_name(state, name, policy), write)

    def _declare(self, writer: Writer, state: State, name: str, kind: Kind, policy: str, role: str, by: str) -> Settled:
        body: dict[str, Any] = {"step": "added", "kind": kind, "policy": policy, "role": role, "by": by}
        asks = state.policies[policy][1]
        held = {dataset: known for (who, dataset), known in state.knowledge.items() if who == PUBLIC and known}
        body["broken"] = [
            [name, dataset, True]
            for dataset, known in sorted(held.items())
            if self._breaks(state, name, dataset, known, asks)
        ]
        return Settled("granted", (), self._append(writer, state, "user", name, "", body).head)

    @staticmethod
    def _with(state: State, name: str, kind: Kind, policy: str) -> State:
        """The state with somebody who is not there yet, and knows what is public."""
        draft = state.copy()
        draft.people[name] = Person(Principal(name, kind, policy))
        for (who, dataset), held in state.knowledge.items():
            if who == PUBLIC:
                draft.knowledge[name, dataset] = held
        return draft

    def _refuse_name(self, state: State, name: str, policy: str) -> None:
        if not _NAME.fullmatch(name) or name == COMMAND_LINE:
            raise DataError("A name has up to 64 letters, digits, dots, dashes and @, a letter or digit first.")
        if name in state.people:
            raise DataError(f"There is, or was, somebody named {name!r}: names are given once.")
        if policy not in state.policies:
            raise DataError(f"There is no policy {policy!r}. Policies: {', '.join(sorted(state.policies))}.")

    def _refuse_pair(self, state: State, one: str, other: str) -> None:
        self._refuse_unknown(state, one, other)
        if one == other:
            raise DataError("Nobody shares with themselves.")

    def _refuse_no_place(self, state: State, where: str) -> None:
        self._refuse_unknown(state, where)
        if state.people[where].principal.kind == "user":
            raise DataError(f"{where!r} is a user: only organisations, groups and the public have members.")


def _password() -> tuple[str, str]:
    """A password for the first login, and its hash."""
    return one_time()
