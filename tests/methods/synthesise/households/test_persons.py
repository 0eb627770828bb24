"""Copies of whole persons, each with several rows."""

import datetime

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Variable
from sfumato.data.dataset import rows as rows_of
from sfumato.data.disclosure import Synthetic
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.synthesise.method import Synthesise
from tests.methods.synthesise.households.panel import BOOK, NAMES, SHARED, between, made, visits, with_the_row_before

FRAME = visits()
KINDS = {"full": {}, "partial": {"columns": ["born", "stage", "bili"]}}
each_kind = pytest.mark.parametrize("more", KINDS.values(), ids=KINDS)
WAYS = {
    "cart": {},
    "smooth": {"min_leaf": 20, "smooth": True},
    "proper": {"proper": True},
    "parametric": {"method": "parametric"},
    "parametric, smooth": {"method": "parametric", "smooth": True, "proper": True},
}
each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def copies(ran):
    frame = ran.after.frame
    return [own.drop("copy") for own in frame.partition_by("copy")] if "copy" in frame.columns else [frame]


def rises(table, strict=True):
    """Whether times rise from row to row within all persons; rows without one come last."""
    step = table.with_columns(
        step=pl.col("day").diff().over("pid"), gone=pl.col("day").is_null().cast(pl.Int8).diff().over("pid")
    )
    steps = step["step"].drop_nulls()
    return bool(((steps > 0) if strict else (steps >= 0)).all()) and bool((step["gone"].drop_nulls() >= 0).all())


@each_way
def test_persons_are_new_and_their_rows_stand_together_in_order(way):
    ran = made(FRAME, **way)
    assert ran.after.frame.columns == ["copy", *FRAME.columns]
    assert ran.after.codebook["pid"] == Variable(role="person", kind="integer")
    for own in copies(ran):
        assert own["pid"].rle().struct.field("value").to_list() == list(range(1, 157))
        assert own["id"].to_list() == list(range(1, own.height + 1))
        for name in SHARED:
            assert own.group_by("pid").agg(pl.col(name).n_unique())[name].max() == 1
        assert rises(own)
        assert FRAME["day"].min() <= own["day"].min()
        assert own["day"].max() <= FRAME["day"].max()
        assert own.group_by("pid").len()["len"].max() <= FRAME.group_by("pid").len()["len"].max()
    ratio = float(f"{ran.after.frame.height / 2 / FRAME.height:.3g}")
    proper = way.get("proper", False)
    told = Synthetic(NAMES, kind="full", copies=2, ratio=ratio, proper=proper, persons=True)
    assert ran.disclosure.synthetic.model_copy(update={"rounded": {}}) == told
    assert "Whole persons were drawn: rows of one are alike" in told.sentence()
    assert ran.steps[0].notes == ("The same in all rows of each person, and drawn once for it: sex, born.",)


def test_rows_of_true_persons_stay():
    ran = made(FRAME, columns=["born", "stage", "bili"])
    own = copies(ran)[0]
    drawn = ["born", "stage", "bili"]
    assert_frame_equal(own.drop(drawn), FRAME.drop(drawn))
    assert own.group_by("pid").agg(pl.col("born").n_unique())["born"].max() == 1
    assert (own["bili"] == FRAME["bili"]).mean() < 0.05
    assert (ran.disclosure.synthetic.kind, ran.disclosure.synthetic.persons) == ("partial", True)
    assert ran.after.codebook["pid"] == BOOK["pid"]
    mixed = copies(made(FRAME.sample(fraction=1, shuffle=True, seed=2), columns=drawn))[0]
    assert_frame_equal(mixed.sort("id"), own.sort("id"))


@each_kind
def test_neither_order_nor_engine_changes_anything(more):
    one = made(FRAME, **more).after.frame.sort("copy", "id")
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=3)
    for other in (
        made(shuffled, **more),
        made(shuffled, data=PolarsDataset(shuffled, BOOK, batch_rows=7), **more),
        made(FRAME, data=DuckDBDataset.of(FRAME, BOOK), **more),
    ):
        assert_frame_equal(rows_of(other.after).sort("copy", "id"), one)


