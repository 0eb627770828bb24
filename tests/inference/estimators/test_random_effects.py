"""Random effects against statsmodels, against brute-force quadrature with a general optimiser, limits, and recovery."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from scipy.special import expit, log_expit, log_ndtr, logsumexp, ndtr

from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.errors import DataError
from sfumato.inference.fit import fit
from tests.inference.studies import log_normal
from tests.late import late

sm = late("statsmodels.api")

FORMULA = "y ~ d + x + w"
NOISE_D, NOISE_X = 0.2, 0.4
PART_D, PART_X = Additive(("d",), [[NOISE_D]], values=(0, 1)), Additive(("x",), [[NOISE_X]])
BOTH = Disclosure([PART_D, PART_X])
TINY = Disclosure([Additive(("d",), [[1e-14]], values=(0, 1)), Additive(("x",), [[1e-14]])])


def draw(family, sizes, seed=0, tau=0.6, slope=0.0, noisy=()):
    """Groups of the given sizes, as in test_fit, with a random intercept and slope of w."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(len(sizes)), sizes)
    n = len(g)
    w = rng.normal(size=n)
    d = (0.4 * w + rng.normal(size=n) > 0.3).astype(float)
    x = 0.5 * d + 0.4 * w + rng.normal(size=n)
    u, s = tau * rng.normal(size=len(sizes)), slope * rng.normal(size=len(sizes))
    eta = -0.2 + 0.6 * d + 0.4 * x - 0.3 * w + u[g] + (s + 0.3 * slope * u)[g] * w
    errors = {"linear": 0.7 * rng.normal(size=n), "probit": rng.normal(size=n), "logit": rng.logistic(size=n)}[family]
    y = eta + errors if family == "linear" else (eta + errors > 0).astype(float)
    if "d" in noisy:
        d = d + NOISE_D**0.5 * rng.normal(size=n)
    if "x" in noisy:
        x = x + NOISE_X**0.5 * rng.normal(size=n)
    return pl.DataFrame({"y": y, "d": d, "x": x, "w": w, "g": g})


def mixed_sizes(groups, most, seed=1):
    return np.random.default_rng(seed).integers(1, most + 1, groups)


def log_density(family, y, eta, extra):
    if family == "linear":
        return -0.5 * ((y - eta) / np.exp(extra)) ** 2 - extra - 0.5 * np.log(2 * np.pi)
    sign = 2 * y - 1
    return log_ndtr(sign * eta) if family == "probit" else log_expit(sign * eta)


def group_integral(log_l, table, log_weights):
    """Σ over groups of the log of the integral; log_l (n, Q) at nodes common to all groups."""
    sums = np.zeros((table["g"].max() + 1, log_l.shape[1]))
    np.add.at(sums, table["g"].to_numpy(), log_l)
    return float(logsumexp(sums + log_weights, axis=1).sum())


def hermite(count):
    t, w = np.polynomial.hermite_e.hermegauss(count)
    return t, np.log(w / w.sum())


def maximise(log_likelihood, start):
    """The maximum by a general optimiser, with derivatives by differences."""
    found = optimize.minimize(lambda t: -log_likelihood(t), start, method="BFGS", options={"gtol": 1e-4})
    polished = optimize.minimize(
        lambda t: -log_likelihood(t), found.x, method="BFGS", jac="3-point", options={"gtol": 1e-4}
    )
    return polished.x, -polished.fun


# ------------------------------------------------------------------ exact covariates


@pytest.mark.slow
@pytest.mark.parametrize("slope", [None, "w"])
def test_linear_models_are_those_of_statsmodels(slope):
    """1e-4 is the bar; statsmodels' own optimiser stops at about 1e-5 of the variances."""
    table = draw("linear", mixed_sizes(40, 10), slope=0.4 if slope else 0.0)
    ours = fit(FORMULA, table, group="g", slope=slope)
    X = sm.add_constant(table.select("d", "x", "w").to_numpy())
    random = X[:, [0, 3]] if slope else X[:, [0]]
    theirs = sm.MixedLM(table["y"].to_numpy(), X, table["g"].to_numpy(), exog_re=random).fit(reml=False)
    np.testing.assert_allclose(ours.estimate, theirs.fe_params, atol=1e-4)
    np.testing.assert_allclose(ours.se, theirs.bse_fe, rtol=2e-3)  # theirs takes the variances for known
    np.testing.assert_allclose(ours.sigma**2, theirs.scale, rtol=1e-4)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-6)
    if slope:
        wanted = {"Intercept": theirs.cov_re[0, 0], "slope": theirs.cov_re[1, 1], "covariance": theirs.cov_re[0, 1]}
        assert ours.variance == pytest.approx(wanted, abs=1e-4)
    else:
        assert ours.variance == pytest.approx({"Intercept": float(theirs.cov_re[0, 0])}, abs=1e-4)
    assert ours.converged


