"""The limits that any correction must have, an independent likelihood by quadrature, and bad input."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from scipy.special import expit, gammaln, ndtr

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Averaged, Coarsened, Disclosure, Misclassified
from sfumato.data.error_model import Growth
from sfumato.errors import DataError, SfumatoError
from sfumato.inference.covariates.band_scores import band_scores
from sfumato.inference.fit import fit as corrected
from tests.inference.studies import FORMULA, NAMES, dataset_a, exact, noisy, normal
from tests.late import late

sm = late("statsmodels.api")
ordinal = late("statsmodels.miscmodels.ordinal_model")

fit = partial(corrected, reduce_bias=False, method="ml")
"""The maximum of the likelihood, which brute force finds as well; its bias is looked at in tests of its own."""

plainly = partial(fit, hidden="normal")
"""The same where mixtures of hidden numbers are not looked at: to try them takes most of the time."""

FAMILIES = ("linear", "probit", "logit", "poisson", "ordered")


def draw(family, n=600, seed=0):
    """True covariates: binary d, normal x that hangs on d and w, exact w; and a response."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=n)
    d = (0.4 * w + rng.normal(size=n) > 0.3).astype(float)
    x = 0.5 * d + 0.4 * w + rng.normal(size=n)
    eta = -0.2 + 0.6 * d + 0.4 * x - 0.3 * w
    if family == "linear":
        y = eta + 0.7 * rng.normal(size=n)
    elif family == "probit":
        y = (eta + rng.normal(size=n) > 0).astype(float)
    elif family == "logit":
        y = (eta + rng.logistic(size=n) > 0).astype(float)
    elif family == "poisson":
        y = rng.poisson(np.exp(eta)).astype(float)
    else:
        y = np.digitize(eta + rng.normal(size=n), [-0.5, 0.8]).astype(float)
    return pl.DataFrame({"y": y, "d": d, "x": x, "w": w}), rng


def reference(table, family):
    """Coefficients and standard errors of statsmodels for y ~ d + x + w."""
    X, y = table.select("d", "x", "w").to_numpy(), table["y"].to_numpy()
    if family == "ordered":
        fitted = ordinal.OrderedModel(y, X, distr="probit").fit(disp=0, method="bfgs", gtol=1e-9, maxiter=500)
        return fitted.params[:3], fitted.bse[:3]
    X = sm.add_constant(X)
    if family == "poisson":
        fitted = sm.Poisson(y, X).fit(disp=0, tol=1e-12)
    elif family == "linear":
        fitted = sm.OLS(y, X).fit()
    else:
        fitted = (sm.Probit if family == "probit" else sm.Logit)(y, X).fit(disp=0, tol=1e-12)
    return fitted.params, fitted.bse


TINY = Disclosure([Additive(("d",), [[1e-14]], values=(0, 1)), Additive(("x",), [[1e-14]])])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("disclosure", [None, TINY])
def test_without_noise_it_is_the_plain_fit(family, disclosure):
    """The bar is 1e-6; statsmodels' ordered model takes its errors from a numerical Hessian, good to 1e-4."""
    table, _ = draw(family)
    ours = fit("y ~ d + x + w", table, disclosure, family=family)
    estimate, se = reference(table, family)
    p = len(estimate)
    assert ours.converged
    np.testing.assert_allclose(ours.estimate[:p], estimate, rtol=2e-5 if family == "ordered" else 1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.se[:p], se, rtol=1e-3 if family == "ordered" else 2e-6)
    np.testing.assert_allclose(ours.naive[:p], estimate, rtol=2e-5 if family == "ordered" else 1e-6, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_identity_misclassification_is_the_plain_fit(family):
    table, _ = draw(family)
    told = Disclosure([Misclassified("d", np.eye(2), levels=(0, 1))])
    ours, plain = fit("y ~ d + x + w", table, told, family=family), fit("y ~ d + x + w", table, family=family)
    np.testing.assert_allclose(ours.estimate, plain.estimate, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ours.se, plain.se, rtol=1e-6)


@pytest.mark.parametrize("family", ["linear", "probit"])
@pytest.mark.parametrize("column", ["d", "x"])
def test_missing_is_noise_without_bound(family, column):
    """Noise of variance 1e10 says nothing: its likelihood is flat to about 1e-5 over the range of the covariate."""
    table, rng = draw(family, 300)
    gone = rng.random(table.height) < 0.3
    values = {"values": (0, 1)} if column == "d" else {}
    missing = table.with_columns(pl.when(~pl.Series(gone)).then(column))
    loud = table.with_columns(
        pl.Series("s", gone.astype(int)), pl.when(~pl.Series(gone)).then(column).otherwise(rng.normal(0, 1.2e5, 300))
    )
    told = [Additive((column,), [[1e10]], where={"s": 1}, **values)]
    if column == "d":
        told.append(Additive((column,), [[1e-12]], where={"s": 0}, **values))
    one = plainly("y ~ d + x + w", missing, family=family)
    other = plainly("y ~ d + x + w", loud, Disclosure(told), family=family)
    np.testing.assert_allclose(one.estimate, other.estimate, atol=2e-3)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-2)


@pytest.mark.slow
def test_row_order_changes_nothing():
    table, rng = draw("probit", 200)
    told = Disclosure([Additive(("d",), [[0.2]], values=(0, 1)), Additive(("x",), [[0.3]])])
    table = table.with_columns(pl.col("d") + rng.normal(0, 0.2**0.5, 200), pl.col("x") + rng.normal(0, 0.3**0.5, 200))
    one = fit("y ~ d + x + w", table, told, family="probit")
    other = fit("y ~ d + x + w", table[rng.permutation(200)], told, family="probit")
    np.testing.assert_allclose(one.estimate, other.estimate, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-6)


def released(family, n=250):
    table, rng = draw(family, n, 5)
    z = table.with_columns(pl.col("d") + rng.normal(0, 0.5, n), pl.col("x") + rng.normal(0, 0.6, n))
    return z, Disclosure([Additive(("d",), [[0.25]], values=(0, 1)), Additive(("x",), [[0.36]])])


def density(family, y, eta, extra):
    if family == "linear":
        return normal(y, eta, np.exp(extra))
    if family == "poisson":
        return np.exp(y * eta - np.exp(eta) - gammaln(y + 1))
    return (ndtr if family == "probit" else expit)(np.where(y == 1, eta, -eta))


@pytest.mark.parametrize("family", ["linear", "probit", "logit", "poisson"])
def test_it_agrees_with_brute_force(family):
    """The likelihood written out: a sum over d, Gauss-Legendre over x (61 points on ±7), scipy's optimiser.

    The same model of the covariates: logistic for d given w, normal for x given d and w. The bar is 1e-4; what a record
    adds does not hang on how many there are.
    """
    table, told = released(family, 120)
    y, zd, zx, w = (table[n].to_numpy() for n in ("y", "d", "x", "w"))
    t, weights = np.polynomial.legendre.leggauss(61)
    x, weights = 7 * t, 7 * weights

    def minus(theta):
        b, (a0, a1), (m0, m1, m2), log_s, log_sigma = theta[:4], theta[4:6], theta[6:9], theta[9], theta[10]
        p1 = expit(a0 + a1 * w)
        total = np.zeros(len(y))
        for d, p in ((0, 1 - p1), (1, p1)):
            inner = normal(x, (m0 + m1 * d + m2 * w)[:, None], np.exp(log_s)) * normal(zx[:, None], x, 0.6)
            inner = inner * density(family, y[:, None], b[0] + b[1] * d + b[2] * x + (b[3] * w)[:, None], log_sigma)
            total += p * normal(zd, d, 0.5) * (inner @ weights)
        return -np.log(total).sum()

    ours = plainly("y ~ d + x + w", table, told, family=family)
    start = np.concatenate([ours.estimate + 0.05, np.zeros(6), [-0.3]])
    free = len(start) if family == "linear" else len(start) - 1  # σ for the linear model only
    tail = start[free:]
    found = optimize.minimize(
        lambda s: minus(np.concatenate([s, tail])), start[:free], method="BFGS", options={"gtol": 1e-4}
    )
    np.testing.assert_allclose(ours.estimate, found.x[:4], atol=1e-4)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=1e-5)
    np.testing.assert_allclose(
        ours.se, hessian_se(minus, np.concatenate([found.x, tail]), free, 120, family), rtol=1e-3
    )


