"""Find the least protection that meets limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from sfumato.api.read import read_whole
from sfumato.kernels.glm import Family
from sfumato.measures.measuring import Measuring
from sfumato.plan.binding import loaded
from sfumato.plan.conditions import Condition, parse_condition, parse_figure
from sfumato.plan.limits import Limit
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet
from sfumato.release.several.choose import plan_for
from sfumato.tuning import tune as tuning

__all__ = ["tune"]


def tune(
    plan: Plan | str | PathLike[str],
    data: Any,
    *,
    parameter: str,
    range: tuple[float, float] | tuple[str, str],
    table: str | None = None,
    limit: str | Limit | Sequence[str | Limit] | None = None,
    utility: str | Sequence[str] = (),
    replications: int | None = None,
    tolerance: float = 0.01,
    grid: int = 0,
    kept: float | None = None,
    model: str | None = None,
    family: Family | None = None,
    w1: float = 0.01,
    w2: float = 0.05,
    progress: Progress = quiet,
) -> tuning.Tuned:
    """Find the least noise, the smallest k, or the least of any other number of a plan, that meets limits.

    No secret is needed: figures are means over replications with public secrets, and the far end of each mean's 95%
    interval must meet its limit. It is assumed that figures rise or fall steadily with the parameter. The release that
    is made later has its own draw, which `protect` judges; `kept` asks that it pass.

    Parameters
    ----------
    plan
        A `Plan`, or the path of one.
    table
        Of a plan of several tables, the one to tune; by default the one that the file is of, where that can be told.
    data
        What `read` gives or takes.
    parameter
        `steps.<number from 0>.<parameter>`, with `.<column>` where the plan gives it by column.
    range
        Lowest and highest value; of a choice (`method` and `smooth` of synthetic copies) two of its values, as the plan
        writes them: `("cart", "parametric")`, `("false", "true")`.
    limit
        One limit or several, as text (`"h_rank[h<3] < 0.1"`, `"linkage_nearest[group=stratum] <= 0.2"`) or as the
        plan has them; by default the plan's own.
    utility
        Figures to report beside the risk, for instance `"delta[variable=bmi]"`; by default how far the coefficients of
        the user's model moved, or else `u_main`.
    replications
        Most runs at each value; by default 10, and 5 above 100,000 records.
    tolerance
        Share of the value to which it is found.
    grid
        How many values, evenly spread, are tried besides.
    kept
        Probability, 0.5 to 0.999, with which one release with an unknown secret must keep all limits. Without it the
        mean over releases must, and about one release in two fails.
    model, family, w1, w2
        As in `protect`.
    progress
        Called with what is being done, in words without any value of the data, and the share of the work that is done
        before it, from 0 to 1: `lambda what, share: print(f"{share:.0%} {what}")`.

    Returns
    -------
    Tuned
        With `.value`, `.met`, `.path`, `.plan` and `.tidy()`.

    Raises
    ------
    PlanError, FormulaError
        Where the plan, the parameter, the range or a limit is wrong.
    DataError
        Where the data are not fit for a step at some value.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato import steps
    >>> rows = pl.DataFrame({"id": range(60), "age": [20 + 7 * i % 53 for i in range(60)]})
    >>> plan = Plan(variables={"id": {"role": "record"}, "age": {"role": "key", "kind": "integer"}},
    ...             steps=[steps.Centroids(columns=["age"], k=3, grouping="mdav")])
    >>> found = tune(plan, rows, parameter="steps.0.k", range=(3, 12), limit="linkage_nearest[group=overall] < 0.15")
    >>> found.met, found.plan.steps[0].k == found.value
    (True, True)
    """
    limits = [limit] if isinstance(limit, str | Limit) else limit or ()
    whole, rows = loaded(plan, data), read_whole(data, "Tuning")
    one = plan_for(whole, table, rows)
    found = tuning.tune(
        one,
        rows,
        parameter=parameter,
        between=range,
        limits=[Condition(each) if isinstance(each, Limit) else parse_condition(each) for each in limits],
        utility=[parse_figure(each) for each in ([utility] if isinstance(utility, str) else utility)],
        how=Measuring(w1=w1, w2=w2, model=model, family=family),
        replications=replications,
        tolerance=tolerance,
        grid=grid,
        kept=kept,
        progress=progress,
    )
    return replace(found, plan=whole.with_table(one.table_name, found.plan)) if whole.tables else found