def test_the_standard_error_of_a_variance_is_that_of_balanced_analysis():
    """Balanced one-way layout: var(τ²) = 2/m² [(s_b²)²/G + (s_w²)²/(G (m−1))], of mean squares (Searle et al. 1992)."""
    G, m = 150, 6
    table = draw("linear", np.full(G, m), seed=4)
    ours = fit("y ~ 1", table, group="g")
    within = ours.sigma**2
    between = within + m * ours.variance["Intercept"]
    wanted = np.sqrt(2 / m**2 * (between**2 / G + within**2 / (G * (m - 1))))
    assert ours.variance_se["Intercept"] == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("family", ["probit", "logit"])
def test_binary_models_are_those_of_plain_quadrature(family):
    """60 nodes in the same place for all groups, maximised by scipy; groups are small, so that 60 nodes suffice."""
    table = draw(family, mixed_sizes(40, 8), seed=2)
    X, y = sm.add_constant(table.select("d", "x", "w").to_numpy()), table["y"].to_numpy()[:, None]
    t, log_w = hermite(60)

    def log_likelihood(theta):
        eta = (X @ theta[:4])[:, None] + theta[4] * t
        return group_integral(log_density(family, y, eta, None), table, log_w)

    best, height = maximise(log_likelihood, np.array([0.0, 0.0, 0.0, 0.0, 0.5]))
    ours = fit(FORMULA, table, family=family, group="g")
    np.testing.assert_allclose(ours.estimate, best[:4], atol=1e-4)
    assert ours.variance["Intercept"] == pytest.approx(best[4] ** 2, abs=1e-4)
    assert ours.log_likelihood == pytest.approx(height, abs=1e-5)


@pytest.mark.slow
def test_a_random_slope_of_a_binary_model_is_that_of_plain_quadrature():
    table = draw("probit", mixed_sizes(30, 8), seed=7, slope=0.5)
    X, y = sm.add_constant(table.select("d", "x", "w").to_numpy()), table["y"].to_numpy()[:, None]
    t, log_w = hermite(28)
    first, second = np.repeat(t, 28), np.tile(t, 28)
    weights = (log_w[:, None] + log_w).ravel()

    def log_likelihood(theta):
        effect = theta[4] * first + X[:, 3:] * (theta[5] * first + theta[6] * second)
        return group_integral(log_density("probit", y, (X @ theta[:4])[:, None] + effect, None), table, weights)

    ours = fit(FORMULA, table, family="probit", group="g", slope="w")
    a = ours.variance["Intercept"] ** 0.5
    b = ours.variance["covariance"] / a
    c = (ours.variance["slope"] - b**2) ** 0.5
    at = np.array([*ours.estimate, a, b, c])
    assert ours.log_likelihood == pytest.approx(log_likelihood(at), abs=1e-4)
    step = newton_step(log_likelihood, at)
    np.testing.assert_allclose(step, 0, atol=1e-3)


def newton_step(f, at, h=1e-3):
    """How far the maximum of a quadratic through f's values around `at` lies, per parameter."""
    P = len(at)
    unit = h * np.eye(P)
    up, down = np.array([f(at + e) for e in unit]), np.array([f(at - e) for e in unit])
    H = np.empty((P, P))
    for i in range(P):
        H[i, i] = (up[i] - 2 * f(at) + down[i]) / h**2
        for j in range(i):
            H[i, j] = H[j, i] = (f(at + unit[i] + unit[j]) - up[i] - up[j] + f(at)) / h**2
    return -np.linalg.solve(H, (up - down) / (2 * h))


# ------------------------------------------------------------------ noisy covariates