@each_kind
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.filter(pl.col("id") != 9),
        lambda frame: pl.concat([frame, frame[-1:].with_columns(pl.col("id") + 1000, pl.col("day") + 1)]),
        lambda frame: frame.with_columns(
            bili=pl.when(pl.col("id") == 9).then(pl.col("bili") + 0.001).otherwise("bili")
        ),
        lambda frame: frame.filter(pl.col("pid") != 1007),
    ],
    ids=["row removed", "row added", "corrected", "person removed"],
)
def test_one_row_more_or_less_leaves_no_draw_as_it_was(change, more):
    """By id no more values agree than those of two independent draws: a handful of nearly a thousand."""
    both = copies(made(FRAME, **more))[0].join(copies(made(change(FRAME), **more))[0], on="id")
    assert both.height > 800
    assert (both["bili"] == both["bili_right"]).mean() < 0.05


def test_ids_of_new_persons_hang_on_nobody():
    one = made(FRAME).after.frame
    assert_frame_equal(one, made(FRAME.with_columns(pl.col("id", "pid") * 3 + 17)).after.frame)


def test_more_copies_begin_with_the_fewer():
    two, four = (made(FRAME, copies=m).after.frame for m in (2, 4))
    assert_frame_equal(four.filter(pl.col("copy") <= 2), two)


def test_as_many_persons_as_rows_are_asked_for():
    """300 rows are 300·m/n persons."""
    for own in copies(made(FRAME, rows=300)):
        assert own["pid"].n_unique() == round(300 * 156 / FRAME.height)


def test_strata_are_drawn_apart_with_persons_of_their_own():
    own = copies(made(FRAME, by=["sex"]))[0]
    true = FRAME.unique("pid")["sex"].value_counts().sort("sex")
    assert own.unique("pid")["sex"].value_counts().sort("sex").equals(true)
    assert own["pid"].rle().struct.field("value").to_list() == list(range(1, 157))
    assert rises(own)


def test_rules_and_formulas_hold_in_every_row():
    rules = [
        {"if": "day == 0", "column": "bili", "value": 0.0},
        {"if": "sex == 'f'", "column": "born", "value": 1},
    ]
    out = made(FRAME, rules=rules, derived={"years": "day / 365"}).after.frame
    assert (out.filter(pl.col("day") == 0)["bili"] == 0).all()
    assert ((out["born"] == 1) == (out["sex"] == "f")).all()
    np.testing.assert_allclose(out["years"], out["day"] / 365)
    assert rises(out.with_columns(pid=pl.struct("copy", "pid")))


@each_way
@pytest.mark.parametrize("relation", ["day <= left", "day < left"])
def test_what_is_kept_holds_in_every_row(way, relation):
    """A person's own column ends the time of all rows, whatever number of rows meets it, which have times of their own
    where it is long enough; and one column of rows bounds another, and tells a third.
    """
    last = pl.col("day").max().over("pid") + pl.col("born") % 700
    frame = FRAME.with_columns(
        left=last + 1, low=pl.col("bili") - pl.col("id") % 3 / 10, worse=pl.col("stage").cast(pl.Int64) > 1
    )
    keep = [relation, "low <= bili", "worse of stage"]
    book = BOOK.replace(
        left=Variable(kind="integer"), low=Variable(kind="continuous"), worse=Variable(kind="categorical")
    )
    for own in copies(made(frame, book=book, keep=keep, **way)):
        assert ((own["day"] < own["left"]) if "=" not in relation else (own["day"] <= own["left"])).all()
        assert (own["low"] <= own["bili"]).all()
        assert (own["worse"] == (own["stage"].cast(pl.Int64) > 1)).all()
        assert rises(own, strict=False)
        assert rises(own.filter(pl.col("left") >= pl.len().over("pid")))
        assert own["day"].max() <= frame["day"].max()
        assert own.group_by("pid").agg(pl.col("left").n_unique())["left"].max() == 1


