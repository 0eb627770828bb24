"""Pictures of what a gate released: bars of counts, parallel boxes, survival curves, estimates with their intervals.

They are drawn from a release alone, never from data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.render.drawing import INK, MUTED, ORIGINAL, PAPER, RELEASED, RISKY, RULE, WASH, WIDTH, Drawing, shortened

__all__ = ["bars", "boxes", "forest", "picture_of", "survival"]

_LABELS = 128.0
_ROW = 22.0
_MOST_ROWS = 40
_MOST_CURVES = 6
_CURVES = ((RELEASED, ""), (RISKY, "6 3"), (ORIGINAL, "2 3"), (INK, "9 3 2 3"), (MUTED, "1 2"), (RELEASED, "12 4"))


def picture_of(content: Mapping[str, Any], name: str = "picture") -> str | None:
    """The picture of a release, where there is one for what it holds.

    Parameters
    ----------
    content
        Of a release: `columns`, `rows`, `by`, `exact`, and `boxes` where it has some.
    name
        Unique in the page.

    Returns
    -------
    str or None
        An `svg` element.

    Examples
    --------
    >>> content = {"columns": ["sex", "count"], "rows": [["F", 12], ["M", 9]], "by": [["sex", ""]]}
    >>> picture_of(content)[:20]
    '<svg viewBox="0 0 42'
    """
    columns, rows = list(content["columns"]), list(content["rows"])
    if not rows or len(rows) > 2_000:
        return None
    if "boxes" in content:
        return boxes(
            [
                (str(label), float(a), float(b), float(c), float(d), float(e))
                for label, a, b, c, d, e in content["boxes"]
            ],
            name,
        )
    if {"term", "estimate", "low", "high"} <= set(columns):
        term, middle, low, high = (columns.index(one) for one in ("term", "estimate", "low", "high"))
        return forest([(str(row[term]), float(row[middle]), float(row[low]), float(row[high])) for row in rows], name)
    if {"at_risk", "survival"} <= set(columns):
        return survival(*_curves(columns, rows), name)
    if len(content.get("by", ())) == 1 and len(rows) <= _MOST_ROWS:
        what = next((one for one in ("mean", "sum", "count") if one in columns), None)
        if what is not None:
            at = columns.index(what)
            told = [(str(row[0]), float(row[at])) for row in rows if row[at] is not None]
            return bars(told, columns[0], what, name) if told else None
    return None


def _curves(columns: list[str], rows: list[Any]) -> tuple[list[str], dict[str, list[float]]]:
    """Names of the intervals, and by group the survival at the end of each."""
    time = columns.index("at_risk") - 1
    curves: dict[str, list[float]] = {}
    intervals: dict[str, None] = {}
    for row in rows:
        group = ", ".join(map(str, row[:time])) or "all"
        curves.setdefault(group, []).append(float(row[columns.index("survival")]))
        intervals.setdefault(str(row[time]))
    return list(intervals), curves


def bars(values: Sequence[tuple[str, float]], by: str, what: str, name: str = "picture") -> str:
    """A bar for each group, with its figure at the end.

    Parameters
    ----------
    values
        Label and value.
    by, what
        What the groups are of, and what the figures are.
    name
        Unique in the page.
    """
    drawing = Drawing(
        WIDTH,
        16 + _ROW * len(values),
        name,
        f"{what.capitalize()} by {by}",
        "A bar for each group; the table has the figures.",
    )
    low, high = min(0.0, *(v for _, v in values)), max(0.0, *(v for _, v in values))
    room = WIDTH - _LABELS - 70
    scale = room / (high - low or 1)
    zero = _LABELS - low * scale
    for i, (label, value) in enumerate(values):
        y = 8 + _ROW * i
        left, right = sorted((zero, zero + value * scale))
        drawing.text(_LABELS - 8, y + _ROW / 2, shortened(label, _LABELS - 10), anchor="end")
        drawing.rectangle(left, y + 1, right - left, _ROW - 2, fill=RELEASED)
        drawing.text(max(right, zero) + 6, y + _ROW / 2, _figure(value), colour=MUTED, size=11)
    drawing.line(zero, 4, zero, 12 + _ROW * len(values), colour=MUTED)
    return drawing.to_svg()


def boxes(values: Sequence[tuple[str, float, float, float, float, float]], name: str = "picture") -> str:
    """Parallel boxes: label, end of the lower whisker, quartile, median, quartile, end of the upper whisker."""
    low, high = min(one[1] for one in values), max(one[5] for one in values)
    drawing = Drawing(
        WIDTH,
        34 + 26 * len(values),
        name,
        "Parallel boxes",
        "Of each group the median, the quartiles as a box and the outer tenths as whiskers; no single value is shown.",
    )
    at = _scale(low, high, _LABELS, WIDTH - 12)
    for i, (label, *five) in enumerate(values):
        y, (first, lower, middle, upper, last) = 8 + 26 * i, (at(one) for one in five)
        drawing.text(_LABELS - 10, y + 13, shortened(label, _LABELS - 12), anchor="end")
        drawing.line(first, y + 13, last, y + 13, colour=MUTED)
        for end in (first, last):
            drawing.line(end, y + 8, end, y + 18, colour=MUTED)
        drawing.rectangle(lower, y + 4, upper - lower, 18, fill=WASH, colour=RELEASED, line=1.5)
        drawing.line(middle, y + 4, middle, y + 22, colour=RELEASED, width=2.5)
    _axis(drawing, low, high, at, 10 + 26 * len(values))
    return drawing.to_svg()


def survival(intervals: Sequence[str], curves: Mapping[str, Sequence[float]], name: str = "picture") -> str:
    """Survival at the ends of intervals, a stepped line for each group; lines differ in their dashes too.

    Parameters
    ----------
    intervals
        Their names.
    curves
        By group, the survival at the end of each interval.
    name
        Unique in the page.
    """
    shown = dict(list(curves.items())[:_MOST_CURVES])
    many = max(len(intervals), 1)
    drawing = Drawing(
        WIDTH,
        250 + 18 * len(shown),
        name,
        "Survival",
        f"The share without the event at the end of each interval, from {intervals[0]} to {intervals[-1]}.",
    )
    left, right, top, bottom = 38.0, WIDTH - 10.0, 12.0, 205.0
    for tenth in (0, 0.25, 0.5, 0.75, 1):
        y = bottom - tenth * (bottom - top)
        drawing.line(left, y, right, y, colour=RULE)
        drawing.text(left - 6, y, f"{tenth:g}", anchor="end", colour=MUTED, size=11)
    step = (right - left) / many
    for i in range(0, many, max(1, math.ceil(many * 62 / (right - left)))):
        drawing.text(left + (i + 0.5) * step, bottom + 14, intervals[i], anchor="middle", colour=MUTED, size=10)
    for i, (group, values) in enumerate(shown.items()):
        colour, dash = _CURVES[i]
        points, y = [f"M {left:.1f} {top:.1f}"], top
        for j, value in enumerate(values):
            points.append(f"L {left + (j + 1) * step:.1f} {y:.1f}")
            y = bottom - min(max(value, 0), 1) * (bottom - top)
            points.append(f"L {left + (j + 1) * step:.1f} {y:.1f}")
        drawing.path(" ".join(points), colour=colour, width=2, dash=dash)
        drawing.line(left, 240 + 18 * i, left + 34, 240 + 18 * i, colour=colour, width=2, dash=dash)
        drawing.text(left + 42, 240 + 18 * i, shortened(group, 320))
    return drawing.to_svg()


def forest(rows: Sequence[tuple[str, float, float, float]], name: str = "picture") -> str:
    """Estimates with their intervals: term, estimate, low, high. The intercept is left out where there is more."""
    shown = [row for row in rows if row[0] != "Intercept" and all(map(math.isfinite, row[1:]))][:_MOST_ROWS]
    shown = shown or [row for row in rows if all(map(math.isfinite, row[1:]))][:_MOST_ROWS]
    if not shown:
        return ""
    drawing = Drawing(
        WIDTH, 34 + _ROW * len(shown), name, "Estimates", "Each estimate with its interval, and a line at nought."
    )
    low, high = min(0.0, *(one[2] for one in shown)), max(0.0, *(one[3] for one in shown))
    at = _scale(low, high, _LABELS + 8, WIDTH - 62)
    drawing.line(at(0), 4, at(0), 10 + _ROW * len(shown), colour=RULE, width=1.5)
    for i, (term, estimate, lower, upper) in enumerate(shown):
        y = 8 + _ROW * (i + 0.5)
        drawing.text(_LABELS, y, shortened(term, _LABELS - 2), anchor="end")
        drawing.line(at(lower), y, at(upper), y, colour=RELEASED, width=1.8)
        drawing.rectangle(at(estimate) - 4, y - 4, 8, 8, fill=RELEASED, colour=PAPER)
        drawing.text(WIDTH - 4, y, _figure(estimate), anchor="end", colour=MUTED, size=11)
    _axis(drawing, low, high, at, 10 + _ROW * len(shown))
    return drawing.to_svg()


def _scale(low: float, high: float, left: float, right: float) -> Any:
    wide = high - low or 1.0
    return lambda value: left + (value - low) / wide * (right - left)


def _axis(drawing: Drawing, low: float, high: float, at: Any, y: float) -> None:
    drawing.line(at(low), y, at(high), y, colour=MUTED)
    for tick in _ticks(low, high):
        drawing.line(at(tick), y, at(tick), y + 4, colour=MUTED)
        drawing.text(at(tick), y + 13, _figure(tick), anchor="middle", colour=MUTED, size=10)


def _ticks(low: float, high: float, many: int = 4) -> list[float]:
    wide = high - low
    if wide <= 0:
        return [low]
    rough = wide / many
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(one * unit for one in (1, 2, 5, 10) if one * unit >= rough)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _figure(value: float) -> str:
    if value == int(value) and abs(value) < 1e12:
        return f"{int(value):,}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")