def hessian_se(minus, theta, free, n, family):
    """Standard errors from the Hessian by differences, with the divisor of least squares for the linear model."""
    h = 1e-3
    H = np.empty((free, free))
    unit = h * np.eye(len(theta))
    for i in range(free):
        for j in range(i + 1):
            plus = minus(theta + unit[i] + unit[j]) + minus(theta - unit[i] - unit[j])
            cross = minus(theta + unit[i] - unit[j]) + minus(theta - unit[i] + unit[j])
            H[i, j] = H[j, i] = (plus - cross) / (4 * h**2)
    correction = n / (n - 4) if family == "linear" else 1.0
    return np.sqrt(np.diagonal(np.linalg.inv(H))[:4] * correction)


def test_misclassified_responses_agree_with_brute_force():
    table, rng = draw("probit", 800, 2)
    flip = rng.random(800) < 0.1
    table = table.with_columns(pl.when(pl.Series(flip)).then(1 - pl.col("y")).otherwise("y").cast(pl.Int64))
    told = Disclosure([Misclassified("y", [[0.9, 0.1], [0.1, 0.9]])])
    X = sm.add_constant(table.select("d", "x", "w").to_numpy())
    y = table["y"].to_numpy()

    def minus(b):
        p = 0.1 + 0.8 * stats.norm.cdf(X @ b)
        return -np.log(np.where(y == 1, p, 1 - p)).sum()

    found = optimize.minimize(minus, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    ours = fit("y ~ d + x + w", table, told, family="probit")
    np.testing.assert_allclose(ours.estimate, found.x, atol=1e-5)
    assert np.all(ours.se > ours.naive_se)


@pytest.mark.slow
def test_a_noisy_binary_response_and_noisy_covariates_together():
    """Brute force over the four combinations of a true response and a true covariate, noise clipped on both."""
    rng = np.random.default_rng(3)
    n, v = 300, 0.3
    d = (rng.random(n) < 0.4).astype(float)
    y = (-0.5 + 0.8 * d + rng.normal(size=n) > 0).astype(float)
    z = np.clip(np.column_stack([y, d]) + rng.normal(0, v**0.5, (n, 2)), 0, 1)
    told = Disclosure([Additive(("y", "d"), v * np.eye(2), clipped=True)])
    s = v**0.5

    def law(value, true):
        inner = stats.norm.pdf(value, true, s)
        return np.where(
            value <= 0, stats.norm.cdf(-true / s), np.where(value >= 1, stats.norm.sf((1 - true) / s), inner)
        )

    def minus(theta):
        p = expit(theta[2])
        total = 0
        for dd in (0, 1):
            q = stats.norm.cdf(theta[0] + theta[1] * dd)
            response = q * law(z[:, 0], 1) + (1 - q) * law(z[:, 0], 0)
            total = total + (p if dd else 1 - p) * law(z[:, 1], dd) * response
        return -np.log(total).sum()

    found = optimize.minimize(minus, np.zeros(3), method="BFGS", options={"gtol": 1e-5})
    ours = fit("y ~ d", pl.DataFrame(z, schema=["y", "d"]), told, family="probit")
    np.testing.assert_allclose(ours.estimate, found.x[:2], atol=1e-4)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=1e-6)


def test_top_coded_and_noisy_responses_agree_with_brute_force():
    """Noise of variance .3 on y, then all above 1 set to 1: a censored regression (Tobit) with σ² + .3."""
    table, rng = draw("linear", 800, 7)
    z = np.minimum(table["y"].to_numpy() + rng.normal(0, 0.3**0.5, 800), 1.0)
    told = Disclosure([Additive(("y",), [[0.3]], bounds={"y": (None, 1.0)})])
    X = sm.add_constant(table.select("d", "x", "w").to_numpy())

    def minus(theta):
        s, eta = np.sqrt(np.exp(2 * theta[4]) + 0.3), X @ theta[:4]
        return -np.where(z >= 1, stats.norm.logsf(1, eta, s), stats.norm.logpdf(z, eta, s)).sum()

    found = optimize.minimize(minus, np.zeros(5), method="BFGS", options={"gtol": 1e-6})
    ours = fit("y ~ d + x + w", table.with_columns(y=pl.Series(z)), told)
    np.testing.assert_allclose(ours.estimate, found.x[:4], atol=1e-5)
    assert ours.sigma == pytest.approx(np.exp(found.x[4]) * np.sqrt(800 / 796), rel=1e-5)


@pytest.mark.slow
def test_correlated_noise_on_two_binaries_agrees_with_brute_force():
    rng = np.random.default_rng(4)
    n = 1200
    d = (rng.random((n, 2)) < 0.4).astype(float)
    omega = np.array([[0.3, 0.15], [0.15, 0.25]])
    z = d + rng.multivariate_normal([0, 0], omega, n)
    y = -0.3 + d @ [0.7, -0.5] + rng.normal(size=n)
    patterns = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)

    def minus(theta):
        pi = np.exp(np.append(0, theta[4:]))
        f = sum(
            p
            * stats.multivariate_normal(k, omega).pdf(z)
            * stats.norm.pdf(y, theta[0] + theta[1:3] @ k, np.exp(theta[3]))
            for p, k in zip(pi / pi.sum(), patterns, strict=True)
        )
        return -np.log(f).sum()

    found = optimize.minimize(minus, np.zeros(7), method="BFGS", options={"gtol": 1e-4})
    table = pl.DataFrame({"y": y, "a": z[:, 0], "b": z[:, 1]})
    ours = fit("y ~ a + b", table, Disclosure([Additive(("a", "b"), omega, values=(0, 1))]))
    np.testing.assert_allclose(ours.estimate, found.x[:3], atol=1e-4)


def test_categories_and_interactions():
    """Three misclassified categories, with an interaction; brute force over the true category."""
    rng = np.random.default_rng(6)
    n = 2000
    c, w = rng.integers(0, 3, n), rng.integers(0, 2, n).astype(float)
    y = np.array([0.0, 0.5, -0.8])[c] + 0.4 * w + 0.6 * (c == 2) * w + rng.normal(size=n)
    P = np.array([[0.8, 0.1, 0.1], [0.1, 0.85, 0.05], [0.15, 0.15, 0.7]])
    z = (rng.random(n)[:, None] > np.cumsum(P, axis=1)[c]).sum(axis=1)
    table = pl.DataFrame({"y": y, "c": np.array(["a", "b", "c"])[z], "w": w})
    ours = fit("y ~ c*w", table, Disclosure([Misclassified("c", P, levels=("a", "b", "c"))]))
    assert ours.terms == ("Intercept", "c[T.b]", "c[T.c]", "w", "c[T.b]:w", "c[T.c]:w")

    def minus(theta):
        pi = np.exp(np.column_stack([np.zeros(2), theta[7:11].reshape(2, 2)]))
        pi = (pi / pi.sum(axis=1, keepdims=True))[w.astype(int)]
        level, tilt = np.append(0, theta[1:3]), np.append(0, theta[4:6])
        eta = theta[0] + level + theta[3] * w[:, None] + tilt * w[:, None]
        return -np.log((pi * P[:, z].T * stats.norm.pdf(y[:, None], eta, np.exp(theta[6]))).sum(axis=1)).sum()

    found = optimize.minimize(minus, np.zeros(11), method="BFGS", options={"gtol": 1e-4})
    np.testing.assert_allclose(ours.estimate, found.x[:6], atol=1e-4)


