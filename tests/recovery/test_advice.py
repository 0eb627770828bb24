"""What advice proposes does what it promises: each change mends the figure that it is proposed for."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.examples.cohort import _REGIONS
from sfumato.measures.subject import WIDE
from sfumato.report import remedy
from tests.release.brief import measured_briefly

pytestmark = pytest.mark.slow


@cache
def people():
    return sf.examples.cohort(900).select("id", "sex", "region", "smoker", "asthma", "height", "bmi")


def whole():
    return people().with_columns(pl.col("height", "bmi").round())


def twice():
    return pl.concat([people(), people().with_columns(pl.col("id") + 5000)])


def follows():
    return people().with_columns(bmi=pl.col("height") / 5 + pl.col("bmi") / 12)


def split():
    return people().with_columns(bmi=pl.col("bmi") + 8 * (pl.col("sex") == people()["sex"][0]))


def skewed():
    return people().with_columns(bmi=10 + 60 * ((pl.col("bmi") - 10 + pl.col("id") / 1e4) / 60) ** 4)


VARIABLES = {
    "id": {"role": "record"},
    "sex": {"role": "key", "kind": "categorical"},
    "region": {"role": "key", "kind": "categorical"},
    "smoker": {"role": "key", "kind": "categorical"},
    "asthma": {"role": "outcome", "kind": "categorical"},
    "height": {"role": "key", "kind": "continuous", "range": [100, 230]},
    "bmi": {"role": "key", "kind": "continuous", "range": [10, 70]},
}
APART = {"group": "worst", "at": 0.0}
STRATA = {"group": "strata"}
GROUPED = {"by": ("sex", "region"), "on_small": "merge"}
SMOKER = {"columns": ("smoker",), "share": None}


@cache
def homes(n=400):
    """People in households in districts of regions, who are older in some regions than in others."""
    rng = np.random.default_rng(1)
    size = rng.choice([1, 2, 3, 4], n)
    home = np.repeat(np.arange(n), size)
    region = rng.integers(0, 3, n)[home]
    return pl.DataFrame(
        {
            "id": np.arange(len(home)),
            "household": home,
            "region": np.array(["A", "B", "C"])[region],
            "district": rng.choice(["east", "west", "north", "south"], n)[home],
            "size": size[home],
            "sex": rng.choice(["f", "m"], len(home)),
            "age": np.minimum(rng.geometric(0.15, len(home)), 25) // 5 * 5 + 20 * region,
        }
    )


HOME_VARIABLES = {
    "id": {"role": "record"},
    "household": {"role": "household"},
    **{name: {"role": "key", "kind": "categorical"} for name in ("region", "district", "sex")},
    **{name: {"role": "key", "kind": "integer"} for name in ("size", "age")},
}


def centroids(**more):
    return sf.steps.Centroids(**{"columns": ("height", "bmi"), "k": 4, **more})


def noise(**more):
    return sf.steps.Noise(**{"columns": ("height", "bmi"), "share": 0.05, **more})


def swap_households(rate, similar=(("size",),)):
    areas = ("region", "district")
    return sf.steps.SwapHouseholds(
        geography=areas, keys=("sex", "age"), similar=similar, rate=rate, on_unswapped="keep"
    )


def shuffle(*given):
    return sf.steps.Shuffle(columns=("bmi",), given=given)


def synthetic(**more):
    return sf.steps.Synthesise(**{"columns": "all", "copies": 1, **more})


def drawn(group):
    return sf.steps.Swap(columns=("sex", "smoker", "height", "bmi"), group=group, perturb=0.02)


def pram(retention):
    return sf.steps.Pram(columns=("smoker",), retention=retention)


def swap(window):
    return sf.steps.Swap(columns=("height", "bmi"), window=window)


def broader():
    return sf.steps.Recode(columns=("region",), map=dict.fromkeys(_REGIONS[1:], "other"))


def suppressed():
    return sf.steps.SuppressStrata(by=("sex", "region"), min_count=70, max_suppressed=1)


ALONE = {"columns": ("bmi",), "k": 3, "round_to": None}
SOLVED = {"variable": "bmi", "group": "all", "at": 0.01}
WEAK = noise(**SMOKER, variance=0.05)
PAIRS = {"group": "two-way"}
BANDS = sf.steps.Recode(columns=("bmi", "height"), band={"n": 4})
ALIKE = ("size", "sex", "age")

CASES = [
    (remedy._LARGER_K, [centroids()], [centroids(k=12)], "linkage_nearest", {}, people),
    (remedy._DISJOINT, [centroids()], [centroids(grouping="mdav")], "linkage_nearest", {}, people),
    (remedy._SMALLER_K, [centroids(k=12)], [centroids()], "delta", {}, people),
    (remedy._FEWER_STRATA, [centroids(**GROUPED)], [centroids()], "delta", {}, people),
    (remedy._MORE_NOISE, [noise()], [noise(share=0.5)], "h_rank", {"group": "all", "at": 0.0}, people),
    (remedy._LESS_NOISE, [noise(share=0.5)], [noise()], "delta", {}, people),
    (remedy._MORE_EXCHANGED, [pram(0.95)], [pram(0.7)], "attribute_posterior", {}, people),
    (remedy._FEWER_EXCHANGED, [pram(0.7)], [pram(0.95)], "u_trees", {}, people),
    (remedy._WIDER, [swap(0.01)], [swap(0.2)], "linkage_nearest", {}, people),
    (remedy._NARROWER, [swap(0.2)], [swap(0.01)], "delta", {}, people),
    (remedy._LARGER_GROUPS, [drawn(5)], [drawn(30)], "linkage_nearest", {}, people),
    (remedy._SMALLER_GROUPS, [drawn(60)], [drawn(5)], "relations_shift", {}, people),
    (remedy._DISTINCT, [centroids(k=3)], [centroids(k=3, distinct=True)], "unchanged", {}, twice),
    (
        remedy._UNCLIPPED,
        [noise(**SMOKER, variance=0.2, clip=True)],
        [noise(**SMOKER, variance=0.2)],
        "unchanged",
        {},
        people,
    ),
    (remedy._FINER, [noise(share=0.01, round_to=1.0)], [noise(share=0.01, round_to=0.1)], "unchanged", {}, whole),
    (
        remedy._STRONGER,
        [noise(share=0.01, round_to=1.0)],
        [noise(share=0.2, round_to=1.0)],
        "unchanged",
        {},
        whole,
    ),
    (remedy._GROW, [noise()], [noise(grow=2)], "h_rank", APART, people),
    (remedy._GROW_SOONER, [noise(grow=4)], [noise(grow=1.5)], "h_rank", APART, people),
    (
        remedy._MEANS,
        [centroids(recentre=False, moments="exact")],
        [centroids(moments="exact")],
        "mean",
        {},
        people,
    ),
    (
        remedy._BLUR,
        [centroids(**ALONE)],
        [centroids(**{**ALONE, "round_to": "input"}, blur=0.1)],
        "reconstruction",
        SOLVED,
        skewed,
    ),
    (
        remedy._MORE_COLUMNS,
        [centroids(**ALONE)],
        [centroids(**ALONE | {"columns": ("bmi", "height")})],
        "reconstruction",
        SOLVED,
        skewed,
    ),
    (remedy._SPREAD, [centroids(rescale=False)], [centroids()], "sd", {}, people),
    (
        remedy._CLIP,
        [noise(share=3.0)],
        [noise(share=3.0, clip={"bmi": [10, 70], "height": [100, 230]})],
        "out_of_range",
        {},
        people,
    ),
    (remedy._TOP_CODE, [noise()], [noise(clip={"bmi": [20, 32], "height": [155, 185]})], "h_rank", APART, people),
    (remedy._BROADER, [centroids(**GROUPED)], [broader(), centroids(**GROUPED)], "k_anonymity", STRATA, people),
    (remedy._SUPPRESS, [centroids(**GROUPED)], [suppressed(), centroids(**GROUPED)], "k_anonymity", STRATA, people),
    (
        remedy._NOISIER,
        [WEAK],
        [noise(**SMOKER, variance=0.5)],
        "attribute_posterior",
        {},
        people,
    ),
    (remedy._PRAM, [WEAK], [pram(0.7)], "attribute_posterior", {}, people),
    (remedy._FEWER_GIVEN, [shuffle("height", "smoker")], [shuffle("smoker")], "linkage_nearest", {}, follows),
    (remedy._MORE_GIVEN, [shuffle("smoker")], [shuffle("smoker", "sex")], "table_ratio", PAIRS, split),
    (remedy._MORE_AREAS, [swap_households(0.05)], [swap_households(0.5)], "match_correct", {}, homes),
    (remedy._FEWER_AREAS, [swap_households(0.5)], [swap_households(0.02)], "table_ratio", PAIRS, homes),
    (
        remedy._BROADER_PROFILES,
        [swap_households(0.05, (ALIKE,))],
        [swap_households(0.05, (ALIKE, ("size",)))],
        "match_correct",
        {},
        homes,
    ),
    (remedy._LARGER_LEAVES, [synthetic()], [synthetic(min_leaf=50)], "replicated_uniques", {}, people),
    (remedy._SMALLER_LEAVES, [synthetic(min_leaf=300)], [synthetic()], "table_ratio", PAIRS, follows),
    (remedy._COARSER_FIRST, [synthetic()], [BANDS, synthetic()], "replicated_uniques", {}, people),
    (remedy._FEWER_COPIES, [synthetic(copies=5)], [synthetic()], "membership", {"group": "auc"}, people),
    (
        remedy._SMOOTH,
        [synthetic(columns=("height",))],
        [synthetic(columns=("height",), smooth=True)],
        "unchanged",
        {},
        whole,
    ),
]
ELSEWHERE = {
    remedy._IN_THE_MODEL,  # of `fit`: tests/recovery/test_fit_recovery.py
    remedy._EXCHANGE_IN_THE_MODEL,
    remedy._OUT,  # a column that is not there has no figure
    remedy._OUTCOME,
    remedy._ROUNDED,  # of two releases: tests/measures/risk/differencing
    remedy._BLUR_CHANGES,
    remedy._PERTURB,
    remedy._ONE_STRENGTH,
    remedy._NOT_AGAIN,
    remedy._NO_MORE,
    remedy._MERGE,  # without it small strata are an error: tests/methods/centroids
}


def bad(steps, frame, measure, where):
    """How bad a figure of a release is: the larger, the worse."""
    key = repr((steps, frame.__name__, measure, where))
    if key not in FOUND:
        FOUND[key] = _bad(steps, frame, measure, where)
    return FOUND[key]


FOUND = {}
"""Several changes begin from the same release."""


def _bad(steps, frame, measure, where):
    variables = HOME_VARIABLES if frame is homes else VARIABLES
    asked = [{"measure": measure, "at_most": 1.0}] if measure == "membership" else []  # measured where a limit asks
    plan = sf.Plan(variables=variables, steps=tuple(steps), limits=asked)
    with measured_briefly(measure):
        found = sf.protect(plan, frame(), secret=bytes(range(32))).report.findings.select(measure, **where)
    lines = [f for f in found if f.group not in WIDE]  # who knows all other columns, no step hinders
    if measure in ("mean", "sd"):
        return max(abs(f.value - f.baseline) for f in lines)
    return -min(f.value for f in lines) if measure == "k_anonymity" else max(f.value for f in lines)


@pytest.mark.parametrize(
    ("change", "before", "after", "measure", "where", "frame"), CASES, ids=[c[0].text[:40] for c in CASES]
)
def test_a_change_mends_the_figure_that_it_is_proposed_for(change, before, after, measure, where, frame):
    assert bad(after, frame, measure, where) < bad(before, frame, measure, where)


def test_every_change_that_may_be_proposed_is_tried():
    shared = {c for changes in remedy._SHARED.values() for c in changes}
    proposed = {c for by_aim in remedy._CHANGES.values() for changes in by_aim.values() for c in changes} | shared
    tried = {case[0] for case in CASES}
    assert {c.text for c in proposed - ELSEWHERE} <= {c.text for c in tried}
