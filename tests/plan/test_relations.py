"""What is found between columns, and what of it a plan may say."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.profile import profile
from sfumato.examples import cohort
from sfumato.plan.relations import formula_name, relations_of

N = 1_200


def found(frame, **said):
    book = Codebook({n: said.get(n, Variable()) for n in frame.columns})
    guesses = profile(frame, book)
    book = Codebook({g.name: g.variable for g in guesses})
    return {one.rule: one for one in relations_of(frame, guesses, frame.columns, book)}


def cells(frame, **said):
    return [one for one in found(frame, **said).values() if one.kind == "impossible"]


def places(wards=40):
    ward = np.arange(N) % wards
    return pl.DataFrame({"ward": [f"w{i:02}" for i in ward], "region": [f"r{i // 8}" for i in ward]})


def test_the_cohort_has_no_sum_order_or_function():
    frame = cohort(3_000)
    guesses = profile(frame, Codebook())
    names = [g.name for g in guesses if not g.leaves and g.variable.role != "identifier" and g.variable.kind != "text"]
    kinds = {one.kind for one in relations_of(frame, guesses, names, Codebook({g.name: g.variable for g in guesses}))}
    assert kinds <= {"impossible"}


def test_a_place_tells_its_region_unless_few_live_there():
    (one,) = found(places()).values()
    assert (one.kind, one.rule, one.written) == ("function", "region of ward", True)
    alone = places().with_columns(ward=pl.when(pl.int_range(N) == 3).then(pl.lit("w99")).otherwise("ward"))
    (other,) = found(alone).values()
    assert (other.rule, other.written) == ("region of ward", False)


@pytest.mark.parametrize("of", [{"role": "sensitive"}, {"role": "outcome"}, {"role": "key", "sensitive": True}])
def test_what_settles_what_nobody_must_learn_is_not_written(of):
    held = Variable(kind="categorical", **of)
    (one,) = found(places(), region=held).values()
    assert not one.written
    ward = np.arange(N) % 40
    answer = np.where(ward == 5, "yes", np.resize(["no", "yes", "no"], N))
    frame = pl.DataFrame({"ward": [f"w{i % 8}" for i in ward], "answer": np.where(ward % 8 == 5, "yes", answer)})
    assert [one.written for one in found(frame, answer=held).values()] == [False]
    assert [one.written for one in found(frame).values()] == [True]


def test_that_something_is_missing_may_be_written_of_anything():
    smokes = np.resize(["no", "yes", "yes"], N)
    amount = [None if s == "no" else i % 17 for i, s in enumerate(smokes)]
    frame = pl.DataFrame({"smokes": smokes, "amount": amount})
    (one,) = cells(frame, amount=Variable(role="sensitive", kind="integer"))
    assert (one.condition, one.column, one.value, one.written) == ("smokes == 'no'", "amount", None, True)
    coded = frame.with_columns(pl.col("amount").fill_null(-8))
    said = Variable(role="sensitive", kind="integer", missing=(Missing(code=-8),))
    (other,) = cells(coded, amount=said)
    assert (other.value, other.written) == (-8, True)


def test_values_and_columns_with_quotes_and_blanks():
    smokes = np.resize(["don't", "yes", 'a "b"'], N)
    amount = [0 if s != "yes" else 1 + i % 17 for i, s in enumerate(smokes)]
    rules = cells(pl.DataFrame({"smokes now": smokes, "amount": amount}))
    assert {one.condition for one in rules} == {'`smokes now` == "don\'t"', "`smokes now` == 'a \"b\"'"}
    assert cells(pl.DataFrame({"smokes": np.where(smokes == "yes", "yes", "'\""), "amount": amount})) == []
    assert formula_name("a`b") is None


def test_orders_of_dates_and_numbers_and_none_that_a_sum_implies():
    rng = np.random.default_rng(1)
    born = [datetime.date(1950, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 9_000, N)]
    seen = [day + datetime.timedelta(days=int(d)) for day, d in zip(born, rng.integers(0, 4_000, N), strict=True)]
    one, two = rng.integers(0, 900, (2, N))
    frame = pl.DataFrame({"born": born, "seen": seen, "one": one, "two": two, "all": one + two})
    rules = found(frame.with_columns(limit=pl.col("all") + rng.integers(0, 300, N)))
    assert set(rules) == {"all = one + two", "born <= seen", "one <= limit", "two <= limit", "all <= limit"}
    assert [rule for rule, each in rules.items() if not each.written] == ["all <= limit"]


def test_rows_of_people_who_come_again():
    rng = np.random.default_rng(2)
    people = [(p, visit, "fm"[p % 2], rng.integers(40)) for p in range(150) for visit in range(1, 5)]
    frame = pl.DataFrame(people, schema=["pid", "visit", "sex", "score"], orient="row")
    assert [one.kind for one in found(frame).values()] == ["panel"]
    assert found(frame.sample(fraction=1, shuffle=True, seed=1))["pid in the order of visit"].columns == (
        "pid",
        "visit",
    )
    once = frame.filter(pl.col("visit") == 1)
    assert not [one for one in found(once).values() if one.kind == "panel"]


def test_what_people_share_is_counted_in_people():
    """Nine people of a ward have 36 rows: still few."""
    people = [(p, visit, f"w{p // 9}", f"r{p // 36}") for p in range(144) for visit in range(4)]
    frame = pl.DataFrame(people, schema=["pid", "visit", "ward", "region"], orient="row")
    assert [one.written for one in found(frame).values() if one.kind == "function"] == [False]


def test_hostile_columns():
    rows = {
        "constant": [1] * N,
        "empty": [None] * N,
        "endless": [float("inf"), float("nan"), 1.5, 2.5] * (N // 4),
        "huge": [(i * 7919) % 1_000 * 10**14 for i in range(N)],
        "digits": [str(i % 7) for i in range(N)],
        "yes": [i % 3 == 0 for i in range(N)],
        "in": [i % 11 for i in range(N)],
    }
    assert all(one.share == 1 for one in found(pl.DataFrame(rows)).values())


def test_a_rule_by_a_private_answer_of_two_values_would_settle_that():
    """Whoever has another value than the one that `no` settles has answered `yes`."""
    answer = np.resize(["no", "yes", "yes"], N)
    ward = [f"w{i % 7}" if a == "yes" else "w0" for i, a in enumerate(answer)]
    frame = pl.DataFrame({"answer": answer, "ward": ward})
    private = Variable(role="sensitive", kind="categorical")

    def written(frame, **said):
        return [one.written for one in cells(frame, **said) if one.condition == "answer == 'no'"]

    assert written(frame) == [True]
    assert written(frame, answer=private) == [False]
    third = frame.with_columns(answer=pl.when(pl.int_range(N) % 30 == 1).then(pl.lit("perhaps")).otherwise("answer"))
    assert written(third, answer=private) == [True]
