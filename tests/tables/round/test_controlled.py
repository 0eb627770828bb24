"""Controlled rounding where steps are needed: any two of three cells with 1 each are a multiple already."""

import polars as pl
import pytest

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.equations import equations
from sfumato.tables.round.controlled import controlled
from sfumato.tables.table import Table


def pairs():
    trees = tuple(Hierarchy(((x, x + y), (y, x + y))) for x, y in ("ab", "bc", "ac"))
    rows = {"v": ["Total", "ab", "bc", "ac", "a", "b", "c"], "count": [3, 2, 2, 2, 1, 1, 1]}
    return equations(Table.of(pl.DataFrame(rows), hierarchies={"v": trees}))


def test_steps_are_taken_where_neighbours_do_not_add_up():
    values, found, took = controlled(pairs(), 2.0, None, None)
    assert (took, found.optimal) == (1, True)
    assert not (pairs().system.matrix @ values).any()
    assert not (values % 2).any()


def test_too_few_steps_are_refused_with_the_next():
    with pytest.raises(DataError, match="--steps 1"):
        controlled(pairs(), 2.0, 0, None)