def test_a_noisy_number_in_c_is_its_category():
    """Few records, so that rows could be joined wrongly: released values count, not the levels nearest to them."""
    table, rng = draw("probit", 4000, 9)
    z = table.with_columns(pl.col("d") + rng.normal(0, 0.5, 4000))
    told = Disclosure([Additive(("d",), [[0.25]], values=(0, 1))])
    number, category = fit("y ~ d", z, told, family="probit"), fit("y ~ C(d)", z, told, family="probit")
    assert category.terms == ("Intercept", "C(d)[T.1]")
    np.testing.assert_allclose(number.estimate, category.estimate, rtol=1e-6)
    np.testing.assert_allclose(number.se, category.se, rtol=1e-6)


def test_indicators_of_one_category_exclude_each_other():
    """No record can have two of them: the correction equals that of the three patterns written out."""
    rng = np.random.default_rng(8)
    n = 1500
    c = rng.integers(0, 3, n)
    y = np.array([0.0, 0.6, -0.5])[c] + rng.normal(size=n)
    z = np.column_stack([c == 1, c == 2]) + rng.normal(0, 0.5, (n, 2))
    part = Additive(("c=1", "c=2"), 0.25 * np.eye(2), values=(0, 1), indicators_of="c")
    ours = fit("y ~ `c=1` + `c=2`", pl.DataFrame({"y": y, "c=1": z[:, 0], "c=2": z[:, 1]}), Disclosure([part]))

    def minus(theta):
        pi = np.exp(np.append(0, theta[4:]))
        f = 0
        for p, m, e in zip(pi / pi.sum(), [0, theta[1], theta[2]], [(0, 0), (1, 0), (0, 1)], strict=True):
            f = f + p * stats.norm.pdf(z, e, 0.5).prod(axis=1) * stats.norm.pdf(y, theta[0] + m, np.exp(theta[3]))
        return -np.log(f).sum()

    found = optimize.minimize(minus, np.zeros(6), method="BFGS", options={"gtol": 1e-4})
    np.testing.assert_allclose(ours.estimate, found.x[:3], atol=1e-4)


