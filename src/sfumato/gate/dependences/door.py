"""`dependences`: what columns of a data set tell of one another, without a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from sfumato.engines.polars import PolarsDataset
from sfumato.gate.decide import opened

__all__ = ["dependences"]


def dependences(
    data: PolarsDataset,
    *,
    count: str | None = None,
    levels: str | PathLike[str] | Mapping[str, Any] | None = None,
    never: Sequence[Mapping[str, str]] = (),
) -> list[dict[str, Any]]:
    """Find what columns of a data set tell of one another: in decisions it counts as known to everybody.

    Whoever knows that a stay of over thirty days is one of over seven can subtract a table of the one from a table of
    the other. What `levels` and `never` say already is not found again. Not found: columns that exclude something only
    three together, and what has a single exception.

    Parameters
    ----------
    data
        What `sf.read` gives: records, or a table of counts.
    count
        The column of counts of a table; else every row is one person.
    levels
        A file with levels, or their mapping.
    never
        Combinations of codes that cannot be, each as code by variable.

    Returns
    -------
    list of dict
        The most telling first: `kind` (`tells`: one column tells another; `tells_together`: two tell a third; `never`:
        combinations of two are empty where many people were expected; `band`: a number tells a column; `adds`: numbers
        that add up), `from` (columns that tell; both of `never`), `to` (the column that is told, or None),
        `combinations` (how many cannot be), `expected` (people that would be in them by chance). Whether a number is
        missing is called `cost@(known)`. They are of data: for the custodian alone.

    Raises
    ------
    DataError
        Unknown names, codes without a group, a combination that occurs after all.

    Examples
    --------
    >>> import polars as pl
    >>> import sfumato as sf
    >>> rows = {"ward": ["a", "b", "c"] * 20, "division": ["x", "x", "y"] * 20}
    >>> [(one["kind"], one["from"], one["to"]) for one in dependences(sf.read(pl.DataFrame(rows)))]
    [('tells', ['ward'], 'division')]
    """
    return [one.to_plain() for one in opened(data, count=count, levels=levels, never=never).found]