def brute_force(family, table, noisy):
    """A log-likelihood of (b, τ, [log σ], parameters of d, [of x]): d is summed out, x and u by fixed quadrature."""
    y, z_d, z_x, w = (table[n].to_numpy() for n in ("y", "d", "x", "w"))
    t, log_w = hermite(60 if family == "linear" else 36)  # peaks of linear models are narrow, and nodes stand still
    s, log_s = hermite(10) if "x" in noisy else (np.zeros(1), np.zeros(1))
    linear = family == "linear"

    def log_likelihood(theta):
        b, tau, extra = theta[:4], theta[4], theta[5] if linear else None
        alpha, gamma, *rest = theta[5 + linear :]
        parts = []
        for d in (0.0, 1.0):
            own = log_normal(z_d, d, NOISE_D**0.5)
            if "x" in noisy:
                mu, sd = rest[int(d)] + rest[2] * w, np.exp(rest[3])
                total = sd**2 + NOISE_X
                own += log_expit((2 * d - 1) * (alpha + gamma * w)) + log_normal(z_x, mu, total**0.5)
                x = (mu + sd**2 / total * (z_x - mu))[:, None] + (sd**2 * NOISE_X / total) ** 0.5 * s
            else:
                own += log_expit((2 * d - 1) * (alpha + gamma * w + rest[0] * z_x))
                x = z_x[:, None]
            eta = (b[0] + b[1] * d + b[3] * w)[:, None] + b[2] * x
            given = log_density(family, y[:, None, None], eta[:, :, None] + tau * t, extra) + log_s[:, None]
            parts.append(own[:, None] + logsumexp(given, axis=1))
        return group_integral(np.logaddexp(*parts), table, log_w)

    return log_likelihood


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("family", "noisy"),
    [
        *((family, "d") for family in ("linear", "probit", "logit")),
        ("probit", "dx"),
        *(pytest.param(family, "dx", marks=pytest.mark.slow) for family in ("linear", "logit")),
    ],
)
def test_noisy_covariates_are_as_by_brute_force(family, noisy):
    """Estimates within 1e-4 and the height of the likelihood within 1e-5 that scipy finds without our derivatives."""
    table = draw(family, mixed_sizes(25, 5), seed=3, tau=0.8, noisy=noisy)
    told = Disclosure([PART_D, *([PART_X] if "x" in noisy else [])])
    ours = fit(FORMULA, table, told, family=family, group="g", hidden="normal")
    start = [-0.2, 0.6, 0.4, -0.3, 0.8, *([-0.3] if family == "linear" else []), 0.0, 0.5]
    start += [0.0, 0.5, 0.4, 0.0] if "x" in noisy else [0.5]
    best, height = maximise(brute_force(family, table, noisy), np.array(start))
    np.testing.assert_allclose(ours.estimate, best[:4], atol=1e-4)
    assert ours.variance["Intercept"] == pytest.approx(best[4] ** 2, abs=1e-4)
    assert ours.log_likelihood == pytest.approx(height, abs=1e-5)
    assert ours.converged


@pytest.mark.slow
def test_integrands_of_several_peaks_are_integrated():
    """An effect of four error sds, summed out over a noisy indicator: each group of three has up to eight peaks.

    By brute force: normal errors, 160 equally spaced nodes (three to the narrowest peak's standard deviation),
    maximised by scipy.
    """
    rng = np.random.default_rng(3)
    g = np.repeat(np.arange(30), 3)
    d = (rng.random(90) < 0.4).astype(float)
    y = 1 + 2 * d + rng.normal(size=30)[g] + 0.5 * rng.normal(size=90)
    z = d + 0.7 * rng.normal(size=90)
    table = pl.DataFrame({"y": y, "z": z, "g": g})
    t = np.linspace(-7, 7, 160)
    log_w = stats.norm.logpdf(t) + np.log(t[1] - t[0])

    def log_likelihood(theta):
        b, tau, extra, alpha = theta[:2], theta[2], theta[3], theta[4]
        parts = [
            (log_expit((2 * k - 1) * alpha) + stats.norm.logpdf(z, k, 0.7))[:, None]
            + log_density("linear", y[:, None], b[0] + b[1] * k + tau * t, extra)
            for k in (0, 1)
        ]
        return group_integral(np.logaddexp(*parts), table, log_w)

    best, height = maximise(log_likelihood, np.array([1.0, 2.0, 1.0, -0.7, -0.4]))
    ours = fit("y ~ z", table, Disclosure([Additive(("z",), [[0.49]], values=(0, 1))]), group="g")
    assert ours.converged
    np.testing.assert_allclose(ours.estimate, best[:2], atol=1e-3)
    assert ours.variance["Intercept"] == pytest.approx(best[2] ** 2, abs=1e-3)
    assert ours.log_likelihood == pytest.approx(height, abs=1e-3)


