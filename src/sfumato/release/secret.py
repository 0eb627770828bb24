"""The secret that draws are keyed with: where it comes from, and its fingerprint."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from sfumato.draws import MIN_SECRET, Draws
from sfumato.errors import FileError, SecretError

__all__ = ["VARIABLE", "Secret", "make_secret"]

VARIABLE = "SFUMATO_SECRET"
"""Environment variable that holds the secret in hexadecimal digits."""

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Secret:
    """The secret's bytes as they are; nothing is stripped or decoded.

    Parameters
    ----------
    value
        At least 16 bytes.
    repeatable
        False where it was drawn for this run alone.

    Examples
    --------
    >>> Secret(bytes(16))
    Secret(repeatable=True)
    """

    value: bytes = field(repr=False)
    repeatable: bool = True

    def __post_init__(self) -> None:
        Draws(self.value)  # refuses a secret that is too short

    @classmethod
    def known(
        cls, given: bytes | Secret | str | PathLike[str] | None = None, environ: Mapping[str, str] = os.environ
    ) -> Secret | None:
        """The secret that is given (itself, its bytes, or its file), else that of `SFUMATO_SECRET`; None where none is.

        Raises
        ------
        SecretError
            As in `find`.
        """
        if isinstance(given, Secret):
            return given
        if isinstance(given, bytes):
            return cls(given)
        return cls.find(given, environ) if given is not None or VARIABLE in environ else None

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits by which the same secret is known again.

        A slow, memory-hard hash (scrypt), so that even a weak secret cannot be found by trying.
        """
        return hashlib.scrypt(self.value, salt=b"sfumato fingerprint", n=2**14, r=8, p=1, dklen=6).hex()

    @classmethod
    def find(cls, file: str | PathLike[str] | None = None, environ: Mapping[str, str] = os.environ) -> Secret:
        """Take the secret from a file, else from `SFUMATO_SECRET`, else draw one from the operating system.

        Raises
        ------
        SecretError
            Where the file cannot be read, the variable is not hexadecimal, or the secret is shorter than 16 bytes.
        """
        if file is not None:
            return cls(_read(Path(file)))
        if VARIABLE in environ:
            try:
                return cls(bytes.fromhex(environ[VARIABLE]))
            except ValueError:
                raise SecretError(f"{VARIABLE} must hold hexadecimal digits, two for each byte.") from None
        return cls(secrets.token_bytes(2 * MIN_SECRET), repeatable=False)


def make_secret(path: str | PathLike[str]) -> None:
    """Write a new secret of 32 bytes, from the operating system, to a file that its owner alone can read.

    Parameters
    ----------
    path
        Where to. What is there is never written over: a secret that is gone cannot be drawn again.

    Raises
    ------
    FileError
        There is something, or nothing can be written there.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "key"
    >>> make_secret(path)
    >>> Secret.find(path)
    Secret(repeatable=True)
    """
    name = os.fspath(path)
    try:
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    except FileExistsError:
        raise FileError(
            f"There is something at {name!r} already: a secret is never written over. Choose another path."
        ) from None
    except OSError as error:
        raise FileError(f"The secret cannot be written to {name!r}: {error.strerror}.") from None
    try:
        with os.fdopen(file, "wb") as opened:
            if hasattr(os, "fchmod"):  # whatever the umask is
                os.fchmod(file, 0o600)
            opened.write(secrets.token_bytes(2 * MIN_SECRET))
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:  # half a secret is none
        Path(name).unlink(missing_ok=True)
        raise FileError(f"The secret cannot be written to {name!r}: {error.strerror}.") from None


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            value = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise SecretError(f"The secret file {str(path)!r} cannot be read: {error.strerror}.") from None
    if len(value) > _MAX_BYTES:
        raise SecretError(f"The secret file {str(path)!r} is larger than {_MAX_BYTES} bytes; is it the right file?")
    return value
