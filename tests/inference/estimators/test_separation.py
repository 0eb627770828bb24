"""Separated responses against profile likelihoods by brute force, and by hand where they have a formula."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from scipy.special import expit, gammaln, log_expit, log_ndtr, ndtr

from sfumato.data.disclosure import Additive, Disclosure, Synthetic
from sfumato.inference.copies import fit_copies
from sfumato.inference.estimators.separation import _end
from sfumato.inference.fit import fit
from sfumato.render.forest import forest_plot, forest_svg
from tests.inference.studies import log_normal, normal
from tests.late import late

sm = late("statsmodels.api")

CUT = stats.chi2.ppf(0.95, 1)


def log_likelihood(family, X, y):
    """As a function of coefficients, and of thresholds of an ordered model after them."""
    p = X.shape[1]

    def value(t):
        eta = X @ t[:p]
        if family == "poisson":
            return float((y * eta - np.exp(np.minimum(eta, 50)) - gammaln(y + 1)).sum())
        if family == "ordered":
            ends = np.concatenate([[-np.inf], t[p:], [np.inf]])
            if np.any(np.diff(t[p:]) <= 0):
                return -1e10
            upper, lower = ends[y + 1] - eta, ends[y] - eta
            flip = lower > 0
            share = ndtr(np.where(flip, -lower, upper)) - ndtr(np.where(flip, -upper, lower))
            return float(np.log(np.maximum(share, 1e-300)).sum())
        return float((log_expit if family == "logit" else log_ndtr)((2 * y - 1) * eta).sum())

    return value


def highest(value, start, held=None, b=0.0):
    """The largest value over parameters within ±60, one of them held."""
    rest = np.arange(len(start)) != (-1 if held is None else held)

    def minus(t):
        theta = np.full(len(start), b)
        theta[rest] = t
        return -value(theta)

    if not rest.any():
        return value(np.full(1, b))
    best, at = np.inf, np.asarray(start, dtype=float)[rest]
    for _ in range(3):
        found = optimize.minimize(minus, at, method="L-BFGS-B", bounds=[(-60, 60)] * len(at), options={"ftol": 1e-14})
        found = optimize.minimize(minus, found.x, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-11})
        best, at = min(best, found.fun), found.x
    return -best


def check(ours, j, side, value, start, top, rtol=2e-3):
    """The finite end of term j, and its p-value, from the supremum and the profile."""
    name = ("high", "low")[side > 0]
    row = ours.tidy().row(j, named=True)
    assert (row["estimate"], row["se"]) == (None, None)
    assert row[("low", "high")[side > 0]] == side * np.inf

    def ratio(b):
        return 2 * (top - highest(value, start, j, b))

    assert ratio(row[name]) == pytest.approx(CUT, rel=rtol)
    assert ratio(row[name] + side * 0.1) < CUT
    assert row["p"] == pytest.approx(stats.chi2.sf(ratio(0.0), 1), rel=rtol, abs=1e-9)
    plain = ours.to_plain()["terms"][j]
    assert plain[("low", "high")[side > 0]] is None
    assert plain[name] == pytest.approx(row[name])


@pytest.mark.parametrize("family", ["logit", "probit"])
def test_complete_separation(family):
    """Records that x tells apart at 3.5: the supremum of the log-likelihood is 0."""
    table = pl.DataFrame({"y": [0, 0, 0, 0, 1, 1, 1, 1], "x": [0.0, 1, 2, 3, 4, 5, 6, 7]})
    ours = fit("y ~ x", table, family=family)
    value = log_likelihood(family, np.column_stack([np.ones(8), table["x"]]), table["y"].to_numpy())
    check(ours, 0, -1, value, [0, 0], 0.0)
    check(ours, 1, 1, value, [0, 0], 0.0)
    assert ours.converged
    assert np.isnan([ours.estimate, ours.naive, ours.naive_se]).all()
    note = next(note for note in ours.notes if "separated" in note)
    assert "Intercept, x" in note
    assert all(word in note for word in ("roader categories", "leave the term out", "bayes"))
    json.dumps(ours.to_plain(), allow_nan=False)


def quasi(n=60):
    rng = np.random.default_rng(4)
    x, w = np.repeat([0, 1], n // 2), rng.normal(size=n)
    y = np.where(x == 1, 1, (w + rng.logistic(size=n) > 0).astype(int))
    return pl.DataFrame({"y": y, "x": x, "w": w})


@pytest.mark.parametrize("family", ["logit", "probit"])
def test_quasi_complete_separation(family):
    """Everybody with x responds: the others' records alone tell of intercept and w."""
    table = quasi()
    ours = fit("y ~ x + w", table, family=family)
    X, y = np.column_stack([np.ones(60), table["x"], table["w"]]), table["y"].to_numpy()
    left = X[:, 1] == 0
    theirs = (sm.Logit if family == "logit" else sm.Probit)(y[left], X[left][:, [0, 2]]).fit(disp=0, tol=1e-12)
    for found, wanted in ((ours.estimate, theirs.params), (ours.se, theirs.bse), (ours.naive, theirs.params)):
        np.testing.assert_allclose(found[[0, 2]], wanted, rtol=1e-5)
    check(ours, 1, 1, log_likelihood(family, X, y), [theirs.params[0], 0, theirs.params[1]], theirs.llf)
    assert ours.log_likelihood == pytest.approx(theirs.llf)
    assert ours.converged


