"""Structure alone: what copies hold, and that nothing of the data is in them."""

import datetime
import math

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.drop import Drop
from sfumato.methods.noise.method import Noise
from sfumato.methods.synthesise.method import Synthesise
from sfumato.methods.synthesise.outline import outline_of
from sfumato.plan.sequence import sequence_problems
from sfumato.release.run import run_steps

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "sex": Variable(kind="categorical"),
        "grade": Variable(kind="ordinal", order=["low", "mid", "high"]),
        "code": Variable(kind="categorical", labels={1: "one", 2: "two", 9: "refused"}, missing=[9]),
        "ward": Variable(kind="categorical"),
        "age": Variable(kind="integer", range=(18, 99)),
        "pay": Variable(kind="continuous", missing=[-9]),
        "change": Variable(kind="continuous"),
        "born": Variable(kind="date"),
        "seen": Variable(kind="date"),
        "works": Variable(kind="categorical"),
        "note": Variable(kind="text"),
        "w": Variable(role="weight", kind="continuous"),
    }
)


def survey(n=600, seed=1):
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 30 * 365, n)
    pay = np.round(rng.lognormal(7, 0.5, n), 2)
    pay[rng.random(n) < 0.2] = -9.0
    pay[0] = 9_876_543.21
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "sex": rng.choice(["f", "m", "x"], n, p=[0.5, 0.49, 0.01]),
            "grade": rng.choice(["low", "mid", "high"], n),
            "code": rng.choice([1, 2, 9], n, p=[0.6, 0.3, 0.1]),
            "ward": rng.integers(401, 409, n),
            "age": rng.integers(18, 80, n),
            "pay": pay,
            "change": rng.normal(0, 0.02, n),
            "born": [datetime.date(1953, 5, 1) + datetime.timedelta(days=int(d)) for d in day],
            "seen": [datetime.datetime(2021, 3, 1, 8, 30, 17) + datetime.timedelta(hours=int(d)) for d in day // 10],
            "works": rng.random(n) < 0.8,
            "note": [f"person {i} said so" for i in range(n)],
            "w": rng.uniform(1, 3, n),
        }
    ).with_columns(sex=pl.when(pl.col("id") % 3 != 0).then("sex"))


def made(frame=None, book=BOOK, secret=bytes(16), **given):
    step = Synthesise(**{"method": "structure", "copies": 1, **given})
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(survey() if frame is None else frame, book), Draws(secret))


def test_each_kind_is_drawn_as_said():
    ran = made()
    out = ran.after.frame
    assert out.columns == survey().columns
    assert out.height == 600
    assert out["id"].to_list() == list(range(1, 601))
    assert set(out["sex"]) == {"a", "b", "c", None}
    assert set(out["grade"]) == {"low", "mid", "high"}
    assert set(out["code"]) == {1, 2, 9}
    assert set(out["ward"]) == {1, 2, 3}
    assert (out["age"].min(), out["age"].max()) == (18, 99)
    pay = out.filter(pl.col("pay") != -9)["pay"]
    assert 0 <= pay.min() < 200 < 9_800 < pay.max() <= 10_000
    assert -0.1 <= out["change"].min() < 0 < out["change"].max() <= 0.1
    assert out["born"].dt.year().min() == 1950
    assert out["born"].dt.year().max() == 1989
    assert set(out["works"]) == {True, False}
    assert set(out["note"]) == {"text"}
    assert out["w"].min() > 0
    assert ran.disclosure.synthetic.structure
    assert ran.disclosure.synthetic.kind == "full"
    assert ran.after.codebook["pay"].format is None


def test_numbers_are_uniform():
    """Kolmogorov's bound at one in a million; ages equally often by chi-square's mean and four standard deviations."""
    out = made(survey(4000)).after.frame
    age = out["age"].value_counts(name="many")["many"].to_numpy()
    assert len(age) == 82
    expected = 4000 / 82
    assert ((age - expected) ** 2 / expected).sum() < 81 + 4 * math.sqrt(2 * 81)
    pay = np.sort(out.filter(pl.col("pay") != -9)["pay"].to_numpy()) / 10_000
    assert np.abs(pay - (np.arange(len(pay)) + 0.5) / len(pay)).max() < 2.7 / math.sqrt(len(pay))


def test_columns_are_independent():
    out = made(survey(4000)).after.frame
    r = np.corrcoef(np.column_stack([out["age"], out["change"], out["w"]]).T)
    assert np.abs(r[np.triu_indices(3, 1)]).max() < 4.5 / math.sqrt(4000)


