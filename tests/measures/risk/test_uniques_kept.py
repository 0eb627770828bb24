"""Combinations that survive, counted by hand in small tables, and in memory as among batches of records."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.folds.asking import answered
from sfumato.measures.measuring import Measuring
from sfumato.measures.risk.uniques_kept import MEASURE, survivors_of, views_of
from sfumato.measures.subject import Outsider, Subject
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.classes import exposed_off_memory
from sfumato.release.large import in_memory, sampled_of
from sfumato.release.measured import measure_run
from sfumato.release.run import run_plan
from tests.release.scattered import Scattered

BOOK = Codebook(
    {
        "town": Variable(kind="categorical"),
        "job": Variable(kind="categorical", missing=("?",)),
        "age": Variable(kind="continuous", missing=(-9,)),
    }
)
TRUE = pl.DataFrame(
    {"town": ["a", "a", "b", "b", "c"], "job": ["x", "y", "x", "x", "?"], "age": [20.0, 30.0, 40.0, 50.0, -9.0]}
)
EVERY = ["town", "job", "age"]


def kept(released, columns=EVERY, true=TRUE):
    return survivors_of(true, released, Pair(true, released, BOOK, ("age",)), columns)


def test_what_is_released_unchanged_survives_where_it_was_unique():
    assert kept(TRUE) == 1.0
    assert kept(TRUE, ["town", "job"]) == pytest.approx(3 / 5)  # a x, a y and c; b x stands twice


def test_it_must_stand_once_in_both_tables():
    moved = TRUE.with_columns(job=pl.Series(["x", "x", "y", "x", "?"]))
    # a x stands twice now, b y was nobody's, b x was two people's: c is left
    assert kept(moved, ["town", "job"]) == pytest.approx(1 / 5)


def test_another_one_in_its_place_survives_too():
    """Somebody who knows the combination takes the record for the person's, whosever it is."""
    exchanged = TRUE[[1, 0, 2, 3, 4]].with_columns(age=TRUE["age"])
    assert kept(exchanged, ["town", "job"]) == pytest.approx(3 / 5)


def test_numbers_that_were_drawn_anew_do_not_hide_categories_that_single_out():
    anew = TRUE.with_columns(age=pl.Series([21.0, 31.0, 41.0, 51.0, 61.0]))
    assert kept(anew) == pytest.approx(3 / 5)
    assert kept(anew, ["age"]) == 0.0
    assert kept(anew, ["town", "age"]) == pytest.approx(1 / 5)  # c alone
    assert views_of(Pair(TRUE, anew, BOOK, ("age",)), EVERY) == [EVERY, ["town", "job"]]


def test_gaps_are_a_value_however_they_are_written():
    gaps = TRUE.with_columns(job=pl.Series(["x", "y", "x", "x", None]), age=pl.Series([20.0, 30.0, 40.0, 50.0, None]))
    assert kept(gaps) == 1.0


def test_equal_numbers_of_other_types_are_equal():
    true = pl.DataFrame({"age": [1, 2, 2]})
    assert kept(pl.DataFrame({"age": [1.0, 2.0, 2.0]}), ["age"], true) == pytest.approx(1 / 3)


def found(released, *knowing):
    subject = Subject(
        PolarsDataset(released, BOOK), pair=Pair(TRUE, released, BOOK, ("age",), aligned=True), knowing=knowing
    )
    return {f.group: (f.value, f.baseline) for f in MEASURE.compute(subject)}


def test_each_outsider_has_a_line_beside_what_was_unique_before():
    moved = TRUE.with_columns(job=pl.Series(["x", "x", "y", "x", "?"]))
    told = found(moved, Outsider("released", ("town",), ("job",)), Outsider("everything", ("town", "age"), ("job",)))
    # with their ages those whose job is as it was
    assert told == {"released": (1 / 5, 3 / 5), "everything": (3 / 5, 1.0)}


def test_who_knows_nothing_of_what_was_masked_has_none():
    assert found(TRUE, Outsider("released", ("town",), ())) == {}
    assert found(TRUE, Outsider("released", ("town",), ("gone",))) == {}


N = 240
STEP = {
    "do": "swap",
    "columns": ["town", "job", "low", "pay"],
    "group": 5,
    "perturb": 0.02,
    "together": [["low", "pay"]],
}
PLAN = {
    "variables": {
        "id": {"role": "record"},
        "town": {"role": "key", "kind": "categorical"},
        "job": {"kind": "categorical", "missing": ["?"]},
        "low": {"kind": "categorical"},
        "pay": {"kind": "continuous", "missing": [-9]},
        "note": {"kind": "categorical"},
    },
    "unknown": [{"columns": ["note"], "because": "it was made up for this"}],
    "steps": [STEP],
}


def people(n=N):
    rng = np.random.default_rng(8)
    pay = rng.integers(10, 90, n)
    return pl.DataFrame(
        {
            "id": np.arange(n) * 7 % 1009,
            "town": rng.choice([f"t{i}" for i in range(40)], n),
            "job": rng.choice(["x", "y", "z", "?"], n),
            "low": (pay < 30).astype(int),
            "pay": np.where(rng.random(n) < 0.1, -9, pay),
            "note": rng.choice(["u", "v", "w"], n),
        }
    )


def of_all(people_looked_for, frame=None, plan=PLAN):
    """The lines as they are told of a large table, and as of the whole in memory."""
    frame = people() if frame is None else frame
    plan = Plan(**plan)
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    plan = plan.bound(entering.codebook)
    ran = run_plan(plan, entering, Draws(bytes(range(32))), quiet)
    how = Measuring(people=people_looked_for)
    seen = exposed_off_memory(plan, ran.after)
    subject = sampled_of(plan, ran, ran.sides.sample(frame.height), how, seen)
    told = answered([MEASURE.forms["people"](subject)])[0].findings
    whole = measure_run(plan, in_memory(ran, ran.sides.whole()), how, quiet, only=frozenset({"uniques_kept"})).findings
    return ({f.group: f for f in lines if f.measure == "uniques_kept"} for lines in (told, whole))


def test_where_everybody_is_looked_for_batches_tell_what_memory_tells():
    told, whole = of_all(N)
    assert told.keys() == whole.keys() == {"released", "everything"}
    assert told["everything"].baseline > told["released"].baseline > 0.1  # the note singles more people out
    assert told["everything"].value > 0  # nothing moves by what the step does not list
    for group, line in told.items():
        assert (line.value, line.baseline) == pytest.approx((whole[group].value, whole[group].baseline))
        assert line.interval is None


def test_of_some_people_an_interval_is_told():
    told, whole = of_all(N // 3)
    for group, line in told.items():
        low, high = line.interval
        assert low <= line.value <= high
        assert line.baseline == pytest.approx(whole[group].baseline, abs=0.17)  # three standard errors of 80 people