def test_a_category_without_counts_by_hand():
    """With a total of T in n₁ records and 0 in n₂: the ratio at b is 2T log((n₁ + n₂ eᵇ)/n₁)."""
    y = np.concatenate([[3, 1, 0, 2, 4], np.zeros(7)]).astype(int)
    table = pl.DataFrame({"y": y, "g": ["a"] * 5 + ["secret"] * 7})
    ours = fit("y ~ g", table, family="poisson", level=0.9)
    T, n1, n2 = 10, 5, 7
    wanted = np.log(n1 / n2 * np.expm1(stats.chi2.ppf(0.9, 1) / (2 * T)))
    np.testing.assert_allclose(ours.interval[1], [-np.inf, wanted], atol=1e-4)
    assert ours.p_values[1] == pytest.approx(stats.chi2.sf(2 * T * np.log((n1 + n2) / n1), 1), rel=1e-6)
    assert ours.estimate[0] == pytest.approx(np.log(T / n1))
    assert ours.se[0] == pytest.approx(T**-0.5)
    note = next(note for note in ours.notes if "separated" in note)
    assert " g " in note
    assert "secret" not in note


def test_an_interaction_without_events():
    """Nobody with both responds: the interaction alone has no estimate."""
    rng = np.random.default_rng(5)
    a, c = rng.integers(0, 2, 80), rng.integers(0, 2, 80)
    y = np.where(a * c == 1, 0, rng.integers(0, 2, 80))
    ours = fit("y ~ a*c", pl.DataFrame({"y": y, "a": a, "c": c}), family="logit")
    shares = [np.mean(y[(a == i) & (c == j)]) for i, j in ((0, 0), (1, 0), (0, 1))]
    logits = np.log(np.divide(shares, np.subtract(1, shares)))
    np.testing.assert_allclose(ours.estimate[:3], [logits[0], *(logits[1:] - logits[0])], rtol=1e-6)
    X = np.column_stack([np.ones(80), a, c, a * c])
    value = log_likelihood("logit", X, y)
    top = highest(log_likelihood("logit", X[a * c == 0][:, :3], y[a * c == 0]), ours.estimate[:3])
    check(ours, 3, -1, value, [*ours.estimate[:3], 0], top)
    assert "a:c" in ours.notes[-1]


def test_an_ordered_response():
    """One group always falls into the first category."""
    rng = np.random.default_rng(6)
    g, x = rng.integers(0, 2, 70), rng.normal(size=70)
    y = np.where(g == 1, 0, np.digitize(x + rng.normal(size=70), [-0.4, 0.6]))
    ours = fit("y ~ g + x", pl.DataFrame({"y": y, "g": g, "x": x}), family="ordered")
    left = g == 0
    others = fit("y ~ x", pl.DataFrame({"y": y[left], "x": x[left]}), family="ordered")
    np.testing.assert_allclose(ours.estimate[1:], others.estimate, rtol=1e-5)
    np.testing.assert_allclose(ours.se[1:], others.se, rtol=1e-5)
    value = log_likelihood("ordered", np.column_stack([g, x]), y)
    top = highest(log_likelihood("ordered", x[left, None], y[left]), others.estimate)
    check(ours, 0, -1, value, [0.0, *others.estimate], top)