def test_frequency_weights_and_clusters():
    """Each record twice within a cluster of its own: the estimates stand, and the errors of the single records too.

    But for the factor (n − 1)/(n − p) of clusters, with n = 300 and p = 3.
    """
    table, told = released("probit", 150)
    single = plainly("y ~ d + x", table.with_columns(one=1.0), told, family="probit", weight="one")
    twice = pl.concat([table.with_row_index("id")] * 2)
    double = plainly("y ~ d + x", twice, told, family="probit", cluster="id")
    np.testing.assert_allclose(double.estimate, single.estimate, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(double.se, single.se * np.sqrt(299 / 297), rtol=1e-4)
    np.testing.assert_allclose(double.naive_se, single.naive_se * np.sqrt(299 / 297), rtol=1e-6)
    weighted = plainly("y ~ d + x", table.with_columns(two=pl.lit(2.0)), told, family="probit", weight="two")
    np.testing.assert_allclose(weighted.se, single.se, rtol=1e-6)


def test_robust_errors_without_noise_are_whites():
    table, _ = draw("logit")
    ours = fit("y ~ d + x + w", table.with_columns(one=1.0), family="logit", weight="one")
    X = sm.add_constant(table.select("d", "x", "w").to_numpy())
    theirs = sm.Logit(table["y"].to_numpy(), X).fit(disp=0, tol=1e-12, cov_type="HC0")
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(ours.se, theirs.bse * np.sqrt(600 / 599), rtol=1e-6)


def test_reliability_is_that_of_the_noise():
    """Noise of variance v on x of variance about 1.4: reliability var(x) / (var(x) + v)."""
    table, rng = draw("linear", 5000)
    z = table.with_columns(pl.col("x") + rng.normal(0, 1, 5000))
    ours = plainly("y ~ d + x + w", z, Disclosure([Additive(("x",), [[1.0]])]))
    variance = table["x"].var()
    assert ours.reliability[2] == pytest.approx(variance / (variance + 1), abs=0.02)
    assert ours.reliability[1] == 1
    assert np.isnan(ours.reliability[0])
    truth = fit("y ~ d + x + w", table)
    np.testing.assert_allclose(ours.inflation, ours.se / truth.se, rtol=0.06)


def test_the_result_can_be_read():
    records = dataset_a()
    table, told = noisy(records, 0.5, False, np.random.default_rng(2))
    ours = fit(FORMULA, table, told, family="probit")
    tidy = ours.tidy()
    assert tidy.columns == ["term", "estimate", "se", "low", "high", "p", "naive", "naive_se", "reliability"]
    assert tidy["term"].to_list() == ["Intercept", *NAMES[1:]]
    assert tidy["reliability"].to_list()[0] is None
    assert set(ours.to_plain()) >= {"terms", "n", "converged", "method"}
    assert "times as wide as without noise" in ours.summary()
    wanted = stats.norm.cdf(ours.estimate @ [1, 1, 0, 1])
    assert ours.predict(pl.DataFrame({"smoke": [1], "breastfed": [0], "mould": [1]}))[0] == pytest.approx(wanted)


def test_a_disclosure_without_likelihood_is_told():
    table = exact(dataset_a())
    part = Averaged(
        columns=("smoke",), k=3, grouping="knn", rescaled=False, recentred=False, rounded=False, clipped=False
    )
    assert "not taken out" in fit(FORMULA, table, Disclosure([part]), family="probit").notes[0]


BASE = {"y": [0, 1, 1, 0, 1, 0], "x": [1.0, 2.0, 1.5, 3.0, 0.5, 1.1], "s": ["a", "b", "a", "b", "a", "b"]}
X_NOISY = Disclosure([Additive(("x",), [[9.0]])])


@pytest.mark.parametrize(
    ("formula", "columns", "options", "says"),
    [
        ("y ~ nothing", {}, {}, "nothing"),
        ("y ~ __import__('os')", {}, {}, "only function"),
        ("y ~ x + x2", {"x2": [2.0, 4.0, 3.0, 6.0, 1.0, 2.2]}, {}, "collinear"),
        ("y ~ x", {}, {"disclosure": X_NOISY}, "larger than all the variation"),
        ("y ~ e", {"e": [None] * 6}, {}, "no values at all"),
        ("y ~ x", {"w": [1.0, 2, 0, 1, 1, 1]}, {"weight": "w"}, "positive"),
        ("y ~ x", {}, {"weight": "w"}, "does not have"),
        ("x ~ y", {}, {"family": "probit"}, "0 and 1"),
        ("x ~ y", {}, {"family": "poisson"}, "exact counts"),
        ("s ~ x", {}, {"family": "linear"}, "numeric"),
        ("y ~ x", {}, {"family": "gamma"}, "no family"),
        ("y ~ x", {}, {"method": "magic"}, "no method"),
        ("y ~ x", {}, {"level": 95}, "between 0 and 1"),
        ("y ~ x", {"c": [1] * 6}, {"cluster": "c"}, "two clusters"),
        ("y ~ x + C(x)", {}, {}, "with and without"),
        ("y ~ s", {}, {"disclosure": Disclosure([Misclassified("s", np.eye(3))])}, "not those of its disclosed matrix"),
        ("y ~ s", {}, {"disclosure": Disclosure([Misclassified("s", np.eye(2), where={"z": 1})])}, "strata"),
        ("n ~ x", {"n": [None] * 6}, {}, "No row"),
        ("y ~ x*s*k", {"k": [0.3, 0.1, 0.7, 0.2, 0.9, 0.4]}, {}, "not more complete rows|collinear"),
        ("m ~ x", {"m": [0.3, 0.9, *[None] * 4]}, {}, "not more complete rows"),
    ],
)
def test_bad_input_is_refused(formula, columns, options, says):
    table = pl.DataFrame({**BASE, **columns})
    with pytest.raises(SfumatoError, match=says):
        fit(formula, table, **options)


@pytest.mark.parametrize("family", ["linear", "probit", "poisson"])
def test_powers_and_products_without_noise_left_are_the_plain_fit(family):
    """Noise of sd 1e-4 on numbers of sd 1; the nodes then lie within 1e-3 of each value."""
    table, _ = draw(family, 200)
    tiny = Disclosure([Additive(("x", "w"), 1e-8 * np.eye(2))])
    for formula in ("y ~ x + I(x^2) + w", "y ~ x*w"):
        plain, ours = (plainly(formula, table, told, family=family) for told in (None, tiny))
        assert ours.terms == plain.terms
        np.testing.assert_allclose(ours.estimate, plain.estimate, atol=1e-5)
        np.testing.assert_allclose(ours.se, plain.se, rtol=1e-3)
        np.testing.assert_allclose(ours.reliability[1:], 1, atol=1e-5)


def test_too_many_patterns_are_refused_before_work():
    columns = {f"d{j}": [0.1 * j, 1.0, 0.3, 0.2, 0.9, 0.5 + j] for j in range(12)}
    told = Disclosure([Additive(tuple(columns), np.eye(12), values=(0, 1))])
    with pytest.raises(SfumatoError, match="combinations of values|collinear"):
        fit("y ~ " + " + ".join(columns), pl.DataFrame({"y": np.arange(6.0), **columns}), told)


def test_noise_correlated_across_kinds_is_refused():
    table, _ = released("linear")
    part = Additive(("d", "x"), [[0.25, 0.1], [0.1, 0.36]], values={"d": (0, 1)})
    with pytest.raises(DataError, match="correlated"):
        fit("y ~ d + x", table, Disclosure([part]))


def test_codebooks_tell_missing_codes_and_categories():
    table, _ = draw("linear")
    book = Codebook({"d": Variable(kind="categorical"), "x": Variable(missing=[-9])})
    coded = table.with_columns(x=pl.when(pl.int_range(600) < 30).then(-9.0).otherwise("x"))
    gone = table.with_columns(x=pl.when(pl.int_range(600) >= 30).then("x"))
    one = fit("y ~ d + x", coded, codebook=book)
    assert one.terms == ("Intercept", "d", "x")  # 0 and 1 are numbers, whatever their kind
    np.testing.assert_allclose(one.estimate, fit("y ~ d + x", gone).estimate, rtol=1e-9)


def brute_force_slope(z, y, w, law, start):
    """y ~ x + w, linear, x | w normal; what was released of x by `law(z, x)`; Gauss-Legendre over x on ±9."""
    t, weights = np.polynomial.legendre.leggauss(200)
    x, weights = 9 * t, 9 * weights
    released = law(z[:, None], x)

    def minus(theta):
        inner = normal(x, (theta[3] + theta[4] * w)[:, None], np.exp(theta[5])) * released
        inner = inner * normal(y[:, None], theta[0] + theta[1] * x + (theta[2] * w)[:, None], np.exp(theta[6]))
        return -np.log(inner @ weights).sum()

    return optimize.minimize(minus, start, method="BFGS", options={"gtol": 1e-4})


@pytest.mark.parametrize("name", ["laplace", "clipped", "grows"])
def test_noise_that_is_not_plain_agrees_with_brute_force(name):
    """Both integrate by quadrature, over different nodes; 2e-3 of an estimate whose standard error is .1."""
    rng = np.random.default_rng(12)
    n, growth = 250, Growth(centre=0.0, scale=1.0, beyond=1.0)
    w = rng.normal(size=n)
    x = 0.5 * w + rng.normal(size=n)
    y = 0.3 + 0.6 * x - 0.2 * w + 0.8 * rng.normal(size=n)
    if name == "laplace":
        z = x + rng.laplace(0, 0.6 / 2**0.5, n)
        part = Additive(("x",), [[0.36]], distribution="laplace")

        def law(z, x):
            return stats.laplace.pdf(z, x, 0.6 / 2**0.5)
    elif name == "clipped":
        z = np.clip(x + rng.normal(0, 0.6, n), -1, 1)
        part = Additive(("x",), [[0.36]], bounds={"x": (-1, 1)})

        def law(z, x):
            edge = np.where(z >= 1, stats.norm.sf(1, x, 0.6), stats.norm.cdf(-1, x, 0.6))
            return np.where(np.abs(z) >= 1, edge, stats.norm.pdf(z, x, 0.6))
    else:
        z = x + 0.6 * growth.factor(x) * rng.normal(size=n)
        part = Additive(("x",), [[0.36]], grows={"x": growth})

        def law(z, x):
            return stats.norm.pdf(z, x, 0.6 * growth.factor(x))

    ours = plainly("y ~ x + w", pl.DataFrame({"y": y, "x": z, "w": w}), Disclosure([part]))
    found = brute_force_slope(z, y, w, law, np.array([0.3, 0.6, -0.2, 0, 0.5, 0, -0.2]))
    assert ours.converged
    np.testing.assert_allclose(ours.estimate, found.x[:3], atol=2e-3)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=0.02)
    assert ours.reliability[1] == pytest.approx(np.corrcoef(x, z)[0, 1] ** 2, abs=0.12)


@pytest.mark.parametrize("name", ["top-coded", "rounded"])
def test_values_without_noise_that_were_bounded_or_rounded(name):
    """Top-coding and rounding alone; brute force integrates each record's interval with nodes of its own."""
    rng = np.random.default_rng(13)
    n = 150
    w = rng.normal(size=n)
    x = 0.5 * w + rng.normal(size=n)
    y = 0.3 + 0.6 * x - 0.2 * w + 0.8 * rng.normal(size=n)
    if name == "top-coded":
        z, part = np.minimum(x, 0.7), Additive(("x",), [[0.0]], bounds={"x": (None, 0.7)})
        low, high = np.full(n, 0.7), np.full(n, 9.0)
        sure = z < 0.7
    else:
        z, part = np.round(x), Additive(("x",), [[0.0]], rounded={"x": 1})
        low, high = z - 0.5, z + 0.5
        sure = np.zeros(n, dtype=bool)
    t, weights = np.polynomial.legendre.leggauss(60)
    nodes = low[:, None] + np.outer(high - low, (t + 1) / 2)
    width = np.outer(high - low, weights / 2)
    nodes[sure], width[sure] = z[sure, None], 1 / 60

    def minus(theta):
        f = normal(nodes, (theta[3] + theta[4] * w)[:, None], np.exp(theta[5]))
        f = f * normal(y[:, None], theta[0] + theta[1] * nodes + (theta[2] * w)[:, None], np.exp(theta[6]))
        return -np.log((f * width).sum(axis=1)).sum()

    ours = plainly("y ~ x + w", pl.DataFrame({"y": y, "x": z, "w": w}), Disclosure([part]))
    start = np.array([0.3, 0.6, -0.2, 0, 0.5, 0, -0.2])
    found = optimize.minimize(minus, start, method="BFGS", options={"gtol": 1e-4})
    np.testing.assert_allclose(ours.estimate, found.x[:3], atol=2e-4)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=1e-2)


