"""What is told of a table whose values were rounded."""

from __future__ import annotations

from sfumato.report.tabular.papers import TablePapers, title_of, zeros_said
from sfumato.tables.round.round import Rounding

__all__ = ["papers_of_rounded"]

_HOW = {
    "conventional": "Every value is rounded to the nearest multiple of {base}.",
    "random": "Every value is rounded to a multiple of {base} beside it, at random, and right on average.",
    "controlled": "Every value is rounded to a multiple of {base} such that totals are the sums of their parts.",
    "barnardise": "Counts but 0 are published as they are, or one more, or one less, at random, and right on average.",
}


def papers_of_rounded(done: Rounding) -> TablePapers:
    """The papers of a rounded table as it is handed out.

    Left out are how many cells were changed and by how much in all, and the probability that a count was kept.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.tables.round.round import round
    >>> from sfumato.tables.table import Table
    >>> rows = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 7, 2]}))
    >>> papers_of_rounded(round(rows, 5)).figures
    {'cells': 3, 'base': 5}
    """
    said = [_HOW[done.method].format(base=done.base)]
    if done.steps:
        said.append(f"Values may be up to {done.steps} multiples further off than the two beside them.")
    if done.totals == "summed":
        said.append("Totals are sums of changed cells.")
    elif not done.additive:
        said.append("Totals were changed by themselves: they differ from the sums of their parts.")
    said += [
        zeros_said(done.complete),
        "It is not protected against whoever knows totals exactly from elsewhere, nor against another table of the "
        "same cells that was changed in another way.",
    ]
    figures: dict[str, str | int | float | bool | None] = {"cells": len(done.table)}
    if done.base is not None:
        figures["base"] = done.base
    if done.steps:
        figures["steps"] = done.steps
    return TablePapers(title_of(done.table), False, tuple(said), method=done.method, figures=figures)
