"""What a page's form sent, read and bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import FormData

from sfumato.web.problems import Problem

__all__ = ["Form", "Given", "Long"]

_MOST_FIELDS, _LONGEST, _LONG = 5_000, 20_000, 1 << 20


@dataclass(frozen=True)
class Given:
    """What a form holds: texts by name.

    Parameters
    ----------
    fields
        Pairs of name and text, in their order.
    """

    fields: Sequence[tuple[str, str]]

    def one(self, name: str, otherwise: str = "") -> str:
        """The last text of a name, without blanks around it."""
        return next((text.strip() for key, text in reversed(self.fields) if key == name), otherwise)

    def whole(self, name: str) -> str:
        """The last text of a name as it was sent."""
        return next((text for key, text in reversed(self.fields) if key == name), "")

    def many(self, name: str) -> list[str]:
        """All texts of a name that are not empty."""
        return [text for key, text in self.fields if key == name and text]

    def below(self, prefix: str) -> dict[str, list[str]]:
        """By what stands behind a prefix, the texts."""
        out: dict[str, list[str]] = {}
        for key, text in self.fields:
            if key.startswith(prefix):
                out.setdefault(key.removeprefix(prefix), []).append(text)
        return out


async def _read(request: Request, longest: int) -> Given:
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise Problem(415, "A page sends its form as a form.")
    read: FormData = await request.form(max_files=0, max_fields=_MOST_FIELDS)
    pairs = [(key, text) for key, text in read.multi_items() if isinstance(text, str)]
    if len(pairs) > _MOST_FIELDS or any(len(text) > longest for _, text in pairs):
        raise Problem(413, "The form is too long.")
    return Given(pairs)


async def _form(request: Request) -> Given:
    return await _read(request, _LONGEST)


async def _long(request: Request) -> Given:
    return await _read(request, _LONG)


Form = Annotated[Given, Depends(_form)]
"""What a page's form sent."""
Long = Annotated[Given, Depends(_long)]
"""The same, where a field may hold a whole plan."""