def test_no_category_no_extreme_no_digit_and_no_length_is_the_datas():
    """The intruder: whatever is in a cell, its type or its length, is the plan's or stands for any."""
    frame = survey()
    enum = frame.with_columns(
        sex=pl.col("sex").cast(pl.Enum(["f", "m", "x"])), ward=pl.col("ward").cast(pl.Int16), pay=pl.col("pay") / 7
    )
    out = made(enum).after.frame
    assert out.schema["sex"] == pl.String
    assert out.schema["ward"] == pl.Int64
    assert not set(out["sex"].drop_nulls()) & set(frame["sex"].drop_nulls())
    assert not set(out["ward"]) & set(frame["ward"])
    assert set(out["pay"].map_elements(lambda v: len(repr(v).split(".")[1]), return_dtype=pl.Int64)) == {1}


@pytest.mark.parametrize(
    "change",
    [
        {"pay": pl.when(pl.col("id") == 5).then(1e15).otherwise("pay")},
        {"sex": pl.when(pl.col("id") == 5).then(pl.lit("other")).otherwise("sex")},
        {"note": pl.when(pl.col("id") == 5).then(pl.lit("x" * 999)).otherwise("note")},
        {"born": pl.when(pl.col("id") == 5).then(pl.date(1800, 1, 1)).otherwise("born")},
        {"change": pl.when(pl.col("id") == 5).then(-1e9).otherwise("change")},
    ],
)
def test_one_record_whatever_its_values_changes_nothing(change):
    assert made(survey().with_columns(**change)).after.frame.equals(made().after.frame)


def test_other_people_alike_have_the_same_copies():
    """Draws hang on the plan, the row and the secret alone."""
    other = survey(seed=2)
    assert made(other).after.frame.equals(made().after.frame)
    assert not made(secret=bytes(range(16))).after.frame.equals(made().after.frame)


def test_more_copies_begin_with_the_first():
    out = made(copies=2).after.frame
    first, second = (out.filter(pl.col("copy") == i).drop("copy") for i in (1, 2))
    assert first.equals(made().after.frame)
    assert not second.equals(first)


@pytest.mark.parametrize(("share", "wanted"), [(0.04, 0.0), (0.06, 0.1), (0.54, 0.5), (0.96, 1.0)])
def test_shares_of_gaps_are_rounded_to_tenths(share, wanted):
    n = 1000
    gone = np.arange(n) < round(share * n)
    column = pl.DataFrame({"x": pl.Series(np.arange(n)), "gone": gone}).select(x=pl.when(~pl.col("gone")).then("x"))
    assert outline_of(column["x"], Codebook({"x": Variable(kind="integer")})).share == wanted


@pytest.mark.parametrize(
    ("values", "variable", "ends"),
    [
        (np.linspace(1, 100, 400), {}, (0, 100)),
        (np.linspace(1, 120, 400), {}, (0, 1000)),
        (np.linspace(-3, 50, 400), {}, (-100, 100)),
        (np.linspace(0.001, 0.08, 400), {}, (0, 0.1)),
        (np.zeros(400), {}, (0, 1)),
        (np.linspace(1, 120, 19), {}, (0, 100)),
        (np.r_[np.linspace(1, 9, 399), -1e9], {}, (0, 10)),
        (np.linspace(1, 120, 400), {"range": (0, 130)}, (0, 130)),
        (np.linspace(1, 120, 400), {"range": (None, 130)}, (0, 130)),
        (np.linspace(1, 120, 400), {"range": (5000, None)}, (5000, 6000)),
    ],
)
def test_ranges_are_the_plans_else_a_power_of_ten(values, variable, ends):
    found = outline_of(pl.Series("x", values), Codebook({"x": Variable(kind="continuous", **variable)}))
    assert found.coding.ends == pytest.approx(ends)


def test_of_few_values_nothing_is_learnt():
    few = survey(19).with_columns(pay=pl.lit(5e6), born=pl.date(1902, 1, 1), sex=pl.lit(None, dtype=pl.String))
    out = made(few).after.frame
    assert out["pay"].max() <= 100
    assert out["born"].dt.year().is_between(2000, 2009).all()
    assert not out["sex"].has_nulls()


def test_rows_are_as_many_as_the_plan_says_and_the_ratio_is_not_told():
    ran = made(rows=50)
    assert ran.after.frame.height == 50
    assert ran.disclosure.synthetic.ratio == 1.0


KEPT = {
    "keep": ["low <= high", "high < top", "start <= end", "region of district"],
    "rules": [
        {"if": "young", "column": "job", "value": None},
        {"if": "low > 500", "column": "high", "value": 700},
        {"if": "kind == 'a'", "column": "job", "value": "none"},
    ],
    "derived": {"total": "low + high"},
}


def panel(n=500, seed=1):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 400, n)
    high = low + rng.integers(0, 300, n)
    start = [datetime.date(2001, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 3000, n)]
    return pl.DataFrame(
        {
            "district": rng.choice([f"d{i}" for i in range(20)], n),
            "region": "r",
            "kind": rng.choice(["k", "l"], n),
            "young": rng.random(n) < 0.2,
            "job": rng.choice(["smith", "cook"], n),
            "low": low,
            "high": high,
            "top": high + rng.uniform(1, 100, n),
            "start": start,
            "end": [day + datetime.timedelta(days=400) for day in start],
            "total": low + high,
        }
    )


