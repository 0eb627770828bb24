"""Coefficients of one model side by side: original, released as it is, and with the noise taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sfumato.render.drawing import INK, MUTED, ORIGINAL, PAPER, RELEASED, RULE, WIDTH, Drawing, shortened

__all__ = ["Line", "beside"]

MOST = 30
"""Coefficients that are drawn: those that moved most."""
_LABEL, _STEP, _GAP, _AXIS, _MARGIN = 16, 12, 10, 34, 14

End = float | None
Interval = tuple[float, End, End]
Across = Callable[[float], float]


@dataclass(frozen=True)
class Line:
    """A coefficient.

    Parameters
    ----------
    label
        Its name.
    unit
        Its standard error in the original fit, which it is drawn in, so that all stand on one axis.
    original, released, corrected
        Estimate with the ends of its interval, None where there is no bound; None where a fit does not have it.
    """

    label: str
    unit: float
    original: Interval
    released: Interval | None
    corrected: Interval | None

    @property
    def drawn(self) -> Iterator[tuple[str, tuple[float, End, End]]]:
        """Each side that there is, in its unit."""
        for side, interval in (("o", self.original), ("r", self.released), ("c", self.corrected)):
            if interval is not None:
                middle, low, high = (None if end is None else end / self.unit for end in interval)
                assert middle is not None
                yield side, (middle, low, high)

    @property
    def moved(self) -> float:
        """How far it moved, in its unit."""
        return 0.0 if self.released is None else abs(self.released[0] - self.original[0]) / self.unit


def beside(lines: Sequence[Line], name: str) -> str:
    """A forest of coefficients: original as a dot, released as an open square, without noise as a diamond.

    Parameters
    ----------
    lines
        In their order; of more than 30 those that moved most.
    name
        Unique in the page.

    Examples
    --------
    >>> beside([Line("age", 0.5, (1.0, 0.0, 2.0), (0.8, -0.2, 1.8), None)], "p")[:20]
    '<svg viewBox="0 0 42'
    """
    most = sorted(range(len(lines)), key=lambda i: (-lines[i].moved, i))[:MOST]
    shown = [lines[i] for i in sorted(most)]
    low, high = _span(shown)
    tall = sum(_LABEL + _STEP * len(list(line.drawn)) + _GAP for line in shown)
    told = "Intervals in standard errors of the original fit: original a dot, released as it is an open square, with "
    told += "the noise taken out a diamond. The table has the figures."
    drawing = Drawing(WIDTH, tall + _AXIS, name, "Coefficients side by side", told)

    def across(value: float) -> float:
        return _MARGIN + (WIDTH - 2 * _MARGIN) * (min(max(value, low), high) - low) / (high - low)

    drawing.line(across(0), 0, across(0), tall, colour=RULE)
    y = 0.0
    for line in shown:
        drawing.text(_MARGIN, y + _LABEL / 2, shortened(line.label, WIDTH - 2 * _MARGIN))
        y += _LABEL
        for side, (middle, left, right) in line.drawn:
            y += _STEP
            _interval(drawing, side, y - _STEP / 2, across(middle), _end(across, left, low), _end(across, right, high))
        y += _GAP
    _axis(drawing, across, low, high, tall)
    return drawing.to_svg()


def _span(lines: Sequence[Line]) -> tuple[float, float]:
    """What the axis holds: no effect, and everything but ends that lie far out where noise was taken out."""
    sides = [drawn for line in lines for drawn in line.drawn]
    plain = [end for side, ends in sides for end in ends if end is not None and side != "c"]
    middles = [ends[0] for _, ends in sides]
    low, high = min([0.0, *plain, *middles]), max([0.0, *plain, *middles])
    room = (high - low) or 1.0
    far = [end for side, ends in sides for end in ends if end is not None and side == "c"]
    low = min([low, *(end for end in far if end >= low - room)])
    high = max([high, *(end for end in far if end <= high + room)])
    return low - 0.03 * room, high + 0.03 * room


def _end(across: Across, end: End, bound: float) -> tuple[float, bool]:
    """Where an interval ends, and whether it goes on beyond what is drawn."""
    beyond = end is None or (end < bound if bound < 0 else end > bound)
    return across(bound if end is None else end), beyond


def _interval(
    drawing: Drawing, side: str, y: float, middle: float, left: tuple[float, bool], right: tuple[float, bool]
) -> None:
    colour = ORIGINAL if side == "o" else RELEASED
    drawing.line(left[0], y, right[0], y, colour=colour, width=1.4)
    for (x, beyond), back in ((left, 8.0), (right, -8.0)):
        if beyond:
            drawing.arrow(x + back, y, x, y, colour=colour)
    if side == "o":
        drawing.circle(middle, y, 3.6, fill=ORIGINAL, colour=ORIGINAL)
    elif side == "r":
        drawing.rectangle(middle - 3.4, y - 3.4, 6.8, 6.8, fill=PAPER, colour=RELEASED, line=1.6)
    else:
        drawing.polygon([(middle - 5, y), (middle, y - 5), (middle + 5, y), (middle, y + 5)], fill=RELEASED)


def _axis(drawing: Drawing, across: Across, low: float, high: float, tall: float) -> None:
    drawing.line(_MARGIN, tall, WIDTH - _MARGIN, tall, colour=MUTED)
    for tick in _ticks(low, high):
        drawing.line(across(tick), tall, across(tick), tall + 4, colour=MUTED)
        drawing.text(across(tick), tall + 11, f"{tick:g}".replace("-", "−"), anchor="middle", colour=MUTED, size=10)
    drawing.text(WIDTH / 2, tall + 26, "in standard errors of the original fit", anchor="middle", colour=INK, size=11)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, at most eight."""
    rough = (high - low) / 7
    power = 10.0 ** len(str(int(rough))) / 10 if rough >= 1 else 1.0
    step = next((nice * power for nice in (1, 2, 5, 10) if nice * power >= rough), 10 * power)
    first = int(low // step) + 1
    return [i * step for i in range(first, int(high // step) + 1)]
