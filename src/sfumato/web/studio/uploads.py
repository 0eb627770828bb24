"""A file that is sent from a page: written as it comes, into a folder of its own, or not at all."""

from __future__ import annotations

import asyncio
import errno
import functools
import os
import secrets
import shutil
import unicodedata
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from fastapi import Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from sfumato.web.problems import Problem

__all__ = ["Upload", "received"]

_SPARE = 256 << 20
"""Bytes of the disk that are left to others."""
_LONGEST_PASSING = 60.0
"""Seconds that the rest of a body which is refused may take."""
_LONGEST_FIELD, _MOST_FIELDS, _LONGEST_NAME = 1_000, 20, 150
_FULL = "There is not enough room on the disk of this machine for this file: it was not taken."
_BROKEN = "The file did not come whole, so nothing of it was kept. Send it again."


@dataclass
class Upload:
    """What a form with one file sent.

    Parameters
    ----------
    path
        Where the file lies; None where none was chosen.
    fields
        The other fields, by name.
    """

    path: Path | None = None
    fields: dict[str, str] = field(default_factory=dict)


async def received(request: Request, folder: Path, longest: int = _LONGEST_FIELD) -> Upload:
    """Read a form with one file; where it does not come whole, nothing is left of it.

    Parameters
    ----------
    request
        Its body is `multipart/form-data`.
    folder
        In which the file gets a folder of its own.
    longest
        Most bytes of one of the other fields.

    Raises
    ------
    Problem
        422 where it is no such form or was cut off; 413 where a field is too long; 507 where the disk has no room.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise Problem(422, "A file is sent as a form with a file.")
    folder.mkdir(mode=0o700, exist_ok=True)
    own = folder / secrets.token_hex(8)
    own.mkdir(mode=0o700)
    size = request.headers.get("content-length", "0")
    stream = request.stream()
    reading = _Reading(own, int(size) if size.isdigit() else 0, longest)
    try:
        reading.refuse_full()
        parser = MultipartParser(options[b"boundary"], reading.callbacks())  # type: ignore[arg-type]
        async for block in stream:
            reading.refuse_full()
            parser.write(block)
        parser.finalize()
        if not reading.ended:
            raise Problem(422, _BROKEN)
    except BaseException as error:
        reading.close()
        shutil.rmtree(own, ignore_errors=True)
        if isinstance(error, Problem | MultipartParseError | OSError):
            await _let_pass(stream)
        if isinstance(error, ClientDisconnect | MultipartParseError):
            raise Problem(422, _BROKEN) from None
        if isinstance(error, OSError):
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            raise (Problem(507, _FULL) if full else Problem(422, _BROKEN)) from None
        raise
    reading.close()
    if reading.upload.path is None:
        own.rmdir()
    return reading.upload


async def _let_pass(stream: AsyncIterator[bytes]) -> None:
    """Let the rest of a body pass: who is still sending would not hear why it is refused."""
    with suppress(ClientDisconnect, TimeoutError):
        async with asyncio.timeout(_LONGEST_PASSING):
            async for _ in stream:
                pass


class _Reading:
    """The parts of a form as the parser meets them."""

    def __init__(self, folder: Path, size: int, longest: int) -> None:
        self.folder = folder
        self.upload = Upload()
        self.ended = False
        self._left, self._longest = size, longest
        self._header, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._name, self._text = "", b""
        self._file: BinaryIO | None = None

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._on_field,
            "on_header_value": self._on_value,
            "on_header_end": self._on_header,
            "on_headers_finished": self._on_headers,
            "on_part_data": self._on_data,
            "on_part_end": self._end,
            "on_end": self._whole,
        }

    def refuse_full(self) -> None:
        """Refuse what the disk has no room for; what is still to come is known where the size was told."""
        written = self._file.tell() if self._file is not None else 0
        if shutil.disk_usage(self.folder).free - _SPARE < max(self._left - written, 0):
            raise Problem(507, _FULL)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._headers, self._name, self._text = {}, "", b""

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        given = options.get(b"filename")
        if given is None or not given or self.upload.path is not None:
            return
        self.upload.path = self.folder / _named(given.decode("utf-8", "replace"))
        private = functools.partial(os.open, mode=0o600)
        self._file = open(self.upload.path, "xb", opener=private)  # noqa: SIM115 - closed by `close`

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > self._longest or len(self.upload.fields) > _MOST_FIELDS:
            raise Problem(413, "The form is too long.")

    def _end(self) -> None:
        if self._file is not None:
            self.close()
        elif b"filename=" not in self._headers.get(b"content-disposition", b""):
            self.upload.fields[self._name] = self._text.decode("utf-8", "replace").strip()

    def _whole(self) -> None:
        self.ended = True


def _named(given: str) -> str:
    """A file's name without folders, control characters and what turns the order of letters around."""
    base = given.replace("\\", "/").rpartition("/")[2]
    plain = "".join(c for c in base if unicodedata.category(c)[0] != "C" and c not in '<>:"|?*').strip(" .")
    stem, dot, suffix = plain.rpartition(".")
    while len(stem.encode()) > _LONGEST_NAME:
        stem = stem[:-1]
    return f"{stem or 'file'}{dot}{suffix[:12]}" if dot else (plain[:40] or "file")
