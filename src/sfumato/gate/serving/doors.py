"""Who comes in: passwords, sessions, tokens. None of it stands in the ledger, and what is stored are hashes."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sfumato.errors import DataError, LimitReached, NoEntry, NotThere
from sfumato.gate.serving.core import Core
from sfumato.gate.serving.passwords import checked_password, hashed, matches, one_time

__all__ = ["LONGEST", "SCOPES", "Doors", "Login", "Token", "Visitor"]

SCOPES = {
    "analyst": ("tables", "analyses", "releases"),
    "steward": ("steward", "audit"),
    "auditor": ("audit",),
}
"""What a token of each role may be used for at most."""
LONGEST = 365
"""Most days that a token holds."""
TRIES = 5
"""Wrong passwords within a minute after which an account waits."""
_IDLE, _ABSOLUTE = timedelta(minutes=30), timedelta(hours=12)
_SEEN = timedelta(minutes=1)
"""How exactly it is written down when a session was used."""
_WRONG = "The name or the password is not right."
_MARK = "sfg_"


@dataclass(frozen=True)
class Visitor:
    """Somebody who came in.

    Parameters
    ----------
    who, role
        The user.
    how
        By a session, or with a token.
    scopes
        What may be done with the token; with a session all that the role may do.
    """

    who: str
    role: str
    how: Literal["session", "token"]
    scopes: frozenset[str]


@dataclass(frozen=True)
class Login:
    """A login that succeeded.

    Parameters
    ----------
    who, role
        The user.
    session
        What the browser shows from now on; it is stored as a hash alone.
    """

    who: str
    role: str
    session: str


@dataclass(frozen=True)
class Token:
    """A token that holds; what opens is shown once only, when it is made.

    Parameters
    ----------
    id
        By which it is revoked.
    scopes
        What it may be used for.
    made, until
        When it was made, and until when it holds.
    """

    id: str
    scopes: tuple[str, ...]
    made: str
    until: str

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {"id": self.id, "scopes": list(self.scopes), "made": self.made, "until": self.until}


class Doors(Core):
    """The part of a gate that knows who comes in. It waits for no decision."""

    def login(self, who: str, password: str, new_password: str | None = None, *, before: str | None = None) -> Login:
        """Let somebody in by password.

        Parameters
        ----------
        who, password
            As they are given; whether there is such a user takes the same work.
        new_password
            Takes the place of the password, which it must where that holds once.
        before
            A session that the browser had: it ends.

        Raises
        ------
        NoEntry
            Not with these; or the password holds once, and no new one is given.
        DataError
            A new password that cannot be one.
        LimitReached
            Too many wrong ones within a minute.
        """
        attempt = self._attempt(who)
        with self.store.looking() as look:
            known = look.password(who) if look.role(who) is not None else None
        if not matches(password, None if known is None else known[0]) or known is None:
            raise NoEntry(_WRONG)
        with self.store.doors() as doors:
            doors.forget_attempt(attempt)
        chosen = None
        if new_password is not None:
            if secrets.compare_digest(new_password.encode(), password.encode()):
                raise DataError("The new password is the old one.")
            chosen = hashed(checked_password(new_password, who))
        elif known[1]:
            raise NoEntry("This password holds for one login: choose a new one with it (`new_password`).")
        with self.store.doors() as doors:
            if doors.password(who) != known:  # somebody else changed it meanwhile
                raise NoEntry(_WRONG)
            if chosen is not None:
                doors.set_password(who, chosen)
                doors.end_sessions(who)
            return self._entered(doors, who, before)

    def enter(self, who: str, *, before: str | None = None) -> Login:
        """Let somebody in whom an identity provider knows.

        Raises
        ------
        NoEntry
            Nobody here has that name.
        """
        with self.store.doors() as doors:
            return self._entered(doors, who, before)

    def visit(self, session: str) -> Visitor | None:
        """Who a session belongs to; None where it is over, or never was."""
        name, at = _hash(session), _now()
        with self.store.looking() as look:
            row = look.session(name)
        if row is None or row.until < _text(at) or row.seen < _text(at - _IDLE):
            return None
        if row.seen < _text(at - _SEEN):
            with self.store.doors() as doors:
                doors.saw_session(name, _text(at))
        return Visitor(row.who, row.role, "session", frozenset(SCOPES[row.role]))

    def logout(self, session: str) -> None:
        """Let a session be over."""
        with self.store.doors() as doors:
            doors.end_session(_hash(session))

    def issue_token(self, who: str, scopes: Iterable[str], days: int = 30) -> tuple[Token, str]:
        """Make a token for a program that comes in for somebody.

        Parameters
        ----------
        who
            A user.
        scopes
            What it may be used for; no more than the role may do.
        days
            How long it holds.

        Returns
        -------
        Token and str
            What is known of it, and what opens, which is stored as a hash alone.

        Raises
        ------
        DataError
            Nobody of that name; scopes that there are not, or that the role does not have; days out of range.
        """
        wanted = tuple(dict.fromkeys(scopes))
        if not 1 <= days <= LONGEST:
            raise DataError(f"A token holds for 1 to {LONGEST} days.")
        with self.store.doors() as doors:
            role = doors.role(who)
            if role is None:
                raise DataError(f"There is no user named {who!r}.")
            own = SCOPES[role]
            if not wanted or not set(wanted) <= set(own):
                raise DataError(f"A token of the role {role} has scopes of: {', '.join(own)}.")
            opens, at = _MARK + secrets.token_urlsafe(32), _now()
            token = Token(secrets.token_hex(12), wanted, _text(at), _text(at + timedelta(days=days)))
            doors.add_token(token.id, who, _hash(opens), wanted, token.made, token.until)
        return token, opens

    def bearer(self, opens: str) -> Visitor | None:
        """Who a token belongs to, and what it may be used for; None where it holds no more, or never did."""
        with self.store.looking() as look:
            row = look.token(_hash(opens))
        if row is None or row.until < _text(_now()):
            return None
        return Visitor(row.who, row.role, "token", frozenset(row.scopes.split(",")) & set(SCOPES[row.role]))

    def tokens(self, who: str) -> list[Token]:
        """Tokens of somebody that hold, oldest first."""
        with self.store.looking() as look:
            rows = look.tokens(who, _text(_now()))
        return [Token(row.id, tuple(row.scopes.split(",")), row.at, row.until) for row in rows]

    def revoke_token(self, who: str, name: str) -> None:
        """Let a token hold no more.

        Raises
        ------
        NotThere
            It is none of theirs.
        """
        with self.store.doors() as doors:
            if not doors.revoke(who, name):
                raise NotThere("There is no such token.")

    def set_password(self, who: str, password: str) -> None:
        """Give somebody a password that they keep; all their sessions end.

        Raises
        ------
        DataError
            Nobody of that name, or a password that cannot be one.
        """
        chosen = hashed(checked_password(password, who))
        with self.store.doors() as doors:
            if doors.role(who) is None:
                raise DataError(f"There is no user named {who!r}.")
            doors.set_password(who, chosen)
            doors.end_sessions(who)

    def alive(self) -> None:
        """Look whether the store can be read.

        Raises
        ------
        FileError
            It cannot.
        """
        with self.store.looking() as look:
            look.role("")

    def reset_password(self, who: str) -> str:
        """Give somebody who forgot theirs a password for one login; all their sessions and tokens end.

        Parameters
        ----------
        who
            A user.

        Returns
        -------
        str
            The password; it is kept nowhere but as a hash.

        Raises
        ------
        DataError
            Nobody of that name.
        """
        password, kept = one_time()
        with self.store.doors() as doors:
            if doors.role(who) is None:
                raise DataError(f"There is no user named {who!r}.")
            doors.set_password(who, kept, once=True)
            doors.end_sessions(who)
            doors.revoke_all(who)
        return password

    def _attempt(self, who: str) -> str:
        """Write down that somebody tries; the names are hashed, and forgotten after a minute."""
        at, name = _now(), secrets.token_hex(12)
        with self.store.doors() as doors:
            free = doors.attempted(_hash(who), name, _text(at), _text(at - timedelta(minutes=1)), TRIES)
        if not free:
            raise LimitReached("Too many attempts for this name: wait a minute.")
        return name

    @staticmethod
    def _entered(doors: Any, who: str, before: str | None) -> Login:
        role = doors.role(who)
        if role is None:
            raise NoEntry("You have no account here.")
        if before is not None:
            doors.end_session(_hash(before))
        session, at = secrets.token_urlsafe(32), _now()
        doors.add_session(_hash(session), who, _text(at), _text(at + _ABSOLUTE))
        return Login(who, role, session)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> datetime:
    return datetime.now(UTC)


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
