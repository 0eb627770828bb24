"""The only questions that a method may ask of a data set.

Each answer is a small Polars frame. Missing values (null, NaN, user-missing codes) take no part in `Moments`,
`Quantiles`, `Largest` and in the weight of `Counts`; in the columns `by` they are a group like any other, null and NaN
together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

__all__ = ["COUNT", "WEIGHT", "Counts", "Folded", "Largest", "Moments", "Quantiles", "Query"]

COUNT = "sfumato:count"
WEIGHT = "sfumato:weight"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records there are in each group.

    Answer: the columns `by`, then `COUNT` (int) and, with `weight`, `WEIGHT` (its sum); sorted by `by`. Their names are
    sfumato's own, so that no column of the data can bear them.
    """

    by: tuple[str, ...]
    weight: str | None = None


@dataclass(frozen=True, slots=True)
class Moments:
    """Number, mean and variance of each column, overall or in each group.

    Answer: the columns `by`, then `variable` (str), `n` (int, not missing), `mean`, `variance` (divisor n − 1; null
    below two values), `low` and `high` (smallest and largest value) and `decimals` (int: the fewest decimal places
    that write every value; 15 where there is no such grid); sorted by `by`, then in the order of `columns`.
    """

    columns: tuple[str, ...]
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles of one column by linear interpolation (type 7), overall or in each group.

    Answer: the columns `by`, then `prob` and `value`; sorted by `by`, then in the order of `probs`.
    """

    column: str
    probs: tuple[float, ...]
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Largest:
    """The `top` largest values of one column in each group: who dominates a total.

    Answer: the columns `by`, then `rank` (1 is the largest) and `value`; sorted by `by`, then `rank`.
    """

    column: str
    by: tuple[str, ...]
    top: int


@dataclass(frozen=True, slots=True)
class Folded:
    """Whatever adds up: small frames made of batches of rows and merged.

    Parameters
    ----------
    columns
        What `f` looks at.
    f
        Makes a small frame of a batch; of an empty one, the columns and types of all.
    merge
        Makes one small frame of several, put under one another in any grouping.

    Notes
    -----
    Answer: what `merge` makes of the frames of all batches. Batches are any partition of the rows, in any order, and
    `f` may run any number of times, anywhere.
    """

    columns: tuple[str, ...]
    f: Callable[[pl.DataFrame], pl.DataFrame]
    merge: Callable[[pl.DataFrame], pl.DataFrame]


Query = Counts | Moments | Quantiles | Largest | Folded
