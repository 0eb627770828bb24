"""The page of a table of totals that is handed out: no network, no script, for paper, phones and the dark."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from sfumato.render.html import template
from sfumato.report.tabular.papers import TablePapers
from sfumato.tables.table import Table

__all__ = ["render_table"]


@dataclass(frozen=True)
class _Head:
    """What the top of every page says."""

    title: str
    internal: bool
    created: datetime.date
    version: str
    sentences: tuple[str, ...]


def render_table(table: Table, papers: TablePapers) -> Mapping[str, bytes]:
    """Give the page of a table by its file name."""
    head = _Head(papers.title, papers.internal, datetime.date.today(), version("sfumato"), papers.sentences)
    return {"report.html": template("table.html.j2").render(report=head).encode()}
