"""Rows in the types that a database has, under names that it cannot mistake, and back again.

The database knows no categories, and some of its types of time are coarser: texts and whole numbers stand for them.
"""

from __future__ import annotations

import polars as pl

__all__ = ["Stored"]

_WIDE = (pl.Int128, pl.UInt128)


class Stored:
    """How the rows of a table look in the database: the columns `c0`, `c1` and so on.

    Parameters
    ----------
    schema
        Types of the table.

    Examples
    --------
    >>> Stored(pl.Schema({"day": pl.Date(), "sex": pl.Categorical()})).schema
    Schema([('c0', Int32), ('c1', String)])
    """

    def __init__(self, schema: pl.Schema) -> None:
        self.table = schema
        self.names = {n: f"c{i}" for i, n in enumerate(schema)}
        self.schema = self.to(schema.to_frame()).schema

    def to(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows as the database has them."""
        return rows.select(_to(n, t).alias(self.names[n]) for n, t in self.table.items())

    def back(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows as they were."""
        return rows.select(_back(self.names[n], t).alias(n) for n, t in self.table.items())


def _to(name: str, dtype: pl.DataType) -> pl.Expr:
    if isinstance(dtype, pl.Categorical | pl.Enum) or dtype in _WIDE:
        return pl.col(name).cast(pl.String)
    if dtype.is_temporal():
        return pl.col(name).to_physical()
    return pl.col(name).cast(pl.Int8) if dtype == pl.Null else pl.col(name)


def _back(name: str, dtype: pl.DataType) -> pl.Expr:
    return pl.lit(None, pl.Null) if dtype == pl.Null else pl.col(name).cast(dtype)
