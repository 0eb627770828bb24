"""Who stands out in a file by what others may know: classes of keys, and which keys, alone and in pairs, make them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.api.read import read_whole
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.kernels.classes.individual_risk import individual_risk
from sfumato.measures.subject import weight_of
from sfumato.release.named import Named

__all__ = ["Shared", "Size", "StandingOut", "Together", "counted", "numbered", "sizes", "standing_out"]

RARE = 5
"""A record in a class of fewer is rare."""
_SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
_MOST_PAIRED = 30
_DENSE = 1 << 24
_WIDEST = 1 << 62
_NEAR, _FEW = 4, 1 << 16
"""Whole numbers in an interval of so many times their number, or of so many, get a place each."""

_LONG = (pl.UInt64, pl.Int128, pl.UInt128)
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


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
    table = _named(
        read_whole(data, "Listing the records that stand out"), Named(tuple(keys), tuple(sensitive), weight, None)
    )
    found = counted(table, keys, sensitive, weight_of(table.codebook))
    if not found.height:
        raise DataError("The file holds no record, so nobody stands out.")
    codes = [found[f"key {i}"].to_numpy() + 1 for i in range(len(keys))]  # missing was −1
    coded = [(column, int(column.max()) + 1) for column in codes]
    records = found["records"].to_numpy()
    population = found["population"].to_numpy() if "population" in found.columns else None
    alone = bool((records == 1).all())
    paired = itertools.combinations(range(len(keys)), 2) if len(keys) <= _MOST_PAIRED else ()
    return StandingOut(
        records=int(records.sum()),
        together=_of(tuple(keys), records),
        singles=tuple(_of((name,), _added([coded[i]], records, alone)) for i, name in enumerate(keys)),
        pairs=tuple(_of((keys[i], keys[j]), _added([coded[i], coded[j]], records, alone)) for i, j in paired),
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
    >>> import sfumato as sf
    >>> table = sf.read(pl.DataFrame({"children": [0, 2, 2]}))
    >>> counted(table, ["children"]).sort("records").rows()
    [(1, 0), (2, 1)]
    """
    names = {f"key {i}": numbered(data, name) for i, name in enumerate(keys)}
    mixed = _mixed(names.values(), data.frame.height)
    order = np.argsort(mixed)
    starts = np.flatnonzero(np.diff(mixed[order], prepend=-1))
    made: dict[str, NDArray[Any]] = {"records": np.diff(starts, append=len(order))}
    if not len(order):
        return pl.DataFrame(made)
    if weight is not None:
        there = ~data.codebook.missing(weight, data.frame.schema[weight])
        weights = data.frame.select(pl.when(there).then(pl.col(weight)).cast(pl.Float64).fill_null(0)).to_series()
        made["population"] = np.add.reduceat(weights.to_numpy()[order], starts)
    first = order[starts]
    made |= {name: codes[first].astype(np.int64) for name, codes in names.items()}
    for i, name in enumerate(sensitive):
        value = numbered(data, name, coded_missing=True)[order].astype(np.int64)
        made |= {f"low {i}": np.minimum.reduceat(value, starts), f"high {i}": np.maximum.reduceat(value, starts)}
    return pl.DataFrame(made)


def sizes(codes: Collection[Codes], records: int) -> Ints:
    """Records of each combination that occurs, shape (classes,), in no order that tells anything.

    Parameters
    ----------
    codes
        Of each key, as `numbered` gives them.
    records
        How many there are.

    Examples
    --------
    >>> sizes([np.array([0, 1, 1], dtype=np.int32)], 3).tolist()
    [1, 2]
    """
    mixed = np.sort(_mixed(codes, records))
    return np.diff(np.flatnonzero(np.diff(mixed, prepend=-1)), append=len(mixed))


def numbered(data: PolarsDataset, name: str, *, coded_missing: bool = False) -> Codes:
    """The values of a column as numbers from 0 on, −1 where missing, shape (n,).

    Equal values have one number, different ones different numbers; the numbers of texts and categories follow no
    order, and may be others in another process.

    Parameters
    ----------
    data
        The table.
    name
        The column.
    coded_missing
        Whether missing codes are missing, and no values of their own.

    Examples
    --------
    >>> import sfumato as sf
    >>> numbered(sf.read(pl.DataFrame({"children": [5, None, 3, 5]})), "children").tolist()
    [1, -1, 0, 1]
    """
    column, dtype = pl.col(name), data.frame.schema[name]
    if coded_missing:
        column = pl.when(~data.codebook.missing(name, dtype)).then(column)
    if dtype.is_float():
        column = column.fill_nan(None)
    if dtype == pl.String:
        column = column.cast(pl.Categorical)
    if dtype == pl.String or dtype in (pl.Categorical, pl.Enum) or dtype.is_temporal():
        column = column.to_physical()
    elif dtype == pl.Boolean:
        column = column.cast(pl.UInt8)
    values = data.frame.select(column.alias("value")).to_series()
    if values.dtype.is_integer() and values.dtype not in _LONG and len(values) > values.null_count():
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if high - low <= max(_NEAR * len(values), _FEW):
            return _compact(values, low)
    elif dtype.is_float():
        different = values.drop_nulls().unique().sort().to_numpy()
        if len(different) <= _FEW:
            place = np.searchsorted(different, values.fill_null(0).to_numpy()).astype(np.int32)
            return _without(place, values)
    return (values.rank("dense").cast(pl.Int32).fill_null(0) - 1).to_numpy()


def _compact(values: pl.Series, low: int) -> Codes:
    """Whole numbers that lie near one another, as numbers without gaps."""
    place = values.fill_null(low).cast(pl.Int64).to_numpy() - low
    return _without((np.cumsum(np.bincount(place) > 0, dtype=np.int32) - 1)[place], values)


def _without(codes: Codes, values: pl.Series) -> Codes:
    return np.where(values.is_null().to_numpy(), np.int32(-1), codes) if values.null_count() else codes


def _mixed(codes: Collection[Codes], records: int) -> Ints:
    """One number for each row, equal where all codes are, shape (n,)."""
    mixed, many = np.zeros(records, dtype=np.int64), 1
    for numbers in codes:
        wide = int(numbers.max(initial=0)) + 2  # missing is −1
        if many * wide > _WIDEST:
            mixed = np.unique(mixed, return_inverse=True)[1].astype(np.int64)
            many = int(mixed.max(initial=0)) + 1
        mixed *= wide
        mixed += numbers
        mixed += 1
        many *= wide
    return mixed


def _added(codes: Sequence[tuple[Ints, int]], records: Ints, alone: bool) -> Ints:
    """Records of each combination of some columns, shape (classes,): their codes from 0 on, and how many there are."""
    number, many = codes[0]
    for column, wide in codes[1:]:
        number, many = number * wide, many * wide
        number += column
    if many > _DENSE:
        number = np.unique(number, return_inverse=True)[1]
    sums = np.bincount(number, weights=None if alone else records)
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
