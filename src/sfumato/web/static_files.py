"""Files that pages are made with: looked up by name, never by a path, and kept by browsers for as long as they last."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Iterable
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sfumato.web.problems import Problem

__all__ = ["PREFIX", "StaticFiles"]

PREFIX = "/static/"
_FOREVER = "public, max-age=31536000, immutable"
_NOT = re.compile(r"q=0(?:\.0*)?")
_PACKED = (".js", ".css", ".svg", ".txt", ".md")
"""Suffixes of files that are sent packed to whoever takes them so: they are the same for all and hold no secret, whose
letters the length of an answer could tell."""
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


class StaticFiles:
    """Files of some folders, read once.

    Their address holds a hash of all of them: a changed file has another address, and modules that import one another
    by relative names find each other.

    Parameters
    ----------
    folders
        Where they lie; of files of one name the last one counts.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not path.name.startswith(".") and path.suffix not in (".py", ".pyc"):
                    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
                    self._files[path.relative_to(folder).as_posix()] = path.read_bytes(), kind
        whole = hashlib.sha256()
        for name, (content, _) in sorted(self._files.items()):
            whole.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
        self.digest = whole.hexdigest()[:16]
        self._packed: dict[str, bytes] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def url(self, name: str) -> str:
        """The address of a file.

        Raises
        ------
        KeyError
            There is no such file.
        """
        if name not in self._files:
            raise KeyError(name)
        return f"{PREFIX}{self.digest}/{name}"

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        return self._files[name][0]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for one of them."""
        digest, _, name = str(scope["path"]).removeprefix(PREFIX).partition("/")
        found = self._files.get(name) if digest == self.digest else None
        if scope["method"] not in ("GET", "HEAD"):
            answer = Problem(405, "Files can be read alone.", {}, {"Allow": "GET, HEAD"}).response()
        elif found is None:
            answer = Problem(404, "There is no such file.").response()
        else:
            headers, content = {"Cache-Control": _FOREVER}, found[0]
            if name.endswith(_PACKED):
                headers["Vary"] = "Accept-Encoding"
                if _takes_gzip(Headers(scope=scope)):
                    headers["Content-Encoding"] = "gzip"
                    content = self._pack(name)
            answer = Response(content, 200, headers, found[1])
        await answer(scope, receive, send)

    def _pack(self, name: str) -> bytes:
        """A file packed, once."""
        if name not in self._packed:
            self._packed[name] = gzip.compress(self._files[name][0], mtime=0)
        return self._packed[name]


def _takes_gzip(headers: Headers) -> bool:
    """Whether a browser says that it takes gzip, as all do."""
    said = (part.partition(";") for part in headers.get("accept-encoding", "").split(","))
    return any(name.strip() == "gzip" and not _NOT.fullmatch(more.strip()) for name, _, more in said)
