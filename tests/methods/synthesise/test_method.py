"""What the step refuses, and what its copies are."""

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Synthetic
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, PlanError
from sfumato.methods.synthesise.method import Synthesise
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from tests.methods.tables import on_grid

LAWFUL = [
    Synthesise(columns=["x", "g"], copies=1),
    Synthesise(columns=["y", "n", "h"], copies=1, by=["area"], proper=True, smooth=True),
    Synthesise(columns=["n", "h"], where="missing", copies=1),
    Synthesise(columns=["x"], where="n > 40", copies=1, predictors={"x": ["y", "g"]}),
    Synthesise(columns=["x", "h"], copies=1, method="parametric", proper=True),
    Synthesise(columns=["y", "g", "n"], copies=1, method={"y": "parametric"}),
    Synthesise(columns=["x", "g", "rent"], copies=1, households=True),
    Synthesise(columns=["n", "g", "h"], copies=1, keep=["x <= n", "h of g"]),
]

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "sex": Variable(role="key", kind="categorical"),
        "age": Variable(role="key", kind="integer", missing=[-9]),
        "code": Variable(kind="categorical"),
        "label": Variable(kind="categorical"),
        "pay": Variable(role="sensitive", kind="continuous"),
        "w": Variable(role="weight", kind="continuous"),
    }
)


HOMES = BOOK.replace(home=Variable(role="household", kind="integer"))


def survey(n=400, seed=1):
    """Pay rises with age and differs by sex; a code with its label; a spike at no pay; some ages missing."""
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], n), rng.integers(18, 80, n)
    pay = np.round(np.where(rng.random(n) < 0.2, 0.0, 10 * age + 200 * (sex == "m") + rng.normal(0, 40, n)), 1)
    code = rng.integers(1, 5, n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "sex": sex,
            "age": np.where(rng.random(n) < 0.1, -9, age),
            "code": code,
            "label": [f"L{c}" for c in code],
            "pay": pay,
            "w": np.round(rng.uniform(1, 3, n), 2),
        }
    )


def made(frame=None, secret=bytes(16), book=BOOK, **given):
    step = Synthesise(**given)
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(survey() if frame is None else frame, book), Draws(secret))


def test_all_columns_are_drawn_in_copies_of_nobody():
    ran = made(copies=3)
    out = ran.after.frame
    assert out.columns[0] == "copy"
    assert out["copy"].to_list() == [1] * 400 + [2] * 400 + [3] * 400
    assert out.filter(pl.col("copy") == 2)["id"].to_list() == list(range(1, 401))
    told = ran.disclosure.synthetic
    assert told == Synthetic(
        columns=("sex", "age", "code", "label", "pay", "w"), kind="full", copies=3, ratio=1.0, proper=False
    )
    assert ran.after.codebook["pay"] == BOOK["pay"]
    one = out.filter(pl.col("copy") == 1)
    assert set(one["pay"]) <= set(survey()["pay"])
    assert not one["pay"].equals(survey()["pay"])


def test_relations_are_kept():
    """Pay by age and sex, fitted to 5 copies of 4,000: within four standard errors of one sample."""
    frame = survey(4000)
    out = made(frame, copies=5).after.frame

    def slopes(table):
        paid = table.filter((pl.col("pay") > 0) & (pl.col("age") > 0))
        X = np.column_stack([np.ones(paid.height), paid["age"], paid["sex"] == "m"]).astype(float)
        return np.linalg.lstsq(X, paid["pay"].to_numpy(), rcond=None)[0]

    near = np.mean([slopes(out.filter(pl.col("copy") == i)) for i in range(1, 6)], axis=0)
    se = 40 / np.sqrt(2900) * np.array([3.0, 1 / 18, 2.0])
    assert (np.abs(near - slopes(frame))[1:] < 4 * se[1:] + np.array([0.3, 8.0])).all()


