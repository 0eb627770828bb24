"""The front: what a fit gives, that it is the plain one where nothing protects, and what it refuses."""

import numpy as np
import pytest
from scipy import stats

from sfumato.errors import DataError
from sfumato.kernels import cox, glm, random_intercept
from sfumato.kernels.protected.fit import draws_of, fit, plain
from sfumato.kernels.protected.fitted import Unfit
from tests.kernels.protected.designs import design, draws, response
from tests.late import late

sm = late("statsmodels.api")

FAMILIES = ("linear", "logistic", "probit", "poisson")


@pytest.mark.parametrize("family", FAMILIES)
def test_unprotected_fits_are_the_plain_kernels(family):
    rng = np.random.default_rng(1)
    X = design(800, rng)
    y = response(X, family, rng)
    ours, theirs = plain(family, X, y), glm.fit(X, y, family)
    np.testing.assert_allclose(ours.estimate, theirs.coefficients, rtol=1e-8)
    np.testing.assert_allclose(ours.se, np.sqrt(np.diag(theirs.covariance)), rtol=1e-8)
    assert (ours.tau, ours.share_kept, ours.widening) == (None, 1.0, 1.0)
    assert not ours.se_added.any()


def test_mean_and_t_are_linear_models():
    rng = np.random.default_rng(2)
    group = (rng.random(300) < 0.4).astype(float)
    y = 2 + 0.5 * group + rng.normal(size=300)
    mean = plain("mean", np.ones((300, 1)), y)
    assert mean.estimate[0] == pytest.approx(y.mean(), rel=1e-12)
    assert mean.se[0] == pytest.approx(stats.sem(y), rel=1e-10)
    t = plain("t", np.column_stack([np.ones(300), group]), y)
    reference = stats.ttest_ind(y[group == 1], y[group == 0])
    assert t.estimate[1] / t.se[1] == pytest.approx(reference.statistic, rel=1e-10)
    assert plain("quantile", np.ones((300, 1)), y, probability=0.3).estimate[0] == np.quantile(y, 0.3)
    r = plain("correlation", group[:, None], y).estimate[0]
    assert r == pytest.approx(stats.pearsonr(group, y).statistic, rel=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_all_kept_little_noise_and_no_weight_lost_come_near_the_plain_fit(family):
    """What is left is weights on one design in a hundred and, for a probit, clipped residuals: a part of an error."""
    rng = np.random.default_rng(3)
    X = design(4000, rng)
    y = response(X, family, rng)
    ours = fit(family, X, y, keep=np.ones(4000, dtype=bool), noise=np.zeros(6), tau=1e-3)
    theirs = plain(family, X, y)
    assert np.all(np.abs(ours.estimate - theirs.estimate) < 0.5 * theirs.se)
    np.testing.assert_allclose(ours.se, theirs.se, rtol=0.15)


def test_logistic_with_no_weight_lost_is_the_plain_fit():
    """One record of each kind: all designs lie equally far out, so that none loses weight."""
    rng = np.random.default_rng(4)
    X = np.column_stack([np.ones(400), np.tile([-1.0, 1.0], 200)])
    y = (rng.random(400) < 0.5).astype(float)
    ours = fit("logistic", X, y, keep=np.ones(400, dtype=bool), noise=np.zeros(2), tau=1.0)
    np.testing.assert_allclose(ours.estimate, sm.Logit(y, X).fit(disp=0).params, atol=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_offsets_and_scales_of_columns_change_only_their_units(family):
    rng = np.random.default_rng(5)
    X = design(1000, rng)
    y = response(X, family, rng)
    given = draws(1000, 6, rng)
    one, other = (fit(family, Z, y, **given, tau=1.0) for Z in (X, X * [1, 1e4, 1, 1e-3, 1, 1] + [0, 3e6, 0, 0, 0, 5]))
    np.testing.assert_allclose(other.estimate[1:] * [1e4, 1, 1e-3, 1, 1], one.estimate[1:], rtol=1e-6)
    np.testing.assert_allclose(other.se[1:] * [1e4, 1, 1e-3, 1, 1], one.se[1:], rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "X", "y", "reason"),
    [
        ("linear", [[1.0, 2.0], [1.0, 3.0]], [1.0, 2.0], "few"),
        ("linear", [[1.0, i] for i in range(50)], [3.0] * 50, "constant"),
        ("mean", [[1.0]] * 50, [3.0] * 50, "constant"),
        ("logistic", [[1.0, i] for i in range(50)], [1.0] * 50, "constant"),
        ("poisson", [[1.0, i] for i in range(50)], [0.0] * 50, "constant"),
        ("linear", [[1.0, i, 2.0 * i] for i in range(50)], [i % 3 for i in range(50)], "singular"),
        ("linear", [[1.0, i] for i in range(50)], [2.0 * i + 1 for i in range(50)], "exact"),
        ("logistic", [[1.0, i] for i in range(50)], [float(i > 20) for i in range(50)], "separated"),
        ("probit", [[1.0, i] for i in range(50)], [float(i > 20) for i in range(50)], "separated"),
        ("poisson", [[1.0, i % 2] for i in range(50)], [i % 2 * (i % 5) for i in range(50)], "separated"),
        ("quantile", [[1.0]] * 10, range(10), "few"),
        ("correlation", [[1.0]] * 50, range(50), "constant"),
        ("correlation", [[float(i)] for i in range(50)], range(50), "exact"),
    ],
)
def test_what_cannot_be_fitted_is_a_value_error_with_a_reason(kind, X, y, reason):
    X, y = np.array(X, dtype=float), np.array(y, dtype=float)
    keep, noise = np.ones(len(y), dtype=bool), np.zeros(draws_of(kind, X.shape[1]))
    with pytest.raises(Unfit) as told:
        fit(kind, X, y, keep=keep, noise=noise)
    assert isinstance(told.value, ValueError)
    assert told.value.reason == reason
    assert not any(sign.isdigit() for sign in str(told.value))


def test_noise_beyond_what_the_records_can_answer_is_refused():
    X = np.column_stack([np.ones(40), np.tile([0.0, 1.0], 20)])
    y = np.tile([0.0, 0.0, 1.0, 1.0], 10)
    with pytest.raises(Unfit) as told:
        fit("logistic", X, y, keep=np.ones(40, dtype=bool), noise=np.array([9.0, 9.0]), tau=10.0)
    assert told.value.reason == "noise"
    with pytest.raises(Unfit) as told:
        fit("quantile", X, np.arange(40.0), keep=np.ones(40, dtype=bool), noise=np.array([9.0]), tau=10.0)
    assert told.value.reason == "edge"


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "median"},
        {"X": np.ones(20)},
        {"y": np.full(20, np.nan)},
        {"keep": np.ones(19, dtype=bool)},
        {"keep": np.ones(20)},
        {"noise": np.zeros(2)},
        {"tau": 0.0},
        {"kind": "logistic", "y": np.arange(20.0)},
        {"kind": "poisson", "y": np.arange(20) / 2},
        {"kind": "quantile", "probability": 1.0},
    ],
)
def test_bad_input_is_refused(change):
    given = {"kind": "mean", "X": np.ones((20, 1)), "y": np.arange(20.0), "noise": np.zeros(1)}
    given |= {"keep": np.ones(20, dtype=bool)} | change
    with pytest.raises(DataError):
        fit(given.pop("kind"), given.pop("X"), given.pop("y"), **given)