def test_nodes_and_robust_errors_go_together():
    rng = np.random.default_rng(14)
    x = rng.normal(size=300)
    y = x + rng.normal(size=300)
    table = pl.DataFrame({"y": y, "x": np.clip(x + rng.normal(0, 0.5, 300), -1, 1), "one": 1.0})
    told = Disclosure([Additive(("x",), [[0.25]], bounds={"x": (-1, 1)})])
    plain, robust = (plainly("y ~ x", table, told, weight=weight) for weight in (None, "one"))
    np.testing.assert_allclose(robust.estimate, plain.estimate, rtol=1e-6)
    np.testing.assert_allclose(robust.se, plain.se, rtol=0.15)


@pytest.mark.slow
def test_two_covariates_rounded_at_once():
    """Against the likelihood as a sum over 12 × 12 points of each cell of the rounding, maximised by scipy."""
    rng = np.random.default_rng(15)
    n = 80
    x = rng.normal(size=(n, 2)) @ np.array([[1.0, 0.4], [0.0, 0.9]])
    y = 0.3 + x @ [0.6, -0.4] + 0.7 * rng.normal(size=n)
    z = np.round(x)
    t, weights = np.polynomial.legendre.leggauss(12)
    cell = np.stack(np.meshgrid(t / 2, t / 2, indexing="ij"), axis=-1).reshape(-1, 2)
    mass, nodes = np.outer(weights, weights).ravel() / 4, z[:, None, :] + cell

    def minus(theta):
        root = np.array([[np.exp(theta[5]), 0.0], [theta[6], np.exp(theta[7])]])
        u = np.linalg.solve(root, (nodes - theta[3:5]).reshape(-1, 2).T)
        f = np.exp(-0.5 * (u**2).sum(axis=0)).reshape(n, -1) / (2 * np.pi * np.exp(theta[5] + theta[7]))
        f = f * normal(y[:, None], theta[0] + nodes @ theta[1:3], np.exp(theta[8]))
        return -np.log(f @ mass).sum()

    told = Disclosure([Coarsened(("x", "v"), rounded={"x": 1.0, "v": 1.0})])
    ours = plainly("y ~ x + v", pl.DataFrame({"y": y, "x": z[:, 0], "v": z[:, 1]}), told)
    found = optimize.minimize(minus, [0.3, 0.6, -0.4, 0, 0, 0, 0.4, 0, -0.3], method="BFGS", options={"gtol": 1e-4})
    np.testing.assert_allclose(ours.estimate, found.x[:3], atol=3e-4)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=1e-3)


BANDS = {"low": (None, -1.0), "middle": (-1.0, 0.5), "upper": (0.5, 1.5), "top": (1.5, None)}


def in_bands(x):
    return np.array(list(BANDS))[np.digitize(x, [-1.0, 0.5, 1.5])]


def test_a_banded_covariate_is_a_number_within_its_band():
    """Against brute force: 60 nodes in each band of the normal scores (tested on their own), maximised by scipy."""
    rng = np.random.default_rng(16)
    n = 400
    x = 0.2 + rng.normal(size=n)
    y = 0.3 + 0.6 * x + 0.7 * rng.normal(size=n)
    table = pl.DataFrame({"y": y, "x": in_bands(x)})
    ours = fit("y ~ x", table, Disclosure([Coarsened(("x",), bands=BANDS)]))
    assert any("band was released" in note for note in ours.notes)
    band = np.digitize(x, [-1.0, 0.5, 1.5])
    scores = band_scores([(-np.inf, -1.0), (-1.0, 0.5), (0.5, 1.5), (1.5, np.inf)], np.bincount(band))
    low, high = np.clip(scores.low, -8, 8)[band], np.clip(scores.high, -8, 8)[band]
    t, weights = np.polynomial.legendre.leggauss(60)
    nodes, width = low[:, None] + np.outer(high - low, (t + 1) / 2), np.outer(high - low, weights / 2)
    values = scores.values(nodes)

    def minus(theta):
        f = stats.norm.pdf(nodes, theta[2], np.exp(theta[3]))
        f = f * stats.norm.pdf(y[:, None], theta[0] + theta[1] * values, np.exp(theta[4]))
        return -np.log((f * width).sum(axis=1)).sum()

    found = optimize.minimize(minus, [0.3, 0.6, 0.0, 0, -0.3], method="BFGS", options={"gtol": 1e-4})
    np.testing.assert_allclose(ours.estimate, found.x[:2], atol=3e-4)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=2e-3)
    categories = fit("y ~ C(x)", table, Disclosure([Coarsened(("x",), bands=BANDS)]))
    assert categories.terms == ("Intercept", "C(x)[T.middle]", "C(x)[T.top]", "C(x)[T.upper]")


def test_a_banded_response_is_interval_regression():
    """Against the likelihood by scipy's normal distribution function."""
    table, _ = draw("linear")
    y, X = table["y"].to_numpy(), table.select("d", "x", "w").to_numpy()
    told = Disclosure([Coarsened(("y",), bands=BANDS)])
    ours = fit("y ~ d + x + w", table.with_columns(y=pl.Series(in_bands(y))), told)
    low, high = np.array([[-np.inf, -1.0], [-1, 0.5], [0.5, 1.5], [1.5, np.inf]])[np.digitize(y, [-1.0, 0.5, 1.5])].T

    def minus(theta):
        eta, s = theta[0] + X @ theta[1:4], np.exp(theta[4])
        return -np.log(stats.norm.cdf((high - eta) / s) - stats.norm.cdf((low - eta) / s)).sum()

    found = optimize.minimize(minus, [0, 0.5, 0.4, -0.3, -0.3], method="BFGS", options={"gtol": 1e-5})
    np.testing.assert_allclose(ours.estimate, found.x[:4], atol=1e-4)
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=1e-5)


def test_bounds_and_rounding_are_the_same_in_either_form():
    table, _ = draw("probit", 150)
    table = table.with_columns(pl.col("x").clip(upper_bound=1.0).round(1))
    one = Disclosure([Additive(("x",), [[0.0]], bounds={"x": (None, 1.0)}, rounded={"x": 0.1})])
    other = Disclosure([Coarsened(("x",), bounds={"x": (None, 1.0)}, rounded={"x": 0.1})])
    first, second = (plainly("y ~ x + w", table, told, family="probit") for told in (one, other))
    np.testing.assert_allclose(first.estimate, second.estimate, rtol=1e-12)


@pytest.mark.parametrize(
    ("formula", "parts", "says"),
    [
        ("y ~ b", [Coarsened(("b",), bands={"low": (None, 0), "top": (0, None)})], "both ends|not those"),
        ("y ~ b", [Coarsened(("b",), bands=BANDS), Misclassified("b", np.eye(4))], "another way as well"),
        ("b ~ x", [Coarsened(("b",), bands=BANDS), Misclassified("b", np.eye(4))], "another way as well"),
        ("y ~ b + C(b)", [Coarsened(("b",), bands=BANDS)], "with and without"),
        ("y ~ k", [Coarsened(("k",), bands=BANDS)], "lie in one band"),
        ("y ~ I(s^2)", [], "power|number"),
        ("y ~ I(huge^6)", [], "too large for a number"),
    ],
)
def test_bands_that_make_no_sense_are_refused(formula, parts, says):
    table, _ = draw("linear", 60)
    s = pl.Series(["u", "v"] * 30)
    table = table.with_columns(b=pl.Series(in_bands(table["x"].to_numpy())), k=pl.lit("middle"), s=s)
    table = table.with_columns(huge=1e60 * pl.col("x"))
    with pytest.raises(SfumatoError, match=says):
        fit(formula, table, Disclosure(parts))


