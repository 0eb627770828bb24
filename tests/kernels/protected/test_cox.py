"""Protected proportional hazards: near the plain fit, with scores that stay within their bound."""

import numpy as np
import pytest

from sfumato.kernels import cox as plain
from sfumato.kernels.protected.cox import cox
from tests.kernels.protected.designs import records, subsample


def test_without_noise_it_comes_near_the_plain_fit():
    """What is left are shorter times and weights on one record in a hundred."""
    given, _ = records("cox", 4000, np.random.default_rng(1))
    ours = cox(given["X"], given["y"], given["event"], keep=np.ones(4000, dtype=bool), noise=np.zeros(5), tau=1e-3)
    theirs = plain.fit(given["X"], given["y"], given["event"])
    se = np.sqrt(np.diag(theirs.covariance))
    assert np.all(np.abs(ours.estimate - theirs.coefficients) < 0.7 * se)
    np.testing.assert_allclose(ours.se, se, rtol=0.1)


@pytest.mark.slow
def test_intervals_hold_the_truth():
    """40 samples of five coefficients: a share's standard error is .015."""
    rng, inside = np.random.default_rng(2), []
    for _ in range(40):
        given, truth = records("cox", 600, rng)
        keep, noise = subsample(given, rng), rng.normal(size=5)
        found = cox(given["X"], given["y"], given["event"], keep=keep, noise=noise, tau=1.0)
        inside.append((found.low < truth) & (found.high > truth))
    assert 0.9 < np.mean(inside) < 0.995


def test_only_the_order_of_times_counts():
    given, _ = records("cox", 800, np.random.default_rng(3))
    keep, noise = np.ones(800, dtype=bool), np.ones(5)
    one, two = (cox(given["X"], time, given["event"], keep=keep, noise=noise) for time in (given["y"], given["y"] ** 3))
    np.testing.assert_allclose(two.estimate, one.estimate, rtol=1e-9)
    np.testing.assert_allclose(two.se, one.se, rtol=1e-9)


def test_ties_take_efrons_means():
    """Times in ten steps: Breslow's means would pull the coefficients towards 0 by more than two standard errors."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(6000, 1))
    time = np.minimum(np.ceil(10 * -np.log(rng.random(6000)) * np.exp(-X[:, 0])), 10)
    event, keep = time < 10, np.ones(6000, dtype=bool)
    ours = cox(X, time, event, keep=keep, noise=np.zeros(1), tau=1.0)
    theirs = plain.fit(X, time, event)
    assert ours.estimate[0] == pytest.approx(theirs.coefficients[0], abs=ours.se[0])
