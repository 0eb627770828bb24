"""In which order the records of a release leave: one that tells nothing of the input's, nor of another release's.

The input's order may say who somebody is (sorted by name, by ward, by day of admission) or who belongs together. Where
the record column leaves as it came, the order is a permutation keyed on the record's id, the plan and the secret. Else
records are sorted by what is released of them, which tells no more than the records themselves.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from sfumato.data.disclosure import COPY
from sfumato.data.roles import Role
from sfumato.draws import Draws, Purpose, units, written
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.plan import Plan

__all__ = ["in_release_order", "near"]

_DIGITS = 9
"""Numbers that agree in so many digits are told apart last, so that processors' last bits do not move records."""


def in_release_order(data: PolarsDataset, plan: Plan, draws: Draws) -> PolarsDataset:
    """Bring records into the order in which they leave.

    Parameters
    ----------
    data
        The table as its steps left it.
    plan
        The plan; with `order: input` the records stay where they are.
    draws
        The release's keyed draws.

    Examples
    --------
    >>> from sfumato.data.codebook import Codebook
    >>> data = PolarsDataset(pl.DataFrame({"age": [50, None, 20]}), Codebook(), ".csv")
    >>> in_release_order(data, Plan(), Draws(bytes(16))).frame["age"].to_list()
    [None, 20, 50]
    """
    if plan.order == "input" or not data.columns:
        return data
    record = data.codebook.the(Role.RECORD)
    as_it_came = record in data.columns and not any(record in step.changes for step in plan.steps)
    if record is None or not as_it_came:
        return replace(data, frame=_copy_by_copy(data.frame[_by_values(data.frame)], plan))
    ids = data.frame[record]  # whatever they are: this step takes all
    order = draws.permutation(
        units(ids if ids.dtype.is_integer() else written(ids)), Purpose("order", strength=plan.digest)
    )
    return replace(data, frame=_copy_by_copy(data.frame[order], plan))


def _copy_by_copy(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Synthetic copies one after the other."""
    several = any(step.name == "synthesise" for step in plan.steps) and COPY in frame.columns
    return frame.sort(COPY, maintain_order=True) if several else frame


def _by_values(frame: pl.DataFrame) -> pl.Series:
    """The rows sorted by their values, column by column, missing ones first: rows that still tie are equal."""
    first = [near(pl.col(n), t) for n, t in frame.schema.items()]
    bits = [pl.col(n).cast(pl.Float64).reinterpret(signed=True) for n, t in frame.schema.items() if t.is_float()]
    return frame.select(pl.arg_sort_by(*first, *bits)).to_series()


def near(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """What is compared first: numbers in their leading digits, categories by their text.

    Examples
    --------
    >>> pl.DataFrame({"a": [0.1 + 0.2]}).select(near(pl.col("a"), pl.Float64()))["a"].to_list()
    [0.3]
    """
    if dtype.is_float():
        return column.round_sig_figs(_DIGITS)
    return column.cast(pl.String) if dtype in (pl.Categorical, pl.Enum) else column
