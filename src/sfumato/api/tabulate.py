"""Build a table of totals from records that a plan's steps have changed before."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sfumato.api.read import read_whole
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.secret import Secret
from sfumato.release.tabulate import tabulate as run
from sfumato.tables.asked import By
from sfumato.tables.table import Table

__all__ = ["tabulate"]


def tabulate(
    plan: Plan | str | PathLike[str],
    data: Any,
    by: By,
    value: str | None = None,
    *,
    secret: bytes | Secret | None = None,
    plan_table: str | None = None,
    progress: Progress = quiet,
    **options: Any,
) -> Table:
    """Run the steps of a plan over records, then build a table of totals from what they leave.

    The plan's limits, which are of records, are not judged: no record is released.

    Parameters
    ----------
    plan
        A `Plan`, or the path of one.
    data
        What `read` gives or takes.
    by, value, options
        As `sf.tables.build` takes them; they name columns as the steps leave them. Hierarchies and missing codes of the
        plan's variables are those of the table.
    secret
        At least 16 bytes that draws are keyed with, where a step draws at random. Without it `SFUMATO_SECRET` is taken.
    plan_table
        Which table, of a plan of several.
    progress
        As in `protect`.

    Returns
    -------
    Table
        As `sf.tables.build` gives it. It remembers what was done to the records: `hand_out` writes it into the papers.

    Raises
    ------
    PlanError, SecretError, DataError
        Where the plan cannot run, a step draws and there is no secret, or a column of the table is gone.

    Examples
    --------
    >>> import polars as pl
    >>> firms = pl.DataFrame({"town": ["a", "a", "b"], "turnover": [5.0, -9.0, 1.5]})
    >>> plan = Plan(variables={"turnover": {"missing": [-9]}})
    >>> tabulate(plan, firms, "town", "turnover").values.tolist()
    [6.5, 5.0, 1.5]
    """
    whole = plan if isinstance(plan, Plan) else Plan.load(plan)
    known = Secret.known(secret)
    return run(
        whole.the_table(plan_table),
        read_whole(data, "Making a table of totals"),
        by,
        value,
        secret=known,
        progress=progress,
        **options,
    )
