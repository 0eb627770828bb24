import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.sampling.importance import adapted_sample, importance_sample, pareto_k


def test_moments_of_a_skewed_density_come_back():
    """A gamma density of shape 20 under a normal approximation at its mode; mean 20, variance 20.

    Monte-Carlo errors of 20,000 draws are about .04 and .3; four of these.
    """
    mode, variance = np.array([19.0]), np.array([[19.0]])
    sample = importance_sample(
        lambda x: stats.gamma(20).logpdf(x[:, 0]), mode, variance, 20000, np.random.default_rng(1)
    )
    mean = sample.weights @ sample.draws[:, 0]
    assert mean == pytest.approx(20, abs=0.16)
    assert sample.weights @ (sample.draws[:, 0] - mean) ** 2 == pytest.approx(20, abs=1.2)
    assert sample.k < 0.7
    assert 10000 < sample.effective < 20000
    drawn = sample.draws[sample.chosen(5000, np.random.default_rng(2))]
    assert drawn.mean() == pytest.approx(mean, abs=0.05)


def test_a_target_with_heavier_tails_is_told():
    """Cauchy weights against t₇ proposals: the weights' tail has shape 1 − 1/7 or more."""
    sample = importance_sample(
        lambda x: stats.cauchy.logpdf(x[:, 0]), np.zeros(1), 0.1 * np.eye(1), 20000, np.random.default_rng(3)
    )
    assert sample.k > 0.7


def test_directions_without_variance_stay_at_the_mode():
    sample = importance_sample(
        lambda x: -0.5 * x[:, 0] ** 2, np.array([0.0, 3.0]), np.diag([1.0, 0.0]), 500, np.random.default_rng(4)
    )
    np.testing.assert_array_equal(sample.draws[:, 1], 3.0)


def far(x):
    """A normal density with mean (3, −2), standard deviations 2 and 3, correlation .6."""
    return stats.multivariate_normal([3, -2], [[4, 3.6], [3.6, 9]]).logpdf(x)


def test_a_proposal_in_the_wrong_place_is_moved():
    """Begun at 0 with variances of .25; Monte-Carlo errors of 400 draws at least are sd/20, of variances 7%: four."""
    started = importance_sample(far, np.zeros(2), 0.25 * np.eye(2), 4000, np.random.default_rng(5))
    moved = adapted_sample(far, np.zeros(2), 0.25 * np.eye(2), 4000, np.random.default_rng(5))
    assert not started.trusted
    assert moved.trusted
    mean = moved.weights @ moved.draws
    np.testing.assert_allclose(mean, [3, -2], atol=4 * 3 / 20)
    gap = moved.draws - mean
    np.testing.assert_allclose(gap.T @ (gap * moved.weights[:, None]), [[4, 3.6], [3.6, 9]], rtol=0.28)


def test_what_no_proposal_of_its_kind_reaches_is_not_trusted():
    """Three thin parabolas: an ellipsoid that holds them is nearly all empty."""

    def bent(x):
        return -0.5 * (x[:, :3] ** 2).sum(axis=1) - 0.5 * (((x[:, 3:] - 3 * x[:, :3] ** 2) / 0.05) ** 2).sum(axis=1)

    assert not adapted_sample(bent, np.zeros(6), 0.05 * np.eye(6), 4000, np.random.default_rng(6)).trusted


@pytest.mark.parametrize("k", [0.3, 0.7, 1.0])
def test_the_shape_of_a_pareto_tail_is_found(k):
    """Quantiles of a generalised Pareto distribution; the estimate is drawn a little towards .5."""
    weights = stats.genpareto(k).ppf((np.arange(20000) + 0.5) / 20000)
    assert pareto_k(weights) == pytest.approx(k, abs=0.06)


def test_equal_weights_have_no_tail_to_fit():
    assert pareto_k(np.ones(1000)) == np.inf
