"""In which order records leave that are not in memory: hidden columns, by which they are sorted as they are written.

The rules are those of `sfumato.release.order`.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from sfumato.data.dataset import Parted
from sfumato.data.disclosure import COPY
from sfumato.data.files.table import finite
from sfumato.data.hidden import HIDDEN, leaving
from sfumato.data.roles import Role
from sfumato.draws import Draws, Purpose, sortable, units, written
from sfumato.plan.plan import Plan
from sfumato.release.order import near

__all__ = ["in_order"]

_ORDER = f"{HIDDEN}order:"


def in_order(data: Parted, plan: Plan, draws: Draws) -> tuple[Parted, tuple[str, ...]]:
    """Give the data as they are to be written, and the columns by which they are sorted then.

    NaN leaves as missing; infinite values are refused as the parts are written, as in every file.

    Parameters
    ----------
    data
        The released data; hidden columns are left out.
    plan
        The plan; with `order: input` records leave as they come.
    draws
        The release's keyed draws.

    Returns
    -------
    data, columns
        The data with hidden columns for the order, and the names of all columns that it hangs on, first ones first.
    """
    columns = leaving(data.codebook)
    several = any(step.name == "synthesise" for step in plan.steps) and COPY in columns
    copies = (COPY,) if several else ()
    record = data.codebook.the(Role.RECORD)
    if plan.order == "input":
        return data.map(lambda batch: finite(batch.select(columns))), ()
    if record is not None and record in columns and not any(record in step.changes for step in plan.steps):
        what = Purpose("order", strength=plan.digest)
        return data.map(_keyed(columns, record, what, draws)), (*copies, f"{_ORDER}word", f"{_ORDER}unit")
    schema = {n: data.schema[n] for n in columns}
    first = {f"{_ORDER}{i}": near(pl.col(n), t) for i, (n, t) in enumerate(schema.items()) if _rounded(t)}
    bits = {f"{_ORDER}bits {i}": _bits(n) for i, (n, t) in enumerate(schema.items()) if t.is_float()}

    def by_values(batch: pl.DataFrame) -> pl.DataFrame:
        leaving = finite(batch.select(columns))
        return leaving.with_columns(x.alias(n) for n, x in (first | bits).items())

    keys = (f"{_ORDER}{i}" if _rounded(t) else n for i, (n, t) in enumerate(schema.items()))
    return data.map(by_values), tuple(dict.fromkeys((*copies, *keys, *bits)))


def _keyed(columns: list[str], record: str, what: Purpose, draws: Draws) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Beside each record the first word of its draw, and its unit, which tells equal ones apart."""

    def keyed(batch: pl.DataFrame) -> pl.DataFrame:
        ids = batch[record]
        unit = units(ids if ids.dtype.is_integer() else written(ids))
        word = draws.words(unit, what)[:, 0]
        places = (pl.Series(f"{_ORDER}{n}", sortable(x)) for n, x in (("word", word), ("unit", unit)))
        return finite(batch.select(columns)).with_columns(*places)

    return keyed


def _rounded(dtype: pl.DataType) -> bool:
    """Whether values are not compared as they are."""
    return dtype.is_float() or dtype in (pl.Categorical, pl.Enum)


def _bits(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64).reinterpret(signed=True)
