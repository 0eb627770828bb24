"""Copies of whole households."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.dataset import rows as rows_of
from sfumato.data.disclosure import Synthetic
from sfumato.draws import Draws
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.synthesise.method import Synthesise
from sfumato.release.run import run_steps
from tests.methods.synthesise.households.small import BOOK, NAMES, SHARED, alike, head_and_partner, homes

FRAME = homes()
KINDS = {"full": {}, "partial": {"columns": ["rent", "score", "sex"]}}
each_kind = pytest.mark.parametrize("more", KINDS.values(), ids=KINDS)


def made(frame=FRAME, secret=bytes(16), data=None, **given):
    step = Synthesise(households=True, **{"head": "relation", "copies": 2} | given)
    assert step.check(BOOK) == []
    return run_steps([step], PolarsDataset(frame, BOOK) if data is None else data, Draws(secret))


def first(ran):
    frame = ran.after.frame
    return frame.filter(pl.col("copy") == 1).drop("copy") if "copy" in frame.columns else frame


def test_copies_are_of_new_people_in_new_households():
    ran = made()
    out = ran.after.frame
    assert out.columns == ["copy", *FRAME.columns]
    assert ran.after.codebook["home"].role == "household"
    for copy in (1, 2):
        own = out.filter(pl.col("copy") == copy)
        assert sorted(own["home"].unique()) == list(range(1, 151))
        assert own["id"].to_list() == list(range(1, own.height + 1))
        for name in SHARED:
            assert own.group_by("home").agg(pl.col(name).n_unique())[name].max() == 1
        heads = own.group_by("home").agg((pl.col("relation") == "head").sum())
        assert set(heads["relation"]) == {1}
    ratio = out.height / 2 / FRAME.height
    told = Synthetic(NAMES, kind="full", copies=2, ratio=float(f"{ratio:.3g}"), households=True)
    assert ran.disclosure.synthetic == told
    assert "Whole households were drawn" in told.sentence()
    assert "drawn once for it: tenure, rent." in ran.steps[0].notes[0]


def test_numbers_and_order_of_rows_do_not_tell_who_lives_with_whom():
    """Of 330 people in mixed order as many neighbours share a household as chance lets: 2.6 in the mean."""
    own = first(made())
    assert (own["home"].diff() == 0).sum() < 12
    assert (own["relation"] == "head").head(150).mean() < 0.7


def test_people_of_true_households_stay():
    ran = made(columns=["rent", "score"])
    own = first(ran)
    assert_frame_equal(own.drop("rent", "score"), FRAME.drop("rent", "score"))
    assert own.group_by("home").agg(pl.col("rent").n_unique())["rent"].max() == 1
    assert (own["rent"] == FRAME["rent"]).mean() < 0.3  # donors of a leaf are five or more
    assert (ran.disclosure.synthetic.kind, ran.disclosure.synthetic.ratio) == ("partial", 1.0)
    assert ran.after.codebook["home"] == BOOK["home"]


@each_kind
def test_neither_order_nor_engine_changes_anything(more):
    one = made(**more).after.frame.sort("copy", "id")
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=3)
    for other in (
        made(shuffled, **more),
        made(data=PolarsDataset(shuffled, BOOK, batch_rows=7), **more),
        made(data=DuckDBDataset.of(FRAME, BOOK), **more),
    ):
        assert_frame_equal(rows_of(other.after).sort("copy", "id"), one)


@each_kind
def test_more_copies_begin_with_the_fewer(more):
    two, four = (made(copies=m, proper=True, **more).after.frame for m in (2, 4))
    assert_frame_equal(four.filter(pl.col("copy") <= 2), two)
    scores = [four.filter(pl.col("copy") == i)["score"].to_list() for i in range(1, 5)]
    assert len({tuple(own) for own in scores}) == 4


@each_kind
def test_equal_data_repeat_and_another_secret_does_not(more):
    one = made(**more)
    assert_frame_equal(one.after.frame, made(FRAME.clone(), **more).after.frame)
    assert other_scores(first(one), first(made(secret=bytes(15) + b"x", **more)))


def other_scores(one, other):
    """Whether no more scores agree, by id, than independent draws do: of five donors or more one in five at most."""
    both = one.select("id", "score").join(other.select("id", "score"), on="id")
    return (both["score"] == both["score_right"]).mean() < 0.2 + 4 * np.sqrt(0.16 / both.height)


def test_ids_of_new_households_hang_on_nobody():
    one = made().after.frame
    assert_frame_equal(one, made(FRAME.with_columns(pl.col("id", "home") * 3 + 17)).after.frame)


@each_kind
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.filter(pl.col("id") != 9),
        lambda frame: frame.with_columns(age=pl.when(pl.col("id") == 9).then(pl.col("age") + 1).otherwise("age")),
        lambda frame: frame.filter(pl.col("home") != frame["home"][5]),
        lambda frame: frame.with_columns(home=pl.when(pl.col("id") == 9).then(frame["home"].max()).otherwise("home")),
    ],
    ids=["removed", "corrected", "household removed", "moved"],
)
def test_one_person_less_or_elsewhere_leaves_no_draw_as_it_was(change, more):
    """Whoever moves has what is the new household's."""
    frame = change(FRAME).with_columns(pl.col(n).max().over("home") for n in SHARED)
    assert other_scores(first(made(**more)), first(made(frame, **more)))


