"""Protected random intercepts: the linear model where clusters are records, and whole clusters bounded else."""

import numpy as np
import pytest

from sfumato.kernels import random_intercept
from sfumato.kernels.protected.mixed import mixed
from sfumato.kernels.protected.regression import regression
from tests.kernels.protected.designs import design, draws, records, response, subsample


def test_clusters_of_one_are_a_linear_model():
    """The same weights and the same clip; the bound's two digits may be rounded up at another place."""
    rng = np.random.default_rng(1)
    X = design(3000, rng)
    y, given = response(X, "linear", rng), draws(3000, 6, rng)
    ours, theirs = mixed(X, y, np.arange(3000), **given, tau=1.0), regression("linear", X, y, **given, tau=1.0)
    np.testing.assert_allclose(ours.estimate, theirs.estimate, atol=0.2 * theirs.se.min())
    np.testing.assert_allclose(ours.se, theirs.se, rtol=0.03)
    assert ours.bound == pytest.approx(theirs.bound, rel=0.06)
    assert ours.n == theirs.n


def test_without_noise_it_comes_near_the_plain_fit():
    rng = np.random.default_rng(2)
    given, _ = records("mixed", 1500, rng)
    keep = np.ones(len(given["y"]), dtype=bool)
    ours = mixed(given["X"], given["y"], given["cluster"], keep=keep, noise=np.zeros(6), tau=1e-3)
    theirs = random_intercept.fit(given["X"], given["y"], given["cluster"])
    se = np.sqrt(np.diag(theirs.covariance))
    assert np.all(np.abs(ours.estimate - theirs.coefficients) < 0.7 * se)
    np.testing.assert_allclose(ours.se, se, rtol=0.12)
    assert ours.n == 1500


def test_intervals_hold_the_truth():
    """40 samples of six coefficients: a share's standard error is .014."""
    rng, inside = np.random.default_rng(3), []
    for _ in range(40):
        given, truth = records("mixed", 300, rng)
        found = mixed(given["X"], given["y"], given["cluster"], keep=subsample(given, rng), noise=rng.normal(size=6))
        inside.append((found.low < truth) & (found.high > truth))
    assert 0.9 < np.mean(inside) < 0.995


def test_names_and_order_of_clusters_change_nothing():
    rng = np.random.default_rng(4)
    given, _ = records("mixed", 200, rng)
    keep, noise = subsample(given, rng), np.ones(6)
    one = mixed(given["X"], given["y"], given["cluster"], keep=keep, noise=noise)
    turn = rng.permutation(len(keep))
    named = 7 - 3 * given["cluster"]
    two = mixed(given["X"][turn], given["y"][turn], named[turn], keep=keep[turn], noise=noise)
    np.testing.assert_allclose(two.estimate, one.estimate, rtol=1e-7)
    np.testing.assert_allclose(two.se, one.se, rtol=1e-7)
