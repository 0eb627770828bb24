"""From matplotlib's SVG to a small one that stands inside a page: no ids that clash, no fonts, no fixed colours.

Colours are drawn as place-holders and come out as CSS variables with a fallback, so that the page decides what ink is
on light and on dark paper. Equal figures give equal bytes.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["INK", "MUTED", "ORIGINAL", "PAPER", "RELEASED", "RISKY", "RULE", "VARIABLES", "settings", "to_svg"]

INK, MUTED, RULE, PAPER = "#000001", "#000002", "#000003", "#000004"
ORIGINAL, RELEASED, RISKY = "#000005", "#000006", "#000007"
VARIABLES: Mapping[str, str] = {
    INK: "var(--ink, #23272b)",
    MUTED: "var(--muted, #5d646c)",
    RULE: "var(--rule, #d9d5cc)",
    PAPER: "var(--paper, #ffffff)",
    ORIGINAL: "var(--original, #55595e)",
    RELEASED: "var(--released, #0a6aa1)",
    RISKY: "var(--risky, #c2410c)",
}
"""What each place-holder becomes."""
_GEOMETRY = ("d", "x", "y", "width", "height", "transform", "points", "viewBox")
_DROPPED_TAGS = ("metadata", "style")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def settings() -> AbstractContextManager[None]:
    """Matplotlib's settings for a report: small type, light axes, text as text, ids that do not change.

    Examples
    --------
    >>> import matplotlib
    >>> with settings():
    ...     matplotlib.rcParams["svg.fonttype"]
    'none'
    """
    import matplotlib

    return matplotlib.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "sfumato",
            "text.parse_math": False,
            "font.size": 9.5,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.labelsize": 9.5,
            "axes.edgecolor": MUTED,
            "axes.linewidth": 0.6,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.formatter.useoffset": False,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "xtick.labelsize": 9,
            "ytick.labelsize": 9,
            "xtick.major.size": 3,
            "ytick.major.size": 3,
            "lines.solid_capstyle": "butt",
        }
    )


def to_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """Give a figure as an `svg` element for a page.

    Parameters
    ----------
    figure
        Drawn within `settings()`, in the colours of this module.
    name
        Unique in the page; every id starts with it.
    title, description
        What a screen reader says.

    Examples
    --------
    >>> from matplotlib.backends.backend_svg import FigureCanvasSVG
    >>> from matplotlib.figure import Figure
    >>> with settings():
    ...     figure = Figure(figsize=(2, 1))
    ...     FigureCanvasSVG(figure).figure is figure
    ...     to_svg(figure, name="empty", title="Nothing", description="An empty figure.")[:28]
    True
    '<svg viewBox="0 0 144 72" ro'
    """
    raw = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(raw, format="svg", transparent=True, metadata=nothing)
    root = _plain(ET.fromstring(raw.getvalue()))
    _rename(root, name)
    _tidy(root)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-t {name}-d", "stroke-linejoin": "round"}
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(tag, {"id": f"{name}-{tag[0]}"})
        element.text = text
        root.insert(position, element)
    return ET.tostring(root, encoding="unicode")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _plain(element: ET.Element) -> ET.Element:
    """The same tree without namespaces (a page needs none), without metadata and white space."""
    made = ET.Element(_local(element.tag), {_local(k): v for k, v in element.attrib.items()})
    made.text = element.text if made.tag in ("text", "tspan") else None
    made.extend(_plain(child) for child in element if _local(child.tag) not in _DROPPED_TAGS)
    return made


def _rename(root: ET.Element, name: str) -> None:
    """Keep only the ids that something refers to, and make them unique in the page."""
    used: dict[str, str] = {}

    def new(match: re.Match[str]) -> str:
        return "#" + used.setdefault(match.group(1), f"{name}-{len(used)}")

    for element in root.iter():
        for key in ("href", "clip-path"):
            if key in element.attrib:
                element.set(key, re.sub(r"#([\w-]+)", new, element.attrib[key]))
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in used:
            element.set("id", used[old])


def _tidy(element: ET.Element) -> None:
    """Colours to variables, coordinates to two decimals, one style for many equal marks, no empty groups."""
    for key in _GEOMETRY:
        if key in element.attrib:
            element.set(key, _LONG_NUMBER.sub(lambda m: f"{float(m.group()):.2f}", element.attrib[key]))
    if "d" in element.attrib:
        element.set("d", " ".join(element.attrib["d"].split()))
    if element.attrib.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    if "style" in element.attrib:
        element.set("style", _style(element.attrib["style"]))
    for child in element:
        _tidy(child)
    styles = {child.attrib.get("style") for child in element}
    if element.tag == "g" and len(element) > 1 and len(styles) == 1 and all(c.tag == "use" for c in element):
        style = styles.pop()
        for child in element:
            child.attrib.pop("style", None)
        element.attrib |= {"style": style} if style else {}
    kept = [grandchild for child in element for grandchild in _unwrapped(child)]
    element[:] = kept


def _unwrapped(child: ET.Element) -> list[ET.Element]:
    """The children of a group that says nothing, else the element itself; nothing of an empty group."""
    if child.tag in ("g", "defs") and not child.attrib and (child.tag == "g" or not len(child)):
        return list(child)
    return [child]


def _style(style: str) -> str:
    """A style in variables, without font families (the page's is inherited)."""
    parts = (part.strip().partition(":") for part in style.split(";") if part.strip())
    kept = {key.strip(): value.strip() for key, _, value in parts if key.strip() != "font-family"}
    return "; ".join(f"{key}: {VARIABLES.get(value, value)}" for key, value in kept.items())
