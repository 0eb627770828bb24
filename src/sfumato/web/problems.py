"""What went wrong, as `application/problem+json` (RFC 9457). Nothing of the data stands in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from sfumato.errors import (
    DataStopped,
    FileError,
    FormulaError,
    GateStopped,
    KeyUsed,
    LimitReached,
    MissingExtra,
    NoEntry,
    NotThere,
    SecretError,
    SfumatoError,
)

__all__ = ["MEDIA_TYPE", "Problem", "from_error", "from_validation"]

MEDIA_TYPE = "application/problem+json"
_STATUS: tuple[tuple[type[SfumatoError], int], ...] = (
    (KeyUsed, 409),
    (NotThere, 404),
    (LimitReached, 429),
    (DataStopped, 503),
    (GateStopped, 503),
    (FileError, 503),
    (SecretError, 503),
    (MissingExtra, 503),
    (NoEntry, 401),
    (FormulaError, 422),
    (SfumatoError, 422),
)
_MOST = 20


@dataclass
class Problem(Exception):
    """A problem, told to whoever asked.

    Parameters
    ----------
    status
        Of HTTP.
    detail
        What is wrong and what to do.
    more
        Further members.
    headers
        Of the response.

    Examples
    --------
    >>> Problem(404, "There is no such release.").to_plain()["title"]
    'Not Found'
    """

    status: int
    detail: str
    more: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """Its members."""
        title = HTTPStatus(self.status).phrase
        return {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail, **self.more}

    def response(self) -> Response:
        """What is sent."""
        body = json.dumps(self.to_plain(), ensure_ascii=False).encode("utf-8", "replace")
        return Response(body, self.status, dict(self.headers), MEDIA_TYPE)


def from_error(error: SfumatoError) -> Problem:
    """A problem of what was raised on purpose: its words are safe to show.

    Parameters
    ----------
    error
        What was raised.
    """
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    headers: dict[str, str] = {}
    if status in (429, 503):
        headers["Retry-After"] = str(error.seconds if isinstance(error, LimitReached) else 60)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Problem(status, str(error), {}, headers)


def from_validation(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """A problem of a body that is not as it should be: places and sentences, never what was sent.

    Parameters
    ----------
    errors
        As pydantic lists them.
    """
    told = [{"at": [_short(part) for part in one["loc"][1:]], "message": _sentence(one)} for one in errors[:_MOST]]
    return Problem(422, "The request cannot be read as it is.", {"errors": told})


def _short(part: Any) -> Any:
    return part if isinstance(part, int) else str(part)[:60]


def _sentence(error: Mapping[str, Any]) -> str:
    kind = str(error["type"])
    if kind == "json_invalid":
        return "This is no JSON."
    return "This is not known here." if kind == "extra_forbidden" else str(error["msg"])
