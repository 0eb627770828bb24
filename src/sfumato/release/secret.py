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
from sfumato.errors import SecretError

__all__ = ["VARIABLE", "Secret"]

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


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            value = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise SecretError(f"The secret file {str(path)!r} cannot be read: {error.strerror}.") from None
    if len(value) > _MAX_BYTES:
        raise SecretError(f"The secret file {str(path)!r} is larger than {_MAX_BYTES} bytes; is it the right file?")
    return value
