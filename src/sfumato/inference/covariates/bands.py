"""Numbers of which only a band was released: each is known to lie in an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened, Disclosure
from sfumato.errors import DataError

__all__ = ["Bands", "in_bands", "read_bands"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bands:
    """The interval of each record's true value.

    Parameters
    ----------
    low, high
        Ends, shape (n,); −∞ and ∞ of open bands, NaN where the value is missing.
    middle
        What a naive analysis would take: the middle of the band; of an open one, its end moved by half the mean width
        of the closed ones. Shape (n,).
    """

    low: Floats
    high: Floats
    middle: Floats


def in_bands(disclosure: Disclosure, column: str) -> Coarsened | None:
    """The part of a disclosure that tells a column's bands; None without one.

    Examples
    --------
    >>> in_bands(Disclosure(), "age") is None
    True
    """
    return next((p for p in disclosure.of(column) if isinstance(p, Coarsened) and p.bands), None)


def read_bands(frame: pl.DataFrame, codebook: Codebook, name: str, part: Coarsened) -> Bands:
    """Read a column of bands as intervals.

    Parameters
    ----------
    frame, codebook
        The released table.
    name
        The column.
    part
        What was disclosed of its bands.

    Raises
    ------
    DataError
        Where the column holds other bands, or none of them has both ends.

    Examples
    --------
    >>> told = Coarsened(("age",), bands={"young": (None, 30), "middle": (30, 60), "old": (60, None)})
    >>> read_bands(pl.DataFrame({"age": ["old", "middle"]}), Codebook(), "age", told).middle.tolist()
    [75.0, 45.0]
    """
    column, keys = _labels(frame, codebook, name, part)
    if len(set(keys.values())) < len(keys) or not set(column.drop_nulls().unique()) <= set(keys.values()):
        raise DataError(f"The bands of {name!r} are not those of its disclosure. Give the table as it was released.")
    low = {label: -math.inf if a is None else a for label, (a, _) in part.bands.items()}
    high = {label: math.inf if b is None else b for label, (_, b) in part.bands.items()}
    closed = [high[label] - low[label] for label in part.bands if math.isfinite(high[label] - low[label])]
    if not closed:
        raise DataError(
            f"No band of {name!r} has both ends, so that nothing tells how far its values spread. Write C({name}) in "
            "the formula, which takes the bands for categories."
        )
    half = sum(closed) / len(closed) / 2
    middle = {label: _middle(low[label], high[label], half) for label in part.bands}
    ends = ({key: told[label] for label, key in keys.items()} for told in (low, high, middle))
    return Bands(*(_per_record(column, end) for end in ends))


def _labels(
    frame: pl.DataFrame, codebook: Codebook, name: str, part: Coarsened
) -> tuple[pl.Series, dict[str, str | float]]:
    """The column, null where missing, and how it holds the label of each band: files read "1" as a number."""
    dtype = frame.schema[name]
    keys: dict[str, str | float] = {label: label for label in part.bands}
    if dtype.is_numeric():
        keys = {label: number for label in part.bands if (number := _number(label)) is not None}
    held = pl.col(name).cast(pl.Float64 if dtype.is_numeric() else pl.String)
    return frame.select(pl.when(~codebook.missing(name, dtype)).then(held)).to_series(), keys


def _number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def _middle(low: float, high: float, half: float) -> float:
    if math.isinf(low):
        return high - half
    return low + half if math.isinf(high) else (low + high) / 2


def _per_record(column: pl.Series, ends: Mapping[str | float, float]) -> Floats:
    values = column.replace_strict(list(ends), list(ends.values()), return_dtype=pl.Float64)
    return np.asarray(values.fill_null(math.nan).to_numpy())