def odd(kind, rng):
    """Rare indicators, long tails, large offsets, strong effects, ties, few records."""
    n = int(rng.choice([8, 20, 60, 200]))
    columns = [
        rng.normal(size=n),
        (rng.random(n) < 0.05).astype(float),
        np.exp(3 * rng.normal(size=n)),
        2e5 + 1e3 * rng.standard_cauchy(n),
        np.round(rng.normal(size=n)),
    ]
    Z = np.column_stack([columns[i] for i in rng.integers(0, 5, size=2)])
    spread = Z.std(axis=0)
    eta = (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1) @ (rng.choice([0.1, 1, 10]) * rng.normal(size=2))
    given = {"X": np.column_stack([np.ones(n), Z]), "y": eta + rng.choice([1e-3, 1.0]) * rng.standard_cauchy(n)}
    if kind in ("logistic", "probit"):
        given["y"] = (eta + rng.logistic(size=n) > 0).astype(float)
    elif kind == "poisson":
        given["y"] = rng.poisson(np.exp(np.clip(eta, -20, 20))).astype(float)
    elif kind == "cox":
        time, event = rng.exponential(np.exp(np.clip(eta, -20, 20))), rng.random(n) < rng.choice([0.1, 0.5, 1.0])
        given = {"X": Z, "y": np.round(time, int(rng.integers(0, 4))), "event": event}
    elif kind == "mixed":
        given["cluster"] = rng.integers(0, n // 2, size=n)
    elif kind == "correlation":
        given["X"] = Z[:, :1]
    return given


@pytest.mark.parametrize("kind", ["mean", "quantile", "correlation", *FAMILIES, "cox", "mixed"])
def test_odd_data_give_finite_figures_or_a_reason(kind):
    """No other error, and (warnings are errors here) no overflow on the way."""
    rng = np.random.default_rng(8)
    for _ in range(8):
        given = odd(kind, rng)
        keep = rng.random(len(given["y"])) < 0.95
        keep = keep if kind != "mixed" else keep[given["cluster"]]
        noise = rng.normal(size=draws_of(kind, given["X"].shape[1]))
        for ask, more in ((fit, {"keep": keep, "noise": noise}), (plain, {})):
            try:
                told = ask(kind, **given, **more).rounded()
            except Unfit:
                continue
            assert np.isfinite([told.estimate, told.se, told.se_added]).all()


def test_models_of_times_and_of_clusters_are_the_plain_kernels_too():
    rng = np.random.default_rng(9)
    X, group = rng.normal(size=(300, 2)), np.repeat(np.arange(100), 3)
    time, event = rng.exponential(size=300), rng.random(300) < 0.6
    ours, theirs = plain("cox", X, time, event=event), cox.fit(X, time, event)
    np.testing.assert_allclose(ours.estimate, theirs.coefficients, rtol=1e-8)
    np.testing.assert_allclose(ours.se, np.sqrt(np.diag(theirs.covariance)), rtol=1e-8)
    ours, theirs = plain("mixed", X, time, cluster=group), random_intercept.fit(X, time, group)
    np.testing.assert_allclose(ours.estimate, theirs.coefficients, rtol=1e-8)
    np.testing.assert_allclose(ours.se, np.sqrt(np.diag(theirs.covariance)), rtol=1e-8)
    assert ours.n == 100


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"event": [False] * 60}, "constant"),
        ({"event": [True] + [False] * 59}, "few"),
        ({"X": [[1.0, 2.0]] * 60}, "singular"),
    ],
)
def test_times_that_cannot_be_fitted(change, reason):
    rng = np.random.default_rng(10)
    given = {"X": rng.normal(size=(60, 2)), "y": rng.exponential(size=60), "event": np.ones(60, dtype=bool)}
    given |= {name: np.array(values) for name, values in change.items()}
    with pytest.raises(Unfit) as told:
        fit("cox", **given, keep=np.ones(60, dtype=bool), noise=np.zeros(2))
    assert told.value.reason == reason


def test_times_and_clusters_must_be_told():
    X, y = np.ones((20, 1)), np.arange(20.0)
    for kind, given in (("cox", {"event": np.ones(20)}), ("cox", {}), ("mixed", {}), ("mixed", {"cluster": y})):
        with pytest.raises(DataError, match="needs"):
            fit(kind, X, y, **given, keep=np.ones(20, dtype=bool), noise=np.zeros(1))
