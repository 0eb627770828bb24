"""Measure what a protected table still says."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from sfumato.api.read import read_whole
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.kernels.glm import Family
from sfumato.measures.measuring import Measuring
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release import assess
from sfumato.release.crosswalk import by_crosswalk
from sfumato.release.package.papers import papers_of
from sfumato.release.package.renaming import as_planned
from sfumato.release.pairing import Align
from sfumato.release.secret import Secret
from sfumato.release.several.choose import plan_for

__all__ = ["compare"]


def compare(
    before: Any,
    after: Any,
    *,
    columns: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    record: str | None = None,
    align: Align | None = None,
    plan: Plan | str | PathLike[str] | None = None,
    table: str | None = None,
    model: str | None = None,
    family: Family | None = None,
    supports: bool = False,
    secret: bytes | Secret | None = None,
    crosswalk: Any = None,
    progress: Progress = quiet,
) -> Findings:
    """Measure what a protected table still says.

    Without `record` and `align` whole tables are compared, and `notes` say what could not be measured. Parameters as in
    `risk` and `protect`.

    With `supports`, of synthetic copies alone, `found.supports` grades each variable, each pair of variables (at most
    500), and each term of the model: `supported`, `rough` or `lost`. A grade is a small answer about the true data.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0]})
    >>> compare(table, table).of("u_main").value
    0.0
    """
    first, second = read_whole(before, "Comparing two tables"), read_whole(after, "Comparing two tables")
    told, book = None, Codebook()
    if (papers := papers_of(second)) is not None and papers.disclosure.synthetic is not None:
        second, told = as_planned(second, papers)
        book = Codebook({papers.names.get(n, n): variable for n, variable in papers.codebook.items()})
    chosen = plan_for(plan, table, second, first)
    if crosswalk is not None:
        ids = read_whole(crosswalk, "A crosswalk").frame
        first, chosen, record = by_crosswalk(first, chosen or Plan(), record, ids)
    return assess.compare(
        first,
        second,
        columns=columns,
        by=by,
        record=record,
        align=align,
        plan=chosen,
        how=Measuring(model=model, family=family),
        disclosure=told,
        supports=book if supports else None,
        secret=Secret.known(secret),
        progress=progress,
    )
