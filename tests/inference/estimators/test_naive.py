"""Robust covariances against statsmodels; families that the plain kernel lacks against it too."""

import numpy as np
import pytest

from sfumato.inference.estimators.naive import plain_fit
from sfumato.kernels.likelihood.response import Linear, Poisson
from tests.late import late

sm = late("statsmodels.api")

RNG = np.random.default_rng(1)
X = np.column_stack([np.ones(300), RNG.normal(size=(300, 2))])
CLUSTER = np.repeat(np.arange(50), 6)


def test_a_linear_fit_by_clusters_is_statsmodels():
    rng = np.random.default_rng(2)
    y = X @ [1, 0.5, -0.3] + rng.normal(size=50)[CLUSTER] + rng.normal(size=300)
    none = np.full(300, np.nan)
    ours = plain_fit(
        X, Linear(y, np.zeros(300), none, none), np.ones(300), np.zeros(3), np.zeros(1), "linear", "CR1", CLUSTER, False
    )
    theirs = sm.OLS(y, X).fit(cov_type="cluster", cov_kwds={"groups": CLUSTER})
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diagonal(ours.covariance)), theirs.bse, rtol=1e-6)


@pytest.mark.parametrize("rule", ["model", "HC3"])
def test_counts_are_statsmodels(rule):
    """Their HC3 of a generalised model: scores over 1 − h, h the diagonal of its hat matrix."""
    y = np.random.default_rng(3).poisson(np.exp(X @ [0.2, 0.5, -0.3])).astype(float)
    ours = plain_fit(X, Poisson(y), np.ones(300), np.zeros(3), np.zeros(0), "poisson", rule, None, False)
    theirs = sm.GLM(y, X, sm.families.Poisson()).fit(tol=1e-13)
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-7)
    wanted = theirs.cov_params()
    if rule == "HC3":
        half = theirs.model.score_obs(theirs.params) / (1 - theirs.get_hat_matrix_diag())[:, None] @ wanted
        wanted = half.T @ half
    np.testing.assert_allclose(ours.covariance, wanted, rtol=1e-5, atol=1e-9)


def test_the_own_share_is_that_of_a_regression_on_the_other_columns():
    """√(1 − R²) by statsmodels, for columns of which two hang together."""
    Z = np.column_stack([X, X[:, 1] + 0.1 * X[:, 2] ** 2])
    none = np.full(300, np.nan)
    y = np.random.default_rng(4).normal(size=300)
    found = plain_fit(
        Z, Linear(y, np.zeros(300), none, none), np.ones(300), np.zeros(4), np.zeros(1), "linear", "HC3", None, False
    )
    others = [np.delete(Z, j, axis=1) for j in (1, 2, 3)]
    wanted = [np.sqrt(1 - sm.OLS(Z[:, j], other).fit().rsquared) for j, other in zip((1, 2, 3), others, strict=True)]
    np.testing.assert_allclose(found.own[1:], wanted, rtol=1e-8)
    np.testing.assert_allclose(found.spread[1:], Z[:, 1:].std(axis=0), rtol=1e-12)
