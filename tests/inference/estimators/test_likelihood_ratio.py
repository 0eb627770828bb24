"""Likelihood-ratio intervals against brute-force profiles, least squares, and what they are for: coverage."""

import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from scipy.special import gammaln, log_expit, log_ndtr

from sfumato.data.disclosure import Additive, Disclosure
from sfumato.inference.estimators.likelihood_ratio import INFLATED, profile_intervals
from sfumato.inference.fit import fit as any_fit
from sfumato.inference.work import Work
from tests.inference.studies import log_normal
from tests.late import late

sm = late("statsmodels.api")
fit = partial(any_fit, method="ml")

CUT = stats.chi2.ppf(0.95, 1)
ONE_SIDED = 0


def binary(family, n=500, seed=3):
    """A binary covariate d, released with noise of variance 1, and a response."""
    rng = np.random.default_rng(seed)
    d = (rng.random(n) < 0.4).astype(float)
    eta = -0.3 + 0.7 * d
    y = {
        "linear": lambda: eta + 0.8 * rng.normal(size=n),
        "probit": lambda: (eta + rng.normal(size=n) > 0).astype(float),
        "logit": lambda: (eta + rng.logistic(size=n) > 0).astype(float),
        "poisson": lambda: rng.poisson(np.exp(eta)).astype(float),
    }[family]()
    return pl.DataFrame({"y": y, "d": d + rng.normal(size=n)}), Disclosure([Additive(("d",), [[1.0]], values=(0, 1))])


def log_density(family, y, eta, extra):
    if family == "linear":
        return log_normal(y, eta, np.exp(extra))
    if family == "poisson":
        return y * eta - np.exp(eta) - gammaln(y + 1)
    return (log_ndtr if family == "probit" else log_expit)((2 * y - 1) * eta)


def of_binary(family, table):
    """Log-likelihood of (b0, b1, log-odds of d, [log σ])."""
    y, z = table["y"].to_numpy(), table["d"].to_numpy()

    def log_likelihood(t):
        parts = [
            log_expit((2 * k - 1) * t[2]) + log_normal(z, k, 1) + log_density(family, y, t[0] + k * t[1], t[-1])
            for k in (0, 1)
        ]
        return np.logaddexp(*parts).sum()

    return log_likelihood


def continuous(family, n=300, noise=7 / 3, seed=1):
    """A normal covariate x of reliability .3 that hangs on an exact one, and a response."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=n)
    x = 0.6 * w + 0.8 * rng.normal(size=n)
    y = 0.5 * x + 0.3 * w + rng.normal(size=n)
    y = y if family == "linear" else (y > 0).astype(float)
    table = pl.DataFrame({"y": y, "x": x + noise**0.5 * rng.normal(size=n), "w": w})
    return table, Disclosure([Additive(("x",), [[noise]])])


def of_continuous(family, table, noise=7 / 3):
    """Log-likelihood of (b0, bx, bw, mean of x: a0, a1, log sd of x, [log σ]); x is integrated out in closed form."""
    y, z, w = (table[n].to_numpy() for n in ("y", "x", "w"))

    def log_likelihood(t):
        mu, s2 = t[3] + t[4] * w, np.exp(2 * t[5])
        m, v = mu + s2 / (s2 + noise) * (z - mu), s2 * noise / (s2 + noise)
        eta, spread = t[0] + t[1] * m + t[2] * w, t[1] ** 2 * v
        of_z = log_normal(z, mu, np.sqrt(s2 + noise))
        if family == "linear":
            return (of_z + log_normal(y, eta, np.sqrt(np.exp(2 * t[6]) + spread))).sum()
        return (of_z + log_ndtr((2 * y - 1) * eta / np.sqrt(1 + spread))).sum()

    return log_likelihood


def climb(f, start):
    """The maximum by a general optimiser with derivatives by differences, begun again where it stopped."""
    for method in ("Nelder-Mead", "BFGS", "BFGS"):
        options = {"maxiter": 2000, "xatol": 1e-6, "fatol": 1e-9} if method == "Nelder-Mead" else {"gtol": 1e-6}
        jac = {} if method == "Nelder-Mead" else {"jac": "3-point"}
        start = optimize.minimize(lambda t: -f(t), start, method=method, options=options, **jac).x
    return start, f(start)


def ratio_of(f, best, height, j):
    """2 (l_max − l_p(b)) as a function of b, each point begun at the one before."""
    rest = [np.delete(best, j)]

    def ratio(b):
        def held(t):
            return f(np.insert(t, j, b))

        found = optimize.minimize(lambda t: -held(t), rest[0], method="BFGS", jac="3-point", options={"gtol": 1e-5})
        rest[0] = found.x
        return 2 * (height + found.fun)

    return ratio


def check(ours, ends, f, start, j, cut):
    """Ends of one coefficient; 1e-3 of a standard error is the bar. Returns the ratio at zero."""
    best, height = climb(f, start)
    np.testing.assert_allclose(ours.estimate[j], best[j], atol=1e-3 * ours.se[j])
    for end, side in zip(ends, (-1, 1), strict=True):
        ratio = ratio_of(f, best, height, j)
        wald = side * ours.se[j]
        near, far = best[j] + 0.5 * wald, best[j] + 1.2 * wald
        while ratio(far) < cut:
            near, far = far, far + 0.5 * wald
        wanted = optimize.brentq(lambda b, ratio=ratio: ratio(b) - cut, near, far, xtol=1e-5 * ours.se[j])
        assert end == pytest.approx(wanted, abs=1e-3 * ours.se[j])
    return ratio_of(f, best, height, j)(0.0)


def estimate_of(table, told, family, formula="y ~ x + w"):
    """The maximum that a fit starts from."""
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        real = Work.maximum
        patch.setattr(Work, "maximum", lambda self, recession=None: kept.append(real(self, recession)) or kept[0])
        ours = fit(formula, table, told, family=family, reduce_bias=False)
    return ours, kept[0]


@pytest.mark.parametrize("family", ["probit", "logit", "poisson"])
def test_a_noisy_binary_covariate_agrees_with_brute_force(family):
    table, told = binary(family)
    ours, found = estimate_of(table, told, family, "y ~ d")
    profile = profile_intervals(found, [1])
    ratio = check(ours, profile[0, :2], of_binary(family, table), np.array([-0.3, 0.7, -0.4]), 1, CUT)
    assert profile[0, 2] == pytest.approx(stats.chi2.sf(ratio, 1), abs=1e-4)
    if ours.inflation.max() >= INFLATED:
        np.testing.assert_array_equal(ours.profile[1], profile[0])


def test_a_linear_model_has_students_quantile():
    """The cut is that of least squares, n log(1 + t²/(n − p)); without noise the ratio is exactly t's."""
    table, told = binary("linear", 120)
    ours = fit("y ~ d", table, told)
    cut = 120 * np.log1p(stats.t.ppf(0.975, 118) ** 2 / 118)
    ratio = check(ours, ours.interval[1], of_binary("linear", table), np.array([-0.3, 0.7, -0.4, -0.2]), 1, cut)
    t = np.sqrt(118 * np.expm1(ratio / 120))
    assert ours.p_values[1] == pytest.approx(2 * stats.t.sf(t, 118), abs=1e-4)


