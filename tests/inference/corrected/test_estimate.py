"""Fits by corrected equations through the door: against statsmodels, formulas by hand, and the fit of the true data."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.errors import DataError
from sfumato.inference.fit import fit
from tests.late import late

sm = late("statsmodels.api")


def table(n=400, seed=1):
    rng = np.random.default_rng(seed)
    x, w = rng.exponential(size=n), rng.normal(size=n)
    y = 1 + 0.5 * x - 0.3 * w + x * rng.normal(size=n)
    c = rng.poisson(np.exp(0.3 + 0.3 * x) * rng.gamma(1, 1, n)).astype(float)
    return pl.DataFrame({"y": y, "c": c, "x": x, "w": w, "group": rng.integers(0, 40, n), "h": rng.random(n) + 0.5})


def noisy(frame, variance, seed=2, law="gaussian"):
    rng = np.random.default_rng(seed)
    sd = variance**0.5
    u = rng.laplace(0, sd / 2**0.5, frame.height) if law == "laplace" else rng.normal(0, sd, frame.height)
    told = Additive(("x",), [[variance]], distribution=law)
    return frame.with_columns(x=pl.Series(frame["x"].to_numpy() + u)), Disclosure([told])


NEXT_TO_NONE = 1e-10
"""Variance of noise that is there and changes nothing."""


@pytest.mark.parametrize("family", ["linear", "poisson"])
def test_without_noise_worth_naming_it_is_the_plain_fit_with_hc3(family):
    frame = table()
    released, told = noisy(frame, NEXT_TO_NONE)
    X = np.column_stack([np.ones(400), frame["x"], frame["w"]])
    if family == "linear":
        theirs = sm.OLS(frame["y"].to_numpy(), X).fit(cov_type="HC3")
        se = theirs.bse
    else:  # whose HC3 of statsmodels leaves leverages out
        theirs = sm.GLM(frame["c"].to_numpy(), X, family=sm.families.Poisson()).fit(tol=1e-12)
        bread, mean = theirs.cov_params(), theirs.mu
        h = mean * ((X @ bread) * X).sum(axis=1)
        half = (X * ((frame["c"].to_numpy() - mean) / (1 - h))[:, None]) @ bread
        se = np.sqrt((half**2).sum(axis=0))
    ours = fit(f"{'y' if family == 'linear' else 'c'} ~ x + w", released, told, family=family)
    assert (ours.method, ours.se_rule) == ("corrected", "HC3")
    np.testing.assert_allclose(ours.estimate, theirs.params, atol=1e-4)
    np.testing.assert_allclose(ours.se, se, rtol=1e-3)


def test_clusters_and_weights():
    """CR1 of statsmodels; the design's sandwich by hand: scores by record, G/(G − 1)."""
    frame = table()
    released, told = noisy(frame, NEXT_TO_NONE)
    X, y = np.column_stack([np.ones(400), frame["x"], frame["w"]]), frame["y"].to_numpy()
    theirs = sm.OLS(y, X).fit(cov_type="cluster", cov_kwds={"groups": frame["group"].to_numpy()})
    ours = fit("y ~ x + w", released, told, cluster="group")
    assert ours.se_rule == "CR1"
    np.testing.assert_allclose(ours.se, theirs.bse, rtol=1e-3)
    weight = frame["h"].to_numpy()
    bread = np.linalg.inv(X.T @ (X * weight[:, None]))
    scores = X * (weight * (y - X @ (bread @ X.T @ (weight * y))))[:, None]
    expected = np.sqrt(np.diagonal(bread @ scores.T @ scores @ bread) * 400 / 399)
    ours = fit("y ~ x + w", released, told, weight="h")
    assert ours.se_rule == "design"
    np.testing.assert_allclose(ours.se, expected, rtol=1e-3)


def test_the_sandwich_of_normal_noise_by_hand():
    """(Σ zz' − Ω)⁻¹, scores zy − (zz' − Ω) b over 1 − h, h of the released columns."""
    released, told = noisy(table(), 0.4)
    Z, y = np.column_stack([np.ones(400), released["x"], released["w"]]), released["y"].to_numpy()
    omega = np.diag([0, 0.4, 0])
    bread = np.linalg.inv(Z.T @ Z - 400 * omega)
    b = bread @ Z.T @ y
    h = np.diagonal(Z @ np.linalg.solve(Z.T @ Z, Z.T))
    scores = (Z * (y - Z @ b)[:, None] + omega @ b) / (1 - h)[:, None]
    ours = fit("y ~ x + w", released, told)
    np.testing.assert_allclose(ours.estimate, b)
    np.testing.assert_allclose(ours.se, np.sqrt(np.diagonal(bread @ scores.T @ scores @ bread)))


def mean_of_fits(formula, family, frame, release, draws, **options):
    """How many standard errors of its own the mean of fits to releases lies from the fit of the true data."""
    true = fit(formula, frame, family=family, method="naive", **options).estimate
    rng = np.random.default_rng(3)
    found = []
    for _ in range(draws):
        fitted = fit(formula, *release(frame, rng), family=family, **options)
        assert fitted.method == "corrected"
        found.append(fitted.estimate)
    found = np.array(found)
    return (found.mean(axis=0) - true) / (found.std(axis=0, ddof=1) / draws**0.5)


