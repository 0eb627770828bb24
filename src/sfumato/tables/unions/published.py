"""Unions of a table that was handed out, by the custodian's that stands beside it."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.tables.equations import equations
from sfumato.tables.rules import read_rules
from sfumato.tables.table import Table
from sfumato.tables.unions.unions import Judged, Unions

__all__ = ["unions_of_published"]


def unions_of_published(released: Table, judged: Table) -> Judged | None:
    """Judge the sums of hidden cells that a table tells.

    Parameters
    ----------
    released
        The table as it is handed out: hidden cells have no value.
    judged
        The custodian's, with contributions and the rules that it was judged by; of a folder it has both.

    Returns
    -------
    Judged
        None where the custodian's table does not know its contributions, or its rules.

    Examples
    --------
    >>> counts = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]}))
    >>> unions_of_published(counts, counts) is None
    True
    """
    if judged.contributions is None or judged.released.rule is None:
        return None
    merged = equations(judged)
    unions = Unions.of(judged, merged, read_rules(judged.released.rule))
    if unions is None:
        return None
    names = list(judged.variables)
    told = released.cells.filter(pl.col(released.value).is_not_null()).select(names)
    lines = judged.cells.select(names).with_row_index("sfumato:line").join(told, on=names, how="semi")["sfumato:line"]
    hidden = np.ones(len(judged), dtype=bool)  # what is not listed is not published
    hidden[lines.to_numpy()] = False
    return unions.judge(np.asarray(merged.gather([hidden], "min") > 0))
