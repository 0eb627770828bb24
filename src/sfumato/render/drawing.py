"""Small pictures for pages, in presentation attributes alone: the policy of a page forbids styles in them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Literal

from sfumato.render import svg

__all__ = [
    "BAD",
    "GOOD",
    "INK",
    "MUTED",
    "ORIGINAL",
    "PAPER",
    "RELEASED",
    "RISKY",
    "RULE",
    "WASH",
    "WIDTH",
    "Drawing",
    "shortened",
]

INK, MUTED, RULE, PAPER = (svg.VARIABLES[one] for one in (svg.INK, svg.MUTED, svg.RULE, svg.PAPER))
ORIGINAL, RELEASED, RISKY = (svg.VARIABLES[one] for one in (svg.ORIGINAL, svg.RELEASED, svg.RISKY))
GOOD, BAD, WASH = "var(--good, #1f6b4a)", "var(--bad, #a8321a)", "var(--plain-wash, #f2f0eb)"
WIDTH = 420
"""Of pictures, in units of which a line of type is 12 high: legible on a telephone too."""
_TYPE = 12.0
_CHARACTER = 7.4
"""About the width of a character."""


class Drawing:
    """An `svg` element that is drawn piece by piece.

    Parameters
    ----------
    width, height
        In units of which a line of type is 12 high.
    name
        Unique in the page; ids start with it.
    title, description
        What a screen reader says.

    Examples
    --------
    >>> drawing = Drawing(20, 10, "one", "A line", "From left to right.")
    >>> drawing.line(0, 5, 20, 5)
    >>> drawing.to_svg()[:26]
    '<svg viewBox="0 0 20 10" r'
    """

    def __init__(self, width: float, height: float, name: str, title: str, description: str) -> None:
        self.width, self.height, self.name = width, height, name
        size = f"0 0 {_number(width)} {_number(height)}"
        told = f"{name}-t {name}-d"
        self._root = ET.Element("svg", {"viewBox": size, "role": "img", "aria-labelledby": told, "font-size": "12"})
        for tag, text in (("title", title), ("desc", description)):
            ET.SubElement(self._root, tag, {"id": f"{name}-{tag[0]}"}).text = text

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: Literal["start", "middle", "end"] = "start",
        colour: str = INK,
        size: float = _TYPE,
        bold: bool = False,
    ) -> None:
        """A line of type; y is its middle."""
        own = {"x": _number(x), "y": _number(y + 0.35 * size), "text-anchor": anchor, "fill": colour}
        if size != _TYPE:
            own["font-size"] = _number(size)
        if bold:
            own["font-weight"] = "600"
        ET.SubElement(self._root, "text", own).text = text

    def line(
        self, x: float, y: float, x2: float, y2: float, *, colour: str = INK, width: float = 1, dash: str = ""
    ) -> None:
        """A straight line."""
        own = {"x1": _number(x), "y1": _number(y), "x2": _number(x2), "y2": _number(y2)}
        ET.SubElement(self._root, "line", own | _stroke(colour, width, dash))

    def rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = WASH,
        colour: str = "none",
        line: float = 1,
        dash: str = "",
        round: float = 0,
    ) -> None:
        """A rectangle from its upper left corner."""
        own = {"x": _number(x), "y": _number(y), "width": _number(max(width, 0)), "height": _number(height)}
        if round:
            own["rx"] = _number(round)
        ET.SubElement(self._root, "rect", own | {"fill": fill} | _stroke(colour, line, dash))

    def circle(
        self, x: float, y: float, radius: float, *, fill: str = "none", colour: str = INK, line: float = 1.5
    ) -> None:
        """A circle."""
        own = {"cx": _number(x), "cy": _number(y), "r": _number(radius), "fill": fill}
        ET.SubElement(self._root, "circle", own | _stroke(colour, line, ""))

    def path(
        self, d: str, *, colour: str = INK, width: float = 1.5, dash: str = "", fill: str = "none", arrow: bool = False
    ) -> None:
        """A path as SVG writes it; with an arrow at its end."""
        own = {"d": d, "fill": fill} | _stroke(colour, width, dash)
        ET.SubElement(self._root, "path", own)
        if arrow:
            numbers = [float(one) for one in d.replace(",", " ").split() if one[-1].isdigit()]
            self.arrow(numbers[-4], numbers[-3], numbers[-2], numbers[-1], colour=colour)

    def arrow(self, x: float, y: float, x2: float, y2: float, *, colour: str = INK, size: float = 7) -> None:
        """The head of an arrow that comes from the first point and ends at the second."""
        far = max(((x2 - x) ** 2 + (y2 - y) ** 2) ** 0.5, 1e-9)
        a, b = (x2 - x) / far * size, (y2 - y) / far * size
        corners = [(x2, y2), (x2 - a - 0.5 * b, y2 - b + 0.5 * a), (x2 - a + 0.5 * b, y2 - b - 0.5 * a)]
        self.polygon(corners, fill=colour)

    def polygon(self, corners: Iterable[tuple[float, float]], *, fill: str, colour: str = "none") -> None:
        """A filled shape."""
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners)
        ET.SubElement(self._root, "polygon", {"points": points, "fill": fill} | _stroke(colour, 1, ""))

    def to_svg(self) -> str:
        """The element as text."""
        return ET.tostring(self._root, encoding="unicode")


def shortened(text: str, width: float, size: float = _TYPE) -> str:
    """As much of a text as stands in a width.

    Examples
    --------
    >>> shortened("gastroenterology", 60), shortened("ear", 60)
    ('gastroe…', 'ear')
    """
    many = max(int(width / (_CHARACTER * size / _TYPE)), 2)
    return text if len(text) <= many else text[: many - 1] + "…"


def _number(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _stroke(colour: str, width: float, dash: str) -> dict[str, str]:
    if colour == "none":
        return {}
    return {"stroke": colour, "stroke-width": _number(width)} | ({"stroke-dasharray": dash} if dash else {})