def by_stratum(frame, rng):
    """Normal noise on the records of one group, stronger in another, none in the third."""
    sd = np.array([0.0, 0.4, 0.8])[frame["part"].to_numpy()]
    parts = [Additive(("x",), [[v**2]], where={"part": k}) for k, v in ((1, 0.4), (2, 0.8))]
    return frame.with_columns(pl.col("x") + pl.Series(sd * rng.normal(size=frame.height))), Disclosure(parts)


def shared(frame, rng):
    """Noise on the response, a count, and on a covariate, correlated: released counts lie below 0 too."""
    covariance = np.array([[0.3, 0.3], [0.3, 0.8]])
    u = rng.multivariate_normal([0, 0], covariance, frame.height)
    both = frame.with_columns(pl.col("x") + pl.Series(u[:, 0]), pl.col("c") + pl.Series(u[:, 1]))
    return both, Disclosure([Additive(("x", "c"), covariance)])


def twice(frame, rng):
    """Two releases' noise, one after the other."""
    z = frame["x"].to_numpy() + rng.normal(0, 0.4, frame.height) + rng.normal(0, 0.5, frame.height)
    return frame.with_columns(x=pl.Series(z)), Disclosure([Additive(("x",), [[0.16]]), Additive(("x",), [[0.25]])])


def rounded(frame, rng):
    z = 0.1 * np.round((frame["x"].to_numpy() + rng.normal(0, 0.5, frame.height)) / 0.1)
    return frame.with_columns(x=pl.Series(z)), Disclosure([Additive(("x",), [[0.25]], rounded={"x": 0.1})])


def category_and_number(frame, rng):
    """A number times a category of three of which each stays with probability .8, both hidden."""
    kept = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    code = frame["part"].to_numpy()
    told = (rng.random(frame.height)[:, None] > kept.cumsum(axis=1)[code]).sum(axis=1)
    z = frame["x"].to_numpy() + rng.normal(0, 0.4, frame.height)
    parts = [Additive(("x",), [[0.16]]), Misclassified("part", kept, levels=(0, 1, 2))]
    return frame.with_columns(x=pl.Series(z), part=pl.Series(told)), Disclosure(parts)


def far(frame, rng):
    """Years around 2,000."""
    z = frame["year"].to_numpy() + rng.normal(0, 6, frame.height)
    return frame.with_columns(year=pl.Series(z)), Disclosure([Additive(("year",), [[36.0]])])


CASES = [
    ("y ~ x + w", "linear", by_stratum, {}),
    ("c ~ x + w", "poisson", by_stratum, {}),
    ("c ~ x + w", "poisson", shared, {}),
    ("y ~ x*w + I(x^2)", "linear", twice, {}),
    ("c ~ x*w", "poisson", rounded, {}),
    ("y ~ 0 + C(part) + x:C(part)", "linear", category_and_number, {}),
    ("c ~ x*C(part)", "poisson", category_and_number, {"weight": "h"}),
    ("y ~ year + x", "linear", far, {"cluster": "group"}),
    ("c ~ year + x", "poisson", far, {}),
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("formula", "family", "release", "options"), CASES)
def test_the_mean_over_releases_is_the_fit_of_the_true_data(formula, family, release, options):
    """25 releases of the same 3,000 records: no coefficient lies five standard errors off (t, 24 degrees: 4e-5)."""
    frame = table(3_000, 4)
    rng = np.random.default_rng(5)
    frame = frame.with_columns(part=pl.Series(rng.integers(0, 3, 3_000)), year=pl.Series(rng.normal(2000, 10, 3_000)))
    frame = frame.with_columns(x=pl.col("x").clip(0, 4))
    gaps = mean_of_fits(formula, family, frame, release, 25, **options)
    assert np.abs(gaps).max() < 5