def test_what_many_share_and_what_is_missing_stay_as_frequent():
    """Of 400: binomial, four standard errors."""
    out = made(copies=1).after.frame
    for share, true in (
        ((out["pay"] == 0).mean(), (survey()["pay"] == 0).mean()),
        ((out["age"] == -9).mean(), (survey()["age"] == -9).mean()),
    ):
        assert abs(share - true) < 4 * np.sqrt(true * (1 - true) / 400)


def test_a_code_keeps_its_label():
    out = made(copies=2).after.frame
    assert (out["label"] == "L" + out["code"].cast(pl.String)).all()


def test_more_copies_are_more_of_the_same():
    five, ten = made(copies=5).after.frame, made(copies=10).after.frame
    assert ten.filter(pl.col("copy") <= 5).equals(five)


def test_rows_and_their_order():
    shuffled = survey().sample(fraction=1, shuffle=True, seed=3)
    assert made(shuffled, copies=2).after.frame.equals(made(copies=2).after.frame)
    out = made(copies=1, rows=130)
    assert out.after.frame.height == 130
    assert out.disclosure.synthetic.ratio == 0.325
    first = made(copies=1).after.frame
    assert first["id"].max() == 400


@pytest.mark.parametrize(
    "other",
    [survey().with_columns(pay=pl.when(pl.col("id") == 7).then(pl.col("pay") + 1).otherwise("pay")), survey()[1:]],
    ids=["corrected", "removed"],
)
def test_one_corrected_or_removed_record_leaves_no_draw_as_it_was(other):
    """As alike as two independent draws of these columns are: about one in seventy by age."""
    one, two = made(copies=1).after.frame["age"], made(other, copies=1).after.frame["age"]
    same = (one.head(len(two)) == two).mean()
    assert same < 0.1


def test_some_columns_of_true_people():
    ran = made(columns=["pay"], copies=2)
    out = ran.after.frame
    for i in (1, 2):
        part = out.filter(pl.col("copy") == i).drop("copy", "pay")
        assert part.equals(survey().drop("pay"))
    assert ran.disclosure.synthetic.kind == "partial"
    assert (out.filter(pl.col("copy") == 1)["pay"] == survey()["pay"]).mean() < 0.5


def test_some_records():
    out = made(columns=["pay"], where="age > 60", copies=1).after.frame
    old = survey()["age"] > 60
    assert out["pay"].filter(~old).equals(survey()["pay"].filter(~old))
    assert (out["pay"].filter(old) == survey()["pay"].filter(old)).mean() < 0.6
    assert set(out["pay"].filter(old)) <= set(survey()["pay"].filter(old))  # donors are of the same records


def test_missing_cells_are_filled_and_nothing_else():
    ran = made(columns=["age"], where="missing", copies=2)
    known = survey()["age"] != -9
    for i in (1, 2):
        age = ran.after.frame.filter(pl.col("copy") == i)["age"]
        assert age.filter(known).equals(survey()["age"].filter(known))
        assert age.min() >= 18
    assert ran.disclosure.synthetic.kind == "missing"
    assert not Synthesise(columns=["age"], where="missing").masks
    assert Synthesise(columns=["age"]).masks


def test_gaps_may_hang_on_columns_that_are_drawn_later():
    given = {"predictors": {"age": ["pay"]}, "where": "missing", "copies": 1}
    assert Synthesise(**given).check(BOOK) == []
    assert made(**given).after.frame["age"].min() >= 18


def test_sweeps_are_part_of_the_draws_of_missing_cells_alone():
    assert Synthesise(where="missing")._strength != Synthesise(where="missing", sweeps=4)._strength


def test_strata_are_apart_and_stay():
    out = made(copies=1, by=["sex"]).after.frame
    assert out["sex"].value_counts(sort=True).equals(survey()["sex"].value_counts(sort=True))
    for sex in "fm":
        own = survey().filter(pl.col("sex") == sex)
        assert set(out.filter(pl.col("sex") == sex)["pay"]) <= set(own["pay"])


