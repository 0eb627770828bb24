"""What a store keeps of those who come in: passwords, tokens, sessions, and attempts. The ledger has none of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, func, insert, select, update

from sfumato.gate.store import schema as t

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Doors"]


@dataclass
class Doors:
    """Credentials, as they are stored: hashes alone.

    Parameters
    ----------
    connection
        To the store.
    """

    connection: Connection

    def role(self, who: str) -> str | None:
        """The role of a user who is there; None where there is none."""
        c = t.principals.c
        row = self.connection.execute(
            select(c.role).where(and_(c.name == who, c.kind == "user", c.active.is_(True)))
        ).one_or_none()
        return None if row is None else str(row[0])

    def password(self, who: str) -> tuple[str, bool] | None:
        """The hash of somebody's password, and whether it holds once only."""
        row = self.connection.execute(select(t.credentials).where(t.credentials.c.who == who)).one_or_none()
        return None if row is None else (row.hash, bool(row.once))

    def set_password(self, who: str, hashed: str, *, once: bool = False) -> None:
        """Keep another password; `once` says that the first use sets another one."""
        self.connection.execute(delete(t.credentials).where(t.credentials.c.who == who))
        self.connection.execute(insert(t.credentials).values(who=who, kind="password", hash=hashed, once=once))

    def attempted(self, account: str, name: str, at: str, since: str, most: int) -> bool:
        """Write down an attempt, if there were fewer than so many since; those long ago are forgotten."""
        c = t.attempts.c
        if self.connection.dialect.name == "postgresql":  # those who try the same name take turns
            self.connection.execute(select(func.pg_advisory_xact_lock(int(account[:15], 16))))
        self.connection.execute(delete(t.attempts).where(c.at < since))
        many = self.connection.execute(select(func.count()).where(c.account == account)).scalar_one()
        if many < most:
            self.connection.execute(insert(t.attempts).values(id=name, account=account, at=at))
        return bool(many < most)

    def forget_attempt(self, name: str) -> None:
        """Let an attempt that succeeded not count."""
        self.connection.execute(delete(t.attempts).where(t.attempts.c.id == name))

    def add_session(self, hashed: str, who: str, at: str, until: str) -> None:
        """Let somebody be logged in; sessions that are over are forgotten."""
        self.connection.execute(delete(t.sessions).where(t.sessions.c.until < at))
        self.connection.execute(insert(t.sessions).values(hash=hashed, who=who, seen=at, until=until))

    def session(self, hashed: str) -> Any | None:
        """A session of a user who is there: `who`, `role`, `seen`, `until`."""
        c, p = t.sessions.c, t.principals.c
        wanted = select(c.who, p.role, c.seen, c.until).join(t.principals, p.name == c.who)
        return self.connection.execute(wanted.where(and_(c.hash == hashed, p.active.is_(True)))).one_or_none()

    def saw_session(self, hashed: str, at: str) -> None:
        """Write down that it was used."""
        self.connection.execute(update(t.sessions).where(t.sessions.c.hash == hashed).values(seen=at))

    def end_session(self, hashed: str) -> None:
        """Let it be over."""
        self.connection.execute(delete(t.sessions).where(t.sessions.c.hash == hashed))

    def end_sessions(self, who: str) -> None:
        """Let all of somebody's sessions be over."""
        self.connection.execute(delete(t.sessions).where(t.sessions.c.who == who))

    def add_token(self, name: str, who: str, hashed: str, scopes: Iterable[str], at: str, until: str) -> None:
        """Keep a token."""
        row = {"id": name, "who": who, "hash": hashed, "scopes": ",".join(scopes), "at": at, "until": until}
        self.connection.execute(insert(t.tokens).values(**row, revoked=False))

    def token(self, hashed: str) -> Any | None:
        """A token of a user who is there: `who`, `role`, `scopes`, `until`."""
        c, p = t.tokens.c, t.principals.c
        wanted = select(c.who, p.role, c.scopes, c.until).join(t.principals, p.name == c.who)
        held = and_(c.hash == hashed, c.revoked.is_(False), p.active.is_(True))
        return self.connection.execute(wanted.where(held)).one_or_none()

    def tokens(self, who: str, at: str) -> list[Any]:
        """Tokens of somebody that hold, oldest first."""
        c = t.tokens.c
        held = and_(c.who == who, c.revoked.is_(False), c.until >= at)
        return list(self.connection.execute(select(t.tokens).where(held).order_by(c.at, c.id)))

    def revoke_all(self, who: str) -> None:
        """Let all of somebody's tokens hold no more."""
        self.connection.execute(update(t.tokens).where(t.tokens.c.who == who).values(revoked=True))

    def revoke(self, who: str, name: str) -> bool:
        """Let a token hold no more; whether it was theirs."""
        c = t.tokens.c
        mine = and_(c.who == who, c.id == name, c.revoked.is_(False))
        return bool(self.connection.execute(update(t.tokens).where(mine).values(revoked=True)).rowcount)

    def fingerprint(self) -> str | None:
        """By what the secret is known again; None where none was seen yet."""
        row = self.connection.execute(select(t.secret.c.fingerprint)).one_or_none()
        return None if row is None else str(row[0])

    def remember_fingerprint(self, fingerprint: str) -> str:
        """Keep it, unless another one is kept already; which is kept then."""
        kept = self.fingerprint()
        if kept is None:
            self.connection.execute(insert(t.secret).values(id=1, fingerprint=fingerprint))
        return kept or fingerprint
