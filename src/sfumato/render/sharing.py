"""Who shares with whom, as a picture: organisations and groups with their members, and arrows between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sfumato.render.drawing import GOOD, INK, MUTED, PAPER, RISKY, RULE, WASH, WIDTH, Drawing, shortened

__all__ = ["Member", "sharing"]

_LEFT, _PLACE, _ROW = 44.0, 112.0, 30.0
_PILL = 74.0
_ACROSS = 3


@dataclass(frozen=True)
class Member:
    """Somebody, as the picture needs them.

    Parameters
    ----------
    name, kind
        `kind` is `user`, `organisation`, `group` or `public`.
    """

    name: str
    kind: str


def sharing(
    people: Sequence[Member],
    edges: Collection[tuple[str, str]],
    proposed: Collection[tuple[str, str]] = (),
    reached: Collection[str] = (),
    name: str = "sharing",
) -> str:
    """Draw organisations and groups one below the other, their members beside them, and arrows for what is passed on.

    Parameters
    ----------
    people
        All who are there; the public is drawn at the foot.
    edges
        Pairs of names: what the first holds may reach the second.
    proposed
        Edges that are not there yet: drawn dashed.
    reached
        Who would come to know more by them: marked.
    name
        Unique in the page.

    Returns
    -------
    str
        An `svg` element.

    Examples
    --------
    >>> sharing([Member("north", "organisation"), Member("ann", "user")], [("ann", "north"), ("north", "ann")])[:12]
    '<svg viewBox'
    """
    order = ("organisation", "group")
    places = [one for kind in order for one in people if one.kind == kind]
    all_edges = {*edges, *proposed}
    rows: list[tuple[Member | None, list[str]]] = []
    homes: set[str] = set()
    for home in places:
        own = [
            one.name
            for one in people
            if one.kind == "user" and {(one.name, home.name), (home.name, one.name)} & all_edges
        ]
        rows.append((home, own))
        homes |= set(own)
    alone = [one.name for one in people if one.kind == "user" and one.name not in homes]
    if alone:
        rows.append((None, alone))
    heights = [_ROW * max(1, -(-len(own) // _ACROSS)) + 14 for _, own in rows]
    has_public = any(one.kind == "public" for one in people)
    drawing = Drawing(
        WIDTH,
        sum(heights) + 20 + (46 if has_public else 0),
        name,
        "Who shares with whom",
        "Organisations and groups with their members; the list beside the picture says the same in words.",
    )
    marked, fresh = set(reached), set(proposed)
    at: dict[str, float] = {}
    y = 10.0
    for (place, own), height in zip(rows, heights, strict=True):
        middle = y + (height - 14) / 2
        if place is not None:
            at[place.name] = middle
            _place(drawing, place, middle, place.name in marked)
        else:
            drawing.text(_LEFT + 4, middle, "in none", colour=MUTED)
        for i, user in enumerate(own):
            x = _LEFT + _PLACE + 26 + (i % _ACROSS) * (_PILL + 6)
            line = y + _ROW * (i // _ACROSS) + _ROW / 2
            if place is not None and i % _ACROSS == 0:
                _membership(drawing, place.name, user, middle, x, line, set(edges), fresh)
            _pill(drawing, user, x, line, user in marked)
            if place is not None and i % _ACROSS and {(user, place.name), (place.name, user)} & fresh:
                drawing.line(x, line + 13, x + _PILL, line + 13, colour=RISKY, width=2, dash="4 3")
        drawing.line(_LEFT, y + height - 6, WIDTH - 6, y + height - 6, colour=RULE, width=0.75)
        y += height
    if has_public:
        at["public"] = y + 22
        drawing.rectangle(_LEFT, y + 8, WIDTH - _LEFT - 8, 28, fill=WASH, colour=MUTED, dash="2 3", round=14)
        drawing.text((_LEFT + WIDTH - 8) / 2, y + 22, "the public: what it holds, everybody has", anchor="middle")
    _between(drawing, at, {e for e in edges if set(e) <= set(at)}, {e for e in fresh if set(e) <= set(at)})
    return drawing.to_svg()


def _place(drawing: Drawing, place: Member, y: float, marked: bool) -> None:
    group = place.kind == "group"
    drawing.rectangle(
        _LEFT, y - 13, _PLACE, 26, fill=WASH, colour=RISKY if marked else INK, line=2 if marked else 1.2,
        dash="5 3" if group else "", round=4,
    )  # fmt: skip
    drawing.text(_LEFT + 8, y, shortened(place.name, _PLACE - 14), bold=True)


def _pill(drawing: Drawing, user: str, x: float, y: float, marked: bool) -> None:
    colour = RISKY if marked else MUTED
    drawing.rectangle(x, y - 10, _PILL, 20, fill=PAPER, colour=colour, line=2 if marked else 1, round=10)
    drawing.text(x + _PILL / 2, y, shortened(user, _PILL - 14, 11), anchor="middle", size=11)


def _membership(
    drawing: Drawing,
    place: str,
    user: str,
    y: float,
    x: float,
    line: float,
    edges: set[tuple[str, str]],
    fresh: set[tuple[str, str]],
) -> None:
    """A line from a place to the first of a row of members; an arrow where it goes one way."""
    new = bool({(user, place), (place, user)} & fresh)
    both = {(user, place), (place, user)} <= edges | fresh
    colour = RISKY if new else MUTED
    drawing.line(_LEFT + _PLACE, y, x, line, colour=colour, width=1.6 if new else 1, dash="4 3" if new else "")
    if not both:
        drawing.arrow(_LEFT + _PLACE, y, x, line, colour=colour)


def _between(
    drawing: Drawing, at: Mapping[str, float], edges: Collection[tuple[str, str]], fresh: Collection[tuple[str, str]]
) -> None:
    """Arcs on the left between places, an arrow at the end that receives."""
    together = sorted({*edges, *fresh}, key=lambda edge: (abs(at[edge[0]] - at[edge[1]]), edge))
    for i, (giver, taker) in enumerate(together):
        new = (giver, taker) in fresh
        out = _LEFT - 10 - 9 * (i % 3)
        y, y2 = at[giver] - 4, at[taker] + 4
        path = f"M {_LEFT:.1f} {y:.1f} L {out:.1f} {y:.1f} L {out:.1f} {y2:.1f} L {_LEFT - 1:.1f} {y2:.1f}"
        drawing.path(
            path, colour=RISKY if new else GOOD, width=2 if new else 1.4, dash="4 3" if new else "", arrow=True
        )
