"""Passwords: hashed slowly, two at once at most, and with the same work whether or not anybody has the name."""

from __future__ import annotations

import secrets
import threading
from functools import cache
from typing import Any

from sfumato.errors import DataError, LimitReached, MissingExtra

__all__ = ["AT_ONCE", "checked_password", "hashed", "matches", "one_time"]

AT_ONCE = 2
"""Hashes that a process works out at once: each takes 64 MB."""
_WAIT = 10.0
_SHORTEST, _LONGEST = 12, 200
_turn = threading.BoundedSemaphore(AT_ONCE)


@cache
def _hasher() -> Any:
    try:
        from pwdlib import PasswordHash
        from pwdlib.exceptions import HasherNotAvailable
    except ImportError:  # pragma: no cover - tests have the extra
        raise MissingExtra("The gate's passwords", "server") from None
    try:
        return PasswordHash.recommended()
    except HasherNotAvailable:  # pragma: no cover
        raise MissingExtra("The gate's passwords", "server") from None


@cache
def _nobody() -> str:
    """A hash that no password has: what the name of nobody is checked against."""
    return str(_hasher().hash(secrets.token_urlsafe(32)))


def hashed(password: str) -> str:
    """The hash of a password.

    Raises
    ------
    LimitReached
        Too many are waiting.
    """
    with _Turn():
        return str(_hasher().hash(password))


def matches(password: str, kept: str | None) -> bool:
    """Whether a password has a hash; where there is none the work is the same, and the answer no.

    Raises
    ------
    LimitReached
        Too many are waiting.
    """
    with _Turn():
        nobody = _nobody()
        try:
            found = bool(_hasher().verify(password, kept or nobody))
        except Exception as error:  # a hash of another kind: nobody comes in by it
            if type(error).__module__.partition(".")[0] != "pwdlib":
                raise
            _hasher().verify(password, nobody)
            found = False
        return found and kept is not None


def one_time() -> tuple[str, str]:
    """A password for the first login, and its hash."""
    password = secrets.token_urlsafe(15)
    return password, hashed(password)


def checked_password(password: str, who: str) -> str:
    """A password that somebody chose, if it may be one.

    Raises
    ------
    DataError
        It is too short or too long, or has the name in it.

    Examples
    --------
    >>> checked_password("correct horse battery", "ann")
    'correct horse battery'
    """
    if not _SHORTEST <= len(password) <= _LONGEST or not password.isprintable():
        raise DataError(f"A password has {_SHORTEST} to {_LONGEST} printable characters.")
    if len(who) > 2 and who.lower() in password.lower():
        raise DataError("A password does not have your name in it.")
    return password


class _Turn:
    """One of the hashes that are worked out at once."""

    def __enter__(self) -> None:
        if not _turn.acquire(timeout=_WAIT):
            raise LimitReached("Too many people log in at this moment. Try again.")

    def __exit__(self, *_: object) -> None:
        _turn.release()
