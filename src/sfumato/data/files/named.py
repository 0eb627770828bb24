"""Files that a step names: where they lie is seen from the plan; as run, a plan holds their names and digests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from sfumato.data.described import Described
from sfumato.errors import DataError, FileError

__all__ = ["AS_RUN", "NamedFile", "files_in"]

AS_RUN = {"as_run": True}
"""Context of a dump in which files stand by name and digest, and not by where they lie."""

_ELSEWHERE = re.compile(r"^/?/?vsi|^[A-Za-z][A-Za-z0-9+.-]+:", re.IGNORECASE)


class NamedFile(Described):
    """A file beside the plan; in a plan as it was run with its digest.

    Parameters
    ----------
    path
        The file, as seen from the plan.
    sha256
        The digest of the file that the plan was run with; another file is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    suffixes: ClassVar[tuple[str, ...]] = ()
    """How its name may end."""

    largest: ClassVar[int] = 512 << 20
    """Most bytes that are read."""

    path: str = Field(min_length=1)
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")

    _base: Path = PrivateAttr(default_factory=Path)

    @field_validator("path")
    @classmethod
    def _here(cls, path: str) -> str:
        if _ELSEWHERE.search(path) or "\0" in path or "://" in path:
            raise ValueError("a file on this machine is needed, no address and no path within an archive")
        if cls.suffixes and not path.lower().endswith(cls.suffixes):
            raise ValueError(f"a file is needed whose name ends in {', '.join(cls.suffixes)}")
        return path

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, NamedFile) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash((self.path, self.sha256))

    @model_serializer(mode="wrap")
    def _as_run(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        if info.context is not None and info.context.get("as_run"):
            values |= {"path": Path(self.path).name, "sha256": self.digest()}
        return values

    def lies_beside(self, base: Path) -> None:
        """Look for the file from this folder on."""
        self._base = base

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name

    @property
    def found(self) -> Path:
        """Where it lies."""
        return (self._base / self.path).absolute()

    def digest(self) -> str | None:
        """SHA-256 of the file; what the plan says of it where it is not there or cannot be read."""
        try:
            with self.found.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return self.sha256

    def checked(self) -> Path:
        """Where it lies, if it can be taken.

        Raises
        ------
        FileError
            Where there is no such file, or it is too large.
        DataError
            Where it is another than the plan was run with.
        """
        if not self.found.is_file():
            raise FileError(f"there is no file {self.path!r} beside the plan")
        if self.found.stat().st_size > self.largest:
            raise FileError(f"{self.name!r} is larger than {self.largest >> 20} MB")
        if self.sha256 is not None and self.digest() != self.sha256:
            raise DataError(
                f"{self.name!r} is not the file that the plan was run with (sha256). Give that one, or take `sha256` "
                "out of the plan"
            )
        return self.found


def files_in(value: Any) -> Iterator[NamedFile]:
    """The files that a parameter names."""
    if isinstance(value, NamedFile):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from files_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from files_in(part)
