"""`sf.advise`: what to change in a plan that stops."""

from __future__ import annotations

from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.api.earlier import of_plan, published
from sfumato.api.protect import Earlier
from sfumato.api.read import read_or_open
from sfumato.engines.polars import held
from sfumato.errors import DataError, PlanError
from sfumato.kernels.glm import Family
from sfumato.measures.measuring import Measuring
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.protect import protect as run_plan
from sfumato.release.secret import Secret
from sfumato.report.report import Report
from sfumato.tuning.advising import COSTS, Advised
from sfumato.tuning.advising import advise as search

__all__ = ["advise"]

_SEVERAL = "advice is of a plan of one table: protect each table of several with a plan of its own to get some"
_OFF_MEMORY = "Advice runs a plan several times, in memory: ask for it on a smaller table, such as some of its records."


def advise(
    plan: Plan | str | PathLike[str],
    data: Any,
    *,
    report: Report | None = None,
    secret: bytes | Secret | None = None,
    earlier: Earlier = None,
    model: str | None = None,
    family: Family | None = None,
    w1: float = 0.01,
    w2: float = 0.05,
    progress: Progress = quiet,
) -> Advised | None:
    """Look for the first edit of a plan that holds, the cheapest first; limits are never loosened.

    Larger groups come first, then wider bands, merged categories, fewer strata, more noise, a column left out, and last
    a draft from the plan's roles. At most 12 edits are run, each with the measures that the limits need.

    Parameters
    ----------
    plan
        A `Plan`, or the path of one, whose comments stay; of one table.
    data
        The table in memory, or its path.
    report
        What came of the plan, where it was run already.
    secret, earlier, model, family, w1, w2, progress
        As in `protect`; with the secret of the release, what holds here holds there.

    Returns
    -------
    Advised or None
        With `.edits`, `.text` (the plan that holds, or None), `.diff` and `.because`; None where the plan holds as it
        is.

    Raises
    ------
    PlanError
        Where the plan cannot run, or is of several tables.
    DataError
        Where the table is not in memory, or not fit for a step.

    Notes
    -----
    It says what would keep to the limits, not that the limits are right. It takes nothing for unknown that the plan
    does not say nobody knows.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"town": ["Ash"] * 40 + ["Elm"] * 4, "sex": ["f", "m"] * 22})
    >>> plan = Plan(variables={"town": {"role": "key"}, "sex": {"role": "key"}},
    ...             steps=[{"do": "suppress_cells", "keys": ["town", "sex"], "k": 2}],
    ...             limits=[{"measure": "k_anonymity", "at_least": 3}])
    >>> advise(plan, rows, secret=bytes(16)).edits
    ('k 3 in step 1 (suppress_cells)',)
    """
    text, folder, plan = _read(plan)
    if plan.tables:
        raise PlanError([_SEVERAL])
    table = read_or_open(data)
    if not held(table):
        raise DataError(_OFF_MEMORY)
    if not isinstance(secret, Secret):
        secret = Secret.find() if secret is None else Secret(secret)
    how = Measuring(w1=w1, w2=w2, model=model, family=family)
    taken = published(plan, earlier)

    def run(version: Plan) -> Report:
        only = COSTS | {limit.measure for limit in version.limits}
        past = partial(of_plan, version)
        return run_plan(version, table, secret, how=how, earlier=past, published=taken, leaver=False, only=only).report

    before = run(plan) if report is None else report
    return None if before.verdict == "holds" else search(text, folder, table, before, run, progress)


def _read(plan: Plan | str | PathLike[str]) -> tuple[str, Path, Plan]:
    """The plan's text, where it lies, and what it says."""
    if isinstance(plan, Plan):
        return plan.to_yaml(), Path(), plan
    read = Plan.load(plan)
    return Path(plan).read_text(encoding="utf-8-sig"), Path(plan).parent, read
