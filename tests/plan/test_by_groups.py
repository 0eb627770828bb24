"""What a draft by groups exchanges, makes broader and leaves out, and the lines that it writes."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.profile import profile
from sfumato.errors import DataError
from sfumato.plan.by_groups import ASKED, exchange_of
from sfumato.plan.plan import Plan
from sfumato.plan.wishes import Wishes

N = 120
RNG = np.random.default_rng(7)
PAY = RNG.integers(10, 90, N)
FRAME = pl.DataFrame(
    {
        "id": range(N),
        "email": [f"p{i}@example.org" for i in range(N)],
        "born": [f"{1940 + i % 60}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)],
        "home_postcode": [f"LS{1 + i % 3} {i % 10}AB" for i in range(N)],
        "sex": RNG.choice(["f", "m"], N),
        "pay": PAY,
        "low": np.where(PAY < 30, "yes", "no"),
        "diagnosis": RNG.choice(["flu", "cold", "none"], N),
        "lat": RNG.uniform(50, 51, N),
        "lon": RNG.uniform(0, 1, N),
        "empty": pl.Series([None] * N, dtype=pl.String),
        "wt": RNG.uniform(1, 3, N).round(2),
    }
)


def chosen(frame=FRAME, **wishes):
    return exchange_of(frame, Wishes(**wishes).over(profile(frame, Codebook())))


def plan_of(exchange, group=5, purpose="scientific-use", **how):
    return Plan.from_yaml("\n".join(["sfumato: 1", "title: some", *exchange.lines(group, purpose, **how)]))


def steps(exchange, name):
    return [step for step in plan_of(exchange).steps if step.name == name]


def test_all_is_exchanged_but_ids_and_what_leaves():
    told = chosen()
    assert {one.column for one in told.left_out} >= {"email", "lat", "lon", "empty"}
    assert all(one.because for one in told.left_out)
    assert told.columns == ("born", "home_postcode", "sex", "pay", "low", "diagnosis", "wt")
    assert told.kept == ("id", *told.columns)


def test_of_dates_and_places_the_broadest_stays():
    told = chosen()
    assert set(told.coarser) == {"born", "home_postcode"}
    (year,) = steps(told, "coarsen_date")
    assert (year.columns, year.to) == (("born",), "year")
    (place,) = steps(told, "coarsen_postcode")
    assert place.columns == ("home_postcode",)


def test_the_step_and_what_belongs_together():
    told = chosen()
    (swap,) = steps(told, "swap")
    assert (swap.columns, swap.group, swap.perturb, swap.together) == (told.columns, 5, 0.02, (("pay", "low"),))
    order = [step.name for step in plan_of(told).steps]
    assert order.index("drop") < order.index("coarsen_date") < order.index("swap") < order.index("pseudonymise")


def test_without_numbers_nothing_is_drawn_anew():
    names = chosen(FRAME.select("sex", "diagnosis"))
    (swap,) = steps(names, "swap")
    assert (swap.perturb, swap.together) == (None, False)
    (weights,) = steps(chosen(FRAME.select("sex", "wt")), "swap")
    assert (weights.columns, weights.perturb) == (("sex", "wt"), None)


@pytest.mark.parametrize("purpose", ASKED)
def test_limits_are_those_of_the_purpose(purpose):
    expected = {"scientific-use": (0.2, 0.05, 0.2), "public-use": (0.09, 0.02, 0.1)}[purpose]
    plan = plan_of(chosen(), 8, purpose)
    told = {limit.measure: (limit.group, limit.attack, limit.at_most) for limit in plan.limits}
    assert told == {
        "linkage_nearest": ("released", None, expected[0]),
        "uniques_kept": (None, None, expected[1]),
        "inference": ("risk", "released", expected[2]),
    }


def test_where_nothing_must_not_be_learnt_no_guess_is_bound():
    told = chosen(FRAME.select("sex", "pay"))
    assert told.sensitive == ()
    assert {limit.measure for limit in plan_of(told).limits} == {"linkage_nearest", "uniques_kept"}
    assert chosen(FRAME.select("sex", "pay"), outcome=("sex",)).sensitive == ("sex",)
    assert chosen(FRAME.select("sex", "pay"), outcome=("pay",)).sensitive == (), "guesses are of categories"


def test_one_column_less():
    told = chosen().without("pay", "it is for this test")
    assert "pay" not in told.columns
    assert told.left_out[-1].column == "pay"
    assert told.together == ()
    assert told.numbers is False, "the weight is all that is left of numbers"
    assert plan_of(told)
    less = told.without("born", "so").without("diagnosis", "so")
    assert "born" not in less.coarser
    assert "diagnosis" not in less.sensitive
    assert "# 'pay' is left out: it is for this test." in "\n".join(less.lines(5, "scientific-use"))


def test_a_set_of_all_that_is_left_is_none():
    """Whole records would be exchanged."""
    two = chosen(FRAME.select("pay", "low", "sex"))
    assert two.together == (("pay", "low"),)
    assert two.without("sex", "so").together == ()
    assert chosen(FRAME.select("pay", "low")).together == ()


def test_ids_that_other_tables_have_are_replaced_alike():
    (alone,) = steps(chosen(), "pseudonymise")
    shared = [s for s in plan_of(chosen(), shared=("id",)).steps if s.name == "pseudonymise"]
    assert alone.columns == shared[0].columns == ("id",)
    assert alone != shared[0]


def test_names_of_our_own_are_refused():
    with pytest.raises(DataError, match="Rename them"):
        chosen(FRAME.select("sex", pl.col("pay").alias("sfumato:pay")))


def test_an_id_that_leaves_does_so_last_and_says_until_then_which_rows_are_of_one_person():
    frame = FRAME.with_columns(pl.Series("patient", [f"p{i // 3}" for i in range(N)])).drop("id")
    book = Codebook({"patient": Variable(role="person")})
    without = exchange_of(frame, profile(frame, book)).without("patient", "its rows are found together")
    steps = plan_of(without).steps
    assert [step.name for step in steps[-2:]] == ["swap", "drop"]
    assert steps[-1].columns == ("patient",)
    assert "patient" not in steps[0].columns