@pytest.mark.parametrize(
    ("family", "j"),
    [
        ("linear", 1),
        ("probit", 2),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("linear", 2), ("probit", 1))),
    ],
)
def test_a_noisy_number_and_its_exact_companion_agree_with_brute_force(family, j):
    table, told = continuous(family)
    ours = fit("y ~ x + w", table, told, family=family, reduce_bias=False)
    start = np.array([0.0, 0.5, 0.3, 0.0, 0.6, -0.2, 0.0][: 7 if family == "linear" else 6])
    cut = 300 * np.log1p(stats.t.ppf(0.975, 297) ** 2 / 297) if family == "linear" else CUT
    assert not np.isnan(ours.profile[j]).any()
    check(ours, ours.interval[j], of_continuous(family, table), start, j, cut)


def test_without_noise_a_linear_model_has_the_intervals_of_least_squares():
    """Noise of variance 1e-12; statsmodels' t intervals, n = 30 so that t and normal quantiles differ by 5%."""
    table, _ = continuous("linear", 30)
    ours, found = estimate_of(table, Disclosure([Additive(("x",), [[1e-12]])]), "linear")
    theirs = sm.OLS(table["y"].to_numpy(), sm.add_constant(table.select("x", "w").to_numpy())).fit()
    profile = profile_intervals(found, [0, 1, 2], 0.95, ours.n, ours.degrees)
    np.testing.assert_allclose(profile[:, :2], theirs.conf_int(), atol=1e-3 * theirs.bse.min())
    np.testing.assert_allclose(profile[:, 2], theirs.pvalues, atol=1e-4)
    assert ours.profile is None


@pytest.mark.slow
def test_bounds_that_do_not_exist(monkeypatch):
    """Noise as large as all variation (of which `fit` by itself prints no estimate), a response that has nothing to do
    with it: as b grows, the variance of x can shrink without much loss. The limit is x without variance, uncorrelated
    with y; its ratio is found by hand."""
    monkeypatch.setattr("sfumato.inference.fit.little_known", lambda *_: "")
    rng = np.random.default_rng(2)
    n = 60
    table = pl.DataFrame({"x": rng.normal(0, 1.1, n), "y": rng.normal(size=n)})
    z, y = table["x"].to_numpy(), table["y"].to_numpy()
    ours = fit("y ~ x", table, Disclosure([Additive(("x",), [[1.0]])]))
    limit = log_normal(z, z.mean(), 1).sum() + log_normal(y, y.mean(), y.std()).sum()
    assert 2 * (ours.log_likelihood - limit) < CUT
    assert ours.interval[1].tolist() == [-np.inf, np.inf]
    assert sum("no lower bound on" in note or "no upper bound on" in note for note in ours.notes) == 2
    plain = json.loads(json.dumps(ours.to_plain(), allow_nan=False))
    assert plain["terms"][1]["low"] is None
    assert plain["terms"][1]["high"] is None
    assert ours.tidy()["high"][1] == np.inf
    assert "inf" in ours.summary()
    assert not any("times as wide" in sentence for sentence in ours.noise_sentences() if sentence.startswith("x:"))