def test_columns_that_a_disclosure_does_not_speak_of_are_named():
    table, _ = draw("linear")
    told = Disclosure([Additive(("x",), [[0.1]])])
    assert "No disclosure was given: every value is taken for the true one." in fit("y ~ x", table).notes
    assert "The disclosure does not speak of y, w: values there are taken for the true ones." in (
        fit("y ~ x + w", table, told).notes
    )
    assert not fit("y ~ x + w", table, told, complete=True).notes


@pytest.mark.parametrize("seed", [19, 21, 24])
def test_noise_that_leaves_no_maximum_gives_no_estimate(seed):
    """Sixty records, noise as large as the variation: the corrected likelihood may rise without end."""
    rng = np.random.default_rng(seed)
    d, x = rng.integers(0, 2, 60).astype(float), rng.normal(size=60)
    y = (1.5 * d + x - 0.5 + rng.normal(size=60) > 0).astype(int)
    table = pl.DataFrame({"y": y, "d": d + 0.9 * rng.normal(size=60), "x": x + 0.7 * rng.normal(size=60)})
    told = Disclosure([Additive(("d",), [[0.81]], values=(0, 1)), Additive(("x",), [[0.49]])])
    ours = fit("y ~ d + x", table, told, family="probit")
    assert any("noise on d, x is too strong" in note and "no estimate" in note for note in ours.notes)
    assert not ours.converged
    assert np.isnan([ours.estimate, ours.se, ours.p_values]).all()
    assert np.isfinite([ours.naive, ours.naive_se]).all()


def test_a_perfect_line_is_no_trouble():
    ours = fit("y ~ x", pl.DataFrame({"x": [0.0, 1, 2, 3], "y": [1.0, 3, 5, 7]}))
    np.testing.assert_allclose(ours.estimate, [1, 2], rtol=1e-12)
    np.testing.assert_allclose(ours.se, 0, atol=1e-12)


def test_responses_that_lie_nearly_on_the_line_of_the_true_values_do_not_overflow():
    """The errors' variance is then estimated as zero, where the likelihood is flat in its logarithm."""
    table = pl.DataFrame({"y": [0.1, 0.9, 2.2, 2.9, 4.1, 5.0], "x": [0.3, 0.6, 2.4, 2.7, 4.5, 4.6]})
    found = fit("y ~ x", table, Disclosure([Additive(("x",), [[0.1]])]))
    assert not found.converged
    assert np.isnan(found.estimate).all()  # no direction has information enough to be told from rounding
    assert any("do not determine every coefficient" in note for note in found.notes)
    assert found.naive[1] == pytest.approx(1, abs=0.1)


def far(shift, n=800, seed=23):
    """A noisy x, an exact year that lies `shift` of its standard deviations from zero, and responses that bend."""
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=n), rng.normal(size=n)
    eta = 0.2 + 0.5 * x + 0.3 * u + 0.2 * u**2 + 0.2 * u * x
    y = eta + rng.normal(size=n)
    table = {"y": y, "b": (y > 0.3) * 1, "c": rng.poisson(np.exp(0.5 * eta)), "x": x + 0.5 * rng.normal(size=n)}
    return pl.DataFrame({**table, "year": u + shift, "g": np.arange(n) % 40, "one": 1.0})


FAR_NOISE = Disclosure([Additive(("x",), [[0.25]])])


@pytest.mark.parametrize("response", ["y", "b"])
@pytest.mark.parametrize(
    ("formula", "shift"), [("x + year + I(year^2)", 25), ("x * year", 130), ("x + year + I(year^2) + I(year^3)", 8)]
)
def test_where_zero_lies_changes_nothing(response, formula, shift):
    """The highest term's coefficient, its error and the likelihood are the same wherever the year counts from."""
    family = "linear" if response == "y" else "probit"
    near, off = (plainly(f"{response} ~ {formula}", far(s, 300), FAR_NOISE, family=family) for s in (0, shift))
    assert near.converged
    assert off.converged
    assert not any("prior" in note for note in off.notes)
    assert off.estimate[-1] == pytest.approx(near.estimate[-1], abs=1e-3 * near.se[-1])
    assert off.se[-1] == pytest.approx(near.se[-1], rel=1e-3)
    assert off.log_likelihood == pytest.approx(near.log_likelihood, abs=1e-4)


@pytest.mark.parametrize(
    ("formula", "options"),
    [
        ("y ~ x + year + I(year^2)", {"disclosure": FAR_NOISE}),
        ("b ~ x + year + I(year^2)", {"disclosure": FAR_NOISE, "family": "probit"}),
        ("y ~ year + I(year^2)", {"disclosure": Disclosure([Additive(("y",), [[0.1]])])}),
        ("y ~ year + I(year^2)", {"method": "bayes"}),
        ("y ~ year + I(year^2)", {"weight": "one"}),
        ("c ~ year + I(year^2)", {"family": "poisson", "method": "naive"}),
        ("y ~ year + I(year^2)", {"group": "g"}),
    ],
)
def test_powers_too_far_from_zero_are_refused(formula, options):
    with pytest.raises(DataError, match="'year' lie far from zero"):
        fit(formula, far(200), **options)


@pytest.mark.parametrize("family", ["linear", "probit", "logit"])
def test_plain_exact_fits_do_not_mind_where_zero_lies(family):
    """Birth years and their squares; the plain kernel makes columns orthogonal first."""
    response = "y" if family == "linear" else "b"
    near, off = (fit(f"{response} ~ year + I(year^2)", far(s), family=family) for s in (0, 130))
    assert off.converged
    assert off.estimate[-1] == pytest.approx(near.estimate[-1], rel=1e-6)
    assert off.se[-1] == pytest.approx(near.se[-1], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["linear", "probit"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_change_nothing(family, unit):
    """A noisy square in another unit: coefficients and errors are divided by it, and by its square."""
    table = far(0, 200)
    response = "y" if family == "linear" else "b"
    one = fit(f"{response} ~ x + I(x^2)", table, FAR_NOISE, family=family)
    told = Disclosure([Additive(("x",), [[0.25 * unit**2]])])
    other = fit(f"{response} ~ x + I(x^2)", table.with_columns(pl.col("x") * unit), told, family=family)
    powers = unit ** np.arange(3)
    np.testing.assert_allclose(other.estimate * powers, one.estimate, atol=1e-4 * one.se.max())
    np.testing.assert_allclose(other.se * powers, one.se, rtol=1e-4)
    assert other.converged


def test_priors_are_for_bayes():
    table, _ = draw("linear", 60)
    with pytest.raises(DataError, match="Only method `bayes` takes priors"):
        fit("y ~ x", table, priors={"x": (0, 0.01)})
    assert fit("y ~ x", table, priors={}).converged


def test_a_factor_of_one_category_is_told():
    table, _ = draw("linear", 60)
    ours = fit("y ~ x + s", table.with_columns(s=pl.lit("a")))
    assert ours.terms == ("Intercept", "x")
    assert "All records have the same category of s: it has no coefficient." in ours.notes
    assert not any("same category" in note for note in fit("y ~ x", table).notes)


@pytest.mark.parametrize(("formula", "family"), [("y ~ Intercept + x", "linear"), ("c ~ `0|1`", "ordered")])
def test_two_coefficients_of_one_name_are_refused(formula, family):
    table, rng = draw("linear", 60)
    table = table.with_columns(pl.col("w").alias("Intercept"), pl.col("w").alias("0|1"), c=rng.integers(0, 3, 60))
    with pytest.raises(DataError, match="Two coefficients would be called"):
        fit(formula, table, family=family)
    if family == "linear":
        assert fit("y ~ 0 + Intercept + x", table).terms == ("Intercept", "x")


def test_a_part_given_twice_counts_twice():
    """Whether it is the same object or an equal one; noise of .1 and again .1 is noise of .2."""
    table, _ = released("linear", 100)
    part = Additive(("x",), [[0.1]])
    twice, equal, once = (
        plainly("y ~ x", table, parts)
        for parts in map(Disclosure, ([part, part], [part, Additive(("x",), [[0.1]])], [Additive(("x",), [[0.2]])]))
    )
    np.testing.assert_allclose(twice.estimate, once.estimate, rtol=1e-6)
    np.testing.assert_allclose(equal.estimate, once.estimate, rtol=1e-6)


def test_a_disclosure_may_be_its_parts():
    table, told = released("probit", 100)
    one, other = (plainly("y ~ x", table, given, family="probit") for given in (told, list(told)))
    np.testing.assert_array_equal(one.estimate, other.estimate)
    bare = plainly("y ~ x", table, told.parts[1], family="probit")
    np.testing.assert_array_equal(bare.estimate, one.estimate)
    with pytest.raises(DataError, match="no disclosure"):
        fit("y ~ x", table, "x")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"level": "a"}, "between 0 and 1"),
        ({"weight": ["w"]}, "name of one column"),
        ({"cluster": 5}, "name of one column"),
        ({"group": ""}, "name of one column"),
        ({"method": "bayes", "priors": 5}, "given by term"),
        ({"method": "bayes", "draws": "many"}, "whole numbers"),
    ],
)
def test_options_of_another_kind_are_refused(options, says):
    table, _ = draw("linear", 60)
    with pytest.raises(DataError, match=says):
        fit("y ~ x", table, **options)


