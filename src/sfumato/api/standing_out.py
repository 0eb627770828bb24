"""Who stands out in a file by what others may know: classes of keys, and which keys, alone and in pairs, make them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.api.read import read
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.kernels.classes.individual_risk import individual_risk
from sfumato.measures.subject import weight_of
from sfumato.release.named import Named

__all__ = ["Shared", "Size", "StandingOut", "Together", "counted", "standing_out"]

RARE = 5
"""A record in a class of fewer is rare."""
_SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
_MOST_PAIRED = 30
_DENSE = 1 << 24
_WIDEST = 1 << 62

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Together:
    """What the classes of some keys are like.

    Parameters
    ----------
    keys
        Whose combinations they are.
    classes
        How many there are.
    smallest
        Records of the smallest (k).
    alone
        Records that share their values with no other.
    rare
        Records that share them with fewer than `RARE`, themselves among them.
    """

    keys: tuple[str, ...]
    classes: int
    smallest: int
    alone: int
    rare: int


@dataclass(frozen=True)
class Size:
    """Classes of about one size.

    Parameters
    ----------
    low, high
        Records of such a class, both ends included; `high` is None without an end.
    classes, records
        How many there are, and how many records they hold.
    """

    low: int
    high: int | None
    classes: int
    records: int


@dataclass(frozen=True)
class Shared:
    """A sensitive variable that whole classes share: who finds the class knows the value, whoever it is.

    Parameters
    ----------
    variable
        Its name.
    classes, records
        Classes of two records or more in which all values are one, and their records.
    lonely
        Records that are alone in their class, whose value is known with them.
    """

    variable: str
    classes: int
    records: int
    lonely: int


@dataclass(frozen=True)
class StandingOut:
    """Who stands out in a file.

    Parameters
    ----------
    records
        Of the file.
    together
        By all keys.
    singles, pairs
        By each key, and by each two of them (of at most 30 keys).
    sizes
        Classes by size.
    expected
        Re-identifications to be expected of somebody who knows that these people are in the file.
    expected_population
        Of somebody who looks for people of the population, by weights, or else by the fraction; None without either.
    shared
        Sensitive variables.
    """

    records: int
    together: Together
    singles: tuple[Together, ...]
    pairs: tuple[Together, ...]
    sizes: tuple[Size, ...]
    expected: float
    expected_population: float | None
    shared: tuple[Shared, ...]


def standing_out(
    data: Any,
    keys: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    weight: str | None = None,
    fraction: float | None = None,
) -> StandingOut:
    """Count who stands out by some keys, by each of them alone, and by each two.

    All of it is worked out from one table of the combinations that occur. It says what an intruder finds who knows
    these keys exactly and nothing else; a missing key is a value of its own.

    Parameters
    ----------
    data
        What `read` gives or takes.
    keys
        Columns that an intruder may know.
    sensitive
        Columns that must not be learnt.
    weight
        Column with sampling weights, above 0; by default the one with that role.
    fraction
        Share of the population that the file holds, above 0 and at most 1; taken where there are no weights.

    Raises
    ------
    DataError
        Where columns cannot have these roles, or there is no record.

    Examples
    --------
    >>> import polars as pl
    >>> found = standing_out(pl.DataFrame({"sex": ["f", "m", "m"], "town": ["A", "A", "B"]}), ["sex", "town"])
    >>> found.together.alone, [(one.keys, one.alone) for one in found.singles], found.expected
    (3, [(('sex',), 1), (('town',), 1)], 3.0)
    """
    if not keys:
        raise DataError("Name at least one key: a column that others may know of a person.")
    if fraction is not None and not 0 < fraction <= 1:
        raise DataError("The fraction is the share of the population in the file: above 0 and at most 1.")
    table = _named(read(data), Named(tuple(keys), tuple(sensitive), weight, None))
    found = counted(table, keys, sensitive, weight_of(table.codebook))
    if not found.height:
        raise DataError("The file holds no record, so nobody stands out.")
    codes = found.select(f"key {i}" for i in range(len(keys))).to_numpy()
    records = found["records"].to_numpy()
    population = found["population"].to_numpy() if "population" in found.columns else None
    paired = itertools.combinations(range(len(keys)), 2) if len(keys) <= _MOST_PAIRED else ()
    return StandingOut(
        records=int(records.sum()),
        together=_of(tuple(keys), records),
        singles=tuple(_of((name,), _added(codes[:, [i]], records)) for i, name in enumerate(keys)),
        pairs=tuple(_of((keys[i], keys[j]), _added(codes[:, [i, j]], records)) for i, j in paired),
        sizes=tuple(_sizes(records)),
        expected=float(len(records)),
        expected_population=_expected(records, population, fraction),
        shared=tuple(_shared(found, i, name) for i, name in enumerate(sensitive)),
    )


def _named(data: PolarsDataset, named: Named) -> PolarsDataset:
    named.check(data.frame.schema)
    named.check_weights(data.frame.lazy(), data.codebook)
    return PolarsDataset(data.frame, named.on(data.codebook), data.suffix)


def counted(
    data: PolarsDataset, keys: Sequence[str], sensitive: Sequence[str] = (), weight: str | None = None
) -> pl.DataFrame:
    """Count the combinations of keys that occur, with their values as numbers: one group by one column.

    Parameters
    ----------
    data
        The table.
    keys
        At least one; null and NaN are together a value of their own.
    sensitive
        Of these the smallest and largest number in each class is told; all missing values are one.
    weight
        Column that is summed.

    Returns
    -------
    pl.DataFrame
        A row for each class: `records`, `population` where there are weights, `key I` from 0 on, with −1 for missing,
        and `low I`, `high I` for each sensitive column.

    Examples
    --------
    >>> table = read(pl.DataFrame({"sex": ["f", "m", "m"]}))
    >>> counted(table, ["sex"]).sort("records").rows()
    [(1, 0), (2, 1)]
    """
    codes = [_code(data, name, f"key {i}") for i, name in enumerate(keys)]
    codes += [_code(data, name, f"value {i}", coded_missing=True) for i, name in enumerate(sensitive)]
    if weight is not None:
        there = ~data.codebook.missing(weight, data.frame.schema[weight])
        codes.append(pl.when(there).then(pl.col(weight)).cast(pl.Float64).alias("population"))
    table = data.frame.lazy().select(codes).collect()
    names = [f"key {i}" for i in range(len(keys))]
    mixed = _mixed(table.select(names))
    order = np.argsort(mixed)
    starts = np.flatnonzero(np.diff(mixed[order], prepend=-1))
    made: dict[str, NDArray[Any]] = {"records": np.diff(starts, append=len(order))}
    if not len(order):
        return pl.DataFrame(made)
    if weight is not None:
        made["population"] = np.add.reduceat(table["population"].fill_null(0).to_numpy()[order], starts)
    first = order[starts]
    made |= {name: table[name].to_numpy()[first] for name in names}
    for i in range(len(sensitive)):
        value = table[f"value {i}"].to_numpy()[order]
        made |= {f"low {i}": np.minimum.reduceat(value, starts), f"high {i}": np.maximum.reduceat(value, starts)}
    return pl.DataFrame(made)


def _code(data: PolarsDataset, name: str, alias: str, *, coded_missing: bool = False) -> pl.Expr:
    """The values of a column as numbers from 0 on, −1 where missing."""
    column, dtype = pl.col(name), data.frame.schema[name]
    if coded_missing:
        column = pl.when(~data.codebook.missing(name, dtype)).then(column)
    if dtype.is_float():
        column = column.fill_nan(None)
    if dtype == pl.String:
        column = column.cast(pl.Categorical).to_physical()
    return column.rank("dense").cast(pl.Int64).fill_null(0).alias(alias) - 1


def _mixed(codes: pl.DataFrame) -> Ints:
    """One number for each row, equal where all codes are, shape (n,)."""
    mixed, many = np.zeros(codes.height, dtype=np.int64), 1
    for column in codes.iter_columns():
        numbers = column.to_numpy()
        wide = int(numbers.max(initial=0)) + 2  # missing is −1
        if many * wide > _WIDEST:
            mixed = np.unique(mixed, return_inverse=True)[1].astype(np.int64)
            many = int(mixed.max(initial=0)) + 1
        mixed = mixed * wide + numbers + 1
        many *= wide
    return mixed


def _added(codes: Ints, records: Ints) -> Ints:
    """Records of each combination of some columns of codes, shape (classes,)."""
    wide = codes.max(axis=0) + 2  # missing is −1
    number = np.zeros(len(codes), dtype=np.int64)
    for column, many in zip(codes.T, wide, strict=True):
        number = number * int(many) + column + 1
    if int(np.prod(wide)) > _DENSE:
        number = np.unique(number, return_inverse=True)[1]
    sums = np.bincount(number, weights=records)
    return sums[sums > 0].astype(np.int64)


def _of(keys: tuple[str, ...], sizes: Ints) -> Together:
    few = sizes[sizes < RARE]
    return Together(keys, len(sizes), int(sizes.min()), int((sizes == 1).sum()), int(few.sum()))


def _sizes(records: Ints) -> list[Size]:
    ends = [*(low - 1 for low in _SIZES[1:]), None]
    told = []
    for low, high in zip(_SIZES, ends, strict=True):
        here = records[(records >= low) & (records <= (high or records.max()))]
        told.append(Size(low, high, len(here), int(here.sum())))
    return told


def _expected(records: Ints, population: NDArray[np.float64] | None, fraction: float | None) -> float | None:
    alike = records.astype(np.float64)
    if population is None and fraction is None:
        return None
    people = population if population is not None else alike / float(fraction or 1)
    return float((alike * individual_risk(alike, np.maximum(people, alike))).sum())


def _shared(found: pl.DataFrame, number: int, name: str) -> Shared:
    one, sizes = found[f"low {number}"] == found[f"high {number}"], found["records"]
    several = sizes.filter(one & (sizes > 1))
    return Shared(name, len(several), int(several.sum()), int((sizes == 1).sum()))
