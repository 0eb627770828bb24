"""The households that are drawn from."""

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.methods.synthesise.coding import Coded
from sfumato.methods.synthesise.households.original import by_value
from tests.methods.synthesise.households.small import NAMES, OWN, SHARED, homes, original

FRAME = homes()
NOBODY = np.zeros(0, np.uint64)


def draws(own):
    return own.keys("", np.arange(50, dtype=np.uint64), NOBODY).uniform("age", "state", 0)


def test_columns_are_of_households_or_of_members():
    own = original()
    assert own.shared == SHARED
    assert own.own == OWN
    assert own.layout.people == FRAME.height
    assert own.frame["relation"][own.layout.first].unique().to_list() == ["head"]
    assert own.frame.filter(pl.Series(own.layout.place == 2))["relation"].unique().to_list() == ["partner"]
    assert {count.column for count in own.counts} == {"relation", "sex"}
    for column in ("relation", "sex"):
        total = sum(n for count, n in own.totals.items() if count.column == column)
        np.testing.assert_array_equal(total, own.layout.size)


def test_draws_hang_on_values_and_on_who_lives_with_whom_alone():
    one = draws(original())
    np.testing.assert_array_equal(one, draws(original(FRAME.sample(fraction=1, shuffle=True, seed=4))))
    np.testing.assert_array_equal(one, draws(original(FRAME.with_columns(home=pl.col("home") + 5))))
    moved = FRAME.with_columns(home=FRAME["home"].scatter(3, int(FRAME["home"][60])))
    for other in (moved, FRAME[1:], FRAME.with_columns(age=FRAME["age"].scatter(5, 99))):
        assert (one != draws(original(other))).all()


def test_rows_are_sorted_by_value():
    columns = {"a": Coded(np.array([2, 1, 1, 1]), np.zeros(4)), "b": Coded(np.zeros(4, int), np.array([0.0, 5, 2, 2]))}
    assert by_value(columns, np.array([9, 9, 8, 7], dtype=np.uint64)).tolist() == [3, 2, 1, 0]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(DataError, match="more than half of the households"):
        original(min_leaf=80)
    assert original(min_leaf=80, parametric=frozenset(NAMES)).regressions
    alone = FRAME.filter(pl.col("relation") == "head")
    with pytest.raises(DataError, match="Fewer people live with a head"):
        original(pl.concat([alone, FRAME.filter(pl.col("relation") == "partner")[:4]]))
    assert original(alone, head="rent").own == ()
    with pytest.raises(DataError, match="`head` names column 'rent'"):
        original(head="rent")
