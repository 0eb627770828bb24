"""Which numbers averages over similar records can hide, and which must be cut into bands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Variable
from sfumato.data.kinds import Facts

__all__ = ["hardly_masked", "patterns_of"]

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


def patterns_of(frame: pl.DataFrame, variables: Mapping[str, Variable]) -> NDArray[np.int64]:
    """Number the combinations of columns in which records have a value, shape (n,); all 0 where none is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"a": [1, None, 3], "b": [1, 2, 3]})
    >>> patterns_of(rows, {"a": Variable(), "b": Variable()}).tolist()
    [1, 0, 1]
    """
    number = np.zeros(frame.height, dtype=np.int64)
    for facts in (Facts(frame.get_column(n), v) for n, v in variables.items()):
        if not facts.complete:
            number = 2 * number + facts.present
            seen = np.bincount(number) > 0
            number = (np.cumsum(seen) - 1)[number]
    return number