# ------------------------------------------------------------------ limits


@pytest.mark.slow
@pytest.mark.parametrize("family", ["linear", "probit", "logit"])
def test_vanishing_noise_is_no_noise(family):
    table = draw(family, mixed_sizes(25, 8))
    ours = fit(FORMULA, table, TINY, family=family, group="g", hidden="normal")
    plain = fit(FORMULA, table, family=family, group="g")
    np.testing.assert_allclose(ours.estimate, plain.estimate, atol=2e-6)
    np.testing.assert_allclose(ours.se, plain.se, rtol=1e-4)
    np.testing.assert_allclose(ours.naive, plain.estimate, atol=2e-6)
    np.testing.assert_allclose(ours.reliability[1:], 1, atol=1e-6)
    assert ours.variance["Intercept"] == pytest.approx(plain.variance["Intercept"], abs=1e-5)


@pytest.mark.parametrize("family", ["linear", "probit", "logit"])
def test_a_variance_of_zero_is_the_fit_without_groups(family):
    """Errors made to sum to zero within groups leave no variance between them: the likelihood peaks at zero."""
    table = draw(family, np.full(40, 10), tau=0.0, seed=6)
    shuffled = table.sort("y").with_columns(g=pl.Series(np.arange(400) % 40))  # each group has the same mix of y
    ours, plain = fit(FORMULA, shuffled, family=family, group="g"), fit(FORMULA, shuffled, family=family)
    assert ours.converged
    assert ours.variance["Intercept"] < 1e-6
    np.testing.assert_allclose(ours.estimate, plain.estimate, atol=1e-5)
    assert any("estimated as zero" in note for note in ours.notes)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["linear", "probit"])
def test_order_of_rows_and_labels_change_nothing(family):
    """The bar for estimates is 1e-6 of a standard error's size: an ascent ends where it does up to rounding."""
    table = draw(family, mixed_sizes(20, 8), noisy="dx")
    names = np.random.default_rng(0).permutation([f"school {i}" for i in range(20)])
    other = table.sample(fraction=1, shuffle=True, seed=1)
    other = other.with_columns(g=pl.Series(names[other["g"].to_numpy()]))
    one, two = (fit(FORMULA, t, BOTH, family=family, group="g") for t in (table, other))
    np.testing.assert_allclose(two.estimate, one.estimate, atol=1e-6)
    np.testing.assert_allclose(two.se, one.se, rtol=1e-5)
    assert two.variance["Intercept"] == pytest.approx(one.variance["Intercept"], abs=1e-6)


def test_groups_of_one_row_count():
    """A linear model with groups of one row and of two: statsmodels has the same."""
    table = draw("linear", np.tile([1, 1, 2, 2], 30), seed=8)
    ours = fit(FORMULA, table, group="g")
    X = sm.add_constant(table.select("d", "x", "w").to_numpy())
    theirs = sm.MixedLM(table["y"].to_numpy(), X, table["g"].to_numpy()).fit(reml=False)
    np.testing.assert_allclose(ours.estimate, theirs.fe_params, atol=1e-4)
    assert ours.variance["Intercept"] == pytest.approx(theirs.cov_re[0, 0], abs=1e-4)


@pytest.mark.slow
def test_clipped_noise_takes_nodes_of_its_own():
    """Bounds far from the data leave plain noise: rows that are quadratures themselves agree with the closed form."""
    table = draw("probit", np.full(15, 6), noisy="x")
    plain = fit(FORMULA, table, Disclosure([PART_X]), family="probit", group="g", hidden="normal")
    bounded = Disclosure([Additive(("x",), [[NOISE_X]], bounds={"x": (-60.0, 60.0)})])
    ours = fit(FORMULA, table, bounded, family="probit", group="g", hidden="normal")
    np.testing.assert_allclose(ours.estimate, plain.estimate, atol=2e-3)
    assert ours.variance["Intercept"] == pytest.approx(plain.variance["Intercept"], abs=2e-3)


