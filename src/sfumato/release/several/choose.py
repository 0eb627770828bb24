"""Which table of a plan of several is meant."""

from __future__ import annotations

from os import PathLike
from typing import overload

from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan
from sfumato.release.package.papers import papers_of

__all__ = ["plan_for"]


@overload
def plan_for(plan: None, table: str | None, *data: PolarsDataset | None) -> None: ...
@overload
def plan_for(plan: Plan | str | PathLike[str], table: str | None, *data: PolarsDataset | None) -> Plan: ...
@overload
def plan_for(
    plan: Plan | str | PathLike[str] | None, table: str | None, *data: PolarsDataset | None
) -> Plan | None: ...
def plan_for(plan: Plan | str | PathLike[str] | None, table: str | None, *data: PolarsDataset | None) -> Plan | None:
    """Give the plan of one table: the one that is named, else the one that the data are of.

    Parameters
    ----------
    plan
        A plan, of one table or several, or the path of one.
    table
        The table's name.
    *data
        Tables as read: the data file of a release tells which table it is, and any other file is the table whose file
        has its name, where only one has.

    Raises
    ------
    PlanError
        Where the plan has no such table, or has several and none can be told.

    Examples
    --------
    >>> farms = Plan(title="Farms", tables={"visits": {"file": "visits.csv"}})
    >>> plan_for(farms, "visits").title
    'Farms: visits'
    """
    if plan is None:
        return None
    whole = plan if isinstance(plan, Plan) else Plan.load(plan)
    if table is None and whole.tables:
        table = next((name for each in data if each is not None and (name := _told(whole, each))), None)
    return whole.the_table(table)


def _told(plan: Plan, data: PolarsDataset) -> str | None:
    """The table that a file tells of itself."""
    if data.source is None:
        return None
    papers = papers_of(data)
    if papers is not None:
        return papers.table if papers.table in plan.tables else None
    named = [name for name, table in plan.tables.items() if table.file == data.source.name]
    return named[0] if len(named) == 1 else None
