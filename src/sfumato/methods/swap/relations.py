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

__all__ = ["MOST", "Numbering", "counts_of", "hidden", "products", "shift"]

Floats = NDArray[np.float64]
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


def products(columns: Sequence[str], scale: Mapping[str, tuple[float, float]]) -> Folded:
    """Ask for the sums from which the correlations of all pairs of columns follow, each over who has both values.

    Parameters
    ----------
    columns
        Columns of numbers, null where there is none.
    scale
        About where each of them is, and how large.
    """
    from sfumato.measures.utility.correlations import products as of_pairs

    def values(rows: pl.DataFrame) -> Floats:
        return rows.select(pl.col(columns).cast(pl.Float64)).to_numpy()

    middle, size = np.array([scale[n] for n in columns]).reshape(-1, 2).T
    return of_pairs(columns, values, middle, size)


def shift(before: pl.DataFrame, after: pl.DataFrame, columns: int) -> float | None:
    """Mean change of the correlations of so many columns, its sign aside; None where none is told of both.

    Parameters
    ----------
    before, after
        Answers to `products`.
    columns
        How many there are.

    Examples
    --------
    >>> scale = {"a": (2.0, 1.0), "b": (4.0, 2.0)}
    >>> question = products(["a", "b"], scale)
    >>> one, two = ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]), ([1.0, 2.0, 3.0], [6.0, 4.0, 2.0])
    >>> told = [question.merge(question.f(pl.DataFrame(dict(zip("ab", each))))) for each in (one, two)]
    >>> shift(*told, 2)
    2.0
    """
    from sfumato.measures.utility.correlations import pearson

    both = zip(pearson(before, columns), pearson(after, columns), strict=True)
    moved = [abs(b - a) for a, b in both if a is not None and b is not None]
    return float(np.mean(moved)) if moved else None
