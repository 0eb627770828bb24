"""What links two tables: columns that both have, by which some of their records find each other, and equal row order.

Values are equal by the rule by which tables are joined on ids (`sfumato.draws.written`): 7, 7.0 and "7" are one, true
and false are 1 and 0, dates are their ISO text. Nothing joins on a missing value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.draws import written
from sfumato.errors import DataError
from sfumato.kernels.links import WORK, sorts_rows, unique_joins
from sfumato.progress import Progress, quiet, split

__all__ = ["Link", "Links", "links_between", "same_columns", "telling_counts"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Boolean)
_INCOMPLETE = (
    "Not all sets of the columns that both tables have could be tried: there may be other links, and smaller ones. "
    "Leave out columns that you know about, and check the rest."
)


@dataclass(frozen=True)
class Link:
    """Something by which records of two tables find each other.

    Parameters
    ----------
    columns
        Columns that both tables have, in the order of the first.
    share
        Share of the first table's records that take part.
    row_order
        Whether it is the order of the rows: row i of one is row i of the other, as `columns` show.
    tables
        Names of both tables.

    Examples
    --------
    >>> Link(("town", "age"), 0.5).to_plain()
    {'tables': ['first', 'second'], 'columns': ['town', 'age'], 'share': 0.5, 'row_order': False}
    """

    columns: tuple[str, ...]
    share: float
    row_order: bool = False
    tables: tuple[str, str] = ("first", "second")

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "tables": list(self.tables),
            "columns": list(self.columns),
            "share": self.share,
            "row_order": self.row_order,
        }


@dataclass(frozen=True)
class Links:
    """What links tables, fewest columns first, then by share, the largest first.

    Parameters
    ----------
    links
        Every link.
    notes
        What could not be looked at.

    Examples
    --------
    >>> bool(Links()), len(Links((Link(("town",), 1.0),)))
    (False, 1)
    """

    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.links)

    def __iter__(self) -> Any:
        return iter(self.links)

    def __add__(self, other: Links) -> Links:
        return Links(self.links + other.links, tuple(dict.fromkeys(self.notes + other.notes)))

    def tidy(self) -> pl.DataFrame:
        """A frame with a row for each link."""
        rows = [(*link.tables, ", ".join(link.columns), link.share, link.row_order) for link in self.links]
        schema = {"first": pl.String, "second": pl.String, "columns": pl.String, "share": pl.Float64}
        return pl.DataFrame(rows, {**schema, "row_order": pl.Boolean}, orient="row")

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"links": [link.to_plain() for link in self.links], "notes": list(self.notes)}

    def _repr_html_(self) -> str:
        return str(self.tidy()._repr_html_())


def links_between(
    a: pl.DataFrame,
    b: pl.DataFrame,
    *,
    declared: Sequence[Sequence[str]] = (),
    unlinkable: Collection[str] = (),
    tables: tuple[str, str] = ("first", "second"),
    work: float = WORK,
    progress: Progress = quiet,
) -> Links:
    """Find what links two tables.

    A link is a smallest set of columns that both tables have, by which some record of one joins uniquely to one of the
    other: its values, none of them missing, occur in the other table, and only once there or only once in its own. Or
    it is the order of the rows, where both tables have the same number of them, all columns that both have agree row by
    row (missing with missing), and neither table is sorted by these columns.

    Parameters
    ----------
    a, b
        The tables.
    declared
        Sets of columns on which the tables are linked openly. Pairs of records that one of these joins uniquely are
        known, and what joins no other pairs is no link.
    unlinkable
        Columns that have the same name and nothing else in common, such as pseudonyms of two scopes.
    tables
        Names of both tables.
    work
        Most rows to look at, over all sets of columns; a note says so where these did not suffice.
    progress
        Told how far it is.

    Returns
    -------
    Links

    Notes
    -----
    It protects against combining two tables by what they have in common as it stands. It does not see what an intruder
    does with values that are alike and not equal (a rounded age beside an exact one, names spelt in two ways), with
    columns of other names, or with a third table.

    Examples
    --------
    >>> farmers = pl.DataFrame({"parish": ["Ash", "Ash", "Elm"], "herd": [10, 20, 20]})
    >>> visits = pl.DataFrame({"parish": ["Ash", "Ash", "Elm", "Elm"], "herd": [10, 10, 20, 30]})
    >>> [(link.columns, round(link.share, 2)) for link in links_between(farmers, visits)]
    [(('herd',), 1.0), (('parish',), 0.33)]
    >>> links_between(farmers, visits.drop("parish"), declared=[["herd"]]).links
    ()
    """
    shared = same_columns(a, b, unlinkable)
    looking, searching = split(progress, (1, 4))
    codes = {}
    for i, n in enumerate(shared):
        looking(f"looking at {n}", i / len(shared))
        codes[n] = _coded(a.get_column(n), b.get_column(n))
    known = _Declared([[codes[n] for n in _there(on, codes)] for on in declared if on], a.height, b.height)
    found = unique_joins(
        [codes[n][0] for n in shared],
        [codes[n][1] for n in shared],
        known=known if known.sets else None,
        work=work,
        progress=searching,
    )
    links = [Link(tuple(shared[c] for c in s.columns), s.taking_part / a.height, tables=tables) for s in found.sets]
    if _same_order(a, b, codes) and not (known.sets and known(np.arange(a.height), np.arange(a.height)).all()):
        links.append(Link(tuple(shared), 1.0, row_order=True, tables=tables))
    links.sort(key=lambda link: (len(link.columns), -link.share, link.columns, link.row_order))
    return Links(tuple(links), () if found.complete else (_INCOMPLETE,))


def same_columns(a: pl.DataFrame, b: pl.DataFrame, unlinkable: Collection[str] = ()) -> list[str]:
    """Columns that both tables have, in the order of the first, without those that have only the name in common.

    Examples
    --------
    >>> same_columns(pl.DataFrame({"x": [1], "id": [2]}), pl.DataFrame({"id": ["a"], "x": [1]}), unlinkable=["id"])
    ['x']
    """
    theirs = set(b.columns)
    return [n for n in a.columns if n in theirs and n not in unlinkable]


def telling_counts(a: pl.Series, b: pl.Series) -> bool:
    """Tell whether how often codes occur can say which code of one table is which of the other.

    Pseudonyms of two scopes have nothing in common but how many records each person has. Where one code alone occurs 40
    times in one table and one code alone does so in the other, these are probably one person's.

    Parameters
    ----------
    a, b
        A column of each table, pseudonymised apart.

    Examples
    --------
    >>> telling_counts(pl.Series(["p", "p", "p", "q"]), pl.Series(["x", "y", "y", "y"]))
    True
    >>> telling_counts(pl.Series(["p", "q"]), pl.Series(["x", "y"]))
    False
    """
    one, two = _lone_counts(a), _lone_counts(b)
    return bool(one & two)


def _lone_counts(codes: pl.Series) -> set[int]:
    """Numbers of records that one code alone has."""
    column = codes.alias("code").to_frame().lazy()
    if codes.dtype.is_float():
        column = column.with_columns(pl.col("code").fill_nan(None))
    times = column.drop_nulls().group_by("code").len("times").group_by("times").len("codes")
    return set(times.filter(pl.col("codes") == 1).collect()["times"].to_list())


def _there(on: Sequence[str], codes: Collection[str]) -> Sequence[str]:
    """The columns of a declared link, which both tables must have."""
    if unknown := [n for n in on if n not in codes]:
        raise DataError(
            f"The tables cannot be linked on {', '.join(map(repr, unknown))}: not a column that both of them have."
        )
    return on


class _Declared:
    """Pairs of records that are linked openly: by a set of columns that joins them uniquely."""

    def __init__(self, sets: Sequence[Sequence[tuple[Ints, Ints]]], first: int, second: int) -> None:
        self.sets = [self._joined(columns, first, second) for columns in sets]

    def __call__(self, first: Ints, second: Ints) -> Bools:
        told = np.zeros(len(first), dtype=np.bool_)
        for one, two, lone in self.sets:
            codes = one[first]
            told |= (codes >= 0) & (codes == two[second]) & lone[codes]
        return told

    @staticmethod
    def _joined(columns: Sequence[tuple[Ints, Ints]], first: int, second: int) -> tuple[Ints, Ints, Bools]:
        """Each record's combination, −1 with a missing value, and which combinations one record alone has."""
        codes, gap = np.zeros(first + second, np.int64), np.zeros(first + second, np.bool_)
        for one, two in columns:
            both = np.concatenate([one, two])
            gap |= both < 0
            codes = np.unique(codes * (both.max(initial=0) + 2) + both + 1, return_inverse=True)[1].astype(np.int64)
        one, two = codes[:first], codes[first:]
        times = [np.bincount(c, minlength=int(codes.max(initial=0)) + 1) for c in (one, two)]
        return np.where(gap[:first], -1, one), np.where(gap[first:], -1, two), (times[0] == 1) | (times[1] == 1)


