"""The posterior: of a normal model in closed form, and beside maximum likelihood."""

import sys
from functools import partial
from importlib import import_module

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import log_ndtr

import sfumato.inference.estimators.bayes as bayes
from sfumato.data.disclosure import Additive, Disclosure
from sfumato.errors import DataError, MissingExtra
from sfumato.inference.fit import fit
from sfumato.kernels.sampling.hamiltonian import Chains
from sfumato.kernels.sampling.importance import Sample
from tests.inference.studies import FORMULA, TRUTH, dataset_a, noisy

TABLE, TOLD = noisy(dataset_a(), 0.2, True, np.random.default_rng(4))


@pytest.fixture(scope="module")
def ml():
    return fit(FORMULA, TABLE, TOLD, family="probit")


@pytest.fixture(scope="module")
def posterior():
    return fit(FORMULA, TABLE, TOLD, family="probit", method="bayes")


def test_the_mean_is_that_of_ml_within_monte_carlo_error(ml, posterior):
    """4,000 draws of some 2,000 effective: Monte-Carlo error se/45; the posterior's own skewness adds a little."""
    ours = posterior
    np.testing.assert_allclose(ours.estimate, ml.estimate, atol=0.12 * ml.se.max())
    np.testing.assert_allclose(ours.se, ml.se, rtol=0.08)
    np.testing.assert_allclose(ours.interval, ml.interval, atol=0.3 * ml.se.max())
    assert ours.checks["pareto_k"] < 0.7
    assert ours.checks["effective_draws"] > 1000
    assert ours.draws.shape == (4000, 4)