def test_what_is_a_persons_may_tell_what_is_a_rows():
    """An exception makes it vary in the data; where it stays true, no person's column can be drawn that tells it."""
    frame = FRAME.with_columns(
        town=pl.lit("T") + (pl.col("pid") // 7 % 9).cast(pl.String),
        land=pl.when(pl.col("id") == 8)
        .then(pl.lit("L9"))
        .otherwise(pl.lit("L") + (pl.col("pid") // 7 % 3).cast(pl.String)),
    )
    book = BOOK.replace(town=Variable(kind="categorical"), land=Variable(kind="categorical"))
    for own in copies(made(frame, book=book, keep=["land of town"])):
        assert own.select("town", "land").unique("town")["land"].n_unique() == 3
        assert (own["land"].str.tail(1).cast(pl.Int64) == own["town"].str.tail(1).cast(pl.Int64) % 3).all()
    with pytest.raises(DataError, match="land"):
        made(frame, book=book, keep=["land of town"], columns=["town", "bili"])


@each_way
def test_what_is_drawn_before_a_time_leaves_room_for_it(way):
    """The next visit of a row is after it, so that it is after the row before, too."""
    frame = FRAME.with_columns(ahead=pl.col("day") + 200 + pl.col("id") % 100)
    book = BOOK.replace(ahead=Variable(kind="integer"))
    for own in copies(made(frame, book=book, keep=["day < ahead"], order=["ahead", "day"], **way)):
        assert (own["day"] < own["ahead"]).all()
        assert rises(own, strict=False)
        assert own.select(pl.col("day").diff().over("pid") == 0).to_series().mean() < 0.1
        assert frame["ahead"].min() <= own["ahead"].min() <= own["ahead"].max() <= frame["ahead"].max()


@each_way
def test_waves_rise_by_whole_numbers_to_the_last_and_no_further(way):
    """Who comes in late has fewer waves to come: whatever first wave and number of rows meet, there is room for all."""
    rng = np.random.default_rng(4)
    m = 200
    start, size = rng.integers(1, 7, m), rng.integers(1, 7, m)
    size = np.minimum(size, 7 - start)
    whose = np.repeat(np.arange(m), size)
    frame = pl.DataFrame(
        {
            "pid": whose,
            "sex": rng.choice(["f", "m"], m)[whose],
            "wave": start[whose] + np.arange(len(whose)) - (np.cumsum(size) - size)[whose],
            "waves": size[whose],
            "score": rng.normal(size=len(whose)).round(2),
        }
    )
    book = BOOK.only(["pid", "sex"]).replace(
        wave=Variable(kind="integer"), waves=Variable(kind="integer"), score=Variable(kind="continuous")
    )
    for own in copies(made(frame, book=book, time="wave", **way)):
        told = own.group_by("pid").agg(
            pl.len().alias("n"), pl.col("waves").first(), pl.col("wave").diff().min().alias("least")
        )
        assert (told["n"] == told["waves"]).all()
        assert told["least"].drop_nulls().min() >= 1
        assert own["wave"].is_between(1, 6).all()


@each_way
@pytest.mark.parametrize("many", [0.0, 0.5], ids=["nobody twice a day", "ties"])
def test_dates_that_are_equal_may_be_so_in_copies_if_they_are_in_the_data(way, many):
    twice = pl.col("id").hash(3) % 100 < 100 * many
    day = pl.when(twice).then(pl.col("day") // 800 * 800).otherwise("day")
    frame = FRAME.with_columns(day=pl.date(2001, 1, 1) + pl.duration(days=day))
    book = BOOK.replace(day=Variable(kind="date"))
    for own in copies(made(frame, book=book, **way)):
        assert own["day"].dtype == pl.Date
        steps = own.select(pl.col("day").diff().over("pid")).to_series().drop_nulls()
        assert steps.min() == datetime.timedelta() if many else steps.min() > datetime.timedelta()
        assert own["day"].max() <= frame["day"].max()


@each_way
@pytest.mark.parametrize("code", [None, -1], ids=["missing", "code"])
def test_rows_without_a_time_come_last(way, code):
    """In the data wherever they are: here one row in ten of a person has none."""
    gone = pl.col("id").hash(5) % 10 == 0
    frame = FRAME.with_columns(day=pl.when(gone).then(pl.lit(code)).otherwise("day"))
    for own in copies(made(frame.sample(fraction=1, shuffle=True, seed=1), **way)):
        own = own.with_columns(day=pl.when(pl.col("day") != -1).then("day"))
        assert rises(own)
        share = frame.select(gone.mean()).item()
        assert abs(own["day"].is_null().mean() - share) < 4 * np.sqrt(share * (1 - share) / 400)


def test_where_there_are_no_ids_of_rows():
    frame = FRAME.drop("id")
    own = copies(made(frame, book=BOOK.without("id")))[0]
    assert own.columns == frame.columns
    assert rises(own)


@pytest.mark.parametrize(
    ("given", "frame", "match"),
    [
        ({}, FRAME.with_columns(pid=pl.when(pl.col("id") > 9).then("pid")), "says of some rows no person"),
        ({"by": ["stage"]}, FRAME, "`by` names 'stage', which differs between rows of some persons"),
        ({"min_leaf": 80}, FRAME, "more than half of the persons"),
        ({"time": "born"}, FRAME, "`time` names column 'born', which is the same in all rows of each person"),
        ({}, FRAME.with_columns(pl.col("day").cast(pl.String)), "text here"),
        (
            {},
            pl.concat([FRAME.unique("pid", keep="first", maintain_order=True), FRAME.filter(pl.col("day") > 3200)[:4]]),
            "rows follow a person's first",
        ),
        ({"predictors": {"born": ["bili"]}, "order": ["bili"]}, FRAME, "same in all rows of each person, so that"),
    ],
)
def test_what_the_data_do_not_allow(given, frame, match):
    with pytest.raises(DataError, match=match):
        made(frame, **given)


def test_one_row_each_is_a_table_of_persons():
    own = copies(made(FRAME.unique("pid", keep="first", maintain_order=True)))[0]
    assert own["pid"].to_list() == list(range(1, 157))


@pytest.mark.parametrize(
    ("given", "book", "said"),
    [
        ({}, BOOK.without("pid"), "patient: {role: person}"),
        ({"by": ["pid"]}, BOOK, "`by` names the person's own column"),
        ({"time": "nosuch"}, BOOK, "no column 'nosuch'"),
        ({"time": "id"}, BOOK, "`time` names id, which is neither"),
        ({"time": "stage"}, BOOK, "which is categorical: only numbers and dates"),
        ({"columns": ["day"]}, BOOK, "`time` names day, which is drawn"),
        ({"columns": ["bili"]}, BOOK.without("id"), "needs a column with the record's id"),
        ({"rules": [{"if": "sex == 'f'", "column": "day", "value": 3}]}, BOOK, "rise from row to row"),
        ({"keep": ["stage of day"]}, BOOK, "`keep` tells a column by day"),
        ({"keep": ["day of stage"]}, BOOK, "`keep` tells a column by day"),
        ({}, BOOK.replace(home=Variable(role="household")), "role household, which is not drawn"),
    ],
)
def test_what_a_plan_does_not_allow(given, book, said):
    assert any(said in problem for problem in Synthesise(persons=True, **{"time": "day"} | given).check(book))


def test_without_it_a_person_is_not_drawn_and_the_plan_says_how_to():
    (said,) = Synthesise().check(BOOK)
    assert "say `persons: true` and `time: COLUMN`" in said


def test_draws_of_other_steps_hang_on_none_of_it():
    """Plans that say nothing of persons draw what they drew before there were any."""
    plain, told = Synthesise(), Synthesise(persons=True, time="day")
    assert plain._strength == Synthesise(persons=False, time=None)._strength != told._strength


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cart", "parametric"])
def test_persons_are_alike_and_rows_follow_the_one_before(method):
    """In panels of 1,000 persons the share of variance between them is .821 (sd .007 of 100 panels), the correlation
    with the row before .891 (sd .005). A line through the first row and the one before gives .807 and .892, as these
    two do not tell all of a person; leaves of five donors, and main effects of what is drawn before, cost a tenth more
    at most.
    """
    frame = visits(1000, seed=4)
    own = copies(made(frame, method=method))
    share, lag = (np.mean([of(copy) for copy in own]) for of in (between, with_the_row_before))
    assert 0.807 - 0.1 - 4 * 0.007 < share < 0.821 + 4 * 0.007
    assert 0.892 - 0.05 - 4 * 0.005 < lag < 0.892 + 4 * 0.005
    gaps = [np.diff(t["day"])[np.diff(t["pid"]) == 0] for t in (frame, own[0])]
    assert abs(gaps[1].mean() - gaps[0].mean()) < 4 * 60 * np.sqrt(2 / len(gaps[0])) + 1
    sizes = [t.group_by("pid").len()["len"].mean() for t in (frame, own[0])]
    assert abs(sizes[0] - sizes[1]) < 4 * np.sqrt(5 * 2 / 1000)
