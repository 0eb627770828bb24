"""What the readers of a protected table know of its hidden cells before they add and subtract.

It is made from what will be published, and everybody takes it from here: the search for cells to hide, the audit, the
intervals beside the table, its documentation. What is published by default is known by default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.tables.rules import Either, Judgement, Rule, leaves
from sfumato.tables.table import CONTRIBUTORS, HIDDEN, LEAST, LOWER, MOST, SINGLE, STATUS, UPPER, Table, is_count

__all__ = ["Reader", "reader_of_all", "reader_of_file", "reader_of_judged"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reader:
    """What readers know of hidden cells.

    Parameters
    ----------
    least
        No hidden cell is less; minus infinity where nothing is known.
    whole
        Whether hidden cells are whole numbers.
    letters
        Whether the table says which of its hidden cells are the unsafe ones.
    threshold
        With letters: hidden cells that are not unsafe are at least this number. None where letters bound nothing.
    below
        Whether every unsafe cell is below the threshold, for it is the only reason to be unsafe.
    contributor
        Whether the reader may be one of those whom the table is about, and knows what is his.

    Examples
    --------
    >>> Reader(least=1, whole=True, letters=True, threshold=3, below=True).of_letter("u")
    (1, 2)
    >>> Reader().to_plain()
    {'letters': False, 'least': 0, 'whole': False, 'contributor': False}
    """

    least: float = 0.0
    whole: bool = False
    letters: bool = False
    threshold: int | None = None
    below: bool = False
    contributor: bool = False

    def of_letter(self, letter: str) -> tuple[float, float]:
        """What a hidden cell of a letter is at least and at most: of `u`, or of any other."""
        if not self.letters or self.threshold is None:
            return self.least, np.inf
        if letter == "u":
            return self.least, self.threshold - 1 if self.below else np.inf
        return max(self.least, self.threshold), np.inf

    def bounds(
        self, letters: Sequence[str | None], least: Floats | None = None, most: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """What each cell is at least and at most, were it hidden; shape (cells,) each.

        Parameters
        ----------
        letters
            The statuses of the cells, by which they are `u` or not.
        least, most
            What everybody knows of single cells besides; NaN says nothing.
        """
        unsafe = np.array([letter == "u" for letter in letters], dtype=bool)
        (u_low, u_high), (x_low, x_high) = self.of_letter("u"), self.of_letter("x")
        low, high = np.where(unsafe, u_low, x_low), np.where(unsafe, u_high, x_high)
        return (low if least is None else np.fmax(low, least)), (high if most is None else np.fmin(high, most))

    def bounds_of(self, table: Table) -> tuple[Floats, Floats]:
        """The same for the lines of a table with statuses, and with what it says of single cells."""
        return self.bounds(table.cells[STATUS].to_list(), table.column(LEAST), table.column(MOST))

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Reader:
        """From such plain values as `to_plain` gives, and `threshold` and `below` beside them.

        Raises
        ------
        TypeError, ValueError
            Where they are none.

        Examples
        --------
        >>> Reader.of({"letters": False, "least": None, "whole": False, "contributor": True}).least
        -inf
        """
        least = -np.inf if plain["least"] is None else float(plain["least"])
        told = {name: bool(plain[name]) for name in ("whole", "letters", "contributor")}
        at = plain.get("threshold")
        return cls(least, threshold=None if at is None else int(at), below=bool(plain.get("below")), **told)

    def with_least(self, lower: float | None) -> Reader:
        """The reader who knows that hidden cells are at least `lower`; None: as it is.

        Raises
        ------
        DataError
            Where that is less than this reader knows.
        """
        if lower is None:
            return self
        if lower < self.least:
            raise DataError(
                f"Readers know that no hidden cell is below {self.least:g}, so --lower (`lower`) cannot be less. Leave "
                "it out, or give more where more is known."
            )
        return replace(self, least=lower)

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON; `least` is null where nothing is known."""
        least = None if np.isinf(self.least) else int(self.least) if self.least == int(self.least) else self.least
        return {"letters": self.letters, "least": least, "whole": self.whole, "contributor": self.contributor}


