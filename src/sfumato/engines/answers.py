"""The form of the answers, shared by every engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.holding import holding
from sfumato.data.query import Classes, Counts, Folded, Largest, Moments, Quantiles, Query
from sfumato.draws import shortest
from sfumato.engines.groups import Groups
from sfumato.errors import DataError
from sfumato.kernels.grid import decimals
from sfumato.kernels.moments import exact_sums

__all__ = ["empty_moments", "keys", "moment_rows", "present", "refuse_unknown"]


def empty_moments() -> dict[str, Any]:
    """Schema of an answer to `Moments`, after the columns `by`."""
    return {
        "variable": pl.String,
        "n": pl.Int64,
        "mean": pl.Float64,
        "variance": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "decimals": pl.Int64,
    }


def moment_rows(variable: str, groups: Groups) -> Iterator[dict[str, Any]]:
    """Rows of that answer, one a group."""
    for sums, (key, values) in zip(exact_sums(groups.values, groups.starts), groups.each(), strict=True):
        yield {
            **key,
            "variable": variable,
            "n": sums.n,
            "mean": sums.mean if sums.n else None,
            "variance": sums.variance if sums.n > 1 else None,
            "low": float(values.min()) if sums.n else None,
            "high": float(values.max()) if sums.n else None,
            "decimals": decimals(values),
        }


def keys(by: Sequence[str], schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Grouping columns, with NaN as null and −0 as 0."""
    return [pl.col(n).fill_nan(None) + 0.0 if schema[n].is_float() else pl.col(n) for n in by]


def present(codebook: Codebook, column: str, dtype: pl.DataType) -> pl.Expr:
    """Values of a column as floats, null wherever there is none.

    Raises
    ------
    DataError
        For a column of another kind.
    """
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        raise DataError(f"Column {column!r} holds {holding(dtype)}; a numeric column is needed here.")
    value = shortest(pl.col(column), dtype).cast(pl.Float64)
    return pl.when(~codebook.missing(column, dtype)).then(value).alias(column)


def refuse_unknown(query: Query, columns: Iterable[str]) -> None:
    """Refuse a question that names a column which the data do not have."""
    match query:
        case Counts(by, extra) | Classes(by, extra):
            names = (*by, *((extra,) if extra else ()))
        case Moments(asked, by):
            names = (*asked, *by)
        case Folded(names):
            pass
        case Quantiles(column, _, by) | Largest(column, by, _):
            names = (column, *by)
    unknown = [n for n in names if n not in set(columns)]
    if unknown:
        raise DataError(f"There is no column {', '.join(map(repr, unknown))} in the data.")
