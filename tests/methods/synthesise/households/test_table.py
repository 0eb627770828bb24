"""What households have once."""

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.methods.synthesise.households.earlier import SIZE
from sfumato.methods.synthesise.households.table import household_tables
from tests.methods.synthesise.households.small import NUMBERS, homes, original

FRAME = homes()


def test_each_household_is_drawn_once_with_size_and_make_up():
    own = original(copies=2)
    tables = household_tables(own, NUMBERS)
    assert len(tables) == 2
    for table in tables:
        assert list(table) == ["tenure", "rent", SIZE, *(count.name for count in own.drawn_counts)]
        assert {len(column.state) for column in table.values()} == {200}
        assert set(table[SIZE].number) <= set(own.layout.size)
        tenure = own.codings["tenure"].series(table["tenure"])
        larger = [table[SIZE].number[tenure.to_numpy() == kind].mean() for kind in ("own", "rent")]
        assert larger[0] > larger[1]
    assert (tables[0]["rent"].number != tables[1]["rent"].number).mean() > 0.9


def test_true_households_stay_with_what_is_given_of_them():
    own = original(given=("tenure", "relation"))
    table = household_tables(own, None)[0]
    np.testing.assert_array_equal(table[SIZE].number, own.layout.size)
    np.testing.assert_array_equal(table["tenure"].state, own.columns["tenure"].state[own.layout.first])
    for count in own.drawn_counts:
        true = (table[count.name].number == own.totals[count]).all()
        assert true == (count.column == "relation")  # what is drawn of members is not told by their true make-up


def test_a_column_that_is_the_size_stays_so():
    frame = FRAME.with_columns(rent=pl.len().over("home").cast(pl.Float64))
    own = original(frame)
    table = household_tables(own, NUMBERS)[0]
    np.testing.assert_array_equal(table[SIZE].number, own.codings["rent"].series(table["rent"]).to_numpy())


@pytest.mark.parametrize("more", [{"predictors": {"rent": ("age",)}}, {"rules": [("age > 60", "rent", 0.0)]}])
def test_what_is_a_households_is_not_drawn_from_its_members(more):
    with pytest.raises(DataError, match="Column 'rent' is the same for all of each household.*age"):
        household_tables(original(**more), NUMBERS)