def test_an_ordered_response_that_a_number_tells_for_sure():
    """All rises together: slope and thresholds have lower ends, the supremum is 0."""
    x = np.array([1.0, 2, 3, 5, 6, 8, 9, 11])
    y = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    ours = fit("y ~ x", pl.DataFrame({"y": y, "x": x}), family="ordered")
    value = log_likelihood("ordered", x[:, None], y)
    steps = np.array([1.0, 4.0, 7.0])  # thresholds of a slope of 1
    for j in range(3):
        low, high = ours.interval[j]
        assert high == np.inf
        assert -2 * highest(value, low / steps[j] * steps, j, low) == pytest.approx(CUT, rel=5e-3)
    assert "thresholds" in ours.notes[-1]


def test_an_end_where_the_likelihood_cannot_be_followed_is_none():
    assert _end(lambda b: np.exp(-b), 1, 0.5, 1.0) == pytest.approx(np.log(2), abs=1e-4)
    assert np.isnan(_end(lambda b: np.nan if 0.1 < b < 0.9 else np.exp(-b), 1, 0.5, 1.0))
    assert np.isnan(_end(lambda b: np.nan, 1, 0.5, 1.0))
    assert np.isnan(_end(lambda b: 1.0 if b < 0.7 else 0.1, 1, 0.5, 1.0))


def test_a_term_that_may_go_both_ways():
    """x alone tells the responses apart, wherever around 0 the line between them is: no intercept is ruled out."""
    table = pl.DataFrame({"y": [0, 0, 1, 1], "x": [-2.0, -1.0, 1.0, 2.0]})
    ours = fit("y ~ x", table, family="logit")
    assert ours.interval[0].tolist() == [-np.inf, np.inf]
    assert ours.p_values[0] == pytest.approx(1)
    low = ours.interval[1, 0]
    assert -4 * (log_expit(low) + log_expit(2 * low)) == pytest.approx(CUT, rel=1e-4)  # at an intercept of 0


def hidden(family, continuous, n=500):
    """A noisy covariate beside a group in which nobody responds."""
    rng = np.random.default_rng(7)
    g = (rng.random(n) < 0.2).astype(int)
    x = rng.normal(0.5 * g, 1) if continuous else (rng.random(n) < 0.4 + 0.2 * g).astype(float)
    eta = -0.2 + 0.8 * x
    y = (rng.random(n) < (ndtr(eta) if family == "probit" else expit(eta))).astype(int)
    z = x + 0.5 * rng.normal(size=n)
    return pl.DataFrame({"y": np.where(g == 1, 0, y), "x": z, "g": g})


def by_sum(table, family):
    """The likelihood of a noisy 0/1 covariate whose share differs between the groups: b, and both shares' log-odds."""
    y, z, g = (table[n].to_numpy() for n in ("y", "x", "g"))
    f = np.column_stack([normal(z, k, 0.5) for k in (0, 1)])
    link = expit if family == "logit" else ndtr

    def value(t):
        pi = expit(np.where(g == 1, t[4], t[3]))
        eta = (t[0] + t[2] * g)[:, None] + t[1] * np.array([0.0, 1.0])
        p = np.where(y[:, None] == 1, link(eta), link(-eta))
        return float(np.log(np.maximum((p * f * np.column_stack([1 - pi, pi])).sum(axis=1), 1e-300)).sum())

    return value


@pytest.mark.parametrize("family", ["logit", "probit"])
def test_beside_a_noisy_covariate_of_two_values(family):
    table = hidden(family, False)
    ours = fit("y ~ x + g", table, Disclosure([Additive(("x",), [[0.25]], values=(0, 1))]), family=family)
    assert ours.converged
    value = by_sum(table, family)
    start = np.array([ours.estimate[0], ours.estimate[1], -40.0, -0.4, 0.4])
    top = highest(value, start, 2, -40.0)
    for j in (0, 1):  # the coefficients with a maximum are at it
        at = ours.estimate[j]
        near = [highest(lambda t: value(np.array([*t[:2], -40.0, *t[2:]])), start[[0, 1, 3, 4]], j, at + d)
                for d in (-0.05, 0, 0.05)]  # fmt: skip
        assert near[1] == pytest.approx(top, abs=1e-5)
        curvature = (near[0] + near[2] - 2 * near[1]) / 0.05**2
        assert ours.se[j] == pytest.approx((-curvature) ** -0.5, rel=0.02)
    check(ours, 2, -1, value, [*ours.estimate[:2], 0, -0.4, 0.4], top)
    assert np.isnan(ours.naive[2])


