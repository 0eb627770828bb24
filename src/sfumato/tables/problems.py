"""Tables as programs for cell suppression exchange them: cells by number, with equations of their own."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.data.files.jj import Problem
from sfumato.tables.axis import Axis
from sfumato.tables.table import (
    COST,
    LEAST,
    LOWER_LEVEL,
    MOST,
    SLIDING_LEVEL,
    STATUS,
    UPPER_LEVEL,
    Table,
    floats,
)

__all__ = ["CELL", "VALUE", "problem_of", "table_of"]

CELL = "cell"
"""The one variable of such a table: the number of the cell."""
VALUE = "value"


def table_of(problem: Problem, value: str = VALUE) -> Table:
    """A problem of cell suppression as a judged table, of one variable: the number of the cell.

    Parameters
    ----------
    problem
        Cells with statuses, costs, levels, bounds, and the equations between them.
    value
        How the value's column is called.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> zero = np.zeros(3)
    >>> row = sp.csr_array(np.array([[-1, 1, 1]]))
    >>> one = Problem(np.array([5.0, 3, 2]), np.ones(3), ("s", "u", "s"), zero, zero + np.inf, zero, zero, zero, row)
    >>> table_of(one).cells.select("cell", "value", "status").rows()
    [('0', 5.0, 's'), ('1', 3.0, 'u'), ('2', 2.0, 's')]
    """
    codes = [str(i) for i in range(len(problem.value))]
    unsafe = np.array(problem.status) == "u"
    levels = {
        name: pl.Series(np.where(unsafe, level, np.nan)).fill_nan(None)
        for name, level in (
            (LOWER_LEVEL, problem.lower_level),
            (UPPER_LEVEL, problem.upper_level),
            (SLIDING_LEVEL, problem.sliding_level),
        )
    }
    cells = pl.DataFrame(
        {
            CELL: codes,
            value: problem.value,
            STATUS: list(problem.status),
            **levels,
            COST: problem.cost,
            LEAST: problem.lower,
            MOST: problem.upper,
        }
    )
    return Table((Axis.flat(CELL, codes),), cells, value, sums=problem.matrix)


def problem_of(table: Table) -> Problem:
    """The problem again, with the statuses that the table has by now.

    Parameters
    ----------
    table
        What `table_of` gave, or what `protect` judged of it.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> zero = np.zeros(3)
    >>> row = sp.csr_array(np.array([[-1, 1, 1]]))
    >>> one = Problem(np.array([5.0, 3, 2]), np.ones(3), ("s", "u", "s"), zero, zero + np.inf, zero, zero, zero, row)
    >>> problem_of(table_of(one)).status
    ('s', 'u', 's')
    """
    if table.sums is None:
        raise ValueError("only tables with equations of their own are such problems")
    below, above, wide = (np.nan_to_num(floats(table.cells, n)) for n in (LOWER_LEVEL, UPPER_LEVEL, SLIDING_LEVEL))
    cost, least, most = (floats(table.cells, n) for n in (COST, LEAST, MOST))
    letters = tuple(table.cells[STATUS].to_list())
    return Problem(table.values, cost, letters, least, most, below, above, wide, table.sums)
