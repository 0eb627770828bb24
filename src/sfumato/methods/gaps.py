"""Gaps that follow from another column: nearly all records of a value have none, and most of another value have one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.query import Folded
from sfumato.data.roles import IDS, Kind, Role

__all__ = ["followed", "gaps_by_value", "telling", "told_by"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MOST_TELLING = 40  # categories that are looked at
_MOST_VALUES = 10
_FEWEST = 5  # records of a value, below which it is an accident
_NEARLY_ALL, _FEW = 0.98, 0.5
_OF_ALL = 0.3  # share of a column's gaps that lie where it is empty: else a rare value is so by accident
_COLUMN, _CATEGORY, _VALUE, _N, _GAPS = "column", "category", "value", "n", "gaps"


def telling(codebook: Codebook, columns: Sequence[str]) -> tuple[str, ...]:
    """The categories from which gaps of some columns may follow.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> telling(Codebook({"treated": Variable(kind="categorical"), "days": Variable(kind="integer")}), ["days"])
    ('treated',)
    """
    kinds = (Kind.CATEGORICAL, Kind.ORDINAL)
    no_part = (*IDS, Role.IDENTIFIER)
    found = (n for n, v in codebook.items() if v.kind in kinds and v.role not in no_part and n not in columns)
    return tuple(found)[:_MOST_TELLING]


def gaps_by_value(codebook: Codebook, columns: Sequence[str], categories: Sequence[str]) -> Folded:
    """Ask how many records each value of each category has, and how many of these lack each column.

    Parameters
    ----------
    codebook
        Says which codes stand for missing.
    columns, categories
        The columns, and what their gaps may follow from.
    """

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        gaps = [codebook.missing(n, batch.schema[n]).cast(pl.Int64).sum().alias(f"{_GAPS} {n}") for n in columns]
        parts = []
        for category in categories:
            key = pl.col(category).cast(pl.String).alias(_VALUE)
            counted = batch.group_by(key).agg(pl.len().cast(pl.Int64).alias(_N), *gaps)
            long = counted.unpivot(index=[_VALUE, _N], variable_name=_COLUMN, value_name=_GAPS)
            named = pl.col(_COLUMN).str.strip_prefix(f"{_GAPS} "), pl.lit(category).alias(_CATEGORY)
            parts.append(long.with_columns(named).select(_COLUMN, _CATEGORY, _VALUE, _N, _GAPS))
        return pl.concat(parts)

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        summed = frames.group_by(_COLUMN, _CATEGORY, _VALUE).agg(pl.col(_N, _GAPS).sum())
        return summed.sort(_COLUMN, _CATEGORY, _VALUE, nulls_last=True)

    return Folded(tuple(dict.fromkeys((*columns, *categories))), f, merge)


def followed(answer: pl.DataFrame) -> dict[str, str]:
    """Of each column whose gaps follow from a category the first such one, from an answer to `gaps_by_value`.

    Parameters
    ----------
    answer
        The answer.
    """
    found: dict[str, str] = {}
    for (column, category), each in answer.group_by(_COLUMN, _CATEGORY, maintain_order=True):
        known = each.drop_nulls(_VALUE)
        few = known.height <= _MOST_VALUES
        if few and told_by(known[_N].to_numpy(), known[_GAPS].to_numpy()[:, None], np.array([each[_GAPS].sum()]))[0]:
            found.setdefault(str(column), str(category))
    return found


def told_by(records: Ints, gaps: Ints, of_all: Ints) -> Bools:
    """Whether gaps of columns follow from a category, shape (p,).

    Parameters
    ----------
    records
        How many records have each of its values, shape (m,).
    gaps
        How many of these lack each column, shape (m, p).
    of_all
        How many records lack each column, shape (p,).

    Examples
    --------
    >>> told_by(np.array([40, 60]), np.array([[40], [3]]), np.array([43])).tolist()
    [True]
    """
    enough = records >= _FEWEST
    records, gaps = records[enough], gaps[enough]
    share = gaps / records[:, None]
    empty = (gaps * (share > _NEARLY_ALL)).sum(axis=0)
    return np.asarray((empty > 0) & (empty >= _OF_ALL * of_all) & (share < _FEW).any(axis=0))
