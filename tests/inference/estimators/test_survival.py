"""Against statsmodels where nothing is hidden, a second kernel with weights, and by simulation where something is."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.disclosure import Disclosure, Suppressed
from sfumato.data.error_model import Additive, Misclassified
from sfumato.errors import DataError, FormulaError
from sfumato.inference.fit import fit
from sfumato.kernels.corrected.cox import corrected_cox
from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.noise import Noise
from sfumato.kernels.corrected.tilted import Tilted
from tests.late import late

phreg = late("statsmodels.duration.hazard_regression")

MODEL = "Surv(days, died) ~ dose + C(sex)"


def people(n=600, seed=1, rounded=0.25, slope=0.6):
    rng = np.random.default_rng(seed)
    dose, sex = rng.normal(size=n), rng.integers(0, 2, n)
    days, left = rng.exponential(np.exp(-slope * dose + 0.5 * sex)), rng.exponential(2.0, n)
    return pl.DataFrame(
        {
            "days": np.ceil(np.minimum(days, left) / rounded),
            "died": (days <= left).astype(int),
            "dose": dose,
            "sex": np.where(sex, "m", "f"),
            "school": rng.integers(0, 40, n),
            "w": rng.uniform(0.5, 2, n),
        }
    )


def theirs(table, groups=None):
    X = np.column_stack([table["dose"], table["sex"] == "m"])
    model = phreg.PHReg(table["days"].to_numpy(), X, status=table["died"].to_numpy(), ties="efron")
    return model.fit(groups=groups, tol=1e-14)


def test_without_noise_it_is_the_partial_likelihood():
    table = people()
    ours, other = fit(MODEL, table, family="cox"), theirs(table)
    np.testing.assert_allclose(ours.estimate, other.params, rtol=1e-6)
    np.testing.assert_allclose(ours.se, other.bse, rtol=1e-6)
    assert ours.log_likelihood == pytest.approx(other.llf, rel=1e-9)
    assert (ours.method, ours.se_rule, ours.evidence) == ("ml", "model", None)
    assert ours.terms == ("dose", "C(sex)[T.m]")
    assert ours.formula == MODEL


def test_robust_errors_are_those_of_lin_and_wei():
    table = people(rounded=1e-9)  # of tied events their residuals are Breslow's
    ours = fit(MODEL, table, family="cox", se="robust")
    np.testing.assert_allclose(ours.se, theirs(table, np.arange(len(table))).bse, rtol=1e-6)
    assert ours.se_rule == "Lin-Wei"
    assert fit(MODEL, table, family="cox", method="naive", se="robust").se_rule == "Lin-Wei"


def test_by_clusters_scores_are_summed():
    table = people(rounded=1e-9)  # of tied events their residuals are Breslow's
    ours = fit(MODEL, table, family="cox", cluster="school")
    other = theirs(table, table["school"].to_numpy())
    g, n, p = 40, 600, 2
    np.testing.assert_allclose(ours.se, other.bse * (g / (g - 1) * (n - 1) / (n - p)) ** 0.5, rtol=1e-6)


def test_weights_are_those_of_the_other_kernel():
    table = people()
    ours = fit(MODEL, table, family="cox", weight="w")
    X = np.column_stack([table["dose"], table["sex"] == "m"]).astype(float)
    n = len(X)
    tilted = Tilted(Design(X, np.zeros((2, 0), int), np.zeros((n, 0)), [Noise(np.zeros((0, 0)))], np.zeros(n, int)))
    w = table["w"].to_numpy() / table["w"].mean()
    died = table["died"].to_numpy() == 1
    other = corrected_cox(tilted, w, table["days"].to_numpy(), died, np.zeros(2), at_risk=1)
    np.testing.assert_allclose(ours.estimate, other.estimate, rtol=1e-6)
    moved = other.scores * w[:, None] @ other.bread
    np.testing.assert_allclose(ours.se, np.sqrt((moved**2).sum(axis=0) * n / (n - 1)), rtol=1e-6)


def released(n, seed, slope=0.6, noise=0.4, kept=0.8):
    """People with noise on a number and a code, and what is told of it."""
    table = people(n, seed, 0.1, slope)
    rng = np.random.default_rng(seed + 10_000)
    sex = table["sex"].to_numpy()
    sex = np.where(rng.random(n) < kept, sex, np.where(sex == "m", "f", "m"))
    blurred = table.with_columns(pl.col("dose") + rng.normal(0, noise**0.5, n), sex=pl.Series(sex))
    matrix = [[kept, 1 - kept], [1 - kept, kept]]
    return blurred, Disclosure([Additive(("dose",), [[noise]]), Misclassified("sex", matrix, levels=("f", "m"))])


def test_with_noise_it_is_the_corrected_fit():
    table, told = released(1500, 3)
    found = fit(MODEL, table, told, family="cox")
    assert (found.method, found.se_rule) == ("corrected", "Lin-Wei")
    assert found.converged
    assert found.evidence > 6
    assert np.isnan(found.log_likelihood)
    assert np.all(np.abs(found.estimate - [0.6, -0.5]) < 3 * found.se)
    assert np.all(np.abs(found.naive) < np.abs(found.estimate))
    assert any("fewer than 20 records are at risk" in note for note in found.notes)
    assert fit(MODEL, table, told, family="cox", cluster="school").se_rule == "CR1"
    assert fit(MODEL, table, told, family="cox", weight="w").se_rule == "design"


@pytest.mark.parametrize(("n", "draws"), [(700, 40), pytest.param(1500, 200, marks=pytest.mark.slow)])
def test_intervals_hold_what_they_promise(n, draws):
    inside, estimates = [], []
    for seed in range(draws):
        found = fit(MODEL, *released(n, seed), family="cox", level=0.95)
        interval = found.interval
        inside.append((interval[:, 0] < [0.6, -0.5]) & (interval[:, 1] > [0.6, -0.5]))
        estimates.append(found.estimate)
    assert np.mean(inside) > 0.95 - 3 * (0.05 * 0.95 / (2 * draws)) ** 0.5
    np.testing.assert_allclose(np.median(estimates, axis=0), [0.6, -0.5], rtol=0.1)


def test_of_a_number_that_is_mostly_noise_nothing_is_estimated():
    table, told = released(400, 5, noise=8.0)
    found = fit("Surv(days, died) ~ dose", table, told, family="cox")
    assert np.isnan(found.estimate).all()
    assert not found.converged
    assert np.isfinite(found.naive).all()


def test_where_events_come_late_nothing_is_estimated():
    days = np.arange(30.0) + 1
    table = pl.DataFrame({"days": days, "died": (days > 9) * 1, "dose": np.random.default_rng(1).normal(0, 5, 30)})
    found = fit("Surv(days, died) ~ dose", table, Additive(("dose",), [[1.0]]), family="cox")
    assert np.isnan(found.estimate).all()
    assert any("19 events were left out" in note and "No estimate" in note for note in found.notes)


def separated():
    """All with a 1 die before all with a 0."""
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {"days": np.arange(40.0) + 1, "died": [1] * 40, "x": [1] * 20 + [0] * 20, "z": rng.normal(size=40)}
    )


def test_a_separated_term_has_an_open_interval():
    table = separated()
    found = fit("Surv(days, died) ~ x + z", table, family="cox")
    plain = found.to_plain()["terms"]
    assert plain[0]["estimate"] is None
    assert plain[0]["se"] is None
    assert plain[0]["high"] is None
    assert np.isfinite(plain[1]["se"])
    assert any("separated by x" in note for note in found.notes)
    low = found.interval[0, 0]
    fixed = {}
    for value in (0.0, low, 30.0):  # at 30 the likelihood has no more to gain
        X, days = table["z"].to_numpy()[:, None], table["days"].to_numpy()
        held = phreg.PHReg(days, X, offset=value * table["x"].to_numpy(), ties="efron").fit(tol=1e-14)
        fixed[value] = held.llf
    assert 2 * (fixed[30.0] - fixed[low]) == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-4)
    assert found.p_values[0] == pytest.approx(stats.chi2.sf(2 * (fixed[30.0] - fixed[0.0]), 1), rel=1e-3)


def test_of_six_the_one_with_a_1_dies_first():
    """The likelihood of β is e^β / (e^β + 5)."""
    table = pl.DataFrame({"days": np.arange(6.0) + 1, "died": [1] * 6, "x": [1] + [0] * 5})
    found = fit("Surv(days, died) ~ x", table, family="cox")
    low = np.log(5 / np.expm1(stats.chi2.ppf(0.95, 1) / 2))
    assert found.interval[0, 0] == pytest.approx(low, rel=1e-4)
    assert found.interval[0, 1] == np.inf
    assert found.p_values[0] == pytest.approx(stats.chi2.sf(2 * np.log(6), 1), rel=1e-4)


@pytest.mark.parametrize(
    ("formula", "options", "error", "says"),
    [
        ("days ~ dose", {}, FormulaError, r"Surv\(time, event\)"),
        ("Surv(days, died) ~ 1", {}, FormulaError, "covariate"),
        ("Surv(days, died) ~ dose", {"family": "linear"}, FormulaError, "family `cox`"),
        (MODEL, {"method": "bayes"}, DataError, "bayes"),
        (MODEL, {"group": "school"}, DataError, "cluster"),
        ("Surv(dose, died) ~ w", {}, DataError, "above 0"),
        ("Surv(days, school) ~ dose", {}, DataError, "0 and 1"),
        ("Surv(days, sex) ~ dose", {}, DataError, "0 and 1"),
    ],
)
def test_what_does_not_go_together_is_refused(formula, options, error, says):
    with pytest.raises(error, match=says):
        fit(formula, people(100), **{"family": "cox", **options})


def test_gaps_are_refused_or_left_out():
    table = people(200)
    gaps = table.with_columns(dose=pl.when(pl.int_range(pl.len()) < 9).then(None).otherwise("dose"))
    with pytest.raises(DataError, match="`corrected` leaves such records out"):
        fit(MODEL, gaps, family="cox")
    found, whole = fit(MODEL, gaps, family="cox", method="corrected"), fit(MODEL, table[9:], family="cox", se="robust")
    np.testing.assert_allclose(found.estimate, whole.estimate, rtol=1e-6)  # no follow-up is cut short
    np.testing.assert_allclose(found.se, whole.se, rtol=1e-6)


def test_likelihoods_of_hidden_covariates_are_refused():
    table, told = released(300, 1)
    with pytest.raises(DataError, match="`corrected`"):
        fit(MODEL, table, told, family="cox", method="ml")
    banded = Additive(("dose",), [[0.4]], bounds={"dose": (-9.0, 9.0)})
    with pytest.raises(DataError, match="'dose' was cut off"):
        fit("Surv(days, died) ~ dose", table, banded, family="cox")


@pytest.mark.parametrize("part", [Additive(("days",), [[0.1]]), Misclassified("died", [[0.9, 0.1], [0.1, 0.9]])])
def test_changed_times_and_events_are_refused(part):
    with pytest.raises(DataError, match="as they were"):
        fit(MODEL, people(100), part, family="cox")


def test_rows_without_time_or_event_are_left_out():
    table = people(200)
    gaps = table.with_columns(
        days=pl.when(pl.int_range(pl.len()) < 5).then(None).otherwise("days"),
        died=pl.when(pl.int_range(pl.len()).is_between(5, 8)).then(None).otherwise("died"),
    )
    told = Suppressed(columns=("days",), rule="too few were alike", cells=True)
    found = fit(MODEL, gaps, told, family="cox")
    assert found.n == 191
    np.testing.assert_allclose(found.estimate, fit(MODEL, table[9:], family="cox").estimate)


def test_the_baseline_is_the_intercept_and_has_no_coefficient():
    table = people(200)
    found = fit("Surv(days, died) ~ 0 + C(sex)", table, family="cox")
    assert found.terms == ("C(sex)[T.m]",)
    with pytest.raises(DataError, match="no predictions"):
        found.predict(table)
    with pytest.raises(DataError, match="varies"):
        fit("Surv(days, died) ~ C(sex)", table.filter(pl.col("sex") == "m"), family="cox")