def test_beside_a_noisy_number():
    """By the normal distribution that (z, η) then have: E[Φ(η) | z] = Φ(mean / √(1 + variance))."""
    table = hidden("probit", True)
    y, z, g = (table[n].to_numpy() for n in ("y", "x", "g"))
    told = Disclosure([Additive(("x",), [[0.25]])])
    ours = fit("y ~ x + g", table, told, family="probit", hidden="normal", reduce_bias=False)

    def value(t):
        mu, s2 = t[3] + t[4] * g, np.exp(2 * t[5])
        share = s2 / (s2 + 0.25)
        eta = t[0] + t[2] * g + t[1] * (mu + share * (z - mu))
        t_ = eta / np.sqrt(1 + t[1] ** 2 * s2 * (1 - share))
        return float((log_ndtr((2 * y - 1) * t_) + log_normal(z, mu, np.sqrt(s2 + 0.25))).sum())

    start = np.array([*ours.estimate[:2], -40.0, 0.0, 0.5, 0.0])
    top = highest(value, start, 2, -40.0)
    assert ours.log_likelihood == pytest.approx(top, abs=1e-3)
    check(ours, 2, -1, value, [*ours.estimate[:2], 0, 0.0, 0.5, 0.0], top, rtol=1e-2)


def test_an_interaction_with_a_noisy_number_is_lost_with_its_group():
    """In a group of which nobody responds no slope is ruled out."""
    told = Disclosure([Additive(("x",), [[0.25]])])
    table = hidden("probit", True)
    ours = fit("y ~ x*g", table, told, family="probit", hidden="normal")
    np.testing.assert_array_equal(np.isnan(ours.estimate), [False, False, True, True])
    assert ours.interval[3].tolist() == [-np.inf, np.inf]
    assert ours.p_values[3] == pytest.approx(1)
    alone = fit("y ~ x + g", table, told, family="probit", hidden="normal")
    np.testing.assert_allclose(ours.estimate[:2], alone.estimate[:2], atol=2e-3)


@pytest.mark.parametrize("option", [{"weight": "w"}, {"cluster": "c"}])
def test_weights_and_clusters_leave_no_likelihood_ratio(option):
    table = quasi().with_columns(w=pl.Series(np.tile([1.0, 2.0, 3.0], 20)), c=pl.int_range(60) % 20)
    ours = fit("y ~ x", table, family="logit", **option)
    terms = ours.to_plain()["terms"]
    assert [terms[1][key] for key in ("estimate", "se", "low", "high", "p", "naive")] == [None] * 6
    left = table.filter(pl.col("x") == 0)
    share = np.average(left["y"], weights=left["w"] if "weight" in option else None)
    assert ours.estimate[0] == pytest.approx(np.log(share / (1 - share)), rel=1e-6)
    assert ours.se[0] > 0
    assert any("separated" in n and f"{next(iter(option))}s" in n for n in ours.notes)


@pytest.mark.parametrize("family", ["logit", "poisson", "ordered"])
def test_robust_errors_are_those_of_the_records_that_are_left(family):
    """Records that are told for sure have no leverage; the interval of the likelihood ratio stays."""
    rng = np.random.default_rng(10)
    g, x = rng.integers(0, 2, 90), rng.normal(size=90)
    drawn = {"logit": rng.integers(0, 2, 90), "poisson": rng.poisson(2, 90), "ordered": rng.integers(0, 3, 90)}[family]
    table = pl.DataFrame({"y": np.where(g == 1, 0, drawn), "g": g, "x": x})
    ours = fit("y ~ x + g", table, family=family, se="robust")
    others = fit("y ~ x", table.filter(pl.col("g") == 0), family=family, se="robust")
    kept = [j for j, term in enumerate(ours.terms) if term != "g"]
    np.testing.assert_allclose(ours.se[kept], others.se, rtol=1e-6)
    np.testing.assert_allclose(ours.naive_se[kept], others.se, rtol=1e-6)
    assert ours.se_rule == "HC3"
    assert np.isfinite(ours.interval[ours.terms.index("g"), 1])


