"""How many classes there are of each size, from how often each combination of values occurs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.query import CLASSES, COUNT, DISTINCT, SIZE, T

__all__ = ["class_sizes", "class_values", "empty_classes", "in_thousandths", "together"]

_OVERALL, _HELD, _APART = "sfumato:overall", "sfumato:held", "sfumato:apart"
_WIDE = pl.Int128()


def empty_classes(value: str | None = None) -> pl.DataFrame:
    """The answer of no rows."""
    told = {} if value is None else {DISTINCT: pl.Int64(), T: pl.Float64()}
    return pl.Schema({SIZE: pl.Int64(), **told, CLASSES: pl.Int64()}).to_frame()


def class_sizes(counts: pl.DataFrame) -> pl.DataFrame:
    """The answer to `Classes` without a value, of the sizes of the classes in the column `COUNT`.

    Examples
    --------
    >>> class_sizes(pl.DataFrame({COUNT: [1, 2, 1]})).rows()
    [(1, 2), (2, 1)]
    """
    sizes = counts.group_by(pl.col(COUNT).cast(pl.Int64).alias(SIZE))
    return sizes.agg(pl.len().cast(pl.Int64).alias(CLASSES)).sort(SIZE)


def class_values(counts: pl.DataFrame, by: Sequence[str], value: str, whole: pl.DataFrame) -> pl.DataFrame:
    """The answer to `Classes` with a value, in whole numbers until T is rounded up.

    Parameters
    ----------
    counts
        The columns `by`, the value (null where missing) and `COUNT`; all rows of a class.
    by, value
        Names of columns.
    whole
        How often the whole table has each value: its column and `COUNT`.

    Examples
    --------
    >>> counts = pl.DataFrame({"g": ["a", "a", "b"], "v": [1, 2, 2], COUNT: [1, 1, 2]})
    >>> class_values(counts, ["g"], "v", pl.DataFrame({"v": [1, 2], COUNT: [1, 3]})).rows()
    [(2, 1, 0.25, 1), (2, 2, 0.25, 1)]
    """
    overall = whole.drop_nulls(value).select(value, pl.col(COUNT).cast(_WIDE).alias(_OVERALL))
    total = pl.lit(sum(whole.drop_nulls(value)[COUNT].to_list()), _WIDE)
    here = pl.col(value).is_not_null()
    n, held = pl.col(COUNT).cast(_WIDE), pl.col(_HELD)
    joined = counts.join(overall, on=value, how="left")
    some = pl.when(here).then(n).otherwise(0).sum()
    joined = joined.with_columns((some.over(by) if by else some).alias(_HELD))
    # half the sum of |n/m - N/total| over all values: those that a class does not have add up to what is left of 1
    apart = (n * total - pl.col(_OVERALL) * held).abs() - pl.col(_OVERALL) * held
    told = [
        n.sum().cast(pl.Int64).alias(SIZE),
        here.sum().cast(pl.Int64).alias(DISTINCT),
        pl.when(here).then(apart).otherwise(0).sum().alias(_APART),
        held.first(),
    ]
    classes = joined.group_by(by).agg(told) if by else joined.select(told)
    twice = 2 * total * held
    up = ((pl.col(_APART) + total * held) * 1000 + twice - 1) // pl.when(held > 0).then(twice).otherwise(1)
    t = pl.when(held > 0).then(up).otherwise(0).cast(pl.Int64)
    return together(in_thousandths(classes.select(SIZE, DISTINCT, t.alias(T), pl.lit(1, pl.Int64).alias(CLASSES))))


def in_thousandths(answer: pl.DataFrame) -> pl.DataFrame:
    """Divide the distances, which are whole numbers of thousandths, whatever engine they are from.

    By NumPy: Polars divides by a constant, or multiplies by its inverse, which differs in the last bit.

    Examples
    --------
    >>> in_thousandths(pl.DataFrame({T: [143]}))[T].to_list()
    [0.143]
    """
    return answer.with_columns(pl.Series(T, answer[T].to_numpy() / 1000))


def together(answers: pl.DataFrame) -> pl.DataFrame:
    """Several answers that were put under one another, as one."""
    names = [n for n in answers.columns if n != CLASSES]
    return answers.group_by(names).agg(pl.col(CLASSES).sum()).sort(names)
