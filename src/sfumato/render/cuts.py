"""A histogram with the cut points of bands."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.render.drawing import INK, MUTED, ORIGINAL, RELEASED, WASH, WIDTH, Drawing

__all__ = ["histogram_with_cuts"]

_TOP, _HIGH, _FOOT, _STUB = 22, 120, 20, 4
_CHARACTER = 6.2


def histogram_with_cuts(
    bars: Sequence[tuple[float, float, int | None]], points: Sequence[float], name: str, title: str
) -> str:
    """Counts in narrow intervals as upright bars, and a broken line with its number where each band begins.

    Parameters
    ----------
    bars
        Low end, high end, count; None for few, which are drawn as an outlined stub.
    points
        Cut points; those beyond the bars are drawn at their edge.
    name
        Unique in the page.
    title
        What a screen reader says first.

    Examples
    --------
    >>> histogram_with_cuts([(0, 10, 5), (10, 20, None)], [10], "p", "age")[:21]
    '<svg viewBox="0 0 420'
    """
    told = "A bar for each narrow interval, and a broken line where each band begins; the tables have the figures."
    drawing = Drawing(WIDTH, _TOP + _HIGH + _FOOT, name, title, told)
    low, high = bars[0][0], bars[-1][1]
    most = max((count for *_, count in bars if count is not None), default=0) or 1
    floor = _TOP + _HIGH

    def at(value: float) -> float:
        return 6 + (WIDTH - 12) * (min(max(value, low), high) - low) / (high - low)

    for begin, end, count in bars:
        wide = max(at(end) - at(begin) - 1, 0.5)
        if count is None:
            drawing.rectangle(at(begin) + 0.5, floor - _STUB, wide, _STUB, fill=WASH, colour=ORIGINAL)
        elif count:
            tall = max((_HIGH - 6) * count / most, 1)
            drawing.rectangle(at(begin) + 0.5, floor - tall, wide, tall, fill=ORIGINAL)
    drawing.line(4, floor, WIDTH - 4, floor, colour=MUTED)
    free = -1.0
    for point in points:
        x, said = at(point), f"{point:g}".replace("-", "−")
        drawing.line(x, _TOP - 4, x, floor, colour=RELEASED, width=1.6, dash="4 3")
        half = _CHARACTER * len(said) / 2
        if x - half > free:
            drawing.text(min(max(x, half + 2), WIDTH - half - 2), 9, said, anchor="middle", colour=INK, size=11)
            free = x + half + 4
    for x, value, anchor in ((4, low, "start"), (WIDTH - 4, high, "end")):
        said = f"{value:g}".replace("-", "−")
        drawing.text(x, floor + 11, said, anchor="start" if anchor == "start" else "end", colour=MUTED, size=11)
    return drawing.to_svg()
