"""Bring what is known of people and what was released into one form: categories by number, numbers as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.pair import numbers
from sfumato.draws import PUBLIC, Purpose, shortest, units
from sfumato.errors import DataError
from sfumato.kernels.linkers.keys import Keys, keys_of
from sfumato.kernels.linkers.nearest import ranges
from sfumato.kernels.rows import row_hash
from sfumato.measures.intruding import Knowledge
from sfumato.measures.known import Known

__all__ = ["Coded", "as_category", "as_numbers", "categories", "coded", "has_ids", "numeric_keys", "telling_keys"]

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Coded:
    """People and records in one form.

    Parameters
    ----------
    known
        What the intruder knows: of the people of the release, then of the control.
    released
        What was released.
    original
        How many of the known people are in the release; where records are somebody's, person i has record i.
    levels
        How many categories each categorical key has.
    spread, sd : ndarray, shape (q,)
        Range and standard deviation (divisor n) of each number in the original.
    wildcard
        Whether a missing value may be anything.
    unit : ndarray, shape (known rows,)
        What public draws of each person are keyed on.
    truth
        The same as `known` without the intruder's errors, of the people of the release alone.
    """

    known: Keys
    released: Keys
    original: int
    levels: tuple[int, ...]
    spread: Floats
    sd: Floats
    wildcard: bool
    unit: Words
    truth: Keys

    def unprotected(self) -> Coded:
        """The same with the true values as the release."""
        return replace(self, released=self.truth)

    @property
    def prior(self) -> float:
        """Share of the pairs that are true: one record for each person, spread over all who are known."""
        return 1 / max(self.known.height, 1)


def numeric_keys(known: Known, keys: Sequence[str]) -> tuple[str, ...]:
    """Those of the keys that are compared by how far they are apart: numbers and dates, in all tables.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> table = pl.DataFrame({"sex": [0, 1], "age": [30.0, 40.0]})
    >>> book = Codebook({"sex": Variable(kind="categorical"), "age": Variable(kind="continuous")})
    >>> numeric_keys(Known(table, table, book, ("sex", "age")), ("sex", "age"))
    ('age',)
    """
    tables = [t for t in (known.people, known.released, known.control) if t is not None]
    return tuple(n for n in keys if _measurable(n, [t.schema[n] for t in tables], known.codebook))


def _measurable(name: str, types: Sequence[pl.DataType], codebook: Codebook) -> bool:
    if all(dtype.is_temporal() for dtype in types):
        return len({dtype.base_type() for dtype in types}) == 1
    plain = all(dtype.is_numeric() or dtype in (pl.Boolean, pl.Null) for dtype in types)
    return plain and name in codebook and codebook[name].numeric


def coded(known: Known, keys: Sequence[str], *, wildcard: bool = False, knowledge: Knowledge | None = None) -> Coded:
    """Code some keys of all tables.

    Where a missing value may be anything, keys in which nobody differs take no part, see `telling_keys`.

    Parameters
    ----------
    known
        The tables.
    keys
        Columns that all of them have.
    wildcard
        Whether a missing value may be anything; else it is a value of its own.
    knowledge
        How wrong the intruder is; without it, not at all.

    Raises
    ------
    DataError
        Where a column is missing, or an error is none that the column can have.

    Examples
    --------
    >>> table = pl.DataFrame({"sex": ["f", "m", "f"]})
    >>> found = coded(Known(table, table, Codebook(), ("sex",)), ["sex"])
    >>> found.original, sorted(found.released.count.tolist())
    (3, [1, 2])
    """
    tables = [known.people, known.released, *([known.control] if known.control is not None else [])]
    telling = telling_keys(tables, keys) if wildcard else tuple(keys)
    keys = telling or keys[:1]
    measured = numeric_keys(known, keys)
    codes, levels = categories(tables, [n for n in keys if n not in measured], wildcard=wildcard)
    values = [as_numbers(table, measured, known.codebook) for table in tables]
    if not telling:  # everybody agrees with everybody, with or without a value
        codes, values = [np.zeros_like(part) for part in codes], [np.zeros_like(part) for part in values]
    n = known.people.height
    truth, released = keys_of(codes[0], values[0]), keys_of(codes[1], values[1])
    unit = _units(known, codes, values)
    told, said = np.concatenate([codes[0], *codes[2:]], axis=1), np.concatenate([values[0], *values[2:]], axis=1)
    if knowledge is not None and knowledge.error:
        _refuse_errors(knowledge, keys, measured)
        told = _mistaken(told, n, [k for k in keys if k not in measured], knowledge, unit)
        said = _off(said, measured, knowledge, unit)
    # sorted, so that the last bits of a sum do not hang on the order of rows
    sd = np.array([np.std(np.sort(v[~np.isnan(v)])) if (~np.isnan(v)).any() else 0.0 for v in values[0]])
    return Coded(keys_of(told, said), released, n, levels, ranges(values[0]), sd, wildcard, unit, truth)


def telling_keys(tables: Sequence[pl.DataFrame], keys: Sequence[str]) -> tuple[str, ...]:
    """Those of some keys that have two different known values, in all tables together: others tell nobody apart.

    Parameters
    ----------
    tables
        Tables with these columns.
    keys
        The columns.

    Returns
    -------
    tuple of str
        In the order of `keys`.

    Examples
    --------
    >>> people = pl.DataFrame({"sex": ["f", "m"], "here": ["yes", None]})
    >>> telling_keys([people, people], ["sex", "here"])
    ('sex',)
    """
    known = {}
    for name in keys:
        column = pl.concat([as_category(table, name) for table in tables], how="vertical_relaxed").to_series()
        known[name] = column.drop_nulls().n_unique()
    return tuple(n for n in keys if known[n] > 1)


def categories(
    tables: Sequence[pl.DataFrame], names: Sequence[str], *, wildcard: bool
) -> tuple[list[Codes], tuple[int, ...]]:
    """Number categories alike in several tables.

    Parameters
    ----------
    tables
        Tables with these columns.
    names
        The columns.
    wildcard
        Whether a missing value may be anything: it is −1, else a category of its own.

    Returns
    -------
    codes, levels
        Of each table an array of shape (columns, rows); how many categories each column has.

    Examples
    --------
    >>> codes, levels = categories([pl.DataFrame({"a": ["x", None]}), pl.DataFrame({"a": ["y"]})], ["a"], wildcard=True)
    >>> [part.tolist() for part in codes], levels
    ([[[0, -1]], [[1]]], (3,))
    """
    heights = [table.height for table in tables]
    out = np.empty((len(names), sum(heights)), dtype=np.int32)
    levels = []
    for k, name in enumerate(names):
        column = pl.concat([as_category(table, name) for table in tables], how="vertical_relaxed").to_series()
        rank = column.rank("dense").cast(pl.Int32).fill_null(0).to_numpy()  # null is 0, categories follow
        out[k] = rank - 1 if wildcard else rank
        levels.append(int(rank.max(initial=0)) + 1)
    ends = np.cumsum(heights)[:-1]
    return [np.ascontiguousarray(part) for part in np.split(out, ends, axis=1)], tuple(levels)


def as_category(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """A column of categories so that equal ones are equal whatever their type; NaN is missing."""
    dtype = table.schema[name]
    if dtype == pl.Boolean:
        return table.select(pl.col(name).cast(pl.Float64))
    if dtype.is_numeric():
        return table.select(shortest(pl.col(name), dtype).cast(pl.Float64).fill_nan(None))
    if dtype in (pl.Categorical, pl.Enum):
        return table.select(pl.col(name).cast(pl.String))
    return table.select(name)


def as_numbers(table: pl.DataFrame, names: Sequence[str], codebook: Codebook) -> Floats:
    """Numbers and dates as floats, shape (q, n), NaN where missing."""
    if not names:  # a frame of no columns has no height
        return np.empty((0, table.height))
    dates = [n for n in names if table.schema[n].is_temporal()]
    days = {n: pl.col(n).cast(pl.Datetime("us")) if table.schema[n] == pl.Date else pl.col(n) for n in dates}
    plain = table.select(names).with_columns(day.to_physical().cast(pl.Float64) for day in days.values())
    return np.ascontiguousarray(numbers(plain, names, codebook).T)


def _units(known: Known, codes: Sequence[Codes], values: Sequence[Floats]) -> Words:
    """What public draws are keyed on: ids where there are some, else the values, never the place of a row."""
    of_tables = []
    for at, table in ((0, known.people), *([(2, known.control)] if known.control is not None else [])):
        if known.record is not None and has_ids(table, known.record):
            of_tables.append(units(table[known.record]))
            continue
        rows = [*codes[at], *np.nan_to_num(values[at], nan=-1e300)]
        if at == 0 and known.aligned:
            rows += [*codes[1], *np.nan_to_num(values[1], nan=-1e300)]
        of_tables.append(row_hash(np.column_stack([row.astype(np.float64) for row in rows])))
    return np.concatenate(of_tables)


def has_ids(table: pl.DataFrame, record: str) -> bool:
    """Whether a column of a table can tell its records apart in draws: whole numbers or text, and no gap.

    Examples
    --------
    >>> has_ids(pl.DataFrame({"id": ["a", None]}), "id")
    False
    """
    if record not in table.columns or table[record].null_count():
        return False
    return table.schema[record].is_integer() or table.schema[record] == pl.String


def _refuse_errors(knowledge: Knowledge, keys: Sequence[str], measured: Sequence[str]) -> None:
    for name in (n for n in keys if n in knowledge.error and n not in measured):
        if knowledge.error[name] > 1:
            raise DataError(
                f"knows: the error of the category {name!r} is the probability that another one is known, from 0 to 1."
            )


def _mistaken(codes: Codes, original: int, names: Sequence[str], knowledge: Knowledge, unit: Words) -> Codes:
    """Categories, with the probabilities of error replaced by ones drawn from the original's margin."""
    out = codes.copy()
    for k, name in enumerate(names):
        error = knowledge.error.get(name, 0.0)
        if not error or not original:
            continue
        margin = np.sort(codes[k, :original])
        what = Purpose("scenario", name, f"{error!r}")
        wrong = PUBLIC.uniform(unit, what) < error
        drawn = PUBLIC.uniform(unit, Purpose("scenario", name, f"{error!r}", draw=1))
        out[k, wrong] = margin[(drawn[wrong] * original).astype(np.int64)]
    return out


def _off(values: Floats, names: Sequence[str], knowledge: Knowledge, unit: Words) -> Floats:
    """Numbers with normal errors."""
    out = values.copy()
    for k, name in enumerate(names):
        error = knowledge.error.get(name, 0.0)
        if error:
            out[k] += error * PUBLIC.normal(unit, Purpose("scenario", name, f"{error!r}"))
    return out
