"""Folders by their addresses: of this machine, or of a file system that many machines see.

What PyArrow reaches is reached: `file://`, `s3a://` (or `s3://`) and `gs://` from anywhere, `hdfs://` where the
libraries of Hadoop are. Who may do what there is said by that system's own settings (of S3 for instance
`AWS_ACCESS_KEY_ID`), never by the address.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sfumato.data.files.atomic import system_says
from sfumato.errors import FileError, SfumatoError

__all__ = ["TEMPORARY", "Place", "has_scheme", "local_folder", "reached"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://.*")
TEMPORARY = ".sfumato-"
"""Begins the names of files that are not whole yet."""


def has_scheme(target: str | os.PathLike[str]) -> bool:
    """Whether a target is an address, and no path.

    Examples
    --------
    >>> has_scheme("file:///tmp/release"), has_scheme("release")
    (True, False)
    """
    return _SCHEME.fullmatch(os.fspath(target)) is not None


def local_folder(target: str | os.PathLike[str]) -> Path | None:
    """The folder of this machine that a path or an address names; None where it is elsewhere.

    Raises
    ------
    FileError
        For an address of files that is none.

    Examples
    --------
    >>> local_folder("file:///tmp/a%20b").name, local_folder("release").name, local_folder("s3a://bucket/release")
    ('a b', 'release', None)
    """
    address = os.fspath(target)
    if not has_scheme(address):
        return Path(address)
    parts = urlsplit(address)
    if parts.scheme.lower() != "file":
        return None
    from urllib.request import url2pathname  # of Windows' drives as well

    if parts.netloc not in ("", "localhost"):
        raise FileError("An address of a file has three slashes: file:///path/of/the/release.")
    return Path(url2pathname(parts.path))


def reached(address: str) -> tuple[Any, str]:
    """The file system of an address or a folder, as PyArrow has it, and the path within it.

    Raises
    ------
    FileError
        Where this machine cannot reach it; an address that holds a password.

    Examples
    --------
    >>> reached("file:///data/parts")[1]
    '/data/parts'
    """
    from pyarrow import ArrowException, fs

    folder = local_folder(address)
    if folder is not None:
        return fs.LocalFileSystem(), folder.as_posix()
    scheme, _, rest = address.partition("://")
    if "?" in rest or "@" in rest.split("/", 1)[0]:
        raise FileError(
            "An address must not hold a user, a password or settings: lists of processes show it. Set them as the file "
            "system has it, for instance AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL."
        )
    try:
        return fs.FileSystem.from_uri(("s3" if scheme in ("s3a", "s3n") else scheme) + "://" + rest)  # type: ignore[no-any-return]
    except (OSError, ValueError, ArrowException):
        pass
    raise FileError(
        f"An address that begins with {scheme}:// cannot be reached from here: it needs that system's libraries and "
        "settings on this machine and on all workers."
    )


@dataclass(frozen=True)
class Place:
    """A folder, wherever it is.

    Parameters
    ----------
    address
        A path of this machine, or the address.
    system, path
        What `reached` gives of it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Place.of(f"file://{folder}/new")
    ...     place.make()
    ...     place.put("a.txt", b"whole")
    ...     place.names()
    {'a.txt': False}
    """

    address: str
    system: Any
    path: str

    @classmethod
    def of(cls, target: str | os.PathLike[str]) -> Place:
        """The folder that a path or an address names."""
        address = os.fspath(target).rstrip("/") or "/"
        folder = local_folder(address)
        return cls(address if folder is None else os.fspath(folder), *reached(address))

    def within(self, name: str) -> Place:
        """A folder in it."""
        return Place(f"{self.address}/{name}", self.system, f"{self.path}/{name}")

    def names(self) -> dict[str, bool] | None:
        """What lies in it, and whether it is a folder; None where there is no such folder."""
        from pyarrow import fs

        with self._told():
            if self.system.get_file_info(self.path).type == fs.FileType.NotFound:
                return None
            found = self.system.get_file_info(fs.FileSelector(self.path))
        return {info.base_name: info.type == fs.FileType.Directory for info in found}

    def make(self) -> None:
        """Make it, and the folders above it."""
        with self._told():
            self.system.create_dir(self.path, recursive=True)

    def remove(self, name: str | None = None) -> None:
        """Remove it, or what lies in it under a name, with all that it holds, as far as that can be."""
        from pyarrow import ArrowException, fs

        path = self.path if name is None else f"{self.path}/{name}"
        with suppress(OSError, ArrowException):
            if self.system.get_file_info(path).type == fs.FileType.Directory:
                self.system.delete_dir(path)
            else:
                self.system.delete_file(path)

    def put(self, name: str, content: bytes) -> None:
        """Write a file: there is the old one or the whole new one."""
        temporary = f"{TEMPORARY}{name}-{secrets.token_hex(8)}.tmp"
        with self._told():
            try:
                with self.system.open_output_stream(f"{self.path}/{temporary}") as stream:
                    stream.write(content)
                self.rename(temporary, name)
            except BaseException:
                self.remove(temporary)
                raise

    def rename(self, old: str, new: str) -> None:
        """Give a file of it another name; a file that has this name is replaced."""
        with self._told():
            self.system.move(f"{self.path}/{old}", f"{self.path}/{new}")

    def holds(self, name: str, rows: int) -> bool:
        """Whether it holds a whole Parquet file of so many rows."""
        try:
            return self.rows(name) == rows
        except FileError:
            return False

    def rows(self, name: str) -> int:
        """Rows of a Parquet file, as its own footer tells.

        Raises
        ------
        FileError
            For one that is not whole.
        """
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        try:
            with self.system.open_input_file(f"{self.path}/{name}") as opened, ParquetFile(opened) as file:
                return int(file.metadata.num_rows)
        except (OSError, ArrowException):
            pass
        raise FileError(f"{name!r} in {self.address!r} cannot be read again: it was not written whole.")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what goes wrong without the words of the file system's library."""
        from pyarrow import ArrowException

        try:
            yield
        except SfumatoError:
            raise
        except (OSError, ArrowException) as error:
            why = system_says(error) if isinstance(error, OSError) else "the file system there refused"
            raise FileError(f"{self.address!r} cannot be written or looked into: {why}.") from None
