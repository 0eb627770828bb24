"""Against statsmodels' `MixedLM` (its optimiser stops at about 1e-5), and closed forms."""

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.kernels import glm
from sfumato.kernels.random_intercept import fit, whitened
from tests.late import late

sm = late("statsmodels.api")


def draw(between=0.7, clusters=80, seed=0):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), rng.integers(1, 9, size=clusters))
    cluster = cluster[rng.permutation(len(cluster))]
    X = np.column_stack([np.ones(len(cluster)), rng.normal(size=len(cluster)), rng.normal(size=clusters)[cluster]])
    y = X @ [1.0, 0.5, -0.5] + between * rng.normal(size=clusters)[cluster] + rng.normal(size=len(cluster))
    return X, y, cluster


@pytest.mark.parametrize("between", [0.3, 0.7, 3.0])
def test_agrees_with_statsmodels(between):
    X, y, cluster = draw(between)
    ours, theirs = fit(X, y, cluster), sm.MixedLM(y, X, groups=cluster).fit(reml=True)
    np.testing.assert_allclose(ours.coefficients, theirs.fe_params, rtol=1e-4, atol=1e-5)
    assert ours.within == pytest.approx(theirs.scale, rel=1e-4)
    assert ours.between == pytest.approx(float(np.asarray(theirs.cov_re)[0, 0]), rel=1e-3)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-6)
    V = ours.within * np.eye(len(y)) + ours.between * (cluster[:, None] == cluster)  # as lme4's `vcov` has it
    np.testing.assert_allclose(ours.covariance, np.linalg.inv(X.T @ np.linalg.solve(V, X)), rtol=1e-8)


def test_clusters_of_one_size_have_the_anova_estimates():
    """Balanced: mean squares within and between give both variances, and the mean is the plain one."""
    rng = np.random.default_rng(1)
    y = (rng.normal(size=(40, 1)) + rng.normal(size=(40, 6))).ravel()
    found = fit(np.ones((240, 1)), y, np.repeat(np.arange(40), 6))
    table = y.reshape(40, 6)
    inside, outside = table.var(axis=1, ddof=1).mean(), 6 * table.mean(axis=1).var(ddof=1)
    assert found.within == pytest.approx(inside, rel=1e-6)
    assert found.between == pytest.approx((outside - inside) / 6, rel=1e-5)
    assert found.coefficients[0] == pytest.approx(y.mean(), rel=1e-10)


def test_without_differences_between_clusters_it_is_least_squares():
    rng = np.random.default_rng(2)
    X, cluster = np.column_stack([np.ones(200), rng.normal(size=200)]), np.repeat(np.arange(50), 4)
    y = rng.normal(size=(50, 4))
    y = (y - y.mean(axis=1, keepdims=True)).ravel() + X[:, 1]
    ours, theirs = fit(X, y, cluster), glm.fit(X, y, "linear")
    assert ours.between == 0
    np.testing.assert_allclose(ours.coefficients, theirs.coefficients, rtol=1e-10)
    np.testing.assert_allclose(ours.covariance, theirs.covariance, rtol=1e-8)


def test_offsets_and_dependent_columns():
    X, y, cluster = draw(seed=3)
    plain, wide = fit(X, y, cluster), fit(np.column_stack([X, X[:, 1] - 2]), y, cluster)
    assert wide.aliased == (3,)
    np.testing.assert_allclose(wide.coefficients[:3], plain.coefficients, rtol=1e-8)
    moved = fit(X * [1, 1e3, 1] + [0, 1e6, 0], y + 1e7, cluster)
    assert moved.coefficients[1] * 1e3 == pytest.approx(plain.coefficients[1], rel=1e-5)


def test_whitened_rows_have_independent_errors():
    ratio, sizes = 2.5, [1, 4]
    V = np.eye(5)
    V[0, 0] += ratio
    V[1:, 1:] += ratio
    W = whitened(np.eye(5), np.array([0, 1]), ratio)
    np.testing.assert_allclose(W @ V @ W.T, np.eye(5), atol=1e-12)
    assert sum(sizes) == len(V)


def test_bad_input_is_refused():
    X, y, cluster = draw()
    with pytest.raises(DataError, match="shape"):
        fit(X, y[1:], cluster)
    with pytest.raises(DataError, match="finite"):
        fit(X * np.inf, y, cluster)
    with pytest.raises(DataError, match="more records"):
        fit(X[:2], y[:2], cluster[:2])
    with pytest.raises(DataError, match="determine"):
        fit(X, X[:, 1], cluster)
