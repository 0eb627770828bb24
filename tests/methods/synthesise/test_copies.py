"""Copies of a table."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook
from sfumato.draws import Draws
from sfumato.errors import DataError
from tests.methods.synthesise.small import BOOK, anew, replaced, survey, synthesis

FRAME = survey()
NAMES = ("age", "sex", "grade", "income", "born", "works", "town", "code")
SORTS = {
    "trees": {},
    "proper trees": {"proper": True},
    "smooth trees": {"smooth": True},
    "regressions": {"parametric": frozenset(NAMES)},
    "proper regressions": {"parametric": frozenset(NAMES), "proper": True},
    "both": {"parametric": frozenset({"sex", "income"}), "smooth": True},
}
each_sort = pytest.mark.parametrize("more", SORTS.values(), ids=SORTS)


@each_sort
def test_copies_look_like_the_original(more):
    for copy in anew(FRAME, synthesis(NAMES, copies=2, **more), rows=333):
        assert copy.schema == {name: FRAME.schema[name] for name in NAMES}
        assert copy.height == 333
        for name in ("sex", "grade", "works", "town"):
            assert set(copy[name]) <= set(FRAME[name])
        assert set(copy.select("town", "code").unique().rows()) == {("A", "1"), ("B", "2"), ("C", "3")}
        assert copy["age"].is_between(FRAME["age"].min(), FRAME["age"].max()).all()


@each_sort
def test_the_order_of_rows_changes_nothing(more):
    step = synthesis(NAMES, copies=2, **more)
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=2)
    for one, other in zip(anew(FRAME, step), anew(shuffled, step), strict=True):
        assert_frame_equal(one, other)
    partial = synthesis(("grade", "income"), ("age", "sex"), copies=2, **more)
    for one, other in zip(replaced(FRAME, partial), replaced(shuffled, partial), strict=True):
        assert_frame_equal(one.sort("id"), other.sort("id"))


@each_sort
def test_more_copies_begin_with_the_fewer(more):
    five, ten = (anew(FRAME, synthesis(NAMES, copies=m, **more)) for m in (2, 4))
    for one, other in zip(five, ten, strict=False):
        assert_frame_equal(one, other)
    assert len({copy.hash_rows().sum() for copy in ten}) == 4


@each_sort
def test_equal_data_repeat_and_another_secret_does_not(more):
    step = synthesis(NAMES, **more)
    one = anew(FRAME, step)[0]
    assert_frame_equal(one, anew(FRAME.clone(), step)[0])
    assert moved(one, anew(FRAME, step, secret=bytes(15) + b"x")[0])


def moved(one, other):
    """Whether no more ages and incomes agree than those of independent rows do."""
    n = min(one.height, other.height)
    same = (one["age"][:n] == other["age"][:n]).mean()
    return same < 0.06  # 62 ages: 1.6%, and four standard errors of 400


@each_sort
def test_one_corrected_or_removed_record_leaves_no_draw_as_it_was(more):
    step = synthesis(NAMES, **more)
    one = anew(FRAME, step)[0]
    corrected = FRAME.with_columns(age=FRAME["age"].scatter(7, int(FRAME["age"][7]) % 60 + 19))
    assert moved(one, anew(corrected, step)[0])
    assert moved(one, anew(FRAME[1:], step)[0])


def test_ids_of_full_copies_hang_on_nobody():
    """Unless parameters are drawn from weights of the records, other ids of the same values change nothing."""
    step = synthesis(NAMES)
    assert_frame_equal(anew(FRAME, step)[0], anew(FRAME.with_columns(id=pl.col("id") + 1000), step)[0])


def test_partial_copies_keep_what_is_given_and_the_people():
    copies = replaced(FRAME, synthesis(("income", "grade"), ("age", "town"), copies=2))
    for copy in copies:
        assert_frame_equal(copy.select("id", "age", "town"), FRAME.select("id", "age", "town"))
        assert (copy["income"] != FRAME["income"]).mean() > 0.5
        seen = pl.DataFrame(
            {"age": FRAME["age"], "grade": copy["grade"].replace_strict({"low": 0, "mid": 1, "high": 2})}
        )
        assert seen.select(pl.corr("age", "grade")).item() > 0.4


@pytest.mark.parametrize("parametric", [(), NAMES])
def test_rules_hold_in_every_record_and_what_breaks_them_is_counted(parametric):
    frame = FRAME.with_columns(works=pl.when(pl.col("age") < 30).then(False).otherwise("works"))
    frame = frame.with_columns(works=frame["works"].scatter(int((frame["age"] < 30).arg_max()), True))
    step = synthesis(("age", "works", "grade"), rules=[("age < 30", "works", False)], parametric=frozenset(parametric))
    copy = anew(frame, step, rows=1000)[0]
    assert not copy.filter(pl.col("age") < 30)["works"].any()
    old = copy.filter(pl.col("age") >= 30)["works"].mean()
    assert old == pytest.approx(frame.filter(pl.col("age") >= 30)["works"].mean(), abs=0.07)
    assert [rule.broken(frame, BOOK) for rule in step.rules] == [1]


def test_a_rule_may_demand_what_nobody_has():
    step = synthesis(("age", "grade", "income"), rules=[("age < 30", "grade", "none"), ("age < 30", "income", -7.5)])
    copy = anew(FRAME, step)[0]
    young = copy.filter(pl.col("age") < 30)
    assert young["grade"].unique().to_list() == ["none"]
    assert young["income"].unique().to_list() == [-7.5]
    assert not copy.filter(pl.col("age") >= 30)["grade"].is_in(["none"]).any()


def test_what_is_one_to_one_with_a_column_that_a_rule_settles_is_drawn_by_a_model():
    """Nobody has the value that the rule demands, so that nothing is one to one with it."""
    step = synthesis(("age", "town", "code"), rules=[("age < 30", "town", "none")])
    copy = anew(FRAME, step)[0]
    assert (copy.filter(pl.col("age") < 30)["town"] == "none").all()
    assert set(copy["code"]) <= {"1", "2", "3"}
    assert copy["code"].n_unique() == 3


def test_rules_that_contradict_each_other_are_refused():
    rules = [("age < 40", "works", False), ("age < 30", "works", True)]
    with pytest.raises(DataError, match="Two rules demand different values of column 'works'"):
        anew(FRAME, synthesis(("age", "works"), rules=rules))


def test_what_cannot_be_drawn_is_refused():
    nothing = FRAME.with_columns(sex=pl.lit(None, dtype=pl.String))
    with pytest.raises(DataError, match="Column 'sex' has no value at all"):
        anew(nothing, synthesis(("age", "sex")))
    with pytest.raises(DataError, match="`min_leaf` is more than half"):
        anew(FRAME, synthesis(("age",), min_leaf=201))
    assert anew(FRAME, synthesis(("age",), min_leaf=201, parametric=frozenset(("age",))))[0].height == 400


@pytest.mark.parametrize("more", [{}, {"proper": True}, {"parametric": frozenset(NAMES), "proper": True}])
def test_missing_cells_are_filled_and_no_other(more):
    frame = FRAME.with_columns(age=pl.when(pl.col("id") % 11 != 0).then("age"))
    step = synthesis(("age", "sex", "income"), ("grade", "town"), copies=3, **more)
    copies = step.filled(frame, BOOK, Draws(bytes(16)), frame["id"].to_numpy().astype(np.uint64))
    gone = {
        "age": frame["age"].is_null(),
        "sex": frame["sex"].is_null(),
        "income": frame["income"].is_in([-9.0, -8.0]),
    }
    for copy in copies:
        for name, where in gone.items():
            assert not copy[name].is_null().any()
            assert (copy[name].filter(~where) == frame[name].filter(~where)).all()
        assert not copy["income"].is_in([-9.0, -8.0]).any()
    drawn = [copy["age"].filter(gone["age"]).to_list() for copy in copies]
    assert drawn[0] != drawn[1] != drawn[2]
    again = frame.sample(fraction=1, shuffle=True, seed=5)
    other = step.filled(again, BOOK, Draws(bytes(16)), again["id"].to_numpy().astype(np.uint64))[1]
    assert_frame_equal(other.with_columns(again["id"]).sort("id"), copies[1].with_columns(frame["id"]).sort("id"))


def test_predictors_may_be_chosen():
    alone = synthesis(("age", "works"), predictors={"works": ()})
    copy = anew(FRAME, alone, rows=4000)[0]
    shares = [copy.filter(pl.col("age") < 65)["works"].mean(), copy.filter(pl.col("age") >= 65)["works"].mean()]
    assert shares[0] == pytest.approx(shares[1], abs=0.08)
    copy = anew(FRAME, synthesis(("age", "works")), rows=4000)[0]
    assert copy.filter(pl.col("age") < 60)["works"].all()


def test_a_table_without_a_codebook_is_drawn_too():
    frame = FRAME.select("id", "age", "sex")
    assert anew(frame, synthesis(("age", "sex")), book=Codebook())[0].height == 400
