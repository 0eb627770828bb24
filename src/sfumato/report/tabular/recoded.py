"""What is told of a table that was recoded."""

from __future__ import annotations

from sfumato.report.tabular.papers import TablePapers, title_of
from sfumato.tables.recode import Recoded

__all__ = ["papers_of_recoded"]


def papers_of_recoded(done: Recoded) -> TablePapers:
    """The papers of a recoded table as it is handed out.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.tables.recode import recode
    >>> from sfumato.tables.table import Table
    >>> rows = {"sex": ["Total", "f", "m"], "count": [9, 5, 4], "status": ["s", "s", "s"]}
    >>> papers_of_recoded(recode(Table.of(pl.DataFrame(rows)))).figures
    {'cells': 3}
    """
    coarser = [name for name, kept in done.variables.items() if kept.merged and not kept.dropped]
    gone = [name for name, kept in done.variables.items() if kept.dropped]
    said = ["Every cell of the table is published with its true value, and totals are the sums of their parts."]
    if coarser:
        said.append(f"Codes of {', '.join(coarser)} are coarser than those that were collected.")
    if gone:
        said.append(f"The table is not broken down by {', '.join(gone)}.")
    said += [
        "A combination of codes that is not listed is empty.",
        "Which codes are published was chosen so that no cell tells of too few. It is not protected against another "
        "table of the same data with other codes.",
    ]
    return TablePapers(title_of(done.table), False, tuple(said), method="recode", figures={"cells": len(done.table)})