def test_little_evidence_gives_the_inverted_interval_and_none_below_two():
    """Fieller's interval for x with a constant, by hand, with HC3's 1 − h and t of n − 2 degrees."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=300)
    y, z = 2 * x + rng.normal(size=300), x + rng.normal(0, 1.5, 300)
    ours = fit("y ~ x", pl.DataFrame({"y": y, "x": z}), Disclosure([Additive(("x",), [[2.25]])]))
    zc = z - z.mean()
    assert ours.evidence == pytest.approx((zc @ zc / 300 - 2.25) / 2.25 * math.sqrt(300 / 2))
    assert 2 < ours.evidence < 12
    assert np.isnan(ours.se).all()
    h = 1 / 300 + zc**2 / (zc @ zc)
    p, q = zc * (y - y.mean()), zc * zc - 2.25
    P, Q = p.sum(), q.sum()
    p, q = (p - p.mean()) / (1 - h), (q - q.mean()) / (1 - h)
    t = stats.t.ppf(0.975, 298)
    a, b, c = Q**2 - t**2 * q @ q, P * Q - t**2 * p @ q, P**2 - t**2 * p @ p
    ends = (b + np.array([-1, 1]) * math.sqrt(b**2 - a * c)) / a
    np.testing.assert_allclose(ours.interval[1], ends, rtol=1e-6)
    assert ours.p_values[1] == pytest.approx(2 * stats.t.sf(abs(P) / math.sqrt(p @ p), 298))
    none = fit("y ~ x", pl.DataFrame({"y": y, "x": z}), Disclosure([Additive(("x",), [[3.0]])]))
    assert none.evidence < 2
    assert np.isnan([none.estimate, none.se, none.p_values]).all()
    assert not none.converged
    assert np.isfinite(none.naive).all()
    assert "No estimate" in none.notes[0]
    assert "'x'" in none.notes[0]


def test_several_columns_of_which_little_is_known_have_no_estimate():
    rng = np.random.default_rng(11)
    x = rng.normal(size=300)
    y, z = 2 * x + rng.normal(size=300), x + rng.normal(0, 1.5, 300)
    told = Disclosure([Additive(("x",), [[2.25]])])
    assert np.isnan(fit("y ~ x + I(x^2)", pl.DataFrame({"y": y, "x": z}), told).estimate).all()


def test_counts_with_little_evidence_and_laplace_tails_have_no_estimate():
    rng = np.random.default_rng(12)
    x = rng.normal(size=400)
    c, z = rng.poisson(np.exp(0.3 * x)).astype(float), x + rng.normal(0, 1.9, 400)
    few = fit("c ~ x", pl.DataFrame({"c": c, "x": z}), Disclosure([Additive(("x",), [[1.9**2]])]), family="poisson")
    assert 2 < few.evidence < 6
    assert np.isnan(few.estimate).all()
    # Laplace noise of variance .5 has no K(2b) from |b| = 1 on
    c = rng.poisson(np.exp(1.4 * x)).astype(float)
    released, told = noisy(pl.DataFrame({"c": c, "x": x}), 0.5, 13, "laplace")
    tails = fit("c ~ x", released, told, family="poisson")
    assert np.isnan(tails.estimate).all()


def test_strong_noise_for_a_coefficient_is_told():
    """b'Ωb = .8² = .64 is above .5."""
    rng = np.random.default_rng(14)
    x = rng.normal(size=3_000)
    c = rng.poisson(np.exp(0.8 * x)).astype(float)
    released, told = noisy(pl.DataFrame({"c": c, "x": x}), 1.0, 15)
    assert any("skewed" in note for note in fit("c ~ x", released, told, family="poisson").notes)
    released, told = noisy(pl.DataFrame({"c": c, "x": x}), 0.25, 15)
    assert not any("skewed" in note for note in fit("c ~ x", released, told, family="poisson").notes)


def test_negative_counts_are_refused_without_a_value():
    released, told = noisy(table(), 0.4)
    below = released.with_columns(c=pl.col("c") - 3)
    with pytest.raises(DataError, match="numbers from 0") as refused:
        fit("c ~ x", below, told, family="poisson")
    assert "-3" not in str(refused.value)


def test_numbers_that_are_no_counts_are_taken():
    """Whatever has the mean: twice the counts have the slopes of the counts and an intercept higher by log 2."""
    released, told = noisy(table(), 0.4)
    once, half = (
        fit("c ~ x", released.with_columns(pl.col("c") * by), told, family="poisson").estimate for by in (1, 0.5)
    )
    np.testing.assert_allclose(half, once - [math.log(2), 0], atol=1e-6)


def test_a_value_that_no_category_could_have_is_refused():
    """Uniform noise ends at ±.5: a released 9 is none of 0 and 1."""
    rng = np.random.default_rng(16)
    z = rng.integers(0, 2, 300) + rng.uniform(-0.5, 0.5, 300)
    z[3] = 9.0
    told = Additive(("d",), [[1 / 12]], values=(0, 1), distribution="uniform")
    with pytest.raises(DataError, match="does not allow some values of d") as refused:
        fit("y ~ d", pl.DataFrame({"y": rng.normal(size=300), "d": z}), Disclosure([told]))
    assert "9" not in str(refused.value)


def test_noises_of_two_laws_on_one_number_add_up():
    """A linear slope needs their variances alone; of both together there is no likelihood."""
    rng = np.random.default_rng(12)
    x = rng.exponential(size=2000)
    z = x + rng.normal(0, 0.5, 2000) + rng.laplace(0, 0.5, 2000)
    table = pl.DataFrame({"y": x + rng.normal(size=2000), "x": z})
    told = Disclosure([Additive(("x",), [[0.25]]), Additive(("x",), [[0.5]], distribution="laplace")])
    ours = fit("y ~ x", table, told)
    y = table["y"].to_numpy()
    assert ours.estimate[1] == pytest.approx(np.cov(z, y, bias=True)[0, 1] / (z.var() - 0.75), rel=1e-9)
    with pytest.raises(DataError, match="together with other noise"):
        fit("y ~ x", table, told, method="ml")
