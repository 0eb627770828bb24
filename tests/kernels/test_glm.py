"""Against statsmodels to 1e-6 (both solve the same equations; what is left is rounding), and closed forms."""

import subprocess
import sys

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.kernels.glm import fit, predict
from tests.late import late

sm = late("statsmodels.api")

FAMILIES = ("linear", "logistic", "probit", "poisson")
MODELS = {"logistic": "Logit", "probit": "Probit", "poisson": "Poisson"}


def reference(X, y, family):
    if family == "linear":
        return sm.OLS(y, X).fit(method="qr")
    return getattr(sm, MODELS[family])(y, X).fit(disp=0, method="newton", tol=1e-10, maxiter=100)


def standard_errors(fitted):
    return np.sqrt(np.diag(fitted.covariance))


def draw(n=400, seed=0, strength=1.0):
    """Constant and three correlated columns, with a linear predictor."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3)) @ np.array([[1, 0.5, 0.2], [0, 1, 0.7], [0, 0, 1]])
    X = np.column_stack([np.ones(n), Z])
    return X, strength * (X @ [0.3, 1.0, -0.5, 0.8]), rng


def response(eta, rng, family):
    if family == "linear":
        return eta + rng.normal(size=len(eta))
    if family == "poisson":
        return rng.poisson(np.exp(np.clip(eta, -4, 4))).astype(float)
    noise = rng.logistic(size=len(eta)) if family == "logistic" else rng.normal(size=len(eta))
    return (eta + noise > 0).astype(float)


def well_conditioned():
    return draw()


def nearly_collinear():
    X, eta, rng = draw(seed=1)
    return np.column_stack([X, X[:, 1] + 1e-3 * rng.normal(size=len(X))]), eta, rng


def without_constant():
    X, eta, rng = draw(seed=2)
    return X[:, 1:], eta, rng


def nearly_separated():
    return draw(seed=3, strength=6.0)


def with_an_outlier():
    X, eta, rng = draw(seed=4)
    X[0, 1], X[1, 1] = 40.0, -35.0
    return X, eta, rng


def with_dummies():
    X, eta, rng = draw(seed=5)
    group = rng.integers(0, 4, len(X))
    return np.column_stack([X, *(group == k for k in (1, 2, 3))]).astype(float), eta, rng


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "data", [well_conditioned, nearly_collinear, without_constant, nearly_separated, with_an_outlier, with_dummies]
)
def test_agrees_with_statsmodels(data, family):
    X, eta, rng = data()
    y = response(eta, rng, family)
    ours, theirs = fit(X, y, family), reference(X, y, family)
    assert ours.converged
    assert not ours.separated
    assert ours.aliased == ()
    np.testing.assert_allclose(ours.coefficients, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(standard_errors(ours), theirs.bse, rtol=1e-6)
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=1e-5, atol=1e-9 * np.max(ours.covariance))
    assert ours.log_likelihood == pytest.approx(theirs.llf, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_large_offsets_and_scales_cost_no_digits(family):
    """A column a + s x has the slope b / s, and the intercept falls by a b / s; statsmodels fits the plain column."""
    X, eta, rng = draw(seed=6)
    y = response(eta, rng, family)
    theirs = reference(X, y, family)
    offset, scale = np.array([0.0, 3e6, -2e-5, 0.0]), np.array([1.0, 1e2, 1e-6, 1e7])
    ours = fit(X * scale + offset, y, family)
    slopes = theirs.params / scale
    np.testing.assert_allclose(ours.coefficients[1:], slopes[1:], rtol=1e-6)
    np.testing.assert_allclose(standard_errors(ours)[1:], (theirs.bse / scale)[1:], rtol=1e-6)
    assert ours.coefficients[0] == pytest.approx(slopes[0] - (offset * slopes)[1:].sum(), rel=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_dependent_columns_are_dropped_and_named(family):
    X, eta, rng = draw(seed=7)
    y = response(eta, rng, family)
    wide = np.column_stack(
        [X[:, :2], np.full(len(X), 3.0), X[:, 2], 2 * X[:, 1] - X[:, 2] + 5, np.zeros(len(X)), X[:, 3]]
    )
    ours, theirs = fit(wide, y, family), reference(X, y, family)
    assert ours.aliased == (2, 4, 5)
    kept = [0, 1, 3, 6]
    np.testing.assert_allclose(ours.coefficients[kept], theirs.params, rtol=1e-6)
    np.testing.assert_allclose(standard_errors(ours)[kept], theirs.bse, rtol=1e-6)
    assert np.isnan(ours.coefficients[[2, 4, 5]]).all()
    assert np.isnan(ours.covariance[2]).all()
    assert np.isnan(ours.covariance[:, 4]).all()
    assert ours.residual_degrees == len(X) - 4


def test_a_constant_may_be_negative_and_stand_anywhere():
    X, eta, rng = draw(seed=8)
    y = response(eta, rng, "logistic")
    ours = fit(np.column_stack([X[:, 1:], np.full(len(X), -2.0)]), y, "logistic")
    theirs = reference(X, y, "logistic").params
    np.testing.assert_allclose(ours.coefficients, [*theirs[1:], theirs[0] / -2], rtol=1e-6)


@pytest.mark.parametrize("family", ["logistic", "probit"])
def test_complete_separation_is_reported(family):
    X, eta, _ = draw(seed=9)
    ours = fit(X, (eta > 0).astype(float), family)
    assert ours.separated
    assert not ours.converged
    assert ours.iterations < 40
    np.testing.assert_allclose(predict(X, ours.coefficients, family), eta > 0, atol=1e-3)


@pytest.mark.parametrize("family", ["logistic", "probit"])
@pytest.mark.parametrize("n", [60, 3000])
def test_separation_of_one_group_is_reported(family, n):
    """All of the last group succeed; the other coefficients are those of the fit without that group."""
    rng = np.random.default_rng(n)
    group, x = rng.integers(0, 3, n), rng.normal(size=n)
    X = np.column_stack([np.ones(n), group == 1, group == 2, x]).astype(float)
    y = np.where(group == 2, 1.0, rng.integers(0, 2, n))
    ours = fit(X, y, family)
    assert ours.separated
    rest = group < 2
    theirs = reference(X[rest][:, [0, 1, 3]], y[rest], family)
    np.testing.assert_allclose(ours.coefficients[[0, 1, 3]], theirs.params, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("family", ["logistic", "probit"])
def test_a_response_without_variation_is_separated(family):
    assert fit(np.ones((20, 1)), np.ones(20), family).separated


def test_frequency_weights_stand_for_repeated_rows():
    X, eta, rng = draw(n=120, seed=10)
    y, times = response(eta, rng, "logistic"), rng.integers(0, 4, 120)
    ours = fit(X, y, "logistic", times.astype(float))
    theirs = reference(np.repeat(X, times, axis=0), np.repeat(y, times), "logistic")
    np.testing.assert_allclose(ours.coefficients, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(standard_errors(ours), theirs.bse, rtol=1e-6)
    assert ours.log_likelihood == pytest.approx(theirs.llf, rel=1e-9)


def test_linear_weights_are_those_of_wls():
    X, eta, rng = draw(seed=11)
    y, weights = response(eta, rng, "linear"), rng.uniform(0.1, 3, len(X))
    ours, theirs = fit(X, y, "linear", weights), sm.WLS(y, X, weights).fit(method="qr")
    np.testing.assert_allclose(ours.coefficients, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(standard_errors(ours), theirs.bse, rtol=1e-6)
    assert ours.log_likelihood == pytest.approx(theirs.llf, rel=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_blocks_and_row_order_change_nothing(family):
    X, eta, rng = draw(n=1000, seed=12)
    y = response(eta, rng, family)
    order = rng.permutation(1000)
    whole = fit(X, y, family)

    def blocks():
        for part in np.array_split(order, [0, 7, 7, 500, 999]):
            yield X[part], y[part]

    parts = fit(blocks, None, family)
    np.testing.assert_allclose(parts.coefficients, whole.coefficients, rtol=1e-9)
    np.testing.assert_allclose(parts.covariance, whole.covariance, rtol=1e-9, atol=1e-12)
    assert parts.n == whole.n == 1000


def test_predict_leaves_aliased_columns_out():
    eta = np.array([-40.0, 0.0, 40.0])
    X = np.column_stack([eta, np.full(3, 7.0)])
    np.testing.assert_allclose(predict(X, np.array([1.0, np.nan]), "probit"), [0, 0.5, 1], atol=1e-300)
    np.testing.assert_allclose(predict(X, np.array([1.0, np.nan]), "linear"), eta)


def test_a_perfect_line_has_no_residual():
    x = np.arange(5.0)
    ours = fit(np.column_stack([np.ones(5), x]), 2 + 3 * x, "linear")
    np.testing.assert_allclose(ours.coefficients, [2, 3], rtol=1e-12)
    np.testing.assert_allclose(ours.covariance, 0, atol=1e-20)


def test_as_many_coefficients_as_rows_leave_no_variance():
    ours = fit(np.eye(2), np.array([1.0, 2.0]), "linear")
    np.testing.assert_allclose(ours.coefficients, [1, 2])
    assert np.isnan(ours.covariance).all()


def test_no_columns_are_a_model_too():
    ours = fit(np.zeros((4, 0)), np.array([0.0, 1, 1, 0]), "logistic")
    assert ours.log_likelihood == pytest.approx(4 * np.log(0.5))


ONES = np.ones((3, 1))


@pytest.mark.parametrize(
    ("X", "y", "family", "weights", "says"),
    [
        (ONES, [0, 1, 2], "logistic", None, "0 or 1"),
        (ONES, [0, 1, np.nan], "probit", None, "0 or 1"),
        (ONES, [0, 1, np.inf], "linear", None, "finite"),
        (ONES, [0, 1.5, 2], "poisson", None, "whole number"),
        (ONES, [0, -1, 2], "poisson", None, "whole number"),
        (ONES * np.nan, [0, 1, 1], "linear", None, "finite"),
        (ONES, [0, 1], "linear", None, "shape"),
        (np.ones(3), [0, 1, 1], "linear", None, "shape"),
        (ONES, [0, 1, 1], "linear", [1, 1], "one weight"),
        (ONES, [0, 1, 1], "linear", [1, 1, 1, 1], "one weight"),
        (ONES, [0, 1, 1], "linear", [1, 1, -1], "zero or positive"),
        (ONES, [0, 1, 1], "linear", [0, 0, 0], "at least one row"),
        (np.ones((0, 1)), [], "linear", None, "at least one row"),
    ],
)
def test_bad_input_is_refused(X, y, family, weights, says):
    weights = None if weights is None else np.array(weights, dtype=float)
    with pytest.raises(DataError, match=says):
        fit(X, np.array(y, dtype=float), family, weights)


ROWS = "tests/kernels/test_glm.py::test_many_rows_take_little_memory[20-60-0.015]"


@pytest.mark.parametrize(
    ("blocks", "most", "far"),
    [
        pytest.param(20, 60, 0.015, marks=pytest.mark.slow),
        pytest.param(50, 150, 0.01, marks=pytest.mark.nightly(of=ROWS)),
    ],
)
def test_many_rows_take_little_memory(blocks, most, far):
    """Beside the block at hand fewer MB than the matrix has: 96 for 400,000 × 30, 240 for a million; 30 are enough.

    A standard error of a coefficient is near 2.2 / √n; four are allowed.
    """
    code = """
