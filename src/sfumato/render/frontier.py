"""What tuning found, for people: a table, a picture of risk against utility, and a page with both."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from sfumato.data.finding import Finding
from sfumato.measures.saying import percent
from sfumato.render import svg, words
from sfumato.render.html import rendered
from sfumato.render.text import plain_text
from sfumato.tuning.averaging import Point
from sfumato.tuning.tune import Tuned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from rich.console import Console

__all__ = ["frontier_page", "frontier_picture", "show_tuned"]

_NEAR = 0.07
"""Share of the axes within which a second label would be hard to read."""
_ASSUMED = (
    "The search assumed that figures rise or fall steadily with the parameter. Each is a mean over runs with fixed, "
    "public secrets, with a 95% interval; the limit is met where the far end of the interval meets it. The release "
    "that is made later has a draw of its own, which may do a little better or worse: protect measures and judges it."
)


@dataclass(frozen=True)
class _Colours:
    line: str
    limit: str
    muted: str


_PAGE = _Colours(svg.RELEASED, svg.RISKY, svg.MUTED)
_FILE = _Colours("#0a6aa1", "#c2410c", "#5d646c")


def show_tuned(tuned: Tuned, console: Console) -> None:
    """Print what was tried and what was found.

    Parameters
    ----------
    tuned
        The custodian's, and so should the console be.
    console
        Where to.
    """
    from rich.table import Table

    table = Table(box=None, header_style="bold", padding=(0, 1))
    for name in ("", tuned.parameter, "Limit", "Figure", "95% interval", *_labels(tuned), "Kept"):
        table.add_column(plain_text(name), justify="right" if name else "left", overflow="fold")
    for point in tuned.path:
        mark = "→" if point.value == tuned.value else "✓" if point.met else "✕"
        table.add_row(*map(plain_text, (mark, *_cells(tuned, point), percent(point.kept))))
    console.print()
    for number, limit in enumerate(tuned.limits, 1):
        console.print(plain_text(f"Limit {number}: {limit}"))
    console.print(table)
    console.print()
    console.print(plain_text(_verdict(tuned), style="bold green" if tuned.met else "bold red"))


def frontier_picture(tuned: Tuned, kind: Literal["png", "svg"]) -> bytes:
    """Draw utility over risk, one point for each value tried.

    Parameters
    ----------
    tuned
        What tuning found. The first limit's figure is drawn, and the first utility figure.
    kind
        `png` or `svg`.

    Returns
    -------
    bytes
        Equal results give equal bytes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    raw = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type") if kind == "svg" else ("Software",))
    with svg.settings():
        figure = _figure(6.4, 4.4)
        FigureCanvasAgg(figure)
        _paint(figure.subplots(), tuned, _FILE)
        figure.savefig(raw, format=kind, dpi=160, metadata=nothing)
    return raw.getvalue()


def frontier_page(tuned: Tuned) -> bytes:
    """Give what tuning found as one page of HTML: no network, no script. It is the custodian's.

    Parameters
    ----------
    tuned
        What tuning found.
    """
    from markupsafe import Markup
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    with svg.settings():
        figure = _figure(5.6, 4.0)
        FigureCanvasSVG(figure)
        _paint(figure.subplots(), tuned, _PAGE)
        words_of_it = f"{_utility_axis(tuned)} over {_risk_axis(tuned)}, one point for each value of {tuned.parameter}."
        drawing = svg.to_svg(figure, name="frontier", title="Risk and utility", description=words_of_it)
    page = rendered(
        "tune.html.j2",
        tuned=tuned,
        title=tuned.plan.title,
        version=version("sfumato"),
        verdict=_verdict(tuned),
        limits=[str(limit) for limit in tuned.limits],
        drawing=Markup(drawing),  # drawn here, its text escaped
        labels=_labels(tuned),
        rows=[(p, _cells(tuned, p), percent(p.kept), p.value == tuned.value) for p in tuned.path],
        assumed=_ASSUMED,
        notes=tuned.notes,
    )
    return page.encode()


