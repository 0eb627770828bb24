"""Pictures of pages, drawn from what `sfumato.api` gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from sfumato.render.bars import before_and_after

if TYPE_CHECKING:
    from sfumato.report.looks import Look

__all__ = ["Pictured", "pictured"]

_WHAT = {"changed": "", "new": "new", "gone": "leaves", "same": "stays as it is"}


@dataclass(frozen=True)
class Pictured:
    """A column before and after: its picture, and the figures of it.

    Parameters
    ----------
    look
        The figures.
    what
        What happens to it, in a word.
    svg
        The picture; None where there is nothing to draw.
    """

    look: Look
    what: str
    svg: Markup | None


def pictured(looks: Sequence[Look]) -> list[Pictured]:
    """Draw columns before and after."""
    made = []
    for i, look in enumerate(looks):
        svg = None
        if look.picture != "number" and look.bars:
            bars = [(bar.label, bar.before, bar.after) for bar in look.bars]
            title, bands = f"{look.column} before and after", look.picture == "bands"
            svg = Markup(before_and_after(bars, f"look-{i}", title, bands=bands))  # drawn as XML, which escapes
        made.append(Pictured(look, _WHAT[look.what], svg))
    return made
