"""The report in parts: what its page says, as plain values that other pages put together anew.

Pictures are made for pages whose policy allows no inline style: what a `style` says stands in attributes.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import asdict
from itertools import groupby
from typing import Any

from sfumato.render.figures import figures_of
from sfumato.render.html import page_of
from sfumato.report.report import Report

__all__ = ["parts", "without_styles"]


def parts(report: Report) -> dict[str, Any]:
    """What the page of a report says, in parts.

    Parameters
    ----------
    report
        The custodian's, or an external one; what is said is as confidential as the report.

    Returns
    -------
    dict
        Plain values for JSON: `verdict` (state, headline, sentence and limits), `risk` and `loss` (a paragraph each),
        `tries` (a sentence each, with the edits of the plan that make some of its changes), `plots` (title, how to read
        it, what the marks mean, panels of title, SVG and figures), `families` (tables of figures), `warnings`, `notes`,
        and of an undecided release `undecided` and `ids`: columns on which a decision is wanting, and the ids among
        them.

    Examples
    --------
    >>> import datetime
    >>> from sfumato.data.disclosure import Disclosure
    >>> from sfumato.data.finding import Findings
    >>> report = Report("Ward 7", datetime.date(2024, 5, 1), "1.0", (), Disclosure(), Findings(), "", "ab12", True)
    >>> parts(report)["verdict"]["headline"]
    'No limits were set'
    """
    page = page_of(report, "picture")
    said = page.advice
    kinds = [list(alike) for _, alike in groupby(report.pictures, key=type)]  # each is a plot of the page
    return {
        "verdict": asdict(page.verdict),
        "risk": said.risk,
        "loss": said.loss,
        "tries": [
            {"sentence": sentence, "edits": [{**asdict(edit), "path": list(edit.path)} for edit in edits]}
            for sentence, edits in zip(said.to_try, said.edits, strict=True)
        ],
        "plots": [
            {
                "title": plot.title,
                "how": plot.how,
                "key": [list(one) for one in plot.key],
                "panels": [
                    {"title": title, "svg": without_styles(str(drawing)), "figures": asdict(figures)}
                    for (title, drawing), figures in zip(
                        plot.panels, (table for picture in kind for table in figures_of(picture)), strict=True
                    )
                ],
                "strata": [{"by": list(one.by), "rows": [list(row) for row in one.rows]} for one in plot.strata],
            }
            for plot, kind in zip(page.plots, kinds, strict=True)
        ],
        "families": [
            {
                "title": family.title,
                "tables": [
                    {**asdict(table), "limited": table.limited, "compared": table.compared} for table in family.tables
                ],
            }
            for family in page.families
        ],
        "undecided": list(report.undecided),
        "ids": [n for n in report.open_ids if n in report.undecided],
        "warnings": list(report.warnings),
        "notes": list(report.findings.notes),
    }


def without_styles(svg: str) -> str:
    """An `svg` element of ours whose styles stand in attributes, which a strict policy of a page does not block.

    Parameters
    ----------
    svg
        As `sfumato.render.svg.to_svg` gives it: well formed, every declaration one that SVG has an attribute for.

    Examples
    --------
    >>> without_styles('<svg><path d="M0 0" style="fill: none; stroke: var(--ink, #000)" /></svg>')
    '<svg><path d="M0 0" fill="none" stroke="var(--ink, #000)" /></svg>'
    """
    root = ET.fromstring(svg)
    for element in root.iter():
        for declared in element.attrib.pop("style", "").split(";"):
            name, colon, value = declared.partition(":")
            if colon:
                element.set(name.strip(), value.strip())
    return ET.tostring(root, encoding="unicode")