@pytest.mark.parametrize(
    ("column", "family"), [("k", "linear"), ("zero", "linear"), ("k", "probit"), ("zero", "poisson")]
)
@pytest.mark.parametrize("told", [None, FAR_NOISE])
def test_a_response_that_does_not_vary_is_refused(column, family, told):
    table = far(0, 100).with_columns(k=pl.lit(1), zero=pl.lit(0))
    with pytest.raises(DataError, match="does not vary"):
        fit(f"{column} ~ x", table, told, family=family)


@pytest.mark.parametrize("how", ["noise", "missing", "bayes", "weight"])
def test_a_response_on_a_line_is_refused_where_its_likelihood_has_no_maximum(how):
    table = far(0, 100).with_columns(line=1 + 2 * pl.col("x"))
    told, options = (FAR_NOISE, {}) if how == "noise" else (None, {})
    if how == "missing":
        table = table.with_columns(x=pl.when(pl.int_range(100) % 5 > 0).then("x"))
    elif how == "bayes":
        options = {"method": "bayes"}
    elif how == "weight":
        options = {"weight": "one"}
    with pytest.raises(DataError, match="on a line"):
        fit("line ~ x", table, told, **options)


def test_perfectly_correlated_noise_on_few_values_is_refused():
    table, _ = draw("linear", 60)
    table = table.with_columns(e=(pl.col("w") > 0).cast(pl.Float64))
    part = Additive(("d", "e"), [[0.16, 0.16], [0.16, 0.16]], values=(0, 1))
    shared = table.with_columns(pl.col("d") + 0.3 * pl.col("x"), pl.col("e") + 0.3 * pl.col("x"))
    with pytest.raises(DataError, match="perfectly correlated"):
        fit("y ~ d + e", shared, Disclosure([part]))


