"""Which keys and which records take part in classes, where there are gaps.

A key in which nobody differs tells nobody apart. Were it to count all the same, its gaps would: where a gap is a
wildcard, a record without a value of a constant key would be one with gaps, and so be counted otherwise. Which keys
tell is decided here, once, of the whole column; kernels that look at some rows or some keys do not ask again.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.dataset import Dataset
from sfumato.data.query import Counts
from sfumato.measures.measuring import CATEGORY

__all__ = ["NO_KEY", "informative", "keyless", "nobody_differs", "taking_part", "with_key"]

NO_KEY = (
    "Records without a known value in any of the keys that tell people apart are in no group: nobody is found by keys "
    "that are not there."
)


def informative(keys: pl.DataFrame, names: Sequence[str], missing: str) -> tuple[str, ...]:
    """Those of some keys that take part in classes.

    Parameters
    ----------
    keys
        Every combination that occurs in the table, at least once; null where missing.
    names
        The keys.
    missing
        What a missing key is, see `sfumato.measures.measuring.Measuring`. Where it is a category, all keys take part;
        where it is a wildcard, those with two different known values.

    Returns
    -------
    tuple of str
        In the order of `names`. Where no key has two known values, one stands for all of them: the first of those that
        most combinations have a value of.

    Examples
    --------
    >>> keys = pl.DataFrame({"sex": ["f", "m", None], "here": ["yes", "yes", None]})
    >>> informative(keys, ["sex", "here"], "wildcard"), informative(keys, ["sex", "here"], "category")
    (('sex',), ('sex', 'here'))
    """
    if missing == CATEGORY or not names:
        return tuple(names)
    known = {n: keys[n].drop_nulls().n_unique() for n in names}
    return tuple(n for n in names if known[n] > 1) or (min(names, key=lambda n: keys[n].null_count()),)


def nobody_differs(keys: pl.DataFrame, by: Sequence[str], missing: str) -> bool:
    """Whether everybody agrees with everybody: gaps are wildcards, and the keys that take part have one known value.

    Examples
    --------
    >>> nobody_differs(pl.DataFrame({"here": ["yes", None]}), ["here"], "wildcard")
    True
    """
    return missing != CATEGORY and all(keys[n].drop_nulls().n_unique() == 1 for n in by)


def taking_part(data: Dataset, by: Sequence[str], missing: str) -> tuple[str, ...]:
    """Those of the keys of a table that take part in classes, see `informative`.

    Examples
    --------
    >>> import sfumato as sf
    >>> table = sf.read(pl.DataFrame({"sex": ["f", "m", "m"], "here": ["yes", None, "yes"]}))
    >>> taking_part(table, ["sex", "here"], "wildcard")
    ('sex',)
    """
    return tuple(by) if missing == CATEGORY or not by else informative(data.ask(Counts(tuple(by))), by, missing)


def with_key(by: Sequence[str]) -> pl.Expr:
    """Whether a record has a known value of any of the keys: else it is in no class."""
    return pl.any_horizontal(pl.col(n).is_not_null() for n in by)


def keyless(data: Dataset, by: Sequence[str], missing: str) -> bool:
    """Whether there are records that are in no class, since all of their keys are missing.

    Examples
    --------
    >>> import sfumato as sf
    >>> table = sf.read(pl.DataFrame({"sex": ["f", None, "m"], "here": ["yes", "yes", "yes"]}))
    >>> keyless(table, ["sex", "here"], "wildcard"), keyless(table, ["sex", "here"], "category")
    (True, False)
    """
    if not by:
        return False
    counts = data.ask(Counts(tuple(by)))
    return counts.filter(~with_key(informative(counts, by, missing))).height > 0