def test_identity_misclassification_of_response_and_covariate_is_the_exact_fit():
    table = draw("logit", mixed_sizes(50, 10))
    told = Disclosure([Misclassified(n, np.eye(2), levels=(0, 1)) for n in ("y", "d")])
    ours, plain = (fit(FORMULA, table, d, family="logit", group="g") for d in (told, None))
    np.testing.assert_allclose(ours.estimate, plain.estimate, atol=1e-5)
    assert ours.variance["Intercept"] == pytest.approx(plain.variance["Intercept"], abs=1e-5)


@pytest.mark.slow
def test_the_naive_method_is_the_fit_of_released_values():
    table = draw("probit", mixed_sizes(25, 8), noisy="dx")
    naive, plain = (
        fit(FORMULA, table, d, family="probit", method=m, group="g") for d, m in ((BOTH, "naive"), (None, "ml"))
    )
    ours = fit(FORMULA, table, BOTH, family="probit", group="g", hidden="normal")
    np.testing.assert_array_equal(naive.estimate, plain.estimate)
    np.testing.assert_array_equal(ours.naive, plain.estimate)
    np.testing.assert_array_equal(ours.naive_se, plain.se)


# ------------------------------------------------------------------ what is shown, and bad input


@pytest.mark.slow
def test_predictions_average_over_groups():
    """Against the normal integral by a plain sum over a fine grid, good to 1e-6."""
    table = draw("logit", np.full(40, 10), slope=0.5)
    new = pl.DataFrame({"d": [1.0], "x": [0.5], "w": [2.0]})
    v = np.linspace(-9, 9, 4001)
    for slope in (None, "w"):
        ours = fit(FORMULA, table, family="logit", group="g", slope=slope)
        of = ours.variance
        spread = of["Intercept"] + (4 * of["covariance"] + 4 * of["slope"] if slope else 0.0)
        eta = ours.estimate @ [1.0, 1.0, 0.5, 2.0]
        wanted = (expit(eta + spread**0.5 * v) * stats.norm.pdf(v)).sum() * (v[1] - v[0])
        assert ours.predict(new)[0] == pytest.approx(wanted, abs=1e-6)
    probit = fit("y ~ 1", table, family="probit", group="g")
    wanted = ndtr(probit.estimate[0] / np.sqrt(1 + probit.variance["Intercept"]))
    assert probit.predict(new)[0] == pytest.approx(wanted, abs=1e-12)


def test_variances_are_shown():
    ours = fit(FORMULA, draw("linear", np.full(20, 5)), group="g", slope="w")
    text = ours.summary()
    assert "Variance between groups: Intercept" in text
    plain = json.loads(json.dumps(ours.to_plain(), allow_nan=False))
    assert set(plain["variance"]) == set(plain["variance_se"]) == {"Intercept", "slope", "covariance"}
    assert "variance" not in fit(FORMULA, draw("linear", np.full(20, 5))).to_plain()


TABLE = draw("probit", np.full(10, 5)).with_columns(
    one=pl.lit("a"), row=pl.int_range(50), weight=pl.lit(1.0), zero=pl.lit(0.0)
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slope": "w"}, "needs `group`"),
        ({"group": "g", "weight": "weight"}, "no `weight`"),
        ({"group": "g", "cluster": "g"}, "no `cluster`"),
        ({"group": "g", "family": "poisson"}, "families linear, probit, logit"),
        ({"group": "g", "family": "ordered"}, "families linear, probit, logit"),
        *(({"group": "g", "method": m}, "methods ml, naive") for m in ("bayes", "corrected")),
        ({"group": "x"}, "stand in the formula"),
        ({"group": "g", "slope": "g"}, "Add it to the formula"),
        ({"group": "g", "slope": "x"}, "exact, complete covariate"),
        ({"group": "nowhere"}, "does not have"),
        ({"group": "one"}, "needs two groups|need two groups"),
        ({"group": "row"}, "No group of 'row' has two rows"),
        ({"group": "g", "formula": "y ~ 0 + x"}, "need an intercept"),
    ],
)
def test_what_does_not_go_with_groups_is_refused(options, message):
    settings = {"formula": FORMULA, "family": "probit", "disclosure": Disclosure([PART_X]), **options}
    with pytest.raises(DataError, match=message):
        fit(settings.pop("formula"), TABLE, settings.pop("disclosure"), **settings)