@pytest.mark.slow
def test_a_response_that_a_line_of_hidden_values_can_explain_is_refused():
    """Of two categories with noise of sd 5 nothing is left; 0/1 responses lie on d = y, and errors shrink for ever."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    d = rng.integers(0, 2, 400) + rng.normal(0, 5, 400)
    table = pl.DataFrame({"y": y, "d": d})
    told = Disclosure([Additive(("d",), [[25.0]], values=(0, 1))])
    with pytest.raises(DataError, match="on a line of the true covariates"):
        fit("y ~ d", table, told, method="bayes")
    assert fit("y ~ d", table, told, family="probit").notes


def next_to_no_records(family, n, seeds):
    """How many could be fitted, and what is said of the others. Warnings of numpy count as errors here."""
    fitted, refused = 0, []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n)
        y = x + rng.normal(size=n)
        table = pl.DataFrame({"y": y if family == "linear" else (y > 0) * 1, "x": x + 0.5 * rng.normal(size=n)})
        try:
            ours = fit("y ~ x", table, FAR_NOISE, family=family)
        except DataError as error:
            refused.append(str(error))
        else:
            fitted += 1
            assert np.isfinite(ours.estimate).all() or any("no estimate" in note.lower() for note in ours.notes)
    known = ("larger than all the variation", "cannot be evaluated", "does not vary")
    assert all(any(words in text for words in known) for text in refused)
    return fitted, len(refused)


@pytest.mark.parametrize(
    ("family", "n", "seeds"),
    [("linear", 3, (0, 3, 6)), ("linear", 4, (0, 2, 6)), ("probit", 3, (0, 1, 5)), ("probit", 4, (0, 3, 6))],
)
def test_next_to_no_records_give_a_fit_or_a_clear_error(family, n, seeds):
    """Seeds that are refused, and such as are fitted, or have no estimate."""
    assert min(next_to_no_records(family, n, seeds)) > 0


@pytest.mark.nightly(of="tests/inference/test_fit.py::test_next_to_no_records_give_a_fit_or_a_clear_error")
@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("family", ["linear", "probit"])
def test_next_to_no_records_of_more_seeds(n, family):
    fitted, _ = next_to_no_records(family, n, range(8))
    assert fitted or n == 3


def test_an_empty_cell_is_told_by_its_variables_and_no_category():
    rng = np.random.default_rng(3)
    a, c = rng.integers(0, 3, 600), rng.integers(0, 3, 600)
    table = pl.DataFrame({"y": a + rng.normal(size=600), "a": a, "c": c}).filter((pl.col("a") < 2) | (pl.col("c") < 2))
    with pytest.raises(SfumatoError, match="^Of a:c a category or combination does not occur"):
        fit("y ~ C(a)*C(c)", table)
    told = Disclosure([Misclassified("s", np.full((3, 3), 0.1) + 0.7 * np.eye(3), levels=("p", "q", "r"))])
    table = table.with_columns(s=pl.when(pl.col("c") > 0).then(pl.lit("p")).otherwise(pl.lit("q")))
    with pytest.raises(SfumatoError, match="^Of s a category or combination does not occur"):
        fit("y ~ s", table, told)
    with pytest.raises(SfumatoError, match="The terms s are determined") as refused:
        fit("y ~ d + s", table.with_columns(d=(pl.col("s") == "p").cast(pl.Float64)))
    assert "[" not in str(refused.value)
    filled = table.filter(pl.col("a") < 2)
    with pytest.raises(SfumatoError, match="collinear"):
        fit("y ~ a + I(a^2)", filled)


def test_clusters_no_more_than_coefficients_are_refused():
    table, _ = draw("linear", 120)
    for clusters, fits in ((2, False), (3, False), (4, True), (29, True), (30, True)):
        labelled = table.with_columns(k=pl.Series(np.arange(120) % clusters))
        if fits:
            notes = fit("y ~ x + w", labelled, cluster="k").notes
            assert any("fewer than 30 clusters" in note for note in notes) == (clusters < 30)
        else:
            with pytest.raises(DataError, match="more clusters than the model has coefficients"):
                fit("y ~ x + w", labelled, cluster="k")


@pytest.mark.slow
def test_a_combination_that_hardly_occurs_among_the_true_values_is_told():
    """No record has (1, 1) in truth; exchange with probability .1 shows some."""
    rng = np.random.default_rng(30)
    a = rng.integers(0, 2, 2000)
    b = np.where(a == 1, 0, rng.integers(0, 2, 2000))
    P = [[0.9, 0.1], [0.1, 0.9]]
    told = Disclosure([Misclassified(n, P, levels=(0, 1)) for n in ("a", "b")])

    def released(b):
        y = 0.3 * a + 0.2 * b + rng.normal(size=2000)
        seen = {n: np.where(rng.random(2000) < 0.1, 1 - x, x) for n, x in (("a", a), ("b", b))}
        return pl.DataFrame({"y": y, **seen})

    says = "Some combinations of the true values of a, b hardly occur"
    assert any(says in note for note in fit("y ~ a*b", released(b), told).notes)
    assert not any("hardly occur" in note for note in fit("y ~ a + b", released(b), told).notes)
    assert not any("hardly occur" in note for note in fit("y ~ a*b", released(rng.integers(0, 2, 2000)), told).notes)


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("ml", "what hidden numbers look like: a mixture of 2"),
        ("bayes", "drawing from the posterior"),
    ],
)
def test_progress_never_goes_back(method, says):
    table, rng = draw("linear", n=200)
    table = table.with_columns(x=pl.Series(table["x"] + rng.normal(0, 0.5, 200)))
    noisy_x, told = Disclosure([Additive(("x",), [[0.25]])]), []
    fit("y ~ x + w", table, noisy_x, method=method, draws=200, progress=lambda *it: told.append(it))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] < 1
    assert says in [what for what, _ in told]


# The grid


@pytest.mark.parametrize("family", ["linear", "probit"])
@pytest.mark.parametrize("step", [0.05, 0.1, 0.2, 0.5])
def test_rounding_of_up_to_a_fifth_of_the_sd_leaves_estimates_where_they_were(family, step):
    """Less than .05 standard errors, for a number with sd 4 and noise of sd 2.8."""
    rng = np.random.default_rng(8)
    x = rng.normal(25, 4, 3000)
    y = 0.11 * (x - 25) + rng.normal(size=3000)
    z = x + rng.normal(0, 2.8, 3000)
    y = y if family == "linear" else (y > 0).astype(float)
    full, grid = (pl.DataFrame({"y": y, "x": v}) for v in (z, np.round(z / step) * step))
    exactly = plainly("y ~ x", full, Disclosure([Additive(("x",), [[2.8**2]])]), family=family)
    rounded = plainly("y ~ x", grid, Disclosure([Additive(("x",), [[2.8**2]], rounded={"x": step})]), family=family)
    assert np.all(np.abs(rounded.estimate - exactly.estimate) < 0.05 * exactly.se)
    np.testing.assert_allclose(rounded.se, exactly.se, rtol=0.01)


@pytest.mark.parametrize("kinds", ["numbers", "0/1"])
def test_correlated_noise_may_be_rounded(kinds):
    rng = np.random.default_rng(9)
    x = rng.normal(size=(4000, 2)) if kinds == "numbers" else rng.integers(0, 2, (4000, 2)).astype(float)
    y = x @ [0.5, -0.3] + rng.normal(size=4000)
    covariance = np.array([[0.2, 0.12], [0.12, 0.3]])
    z = x + rng.multivariate_normal([0, 0], covariance, 4000)
    values = {} if kinds == "numbers" else {"a": (0, 1), "b": (0, 1)}
    told = [
        Additive(("a", "b"), covariance, values=values, **more) for more in ({}, {"rounded": {"a": 0.05, "b": 0.1}})
    ]
    grid = np.column_stack([np.round(z[:, 0] / 0.05) * 0.05, np.round(z[:, 1] / 0.1) * 0.1])
    full, coarse = (pl.DataFrame({"y": y, "a": v[:, 0], "b": v[:, 1]}) for v in (z, grid))
    exactly = plainly("y ~ a + b", full, Disclosure([told[0]]))
    rounded = plainly("y ~ a + b", coarse, Disclosure([told[1]]))
    assert np.all(np.abs(rounded.estimate - exactly.estimate) < 0.05 * exactly.se)
    with pytest.raises(DataError, match="no multiples"):
        plainly("y ~ a + b", full, Disclosure([told[1]]))


@pytest.mark.parametrize("more", [{"distribution": "laplace"}, {"bounds": {"x": (-1.53, 1.22)}}])
def test_rounded_noise_that_is_not_plain_normal_gives_the_same(more):
    rng = np.random.default_rng(10)
    x, n = rng.normal(size=2000), 2000
    y = (0.6 * x + rng.normal(size=n) > 0).astype(float)
    noise = rng.laplace(0, 0.5, n) if "distribution" in more else rng.normal(0, 0.5**0.5, n)
    low, high = more.get("bounds", {}).get("x", (-np.inf, np.inf))
    z = x + noise
    full, grid = (
        pl.DataFrame({"y": y, "x": np.where(z <= low, low, np.where(z >= high, high, np.clip(v, low, high)))})
        for v in (z, np.round(z / 0.02) * 0.02)
    )
    exactly = plainly("y ~ x", full, Disclosure([Additive(("x",), [[0.5]], **more)]), family="probit")
    rounded = plainly(
        "y ~ x", grid, Disclosure([Additive(("x",), [[0.5]], rounded={"x": 0.02}, **more)]), family="probit"
    )
    assert np.all(np.abs(rounded.estimate - exactly.estimate) < 0.05 * exactly.se)


def test_a_rounded_noisy_response_between_bounds_gives_the_same():
    rng = np.random.default_rng(11)
    x = rng.normal(size=3000)
    z = 0.6 * x + rng.normal(size=3000) + rng.normal(0, 0.7, 3000)
    full, grid = (pl.DataFrame({"y": np.minimum(v, 1.5), "x": x}) for v in (z, np.round(z / 0.02) * 0.02))
    told = {"bounds": {"y": (None, 1.5)}}
    exactly = plainly("y ~ x", full, Disclosure([Additive(("y",), [[0.49]], **told)]))
    rounded = plainly("y ~ x", grid, Disclosure([Additive(("y",), [[0.49]], rounded={"y": 0.02}, **told)]))
    assert np.all(np.abs(rounded.estimate - exactly.estimate) < 0.05 * exactly.se)


def test_a_logarithm_of_the_response_is_that_of_a_derived_column():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    table = pl.DataFrame({"x": x, "y": np.exp(0.3 * x + rng.normal(size=200))}).with_columns(l=pl.col("y").log())
    ours, theirs = (fit(f"{y} ~ x", table, Disclosure([Additive(("x",), [[0.3]])])) for y in ("log(y)", "l"))
    np.testing.assert_allclose(ours.estimate, theirs.estimate, rtol=1e-12)
    for options, says in (
        ({"disclosure": Disclosure([Additive(("y",), [[0.3]])])}, "derive the logarithm before the noise"),
        ({"family": "poisson"}, "takes no logarithm"),
        ({"data": table.with_columns(y=pl.col("y") - 5)}, "not above 0"),
    ):
        with pytest.raises(SfumatoError, match=says):
            fit("log(y) ~ x", **{"data": table, **options})
