import hashlib
import itertools
import statistics

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.draws import Draws, Purpose, units
from sfumato.errors import DataError
from sfumato.measures.attacking import Attacking
from sfumato.measures.measuring import Measuring
from sfumato.plan.conditions import parse_condition, parse_figure
from sfumato.plan.parameter import Parameter
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.tuning.replicate import Replica, Replications
from tests.release.brief import measured_briefly

N = 150
RNG = np.random.default_rng(5)
FRAME = pl.DataFrame(
    {
        "id": np.arange(N),
        "x": RNG.normal(10, 2, N),
        "y": RNG.normal(size=N),
        "g": RNG.choice(["a", "b"], N),
    }
)
ROLES = {"id": {"role": "record"}, "g": {"role": "key", "kind": "categorical"}}
LINKAGE = "linkage_nearest[group=overall] < 0.3"


def runs(*steps, path="steps.0.share", limits=(LINKAGE,), utility=("delta",), most=3, frame=FRAME, tell=None):
    plan = Plan(variables=ROLES, steps=steps)
    progress = quiet if tell is None else lambda what, share: tell(what)
    made = Replications(
        Parameter(path, plan),
        sf.read(frame),
        [parse_condition(text) for text in limits],
        [parse_figure(text) for text in utility],
        Measuring(),
        most,
        progress,
    )
    made.parts = itertools.repeat(progress)
    return made


def test_draws_are_those_of_the_public_secret_and_smooth_in_the_strength():
    ids = units(range(50))
    plain, smooth = Replica(2), Replica(2, smooth="noise")
    public = Draws(hashlib.sha256(b"sfumato tune 2").digest())
    weak, strong = (Purpose("noise", "x", s) for s in ("0.1", "0.2"))
    assert (plain.words(ids, weak) == public.words(ids, weak)).all()
    assert (plain.words(ids, weak) != plain.words(ids, strong)).any()
    assert (smooth.words(ids, weak) == smooth.words(ids, strong)).all()
    assert (smooth.words(ids, Purpose("pram", "x", "1")) == public.words(ids, Purpose("pram", "x", "1"))).all()
    assert (smooth.words(ids, weak) != Replica(3, smooth="noise").words(ids, weak)).any()


def test_draws_that_are_tried_again_end():
    """Just above half of 2^64 every second word is drawn again; attempts must differ although strengths do not."""
    ids = units(range(200))
    drawn = Replica(1, smooth="swap").integers(ids, Purpose("swap", "x", "0.1"), 2**63 - 1)
    assert drawn.min() >= 0
    again = Replica(1, smooth="swap").words(ids, Purpose("swap", "x", "0.1|again 1"))
    assert (again != Replica(1, smooth="swap").words(ids, Purpose("swap", "x", "0.1"))).any()


@pytest.mark.slow
def test_the_mean_is_that_of_so_many_releases():
    """Two steps of one method keep their own strengths' draws, so each replication is a release that can be made."""
    steps = (sf.steps.Noise(columns=["x"], share=0.1), sf.steps.Noise(columns=["y"], share=0.2))
    point = runs(*steps, limits=["linkage_nearest[group=overall] < 0.093"]).at(0.3)
    plan = Plan(variables=ROLES, steps=[sf.steps.Noise(columns=["x"], share=0.3), steps[1]])
    figures = []
    for number in (1, 2, 3):
        secret = hashlib.sha256(f"sfumato tune {number}".encode()).digest()
        with measured_briefly("linkage_nearest"):
            figures.append(sf.protect(plan, FRAME, secret=secret).report.findings)
    linkage = [found.of("linkage_nearest", group="overall").value for found in figures]
    assert point.replications == 3
    assert point.risk == pytest.approx(statistics.mean(linkage), rel=1e-12)
    assert 0 < point.kept < 1
    assert point.kept == sum(value < 0.093 for value in linkage) / 3
    moved = [max(f.value for f in found.select("delta")) for found in figures]
    assert point.utility == {"delta": pytest.approx(statistics.mean(moved), rel=1e-12)}


def test_common_draws_make_the_moves_proportional():
    """Noise of four times the variance moves each value twice as far, so that delta is four times as large.

    But for the three digits to which strengths are rounded. Draws of their own would leave a ratio with an error of 9%.
    """
    evaluated = runs(sf.steps.Noise(columns=["x"], share=0.1))
    one, four = (evaluated.at(share).utility["delta"] for share in (0.1, 0.4))
    assert four == pytest.approx(4 * one, rel=0.01)


def test_what_draws_nothing_runs_once():
    point = runs(sf.steps.Centroids(columns=["x", "y"], k=3, moments="exact"), path="steps.0.k", most=10).at(4)
    assert point.replications == 1
    assert point.risk == point.interval[0] == point.interval[1]


def test_ties_alone_are_two_runs_where_they_change_nothing():
    steps = sf.steps.Centroids(columns=["x", "y"], k=3, grouping="mdav", moments="exact")
    assert runs(steps, path="steps.0.k", most=10).at(4).replications == 2


def test_far_from_the_limit_fewer_runs_do():
    step = sf.steps.Noise(columns=["x", "y"], share=0.1)
    near = runs(step, most=8).at(0.1)
    bound = near.risk
    assert runs(step, limits=[f"linkage_nearest[group=overall] < {bound}"], most=8).at(0.1).replications == 8
    assert runs(step, limits=["linkage_nearest[group=overall] < 0.99"], most=8).at(0.1).replications < 6