def test_rules_and_formulas_hold_in_every_record():
    rules = [{"if": "age < 30", "column": "pay", "value": 0.0}]
    ran = made(copies=2, rules=rules, derived={"rich": "pay > 700"})
    out = ran.after.frame
    young = (out["age"] < 30) & (out["age"] > 0)
    assert (out.filter(young)["pay"] == 0).all()
    assert out["rich"].equals((out["pay"] > 700).alias("rich"))
    assert "records of the original break this rule" in ran.steps[0].notes[0]


def test_between_donors_is_drawn_what_nobody_has():
    out = made(copies=1, smooth=True).after.frame
    new = set(out["pay"]) - set(survey()["pay"])
    assert len(new) > 50
    assert all(round(value, 1) == value for value in new)
    assert out["pay"].max() <= survey()["pay"].max()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"columns": ()}, "names no column"),
        ({"columns": ("age",), "by": ("age",)}, "only once"),
        ({"rows": 10, "where": "age > 3"}, "rows"),
        ({"copies": 0}, "greater"),
        ({"sweeps": 3}, "where: missing"),
        ({"sweeps": -1, "where": "missing"}, "greater"),
        ({"epsilon": 1.0}, "differential privacy"),
        ({"where": "age >"}, "age"),
        ({"derived": {"a": "1 +"}}, "1"),
        ({"households": True, "where": "age > 3"}, "whole households"),
        ({"households": True, "where": "missing"}, "whole households"),
        ({"head": "age"}, "households: true"),
        ({"min_leaf": 0}, "greater"),
    ],
)
def test_parameters_that_make_no_sense(given, match):
    with pytest.raises(ValidationError, match=match):
        Synthesise(**given)


@pytest.mark.parametrize(
    ("given", "book", "said"),
    [
        ({}, BOOK.replace(name=Variable(role="identifier")), "role identifier"),
        ({}, BOOK.replace(house=Variable(role="household")), "say `households: true`"),
        ({"households": True}, BOOK, "home: {role: household}"),
        ({"households": True, "by": ["home"]}, HOMES, "by` names the household's own column"),
        ({"households": True, "head": "nosuch"}, HOMES, "no column 'nosuch'"),
        ({"households": True, "head": "id"}, HOMES, "`head` names id"),
        ({"households": True, "columns": ["age"], "head": "age"}, HOMES, "`head` names age, which is drawn"),
        ({"households": True, "columns": ["age"]}, HOMES.without("id"), "role: record"),
        ({"households": True, "columns": ["home"]}, HOMES, "role household"),
        ({}, BOOK.replace(story=Variable(kind="text")), "is text"),
        ({}, BOOK.replace(copy=Variable(kind="integer")), "rename it"),
        ({"columns": ["nosuch"]}, BOOK, "no column 'nosuch'"),
        ({"columns": ["id"]}, BOOK, "role record"),
        ({"columns": ["age"], "rows": 10}, BOOK, "`rows`"),
        ({"columns": ["age"]}, BOOK.without("id"), "role: record"),
        ({"proper": True}, BOOK.without("id"), "role: record"),
        ({"predictors": {"age": ["pay"]}}, BOOK, "drawn before pay"),
        ({"predictors": {"age": ["pay"]}, "where": "missing", "sweeps": 0}, BOOK, "drawn before pay"),
        ({"predictors": {"age": ["age"]}, "where": "missing"}, BOOK, "drawn before age"),
        ({"columns": ["pay"], "predictors": {"age": ["sex"]}}, BOOK, "not drawn"),
        ({"columns": ["pay"], "order": ["age"]}, BOOK, "not drawn"),
        ({"rules": [{"if": "pay > 3", "column": "age", "value": 1}]}, BOOK, "not there when it is drawn"),
        (
            {"rules": [{"if": "sex == 'f'", "column": "age", "value": v} for v in (1, 2)]},
            BOOK,
            "two rules settle age",
        ),
        ({"derived": {"a": "b + 1", "b": "a + 1"}}, BOOK, "circle"),
        ({"derived": {"a": "nosuch + 1"}}, BOOK, "nosuch"),
    ],
)
def test_what_cannot_be_drawn_is_told_before_any_data_are_touched(given, book, said):
    assert any(said in problem for problem in Synthesise(**given).check(book))


