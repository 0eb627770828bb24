"""A report in which confidential values are planted, for all that must not pass them on."""

from __future__ import annotations

import datetime
from functools import cache

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Averaged, Disclosure, Dropped
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.measures.measuring import Measuring
from sfumato.report.picture import Picture
from sfumato.report.pictures import draw_pictures
from sfumato.report.report import Report, StepDone

CATEGORY, RECORD, VALUE, COUNT = "Zyxomma", "RID-90210", 4815.1623, 48151
"""What is planted: a category, a record's id, a value, a number of records."""
PLANTED = (CATEGORY, RECORD, "4815.1", "4815,1", str(COUNT))

PLAN = f"""\
sfumato: 1
steps:
- {{do: recode, columns: [ward], map: {{{CATEGORY}: other}}}}
"""


def pair(n: int = 600) -> Pair:
    """Records with a release near the original; one original outlier, which is not released."""
    rng = np.random.default_rng(11)
    age, fare = rng.normal(40, 12, n), rng.lognormal(3, 0.8, n)
    before = {"age": age.copy(), "fare": fare, "ward": rng.choice([CATEGORY, "Plover"], n)}
    before["age"][5] = VALUE
    after = before | {"age": age + rng.normal(0, 2, n), "fare": fare * rng.uniform(0.9, 1.1, n)}
    book = Codebook(
        {
            "age": Variable(role="key", kind="continuous", unit="years"),
            "fare": Variable(role="key", kind="continuous"),
            "ward": Variable(role="key", kind="categorical"),
        }
    )
    return Pair(pl.DataFrame(before), pl.DataFrame(after), book, ("age", "fare"), ("ward",), aligned=True)


PICTURES = ("Scatter", "Risky", "RiskCurves", "Distribution", "Distribution", "Boxes", "Coefficients", "Strata")
"""Everything that is drawn, in this order."""


@cache
def pictures() -> tuple[Picture, ...]:
    """Everything that is drawn; made once, and not while tests are collected."""
    return draw_pictures(pair(), Measuring(w1=0.05, model="fare ~ C(ward) + age"))


def findings() -> Findings:
    """A line of every kind."""
    coefficient = f"C(ward)[T.{CATEGORY}]"
    lines = [
        Finding("k_anonymity", group="overall", value=COUNT, baseline=COUNT, limit=5, ok=True),
        Finding("class_size", group=f"ward={CATEGORY}", value=COUNT, limit=20, ok=True),
        Finding("class_size", group="ward=Plover", value=13, limit=20, ok=False),
        Finding("l_distinct", variable="outcome", group="overall", value=1, baseline=2),
        Finding("t_equal", variable="outcome", group="overall", value=0.41237, baseline=0.41237),
        Finding("risk1", at=0.01, value=0.0426487, baseline=1.0, limit=0.05, ok=True),
        Finding("risk2", at=0.05, value=0.0089785, baseline=0.2),
        Finding("linkage_nearest", group="overall", attack="nearest", value=0.14, baseline=0.78),
        Finding("linkage_nearest", group="stratum", attack="nearest", value=0.3719, baseline=0.84),
        Finding("linkage_nearest", group=f"ward={CATEGORY}", attack="nearest", value=0.5, baseline=0.9),
        Finding("linkage_one_to_one", group="overall", value=0.26, interval=(0.2412345, 0.31), baseline=0.8),
        Finding("unchanged", variable="age", value=0.25, baseline=1.0),
        Finding("out_of_range", variable="age", value=0.0056, baseline=0.0),
        Finding("u_trees", value=0.0123456),
        Finding("delta", variable="age", value=0.0113),
        Finding("delta", variable="fare", value=0.0473),
        Finding("mean", variable="age", value=4810.5, baseline=VALUE, limit=4815.1, ok=True),
        Finding("sd", variable="age", value=48.5, baseline=50.0),
        Finding("quantile", variable="age", at=0.5, value=4815.9, baseline=VALUE),
        Finding("quantile", variable="age", at=0.99, value=4815.9, baseline=VALUE),
        Finding("correlation", variable="age, fare", value=0.25, baseline=0.3098),
        Finding("standardised_difference", variable=coefficient, value=0.1667),
        Finding("standardised_difference", variable="age", value=1.25),
        Finding("ci_overlap", variable="age", value=0.87654),
        Finding("brought_by_a_plugin", value=COUNT, limit=9.0, ok=False),
    ]
    return Findings(tuple(lines), (f"Record {RECORD} was left out.",))


def report() -> Report:
    """The custodian's report."""
    averaged = Averaged(
        columns=("age", "fare"),
        by=("ward",),
        k=3,
        grouping="knn",
        rescaled=True,
        recentred=True,
        rounded=False,
        clipped=False,
    )
    dropped = Dropped(columns=("name",))
    return Report(
        title="Wards & <fares>",
        created=datetime.date(2025, 3, 14),
        version="0.2.0",
        steps=(
            StepDone("drop", False, dropped.sentence()),
            StepDone("centroids", True, averaged.sentence(), (f"{COUNT} values were clipped.",)),
        ),
        disclosure=Disclosure((dropped, averaged)),
        findings=findings(),
        plan_yaml=PLAN,
        fingerprint="3f9a51c207de",
        repeatable=True,
        warnings=(f"The id {RECORD} looks real.",),
        pictures=pictures(),
    )
