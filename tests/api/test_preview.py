"""Previews: what a step does is what a run does; samples are drawn by ids, and classes are of the whole file."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.api.preview import Correlated, Previewer
from sfumato.errors import DataError, PlanError
from sfumato.plan.plan import Plan

N = 400


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.integers(20, 60, N)
    return pl.DataFrame(
        {
            "id": np.arange(N) + 1000,
            "age": age,
            "town": rng.choice(["A", "B", "C"], N),
            "income": age * 100.0 + rng.normal(0, 300, N),
        }
    )


VARIABLES = {
    "id": {"role": "record"},
    "age": {"role": "key", "kind": "integer"},
    "town": {"role": "key"},
    "income": {"role": "other", "kind": "continuous"},
}
BAND = {"do": "recode", "columns": ["age"], "band": [30, 40, 50]}
NOISE = {"do": "noise", "columns": ["income"], "share": 1.0}


def planned(*steps: dict, **more) -> Plan:
    return Plan(title="t", variables=VARIABLES, steps=list(steps), **more)


def test_classes_before_and_after_are_those_of_a_count(people):
    seen = Previewer(people).look(planned(BAND), 0)
    before = people.group_by("age", "town").len()["len"]
    band = (people["age"] >= 30).cast(int) + (people["age"] >= 40).cast(int) + (people["age"] >= 50).cast(int)
    after = people.with_columns(band=band).group_by("band", "town").len()["len"]
    assert (seen.before.smallest, seen.before.classes) == (before.min(), len(before))
    assert seen.before.uniques == int((before == 1).sum())
    assert (seen.after.smallest, seen.after.classes, seen.after.uniques) == (after.min(), 12, 0)
    assert seen.whole
    assert seen.records == (N, N)


def test_noise_of_the_columns_own_variance_takes_the_correlation_by_the_root_of_two(people):
    seen = Previewer(people).look(planned(NOISE), 0)
    (told,) = [c for c in seen.correlations if c.other == "income"]
    assert isinstance(told, Correlated)
    assert told.before == pytest.approx(np.corrcoef(people["age"], people["income"])[0, 1])
    assert told.after == pytest.approx(told.before / np.sqrt(2), abs=0.1)  # three standard errors of 400 records


def test_a_masked_key_makes_no_classes_any_more(people):
    seen = Previewer(people).look(planned({"do": "noise", "columns": ["age"], "share": 0.1}), 0)
    assert seen.before.keys == ("age", "town")
    assert seen.after.keys == ("town",)


def test_of_a_large_file_a_sample_is_looked_at_and_classes_are_of_all(people):
    small = Previewer(people, most_seconds=0.0, most_records=100)
    seen = small.look(planned(NOISE), 0)
    assert (seen.whole, seen.records, seen.of, seen.slow) == (False, (100, 100), N, False)
    assert seen.after.records == N  # classes hang on no step here
    banded = small.look(planned(BAND), 0)
    assert banded.slow
    assert (banded.before, banded.after) == (None, None)
    assert small.look(planned(BAND), 0, whole=True).after.records == N


def test_the_sample_is_the_same_in_any_order_of_the_rows(people):
    for given in (people, people.drop("id")):
        book = {name: said for name, said in VARIABLES.items() if name in given.columns}
        plan = Plan(title="t", variables=book, steps=[BAND])
        looks = [
            Previewer(rows, most_seconds=0.0, most_records=100).look(plan, 0).looks
            for rows in (given, given.sample(fraction=1, shuffle=True, seed=1))
        ]
        assert looks[0] == looks[1]


def test_whole_strata_are_taken_where_they_fit(people):
    step = {"do": "suppress_strata", "by": ["age"], "min_count": 2}
    seen = Previewer(people, most_seconds=0.0, most_records=200).look(planned(step), 0)
    assert seen.strata == ("age",)
    assert seen.records[0] <= 200
    bars = [(bar.label, bar.before) for look in seen.looks if look.column == "age" for bar in look.bars]
    assert sum(count for _, count in bars) == seen.records[0]


def test_whole_persons_are_looked_at_where_they_are_drawn(people):
    visits = people.with_columns(who=pl.col("id") // 4)
    plan = Plan(
        title="t",
        variables={**VARIABLES, "who": {"role": "person"}},
        steps=[{"do": "synthesise", "copies": 1, "persons": True, "time": "age"}],
    )
    seen = Previewer(visits, most_seconds=0.0, most_records=200).look(plan, 0)
    assert seen.strata == ("who",)
    assert seen.records[0] == 200


def test_strata_of_a_column_that_was_changed_before_are_whole_too(people):
    """Whole towns are drawn: strata of towns and bands of ages would be torn apart by ages as they were."""
    step = {"do": "suppress_strata", "by": ["town", "age"], "min_count": 20, "max_suppressed": 0.0}
    seen = Previewer(people, most_seconds=0.0, most_records=300).look(planned(BAND, step), 1)
    assert seen.strata == ("town",)
    assert seen.records[0] == seen.records[1] < N


def test_where_a_sample_is_too_small_for_a_step_the_file_is_tried(people):
    step = {"do": "suppress_strata", "by": ["age"], "min_count": 20, "max_suppressed": 0.0}
    seen = Previewer(people, most_seconds=60.0, most_records=100).look(planned(BAND, step), 1)
    assert (seen.whole, seen.records) == (True, (N, N))
    with pytest.raises(DataError, match="sample of the records"):
        Previewer(people, most_seconds=0.0, most_records=100).look(planned(BAND, step), 1)


def test_a_step_after_one_of_strata_is_tried_on_whole_strata(people):
    step = {"do": "suppress_strata", "by": ["town", "age"], "min_count": 20, "max_suppressed": 0.0}
    seen = Previewer(people, most_seconds=0.0, most_records=300).look(planned(BAND, step, NOISE), 2)
    assert seen.strata == ("town",)


def test_what_comes_after_the_step_plays_no_part(people):
    plan = planned(BAND, {"do": "drop", "columns": ["nothing"]}, limits=[{"measure": "k_anonymity", "at_least": 5}])
    assert Previewer(people).look(plan, 0).looks
    with pytest.raises(PlanError, match="nothing"):
        Previewer(people).look(plan, 1)
    with pytest.raises(DataError, match="no step 3"):
        Previewer(people).look(plan, 2)


def test_a_column_that_goes_and_one_that_comes_are_told(people):
    seen = Previewer(people).look(planned({"do": "drop", "columns": ["town"]}), 0)
    assert [(look.column, look.what) for look in seen.looks] == [("town", "gone")]
    made = {"do": "derive", "column": "rich", "formula": "income > 4000"}
    assert [(look.column, look.what) for look in Previewer(people).look(planned(made), 0).looks] == [("rich", "new")]


def test_an_earlier_step_that_masks_nothing_wanted_is_left_out_for_classes(people):
    previewer = Previewer(people, most_seconds=0.0, most_records=100)
    plan = planned(NOISE, {"do": "noise", "columns": ["income"], "share": 0.1, "by": ["town"]})
    assert previewer.look(plan, 0).after == previewer.look(planned(NOISE), 0).before


def test_the_table_as_it_enters_a_step(people):
    tried = Previewer(people, most_records=100)
    plan = planned({"do": "top_code", "columns": ["age"], "at": 50}, NOISE, BAND)
    data, whole = tried.entering(plan, 2, "age")
    assert whole
    assert data.frame["age"].to_list() == [min(age, 50) for age in people["age"]]
    assert data.frame["income"].to_list() == people["income"].to_list()  # a step that only touches others is left out
    assert tried.entering(plan, 0, "age")[0].frame["age"].to_list() == people["age"].to_list()
    part, whole = Previewer(people, most_seconds=0.0, most_records=100).entering(plan, 2, "age")
    assert (part.frame.height, whole) == (100, False)


def test_another_hierarchy_in_a_file_is_another_step(people, tmp_path):
    tried, seen = Previewer(people), []
    for tree in ("A;x\nB;x\nC;x\nD;y\n", "A;x\nB;y\nC;y\n"):
        (tmp_path / "town.csv").write_text(tree)
        lines = (
            "sfumato: 1\nvariables: {id: {role: record}, town: {role: key}}\nsteps:\n  - {do: drop, columns: [age]}\n"
        )
        plan = Plan.from_yaml(lines + "  - {do: recode, columns: [town], level: 1, hierarchies: .}\n", tmp_path)
        tried.look(Plan.from_yaml(lines), 0)  # the same first step, of a plan that has no tree
        seen.append(tried.look(plan, 1).after.classes)
    assert seen == [1, 2]


def test_where_the_strata_that_all_steps_share_are_too_large_smaller_ones_are_taken(people):
    steps = [
        {"do": "suppress_strata", "by": by, "min_count": 2, "max_suppressed": 0.9} for by in (["age", "town"], ["town"])
    ]
    seen = Previewer(people, most_seconds=0.0, most_records=100).look(planned(*steps), 1)
    assert seen.strata == ("age", "town")