@pytest.mark.parametrize(
    ("given", "frame", "match"),
    [
        ({"min_leaf": 201}, survey(), "min_leaf"),
        ({"by": ["code"], "min_leaf": 100}, survey(), "min_leaf"),
        ({}, survey().with_columns(pay=pl.lit(None, dtype=pl.Float64)), "no value at all"),
        ({"columns": ["pay"], "where": "age > 300"}, survey(), "No record meets"),
        ({"by": ["sex"], "rows": 1, "copies": 1}, survey(), "`rows`"),
        (
            {
                "rules": [
                    {"if": "age < 40", "column": "pay", "value": 0.0},
                    {"if": "age < 30", "column": "pay", "value": 1.0},
                ]
            },
            survey(),
            "Two rules demand",
        ),
    ],
)
def test_what_the_data_do_not_allow(given, frame, match):
    with pytest.raises(DataError, match=match):
        made(frame, **given)


def test_households_need_no_ids_of_records_where_rows_are_nobodys():
    assert Synthesise(households=True, proper=True).check(HOMES.without("id")) == []
    assert Synthesise(households=True).kind(HOMES) == "full"
    assert Synthesise(columns=["age"], households=True).kind(HOMES) == "partial"


def test_no_step_takes_copies_for_one_table():
    steps = [Synthesise(), {"do": "noise", "columns": ["pay"], "share": 0.1}]
    with pytest.raises(PlanError, match="one table"):
        Plan(steps=steps).check(BOOK)
    Plan(steps=[Synthesise(), {"do": "drop", "columns": ["w"]}]).check(BOOK)


def test_a_plan_is_bound_to_its_table():
    plan = Plan(steps=[Synthesise()])
    bound = plan.bound(BOOK)
    assert bound.traces.masked == ("sex", "age", "code", "label", "pay", "w")
    assert plan.traces.masked == ()
    assert bound.bound(BOOK) is bound
    assert bound.steps[0].kind(BOOK) == "full"


@pytest.mark.parametrize("method", ["cart", "parametric"])
def test_numbers_drawn_between_true_ones_lie_on_a_grid_that_is_told(method):
    rng = np.random.default_rng(4)
    frame = survey().with_columns(w=pl.Series(rng.normal(50, 3.4, 400)))
    done = made(frame, columns=["pay", "w", "age"], copies=1, smooth=True, method=method, where="id >= 0")
    told = done.disclosure.synthetic
    # the sd of w is 3 to one digit; a thousandth is .003, and .002 the largest 1, 2 or 5 that is not above it
    assert told.rounded == {"pay": 0.1, "w": 0.002, "age": 1.0}
    assert "w to multiples of 0.002" in told.sentence()
    assert {n: done.after.codebook[n].multiple for n in told.rounded} == told.rounded
    assert on_grid(done.after.frame["w"].to_list(), 0.002)
    assert not on_grid(frame["w"].to_list(), 0.002)
    plain = made(frame, columns=["pay", "w"], copies=1, method=method, where="id >= 0")
    assert set(plain.after.frame["w"]) <= set(frame["w"])  # donors' own values
    assert plain.disclosure.synthetic.rounded == {}


def test_times_drawn_between_true_ones_are_whole_seconds():
    rng = np.random.default_rng(4)
    times = pl.Series("w", rng.integers(0, 10**15, 400)).cast(pl.Datetime("us"))
    book = BOOK.replace(w=Variable(kind="date"))
    out = made(survey().with_columns(times), book=book, columns=["w"], copies=1, smooth=True).after.frame["w"]
    assert out.equals(out.dt.truncate("1s"))
    assert not times.equals(times.dt.truncate("1s"))
