"""The trends of the sensitivity study (docs/sensitivity.md): what rises and what falls with k, and with n.

Avraam, Jones & Burton (2021), doi:10.21203/rs.3.rs-344334/v1, Figures 7 and 8, as far as they hold on the stand-in for
their cohort. Margin: from each point to the next the mean over the data sets moves the right way by more than two
standard errors of the difference. The tables are the same for every k (so the difference is paired) and differ between
sizes.
"""

import numpy as np
import pytest
from benchmarks.sensitivity import COHORT, MEASURES, PUBLISHED, release_of, run

from sfumato.measures.risk.linkage import linkage_nearest

pytestmark = pytest.mark.slow

DATASETS = 20
FEWER = 12
"""Where changes are large beside their errors: by n, and of the cohort."""
STANDARD_ERRORS = 2
UTILITY = [m for m in MEASURES if m == "U" or m.startswith("delta")]
DIFFERENCES = [m for m in MEASURES if m.startswith("difference")]


@pytest.fixture(scope="module")
def by_k():
    return run([(500, k) for k in (3, 15, 46)], DATASETS)


@pytest.fixture(scope="module")
def by_n():
    return run([(n, 5) for n in (100, 1000, 3000)], FEWER)


def steps(found, measure, paired):
    """Change from each point to the next in standard errors, shape (points − 1,)."""
    values = found[:, :, MEASURES.index(measure)]
    change = np.diff(values.mean(axis=1))
    if paired:
        error = np.diff(values, axis=0).std(axis=1, ddof=1)
    else:
        variance = values.var(axis=1, ddof=1)
        error = np.sqrt(variance[1:] + variance[:-1])
    return change / (error / np.sqrt(values.shape[1]))


@pytest.mark.parametrize("measure", [*UTILITY, *DIFFERENCES])
def test_loss_of_utility_rises_with_k(by_k, measure):
    assert steps(by_k, measure, paired=True).min() > STANDARD_ERRORS


def test_risk1_falls_with_k(by_k):
    assert steps(by_k, "risk1", paired=True).max() < -STANDARD_ERRORS


@pytest.mark.parametrize("measure", UTILITY)
def test_u_and_delta_fall_with_n(by_n, measure):
    assert steps(by_n, measure, paired=False).max() < -STANDARD_ERRORS


@pytest.mark.parametrize("measure", ["risk1", "risk2"])
def test_risks_rise_with_n(by_n, measure):
    assert steps(by_n, measure, paired=False).min() > STANDARD_ERRORS


def test_linkage_stays_far_above_guessing_among_k(by_k):
    linkage = by_k[:, :, MEASURES.index("linkage")]
    assert (linkage.min(axis=1) > 2 / np.array([3, 15, 46])).all()


def test_disjoint_groups_of_three_are_linked_less_than_half_as_often_as_neighbourhoods_of_twenty():
    linked = {}
    for k, grouping in ((3, "mdav"), (20, "knn")):
        pairs = (release_of(500, k, seed, grouping=grouping) for seed in range(1, 6))
        linked[grouping] = np.mean([linkage_nearest(p.x, p.z, p.stratum) for p in pairs])
    assert linked["mdav"] < linked["knn"] / 2


def test_what_was_published_for_the_cohort_itself():
    """The cohort is one sample like these tables: its figures lie within three of their standard deviations.

    Not so delta of glucose and height (heavier tails), which the page says.
    """
    near_what_was_published(FEWER)


def near_what_was_published(datasets):
    found = run([COHORT], datasets)[0]
    mean, sd = found.mean(axis=0), found.std(axis=0, ddof=1)
    for j, measure in enumerate(MEASURES):
        if measure in PUBLISHED and measure not in ("delta glucose", "delta height"):
            assert abs(PUBLISHED[measure] - mean[j]) < 3 * sd[j], measure


@pytest.mark.nightly(of="tests/recovery/test_sensitivity.py::test_u_and_delta_fall_with_n")
def test_trends_by_n_over_20_tables():
    found = run([(n, 5) for n in (100, 1000, 3000)], DATASETS)
    assert max(steps(found, measure, paired=False).max() for measure in UTILITY) < -STANDARD_ERRORS
    assert min(steps(found, measure, paired=False).min() for measure in ("risk1", "risk2")) > STANDARD_ERRORS


@pytest.mark.nightly(of="tests/recovery/test_sensitivity.py::test_what_was_published_for_the_cohort_itself")
def test_what_was_published_lies_near_20_tables():
    near_what_was_published(DATASETS)
