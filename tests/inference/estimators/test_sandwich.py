"""Rules of standard errors against statsmodels, and R's `survey` by its formula."""

import numpy as np
import pytest

from sfumato.inference.estimators.sandwich import leverage, sandwich
from tests.late import late

sm = late("statsmodels.api")

RNG = np.random.default_rng(1)
X = np.column_stack([np.ones(200), RNG.normal(size=200), RNG.exponential(size=200)])
Y = X @ [1.0, 0.5, -0.3] + X[:, 2] * RNG.normal(size=200)
BREAD = np.linalg.inv(X.T @ X)
LEFT = Y - X @ (BREAD @ X.T @ Y)
CLUSTERS = np.repeat(np.arange(40), 5)


def test_hc3_is_statsmodels():
    ours = sandwich(BREAD, X * LEFT[:, None], "HC3", leverage=leverage(X))
    np.testing.assert_allclose(ours, sm.OLS(Y, X).fit(cov_type="HC3").cov_params(), rtol=1e-8)


def test_leverages_of_a_generalised_model_are_statsmodels():
    y = np.random.default_rng(2).poisson(np.exp(0.3 * X[:, 1])).astype(float)
    fit = sm.GLM(y, X, sm.families.Poisson()).fit()
    np.testing.assert_allclose(leverage(X, fit.mu), fit.get_hat_matrix_diag(), rtol=1e-6)


def test_far_columns_keep_their_leverage():
    """A column of years, about 2,000: leverages do not hang on where numbers are counted from."""
    np.testing.assert_allclose(leverage(X + np.array([0, 2000, 0])), leverage(X), rtol=1e-6)


def test_clusters_are_statsmodels():
    ours = sandwich(BREAD, X * LEFT[:, None], "CR1", CLUSTERS)
    theirs = sm.OLS(Y, X).fit(cov_type="cluster", cov_kwds={"groups": CLUSTERS})
    np.testing.assert_allclose(ours, theirs.cov_params(), rtol=1e-8)


@pytest.mark.parametrize("clusters", [None, CLUSTERS[::-1]])
def test_a_design_is_that_of_binder(clusters):
    """G/(G − 1) Σ (t − t̄)(t − t̄)′, t the sums of weighted scores: what `svyglm` has for one stratum."""
    w = np.random.default_rng(3).uniform(0.5, 2, 200)
    bread = np.linalg.inv(X.T @ (X * w[:, None]))
    scores = X * (w * (Y - X @ (bread @ X.T @ (w * Y))))[:, None]
    units = np.arange(200) if clusters is None else clusters
    totals = np.array([scores[units == unit].sum(axis=0) for unit in np.unique(units)])
    meat = len(totals) * np.cov(totals.T, ddof=1)
    np.testing.assert_allclose(sandwich(bread, scores, "design", clusters), bread @ meat @ bread, rtol=1e-8)


def test_a_derivative_need_not_be_symmetric():
    bread = np.array([[1.0, 0.5], [0.0, 2.0]])
    scores = np.random.default_rng(4).normal(size=(20, 2))
    wanted = bread @ (scores.T @ scores) @ bread.T
    np.testing.assert_allclose(sandwich(bread, scores, "HC3"), wanted)


def test_a_record_that_decides_alone_is_no_infinity():
    """Its score is 0 and its leverage 1."""
    ours = sandwich(np.eye(1), np.array([[0.0], [1.0]]), "HC3", leverage=np.array([1.0, 0.0]))
    assert ours.tolist() == [[1.0]]
