"""Protected fits over many samples: intervals hold the truth, and noise adds the variance that is told."""

import numpy as np
import pytest

from sfumato.kernels import glm
from sfumato.kernels.protected.fit import draws_of, fit
from sfumato.kernels.protected.regression import regression
from tests.kernels.protected.designs import KINDS, design, draws, records, response, subsample
from tests.kernels.protected.test_regression import TABLE

pytestmark = pytest.mark.slow

ALONE = ("mean", "quantile", "correlation", "t")
"""Kinds with one estimate or two: these need more samples for as small an error of a share."""


def intervals_hold_the_truth(kind, n, tau, samples=(300, 75), room=0.04):
    """.91 to .99: of 300 samples with one estimate a share has an error of .013, of 75 with five about .014."""
    rng, inside = np.random.default_rng(n), []
    for _ in range(samples[kind not in ALONE]):
        given, truth = records(kind, n, rng)
        noise = rng.normal(size=draws_of(kind, given["X"].shape[1]))
        found = fit(kind, **given, keep=subsample(given, rng), noise=noise, tau=tau)
        inside.append((found.low < truth) & (found.high > truth))
    assert np.mean(inside) == pytest.approx(0.95, abs=room)


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_truth(kind):
    intervals_hold_the_truth(kind, 500, 1.0)


@pytest.mark.nightly(of="tests/recovery/test_protected_fits.py::test_intervals_hold_the_truth")
@pytest.mark.parametrize(("n", "tau"), [(500, 1.0), (2000, 2.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_of_more_samples_and_records_hold_the_truth(kind, n, tau):
    """.93 to .97: of 1,200 samples with one estimate a share has an error of .006, of 250 with five about .008."""
    intervals_hold_the_truth(kind, n, tau, (1200, 250), 0.02)


def noise_adds_the_variance_that_is_told(kind, n, times):
    """Within three errors of a standard deviation of so many draws."""
    rng = np.random.default_rng(3)
    given, _ = records(kind, n, rng)
    keep, size = subsample(given, rng), draws_of(kind, given["X"].shape[1])
    found = [fit(kind, **given, keep=keep, noise=rng.normal(size=size), tau=2.0) for _ in range(times)]
    spread = np.std([f.estimate for f in found], axis=0)
    np.testing.assert_allclose(spread, np.mean([f.se_added for f in found], axis=0), rtol=3 / np.sqrt(2 * times))


@pytest.mark.parametrize("kind", KINDS)
def test_noise_adds_the_variance_that_is_told(kind):
    noise_adds_the_variance_that_is_told(kind, 2000, 80 if kind in ALONE else 50)


@pytest.mark.nightly(of="tests/recovery/test_protected_fits.py::test_noise_adds_the_variance_that_is_told")
@pytest.mark.parametrize("kind", KINDS)
def test_noise_adds_the_variance_that_is_told_in_more_draws(kind):
    noise_adds_the_variance_that_is_told(kind, 2000, 500)


@pytest.mark.parametrize(("family", "n", "tau", "ratio"), TABLE)
def test_standard_errors_beside_the_plain_fit(family, n, tau, ratio):
    rng, found = np.random.default_rng(n + 1), []
    for _ in range(100 if n < 10_000 else 30):
        X = design(n, rng)
        y = response(X, family, rng)
        plain = np.sqrt(np.diag(glm.fit(X, y, family).covariance))
        found.append(regression(family, X, y, **draws(n, 6, rng), tau=tau).se / plain)
    assert np.median(found) == pytest.approx(ratio, abs=0.03)


@pytest.mark.parametrize("size", [1, 15])
def test_clusters_of_every_size(size):
    """Clusters of one are plain records: with them a mixed model has the linear model's standard errors."""
    rng, inside, added = np.random.default_rng(size), [], []
    for _ in range(80):
        cluster = np.repeat(np.arange(400), size)
        X = design(len(cluster), rng)
        truth = np.array([-1.0, 0.5, 0.4, -0.3, 0.6, 0.2])
        between = 0.7 * rng.normal(size=400)[cluster] if size > 1 else 0.0
        y = X @ truth + between + rng.normal(size=len(cluster))
        keep, noise = (rng.random(400) < 0.95)[cluster], rng.normal(size=6)
        found = fit("mixed", X, y, cluster=cluster, keep=keep, noise=noise, tau=1.0)
        inside.append((found.low < truth) & (found.high > truth))
        if size == 1:
            added.append(found.se_added / fit("linear", X, y, keep=keep, noise=noise, tau=1.0).se_added)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)
    if size == 1:
        assert np.mean(added) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(("left", "rounded"), [(0.2, None), (1.0, 0.2), (100.0, None)])
def test_times_with_few_events_ties_and_none_left(left, rounded):
    """Nearly all leave early, times in coarse steps (coefficients a little nearer 0), all have their event."""
    rng, inside = np.random.default_rng(int(left)), []
    truth = np.array([0.5, 0.4, -0.3, 0.6, 0.2])
    for _ in range(120):
        X = design(1000, rng)[:, 1:]
        time, gone = rng.exponential(np.exp(-X @ truth)), rng.exponential(left, size=1000)
        event, seen = time <= gone, np.minimum(time, gone)
        seen = np.ceil(seen / rounded) if rounded else seen
        found = fit("cox", X, seen, event=event, **draws(1000, 5, rng), tau=1.0)
        inside.append((found.low < truth) & (found.high > truth))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_means_of_costs():
    """A lognormal of σ = .7: what is clipped costs less than half a standard error, and less the more records."""
    truth = np.exp(0.245)
    for n, least in ((2000, 0.87), (20_000, 0.90)):
        rng, inside = np.random.default_rng(n), []
        for _ in range(150):
            y = np.exp(0.7 * rng.normal(size=n))
            found = fit("mean", np.ones((n, 1)), y, **draws(n, 1, rng))
            inside.append(found.low[0] < truth < found.high[0])
        assert np.mean(inside) >= least
