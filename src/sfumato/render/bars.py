"""Bars side by side: a column before and after, as counts by band or category; sizes of classes."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.render.drawing import INK, MUTED, ORIGINAL, RELEASED, RISKY, RULE, WASH, WIDTH, Drawing, shortened

__all__ = ["before_and_after", "columns"]

_LABELS, _ROW, _FIGURES = 130, 26, 62
_HIGH = 130

Bars = Sequence[tuple[str, int | None, int | None]]


def before_and_after(bars: Bars, name: str, title: str, *, bands: bool = False) -> str:
    """Counts before (outlined) and after (filled), in rows, or of bands side by side.

    Parameters
    ----------
    bars
        Label, and the counts; None where there is none.
    name
        Unique in the page.
    title
        What a screen reader says first.
    bands
        Whether labels are bands of a number.

    Examples
    --------
    >>> before_and_after([("f", 5, 11), ("m", 6, None)], "p", "sex")[:21]
    '<svg viewBox="0 0 420'
    """
    return _upright(bars, name, title) if bands else _rows(bars, name, title)


def _rows(bars: Bars, name: str, title: str) -> str:
    told = "Two bars for each category, before outlined and after filled; the table has the figures."
    drawing = Drawing(WIDTH, 12 + _ROW * len(bars), name, title, told)
    most = max((count for _, *both in bars for count in both if count is not None), default=0) or 1
    room = WIDTH - _LABELS - _FIGURES
    for i, (label, before, after) in enumerate(bars):
        y = 6 + _ROW * i
        drawing.text(_LABELS - 8, y + _ROW / 2 - 1, shortened(label, _LABELS - 10), anchor="end")
        for count, at, look in ((before, y + 1, ORIGINAL), (after, y + 12, RELEASED)):
            if count is None:
                continue
            wide = room * count / most
            if look == ORIGINAL:
                drawing.rectangle(_LABELS, at, wide, 9, fill=WASH, colour=ORIGINAL)
            else:
                drawing.rectangle(_LABELS, at, wide, 9, fill=RELEASED)
            drawing.text(_LABELS + wide + 5, at + 4.5, f"{count:,}", colour=MUTED, size=10)
    drawing.line(_LABELS, 4, _LABELS, 8 + _ROW * len(bars), colour=MUTED)
    return drawing.to_svg()


def _upright(bars: Bars, name: str, title: str) -> str:
    told = "Two bars for each band, before outlined and after filled; the table has the figures."
    drawing = Drawing(WIDTH, _HIGH + 26, name, title, told)
    most = max((count for _, *both in bars for count in both if count is not None), default=0) or 1
    wide = (WIDTH - 8) / max(len(bars), 1)
    for i, (_, before, after) in enumerate(bars):
        x = 4 + i * wide
        if before is not None:
            high = (_HIGH - 10) * before / most
            drawing.rectangle(x + 1, _HIGH - high, wide * 0.55, high, fill=WASH, colour=ORIGINAL)
        if after is not None:
            high = (_HIGH - 10) * after / most
            drawing.rectangle(x + wide * 0.42, _HIGH - high, wide * 0.5, high, fill=RELEASED)
    drawing.line(2, _HIGH, WIDTH - 2, _HIGH, colour=MUTED)
    _ends(drawing, [label for label, *_ in bars])
    return drawing.to_svg()


def columns(bars: Sequence[tuple[str, float]], name: str, title: str, *, risky: int = 0) -> str:
    """One upright bar for each label, with its figure above; the first few, which are at risk, in the colour of that.

    Parameters
    ----------
    bars
        Label and figure, at most a dozen.
    name, title
        As in `before_and_after`.
    risky
        How many of the first are at risk; these are hatched with an outline too.

    Examples
    --------
    >>> columns([("1", 3.0), ("2", 4.0)], "p", "sizes", risky=1)[:21]
    '<svg viewBox="0 0 420'
    """
    drawing = Drawing(WIDTH, _HIGH + 34, name, title, "A bar for each size; the table has the figures.")
    most = max((figure for _, figure in bars), default=0) or 1
    wide = (WIDTH - 8) / max(len(bars), 1)
    for i, (label, figure) in enumerate(bars):
        x, high = 4 + i * wide, (_HIGH - 14) * figure / most
        top = _HIGH + 10 - high
        fill, colour = (RISKY, INK) if i < risky else (RELEASED, "none")
        drawing.rectangle(x + 0.12 * wide, top, 0.76 * wide, high, fill=fill, colour=colour)
        drawing.text(x + wide / 2, top - 7, f"{figure:,.0f}", anchor="middle", colour=MUTED, size=10)
        drawing.text(x + wide / 2, _HIGH + 22, shortened(label, wide, 10), anchor="middle", size=10)
    drawing.line(2, _HIGH + 10, WIDTH - 2, _HIGH + 10, colour=RULE)
    return drawing.to_svg()


def _ends(drawing: Drawing, labels: Sequence[str]) -> None:
    """The first, the middle and the last label below an axis."""
    places = ((0, "start", 4.0), (len(labels) // 2, "middle", WIDTH / 2), (len(labels) - 1, "end", WIDTH - 4.0))
    taken = set()
    for i, anchor, x in places:
        if labels and i not in taken:
            taken.add(i)
            drawing.text(x, _HIGH + 13, shortened(labels[i], WIDTH / 3.2, 10), anchor=anchor, colour=MUTED, size=10)  # type: ignore[arg-type]
