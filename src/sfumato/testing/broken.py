"""What a broken law says: which column or which line, and no value."""

from __future__ import annotations

import polars as pl
from polars.testing import assert_frame_equal

__all__ = ["hold", "same_rows"]


def hold(kept: bool, otherwise: str) -> None:
    """Raise `AssertionError` unless a law is kept; in words, for pytest does not rewrite what is installed.

    Examples
    --------
    >>> hold(False, "the input was changed")
    Traceback (most recent call last):
      ...
    AssertionError: the input was changed
    """
    if not kept:
        raise AssertionError(otherwise)


def same_rows(one: pl.DataFrame, other: pl.DataFrame, when: str, *, exactly: bool = False) -> None:
    """Hold two tables to be the same, numbers to nine digits or to the bit.

    Parameters
    ----------
    one, other
        The tables.
    when
        How the second was made.
    exactly
        To the bit.

    Examples
    --------
    >>> same_rows(pl.DataFrame({"x": [1.0]}), pl.DataFrame({"x": [2.0]}), "in another order")
    Traceback (most recent call last):
      ...
    AssertionError: in another order: other values of 'x'
    """
    hold(one.columns == other.columns, f"{when}: other columns, or in another order")
    hold(one.height == other.height, f"{when}: another number of records")
    hold(one.schema == other.schema, f"{when}: columns of other types")
    differ = [name for name in one.columns if not _same(one.select(name), other.select(name), exactly)]
    hold(not differ, f"{when}: other values of {', '.join(map(repr, differ))}")


def _same(one: pl.DataFrame, other: pl.DataFrame, exactly: bool) -> bool:
    try:
        assert_frame_equal(one, other, check_exact=exactly, rel_tol=1e-9)
    except AssertionError:
        return False
    return True
