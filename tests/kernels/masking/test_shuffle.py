import numpy as np
import pytest
from scipy.stats import norm

from sfumato.kernels.masking.shuffle import draw_scores, explained, normal_scores


def test_scores_are_normal_quantiles_of_ranks():
    """Φ⁻¹(rank / (n + 1)), standardised; by scipy's own quantile."""
    x = np.array([3.0, np.nan, 8.0, -1.0, 5.0])
    scores, kept = normal_scores(x)
    expected = norm.ppf(np.array([2, 4, 1, 3]) / 5)
    np.testing.assert_allclose(scores[[0, 2, 3, 4]], expected / expected.std(), rtol=1e-12)
    assert np.isnan(scores[1])
    assert kept == 1.0


def test_equal_values_share_their_scores():
    scores, kept = normal_scores(np.array([1.0, 1.0, 2.0, 2.0]))
    assert scores[0] == scores[1] == pytest.approx(-1.0)
    single = norm.ppf(np.arange(1, 5) / 5)
    assert kept == pytest.approx(abs(single[:2].mean()) / single.std())
    assert normal_scores(np.array([4.0, 4.0, np.nan]))[0][:2].tolist() == [0.0, 0.0]
    assert np.isnan(normal_scores(np.full(3, np.nan))[0]).all()


def test_what_is_given_explains_a_share():
    """ρ² of two normal variables, and the same where one is cut into three: the variable behind it is meant."""
    rng = np.random.default_rng(1)
    s = rng.normal(size=200_000)
    x = 0.8 * s + 0.6 * rng.normal(size=len(s))
    given = (s - s.mean())[:, None]
    assert explained(*normal_scores(x), given)[1] == pytest.approx(0.64, abs=0.01)
    assert explained(*normal_scores(np.digitize(x, [-0.5, 0.7]).astype(float)), given)[1] == pytest.approx(
        0.64, abs=0.02
    )


def test_drawn_scores_have_the_law_of_the_old_ones():
    """Correlations of three columns with two given ones and with each other; 5 standard errors of a correlation."""
    rng = np.random.default_rng(2)
    root = np.linalg.cholesky(0.5 + 0.5 * np.eye(5))
    x = rng.normal(size=(50_000, 5)) @ root.T
    scores = np.column_stack([normal_scores(c)[0] for c in x.T])
    drawn = draw_scores(scores[:, :3], np.ones(3), scores[:, 3:], rng.normal(size=(50_000, 3)))
    new = np.corrcoef(np.column_stack([drawn, scores[:, 3:]]).T)
    np.testing.assert_allclose(new, np.corrcoef(scores.T), atol=5 / np.sqrt(50_000))
    assert drawn.std(axis=0) == pytest.approx(np.ones(3), abs=0.02)


def test_drawn_scores_tell_no_more_of_the_old_ones_than_what_is_given():
    """The partial correlation of drawn and old given the others is 0: 5 standard errors."""
    rng = np.random.default_rng(3)
    s = rng.normal(size=50_000)
    x = 0.7 * s + np.sqrt(0.51) * rng.normal(size=len(s))
    scores, given = normal_scores(x)[0], (s - s.mean())[:, None]
    drawn = draw_scores(scores[:, None], np.ones(1), given, rng.normal(size=(len(s), 1)))[:, 0]
    rest = [v - given @ np.linalg.lstsq(given, v, rcond=None)[0] for v in (scores, drawn)]
    assert abs(np.corrcoef(rest)[0, 1]) < 5 / np.sqrt(len(s))


def test_columns_that_never_meet_are_drawn_by_themselves():
    scores = np.array([[1.0, np.nan], [-1.0, np.nan], [np.nan, 1.0], [np.nan, -1.0]])
    z = np.arange(8.0).reshape(4, 2)
    np.testing.assert_allclose(draw_scores(scores, np.ones(2), np.empty((4, 0)), z), z)


def test_correlations_that_contradict_each_other_are_no_obstacle():
    """By pairs of missing values a matrix may have a negative eigenvalue, which counts as none."""
    a, b = np.array([1.0, -1.0]), np.full(2, np.nan)
    scores = np.vstack([np.column_stack(rows) for rows in ((a, a, b), (b, a, a), (a, b, -a))])
    drawn = draw_scores(scores, np.ones(3), np.empty((6, 0)), np.random.default_rng(1).normal(size=(6, 3)))
    assert np.isfinite(drawn).all()
