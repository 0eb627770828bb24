"""The page of a table of totals that is handed out: no network, no script, for paper, phones and the dark."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from sfumato.render import svg
from sfumato.render.html import rendered
from sfumato.report.tabular.page import Widths, page_of
from sfumato.report.tabular.papers import Figure, TablePapers
from sfumato.tables.table import Origin, Table

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["render_table"]


@dataclass(frozen=True)
class _Head:
    """What the top of every page says."""

    title: str
    internal: bool
    created: datetime.date
    version: str


@dataclass(frozen=True)
class _Verdict:
    state: str
    headline: str
    sentence: str


def render_table(table: Table, papers: TablePapers) -> Mapping[str, bytes]:
    """Give the page of a table by its file name.

    Parameters
    ----------
    table
        The table as it is written.
    papers
        What is told beside it. Those of the custodian make a page that is marked as confidential.

    Returns
    -------
    mapping of str to bytes
        Equal tables and papers give equal bytes on one day.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"town": ["a", "b"], "count": [3, 4]}))
    >>> b"INTERNAL" in render_table(table, TablePapers("Towns", internal=True))["report.html"]
    True
    """
    page = page_of(table)
    letters = {letter for letter, _, _ in page.statuses}
    text = rendered(
        "table.html.j2",
        report=_Head(papers.title, papers.internal, datetime.date.today(), version("sfumato")),
        papers=papers,
        disclosure=table.origin.disclosure,
        page=page,
        verdict=_verdict(papers),
        facts=list(_facts(papers, table.origin)),
        value=table.value,
        drawing=None if page.widths is None or not page.widths.bars else _drawn(page.widths),
        any_hidden=bool(letters & {"u", "x"}),
        any_unsafe="u" in letters,
    )
    return {"report.html": text.encode()}


def _verdict(papers: TablePapers) -> _Verdict:
    if papers.internal:
        return _Verdict("none", "No release", "This table is the custodian's. What may leave stands elsewhere.")
    if not papers.audit:
        return _Verdict("none", "Not audited", "No attacker was set on this table; what was done to it stands below.")
    if papers.ok:
        said = "An attacker who sees nothing but this table cannot work out the value of a hidden cell."
        return _Verdict("ok", "The audit was passed", said)
    return _Verdict("bad", "The audit was not passed", "The table left all the same, by the custodian's decision.")


_FIGURES = {
    "cells": "Cells listed",
    "hidden": "Hidden",
    "primary": "Unsafe",
    "secondary": "Hidden beside them",
    "secondary_value": "Sum of what is hidden beside them",
    "optimal": "Proved to be the cheapest",
    "gap": "Share of the cost that may be too much",
}
_AUDIT = {
    "method": "Audited by",
    "exact": "Hidden cells that can be worked out exactly",
    "below_level": "Hidden cells known more closely than asked",
    "useless": "Hidden cells that could be published",
}


def _facts(papers: TablePapers, origin: Origin) -> Iterator[tuple[str, str]]:
    """Everything that is told of the protection, as terms with their texts."""
    if papers.rules:
        yield "Rules", papers.rules
    if papers.method:
        yield "Method", papers.method
    if papers.proof:
        yield "Proof", papers.proof
    for name, x in papers.figures.items():
        yield _FIGURES.get(name, name), _said(x)
    for name, x in papers.audit.items():
        yield _AUDIT.get(name, name), _said(x)
    if papers.tolerance:
        yield "Rounding of totals", f"up to {papers.tolerance:g}"
    if origin.plan:
        yield "SHA-256 of the records’ plan", f"`{origin.plan}`"
    if origin.fingerprint:
        yield "Secret’s fingerprint", f"`{origin.fingerprint}`"


_AUDITS = {"programs": "linear programs", "elimination": "elimination modulo a prime"}


def _said(x: Figure) -> str:
    if x is None:
        return "not told"
    if isinstance(x, bool):
        return "yes" if x else "no"
    return f"{x:,.10g}" if isinstance(x, float) else f"{x:,}" if isinstance(x, int) else _AUDITS.get(str(x), str(x))


def _drawn(widths: Widths) -> Markup:
    """Hidden cells by how closely they can be worked out, as bars."""
    from markupsafe import Markup
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Drawing

    names, counts = zip(*widths.bars, strict=True)
    with svg.settings():
        drawing = Drawing(figsize=(4.4, 0.7 + 0.3 * len(names)))
        FigureCanvasSVG(drawing)
        axes = drawing.subplots()
        places = list(range(len(names)))
        bars = axes.barh(places, counts, 0.62, color=svg.RELEASED, alpha=0.8)
        axes.bar_label(bars, padding=3, fontsize=9, color=svg.INK)
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.set(xlabel="hidden cells", xlim=(0, max(counts) * 1.12))
        axes.tick_params(axis="y", length=0, labelcolor=svg.INK)
        drawing.tight_layout(pad=0.3)
        told = ", ".join(f"{name}: {count}" for name, count in widths.bars)
        title = "How closely hidden cells can be worked out"
        return Markup(svg.to_svg(drawing, name="widths", title=title, description=f"{title}. {told}."))
