"""The only questions that a method may ask of a data set.

Each answer is a small Polars frame, the same to the last bit on every engine. Missing values (null,
NaN, user-missing codes) take no part in `Moments`, `Quantiles`, `Largest` and in the weight of `Counts`; in the columns
`by` they are a group like any other, null and NaN together, and −0 is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

__all__ = [
    "CLASSES",
    "COUNT",
    "DISTINCT",
    "SIZE",
    "WEIGHT",
    "Classes",
    "Counts",
    "Folded",
    "Largest",
    "Moments",
    "Quantiles",
    "Query",
    "T",
]

COUNT = "sfumato:count"
WEIGHT = "sfumato:weight"
SIZE = "sfumato:size"
DISTINCT = "sfumato:distinct"
T = "sfumato:t"
CLASSES = "sfumato:classes"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records there are in each group.

    Answer: the columns `by`, then `COUNT` (int) and, with `weight`, `WEIGHT` (its sum); sorted by `by`. Their names are
    sfumato's own, so that no column of the data can bear them.

    Off memory at most 5·10^6 groups are told, counted first; beyond that the answer is the error `TooManyGroups`, and
    `Classes` tells what it can.
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


@dataclass(frozen=True, slots=True)
class Classes:
    """How many classes of records there are of each size: what `Counts` tells of many groups, without their names.

    A class is all records that share the values of `by`.

    Answer: `SIZE` (int: records of a class); with `value` also `DISTINCT` (int: how many different values the class
    has) and `T` (float: total variation between the shares of the values in the class and in the whole table, from 0 to
    1, rounded up to 3 decimals); `CLASSES` (int: how many classes are so). Sorted by all columns but the last. Missing
    values of `value` take no part; a class that has no value has 0 of them and T of 0.
    """

    by: tuple[str, ...]
    value: str | None = None


Query = Counts | Moments | Quantiles | Largest | Folded | Classes
