"""Bands of numbers: their cut points, given or learned, and their labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from sfumato.data.coarsened import Coarsened
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.described import Described
from sfumato.data.disclosure import Disclosed
from sfumato.data.error_model import Bounds
from sfumato.data.holding import holding
from sfumato.data.query import COUNT
from sfumato.data.roles import Kind
from sfumato.draws import shortest
from sfumato.errors import DataError
from sfumato.kernels.counted import counted_quantile

__all__ = ["Bands", "Cuts", "cut_points", "fewest", "labels_of", "learned", "told_cuts"]

_APART = 5
"""The ends between which bands of equal width lie leave so many records outside, so that they are nobody's value."""


class Bands(Described):
    """Bands whose cut points are learned from the data.

    Parameters
    ----------
    n
        How many bands.
    method
        Of equal width (`equal`), of equal width on a logarithmic scale (`log`), or with equally many records
        (`quantile`).
    k
        Bands with fewer records than this are merged with their neighbours; 0 leaves all that somebody is in.

    Examples
    --------
    >>> Bands(n=5).method
    'quantile'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    n: int = Field(ge=2, le=1000)
    method: Literal["equal", "log", "quantile"] = "quantile"
    k: int = Field(default=5, ge=0)


@dataclass(frozen=True)
class Cuts:
    """The bands of a column.

    Parameters
    ----------
    points
        Cut points in rising order, each of which begins its band.
    labels
        Names of the bands, one more than there are cut points.
    fewer
        Whether bands that too few were in were merged.

    Examples
    --------
    >>> Cuts((10.0,), ("low", "high")).bands()
    {'low': (None, 10.0), 'high': (10.0, None)}
    """

    points: tuple[float, ...]
    labels: tuple[str, ...]
    fewer: bool = False

    def bands(self, low: float | None = None, high: float | None = None) -> dict[str, Bounds]:
        """What each band stands for, by its label: low end, high end (which is in the next band), None where open."""
        return dict(zip(self.labels, itertools.pairwise((low, *self.points, high)), strict=True))


def labels_of(points: Sequence[float], whole: bool = False) -> tuple[str, ...]:
    """Name of each band, lowest first: of whole numbers by their first and last one.

    Examples
    --------
    >>> labels_of([18, 65.5])
    ('below 18', '18 to below 65.5', '65.5 and over')
    >>> labels_of([18, 20, 21], whole=True)
    ('below 18', '18-19', '20', '21 and over')
    """
    cuts = [repr(float(b)).removesuffix(".0") for b in points]  # every digit, or the label would be untrue
    if whole:
        inner = [_whole(int(low), int(high) - 1) for low, high in itertools.pairwise(points)]
    else:
        inner = [f"{low} to below {high}" for low, high in itertools.pairwise(cuts)]
    return (f"below {cuts[0]}", *inner, f"{cuts[-1]} and over")


def _whole(low: int, high: int) -> str:
    if low == high:
        return str(low)
    return f"{low} to {high}" if low < 0 else f"{low}-{high}"


def cut_points(values: NDArray[np.float64], count: NDArray[np.int64], bands: Bands) -> list[float]:
    """Cut points as they come out, from different values in rising order and how many records have each.

    Parameters
    ----------
    values, count
        Shape (n,).
    bands
        What is asked for.

    Examples
    --------
    >>> cut_points(np.arange(1.0, 101.0), np.ones(100, dtype=np.int64), Bands(n=4))
    [25.75, 50.5, 75.25]
    """
    if bands.method == "quantile":
        points = [counted_quantile(values, count, i / bands.n) for i in range(1, bands.n)]
        if len(values) < 2:
            return points
        above = float(values[0] + values[1]) / 2  # where so many have the lowest value that nobody would be below
        return [max(p, above) for p in points]
    if bands.method == "log":
        values, count = values[values > 0], count[values > 0]
    if count.sum() < 2 * _APART:
        return []
    low = float(values[np.argmax(np.cumsum(count) >= _APART)])
    high = float(values[::-1][np.argmax(np.cumsum(count[::-1]) >= _APART)])
    if low >= high:
        return []
    if bands.method == "log":
        low, high = math.log(low), math.log(high)
    points = [low + (high - low) * i / bands.n for i in range(1, bands.n)]
    return [math.exp(p) for p in points] if bands.method == "log" else points


def learned(column: str, counts: pl.DataFrame, codebook: Codebook, bands: Bands, names: Sequence[str] | None) -> Cuts:
    """The bands of a column, from how many records have each value.

    Cut points have 3 significant digits, and of whole numbers are whole. A band that fewer than `k` records are in is
    merged with the next one, the last with the one before.

    Parameters
    ----------
    column
        The column.
    counts
        Answer to `Counts((column,))`.
    codebook
        What is known of it.
    bands
        What is asked for.
    names
        Labels, if there are some of the caller's.

    Raises
    ------
    DataError
        Where the column holds no numbers, or no two bands can be made of them, or not as many as there are names.
    """
    values, count = _counted(column, counts, codebook)
    whole = _is_whole(counts.schema[column], codebook[column])
    rounded = (float(f"{p:.3g}") for p in (cut_points(values, count, bands) if len(values) else ()))
    asked = sorted({float(math.ceil(p)) if whole else p for p in rounded})
    points = _filled(asked, values, count, max(bands.k, 1))
    if not points:
        raise DataError(
            f"The values of column {column!r} are too alike or too few to be cut into bands of at least "
            f"{max(bands.k, 1)} records. Give cut points (band: […]), or leave the column out."
        )
    fewer = len(points) + 1 < bands.n
    if names is not None and fewer:
        raise DataError(
            f"Fewer bands than `labels` can be made of column {column!r}. Ask for fewer, or leave `labels` out."
        )
    return Cuts(tuple(points), tuple(names or labels_of(points, whole)), fewer)


def told_cuts(column: str, told: Sequence[Disclosed]) -> Cuts | None:
    """The bands of a column that a disclosure tells, where it tells them once.

    Examples
    --------
    >>> from sfumato.data.coarsened import Coarsened
    >>> told_cuts("age", [Coarsened(("age",), bands={"young": (None, 40), "old": (40, None)})]).points
    (40.0,)
    """
    found = [part.bands for part in told if isinstance(part, Coarsened) and part.bands and column in part.columns]
    if len(found) != 1:
        return None
    points = [high for _, high in found[0].values()][:-1]
    return Cuts(tuple(float(p) for p in points if p is not None), tuple(found[0]))


def fewest(column: str, counts: pl.DataFrame, codebook: Codebook, cuts: Cuts) -> int:
    """How many records the band has that has fewest.

    Examples
    --------
    >>> counts = pl.DataFrame({"age": [30, 50], COUNT: [9, 7]})
    >>> fewest("age", counts, Codebook(), Cuts((40.0,), ("young", "old")))
    7
    """
    value, count = _counted(column, counts, codebook)
    return int(np.bincount(np.searchsorted(cuts.points, value, side="right"), count, len(cuts.labels)).min())


def _counted(column: str, counts: pl.DataFrame, codebook: Codebook) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Different values in rising order, and how many records have each."""
    dtype = counts.schema[column]
    if not dtype.is_numeric():
        raise DataError(f"Column {column!r} holds {holding(dtype)}; `band` of recode needs numbers.")
    held = counts.filter(~codebook.missing(column, dtype)).select(shortest(pl.col(column), dtype).alias("value"), COUNT)
    held = held.group_by("value").agg(pl.col(COUNT).sum()).sort("value")
    return held["value"].to_numpy(), held[COUNT].to_numpy()


def _is_whole(dtype: pl.DataType, variable: Variable) -> bool:
    return dtype.is_integer() or variable.kind == Kind.INTEGER


def _filled(points: Sequence[float], values: NDArray[np.float64], count: NDArray[np.int64], fewest: int) -> list[float]:
    """Cut points between which there are so many records, the first band and the last one included."""
    kept: list[float] = []
    reached = np.concatenate([[0], np.cumsum(count)])
    below = 0
    for point in points:
        n = int(reached[np.searchsorted(values, point, side="left")])
        if n - below >= fewest:
            kept.append(point)
            below = n
    if kept and reached[-1] - below < fewest:
        kept.pop()
    return kept
