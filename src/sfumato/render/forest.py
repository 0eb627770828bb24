"""A fitted model for people: a table for the terminal, and the forest plot of naive and corrected estimates."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sfumato.data.unseen import seen
from sfumato.inference.hidden import Density
from sfumato.inference.result import Fit
from sfumato.render import svg
from sfumato.render.text import plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import Console

__all__ = ["forest_plot", "forest_svg", "show_fit"]

Floats = NDArray[np.float64]

_NAIVE, _CORRECTED, _RULE = "#767676", "#1769aa", "#bbbbbb"
_PAGE = (svg.ORIGINAL, svg.RELEASED, svg.RULE)
_MOST_TERMS = 40
_MOST_SHAPES, _SHAPE_HEIGHT = 6, 2.0
"""Hidden numbers whose distribution is drawn, and the height of each in inches."""
_SLIM = 100
"""Columns of a terminal below which a table has fewer digits."""


def show_fit(fit: Fit, console: Console) -> None:
    """Print a fit: corrected beside naive, then what the noise cost in plain sentences.

    Parameters
    ----------
    fit
        From `sfumato.fit`.
    console
        Where to.
    """
    from rich.table import Table

    console.print()
    state = f", {fit.state}" if fit.state else ""
    console.print(plain_text(fit.formula, style="bold"))
    console.print(plain_text(f"{fit.family} model, method {fit.method}, n = {fit.n}{state}", style="dim"))
    for sentence in fit.verdict:
        console.print(plain_text(sentence, style="bold"))
    narrow = console.width < _SLIM
    digits = 3 if narrow else 4
    table = Table(box=None, header_style="bold", pad_edge=not narrow, padding=(0, 1), collapse_padding=narrow)
    interval = f"{100 * fit.level:g}% interval"
    for name in ("Term", "Estimate", "SE", interval, "p", "Naive", "Reliability"):
        table.add_column(name, justify="left" if name == "Term" else "right", overflow="fold")
    for row in fit.tidy().iter_rows(named=True):
        number = {key: _number(row[key], digits) for key in ("estimate", "se", "low", "high", "naive", "naive_se")}
        ends = "–" if row["low"] is None else f"{number['low']} to {number['high']}"
        naive = "–" if row["naive"] is None else f"{number['naive']} ({number['naive_se']})"
        cells = [row["term"], number["estimate"], number["se"], ends, _p(row["p"])]
        reliability = "" if row["reliability"] is None else f"{row['reliability']:.2f}"
        table.add_row(*map(plain_text, (*cells, naive, reliability)))
    console.print()
    console.print(table)
    console.print()
    for name, value in fit.variance.items():
        se = f" (SE {_number(fit.variance_se[name])})"
        console.print(plain_text(f"Between groups, {name}: {_number(value)}{se}"))
    rest = (note for note in fit.notes if note not in fit.verdict)
    for sentence in (*fit.noise_sentences(), *fit.hidden_sentences(), *rest):
        console.print(plain_text(f"- {sentence}"))
    if fit.rule_sentence:
        console.print(plain_text(fit.rule_sentence, style="dim"))
    console.print(plain_text("Naive: released values taken for true ones, with its standard error.", style="dim"))
    console.print()


def _number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}g}".replace("-", "−").replace("inf", "∞")


def _p(value: float | None) -> str:
    return "–" if value is None else "< .001" if value < 0.001 else f"{value:.3f}"


def forest_plot(fit: Fit, kind: Literal["png", "svg"]) -> bytes:
    """Draw each coefficient but the intercept with its interval, corrected above naive; an arrow for an infinite end.

    Below stands the density of each hidden number, noise taken out, over the histogram of what was released; no bar
    stands for fewer than ten records.

    Parameters
    ----------
    fit
        From `sfumato.fit`.
    kind
        `png` or `svg`.

    Returns
    -------
    bytes
        Equal fits give equal bytes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [j for j, term in enumerate(fit.terms) if term != "Intercept"][:_MOST_TERMS]
    raw = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type") if kind == "svg" else ("Software",))
    with svg.settings():
        high, shapes = 1.2 + 0.55 * max(len(rows), 1), list(fit.densities.items())[:_MOST_SHAPES]
        heights = [high, *(_SHAPE_HEIGHT for _ in shapes)]
        figure = Figure(figsize=(6.0, sum(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        _paint(axes[0], fit, rows)
        for ax, (name, shape) in zip(axes[1:], shapes, strict=True):
            _paint_shape(ax, name, shape)
        figure.savefig(raw, format=kind, dpi=160, metadata=nothing)
    return raw.getvalue()


def forest_svg(fit: Fit) -> str:
    """The coefficients of `forest_plot` as an `svg` element for a page: in the page's colours, without styles.

    Parameters
    ----------
    fit
        From `sfumato.fit`.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    from sfumato.render.parts import without_styles

    rows = [j for j, term in enumerate(fit.terms) if term != "Intercept"][:_MOST_TERMS]
    with svg.settings():
        figure = Figure(figsize=(6.0, 1.2 + 0.55 * max(len(rows), 1)), layout="constrained")
        FigureCanvasSVG(figure)
        _paint(figure.subplots(), fit, rows, _PAGE)
        told = "Each coefficient with its interval, noise taken out above naive."
        return without_styles(svg.to_svg(figure, name="forest", title="Coefficients", description=told))


def _paint(ax: Axes, fit: Fit, rows: list[int], colours: tuple[str, str, str] = (_NAIVE, _CORRECTED, _RULE)) -> None:
    naive_colour, corrected_colour, rule = colours
    ax.axvline(0, color=rule, linewidth=1, zorder=0)
    half = float(ndtri((1 + fit.level) / 2)) * fit.naive_se
    corrected = np.column_stack([fit.estimate, fit.interval])[rows]
    naive = np.column_stack([fit.naive, fit.naive - half, fit.naive + half])[rows]
    drawn = np.concatenate([corrected.ravel(), naive.ravel()])
    edge = 1.15 * float(np.abs(drawn[np.isfinite(drawn)]).max(initial=1e-9))
    for y, own, plain in zip(range(len(rows)), corrected[::-1], naive[::-1], strict=True):
        _line(ax, y + 0.12, own, edge, corrected_colour, "D")
        _line(ax, y - 0.16, plain, edge, naive_colour, "o")
    ax.set_yticks(range(len(rows)), [seen(fit.terms[j]) for j in reversed(rows)])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set(xlabel=f"coefficient, with {100 * fit.level:g}% interval", ylim=(-0.6, len(rows) - 0.4))
    ax.plot([], [], color=corrected_colour, marker="D", label=f"noise taken out ({fit.method})")
    ax.plot([], [], color=naive_colour, marker="o", label="naive")
    ax.legend(
        frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.0 + 0.35 / max(len(rows), 1)), ncols=2
    )


def _paint_shape(ax: Axes, name: str, shape: Density) -> None:
    """The density of a hidden number over the histogram of what was released of it."""
    ax.stairs(shape.heights, shape.edges, fill=True, color=_RULE, label="released")
    ax.plot(shape.at, shape.density, color=_CORRECTED, linewidth=1.4, label="noise taken out")
    ax.set(xlabel=seen(name), ylim=(0, None))
    ax.set_yticks([])
    ax.legend(frameon=False, fontsize=8)


def _line(ax: Axes, y: float, drawn: Floats, edge: float, colour: str, marker: str) -> None:
    """An interval with its estimate, where there is one; an arrow at an end that there is not."""
    if np.isnan(drawn[1:]).any():
        return
    middle, low, high = np.clip(drawn, -edge, edge)
    ax.plot([low, high], [y, y], color=colour, linewidth=1.4)
    if not np.isnan(middle):
        ax.plot([middle], [y], marker=marker, color=colour, markersize=5, markeredgewidth=0)
    for end, arrow in ((drawn[1], "<"), (drawn[2], ">")):
        if np.isinf(end):
            ax.plot([np.sign(end) * edge], [y], marker=arrow, color=colour, markersize=6, markeredgewidth=0)
