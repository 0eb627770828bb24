"""How far values moved, told of all records by sums of what is made of true and released ones."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.query import Folded, Moments
from sfumato.measures.folds.asking import Question
from sfumato.measures.folds.reading import as_released, learnt, reader, remembered, scales
from sfumato.measures.subject import Subject

__all__ = ["NO_SPREAD", "moves", "rounded", "spread"]

Floats = NDArray[np.float64]
Moves = Generator[Sequence[Question], Sequence[pl.DataFrame], list[Mapping[str, Any]]]

NO_SPREAD = 1e-13
"""The variance of a column about 0 and of size 1 that comes from rounding alone."""
_DIGITS = 12  # of what is added up in any order of batches


def moves(subject: Subject, columns: Sequence[str], kinds: Callable[[Floats, Floats], Mapping[str, Floats]]) -> Moves:
    """Sums over all records of what is made of true values and of how far they moved; of each column.

    Parameters
    ----------
    subject
        All records.
    columns
        Numbers.
    kinds
        Makes tables of true values and of moves, both of shape (n, p), about 0 and of size 1, NaN where missing.

    Returns
    -------
    list of mapping
        For each column the sum of each table, by its name, and how many values it has, `n` before the name.
    """
    sides = subject.everybody
    was, now = reader(sides, columns, sides.true), reader(sides, columns, as_released)
    yield from learnt(sides, Moments(tuple(columns)))
    middle, sd = scales(remembered(sides)[0], columns)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        x, z = (was(batch) - middle) / sd, (now(batch) - middle) / sd  # about 0 and of size 1: nothing cancels below
        tables = kinds(x, x - z)
        sums = {kind: np.nansum(table, axis=0) for kind, table in tables.items()}
        sums |= {f"n {kind}": np.count_nonzero(~np.isnan(table), axis=0) for kind, table in tables.items()}
        return pl.DataFrame([pl.Series("column", range(len(columns))), *(pl.Series(n, sums[n]) for n in sums)])

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by("column").agg(pl.all().sum()).sort("column")

    needed = tuple(dict.fromkeys(x for n in columns for x in (sides.true(n), n)))
    (told,) = yield [Question(sides.after, Folded(needed, f, merge))]
    return list(told.iter_rows(named=True))


def spread(sums: Mapping[str, Any], kind: str) -> float | None:
    """The variance of a column about 0 and of size 1, of its sum and that of its squares; None where it does not vary.

    Examples
    --------
    >>> spread({"n true": 2, "true": 0.0, "square true": 2.0}, "true")
    2.0
    """
    n, x, xx = int(sums[f"n {kind}"]), float(sums[kind]), float(sums[f"square {kind}"])
    if n < 2 or xx / n - (x / n) ** 2 <= NO_SPREAD:
        return None
    return (xx - x * x / n) / (n - 1)


def rounded(value: float) -> float:
    """The value without its last digits, which hang on the order of batches.

    Examples
    --------
    >>> rounded(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.{_DIGITS}g}")
