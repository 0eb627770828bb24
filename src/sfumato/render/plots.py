"""The report's pictures, drawn: each becomes one or more panels of inline SVG, readable on paper and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.data.unseen import seen
from sfumato.render import svg
from sfumato.render.svg import INK, MUTED, ORIGINAL, PAPER, RELEASED, RISKY, RULE
from sfumato.report.picture import (
    Box,
    Boxes,
    Cell,
    Coefficients,
    Distribution,
    Hidden,
    Picture,
    Points,
    RiskCurves,
    Risky,
    Scatter,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Panel", "draw"]

_WIDTH = 4.4
_SHADES = (0.14, 0.30, 0.50, 0.75)
_MOST_COEFFICIENTS = 30


@dataclass(frozen=True)
class Panel:
    """One drawing of a picture.

    Parameters
    ----------
    title
        What stands above it.
    svg
        The drawing.
    """

    title: str
    svg: str


@dataclass(frozen=True)
class _Drawing:
    title: str
    description: str
    height: float
    paint: Callable[[Axes], None]


def draw(picture: Picture, name: str) -> tuple[Panel, ...]:
    """Draw a picture.

    Parameters
    ----------
    picture
        What to draw; strata are a table and have no drawing.
    name
        Unique in the page; ids of the drawings start with it.

    Returns
    -------
    tuple of Panel
        Equal pictures give equal bytes.

    Examples
    --------
    >>> draw(Distribution("age", (0.0, 10.0, 20.0), (12.0, 11.0), (11.0, 12.0)), "p1")[0].svg[:16]
    '<svg viewBox="0 '
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    panels = []
    for number, drawing in enumerate(_drawings(picture)):
        with svg.settings():
            figure = Figure(figsize=(_WIDTH, drawing.height))
            FigureCanvasSVG(figure)
            drawing.paint(figure.subplots())
            figure.tight_layout(pad=0.3)  # once; a layout engine would draw every figure three times
            text = svg.to_svg(figure, name=f"{name}-{number}", title=drawing.title, description=drawing.description)
        panels.append(Panel(drawing.title, text))
    return tuple(panels)


def _drawings(picture: Picture) -> Iterable[_Drawing]:
    match picture:
        case Scatter():
            return [_scatter(picture)]
        case Risky():
            return _risky(picture)
        case Boxes():
            return _boxes(picture)
        case Coefficients():
            return [_coefficients(picture)]
        case RiskCurves():
            return _curves(picture)
        case Hidden():
            return _hidden(picture)
        case Distribution():
            return [_distribution(picture)]
        case _:
            return []


def _points(ax: Axes, points: Points, colour: str, **style: Any) -> None:
    if points:
        x, y = zip(*points, strict=True)
        look: dict[str, Any] = {"marker": "o", "color": colour, "markersize": 3.4, "alpha": 0.6}
        ax.plot(x, y, linestyle="none", **(look | style))


def _released_marks(ax: Axes, points: Points) -> None:
    _points(ax, points, RELEASED, markeredgewidth=0)


def _original_marks(ax: Axes, points: Points) -> None:
    _points(ax, points, ORIGINAL, markerfacecolor="none", markeredgewidth=0.7, markersize=3.8, alpha=0.75)


def _scatter(picture: Scatter) -> _Drawing:
    def paint(ax: Axes) -> None:
        if picture.before:
            _original_marks(ax, picture.before)
        else:
            _density(ax, picture.cells)
        _released_marks(ax, picture.after)
        ax.set(xlabel=seen(picture.x), ylabel=seen(picture.y))

    original = "as circles" if picture.before else "as shaded cells, darker where there are more records"
    description = f"Scatter of {picture.y} over {picture.x}: released records as points, the original {original}."
    return _Drawing(f"{picture.x} and {picture.y}", description, 3.5, paint)


