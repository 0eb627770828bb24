"""What intruders are taken to know of a release."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.examples import cohort
from sfumato.plan.plan import Plan
from sfumato.release.intruder import comparable

FRAME = cohort(400).select("id", "sex", "smoker", "asthma", "bmi", "height")
VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key", "kind": "categorical"},
    "smoker": {"role": "key", "kind": "categorical"},
    "bmi": {"role": "key", "kind": "continuous"},
    "height": {"role": "key", "kind": "continuous"},
    "asthma": {"role": "outcome", "kind": "categorical"},
}
NOISE = {"do": "noise", "columns": ["bmi", "height"], "share": 0.2}
SECRET = bytes(range(16))


def protect(*steps, frame=FRAME, **more):
    limits = more.pop("limits", [{"measure": "k_anonymity", "group": "keys", "at_least": 1}])
    plan = Plan(variables=VARIABLES, steps=steps, limits=limits, **more)
    return sf.protect(plan, frame, secret=SECRET)


def nearest(release):
    return release.report.findings.of("match_correct", attack="neighbour", group="nearest")


@pytest.mark.slow
def test_a_neighbour_is_tried_wherever_a_step_masks():
    line = nearest(protect(NOISE))
    assert 0 < line.value < line.baseline == 1.0
    coarse = {"do": "recode", "columns": ["bmi", "height"], "band": [20, 30, 160, 170]}
    assert not protect(coarse).report.findings.select("match_correct")


@pytest.mark.slow
def test_a_limit_stops_a_release():
    limit = {"measure": "match_correct", "group": "nearest", "at_most": 0.0001}
    release = protect(NOISE, limits=[limit])
    assert release.verdict == "exceeded"
    assert nearest(release).ok is False
    claims = protect(NOISE, limits=[{"measure": "match_correct", "attack": "claim", "at_most": 1}]).report.findings
    assert {f.attack for f in claims.select("match_correct")} == {"neighbour", "claim"}


def test_a_control_of_members_is_refused_without_a_named_id_too():
    copy, more = FRAME.drop("id"), {"align": "none", "keys": ["sex", "smoker"], "sensitive": ["asthma"]}
    others = cohort(800).select(FRAME.columns)[400:]
    assert sf.risk(FRAME, copy, control=others, **more).select("inference")
    with pytest.raises(DataError, match="'id' among them"):
        sf.risk(FRAME, copy, control=pl.concat([others, FRAME[:1]]), **more)
    without = FRAME.drop("id")  # nothing tells rows apart: people who are alike are no error
    assert sf.risk(without, copy, control=others.drop("id"), **more).select("inference")


@pytest.mark.slow
def test_shuffled_rows_give_the_same_figures():
    mixed = FRAME.sample(fraction=1, shuffle=True, seed=1)
    one, two = (
        protect(NOISE, frame=frame).report.findings.select("match_correct").tidy()["value"] for frame in (FRAME, mixed)
    )
    assert one.to_list() == pytest.approx(two.to_list(), abs=1e-9)


@pytest.mark.slow
def test_a_key_that_was_coarsened_after_masking_is_known_as_it_is_released():
    plan = [NOISE, {"do": "merge_rare", "columns": ["smoker"], "min_count": 150}]
    one, two = nearest(protect(*plan)), nearest(protect(*reversed(plan)))
    assert one.value == pytest.approx(two.value)


@pytest.mark.slow
def test_poor_knowledge_finds_fewer():
    knows = {"neighbour": {"keys": ["sex", "bmi"], "error": {"bmi": 3}}}
    assert nearest(protect(NOISE, knows=knows)).value < nearest(protect(NOISE)).value


def test_the_external_report_holds_rates_and_no_counts():
    from sfumato.report.external import external

    shown = external(protect(NOISE).report).findings
    assert {f.measure for f in shown if f.measure.startswith("match_")} <= {"match_correct", "match_precision"}
    assert shown.select("match_correct")


@pytest.mark.slow
def test_risk_of_the_files_is_that_of_the_run():
    release = protect(NOISE)
    found = sf.risk(FRAME, release.data, record="id", keys=["sex", "smoker", "bmi", "height"], scenario="neighbour")
    assert found.of("match_correct", group="nearest").value == pytest.approx(nearest(release).value)


@pytest.mark.slow
def test_a_control_of_members_is_refused_whatever_the_type_of_its_ids():
    after = protect(NOISE).data
    control = FRAME.tail(5).with_columns(pl.col("id").cast(pl.String))
    with pytest.raises(DataError, match="A control is of people who are not in it"):
        sf.risk(FRAME, after, record="id", keys=["sex"], scenario="cross_match", control=control)


def test_what_can_be_compared():
    assert comparable(pl.Boolean(), pl.Int8())
    assert comparable(pl.Date(), pl.Datetime("us"))
    assert not comparable(pl.Date(), pl.String())
    assert comparable(pl.Null(), pl.String())
