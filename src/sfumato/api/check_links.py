"""Find what links tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.api.read import read_whole
from sfumato.data.links import Links, links_between
from sfumato.errors import DataError
from sfumato.progress import Progress, quiet, split, within

__all__ = ["check_links"]


def check_links(
    a: Any,
    b: Any,
    *more: Any,
    declared: Sequence[Sequence[str]] = (),
    unlinkable: Collection[str] = (),
    names: Sequence[str] | None = None,
    progress: Progress = quiet,
) -> Links:
    """Find what links tables: columns that two of them have, by which records find each other, and equal row order.

    Tables that are released apart (interviews under one code, places under another) must have nothing in common by
    which somebody could put them together again. A link is a smallest set of columns of the same names by which some
    record of one table joins uniquely to one of the other: its values, none of them missing, occur in the other table,
    and only once there or only once in its own. Or it is the order of the rows, where both tables have as many rows,
    all columns that both have agree row by row, and neither is sorted by these.

    Parameters
    ----------
    a, b, *more
        What `read` gives or takes; of more than two, every pair is looked at.
    declared
        Sets of columns on which tables are linked openly, where both have them; what tells no more is no link.
    unlinkable
        Columns that have the same name and nothing else in common, such as pseudonyms of two scopes.
    names
        Names of the tables, by default those of their files, else `table 1`, `table 2`, ….
    progress
        Told how far it is.

    Returns
    -------
    Links
        With `.links`, each with its `columns` and the `share` of the first table's records that take part, and
        `.notes`, which say where not all sets of columns could be tried.

    Notes
    -----
    It protects against combining tables by what they have in common as it stands. It does not see what an intruder does
    with values that are alike and not equal, with columns of other names, or with a further table. 7, 7.0 and the text
    "7" are equal, true is 1, and dates are their ISO text.

    Examples
    --------
    >>> import polars as pl
    >>> interviews = pl.DataFrame({"farm": ["a", "b", "c", "d"], "parish": [1, 1, 2, 2], "herd": [10, 20, 10, 20]})
    >>> places = pl.DataFrame({"parish": [1, 2, 2, 1], "herd": [20, 10, 20, 10], "lat": [51.1, 51.2, 51.3, 51.4]})
    >>> [(link.columns, link.share) for link in check_links(interviews, places)]
    [(('parish', 'herd'), 1.0)]

    No parish and no herd tells a farm, but both together do, so that every interview has its place.
    """
    sources = (a, b, *more)
    tables = [read_whole(source, "Searching for links").frame for source in sources]
    called = _names(sources, names)
    _refuse_strange(unlinkable, [set(table.columns) for table in tables])
    _refuse_unknown(declared, [set(table.columns) for table in tables])
    pairs = list(combinations(range(len(tables)), 2))
    found = Links()
    for (i, j), part in zip(pairs, split(progress, [1] * len(pairs)), strict=True):
        where = within(part, f"{called[i]} and {called[j]}")
        found += links_between(
            tables[i],
            tables[j],
            declared=[on for on in declared if {*on} <= {*tables[i].columns} & {*tables[j].columns} - {*unlinkable}],
            unlinkable=unlinkable,
            tables=(called[i], called[j]),
            progress=where,
        )
    return found


def _refuse_unknown(declared: Sequence[Sequence[str]], columns: Sequence[set[str]]) -> None:
    for on in declared:
        if isinstance(on, str):
            raise DataError("Each of `declared` is a list of columns, for instance declared=[['farm']].")
        if sum({*on} <= each for each in columns) < 2:
            raise DataError(
                f"No two tables have the columns {', '.join(map(repr, on))}, by which they should be linked."
            )


def _refuse_strange(unlinkable: Collection[str], columns: Sequence[set[str]]) -> None:
    """Refuse names that no table has: what is left out by a slip would stay in, and the other way round."""
    if isinstance(unlinkable, str):
        raise DataError("`unlinkable` is a list of columns, for instance unlinkable=['farm'].")
    if strange := [n for n in unlinkable if not any(n in each for each in columns)]:
        raise DataError(f"No table has the columns {', '.join(map(repr, strange))}, which should be unlinkable.")


def _names(sources: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    """What tables are called: each by another name."""
    if names is not None:
        if len(names) != len(sources) or len(set(names)) < len(names):
            raise DataError("`names` must give each table a name of its own.")
        return list(names)
    paths = [getattr(s, "source", s) for s in sources]
    files = [Path(p) if isinstance(p, str | PathLike) else None for p in paths]
    short = [f"table {i}" if f is None else f.name for i, f in enumerate(files, start=1)]
    if len(set(short)) == len(short):
        return short
    long = [f"table {i}" if f is None else str(f) for i, f in enumerate(files, start=1)]
    return long if len(set(long)) == len(long) else [f"table {i}" for i in range(1, len(long) + 1)]
