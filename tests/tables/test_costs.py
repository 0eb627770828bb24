"""Costs of cells, and factors that hang on a secret and on codes alone."""

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError, SecretError
from sfumato.tables.costs import SPREAD, costs_of
from sfumato.tables.table import COST, Table

ROWS = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [9, 8, 1]})
KEY, OTHER = bytes(range(32)), bytes(32)


def test_without_a_secret_they_are_what_is_asked_for():
    table = Table.of(ROWS.with_columns(contributors=pl.Series([4, 3, 1])))
    assert costs_of(table, "value").tolist() == [9, 8, 1]
    assert costs_of(table, "unity").tolist() == [1, 1, 1]
    assert costs_of(table, "count").tolist() == [4, 3, 1]
    with pytest.raises(DataError, match="contributors"):
        costs_of(Table.of(ROWS), "count")


def test_what_was_settled_goes_before():
    table = Table.of(ROWS).with_columns(**{COST: pl.Series([None, 5.0, None])})
    assert costs_of(table, "value").tolist() == [9, 5, 1]


def test_a_secret_multiplies_each_by_a_factor_of_its_own():
    table = Table.of(ROWS)
    factor = costs_of(table, "unity", KEY)
    assert ((factor >= 1) & (factor < np.exp(SPREAD))).all()
    assert len(set(factor)) == 3
    assert factor.tolist() == costs_of(table, "unity", KEY).tolist()
    assert factor.tolist() != costs_of(table, "unity", OTHER).tolist()
    with pytest.raises(SecretError):
        costs_of(table, "unity", b"short")


def test_a_cell_has_the_same_factor_in_linked_tables_and_in_another_year():
    one = Table.of(ROWS)
    more = pl.DataFrame(
        {
            "region": ["Total"] * 3 + ["n"] * 3,
            "sex": ["Total", "f", "m"] * 2,
            "count": [30, 20, 10, 3, 2, 1],
        }
    )
    both = costs_of(Table.of(more), "unity", KEY)
    assert both[:3].tolist() == costs_of(one, "unity", KEY).tolist()
    assert len(set(both)) == 6
    turned = costs_of(Table.of(more.select("sex", "region", "count")), "unity", KEY)
    assert set(turned) == set(both)
