"""Robust covariances against statsmodels; families that the plain kernel lacks against it too."""

import numpy as np
import pytest

from sfumato.inference.estimators.naive import plain_fit, sandwich
from sfumato.kernels.likelihood.response import Linear, Poisson
from tests.late import late

sm = late("statsmodels.api")

RNG = np.random.default_rng(1)
X = np.column_stack([np.ones(300), RNG.normal(size=(300, 2))])
CLUSTER = np.repeat(np.arange(50), 6)


def test_a_linear_fit_by_clusters_is_statsmodels():
    """Their factor for clusters is m/(m − 1) · (n − 1)/(n − p), ours m/(m − 1)."""
    rng = np.random.default_rng(2)
    y = X @ [1, 0.5, -0.3] + rng.normal(size=50)[CLUSTER] + rng.normal(size=300)
    none = np.full(300, np.nan)
    ours = plain_fit(
        X, Linear(y, np.zeros(300), none, none), np.ones(300), np.zeros(3), np.zeros(1), "linear", True, CLUSTER, False
    )
    theirs = sm.OLS(y, X).fit(cov_type="cluster", cov_kwds={"groups": CLUSTER})
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diagonal(ours.covariance)), theirs.bse * np.sqrt(297 / 299), rtol=1e-6)


@pytest.mark.parametrize("robust", [False, True])
def test_counts_are_statsmodels(robust):
    y = np.random.default_rng(3).poisson(np.exp(X @ [0.2, 0.5, -0.3])).astype(float)
    ours = plain_fit(X, Poisson(y), np.ones(300), np.zeros(3), np.zeros(0), "poisson", robust, None, False)
    theirs = sm.Poisson(y, X).fit(disp=0, tol=1e-12, cov_type="HC0" if robust else "nonrobust")
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-7)
    factor = np.sqrt(300 / 299) if robust else 1
    np.testing.assert_allclose(np.sqrt(np.diagonal(ours.covariance)), theirs.bse * factor, rtol=1e-6)


def test_a_sandwich_sums_within_clusters():
    scores = np.array([[1.0], [2.0], [-3.0], [0.5]])
    ours = sandwich(np.eye(1), scores, np.array([3, 0, 1, 2]), np.array([7, 7, 9, 9]))
    # rows 3, 0, 1, 2 are of clusters 9, 7, 7, 9: sums 1.5 and −1
    assert ours[0, 0] == pytest.approx(2 * (1.5**2 + 1))


def test_the_own_share_is_that_of_a_regression_on_the_other_columns():
    """√(1 − R²) by statsmodels, for columns of which two hang together."""
    Z = np.column_stack([X, X[:, 1] + 0.1 * X[:, 2] ** 2])
    none = np.full(300, np.nan)
    y = np.random.default_rng(4).normal(size=300)
    found = plain_fit(
        Z, Linear(y, np.zeros(300), none, none), np.ones(300), np.zeros(4), np.zeros(1), "linear", True, None, False
    )
    others = [np.delete(Z, j, axis=1) for j in (1, 2, 3)]
    wanted = [np.sqrt(1 - sm.OLS(Z[:, j], other).fit().rsquared) for j, other in zip((1, 2, 3), others, strict=True)]
    np.testing.assert_allclose(found.own[1:], wanted, rtol=1e-8)
    np.testing.assert_allclose(found.spread[1:], Z[:, 1:].std(axis=0), rtol=1e-12)
