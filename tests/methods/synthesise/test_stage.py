"""From a table to its copies, one after the other."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.expression import parse
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.base import StepDraws
from sfumato.methods.synthesise.stage import Making
from tests.methods.synthesise.small import BOOK, survey, synthesis

FRAME = survey()
NAMES = ("age", "sex", "grade", "income", "born", "works", "code")


def made(step, kind="full", frame=FRAME, *, by=(), rows=None, where=None, derived=()):
    """The copies, and what is disclosed of them."""
    formulas = tuple((name, parse(formula)) for name, formula in derived)
    making = Making(step, kind, by, rows, parse(where) if where else None, formulas, "id", BOOK)
    state = making.fit([PolarsDataset(frame, BOOK).ask(query) for query in making.stage().queries])
    return making.transform(frame, state, StepDraws(Draws(bytes(16)), "synthesise", "id")), state["told"]


def test_copies_stand_one_after_the_other_with_their_numbers():
    out, told = made(synthesis((*NAMES, "town"), copies=3))
    assert out.columns == ["copy", *FRAME.columns]
    assert out["copy"].to_list() == [1] * 400 + [2] * 400 + [3] * 400
    assert out["id"].to_list() == list(range(1, 401)) * 3
    assert (told.kind, told.copies, told.ratio) == ("full", 3, 1.0)
    assert made(synthesis((*NAMES, "town")))[0].columns == FRAME.columns


def test_more_or_fewer_rows_are_told():
    out, told = made(synthesis((*NAMES, "town"), copies=2), rows=123)
    assert (out.height, told.ratio) == (246, 0.307)  # 123/400 to three digits is .3075, rounded to even


def test_strata_keep_their_shares_and_their_relations():
    out, told = made(synthesis(NAMES), by=("town",), rows=1000)
    wanted = FRAME["town"].value_counts().with_columns(pl.col("count") * 2.5).sort("town")
    got = out["town"].value_counts().sort("town")
    assert np.abs(got["count"].to_numpy() - wanted["count"].to_numpy()).max() < 1
    assert got["count"].sum() == 1000
    assert len(out.select("town", "code").unique()) == 3
    assert told.by == ("town",)
    assert out["id"].n_unique() == 1000
    with pytest.raises(DataError, match="without any row"):
        made(synthesis(NAMES), by=("town",), rows=2)


def test_another_stratum_leaves_a_strata_draws_as_they_are():
    """Each is a synthesis of its own: keyed on its own records."""
    one = made(synthesis(NAMES), "partial", by=("town",))[0]
    changed = FRAME.with_columns(age=pl.when(pl.col("town") == "A").then(pl.col("age") + 1).otherwise("age"))
    other = made(synthesis(NAMES), "partial", changed, by=("town",))[0]
    stays = pl.col("town") != "A"
    assert_frame_equal(one.filter(stays), other.filter(stays))
    assert (one["age"] == other["age"]).filter(FRAME["town"] == "A").mean() < 0.1


def test_only_the_records_of_a_condition_are_drawn():
    out, told = made(synthesis(("income", "grade"), ("age", "sex"), copies=2), "partial", where="age >= 40")
    old = FRAME["age"] >= 40
    for copy in (1, 2):
        own = out.filter(pl.col("copy") == copy).drop("copy")
        assert_frame_equal(own.filter(~old), FRAME.filter(~old))
        assert_frame_equal(own.drop("income", "grade"), FRAME.drop("income", "grade"))
        assert (own["income"] != FRAME["income"]).filter(old).mean() > 0.5
    assert (told.kind, told.ratio) == ("partial", 1.0)
    with pytest.raises(DataError, match="No record meets `where`"):
        made(synthesis(("income",), ("age",)), "partial", where="age > 1000")


def test_formulas_are_computed_of_what_was_drawn():
    frame = FRAME.with_columns(months=pl.col("age") * 12)
    out, told = made(synthesis((*NAMES, "town")), frame=frame, derived=[("months", "age * 12")])
    assert (out["months"] == out["age"] * 12).all()
    assert "months" in told.columns


def test_missing_cells_are_filled_in_every_copy():
    out, told = made(synthesis(("sex", "income"), ("age", "town"), copies=2), "missing")
    known = FRAME["sex"].is_not_null()
    for copy in (1, 2):
        own = out.filter(pl.col("copy") == copy)
        assert own["sex"].null_count() == 0
        assert (own["sex"] == FRAME["sex"]).filter(known).all()
        assert_frame_equal(own.select("id", "age", "town"), FRAME.select("id", "age", "town"))
    assert told.kind == "missing"
