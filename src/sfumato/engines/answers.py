"""The form of the answers, shared by every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.kernels.grid import decimals
from sfumato.kernels.moments import moments

__all__ = ["empty_moments", "moment_row"]


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


def moment_row(variable: str, values: NDArray[np.float64]) -> dict[str, Any]:
    """One row of that answer, from values without missing ones, shape (n,)."""
    n, mean, variance = moments(values)
    return {
        "variable": variable,
        "n": n,
        "mean": mean if n else None,
        "variance": variance if n > 1 else None,
        "low": float(values.min()) if n else None,
        "high": float(values.max()) if n else None,
        "decimals": decimals(values),
    }
