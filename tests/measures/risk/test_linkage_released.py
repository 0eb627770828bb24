"""Who knows all that leaves: classes by it, and the nearest by what was masked."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.risk.linkage_released import found_by
from sfumato.measures.subject import Outsider

BOOK = Codebook(
    {
        "town": Variable(kind="categorical"),
        "job": Variable(kind="categorical"),
        "age": Variable(kind="continuous"),
        "pay": Variable(kind="continuous"),
    }
)
TRUE = pl.DataFrame(
    {
        "town": ["a", "a", "a", "b", "b"],
        "job": ["x", "x", "y", "y", "y"],
        "age": [20.0, 30.0, 40.0, 50.0, 60.0],
        "pay": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
)


def pair(**released):
    return Pair(TRUE, TRUE.with_columns(**released), BOOK, ("age", "pay"), aligned=True)


def test_people_are_looked_for_among_those_who_share_what_leaves():
    swapped = pair(age=pl.Series([30.0, 20.0, 40.0, 60.0, 50.0]))
    assert found_by(swapped, Outsider("released", ("town",), ("age",))).value == pytest.approx(1 / 5)
    with_pay = found_by(swapped, Outsider("released", ("town", "pay"), ("age",)))
    assert (with_pay.value, with_pay.baseline) == (1.0, 1.0)  # alone by town and pay, whatever became of age


def test_records_that_tie_share_the_guess():
    one_age = pair(age=pl.lit(40.0))
    assert found_by(one_age, Outsider("released", ("town",), ("age",))).value == pytest.approx((3 / 3 + 2 / 2) / 5)


def test_exchanged_categories_are_known_too():
    lied = pair(job=pl.Series(["x", "x", "y", "x", "y"]))
    # nobody else of b has another job than was true; the first of b says x, so that the other one is nearer
    found = found_by(lied, Outsider("released", ("town",), ("job",)))
    assert found.value == pytest.approx((1 / 2 + 1 / 2 + 1 + 0 + 1) / 5)
    assert found.baseline == pytest.approx(3 / 5)  # a x, a y, b y


def test_an_emptied_cell_is_near_to_every_value_and_tells_no_class():
    gaps = pair(job=pl.Series([None, "x", "y", "y", "y"]))
    # who knows `x` of the first finds the second, which says it: a gap is one half away
    assert found_by(gaps, Outsider("released", ("town", "job"), ())).value == pytest.approx(
        (0 + 1 + 1 + 1 / 2 + 1 / 2) / 5
    )


def test_what_was_rescaled_is_tried_undone_as_well():
    stretched = pair(age=pl.Series([0.0, 25.0, 80.0, 100.0, 120.0]))
    undone = np.column_stack([TRUE["age"].to_numpy(), TRUE["pay"].to_numpy()])
    outsider = Outsider("released", (), ("age",))
    assert found_by(stretched, outsider).value < found_by(stretched, outsider, undone).value == 1.0


def test_nothing_is_told_where_nothing_was_masked():
    assert found_by(pair(), Outsider("released", ("town",), ())) is None
