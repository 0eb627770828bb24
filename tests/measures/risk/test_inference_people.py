"""Guesses of some people among all records, wherever these are, against the same in memory."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.draws import Draws
from sfumato.measures.folds.asking import answered
from sfumato.measures.measuring import Measuring
from sfumato.measures.risk.inference import MEASURE
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.classes import exposed_off_memory
from sfumato.release.large import in_memory, sampled_of
from sfumato.release.measured import measure_run
from sfumato.release.run import run_plan
from tests.release.scattered import Scattered

N = 240
VARIABLES = {
    "id": {"role": "record"},
    "town": {"role": "key", "kind": "categorical"},
    "age": {"role": "key", "kind": "integer"},
    "pay": {"kind": "continuous", "missing": [-9]},
    "ill": {"role": "sensitive", "kind": "categorical", "missing": ["?"]},
    "ward": {"role": "other", "kind": "categorical"},
}


def people():
    rng = np.random.default_rng(8)
    age = rng.integers(20, 80, N)
    return pl.DataFrame(
        {
            "id": np.arange(N) * 7 % 1009,
            "town": rng.choice(["a", "b", "c"], N),
            "age": age,
            "pay": np.where(rng.random(N) < 0.1, -9, np.round(rng.lognormal(3, 1, N))),
            "ill": np.where(age > 60, rng.choice(["yes", "no", "?"], N), "no"),
            "ward": rng.choice(["u", "v"], N),
        }
    )


@pytest.mark.parametrize("columns", [["town", "age", "pay", "ill", "ward"], ["town", "age", "pay", "ill"]])
def test_it_tells_what_memory_tells(columns):
    """All people are looked for, in batches of any size; what leaves as it was (ward) must be shared."""
    plan = Plan(variables=VARIABLES, steps=[{"do": "swap", "columns": columns, "group": 5, "perturb": 0.02}])
    frame = people()
    entering = Scattered.of(frame, plan.codebook(frame, Codebook()))
    plan = plan.bound(entering.codebook)
    ran = run_plan(plan, entering, Draws(bytes(range(32))), quiet)
    seen = exposed_off_memory(plan, ran.after)
    subject = sampled_of(plan, ran, ran.sides.sample(N), Measuring(), seen)
    (told,) = answered([MEASURE.forms["people"](subject)])
    memory = measure_run(plan, in_memory(ran, ran.sides.whole()), Measuring(), quiet, only={"inference"}).findings
    lines = {f.group: f.value for f in memory.select("inference") if f.attack == "released"}
    assert set(lines) == {"risk", "attack", "control"}
    assert {f.group: f.value for f in told.findings} == pytest.approx(lines, abs=1e-9)
    assert all(f.interval is not None for f in told.findings), "only some people may have been guessed"
    assert lines["attack"] >= lines["control"]
