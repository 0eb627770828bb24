"""Gaps that are filled in, each given all other columns."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.errors import DataError
from tests.methods.synthesise.small import synthesis

BOOK = Codebook({name: Variable(kind="categorical") for name in ("a", "b", "c")})


def table(n=600, seed=1):
    """b and c are what a is, nearly always; a has gaps where c says so, and c has some of its own."""
    rng = np.random.default_rng(seed)
    a = rng.choice(["x", "y", "z"], n)
    b, c = (np.where(rng.random(n) < 0.9, a, rng.choice(["x", "y", "z"], n)) for _ in range(2))
    frame = pl.DataFrame({"a": a, "b": b, "c": c})
    no_c = pl.Series(rng.random(n) < 0.1)
    no_a = pl.Series(rng.random(n) < np.where(c == "x", 0.8, 0.1)) & ~no_c
    return frame, frame.with_columns(a=pl.when(~no_a).then("a"), c=pl.when(~no_c).then("c"))


def filled(frame, secret=bytes(16), ids=None, columns=("a", "c"), given=("b",), **more):
    ids = np.arange(frame.height, dtype=np.uint64) if ids is None else ids
    return synthesis(columns, given, **more).filled(frame, BOOK, Draws(secret), ids)


def agreed(frame, copy):
    gone = frame["a"].is_null()
    return (copy["a"] == copy["c"]).filter(gone).mean()


def test_a_gap_is_drawn_given_columns_that_are_drawn_later():
    """a and c are equal in 84 of 100 records with both; the first pass draws a from b alone: c adds to it."""
    whole, frame = table()
    (again,), (once,) = filled(frame), filled(frame, sweeps=0)
    true = (whole["a"] == whole["c"]).filter(frame["a"].is_null()).mean()
    assert agreed(frame, again) == pytest.approx(true, abs=0.06)
    assert agreed(frame, once) < agreed(frame, again) - 0.05


def test_one_column_with_gaps_sees_all_others_at_once():
    _, frame = table()
    frame = frame.with_columns(c=pl.col("c").fill_null("x"))
    assert_frame_equal(filled(frame)[0], filled(frame, sweeps=0)[0])
    assert agreed(frame, filled(frame)[0]) > 0.75


@pytest.mark.parametrize("more", [{}, {"proper": True}, {"proper": True, "parametric": frozenset("ac")}])
def test_equal_data_repeat_whatever_the_order_of_rows(more):
    _, frame = table(200)
    ids = np.arange(200, dtype=np.uint64)
    order = np.random.default_rng(2).permutation(200)
    plain, other = filled(frame, ids=ids, **more)[0], filled(frame[order], ids=ids[order], **more)[0]
    assert_frame_equal(plain[order], other)
    assert not plain.equals(filled(frame, bytes([1] * 16), **more)[0])


def test_every_sweep_has_draws_of_its_own_and_copies_too():
    _, frame = table()
    found = [filled(frame, sweeps=k)[0]["a"].to_list() for k in (0, 1, 2)]
    assert found[0] != found[1] != found[2]
    one, other = filled(frame, copies=2)
    assert one["a"].to_list() != other["a"].to_list()
    assert_frame_equal(one, filled(frame)[0])  # more copies change none of the earlier ones


def test_rules_settle_gaps_and_nothing_else():
    _, frame = table()
    rules = [("b == 'x'", "a", "z")]
    (copy,) = filled(frame, rules=rules)
    gone, ruled = frame["a"].is_null(), frame["b"] == "x"
    assert (copy["a"].filter(gone & ruled) == "z").all()
    assert (copy["a"] == frame["a"]).filter(~gone).all()
    with pytest.raises(DataError, match="Two rules demand"):
        filled(frame, rules=[*rules, ("b != 'y'", "a", "y")])


def test_predictors_may_be_chosen():
    _, frame = table()
    (copy,) = filled(frame, predictors={"a": ("c",)})
    assert agreed(frame, copy) > 0.75
    (alone,) = filled(frame, predictors={"a": (), "c": ("b",)})
    assert agreed(frame, alone) < 0.6