def test_the_seed_decides():
    one, same, other = (
        fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", seed=s, draws=500) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.draws, same.draws)
    assert not np.array_equal(one.draws, other.draws)


def test_a_prior_counts_as_data_do(ml):
    """Two normal sources: precision adds up. Likelihood near normal, so to a tenth of a standard error."""
    at, sd = 0.5, 0.05
    ours = fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", priors={"smoke": (at, sd)})
    gain = ml.covariance[1, 1] / (ml.covariance[1, 1] + sd**2)
    wanted = ml.estimate + ml.covariance[:, 1] / ml.covariance[1, 1] * gain * (at - ml.estimate[1])
    np.testing.assert_allclose(ours.estimate, wanted, atol=0.15 * ml.se.max())
    assert ours.se[1] == pytest.approx(np.sqrt(1 / (1 / ml.se[1] ** 2 + 1 / sd**2)), rel=0.08)


@pytest.mark.slow
def test_a_continuous_covariate_and_a_linear_model():
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    table = pl.DataFrame({"y": 1 + 0.5 * x + rng.normal(size=300), "x": x + rng.normal(0, 0.6, 300)})
    told = Disclosure([Additive(("x",), [[0.36]])])
    ml, ours = (fit("y ~ x", table, told, method=m, draws=1500, hidden="normal") for m in ("ml", "bayes"))
    np.testing.assert_allclose(ours.estimate, ml.estimate, atol=0.15 * ml.se.max())
    np.testing.assert_allclose(ours.se, ml.se, rtol=0.12)


@pytest.mark.slow
def test_separated_responses_get_finite_estimates():
    """A probit of 100 exact records, separated: the posterior by the sum over a grid, with the same priors given."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    table = pl.DataFrame({"y": (x > 0).astype(int), "x": x})
    ours = fit("y ~ x", table, family="probit", method="bayes", priors={"Intercept": (0, 2), "x": (0, 5)})
    a, b = np.meshgrid(np.linspace(-8, 8, 161), np.linspace(-20, 40, 241), indexing="ij")
    log_p = stats.norm(0, 2).logpdf(a) + stats.norm(0, 5).logpdf(b)
    for one, sign in zip(x, np.where(x > 0, 1, -1), strict=True):
        log_p += log_ndtr(sign * (a + b * one))
    p = np.exp(log_p - log_p.max()) / np.exp(log_p - log_p.max()).sum()
    mean = np.array([(a * p).sum(), (b * p).sum()])
    sd = np.sqrt([((a - mean[0]) ** 2 * p).sum(), ((b - mean[1]) ** 2 * p).sum()])
    error = 4 / np.sqrt(ours.checks["effective_draws"])
    np.testing.assert_allclose((ours.estimate - mean) / sd, 0, atol=error)
    np.testing.assert_allclose(ours.se / sd, 1, atol=error)
    assert any("separated" in note for note in ours.notes)
    assert not any("no weights" in note for note in ours.notes)
    assert ours.converged


@pytest.mark.slow
def test_strong_noise_is_no_reason_to_refuse():
    """Noise of variance 3 on 0/1 covariates: the truth lies within wide intervals (four standard deviations)."""
    table, told = noisy(dataset_a(), 3.0, False, np.random.default_rng(1))
    ours = fit(FORMULA, table, told, family="probit", method="bayes")
    assert np.all(np.abs(ours.estimate - TRUTH) < 4 * ours.se)
    assert ours.checks["pareto_k"] <= 0.7
    assert ours.converged
    assert np.all(ours.inflation > 2)


@pytest.fixture
def by_chains(monkeypatch):
    """No weights are trusted, so that Markov chains are run."""
    monkeypatch.setattr(Sample, "trusted", property(lambda sample: False))


@pytest.mark.slow
def test_markov_chains_draw_the_same(by_chains, request):
    """Against importance on 800 records: with 900 effective draws, four times √(2/900) is .19, and √(1/900) .13."""
    rng = np.random.default_rng(4)
    table, told = noisy(dataset_a()[rng.permutation(6837)[:800]], 0.3, False, rng)
    chains = fit(FORMULA, table, told, family="probit", method="bayes", draws=2000)
    request.getfixturevalue("monkeypatch").undo()
    weighted = fit(FORMULA, table, told, family="probit", method="bayes")
    assert set(chains.checks) == {"effective_draws", "r_hat", "divergences"}
    assert set(weighted.checks) == {"effective_draws", "pareto_k"}
    assert chains.checks["r_hat"] <= 1.01
    assert min(chains.checks["effective_draws"], weighted.checks["effective_draws"]) > 900
    np.testing.assert_allclose((chains.estimate - weighted.estimate) / weighted.se, 0, atol=0.19)
    np.testing.assert_allclose(chains.se / weighted.se, 1, atol=0.13)


def test_bad_checks_are_told(by_chains, monkeypatch):
    """Chains that never leave their starts."""

    def stuck(density, starts, root, number, rng, progress):
        C = len(starts)
        draws = starts[:, None, :] + 1e-3 * rng.normal(size=(C, number, starts.shape[1]))
        return Chains(draws, np.zeros((C, number)), np.ones((C, number)), np.ones((C, number), dtype=bool))

    monkeypatch.setattr(bayes, "hamiltonian_chains", stuck)
    ours = fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", draws=400)
    assert not ours.converged
    assert any("do not agree" in note for note in ours.notes)


def test_what_takes_too_long_for_chains_is_told(by_chains, monkeypatch):
    monkeypatch.setattr(bayes, "_CELLS", 10)
    monkeypatch.setattr(bayes, "TRUSTED", -1.0)
    ours = fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", draws=400)
    assert "pareto_k" in ours.checks
    assert not ours.converged
    assert any("heavy tail" in note for note in ours.notes)


def test_few_draws_are_told():
    ours = fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", draws=200)
    assert any("Ask for more `draws`" in note for note in ours.notes)


def test_inflation_is_that_of_the_same_prior(ml, posterior):
    """A narrow prior leaves nothing for noise to widen; without one, it is that of `ml`, to a tenth."""
    sure = fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", priors={"smoke": (0.1, 1e-3)})
    np.testing.assert_allclose(posterior.inflation, ml.inflation, rtol=0.1)
    assert sure.inflation[1] == pytest.approx(1, abs=0.1)
    assert not any(sentence.startswith("smoke") for sentence in sure.noise_sentences())


def study_linear():
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = 1 + 0.5 * x + rng.normal(size=400)
    return pl.DataFrame({"y": y, "x": x + rng.normal(0, 0.6, 400)}), Disclosure([Additive(("x",), [[0.36]])])


@pytest.mark.slow
def test_arviz_takes_the_draws():
    arviz = import_module("arviz")
    table, told = study_linear()
    ours = fit("y ~ x", table, told, method="bayes", draws=801)
    data = ours.to_arviz()
    assert list(data.groups()) == ["posterior", "sample_stats"]
    assert data.posterior.attrs["formula"] == "y ~ x"
    assert data.posterior.attrs["sampler"] == "importance"
    assert "dealt out" in data.posterior.attrs["chains_are"]
    assert data.posterior.attrs["pareto_k"] == ours.checks["pareto_k"]
    table = arviz.summary(data, round_to="none")
    assert list(table.index) == ["Intercept", "x", "sigma"]
    np.testing.assert_allclose(table["mean"][:2], ours.estimate, atol=0.2 * ours.se.max())
    assert (arviz.rhat(data).to_array() < 1.05).all()
    assert (arviz.ess(data).to_array() > 300).all()


@pytest.mark.slow
def test_arviz_takes_chains(by_chains, monkeypatch, tmp_path):
    """Of chains that hardly warm up: what they drew is handed on, whatever it is worth."""
    arviz = import_module("arviz")
    monkeypatch.setattr(bayes, "hamiltonian_chains", partial(bayes.hamiltonian_chains, warm_up=(30, 20)))
    table, told = study_linear()
    ours = fit("y ~ x", table.head(60), told, method="bayes", draws=200)
    data = ours.to_arviz()
    assert data.posterior.sizes == {"chain": 4, "draw": 50}
    assert not data.sample_stats["diverging"].all()
    r_hat = arviz.rhat(data)
    assert ours.checks["r_hat"] >= max(float(r_hat[term]) for term in ("Intercept", "x", "sigma")) - 1e-9
    np.testing.assert_allclose(data.posterior["x"].values.ravel(), ours.draws[:, 1])
    data.to_netcdf(str(tmp_path / "draws.nc"))  # attributes can be written


def test_without_arviz_the_install_line_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sfumato\[mcmc\]'"):
        fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", draws=200).to_arviz()


def test_arviz_data_need_draws_and_free_names():
    with pytest.raises(DataError, match="Only method `bayes`"):
        fit(FORMULA, TABLE, TOLD, family="probit").to_arviz()
    table = study_linear()[0].rename({"x": "draw"})
    with pytest.raises(DataError, match="Rename"):
        fit("y ~ draw", table, method="bayes", draws=200).to_arviz()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"priors": {"nothing": (0, 1)}}, "no term"),
        ({"priors": {"smoke": (0, 0)}}, "positive"),
        ({"draws": 10}, "at least 200"),
        ({"cluster": "asthma"}, "no weights and no clusters"),
    ],
)
def test_bad_input_is_refused(options, says):
    with pytest.raises(DataError, match=says):
        fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", **options)