@pytest.mark.slow
def test_counts_under_noise():
    """By the negative binomial likelihood a group without counts has an interval; corrected equations have no root."""
    rng = np.random.default_rng(11)
    g, x = rng.integers(0, 2, 300), rng.normal(size=300)
    y = np.where(g == 1, 0, rng.negative_binomial(1, 1 / (1 + np.exp(0.3 * x))))
    table = pl.DataFrame({"y": y, "x": x + 0.5 * rng.normal(size=300), "g": g})
    plain, cut = Additive(("x",), [[0.25]]), Additive(("x",), [[0.25]], bounds={"x": (-9, 9)})
    none = fit("y ~ x + g", table, plain, family="poisson")
    assert (none.method, none.converged) == ("corrected", False)
    assert np.isnan(none.estimate).all()
    assert any("separated: with g " in note for note in none.notes)
    ours = fit("y ~ x + g", table, cut, family="poisson", hidden="normal")
    others = fit("y ~ x", table.filter(pl.col("g") == 0), cut, family="poisson", hidden="normal")
    np.testing.assert_allclose(ours.estimate[:2], others.estimate, atol=0.03)  # x is known better by all records
    np.testing.assert_allclose(ours.se[:2], others.se, rtol=0.03)
    assert ours.interval[2, 0] == -np.inf
    assert ours.interval[2, 1] < -2
    assert ours.p_values[2] < 1e-10


@pytest.mark.parametrize("method", ["ml", "naive"])
def test_random_effects(method):
    """The group of x in which all respond says no more: the fit is that of the others."""
    rng = np.random.default_rng(8)
    n = 240
    school, x, w = np.repeat(np.arange(12), 20), rng.integers(0, 2, n), rng.normal(size=n)
    y = np.where(x == 1, 1, (0.5 * w + rng.normal(size=12)[school] + rng.normal(size=n) > 0).astype(int))
    table = pl.DataFrame({"y": y, "x": x, "w": w, "school": school})
    ours = fit("y ~ x + w", table, family="probit", method=method, group="school")
    others = fit("y ~ w", table.filter(pl.col("x") == 0), family="probit", method=method, group="school")
    np.testing.assert_allclose(ours.estimate[[0, 2]], others.estimate, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.se[[0, 2]], others.se, rtol=1e-3)
    assert ours.variance["Intercept"] == pytest.approx(others.variance["Intercept"], rel=1e-3)
    assert np.isnan([ours.estimate[1], ours.se[1], ours.p_values[1], ours.naive[1], *ours.interval[1]]).all()
    assert any("separated" in note and "random effects" in note for note in ours.notes)
    assert ours.converged


def test_the_naive_fit_has_no_figures_of_a_last_step():
    """Also for families whose ascent ends quietly far out."""
    table = quasi()
    ours = fit("y ~ x + w", table, family="logit", method="naive")
    assert np.isnan([ours.estimate[1], ours.se[1], *ours.interval[1], ours.p_values[1]]).all()
    assert np.isfinite(ours.estimate[[0, 2]]).all()
    assert any("separated" in note for note in ours.notes)


def test_one_copy_without_a_term_leaves_the_whole_without():
    rng = np.random.default_rng(9)
    x = np.tile(np.repeat([0, 1], 40), 2)
    y = rng.integers(0, 2, 160)
    y[(x == 1) & (np.arange(160) < 80)] = 1
    table = pl.DataFrame({"copy": np.repeat([1, 2], 80), "x": x, "y": y})
    told = Disclosure([Synthetic(columns=("x", "y"), kind="full", copies=2)])
    ours = fit_copies(lambda frame, rest: fit("y ~ x", frame, rest, family="logit"), table, told)
    assert np.isfinite([ours.estimate[0], ours.se[0]]).all()
    assert np.isnan([ours.estimate[1], ours.se[1], ours.p_values[1], *ours.interval[1]]).all()
    json.dumps(ours.to_plain(), allow_nan=False)


def test_every_face_holds_without_figures():
    table = quasi()
    ours = fit("y ~ x + w", table, family="probit")
    assert "nan" not in ours.summary()
    assert forest_plot(ours, "svg").startswith(b"<?xml")
    assert "<svg" in forest_svg(ours)
    known = table["x"].to_numpy() == 0
    np.testing.assert_array_equal(np.isnan(ours.predict(table)), ~known)
    wanted = ndtr(ours.estimate[0] + ours.estimate[2] * table["w"].to_numpy())
    np.testing.assert_allclose(ours.predict(table)[known], wanted[known])
    assert ours.tidy()["low"][1] is not None
