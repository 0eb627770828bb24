"""How far correlations move: of columns as numbers before and after, wherever their rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import Counts, Folded
from sfumato.data.roles import Kind
from sfumato.methods.swap.values import ordered

__all__ = ["Numbering", "correlations", "counts_of", "hidden", "products", "shift"]

Floats = NDArray[np.float64]
_PLACE, _SUM = "place", "sum"
_NO_CODES = (Kind.TEXT, Kind.DATE)


MOST = 40
"""Columns whose correlations are compared."""


def hidden(side: str, column: str) -> str:
    """Hidden column of a column's values as numbers, `was` or `is`; true values that travel along have other names."""
    return f"{HIDDEN}number {side}:{column}"


@dataclass(frozen=True)
class Numbering:
    """Columns as numbers: numbers and dates as they are, categories by their place among all values, sorted.

    Parameters
    ----------
    levels
        The values of each category, as text, in their order.
    """

    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @staticmethod
    def asked(columns: Sequence[str], codebook: Codebook) -> tuple[str, ...]:
        """The columns whose values are to be counted before they can be numbered."""
        return tuple(n for n in columns[:MOST] if not codebook[n].numeric and codebook[n].kind not in _NO_CODES)

    @classmethod
    def of(cls, names: Sequence[str], counts: Sequence[pl.DataFrame]) -> Numbering:
        """From the answers to `Counts` of each column that was asked for."""
        values = (each[n].drop_nulls().cast(pl.String).to_list() for n, each in zip(names, counts, strict=True))
        return cls(dict(zip(names, values, strict=True)))

    def numbers(self, frame: pl.DataFrame, columns: Sequence[str], codebook: Codebook, side: str) -> list[pl.Series]:
        """The columns as numbers, null where there is no value."""
        found = []
        for n in columns[:MOST]:
            value = frame[n].alias("value")
            if n in self.levels:
                codes = range(len(self.levels[n]))
                number = pl.col("value").cast(pl.String).replace_strict(self.levels[n], codes, default=None)
            elif codebook[n].numeric and ordered(value.dtype):
                number = pl.col("value").to_physical()
            else:
                continue
            gap = Codebook({"value": codebook[n]}).missing("value", value.dtype)
            told = value.to_frame().select(pl.when(~gap).then(number.cast(pl.Float64)).fill_nan(None))
            found.append(told.to_series().alias(hidden(side, n)))
        return found


def counts_of(names: Sequence[str]) -> tuple[Counts, ...]:
    """The questions whose answers `Numbering.of` takes."""
    return tuple(Counts((n,)) for n in names)


def products(columns: Sequence[str], middles: Mapping[str, float]) -> Folded:
    """Ask for the sums from which the correlations of all pairs of columns follow, each over who has both values.

    Parameters
    ----------
    columns
        Columns of numbers, null where there is none.
    middles
        A value near the mean of each, from which it is counted, so that no digits are lost.
    """

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        x = batch.select(pl.col(n).cast(pl.Float64) - middles.get(n, 0.0) for n in columns).to_numpy()
        there = ~np.isnan(x) if x.size else np.zeros(x.shape, dtype=bool)
        value, has = np.where(there, x, 0.0), there.astype(np.float64)
        sums = np.stack([has.T @ has, value.T @ has, (value**2).T @ has, value.T @ value])
        return pl.DataFrame({_PLACE: np.arange(sums.size), _SUM: sums.ravel()})

    return Folded(tuple(columns), f, lambda frames: frames.group_by(_PLACE).agg(pl.col(_SUM).sum()).sort(_PLACE))


def correlations(answer: pl.DataFrame) -> Floats:
    """Pairwise correlations from an answer to `products`, shape (p, p); NaN where one of two does not vary.

    Examples
    --------
    >>> frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 4.0, 7.0]})
    >>> question = products(["a", "b"], {})
    >>> round(float(correlations(question.merge(question.f(frame)))[0, 1]), 3)
    0.993
    """
    p = round(np.sqrt(answer.height / 4))
    n, total, squares, both = answer[_SUM].to_numpy().reshape(4, p, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares - total**2 / n
        found = (both - total * total.T / n) / np.sqrt(variance * variance.T)
    varies = variance > 1e-9 * squares
    return np.asarray(np.where((n > 1) & varies & varies.T, found, np.nan))


def shift(before: Floats, after: Floats) -> float | None:
    """Mean change of the correlations of two tables, its sign aside; None where there is none in both.

    Examples
    --------
    >>> shift(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.3], [0.3, 1.0]]))
    0.2
    """
    upper = np.triu_indices(len(before), 1)
    moved = np.abs(before[upper] - after[upper])
    there = moved[~np.isnan(moved)]
    return float(there.mean()) if len(there) else None
