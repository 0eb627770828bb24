"""Columns that belong together: each of three rules, and what is an accident."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Variable
from sfumato.plan.belonging import belonging

CATEGORY, NUMBER = Variable(kind="categorical"), Variable(kind="continuous")
N = 300
RNG = np.random.default_rng(5)
SEX = RNG.choice(["f", "m"], N)
AGE = RNG.integers(20, 80, N)


def sets(kinds=None, **columns):
    """The sets among these columns; texts are categories, all else numbers."""
    frame = pl.DataFrame(columns)
    told = {n: CATEGORY if frame.schema[n] == pl.String else NUMBER for n in frame.columns} | (kinds or {})
    return belonging(frame, told)


def without(values, rows):
    """The values with gaps at some rows."""
    return [None if gone else value for value, gone in zip(np.asarray(values).tolist(), rows, strict=True)]


def among(*rows):
    return np.isin(np.arange(N), rows)


GONE = RNG.random(N) < 0.3


def test_columns_that_are_missing_together_belong_together():
    assert sets(age=AGE, x=without(AGE + RNG.normal(size=N), GONE), y=without(RNG.normal(size=N), GONE)) == (
        ("x", "y"),
    )


def test_one_gap_in_a_hundred_may_differ():
    nearly = GONE.copy()
    nearly[np.flatnonzero(GONE)[0]] = False
    x, y = RNG.normal(size=N), RNG.normal(size=N)
    assert sets(x=without(x, GONE), y=without(y, nearly)) == (("x", "y"),)
    half = GONE & (np.arange(N) % 2 == 0)
    assert sets(x=without(x, GONE), y=without(y, half)) == ()


@pytest.mark.parametrize(("gaps", "together"), [(4, False), (5, True)])
def test_below_five_gaps_it_is_an_accident(gaps, together):
    few = among(*range(gaps))
    found = sets(x=without(RNG.normal(size=N), few), y=without(RNG.normal(size=N), few))
    assert found == ((("x", "y"),) if together else ())


def test_what_only_the_treated_have_belongs_to_the_treatment():
    treated = np.where(RNG.random(N) < 0.6, "yes", "no")
    assert sets(sex=SEX, treated=treated, waiting=without(RNG.normal(size=N), treated == "no")) == (
        ("treated", "waiting"),
    )


def test_gaps_that_any_value_may_have_belong_to_none():
    assert sets(sex=SEX, x=without(RNG.normal(size=N), GONE)) == ()
    # nobody of one value has any, and most of the other have none either
    assert sets(sex=SEX, x=without(RNG.normal(size=N), (SEX == "f") & (np.arange(N) % 2 == 0))) == ()


def test_gaps_that_only_a_few_share_are_an_accident():
    """Six of a rare town lack what a third of all lack: their gaps are few of the column's."""
    town = np.where(among(*range(6)), "rare", "usual")
    gaps = among(*range(6)) | GONE
    assert sets(town=town, x=without(RNG.normal(size=N), gaps)) == ()
    assert sets(town=town, x=without(RNG.normal(size=N), among(*range(6)))) == (("town", "x"),)


def test_a_category_that_cuts_a_number_belongs_to_it():
    band = np.where(AGE < 40, "young", np.where(AGE < 60, "middle", "old"))
    assert sets(sex=SEX, age=AGE, band=band) == (("age", "band"),)
    one_off = band.copy()
    one_off[AGE.argmax()] = "young"
    assert sets(sex=SEX, age=AGE, band=one_off) == ()


def test_categories_that_are_numbers_cut_too():
    assert sets({"low": CATEGORY}, age=AGE, low=(AGE < 40).astype(int)) == (("age", "low"),)


def test_a_category_that_follows_from_another_belongs_to_it():
    town = RNG.choice(["a", "b", "c", "d"], N)
    region = np.where(np.isin(town, ["a", "b"]), "north", "south")
    assert sets(sex=SEX, town=town, region=region) == (("town", "region"),)
    crossed = region.copy()
    crossed[np.flatnonzero(town == "a")[0]] = "south"
    assert sets(sex=SEX, town=town, region=crossed) == ()


@pytest.mark.parametrize(("records", "together"), [(4, False), (5, True)])
def test_a_value_of_fewer_than_five_records_is_an_accident(records, together):
    """Where few are of a value, they easily lie apart, in one region, or have no value of another column."""
    rare = among(*range(records))
    town = np.where(rare, "rare", "usual")
    age = np.where(rare, 90, AGE)
    region = np.where(rare, "south", np.where(AGE % 2, "north", "west"))
    assert bool(sets(town=town, age=age)) == together
    assert bool(sets(town=town, region=region)) == together


def test_sets_that_share_a_column_are_one_in_the_order_of_the_columns():
    treated = np.where(AGE < 40, "yes", "no")
    gaps = treated == "no"
    found = sets(waiting=without(RNG.normal(size=N), gaps), sex=SEX, age=AGE, treated=treated)
    assert found == (("waiting", "age", "treated"),)
    assert sets(x=without(AGE, GONE), y=without(AGE, GONE), band=np.where(SEX == "f", "1", "2"), sex=SEX) == (
        ("x", "y"),
        ("band", "sex"),
    )


def test_many_values_one_value_and_columns_that_are_not_asked_for_are_in_no_set():
    town = [f"t{i // 20}" for i in range(N)]  # 15 towns
    region = ["north" if i < 100 else "south" for i in range(N)]
    assert sets(town=town, region=region) == ()
    assert sets(one=["x"] * N, age=AGE) == ()
    frame = pl.DataFrame({"age": AGE, "low": (AGE < 40).astype(int)})
    assert belonging(frame, {"age": NUMBER}) == ()
    assert belonging(frame.clear(), {"age": NUMBER, "low": CATEGORY}) == ()