@pytest.mark.slow
def test_a_bound_on_one_side_only():
    """The ratio stays below the cut however large the coefficient is held, by the test's own likelihood."""
    table, told = continuous("probit", 300, noise=4.0, seed=ONE_SIDED)
    ours = fit("y ~ x + w", table, told, family="probit")
    low, high = ours.interval[1]
    assert np.isfinite(low)
    assert high == np.inf
    f = of_continuous("probit", table, 4.0)
    best, height = climb(f, np.array([0.0, 0.5, 0.3, 0.0, 0.6, -0.2]))
    ratio = ratio_of(f, best, height, 1)
    assert max(ratio(b) for b in best[1] * np.array([2.0, 4.0, 10.0, 30.0])) < CUT


def test_interval_and_p_value_agree():
    """Zero is inside the interval of level 1 − α where p > α."""
    table, told = binary("probit", 900, seed=5)
    p = fit("y ~ d", table, told, family="probit").p_values[1]
    for level, inside in ((1 - 1.02 * p, False), (1 - 0.98 * p, True)):
        low, high = fit("y ~ d", table, told, family="probit", level=level).interval[1]
        assert (low < 0 < high) == inside


def test_wald_stays_where_it_holds():
    table, _ = binary("probit")
    weak = Disclosure([Additive(("d",), [[0.01]], values=(0, 1))])
    slightly = pl.col("d").round().clip(0, 1) + pl.Series(np.random.default_rng(0).normal(0, 0.1, table.height))
    assert fit("y ~ d", table.with_columns(d=slightly), weak, family="probit").profile is None
    strong = table.with_columns(w=pl.lit(1.0), g=pl.int_range(pl.len()) % 50)
    told = binary("probit")[1]
    assert fit("y ~ d", strong, told, family="probit", weight="w").profile is None
    assert fit("y ~ d", strong, told, family="probit", cluster="g").profile is None


@pytest.mark.slow
def test_row_order_changes_nothing():
    """1e-5 of a standard error: the other parameters end where they do up to the ascent's tolerance."""
    table, told = continuous("probit")
    one = fit("y ~ x + w", table, told, family="probit")
    two = fit("y ~ x + w", table.sample(fraction=1, shuffle=True, seed=1), told, family="probit")
    np.testing.assert_allclose(two.interval / one.se[:, None], one.interval / one.se[:, None], atol=1e-5)


@pytest.mark.slow
def test_both_sides_are_missed_equally_often():
    """Wald's interval misses four truths on its one side of 25 samples, and may not take the ratio's place."""
    sides_are_missed_equally_often(25)


@pytest.mark.nightly(of="tests/inference/estimators/test_likelihood_ratio.py::test_both_sides_are_missed_equally_often")
def test_both_sides_are_missed_equally_often_in_more_samples():
    sides_are_missed_equally_often(500)


def sides_are_missed_equally_often(times):
    """Reliability .2, samples of 1,000: Wald's interval of a noisy covariate misses truths above it only, that of
    its exact companion truths below; the likelihood ratio misses each side near 2.5% (bar: three standard errors)."""
    rng = np.random.default_rng(2)
    truth, n = np.array([0.0, 0.5, 0.3]), 1000
    wald, ratio = np.zeros((3, 2)), np.zeros((3, 2))
    for _ in range(times):
        x = rng.normal(size=n)
        w = 0.5 * x + rng.normal(size=n)
        y = 0.5 * x + 0.3 * w + rng.normal(size=n)
        table = pl.DataFrame({"y": y, "x": x + 2 * rng.normal(size=n), "w": w})
        ours = fit("y ~ x + w", table, Disclosure([Additive(("x",), [[4.0]])]), hidden="normal")
        half = stats.t.ppf(0.975, n - 3) * ours.se
        wald += np.column_stack([truth > ours.estimate + half, truth < ours.estimate - half]) / times
        ratio += np.column_stack([truth > ours.interval[:, 1], truth < ours.interval[:, 0]]) / times
    assert ratio.max() < 0.025 + 3 * np.sqrt(0.025 * 0.975 / times)
    lopsided = [np.abs(np.diff(shares[1:], axis=1)).sum() for shares in (wald, ratio)]
    assert lopsided[1] < 0.5 * lopsided[0]