def _verdict(tuned: Tuned) -> str:
    if tuned.met:
        kept = next(point.kept for point in tuned.path if point.value == tuned.value)
        runs = f"{tuned.fresh} further runs, with other secrets" if tuned.fresh else "single runs with it"
        found = f"{tuned.parameter} = {_value(tuned, tuned.value)}"
        return f"{found} is the least of the range that meets the limits. Of {runs}, {percent(kept)} kept to them."
    ended = f"{tuned.parameter} = {_value(tuned, tuned.value)}"
    return f"No value that was tried meets the limits; the search ended at {ended}."


def _value(tuned: Tuned, value: float) -> str:
    stated = tuned.stated(value)
    return stated if isinstance(stated, str) else words.plain_number(stated, 6)


def _labels(tuned: Tuned) -> tuple[str, ...]:
    return tuple(tuned.path[0].utility)


def _cells(tuned: Tuned, point: Point) -> tuple[str, ...]:
    """Value, number of the limit that is nearest to breaking, its figure and interval, and the utility figures."""
    line = Finding(tuned.limits[point.nearest].limit.measure)

    def shown(value: float | None) -> str:
        return words.figure(line, value, internal=True)

    interval = "–" if point.interval is None else " to ".join(map(shown, point.interval))
    lost = (words.figure(Finding(_measure(name)), value, internal=True) for name, value in point.utility.items())
    return (_value(tuned, point.value), str(point.nearest + 1), shown(point.risk), interval, *lost)


def _measure(label: str) -> str:
    return label.partition("[")[0]


def _risk_axis(tuned: Tuned) -> str:
    return f"{tuned.limits[0].figure}, with 95% interval"


def _utility_axis(tuned: Tuned) -> str:
    label = _labels(tuned)[0]
    better = {"high": ", higher is better", "low": ", lower is better"}.get(words.word(_measure(label)).better, "")
    return f"{label}{better}"


def _figure(width: float, height: float) -> Drawing:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _paint(ax: Axes, tuned: Tuned, colours: _Colours) -> None:
    label = _labels(tuned)[0]
    known = [
        (p.value, f.value, f.low, f.high, y)
        for p in tuned.path
        if (f := p.figures[0]) is not None and (y := p.utility[label]) is not None
    ]
    values, risk, low, high, lost = zip(*known, strict=True) if known else ((), (), (), (), ())
    ends = [[r - a for r, a in zip(risk, low, strict=True)], [b - r for r, b in zip(risk, high, strict=True)]]
    ax.errorbar(risk, lost, xerr=ends, color=colours.line, ecolor=colours.muted, elinewidth=0.8, linewidth=1.2)
    ax.plot(risk, lost, linestyle="none", marker="o", markersize=4, color=colours.line)
    ax.axvline(tuned.limits[0].limit.bound, color=colours.limit, linewidth=1, linestyle=(0, (4, 2)))
    chosen = [(r, y) for v, r, y in zip(values, risk, lost, strict=True) if v == tuned.value and tuned.met]
    for r, y in chosen:
        ax.plot([r], [y], marker="D", markersize=7, color=colours.limit, markerfacecolor="none", markeredgewidth=1.6)
    ax.margins(x=0.08, y=0.1)
    ax.set(xlabel=_risk_axis(tuned), ylabel=_utility_axis(tuned))
    if words.word(tuned.limits[0].limit.measure).form == "share":
        from matplotlib.ticker import PercentFormatter

        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    _label(ax, tuned, values, risk, lost)


def _label(ax: Axes, tuned: Tuned, values: Sequence[float], x: Sequence[float], y: Sequence[float]) -> None:
    """Write its value beside each point that has room for it, the value found before all others."""
    ax.autoscale_view()
    to_axes = ax.transScale + ax.transLimits
    placed: list[tuple[float, float]] = []
    for value, across, up in sorted(zip(values, x, y, strict=True), key=lambda p: (p[0] != tuned.value, p[0])):
        at, height = (float(v) for v in to_axes.transform((across, up)))
        if all(max(abs(at - a), abs(height - h)) > _NEAR for a, h in placed):
            placed.append((at, height))
            ax.annotate(_value(tuned, value), (across, up), xytext=(5, 5), textcoords="offset points", fontsize=8.5)