def reader_of_judged(
    table: Table, rule: Judgement | None, *, letters: bool = False, contributor: bool = True
) -> Reader:
    """The reader of what will be published of a judged table.

    Parameters
    ----------
    table
        The table with all its values and statuses.
    rule
        The rules that it was judged by; None where it had its statuses before.
    letters
        Whether it will be told which hidden cells are the unsafe ones.
    contributor
        Whether a reader may be a contributor. Of counts that changes nothing: whoever is in a cell knows no more of it.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1], "status": ["s", "s", "u"]})
    >>> reader_of_judged(Table.of(rows), None)
    Reader(least=1.0, whole=True, letters=False, threshold=None, below=False, contributor=False)
    """
    value = table.values
    if not is_count(table):
        least = 0.0 if not _negative(table) else -np.inf
        if table.column(LEAST) is not None:
            least = -np.inf  # the file says of each cell what is known of it
        return Reader(least, letters=letters, contributor=contributor and _has_contributors(table))
    whole = bool(np.all(value == np.round(value)))
    hidden = table.cells[STATUS].is_in(list(HIDDEN)).fill_null(value=False).to_numpy()
    zeros = (rule is not None and any(one.name == "zero" for one in leaves(rule))) or bool((value[hidden] < 1).any())
    least = 0.0 if zeros or not whole or table.origin.weighted else 1.0
    threshold, below = _threshold(table, rule) if letters and least == 1 else (None, False)
    return Reader(least, whole, letters, threshold, below)


def reader_of_file(table: Table) -> Reader:
    """The reader of a table as it was handed out: what its documentation says, else what the file shows.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, None], "status": ["s", "s", "x"]})
    >>> reader_of_file(Table.of(rows)).least
    1.0
    """
    if table.released.reader is not None:
        return table.released.reader
    letters = STATUS in table.cells.columns and bool((table.cells[STATUS] == "u").any())
    low, high = table.column(LOWER), table.column(UPPER)
    told = low[~np.isnan(low)] if low is not None else np.empty(0)
    value = table.values
    known = value[~np.isnan(value)]
    whole = bool(np.all(known == np.round(known))) and bool(np.all(told == np.round(told)))
    seen = whole and len(told) > 0 and bool((told >= 1).all())  # a count by another name: such ends has no sum
    if not (is_count(table) or seen):
        negative = bool((known < 0).any()) or bool((told < 0).any()) or table.column(LEAST) is not None
        return Reader(-np.inf if negative else 0.0, letters=letters)
    least = 1.0 if whole and not (told < 1).any() else 0.0
    threshold = None
    if letters and least == 1 and low is not None and high is not None:
        unsafe = (table.cells[STATUS] == "u").fill_null(value=False).to_numpy()
        others = np.isnan(value) & ~unsafe
        most, fewest = np.nanmax(high[unsafe], initial=0.0), np.nanmin(low[others], initial=np.inf)
        threshold = int(most) + 1 if np.isfinite(most) and most > 0 and most < fewest else None
    return Reader(least, whole, letters, threshold, threshold is not None)


def reader_of_all(tables: Sequence[Table], lower: float | None = None) -> list[Reader]:
    """The reader of each of several tables that are read together, who knows at least `lower` of all of them."""
    out = []
    for table in tables:
        known = reader_of_file(table)
        documented = table.released.reader is not None
        out.append(known.with_least(lower) if documented or lower is None else replace(known, least=lower))
    return out


def _negative(table: Table) -> bool:
    """Whether a value is negative, or what a record adds to one: then sums tell nothing of the signs of their parts."""
    return table.origin.negative or bool(np.any(table.values < 0))


def _has_contributors(table: Table) -> bool:
    return any(name in table.cells.columns for name in (CONTRIBUTORS, SINGLE))


def _threshold(table: Table, rule: Judgement | None) -> tuple[int | None, bool]:
    """What letters tell of a count: no cell but the unsafe ones is below a threshold; whether all of these are."""
    parts = rule.parts if isinstance(rule, Either) else (rule,)
    few = [part.numbers[0] for part in parts if isinstance(part, Rule) and part.name == "n"]
    if not few:
        return None, False
    most, value, heads = int(max(few)), table.values, table.column(CONTRIBUTORS)
    unsafe = (table.cells[STATUS] == "u").fill_null(value=False).to_numpy()
    if not np.all((value >= most) | unsafe | (value == 0)):
        return None, False
    counted = heads is None or np.array_equal(heads, value)
    return most, len(few) == len(parts) and counted and bool(np.all(value[unsafe] < most))