def test_as_many_households_as_people_are_asked_for():
    """400 people are 400·m/n households; the size of a household has sd 1.4 here, so people are 400 ± 4·1.4·√180."""
    out = made(rows=400).after.frame
    many = round(400 * 150 / FRAME.height)
    for copy in (1, 2):
        own = out.filter(pl.col("copy") == copy)
        assert own["home"].n_unique() == many
        assert abs(own.height - 400) < 4 * 1.4 * np.sqrt(many)


def test_rules_and_formulas_hold_for_every_member():
    rules = [
        {"if": "age < 16", "column": "score", "value": 0.0},
        {"if": "tenure == 'own'", "column": "rent", "value": 1},
    ]
    out = made(rules=rules, derived={"old": "age > 60"}).after.frame
    assert (out.filter(pl.col("age") < 16)["score"] == 0).all()
    assert (out["score"] == 0).sum() == (out["age"] < 16).sum()
    assert ((out["rent"] == 1) == (out["tenure"] == "own")).all()
    assert (out["old"] == (out["age"] > 60)).all()


def test_strata_are_drawn_apart_with_households_of_their_own():
    out = first(made(by=["tenure"]))
    true = FRAME.unique("home")["tenure"].value_counts().sort("tenure")
    assert out.unique("home")["tenure"].value_counts().sort("tenure").equals(true)
    assert sorted(out["home"].unique()) == list(range(1, 151))
    for own in FRAME.partition_by("tenure"):
        assert set(out.filter(pl.col("tenure") == own["tenure"][0])["rent"]) <= set(own["rent"])


def test_the_order_of_true_members_does_not_tell_what_was_drawn():
    """Who is truly the elder of two is the elder in a copy half the time, as anybody is: ages here hang on nothing."""
    frame = homes(400, seed=6).filter(pl.col("relation") != "child").select("id", "home", "tenure", "age")
    frame = frame.with_columns(age=pl.Series(np.random.default_rng(2).integers(20, 80, frame.height)))
    step = Synthesise(columns=["age"], copies=1, min_leaf=20, households=True)
    out = run_steps([step], PolarsDataset(frame, BOOK.without("rent", "relation", "sex", "score")), Draws(bytes(16)))
    both = frame.join(out.after.frame.select("id", new="age"), on="id").filter(pl.len().over("home") == 2)
    ages = both.sort("home", "id").select("age", "new").to_numpy().reshape(-1, 2, 2)
    elder = np.sign(ages[:, 0] - ages[:, 1])
    told = elder.prod(axis=1)
    told = told[told != 0] > 0
    assert len(told) > 200
    assert abs(told.mean() - 0.5) < 4 * np.sqrt(0.25 / len(told))


def test_people_of_true_households_stay_in_their_strata():
    ran = made(columns=["rent", "score"], by=["tenure"], head=None)
    own = first(ran)
    assert_frame_equal(own.drop("rent", "score"), FRAME.drop("rent", "score"))
    assert own.group_by("home").agg(pl.col("rent").n_unique())["rent"].max() == 1
    assert ran.steps[0].notes[0].endswith("drawn once for it: rent.")
    for part in FRAME.partition_by("tenure"):
        assert set(own.filter(pl.col("tenure") == part["tenure"][0])["score"]) <= set(part["score"])


@pytest.mark.parametrize(
    ("given", "frame", "match"),
    [
        ({}, FRAME.with_columns(home=pl.when(pl.col("id") > 3).then("home")), "says of some records no household"),
        ({"by": ["sex"]}, FRAME, "`by` names 'sex', which differs within some households"),
        ({"min_leaf": 80}, FRAME, "more than half of the households"),
        ({"by": ["tenure"], "rows": 1}, FRAME, "`rows`"),
        ({"head": "tenure"}, FRAME, "have no order"),
    ],
)
def test_what_the_data_do_not_allow(given, frame, match):
    with pytest.raises(DataError, match=match):
        made(frame, **given)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cart", "parametric"])
def test_sizes_and_relations_within_households_are_kept(method):
    """Of 700 households. Sizes: each share within four standard errors. Ages of heads and partners correlate by .99,
    scores of two members by .5, whose standard error is .025 in one sample: the mean of three copies is within .1, as
    leaves of five donors make relations a little weaker. Drawn without households both are lost.
    """
    frame = homes(700, seed=4)
    copies = made(frame, copies=3, method=method).after.frame.partition_by("copy")
    sizes = np.array([np.bincount(own.group_by("home").len()["len"], minlength=8)[:8] / 700 for own in copies])
    true = np.bincount(frame.group_by("home").len()["len"], minlength=8)[:8] / 700
    assert (np.abs(sizes.mean(axis=0) - true) < 4 * np.sqrt(true * (1 - true) / 700 / 3) + 1e-9).all()
    assert np.mean([head_and_partner(own) for own in copies]) > 0.95
    assert np.mean([alike(own, "score") for own in copies]) == pytest.approx(alike(frame, "score"), abs=0.1)
    step = Synthesise(columns=[*NAMES], copies=1)
    apart = run_steps([step], PolarsDataset(frame, BOOK), Draws(bytes(16))).after.frame
    assert alike(apart, "score") < 0.15
    assert head_and_partner(apart) < 0.5