def _density(ax: Axes, cells: Sequence[Cell]) -> None:
    """One path for each shade, so that neighbouring cells show no seam."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for shade, alpha in enumerate(_SHADES):
        boxes = [
            Path([(c.left, c.low), (c.right, c.low), (c.right, c.high), (c.left, c.high), (c.left, c.low)], closed=True)
            for c in cells
            if c.shade == shade
        ]
        if boxes:
            whole = Path.make_compound_path(*boxes)
            ax.add_patch(PathPatch(whole, facecolor=ORIGINAL, alpha=alpha, linewidth=0))


def _risky(picture: Risky) -> list[_Drawing]:
    def panel(marked: Points, others: Points, title: str, description: str) -> _Drawing:
        def paint(ax: Axes) -> None:
            _points(ax, others, ORIGINAL, markeredgewidth=0, alpha=0.35)
            _points(ax, marked, RISKY, marker="D", markersize=4.2, markeredgewidth=0, alpha=0.95)
            ax.set(xlabel=seen(picture.x), ylabel=seen(picture.y))

        return _Drawing(title, f"Original values of {picture.y} over {picture.x}, {description} marked.", 3.5, paint)

    close, alone = "Released close to the original (risk1)", "Close, and no other record near (risk2)"
    return [
        panel(picture.risk1, picture.safe, close, "records that are risky by risk1"),
        panel(picture.risk2, picture.safe + picture.risk1, alone, "records that are risky by risk2"),
    ]


def _boxes(picture: Boxes) -> list[_Drawing]:
    ends = [score for box in picture.boxes for five in (box.before, box.after) for score in five]
    reach = max(0.1, *(abs(score - 0.5) for score in ends)) * 1.05

    def panel(box: Box) -> _Drawing:
        def paint(ax: Axes) -> None:
            ax.axvline(0.5, color=RULE, linewidth=1, zorder=0)
            for y, five, colour in ((1, box.before, ORIGINAL), (0, box.after, RELEASED)):
                _box(ax, y, five, colour)
            ax.set(xlim=(0.5 - reach, 0.5 + reach), ylim=(-0.6, 1.6), xlabel="propensity score")
            ax.set_yticks([1, 0], ["original", "released"])
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)

        description = f"Box plots of the scores of original and released records, by a model with {box.name}."
        return _Drawing(box.name[:1].upper() + box.name[1:], description, 1.9, paint)

    return [panel(box) for box in picture.boxes]


def _box(ax: Axes, y: float, five: Sequence[float], colour: str) -> None:
    low, lower, middle, upper, high = five
    ax.plot([low, lower], [y, y], color=colour, linewidth=1.2)
    ax.plot([upper, high], [y, y], color=colour, linewidth=1.2)
    ax.barh(y, upper - lower, 0.5, lower, facecolor=colour, alpha=0.28, linewidth=0)
    ax.barh(y, upper - lower, 0.5, lower, facecolor="none", edgecolor=colour, linewidth=1.2)
    ax.plot([middle, middle], [y - 0.25, y + 0.25], color=colour, linewidth=2.4)


def _coefficients(picture: Coefficients) -> _Drawing:
    moved = [abs(after[0] - before[0]) for before, after in zip(picture.before, picture.after, strict=True)]
    most = sorted(range(len(moved)), key=lambda i: (-moved[i], i))[:_MOST_COEFFICIENTS]
    shown = sorted(most)

    def paint(ax: Axes) -> None:
        ax.axvline(0, color=RULE, linewidth=1, zorder=0)
        for row, i in enumerate(shown):
            ax.text(
                0, -row + 0.34, seen(picture.labels[i]), transform=ax.get_yaxis_transform(), va="center", fontsize=9
            )
            _interval(ax, -row + 0.02, picture.before[i], ORIGINAL, "o")
            _interval(ax, -row - 0.22, picture.after[i], RELEASED, "D")
        ax.set(ylim=(-len(shown) + 0.45, 0.62), xlabel="coefficient, in standard errors of the original fit")
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)

    description = "Coefficients with 95% intervals, original above released: " + ", ".join(
        picture.labels[i] for i in shown
    )
    title = "Coefficients with 95% intervals"
    if len(shown) < len(moved):
        title += f" (the {_MOST_COEFFICIENTS} that moved most)"
    return _Drawing(title, description + ".", 0.7 + 0.42 * len(shown), paint)


def _interval(ax: Axes, y: float, estimate: Sequence[float], colour: str, marker: str) -> None:
    middle, low, high = estimate
    ax.plot([low, high], [y, y], color=colour, linewidth=1.3)
    ax.plot([middle], [y], marker=marker, color=colour, markersize=4.6, markeredgewidth=0)


def _curves(picture: RiskCurves) -> list[_Drawing]:
    def panel(measure: str, width: str, ws: Sequence[float], risks: Sequence[float], used: float) -> _Drawing:
        def paint(ax: Axes) -> None:
            from matplotlib.ticker import PercentFormatter

            ax.plot(ws, risks, color=RELEASED, linewidth=1.6)
            ax.axvline(used, color=MUTED, linewidth=0.9, linestyle=(0, (3, 2)))
            at = [r for w, r in zip(ws, risks, strict=True) if abs(w - used) <= 1e-9 * max(abs(used), 1e-300)]
            if at:
                ax.plot([used], at[:1], marker="o", color=RELEASED, markersize=5.5, markeredgecolor=PAPER)
            ax.set(xlabel=width, ylabel="share of records", ylim=(0, max(0.01, *risks) * 1.12), xlim=(0, max(ws)))
            ax.yaxis.set_major_formatter(PercentFormatter(1.0))

        text = f"Share of records at risk by {measure} over {width}; a line marks the width used, {used:g}."
        return _Drawing(f"{measure} over {width}", text, 2.8, paint)

    return [
        panel("risk1", "w1", picture.w1, picture.risk1, picture.used_w1),
        panel("risk2", "w2", picture.w2, picture.risk2, picture.used_w2),
    ]


def _hidden(picture: Hidden) -> list[_Drawing]:
    """P(h ≤ t) by attacker, and by distance from the centre where that may be shown."""

    def over_t(ax: Axes) -> None:
        styles = [("-", 1.8), ((0, (5, 2)), 1.6), ((0, (2, 2)), 1.4), ((0, (6, 2, 1, 2)), 1.4)]
        for i, (name, curve) in enumerate(picture.attackers):
            style, width = styles[i % len(styles)]
            ax.plot(picture.at, curve, color=RELEASED, linestyle=style, linewidth=width, marker="o", ms=3.6, label=name)
        ax.plot(picture.at, picture.guess, color=MUTED, linewidth=1, label="any record at random")
        top = max(0.01, *(p for _, curve in picture.attackers for p in curve))
        ax.set(xlabel="t", ylabel="share of people with h ≤ t", ylim=(0, top * 1.12))
        ax.set_xticks(list(picture.at))
        _percent(ax)
        ax.legend(frameon=False, fontsize=8)

    def by_group(ax: Axes) -> None:
        names = [name.removeprefix("decile ") for name, _ in picture.groups]
        for i, alpha in ((len(picture.at) // 2, 0.3), (0, 0.9)):
            ax.bar(
                names, [c[i] for _, c in picture.groups], color=RELEASED, alpha=alpha, label=f"h ≤ {picture.at[i]:g}"
            )
        ax.set(xlabel="tenths from the centre outwards, and the most isolated", ylabel="share of people")
        ax.set_ylim(0, max(0.01, *(c[len(picture.at) // 2] for _, c in picture.groups)) * 1.25)
        _percent(ax)
        ax.legend(frameon=False, fontsize=8, ncols=2)

    curves = ", ".join(f"{name}: {curve[0]:.3g} at t = {picture.at[0]:g}" for name, curve in picture.attackers)
    drawings = [_Drawing("By attacker", f"Share of people with h at most t, over t. {curves}.", 2.9, over_t)]
    if picture.groups:
        text = "Share of people with h at most t under the best attacker, by distance from the centre: " + ", ".join(
            f"{name} {curve[0]:.3g}" for name, curve in picture.groups
        )
        drawings.append(_Drawing("By distance from the centre", f"{text}.", 2.9, by_group))
    return drawings


def _percent(ax: Axes) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.yaxis.set_major_formatter(PercentFormatter(1.0))


def _distribution(picture: Distribution) -> _Drawing:
    def paint(ax: Axes) -> None:
        before, after = (_density_of(counts, picture.edges) for counts in (picture.before, picture.after))
        ax.stairs(before, picture.edges, fill=True, facecolor=ORIGINAL, alpha=0.30, linewidth=0)
        ax.stairs(before, picture.edges, color=ORIGINAL, linewidth=0.7)
        ax.stairs(after, picture.edges, color=RELEASED, linewidth=1.6)
        ax.set(xlabel=seen(picture.column), ylabel="density", xlim=(picture.edges[0], picture.edges[-1]))
        ax.set_ylim(bottom=0)
        ax.set_yticks([])
        ax.yaxis.label.set_color(INK)

    description = f"Histogram of {picture.column}: original filled, released as an outline."
    return _Drawing(picture.column, description, 2.6, paint)


def _density_of(counts: Sequence[float], edges: Sequence[float]) -> list[float]:
    total = sum(counts) or 1.0
    return [count / total / (right - left) for count, left, right in zip(counts, edges, edges[1:], strict=False)]
