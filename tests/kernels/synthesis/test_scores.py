"""Normal scores, and back."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from sfumato.kernels.synthesis.scores import Scores


def test_scores_are_those_of_the_ranks():
    y = np.random.default_rng(1).lognormal(size=200)
    scores = Scores(y)
    z = norm.ppf(rankdata(y) / 201)
    np.testing.assert_allclose(scores.of(y), z / z.std(), rtol=1e-10)
    assert scores.kept == pytest.approx(1)


def test_equal_numbers_share_the_mean_of_their_scores():
    y = np.array([3.0, 1.0, 3.0, 2.0, 3.0])
    z = norm.ppf(np.arange(1, 6) / 6)
    z /= z.std()
    scores = Scores(y)
    np.testing.assert_allclose(scores.of(np.array([1.0, 2.0, 3.0])), [z[0], z[1], z[2:].mean()], rtol=1e-10)
    assert scores.kept == pytest.approx((z[0] ** 2 + z[1] ** 2 + 3 * z[2:].mean() ** 2) / 5)


@pytest.mark.parametrize("smooth", [False, True])
def test_scores_of_normals_give_the_margin_back(smooth):
    """10^5 draws: the share below each tenth is off by less than four standard errors and one rank."""
    y = np.random.default_rng(2).lognormal(size=999)
    drawn = Scores(y).back(norm.ppf((np.arange(10**5) + 0.5) / 10**5), smooth=smooth)
    for share in np.arange(0.1, 1, 0.1):
        assert np.mean(drawn <= np.quantile(y, share)) == pytest.approx(share, abs=2e-3)
    assert drawn.min() == y.min()
    assert drawn.max() == y.max()
    assert set(drawn) <= set(y) or smooth


def test_between_neighbours_numbers_lie_on_the_line():
    scores = Scores(np.array([0.0, 10.0, 40.0]))
    at = norm.ppf((np.array([0.5, 1.25]) + 1) / 4)  # half of the way to the second, a quarter of that to the third
    np.testing.assert_allclose(scores.back(at, smooth=True), [5.0, 17.5], rtol=1e-10)


@pytest.mark.parametrize("y", [[], [7.0], [7.0, 7.0, 7.0]])
def test_few_numbers_have_scores_too(y):
    scores = Scores(np.array(y))
    assert scores.of(np.array([1.0, 7.0, 9.0])) == pytest.approx([0, 0, 0], abs=1e-9)
    if y:
        assert scores.back(np.array([-1.0, 2.0]), smooth=True).tolist() == [7.0, 7.0]