def test_figures_that_are_equal_by_chance_are_not_called_certain():
    """At this strength nobody is linked in any of three runs; that does not show that nobody ever is."""
    wide = FRAME.head(6)
    point = runs(sf.steps.Noise(columns=["x", "y"], share=1e-9), limits=["risk2 < 2"], most=7, frame=wide).at(1e-9)
    assert point.interval[0] == point.interval[1]
    assert point.replications == 7


def test_preparing_steps_run_once():
    told = []
    steps = (
        sf.steps.Derive(column="z", formula="x + y"),
        sf.steps.Impute(columns=["x"], method="median"),
        sf.steps.Noise(columns=["x", "z"], share=0.1),
    )
    evaluated = runs(*steps, path="steps.2.share", tell=told.append)
    evaluated.at(0.1)
    evaluated.at(0.2)
    assert sum("derive" in what for what in told) == 1
    assert sum("step 1 of 1: noise" in what for what in told) == 6


def test_each_value_runs_once():
    evaluated = runs(sf.steps.Noise(columns=["x"], share=0.1))
    assert evaluated.at(0.2) is evaluated.at(0.2)


def test_only_what_is_asked_for_is_measured():
    told = []
    runs(sf.steps.Noise(columns=["x"], share=0.1), tell=told.append).at(0.1)
    measured = {what.partition("measuring ")[2] for what in told if "measuring " in what}
    assert measured == {"linkage", "delta"}


def test_without_an_analysis_utility_is_u():
    assert list(runs(sf.steps.Noise(columns=["x"], share=0.1), utility=()).at(0.1).utility) == ["u_main"]


def test_a_limit_must_speak_of_something():
    for limit in ("linkage_nearest[group=nobody] < 1", "risk1[variable=x] < 1"):
        with pytest.raises(DataError, match="speaks of nothing that is measured"):
            runs(sf.steps.Noise(columns=["x"], share=0.1), limits=[limit]).at(0.1)


def test_a_value_at_which_the_data_do_not_fit():
    """g has about 75 records on each side, too few for strata of 2 × 60."""
    steps = sf.steps.Centroids(columns=["x"], by=["g"], k=3, moments="exact")
    with pytest.raises(DataError, match=r"With steps\.0\.k = 60 the plan cannot run; give a narrower range"):
        runs(steps, path="steps.0.k").at(60)


def test_the_nearest_limit_is_what_is_reported():
    limits = ("linkage_nearest[group=overall] < 0.999", "delta >= 5")
    point = runs(sf.steps.Noise(columns=["x", "y"], share=0.1), limits=limits).at(0.1)
    assert point.held == (True, False)
    assert not point.met
    assert point.nearest == 1
    assert point.risk == point.figures[1].value


@pytest.mark.slow
def test_an_interval_that_tells_of_one_draw_is_not_added_to_that_of_many():
    """All records are attacked, so the h-rank of one release differs from the next by the draw alone."""

    def point(sample):
        plan = Plan(variables=ROLES, steps=[sf.steps.Noise(columns=["x", "y"], share=0.1)])
        how = Measuring(attacking=Attacking(sample=sample))
        limits = [parse_condition("h_rank[h<3] < 0.18")]
        parameter = Parameter("steps.0.share", plan)
        return Replications(parameter, sf.read(FRAME), limits, (), how, 12, quiet).at(0.5)

    whole, part = point(None), point(N // 2)
    plan = Plan(variables=ROLES, steps=[sf.steps.Noise(columns=["x", "y"], share=0.5)])
    with measured_briefly("h_rank"):
        findings = sf.protect(plan, FRAME, secret=bytes(16)).report.findings
    one = findings.of("h_rank", at=2, group="all", attack="worst")
    assert whole.interval[1] - whole.interval[0] < one.interval[1] - one.interval[0]
    assert part.interval[1] - part.interval[0] > one.interval[1] - one.interval[0]


@pytest.mark.slow
def test_further_runs_have_secrets_that_no_search_has():
    """Each is the release that the public secrets 1001, 1002, … make."""
    evaluated = runs(sf.steps.Noise(columns=["x", "y"], share=0.1), limits=["linkage_nearest[group=overall] < 0.093"])
    before = evaluated.at(0.3)
    assert evaluated.fresh(0.3, 6) == 6
    plan = Plan(variables=ROLES, steps=[sf.steps.Noise(columns=["x", "y"], share=0.3)])
    figures = []
    for number in range(1001, 1007):
        secret = hashlib.sha256(f"sfumato tune {number}".encode()).digest()
        with measured_briefly("linkage_nearest"):
            found = sf.protect(plan, FRAME, secret=secret).report.findings
        figures.append(found.of("linkage_nearest", group="overall").value)
    after = evaluated.at(0.3)
    assert after.kept == sum(value < 0.093 for value in figures) / 6
    assert (after.risk, after.replications) == (before.risk, before.replications)


def test_what_draws_nothing_needs_no_further_run():
    evaluated = runs(sf.steps.Centroids(columns=["x", "y"], k=3, moments="exact"), path="steps.0.k")
    before = evaluated.at(4)
    assert evaluated.fresh(4, 6) == 0
    assert evaluated.at(4) == before
