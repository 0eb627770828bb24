"""Which numbers averages over similar records can hide, and which must be cut into bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sfumato.data.codebook import Variable
from sfumato.data.kinds import Facts

__all__ = ["MOST_PATTERNS", "hardly_masked", "patterns_of", "too_rare"]

MOST_PATTERNS = 100
"""Combinations of missing values beyond which averaging each among its own kind takes too long."""
_STEPS = 3  # a group of similar records must be wider than so many different values


def hardly_masked(frame: pl.DataFrame, variables: Mapping[str, Variable], k: int) -> tuple[str, ...]:
    """Numbers with so few different values that most groups of k similar records share them: averages leave them.

    In p columns, groups of k among n records are about (k/n)^(1/p) of a column's spread wide. As many of its values
    fall into one group; values are counted as one over the chance that two records share theirs.

    Parameters
    ----------
    frame
        The table.
    variables
        The columns to average together.
    k
        Records in a group.

    Examples
    --------
    >>> rows = pl.DataFrame({"age": [20 + i % 50 for i in range(5000)], "pay": [1.5 * i for i in range(5000)]})
    >>> [hardly_masked(rows.select(n), {n: Variable()}, 5) for n in ("age", "pay")]
    [('age',), ()]
    """
    different = {n: _different(Facts(frame.get_column(n), v).values) for n, v in variables.items()}
    left = dict(different)
    while left and frame.height:
        width = min(1.0, k / frame.height) ** (1 / len(left))
        few = [n for n, values in left.items() if values * width < _STEPS]
        if not few:
            break
        left = {n: values for n, values in left.items() if n not in few}
    return tuple(n for n in variables if n not in left)


def _different(values: pl.Series) -> float:
    """One over the chance that two records share a value."""
    counts = values.value_counts(name="records")["records"].to_numpy() if len(values) else np.zeros(1)
    return float(counts.sum()) ** 2 / float((counts.astype(np.float64) ** 2).sum() or 1)


def patterns_of(frame: pl.DataFrame, variables: Mapping[str, Variable]) -> dict[tuple[bool, ...], int]:
    """How many records have each combination of columns with a value; empty where no value is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"a": [1, None], "b": [1, 2]})
    >>> patterns_of(rows, {"a": Variable(), "b": Variable()})
    {(False, True): 1, (True, True): 1}
    """
    held = {n: Facts(frame.get_column(n), v) for n, v in variables.items()}
    if all(len(f.values) == frame.height for f in held.values()):
        return {}
    present = np.column_stack([f.present for f in held.values()])
    rows, counts = np.unique(present, axis=0, return_counts=True)
    return {tuple(row.tolist()): int(count) for row, count in zip(rows, counts, strict=True)}


def too_rare(patterns: Mapping[tuple[bool, ...], int], columns: Sequence[str], smallest: int) -> tuple[str, ...]:
    """Columns that must go so that whatever values a record has, at least `smallest` records have them too.

    The one with most missing values goes first.

    Examples
    --------
    >>> too_rare({(True, True): 2, (True, False): 20}, ["a", "b"], 10)
    ('b',)
    """
    gone: list[str] = []
    kept = list(range(len(columns)))
    while kept and not _enough(patterns, kept, smallest):
        worst = min(kept, key=lambda j: (sum(c for p, c in patterns.items() if p[j]), -j))
        kept.remove(worst)
        gone.append(columns[worst])
    return tuple(gone)


def _enough(patterns: Mapping[tuple[bool, ...], int], kept: Sequence[int], smallest: int) -> bool:
    have = {tuple(p[j] for j in kept) for p in patterns}
    for wanted in have:
        needed = [j for j, w in zip(kept, wanted, strict=True) if w]
        if needed and sum(c for p, c in patterns.items() if all(p[j] for j in needed)) < smallest:
            return False
    return True
