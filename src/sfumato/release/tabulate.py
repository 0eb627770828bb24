"""Tables of totals from records that a plan's steps have changed before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sfumato.data.disclosure import Disclosure
from sfumato.draws import MAKE_SECRET, Watched
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, SecretError
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.remaining import as_released
from sfumato.release.run import Ran, run_steps
from sfumato.release.secret import Secret
from sfumato.tables.asked import By, asked_tables
from sfumato.tables.build import build
from sfumato.tables.table import Table

__all__ = ["tabulate"]

_COLUMNS = ("count", "contributors", "holdings", "weight", "waived", "requested", "record")


def tabulate(
    plan: Plan,
    data: PolarsDataset,
    by: By,
    value: str | None = None,
    *,
    secret: Secret | None = None,
    progress: Progress = quiet,
    **options: Any,
) -> Table:
    """Run the steps of a plan over records, then build tables from what they leave.

    The plan's limits, which are of records, are not judged: no record is released.

    Parameters
    ----------
    plan
        A plan of one table. Hierarchies and missing codes of its variables are those of the table.
    data
        The records; they are left as they were.
    by, value, options
        As `sfumato.tables.build` takes them; they name columns as the steps leave them.
    secret
        What draws are keyed with. Only steps that draw at random need one.
    progress
        Called with what is being done, and the share of the steps' work that is done.

    Returns
    -------
    Table
        Its `origin` tells what was done to the records; its notes warn the custodian.

    Raises
    ------
    PlanError
        Where the plan cannot run on these columns; every problem at once.
    SecretError
        Where a step draws at random and there is no secret.
    DataError
        Where a column of the table is gone after the steps, or as `build`.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> firms = PolarsDataset(pl.DataFrame({"town": ["a", "a", "b"], "turnover": [5.0, -9.0, 1.5]}), Codebook())
    >>> plan = Plan(variables={"turnover": {"missing": [-9]}})
    >>> tabulate(plan, firms, "town", "turnover").values.tolist()
    [6.5, 5.0, 1.5]
    """
    draws = Watched(bytes(16) if secret is None else secret.value)
    entering = entered(plan, data, released=False)
    ran = run_steps(plan.steps, entering, draws, progress, table=plan.table_name, plan=plan.digest)
    columns = {column for table in asked_tables(by) for chain in table for column in chain.columns}
    shown = columns | {n for n in (value, options.get("count"), options.get("weight")) if n}
    drew = [step for step in plan.steps if step.name in draws.drawn]  # of new ids only those that the table shows
    telling = dict.fromkeys(step.name for step in drew if not step.replaces or shown & set(step.changes))
    if secret is None and telling:
        raise SecretError(
            f"The plan draws at random ({', '.join(telling)}), so it needs a secret: two tables of the same records "
            f"that were drawn anew can be averaged. Make one once ({MAKE_SECRET}), keep it like the data, and give it "
            "every time: --secret-file key, or secret= in Python."
        )
    records = as_released(plan, data, entering, ran.after)
    _refuse_gone({*shown, *_named(options)}, data, records)
    if options.get("record") and secret is not None:
        options["secret"] = secret.value
    built = build(records, by, value, **options)
    origin = replace(
        built.origin,
        disclosure=_of_columns(ran, shown),
        plan=plan.digest,
        fingerprint=secret.fingerprint if secret is not None and draws.drawn else None,
    )
    warnings = (warning for step in ran.steps for warning in step.warnings)
    return replace(built, notes=(*warnings, *built.notes), origin=origin)


def _named(options: Mapping[str, Any]) -> Iterable[str]:
    return (options[n] for n in _COLUMNS if options.get(n))


def _refuse_gone(columns: Iterable[str], given: PolarsDataset, left: PolarsDataset) -> None:
    """Refuse columns that steps left out, with the reason; those that never were are refused by `build`."""
    if gone := sorted(n for n in columns if n in given.columns and n not in left.columns):
        raise DataError(
            f"The plan's steps leave {', '.join(map(repr, gone))} out, which the table needs. Take the step out, or "
            "name another column."
        )


def _of_columns(ran: Ran[PolarsDataset], columns: set[str]) -> Disclosure:
    """What is told of the columns that a table shows, and of no column in particular."""
    return Disclosure(part for part in ran.disclosure if not part.columns or columns & set(part.columns))
