"""Rules of standard errors against statsmodels, and R's `survey` by its formula."""

from functools import partial

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Disclosure
from sfumato.errors import DataError
from sfumato.inference.estimators.sandwich import leverage, sandwich
from sfumato.inference.fit import fit as any_fit
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


TINY = Disclosure([Additive(("x",), [[1e-14]])])
TABLE = pl.DataFrame({"y": Y, "x": X[:, 1], "w": X[:, 2], "c": CLUSTERS, "one": np.linspace(0.5, 2, 200)})
fit = partial(any_fit, hidden="normal")


@pytest.mark.parametrize("told", [None, TINY])
@pytest.mark.parametrize("method", ["ml", "naive"])
def test_a_robust_linear_fit_is_statsmodels(told, method):
    """With next to no noise too, where errors come from the scores of the likelihood."""
    ours = fit("y ~ x + w", TABLE, told, method=method, se="robust")
    theirs = sm.OLS(Y, X).fit(cov_type="HC3", use_t=True)
    assert ours.se_rule == "HC3"
    np.testing.assert_allclose(ours.se, theirs.bse, rtol=1e-5)
    np.testing.assert_allclose(ours.naive_se, theirs.bse, rtol=1e-6)
    np.testing.assert_allclose(ours.interval, theirs.conf_int(), rtol=1e-4)


@pytest.mark.parametrize("told", [None, TINY])
@pytest.mark.parametrize("family", ["logit", "poisson"])
def test_a_robust_generalised_fit_has_its_hat_matrix(told, family):
    """R's `vcovHC(type = "HC3")`: scores over 1 − h (statsmodels' HC3 of such models leaves h out)."""
    y = (Y > 1).astype(float) if family == "logit" else np.round(np.abs(Y))
    ours = fit("y ~ x + w", TABLE.with_columns(y=y), told, family=family, method="ml", se="robust")
    theirs = sm.GLM(y, X, sm.families.Binomial() if family == "logit" else sm.families.Poisson()).fit(tol=1e-13)
    scores = X * (y - theirs.mu)[:, None] / (1 - theirs.get_hat_matrix_diag())[:, None]
    half = scores @ theirs.cov_params()
    np.testing.assert_allclose(ours.se, np.sqrt(np.diagonal(half.T @ half)), rtol=1e-5)
    np.testing.assert_allclose(ours.naive_se, ours.se, rtol=1e-4)


@pytest.mark.parametrize("told", [None, TINY])
def test_clusters_of_a_linear_fit_are_statsmodels(told):
    """t with G − 1 degrees of freedom, and their factor for small samples."""
    ours = fit("y ~ x + w", TABLE, told, method="ml", cluster="c")
    theirs = sm.OLS(Y, X).fit(cov_type="cluster", cov_kwds={"groups": CLUSTERS}, use_t=True)
    assert (ours.se_rule, ours.degrees) == ("CR1", 39)
    np.testing.assert_allclose(ours.se, theirs.bse, rtol=1e-5)
    np.testing.assert_allclose(ours.interval, theirs.conf_int(), rtol=1e-4)


@pytest.mark.parametrize("cluster", [None, "c"])
def test_weights_are_a_design(cluster):
    """`svyglm` of one stratum: G/(G − 1) times the sums of weighted scores about their mean; G − p degrees."""
    ours = fit("y ~ x + w", TABLE, method="ml", weight="one", cluster=cluster)
    w = TABLE["one"].to_numpy() / TABLE["one"].mean()
    theirs = sm.WLS(Y, X, w).fit()
    scores = X * (w * theirs.resid)[:, None]
    units = np.arange(200) if cluster is None else CLUSTERS
    totals = np.array([scores[units == unit].sum(axis=0) for unit in np.unique(units)])
    bread = np.linalg.inv(X.T @ (X * w[:, None]))
    variance = bread @ (len(totals) * np.cov(totals.T, ddof=1)) @ bread
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-5)
    np.testing.assert_allclose(ours.se, np.sqrt(np.diagonal(variance)), rtol=1e-5)
    assert (ours.se_rule, ours.degrees) == ("design", len(totals) - 3)


def test_robust_errors_leave_the_estimates():
    rng = np.random.default_rng(7)
    noisy = TABLE.with_columns(pl.col("x") + rng.normal(0, 0.5, 200))
    told = Disclosure([Additive(("x",), [[0.25]])])
    plain, robust = (fit("y ~ x + w", noisy, told, method="ml", se=se) for se in ("auto", "robust"))
    np.testing.assert_allclose(robust.estimate, plain.estimate, rtol=1e-5)
    assert robust.sigma == pytest.approx(plain.sigma, rel=1e-5)
    assert (plain.se_rule, robust.se_rule) == ("model", "HC3")
    assert not np.allclose(robust.se, plain.se, rtol=1e-2)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [1, 2])
def test_robust_errors_hold_where_the_spread_grows(seed):
    """Errors with sd |x|, noise a third: HC3 is the spread of 40 draws, known to 11%; the model's is much too small."""
    found, told = [], Disclosure([Additive(("x",), [[0.5]])])
    for draw in range(40):
        rng = np.random.default_rng([seed, draw])
        x = rng.normal(size=500)
        table = pl.DataFrame({"y": 0.5 * x + np.abs(x) * rng.normal(size=500), "x": x + rng.normal(0, 0.5**0.5, 500)})
        found.append(fit("y ~ x", table, told, method="ml", se="robust"))
    assert np.mean([f.se[1] for f in found]) == pytest.approx(np.std([f.estimate[1] for f in found]), rel=0.4)
    assert fit("y ~ x", table, told, method="ml").se[1] < 0.85 * found[-1].se[1]


def test_gaps_leave_leverages_finite():
    holes = TABLE.with_columns(w=pl.when(pl.int_range(200) % 7 == 0).then(None).otherwise("w"))
    ours = fit("y ~ x + w", holes, method="ml", se="robust")
    assert ours.n == 200
    assert np.isfinite(ours.se).all()


@pytest.mark.parametrize("given", [{"method": "bayes"}, {"group": "c"}])
def test_robust_errors_are_refused_where_they_make_no_sense(given):
    with pytest.raises(DataError, match="Leave out `se`"):
        fit("y ~ x", TABLE, se="robust", **given)
    with pytest.raises(DataError, match="Choose: auto, robust"):
        fit("y ~ x", TABLE, se="HC3")


def test_the_rule_is_told():
    assert "Standard errors: HC3 (robust)." in fit("y ~ x", TABLE, se="robust").summary()
    assert "Standard errors: CR1 (by clusters)." in fit("y ~ x", TABLE, cluster="c").summary()
    assert "Standard errors" not in fit("y ~ x", TABLE, method="bayes", draws=200).summary()
