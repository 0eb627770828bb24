"""Hand a table of totals out, with the page's renderer wired in."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from sfumato.errors import LimitExceeded
from sfumato.release.tabular.hand_out import hand_out as write
from sfumato.report.tabular.adjusted import papers_of_adjusted
from sfumato.report.tabular.papers import TablePapers, papers_of_built, papers_of_judged, papers_of_protected
from sfumato.report.tabular.perturbed import papers_of_perturbed
from sfumato.report.tabular.recoded import papers_of_recoded
from sfumato.report.tabular.rounded import papers_of_rounded
from sfumato.tables.adjust import Adjusted
from sfumato.tables.perturb.perturb import Perturbed
from sfumato.tables.protect import Protected
from sfumato.tables.recode import Recoded
from sfumato.tables.round.round import Rounding
from sfumato.tables.table import Table

__all__ = ["hand_out"]


def hand_out(
    table: Protected | Rounding | Adjusted | Perturbed | Recoded | Table,
    out: str | PathLike[str],
    *,
    internal: bool = False,
    overwrite: bool = False,
    force: bool = False,
    papers: TablePapers | None = None,
) -> Path:
    """Write a table of totals as one file, or as a folder with what those who get it must know.

    Parameters
    ----------
    table
        What `sf.tables.protect`, `round`, `adjust`, `perturb` or `recode` gave, or a table. One that nobody protected
        is the custodian's.
    out
        Where to. A name that ends in `.csv` gives that one file, replaced as a whole; any other a folder: `data.csv`,
        `datapackage.json` (which codes are parts of which, what must be known) and `report.html`.
    internal
        Of what was protected, whether to write the custodian's: values, levels, contributors, rules with their
        parameters.
    overwrite
        Whether a folder that is there may be replaced.
    force
        Hand it out although the audit was not passed; its papers say so.
    papers
        What is told beside it, in place of what is known of it.

    Returns
    -------
    Path
        Where it is.

    Raises
    ------
    LimitExceeded
        The audit was not passed, and `force` is not given.
    DataError
        What is to be handed out shows hidden values or contributions.
    FileError, ReleaseExists
        Where nothing can be written there.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from sfumato.tables.protect import protect
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in hand_out(protect(Table.of(rows), "n(3)"), f"{folder}/release").iterdir())
    ['data.csv', 'datapackage.json', 'report.html']
    """
    from sfumato.render.tabular import render_table

    if isinstance(table, Protected):
        if not (table.ok or force or internal):
            raise LimitExceeded("The audit failed: cells can still be worked out. Nothing was handed out.")
        told = papers or (papers_of_judged(table) if internal else papers_of_protected(table))
        leaves = table.judged if internal else table.table
    elif isinstance(table, Perturbed):
        told, leaves = papers or papers_of_perturbed(table), table.table
    elif isinstance(table, Recoded):
        told, leaves = papers or papers_of_recoded(table), table.table
    elif isinstance(table, Rounding):
        told, leaves = papers or papers_of_rounded(table), table.table
    elif isinstance(table, Adjusted):
        told, leaves = papers or papers_of_adjusted(table), table.table
    else:
        told, leaves = papers or papers_of_built(table), table
    write(leaves, Path(out), told, overwrite=overwrite, renderer=render_table)
    return Path(out)