import resource
import sys
import numpy as np
from sfumato.kernels.glm import fit
many, most, far = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
def blocks():
    rng = np.random.default_rng(1)
    for _ in range(many):
        X = rng.normal(size=(20_000, 30))
        yield X, (rng.logistic(size=20_000) + X[:, 0] > 0).astype(float)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fitted = fit(blocks, None, "logistic")
assert fitted.converged and fitted.n == many * 20_000
assert abs(fitted.coefficients[0] - 1) < far
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < most * 1000
"""
    subprocess.run([sys.executable, "-c", code, str(blocks), str(most), str(far)], check=True)


def sparse(seed, n=300):
    """Products of two factors with rare levels and of a very skewed number: some rows part for ever, at many speeds."""
    rng = np.random.default_rng(seed)
    x = np.exp(1.5 * rng.normal(size=n))
    g = (rng.choice(6, n, p=[0.5, 0.3, 0.1, 0.06, 0.03, 0.01])[:, None] == np.arange(1, 6)).astype(float)
    h = (rng.choice(4, n, p=[0.6, 0.3, 0.07, 0.03])[:, None] == np.arange(1, 4)).astype(float)
    products = [g * x[:, None], h * x[:, None], *(g[:, [i]] * h for i in range(5))]
    return np.column_stack([np.ones(n), x, g, h, *products]), (rng.random(n) < 0.5).astype(float)


@pytest.mark.parametrize("seed", [9, 10])
def test_rows_that_part_for_ever_do_not_keep_the_others_from_their_fit(seed):
    """Of seed 9 the information is singular before the other rows are fitted.

    A peer climbs the likelihood by its gradient alone, with a ridge of 1e-10, on an orthonormal basis of the columns;
    with less of a ridge it comes less than 0.001 further. Ours may stop where a direction has hardly a curvature left.
    """
    from sklearn.linear_model import LogisticRegression

    X, y = sparse(seed)
    ours = fit(X, y, "logistic")
    assert ours.separated
    assert not ours.converged
    basis, size, _ = np.linalg.svd(X / np.maximum(np.abs(X).max(axis=0), 1e-300), full_matrices=False)
    basis = basis[:, size > 1e-9 * size[0]] * np.sqrt(len(y))
    peer = LogisticRegression(C=1e10, max_iter=20_000, tol=1e-12, fit_intercept=False).fit(basis, y)
    fitted = peer.predict_proba(basis)[:, 1]
    reached = np.log(np.where(y == 1, fitted, 1 - fitted)).sum()
    assert ours.log_likelihood == pytest.approx(reached, abs=0.01)


@pytest.mark.parametrize("case", [well_conditioned, nearly_collinear, without_constant, nearly_separated])
def test_gradients_first_lead_to_the_same_fit(case):
    X, eta, rng = case()
    y = response(eta, rng, "logistic")
    plain, ours = fit(X, y, "logistic"), fit(X, y, "logistic", many_columns=True)
    np.testing.assert_allclose(ours.coefficients, plain.coefficients, rtol=1e-7)
    np.testing.assert_allclose(standard_errors(ours), standard_errors(plain), rtol=1e-7)
    assert (ours.converged, ours.separated, ours.aliased) == (True, False, plain.aliased)


@pytest.mark.parametrize("seed", range(9, 15))
def test_gradients_first_find_that_rows_part_too(seed):
    X, y = sparse(seed)
    plain, ours = fit(X, y, "logistic"), fit(X, y, "logistic", many_columns=True)
    assert (ours.converged, ours.separated) == (False, True)
    assert ours.log_likelihood == pytest.approx(plain.log_likelihood, abs=0.01)


def test_gradients_first_with_weights_are_rows_that_stand_for_several():
    X, eta, rng = draw(n=60)
    y, times = response(eta, rng, "logistic"), rng.integers(0, 4, 60)
    ours = fit(X, y, "logistic", times.astype(float), many_columns=True)
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), "logistic")
    np.testing.assert_allclose(ours.coefficients, repeated.coefficients, rtol=1e-7)
