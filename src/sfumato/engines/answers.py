"""The form of the answers, shared by every engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.query import Counts, Largest, Moments, Quantiles, Query
from sfumato.errors import DataError
from sfumato.kernels.grid import decimals
from sfumato.kernels.moments import exact_sums

__all__ = ["empty_moments", "moment_rows", "refuse_unknown"]


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


def moment_rows(variable: str, values: NDArray[np.float64], starts: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    """Rows of that answer, one a group, from values without missing ones, see `exact_sums`."""
    ends = np.append(starts[1:], len(values))
    for sums, start, end in zip(exact_sums(values, starts), starts.tolist(), ends.tolist(), strict=True):
        group = values[start:end]
        yield {
            "variable": variable,
            "n": sums.n,
            "mean": sums.mean if sums.n else None,
            "variance": sums.variance if sums.n > 1 else None,
            "low": float(group.min()) if sums.n else None,
            "high": float(group.max()) if sums.n else None,
            "decimals": decimals(group),
        }


def refuse_unknown(query: Query, columns: Iterable[str]) -> None:
    """Refuse a question that names a column which the data do not have."""
    match query:
        case Counts(by, weight):
            names = (*by, *((weight,) if weight else ()))
        case Moments(asked, by):
            names = (*asked, *by)
        case Quantiles(column, _, by) | Largest(column, by, _):
            names = (column, *by)
    unknown = [n for n in names if n not in set(columns)]
    if unknown:
        raise DataError(f"There is no column {', '.join(map(repr, unknown))} in the data.")
