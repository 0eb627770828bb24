"""Columns that travel with the rows of a run and never leave with them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["CARRIED", "CELLS", "DELETED", "DONORS", "FILLED", "GAP", "HIDDEN", "OWN", "ROW", "VIEW", "WAS", "leaving"]

HIDDEN = "sfumato:"
"""Prefix of the columns that a run and its methods keep; no data set may have such a column."""

ROW = f"{HIDDEN}row"
"""Column that numbers the records of one run, so that tables are joined and never aligned by position."""

WAS = f"{HIDDEN}was:"
"""Prefix of the columns in which true values travel beside released ones, where tables are not joined."""

VIEW = f"{HIDDEN}view:"
"""Prefix of the columns in which what an attacker could compute travels: then the view's name, a colon, the column."""

DONORS = "donors"
"""Name of the view of whose values records bear that were exchanged within groups, by words for records."""

GAP = f"{HIDDEN}gap:"
"""Prefix of the columns that say whether a cell was a gap, before any step could empty or fill it, or since values of
its column were last exchanged."""

DELETED, FILLED = f"{HIDDEN}deleted:", f"{HIDDEN}filled:"
"""Prefixes of the columns that count how often a cell was emptied, and filled, before values were exchanged."""

CARRIED = (WAS, VIEW, GAP, DELETED, FILLED)
"""Prefixes of the columns that say something of a record, and go where its rows go."""

OWN = f"{HIDDEN}own"
"""Column of that view with the word by which a record itself is known."""

CELLS = "cells-{}"
"""Name of the view of keys as they entered a step that takes single values out of them, with the step's number."""


def leaving(columns: Iterable[str]) -> list[str]:
    """The columns that leave.

    Examples
    --------
    >>> leaving(["id", ROW, "age", f"{WAS}age"])
    ['id', 'age']
    """
    return [name for name in columns if not name.startswith(HIDDEN)]
