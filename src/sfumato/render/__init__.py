"""Reports for people: the page (`html`), its pictures (`plots`), the terminal (`text`), the words (`words`)."""

from __future__ import annotations

from sfumato.render.html import render

__all__ = ["render"]
