"""Pages from templates: everything is escaped, nothing is missing without a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from sfumato.data.unseen import seen
from sfumato.web.problems import Problem
from sfumato.web.static_files import StaticFiles

__all__ = ["VENDOR", "refuse_without_vendor", "rendered", "shown"]

_TEMPLATES = Path(__file__).parents[1]
VENDOR = ("vendor/htmx.min.js", "vendor/pico.min.css")
"""Files of others that pages need."""


_PIECES = re.compile(r"(<textarea\b.*?</textarea>|<script\b.*?</script>|<[^>]*>)|[^<]+", re.DOTALL)
"""Tags, with what forms send and scripts read; and the texts between them."""
_LABELS = re.compile(' (?:aria-label|title|placeholder)="[^"]*"')


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["figure"] = _figure
    environment.filters["code"] = _code
    environment.filters["short"] = lambda value: f"{float(value):.4g}"
    environment.globals["pairs"] = lambda names: [(name, name) for name in names]
    return environment


def _code(text: str) -> Markup:
    """A sentence, with what stands in backticks set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _figure(value: Any) -> str:
    """A figure as people read it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    return f"{value:.6g}".replace("-", "−")


def refuse_without_vendor(static: StaticFiles) -> None:
    """Refuse to show pages whose files were not fetched.

    Raises
    ------
    Problem
        With what to do.
    """
    if any(name not in static for name in VENDOR):
        raise Problem(503, "Pages need two files that are not here (htmx, Pico CSS). In a clone run: make vendor")


def rendered(template: str, static: StaticFiles, context: Mapping[str, Any]) -> str:
    """A template as text.

    Parameters
    ----------
    template
        Its path below `web`.
    static
        Files that it links to.
    context
        What it says.
    """
    return _seen(_environment().get_template(template).render(static=static.url, **context))


def _seen(page: str) -> str:
    """A page in which characters that are not seen are written out, but for what its forms send."""
    if seen(page, lines=True) == page:
        return page
    return _PIECES.sub(lambda piece: _LABELS.sub(_in_page, piece[0]) if piece[1] else _in_page(piece), page)


def _in_page(piece: re.Match[str]) -> str:
    return seen(piece[0], lines=True)


def shown(template: str, static: StaticFiles, context: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A template as what is sent."""
    return HTMLResponse(rendered(template, static, context), status)
