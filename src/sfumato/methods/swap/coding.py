"""The rows of a stratum as arrays: whose they are, in which order they stand, how near they are to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hidden import leaving
from sfumato.kernels.neighbours.similar import leading, on_lattice
from sfumato.kernels.rows import scatter
from sfumato.methods.base import StepDraws
from sfumato.methods.swap.values import amount, doubles, ordered, value_bits

__all__ = ["GAP", "Coded", "coded", "coordinates", "gaps_of", "own_units"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]

GAP = -1
"""Code of a missing category."""
_CUT = 4.0  # standard deviations beyond which a number is no farther away
_OF_CATEGORY, _OF_GAP = 1.2, 1.5
_COMMONEST = 30  # categories with a coordinate of their own


@dataclass(frozen=True)
class Coded:
    """Columns of a stratum as arrays, in the order of its rows.

    Parameters
    ----------
    codes
        Number of each value in its column, `GAP` for a gap, by categories, shape (n,) each.
    numbers
        Values of each number, NaN for a gap, shape (n,) each.
    """

    codes: dict[str, Ints]
    numbers: dict[str, Floats]


def coded(batch: pl.DataFrame, columns: Sequence[str], codebook: Codebook) -> Coded:
    """Tell numbers and dates from all else, and number the values of that."""
    codes: dict[str, Ints] = {}
    numbers: dict[str, Floats] = {}
    for n in columns:
        value = batch[n]
        gap = gaps_of(value, codebook[n])
        if amount(codebook[n]) and ordered(value.dtype):
            number = doubles(value).fill_null(float("nan")).to_numpy().copy()
            number[gap] = np.nan
            numbers[n] = number
        else:
            rank = _comparable(value).rank("dense").fill_null(0).to_numpy().astype(np.int64)
            rank[gap] = GAP
            codes[n] = rank
    return Coded(codes, numbers)


def gaps_of(value: pl.Series, variable: Variable) -> Bools:
    """Where there is no value, shape (n,)."""
    book = Codebook({"value": variable})  # a name such as `^x$` would be taken for a pattern
    return value.alias("value").to_frame().select(book.missing("value", value.dtype)).to_series().to_numpy()


def _comparable(value: pl.Series) -> pl.Series:
    """Values by which equal ones are found on every engine."""
    return value.cast(pl.String) if value.dtype in (pl.Categorical, pl.Enum) else value


def own_units(batch: pl.DataFrame, draws: StepDraws) -> Words:
    """Whose draws each row's are, shape (n,): its record's; without such an id those of the values in the row.

    Rows that are equal in all columns are told apart by a count, which changes nothing: whichever is which, the release
    is the same.
    """
    if draws.record is not None:
        return draws.units(batch)
    told = [batch[n] for n in leaving(batch.columns) if not batch[n].dtype.is_nested()]
    word = value_bits(told) if told else np.zeros(batch.height, dtype=np.uint64)
    twin = pl.Series("w", word).to_frame().select(pl.int_range(pl.len()).over("w")).to_series().to_numpy()
    return np.asarray(scatter(word + twin.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)))


def coordinates(known: Coded, codebook: Codebook) -> Floats:
    """Points that are near where records are alike, shape (n, d), rows in an order that nothing in the data chose.

    Numbers in standard deviations, cut at four; two categories as one of them, standardised; of more the thirty
    commonest, and gaps, as indicators. Of many coordinates the leading principal components.
    """
    parts: list[Floats] = []
    for number in known.numbers.values():
        gap = np.isnan(number)
        parts += [_standardised(number, gap), *_of_gaps(gap)]
    for code in known.codes.values():
        gap = code == GAP
        values, times = np.unique(code[~gap], return_counts=True)
        if len(values) == 2:
            parts.append(_standardised((code == values[1]).astype(np.float64), gap))
        elif len(values) > 2:
            commonest = values[np.argsort(-times, kind="stable")][:_COMMONEST]
            parts.append(_OF_CATEGORY * (code[:, None] == commonest).astype(np.float64))
        parts += _of_gaps(gap)
    some = next(iter({**known.numbers, **known.codes}.values()))
    points = np.column_stack(parts) if parts else np.zeros((len(some), 1))
    return on_lattice(leading(points))


def _standardised(number: Floats, gap: Bools) -> Floats:
    """A number in standard deviations from its mean, where a gap lies; nothing where it does not vary."""
    there = number[~gap]
    sd = float(there.std()) if len(there) else 0.0
    if sd == 0.0:
        return np.zeros((len(number), 1))
    z = np.clip((number - there.mean()) / sd, -_CUT, _CUT)
    return np.asarray(np.where(gap, 0.0, z)[:, None])


def _of_gaps(gap: Bools) -> list[Floats]:
    """An indicator of gaps, where some values are missing and not all."""
    return [_OF_GAP * gap[:, None].astype(np.float64)] if gap.any() and not gap.all() else []
