"""What is told of a table that was adjusted."""

from __future__ import annotations

from sfumato.report.tabular.papers import TablePapers, title_of, zeros_said
from sfumato.tables.adjust import Adjusted

__all__ = ["papers_of_adjusted"]


def papers_of_adjusted(done: Adjusted) -> TablePapers:
    """The papers of an adjusted table as it is handed out.

    Left out are how many cells were changed, which, and by how much.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.tables.adjust import adjust
    >>> from sfumato.tables.table import Table
    >>> rows = {"sex": ["Total", "f", "m"], "count": [9, 5, 4], "status": ["s", "s", "s"]}
    >>> papers_of_adjusted(adjust(Table.of(pl.DataFrame(rows)))).figures
    {'cells': 3}
    """
    said = (
        "Values were changed so that nobody can take the value of a cell with few, or with one that dominates, for the "
        "true one. Totals are the sums of their parts. Which cells were changed is not told.",
        zeros_said(done.complete),
        "It is not protected against whoever knows totals exactly from elsewhere, nor against another table of the "
        "same cells that was not changed with it.",
    )
    return TablePapers(title_of(done.table), False, said, method="adjust", figures={"cells": len(done.table)})
