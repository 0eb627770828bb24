"""People who are assigned among those who compete with them, batch by batch, are found as the whole table tells."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.draws import Draws
from sfumato.kernels.neighbours import assignment
from sfumato.kernels.neighbours.assignment import assign
from sfumato.measures.folds.asking import answered
from sfumato.measures.measuring import Measuring
from sfumato.measures.risk.linkage_people import among_all
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.classes import Exposed
from sfumato.release.large import in_memory, sampled_of
from sfumato.release.measured import pair_of
from sfumato.release.run import run_plan
from tests.release.scattered import Scattered

SECRET = bytes(range(32))
NOISE = {"do": "noise", "columns": ["x", "y"], "by": ["g"], "share": 0.2}
CENTROIDS = {"do": "centroids", "columns": ["x", "y"], "by": ["g"], "k": 5, "grouping": "mdav"}


def table(n, groups=3, rounded=False):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=n), rng.lognormal(size=n)
    return pl.DataFrame(
        {
            "id": np.arange(n) * 13 % 100_003,
            "g": [f"g{i % groups}" for i in range(n)],
            "x": x.round(1) if rounded else x,
            "y": y.round(0) if rounded else y,
        }
    )


def told(frame, step, most):
    """The lines, and the pair of the whole run."""
    variables = {"id": {"role": "record"}, "g": {"role": "key", "kind": "categorical"}}
    plan = Plan(variables=variables | {n: {"kind": "continuous"} for n in "xy"}, steps=[step])
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    plan = plan.bound(entering.codebook)
    ran = run_plan(plan, entering, Draws(SECRET), quiet)
    subject = sampled_of(plan, ran, ran.sides.sample(most), Measuring(people=most), Exposed(()))
    lines = answered([among_all(subject)])[0].findings
    whole = in_memory(ran, ran.sides.whole())
    return {f.group: f for f in lines if f.measure == "linkage_one_to_one"}, pair_of(plan, whole)


def truth(pair, grouped):
    """The share in the assignment of all, and its baseline: distinct records in the place of all."""
    x, z = pair.complete()
    x, z = ((v - x.mean(axis=0)) / x.std(axis=0) for v in (x, z))
    stratum = pair.stratum if grouped else np.zeros(len(x), dtype=np.int64)
    alone = len(np.unique(np.column_stack([x, stratum]), axis=0)) / len(x)
    return assign(x, z, stratum, len(x)).right / len(x), alone


@pytest.mark.parametrize("step", [NOISE, CENTROIDS], ids=["noise", "averages"])
@pytest.mark.parametrize("rounded", [False, True], ids=["", "ties"])
def test_a_table_of_which_all_compete_is_assigned_as_a_whole(step, rounded):
    """Everybody is near everybody: nothing is approximate, and nobody is left out."""
    lines, pair = told(table(75, rounded=rounded), step, 75)
    for group, grouped in (("overall", False), ("stratum", True)):
        share, base = truth(pair, grouped)
        assert lines[group].value == pytest.approx(share, abs=1e-12)
        assert lines[group].baseline == pytest.approx(base, abs=1e-12)
        assert lines[group].interval is None


@pytest.mark.slow
@pytest.mark.parametrize("step", [NOISE, CENTROIDS], ids=["noise", "averages"])
@pytest.mark.parametrize(("most", "rounded"), [(600, False), (100, False), (100, True)])
def test_a_large_table_is_told_by_some_of_its_people(step, most, rounded, monkeypatch):
    """Four standard errors of 100 people; a sample of 100 records would find three times as many or more."""
    monkeypatch.setattr(assignment, "PEOPLE", 100)
    frame = table(600, groups=2, rounded=rounded)
    lines, pair = told(frame, step, most)
    for group, grouped in (("overall", False), ("stratum", True)):
        share, _ = truth(pair, grouped)
        error = max(share * (1 - share), 1 / 100) ** 0.5 / 10
        assert lines[group].value == pytest.approx(share, abs=4 * error)
        low, high = lines[group].interval
        assert low <= lines[group].value <= high


@pytest.mark.slow
def test_what_is_told_hangs_on_no_order_of_rows():
    frame = table(300)
    one, other = (told(rows, NOISE, 100)[0] for rows in (frame, frame.reverse()))
    assert one == other
