"""Columns that belong together: what one of them says, another one must not gainsay.

A waiting time that only those have who were treated; a birth weight and whether it is low; a death and its date. Where
values are exchanged column by column, such columns need one donor, or the release holds people who cannot be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Variable
from sfumato.data.kinds import Facts
from sfumato.methods.gaps import told_by

__all__ = ["belonging"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_LOOKED_AT = 20_000
_EQUAL = 0.99  # share of records in which gaps must be equal
_FEWEST = 5  # gaps, or records of a value, from which on something is no accident
_FEW_VALUES = 10


def belonging(frame: pl.DataFrame, variables: Mapping[str, Variable]) -> tuple[tuple[str, ...], ...]:
    """Sets of columns that belong together, in the order of the columns.

    Two do so where their gaps are the same ones; where one is missing for nearly all records of a value of the other,
    and for few of another value; where a category cuts a number's range without overlap; and where a category is
    constant within each value of another one. Sets that share a column are one.

    Parameters
    ----------
    frame
        The table; of a large one the first records tell.
    variables
        What is known of the columns to look at.

    Examples
    --------
    >>> weights = [2000 + 10 * i for i in range(100)]
    >>> table = pl.DataFrame({"bwt": weights, "low": [int(w < 2500) for w in weights], "sex": ["f", "m"] * 50})
    >>> category = Variable(kind="categorical")
    >>> kinds = {"bwt": Variable(kind="integer"), "low": category, "sex": category}
    >>> belonging(table, kinds)
    (('bwt', 'low'),)
    """
    some = frame.head(_LOOKED_AT)
    names = [n for n in variables if n in frame.columns]
    facts = {n: Facts(some.get_column(n), variables[n]) for n in names}
    gaps = {n: ~f.present for n, f in facts.items()}
    categories = {n: codes for n in names if (codes := _few(facts[n], variables[n], gaps[n])) is not None}
    numbers = [n for n in names if variables[n].numeric and n not in categories and facts[n].dtype.is_numeric()]
    pairs = {
        *_same_gaps(gaps),
        *_gaps_of_a_value(gaps, categories),
        *_cut(some, numbers, categories, gaps),
        *_constant(categories),
    }
    return _united(names, pairs)


def _few(facts: Facts, variable: Variable, gap: Bools) -> Ints | None:
    """Numbers of a category's values, −1 for a gap; None where it has many values, one, or rare ones."""
    if variable.numeric or not 2 <= len(facts.distinct) <= _FEW_VALUES or facts.dtype.is_nested():
        return None
    column = pl.Series(np.zeros(0)) if not facts.rows else facts.values
    codes = np.full(facts.rows, -1, dtype=np.int64)
    codes[~gap] = column.cast(pl.String).rank("dense").cast(pl.Int64).to_numpy() - 1
    return codes if np.bincount(codes[~gap]).min() >= _FEWEST else None


def _same_gaps(gaps: Mapping[str, Bools]) -> Iterator[tuple[str, str]]:
    """Columns that are missing together."""
    names = [n for n, gap in gaps.items() if gap.sum() >= _FEWEST and not gap.all()]
    if len(names) < 2:
        return
    table = np.column_stack([gaps[n] for n in names]).astype(np.float64)
    both = table.T @ table
    each = np.diag(both)
    other = each[:, None] + each[None, :] - 2 * both  # missing in one of the two
    alike = (other <= (1 - _EQUAL) * len(table)) & (both >= _EQUAL * np.maximum(each[:, None], each[None, :]) - 1)
    for i, j in zip(*np.nonzero(np.triu(alike, 1)), strict=True):
        yield names[i], names[j]


def _gaps_of_a_value(gaps: Mapping[str, Bools], categories: Mapping[str, Ints]) -> Iterator[tuple[str, str]]:
    """Columns that a value of a category leaves empty, and another one does not."""
    names = [n for n, gap in gaps.items() if gap.sum() >= _FEWEST and not gap.all()]
    if not names:
        return
    table = np.column_stack([gaps[n] for n in names]).astype(np.int64)
    for category, codes in categories.items():
        rows = [codes == v for v in range(codes.max() + 1)]
        lacking = np.stack([table[each].sum(axis=0) for each in rows])
        tells = told_by(np.array([each.sum() for each in rows]), lacking, table.sum(axis=0))
        yield from ((category, names[j]) for j in np.flatnonzero(tells) if names[j] != category)


def _cut(
    frame: pl.DataFrame, numbers: Sequence[str], categories: Mapping[str, Ints], gaps: Mapping[str, Bools]
) -> Iterator[tuple[str, str]]:
    """Numbers whose range a category cuts without overlap."""
    for n in numbers:
        x = frame.get_column(n).cast(pl.Float64).to_numpy()
        for category, codes in categories.items():
            there = ~gaps[n] & (codes >= 0)
            if _apart(x[there], codes[there]):
                yield n, category


def _apart(x: Floats, codes: Ints) -> bool:
    """Whether the ranges of several values, each of enough records, do not overlap."""
    values, counts = np.unique(codes, return_counts=True)
    if len(values) < 2 or counts.min() < _FEWEST:
        return False
    if len(values) == 2 and not _may_be_apart(x, codes, values):
        return False
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    low, high = np.minimum.reduceat(x[order], starts), np.maximum.reduceat(x[order], starts)
    by_low = np.argsort(low)
    return bool((high[by_low][:-1] < low[by_low][1:]).all())


def _may_be_apart(x: Floats, codes: Ints, values: Ints) -> bool:
    """A look at a few records, which settles most pairs."""
    a, b = x[codes == values[0]][:20], x[codes == values[1]][:20]
    return bool(a.max() < b.min() or b.max() < a.min())


def _constant(categories: Mapping[str, Ints]) -> Iterator[tuple[str, str]]:
    """Categories of which one is constant within each value of the other."""
    names = list(categories)
    if len(names) < 2:
        return
    sizes = [int(categories[n].max()) + 1 for n in names]
    starts = np.cumsum(sizes) - np.array(sizes)
    table = np.column_stack([(categories[n][:, None] == np.arange(m)) for n, m in zip(names, sizes, strict=True)])
    counts = table.T.astype(np.float32) @ table.astype(np.float32)
    several = np.add.reduceat((counts > 0).astype(np.int64), starts, axis=1) > 1  # level by category
    told = ~np.logical_or.reduceat(several, starts, axis=0)  # category by category: constant within each level
    for i, j in zip(*np.nonzero(told), strict=True):
        if i != j:
            yield names[i], names[j]


def _united(names: Sequence[str], pairs: Collection[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """The connected columns, each set once."""
    of = {n: {n} for n in names}
    for a, b in pairs:
        if of[a] is not of[b]:
            both = of[a] | of[b]
            for n in both:
                of[n] = both
    found = (tuple(n for n in names if n in of[first]) for first in names)
    return tuple(dict.fromkeys(each for each in found if len(each) > 1))
