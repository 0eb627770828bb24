"""Look up by its stratum what was learned about it, where a stratum's records lie in any batches."""

from __future__ import annotations

from typing import Final, Literal, TypedDict

import polars as pl

__all__ = ["LOOKED_UP", "category"]


class _Join(TypedDict):
    how: Literal["left"]
    nulls_equal: bool
    maintain_order: Literal["left"]


LOOKED_UP: Final[_Join] = {"how": "left", "nulls_equal": True, "maintain_order": "left"}
"""How records are joined to a table with a row for each stratum: they stay as they are, and where they are."""


def category(column: str, dtype: pl.DataType) -> pl.Expr:
    """A column as strata take it: null and NaN are one category.

    Examples
    --------
    >>> pl.DataFrame({"a": [1.0, float("nan")]}).select(category("a", pl.Float64()))["a"].to_list()
    [1.0, None]
    """
    return pl.col(column).fill_nan(None) if dtype.is_float() else pl.col(column)