def test_noisy_groups_are_refused():
    told = Disclosure([Misclassified("one", [[1.0]], levels=("a",))])
    with pytest.raises(DataError, match="must be the true ones"):
        fit(FORMULA, TABLE, told, family="probit", group="one")


def test_rows_without_a_group_are_left_out():
    table = draw("probit", np.full(30, 5))
    holes = table.with_columns(g=pl.when(pl.col("g") < 3).then(None).otherwise(pl.col("g")))
    ours, rest = (fit(FORMULA, t, family="probit", group="g") for t in (holes, table.filter(pl.col("g") >= 3)))
    np.testing.assert_allclose(ours.estimate, rest.estimate, atol=1e-9)
    assert any("left out" in note for note in ours.notes)


@pytest.mark.parametrize(
    ("options", "says", "says_not"),
    [
        ({}, "give the household as `cluster`", "Leave out `group`"),
        ({"weight": "weight"}, "give the household as `cluster`", "Leave out `group`"),
        ({"group": "g"}, "Leave out `group` and give the household as `cluster`", "too small"),
        ({"cluster": "g"}, "", "shared within households"),
    ],
)
def test_noise_shared_within_households_is_told_with_a_remedy_that_exists(options, says, says_not):
    """What a note advises is not refused: `cluster` goes with no `group`, and what it says is done leaves no note."""
    told = Disclosure([Additive(("d",), [[NOISE_D]], values=(0, 1), draw_by="household")])
    table = draw("linear", np.full(30, 5), noisy="d").with_columns(weight=pl.lit(1.0))
    notes = " ".join(fit(FORMULA, table, told, **options).notes)
    assert says in notes
    assert says_not not in notes


# ------------------------------------------------------------------ recovery


@pytest.mark.slow
@pytest.mark.parametrize("family", ["linear", "probit", "logit"])
def test_the_truth_comes_back(family):
    the_truth_comes_back(family, 4, np.full(60, 12))


@pytest.mark.nightly(of="tests/inference/estimators/test_random_effects.py::test_the_truth_comes_back")
@pytest.mark.parametrize(("family", "times"), [("linear", 6), ("probit", 5), ("logit", 4)])
def test_the_truth_comes_back_in_larger_groups(family, times):
    the_truth_comes_back(family, times, np.full(100, 20))


def the_truth_comes_back(family, times, sizes):
    """Of groups of these sizes, a binary and a continuous covariate noisy, a variance between groups of .36.

    Each fit stands beside that of the true covariates of the same people, so that the luck of who was drawn is in both
    and what taking out the noise adds is seen with few draws: 3% of the truth, and three Monte-Carlo errors of the
    difference. Errors over standard errors, squared, are summed over draws and coefficients: nearly chi-square if
    standard errors are right; the bars leave out one in a thousand on either side.
    """
    truth, tau = np.array([-0.2, 0.6, 0.4, -0.3]), 0.6
    gaps, squares = [], []
    for seed in range(times):
        noisy, true = (
            fit(FORMULA, draw(family, sizes, seed, tau, noisy=columns), told, family=family, group="g")
            for columns, told in (("dx", BOTH), ("", None))
        )
        assert noisy.converged
        gaps.append([*(noisy.estimate - true.estimate), noisy.variance["Intercept"] - true.variance["Intercept"]])
        squares.append(((noisy.estimate - truth) / noisy.se) ** 2)
    gap, wanted = np.array(gaps), np.array([*truth, tau**2])
    room = 3 * gap.std(axis=0, ddof=1) / np.sqrt(times)
    assert np.all(np.abs(gap.mean(axis=0)) < 0.03 * np.abs(wanted) + room)
    low, high = stats.chi2.ppf([0.001, 0.999], 4 * times)
    assert low < np.sum(squares) < high
