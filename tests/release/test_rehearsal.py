"""Rehearsals on half of the people."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hidden import ROW
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.examples import cohort
from sfumato.plan.limits import Limit
from sfumato.plan.plan import Plan
from sfumato.release.rehearsal import REHEARSED, asks_for_rehearsal, rehearse

FRAME = cohort(400).select("id", "sex", "smoker", "asthma", "bmi", "height")
VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key", "kind": "categorical"},
    "smoker": {"role": "key", "kind": "categorical"},
    "bmi": {"role": "key", "kind": "continuous"},
    "height": {"role": "other", "kind": "continuous"},
    "asthma": {"role": "outcome", "kind": "categorical"},
}
NOISE = {"do": "noise", "columns": ["bmi", "height"], "share": 0.2}
LIMITS = [
    {"measure": "inference", "group": "risk", "at_most": 1},
    {"measure": "membership", "group": "auc", "at_most": 1},
    {"measure": "k_anonymity", "at_least": 1},
]
SECRET = bytes(range(16))


def entering(frame=FRAME):
    plan = Plan(variables=VARIABLES)
    return PolarsDataset(frame.with_row_index(ROW), plan.codebook(frame, Codebook()).replace(**{ROW: Variable()}))


def rehearsed(*steps, frame=FRAME, secret=SECRET):
    plan = Plan(variables=VARIABLES, steps=steps)
    return rehearse(plan, plan.steps, entering(frame), Draws(secret))


def test_only_limits_on_what_needs_a_control_ask_for_one():
    assert asks_for_rehearsal([Limit(measure="membership", at_most=0.7)])
    assert not asks_for_rehearsal([Limit(measure="linkage_nearest", at_most=0.7)])


@pytest.mark.parametrize(
    "step",
    [
        NOISE,
        {"do": "centroids", "columns": ["bmi", "height"], "by": ["sex"], "k": 3},
        {"do": "swap", "columns": ["bmi"], "window": 0.1},
        {"do": "pram", "columns": ["smoker"], "retention": 0.8},
        {"do": "recode", "columns": ["bmi"], "band": [20, 25, 30]},
        {"do": "merge_rare", "columns": ["smoker"], "min_count": 20},
        {"do": "suppress_strata", "by": ["sex", "smoker"], "min_count": 3},
        {"do": "suppress_cells", "keys": ["sex", "smoker", "asthma"], "k": 3},
        {"do": "top_code", "columns": ["bmi"], "at": 30},
        {"do": "sample", "fraction": 0.5},
        {"do": "pseudonymise", "columns": ["id"]},
    ],
    ids=lambda step: step["do"],
)
def test_any_method_is_rehearsed(step):
    found = rehearsed(step)
    assert found.known is not None, found.notes
    assert found.notes == (REHEARSED,)
    known = found.known
    assert known.control.height > 100
    assert known.released.height > 20
    inside, outside = set(known.people["height"]), set(known.control["height"])
    assert known.people.columns == known.control.columns
    assert inside
    assert outside
    assert not known.aligned


def test_halves_are_of_ids_and_secret_and_not_of_places():
    mixed = FRAME.sample(fraction=1, shuffle=True, seed=2)
    one, two, other = rehearsed(NOISE), rehearsed(NOISE, frame=mixed), rehearsed(NOISE, secret=bytes(16))
    assert set(one.known.people["id"]) == set(two.known.people["id"]) != set(other.known.people["id"])
    assert 120 < one.known.people.height < 280  # 8 sds of a fair coin
    assert not set(one.known.people["id"]) & set(one.known.control["id"])
    assert one.known.released.sort("id").equals(two.known.released.sort("id"))


def test_nothing_of_a_release_is_repeated():
    """The same people with the same secret have other noise."""
    plan = Plan(variables=VARIABLES, steps=[NOISE], limits=[{"measure": "k_anonymity", "at_least": 1}])
    release = sf.protect(plan, FRAME, secret=SECRET).data.frame.select("id", "bmi")
    both = rehearsed(NOISE).known.released.select("id", "bmi").join(release, on="id")
    truth = both.join(FRAME.select("id", "bmi"), on="id", suffix="_true")
    noise = (
        truth.drop_nulls()
        .select(pl.col("bmi") - pl.col("bmi_true"), other=pl.col("bmi_right") - pl.col("bmi_true"))
        .to_numpy()
    )
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.3


def test_households_stay_together():
    frame = FRAME.with_columns(home=pl.col("id") // 4)
    plan = Plan(variables={**VARIABLES, "home": {"role": "household"}}, steps=[NOISE])
    book = plan.codebook(frame, Codebook()).replace(**{ROW: Variable()})
    found = rehearse(plan, plan.steps, PolarsDataset(frame.with_row_index(ROW), book), Draws(SECRET)).known
    assert not set(found.people["home"]) & set(found.control["home"])


@pytest.mark.parametrize("rows", [None, 30])
def test_all_members_of_the_half_are_told_from_others_where_rows_are_nobodys(rows):
    """Whatever the numbers of synthetic rows are."""
    step = {"do": "synthesise", "columns": ["sex", "smoker", "bmi", "height", "asthma"], "copies": 2, "rows": rows}
    known = rehearsed(step).known
    assert known.people.height + known.control.height == 400
    assert known.released.height == 2 * (rows or known.people.height)


def test_synthetic_households_are_rehearsed_on_half_of_the_households():
    frame = FRAME.with_columns(home=(pl.col("id") - 1) // 4)
    step = {"do": "synthesise", "copies": 2, "households": True}
    plan = Plan(variables={**VARIABLES, "home": {"role": "household"}}, steps=[step])
    book = plan.codebook(frame, Codebook())
    bound = plan.bound(book)
    entering_ = PolarsDataset(frame.with_row_index(ROW), book.replace(**{ROW: Variable()}))
    found = rehearse(bound, bound.steps, entering_, Draws(SECRET)).known
    assert not set(found.people["home"]) & set(found.control["home"])
    assert set(found.people.group_by("home").len()["len"]) == {4}
    assert found.people.height + found.control.height == 400
    assert set(found.released.group_by("copy", "home").len()["len"]) == {4}


@pytest.mark.slow
def test_a_limit_has_it_measured_and_judged():
    release = sf.protect(Plan(variables=VARIABLES, steps=[NOISE], limits=LIMITS), FRAME, secret=SECRET)
    found = release.report.findings
    assert found.of("inference", variable="asthma", group="risk").ok
    assert found.of("membership", group="auc").ok
    assert REHEARSED in found.notes
    without = sf.protect(Plan(variables=VARIABLES, steps=[NOISE], limits=LIMITS[2:]), FRAME, secret=SECRET)
    assert not without.report.findings.select("inference")
    assert without.data.frame.sort("id").equals(release.data.frame.sort("id"))


def test_half_may_be_too_few():
    few = FRAME.drop_nulls().head(12)
    plan = Plan(variables=VARIABLES, steps=[{"do": "centroids", "columns": ["bmi"], "k": 5}], limits=LIMITS)
    release = sf.protect(plan, few, secret=SECRET)
    assert release.verdict == "exceeded"
    assert any("could not be rehearsed" in note for note in release.report.findings.notes)


@pytest.mark.slow
def test_what_masks_more_tells_less():
    weak, strong = (
        sf.protect(
            Plan(variables=VARIABLES, steps=[{**NOISE, "share": share}], limits=LIMITS), FRAME, secret=SECRET
        ).report.findings.of("membership", group="auc")
        for share in (0.0001, 2.0)
    )
    assert strong.value < weak.value


def test_without_ids_equal_rows_fall_on_both_sides_of_a_rehearsal():
    """Else nobody of the control would be equal to a member, and members would be told for that alone."""
    step = {"do": "synthesise", "columns": ["sex", "smoker", "bmi", "height", "asthma"], "copies": 1}
    frame = pl.concat([FRAME.drop("id").drop_nulls()] * 4)
    plan = Plan(variables={n: v for n, v in VARIABLES.items() if n != "id"}, steps=[step])
    book = plan.codebook(frame, Codebook()).replace(**{ROW: Variable()})

    def halves(table):
        known = rehearse(plan, plan.steps, PolarsDataset(table.with_row_index(ROW), book), Draws(SECRET)).known
        assert known.units is None
        return known.people.sort(known.people.columns), known.control.sort(known.people.columns)

    people, control = halves(frame)
    distinct, both = frame.n_unique(), people.unique().join(control.unique(), on=people.columns).height
    assert abs(both / distinct - 7 / 8) < 4 * (7 / 64 / distinct) ** 0.5  # 1 − 2 · .5⁴ of those with four rows
    mixed = halves(frame.sample(fraction=1, shuffle=True, seed=1))
    assert people.equals(mixed[0])
    assert control.equals(mixed[1])