def _coded(a: pl.Series, b: pl.Series) -> tuple[Ints, Ints]:
    """Two columns as whole numbers, equal where values are; −1 where they are missing."""
    one, two = _comparable(a, b)
    both = pl.concat([one.alias("value"), two.alias("value")])
    low = both.min() if both.dtype == pl.Int64 else None
    if isinstance(low, int) and isinstance(high := both.max(), int) and high - low <= 4 * len(both):
        codes = (both - low).fill_null(-1)
    else:
        codes = both.cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1)
        seen = np.unique(codes.to_numpy())
        if seen[-1:].sum() > 4 * len(both):  # categories are numbered across the whole program
            codes = pl.Series(np.searchsorted(seen[seen >= 0], codes.to_numpy())).cast(pl.Int64)
            codes = pl.select(pl.when(both.is_null()).then(-1).otherwise(codes)).to_series()
    numbers = codes.to_numpy()
    return numbers[: len(a)].astype(np.int64), numbers[len(a) :].astype(np.int64)


def _comparable(a: pl.Series, b: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Two columns of one type: whole numbers where both hold such, else text."""
    if a.dtype in _WHOLE and b.dtype in _WHOLE:
        return a.cast(pl.Int64), b.cast(pl.Int64)
    return _text(a), _text(b)


def _text(column: pl.Series) -> pl.Series:
    """Values as text, missing ones as null; a time of day of 0:00 is a date."""
    if column.dtype == pl.Datetime:
        column = column.cast(pl.Datetime("us"))
        midnight = column.dt.time() == pl.Series([0]).cast(pl.Time)
        return pl.select(
            pl.when(midnight).then(column.dt.date().cast(pl.String)).otherwise(column.cast(pl.String))
        ).to_series()
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        return pl.Series([None if v is None else str(v) for v in column.to_list()], dtype=pl.String)
    if column.dtype == pl.Duration:
        return column.dt.total_microseconds().cast(pl.String)
    return written(column.cast(pl.Float64) if column.dtype.is_decimal() else column)


def _same_order(a: pl.DataFrame, b: pl.DataFrame, codes: dict[str, tuple[Ints, Ints]]) -> bool:
    """Whether row i of one table is row i of the other, as columns show that neither table is sorted by."""
    if a.height != b.height or not codes or not a.height:
        return False
    if any((one != two).any() for one, two in codes.values()):
        return False
    return not any(sorts_rows([_ranks(table.get_column(n)) for n in codes]) for table in (a, b))


def _ranks(column: pl.Series) -> Ints:
    """Ranks of values, 1, 2, …; −1 where they are missing."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary, pl.Categorical, pl.Enum):
        column = _text(column) if column.dtype not in (pl.Categorical, pl.Enum) else column.cast(pl.String)
    return column.rank("dense").cast(pl.Int64).fill_null(-1).to_numpy()
