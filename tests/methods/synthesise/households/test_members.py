"""Members one after the other."""

import numpy as np
import polars as pl
import pytest

from sfumato.methods.synthesise.households.homes import Layout
from sfumato.methods.synthesise.households.members import Members, person_units
from sfumato.methods.synthesise.households.table import household_tables
from tests.methods.synthesise.households.small import NUMBERS, homes, original

FRAME = homes()


def made(numbers=NUMBERS, **more):
    own = original(**more)
    members = Members(own)
    return own, [members.draw(table, i, numbers) for i, table in enumerate(household_tables(own, numbers))]


def people(drawn):
    return drawn.frame.with_columns(home=pl.Series(drawn.layout.whose), place=pl.Series(drawn.layout.place))


@pytest.mark.parametrize("more", [{}, {"proper": True}, {"parametric": frozenset(homes(2).columns)}])
def test_heads_come_first_then_partners_then_children(more):
    table = people(made(**more)[1][0])
    assert (table.filter(pl.col("place") == 1)["relation"] == "head").all()
    assert (table.filter(pl.col("place") == 2)["relation"] == "partner").all()
    assert (table.filter(pl.col("place") > 2)["relation"] == "child").all()
    for name in ("tenure", "rent"):
        assert table.group_by("home").agg(pl.col(name).n_unique())[name].max() == 1


def test_a_unit_is_a_household_and_a_place():
    layout = Layout(np.array([2, 1]))
    units = person_units(layout, np.array([5, 6], dtype=np.uint64))
    assert units.tolist() == [5 * 2**20 + 1, 5 * 2**20 + 2, 6 * 2**20 + 1]


def test_people_stay_where_only_some_columns_are_drawn():
    given = ("tenure", "relation", "age")
    own, (one, other) = made(None, given=given, copies=2)
    for drawn in (one, other):
        assert drawn.layout is own.layout
        assert drawn.frame.select(given).equals(own.frame.select(given))
        assert (drawn.frame["score"] != own.frame["score"]).mean() > 0.9
    assert (one.frame["score"] != other.frame["score"]).mean() > 0.9


def test_where_few_come_second_or_later_all_who_are_not_heads_have_one_model():
    small = pl.concat([FRAME.filter(pl.col("relation") != "child"), FRAME.filter(pl.col("relation") == "child")[:3]])
    table = people(made(frame=small)[1][0])
    assert set(table.filter(pl.col("place") > 1)["relation"]) <= {"partner", "child"}


def test_predictors_may_be_chosen():
    """The column itself is looked at all the same: partners are of the other sex."""
    predictors = {"sex": (), "score": ("tenure",), "rent": ()}
    table = people(made(predictors=predictors)[1][0]).filter(pl.col("place") <= 2, pl.len().over("home") > 1)
    sexes = table.group_by("home").agg(pl.col("sex").n_unique())["sex"]
    assert (sexes == 2).mean() > 0.9
