"""Which columns make classes of people alike, where rows are not in memory."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.hidden import WAS, leaving
from sfumato.data.query import Folded
from sfumato.data.roles import Role
from sfumato.plan.plan import Plan
from sfumato.release.classes import Exposed, exposed

__all__ = ["exposed_off_memory"]


def exposed_off_memory(plan: Plan, after: Parted) -> Exposed:
    """The classes of a release, as `sfumato.release.classes.exposed` has them.

    Parameters
    ----------
    plan
        The plan that made it.
    after
        The released data, with true values beside them in hidden columns.
    """
    book = after.codebook.only(leaving(after.codebook))
    asked = [n for n in plan.traces.masked if n in book and book[n].role == Role.KEY and f"{WAS}{n}" in after.schema]
    shares = _left(after, [n for n in asked if book[n].numeric and after.schema[f"{WAS}{n}"].is_numeric()])
    return exposed(plan, book, shares=shares)


def _left(after: Parted, columns: Sequence[str]) -> dict[str, float]:
    """The share of each column's values that masking left as they were."""
    if not columns:
        return {}
    book = after.codebook
    had = {n: ~Codebook({f"{WAS}{n}": book[n]}).missing(f"{WAS}{n}", after.schema[f"{WAS}{n}"]) for n in columns}

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        same = {n: pl.col(n).cast(pl.Float64) == pl.col(f"{WAS}{n}").cast(pl.Float64) for n in columns}
        told = [(x & same[n].fill_null(False)).sum().cast(pl.Int64).alias(f"same {n}") for n, x in had.items()]
        return batch.select(*told, *(x.sum().cast(pl.Int64).alias(f"had {n}") for n, x in had.items()))

    told = after.ask(Folded(tuple(x for n in columns for x in (n, f"{WAS}{n}")), f, lambda frames: frames.sum()))
    counts = told.row(0, named=True)
    return {n: counts[f"same {n}"] / counts[f"had {n}"] for n in columns if counts[f"had {n}"]}
