"""What is told of a table that was perturbed by cell keys."""

from __future__ import annotations

from sfumato.report.tabular.papers import TablePapers, title_of
from sfumato.tables.perturb.perturb import Perturbed

__all__ = ["papers_of_perturbed"]


def papers_of_perturbed(done: Perturbed) -> TablePapers:
    """The papers of a perturbed table as it is handed out: what an analyst must know of its noise, and no true figure.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.tables.perturb.perturb import perturb
    >>> from sfumato.tables.table import Table
    >>> rows = {"sex": ["f", "m"], "count": [31, 9], "cell_key": [0.05, 0.35]}
    >>> papers_of_perturbed(perturb(Table.of(pl.DataFrame(rows)))).figures
    {'cells': 2, 'largest_change': 5, 'variance': 3.0, 'forbidden': 2}
    """
    figures: dict[str, str | int | float | bool | None] = {"cells": done.cells}
    if done.forbidden is not None:
        figures |= {"largest_change": done.largest, "variance": done.variance, "forbidden": done.forbidden}
        noise = (
            f"Every count was changed at random by {done.largest} at most; the change has mean 0 and a variance of "
            f"{done.variance:g} at most."
        )
        if done.forbidden:
            noise += f" Counts of 1 to {done.forbidden} are never published."
    else:
        noise = "Noise with mean 0 was added to every value, in proportion to its largest contributions."
    said = (
        noise,
        "A zero is a true one, or a small value that became 0.",
        "A cell has the same noise in every table of these data.",
        "Every cell was changed by itself, totals too: totals differ from the sums of their parts. Take a total as it "
        "is published; a sum of many parts has the noise of all of them.",
    )
    return TablePapers(title_of(done.table), False, said, method=done.method, figures=figures)