PANEL = Codebook(
    {name: Variable(kind="categorical") for name in ("district", "region", "kind", "young", "job")}
    | {name: Variable(kind="integer") for name in ("low", "high", "total")}
    | {"top": Variable(kind="continuous"), "start": Variable(kind="date"), "end": Variable(kind="date")}
)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_ruled_and_computed_holds(seed):
    frame = panel(seed=seed)
    if seed == 1:
        frame = frame.with_columns(high=pl.when(pl.int_range(pl.len()) % 4 > 0).then("high"))
    out = made(frame, PANEL, bytes([seed] * 16), **KEPT).after.frame
    both = out.drop_nulls(["high"])
    assert (both["low"] <= both["high"]).all()
    assert (both["high"] < both["top"]).all()
    assert (out["start"] <= out["end"]).all()
    assert (both["total"] == both["low"] + both["high"]).all()
    assert out.group_by("district").agg(pl.col("region").n_unique())["region"].to_list() == [1] * 3
    assert (out.filter(pl.col("low") > 500)["high"] == 700).all()
    assert out.filter(pl.col("young") & (pl.col("kind") != "a"))["job"].null_count() > 0
    assert out.filter(~pl.col("young") & (pl.col("kind") != "a"))["job"].is_in(["a", "b", "c"]).all()
    assert (out.filter(~pl.col("young") & (pl.col("kind") == "a"))["job"] == "none").all()
    assert out.filter(pl.col("young") & (pl.col("kind") == "a")).is_empty()  # where two rules contradict each other
    if seed == 1:
        assert out["high"].null_count() > 50


def test_differences_are_uniform_within_what_is_left():
    """(high − low) of what is left above low: Kolmogorov's bound at one in a million."""
    book = Codebook({n: Variable(kind="continuous", range=(0, 1000)) for n in ("low", "high")})
    out = made(panel(4000).select(pl.col("low", "high").cast(pl.Float64)), book, keep=["low <= high"]).after.frame
    left = out.filter(pl.col("low") < 900)
    share = np.sort(((left["high"] - left["low"]) / (1000 - left["low"])).to_numpy())
    assert np.abs(share - (np.arange(len(share)) + 0.5) / len(share)).max() < 2.7 / math.sqrt(len(share)) + 0.002


def test_ranges_that_leave_no_room_are_refused_or_widened():
    frame = panel().select("low", "high")
    plans = {"low": Variable(kind="integer", range=(2000, 3000)), "high": Variable(kind="integer", range=(0, 100))}
    with pytest.raises(DataError, match="leave no room"):
        made(frame, Codebook(plans), keep=["low <= high"])
    learnt = Codebook({"low": plans["low"], "high": Variable(kind="integer")})
    out = made(frame, learnt, keep=["low <= high"]).after.frame
    assert (out["low"] <= out["high"]).all()
    assert out["low"].min() >= 2000


def test_rules_that_contradict_each_other_everywhere_are_refused():
    rules = [{"if": f"low >= {least}", "column": "high", "value": value} for least, value in ((0, 5), (-1, 6))]
    with pytest.raises(DataError, match="contradict|keeps all rules"):
        made(panel().select("low", "high"), PANEL.only(["low", "high"]), rules=rules)


@pytest.mark.parametrize(
    "given",
    [
        {"where": "age > 5"},
        {"by": ["sex"]},
        {"predictors": {"age": ["sex"]}},
        {"min_leaf": 20},
        {"smooth": True},
        {"proper": True},
        {"households": True},
        {"persons": True, "time": "age"},
    ],
)
def test_what_only_models_have_makes_no_sense(given):
    with pytest.raises(ValidationError, match=next(iter(given))):
        Synthesise(method="structure", **given)


def test_it_is_of_all_columns_and_of_no_ids():
    assert "all columns" in " ".join(Synthesise(method="structure", columns=["sex"]).check(BOOK))
    homes = BOOK.replace(home=Variable(role="household"), who=Variable(role="person"), name=Variable(role="identifier"))
    said = Synthesise(method="structure").check(homes)
    assert [name in " ".join(said) for name in ("home", "who", "name")] == [True] * 3
    with pytest.raises(ValidationError):
        Synthesise(method={"age": "structure"})


def test_no_step_before_it_may_disclose_anything():
    steps = [Noise(columns=("age",), share=0.1), Drop(columns=("note",))]
    step = Synthesise(method="structure")
    [problem] = sequence_problems(steps, step, BOOK)
    assert "noise before it would disclose" in problem
    assert sequence_problems(steps[1:], step, BOOK) == []
    assert sequence_problems(steps, Synthesise(), BOOK) == []
