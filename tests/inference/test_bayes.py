"""The posterior: of a normal model in closed form, and beside maximum likelihood."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Disclosure
from sfumato.errors import DataError
from sfumato.inference.fit import fit
from tests.inference.studies import FORMULA, dataset_a, noisy

TABLE, TOLD = noisy(dataset_a(), 0.2, True, np.random.default_rng(4))


def test_the_mean_is_that_of_ml_within_monte_carlo_error():
    """4,000 draws of some 2,000 effective: Monte-Carlo error se/45; the posterior's own skewness adds a little."""
    ml, ours = (fit(FORMULA, TABLE, TOLD, family="probit", method=m) for m in ("ml", "bayes"))
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


def test_a_prior_counts_as_data_do():
    """Two normal sources: precision adds up. Likelihood near normal, so to a tenth of a standard error."""
    ml = fit(FORMULA, TABLE, TOLD, family="probit")
    at, sd = 0.5, 0.05
    ours = fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", priors={"smoke": (at, sd)})
    gain = ml.covariance[1, 1] / (ml.covariance[1, 1] + sd**2)
    wanted = ml.estimate + ml.covariance[:, 1] / ml.covariance[1, 1] * gain * (at - ml.estimate[1])
    np.testing.assert_allclose(ours.estimate, wanted, atol=0.15 * ml.se.max())
    assert ours.se[1] == pytest.approx(np.sqrt(1 / (1 / ml.se[1] ** 2 + 1 / sd**2)), rel=0.08)


def test_a_continuous_covariate_and_a_linear_model():
    rng = np.random.default_rng(3)
    x = rng.normal(size=800)
    table = pl.DataFrame({"y": 1 + 0.5 * x + rng.normal(size=800), "x": x + rng.normal(0, 0.6, 800)})
    told = Disclosure([Additive(("x",), [[0.36]])])
    ml, ours = (fit("y ~ x", table, told, method=m, draws=1500) for m in ("ml", "bayes"))
    np.testing.assert_allclose(ours.estimate, ml.estimate, atol=0.15 * ml.se.max())
    np.testing.assert_allclose(ours.se, ml.se, rtol=0.12)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"priors": {"nothing": (0, 1)}}, "no term"),
        ({"priors": {"smoke": (0, 0)}}, "positive"),
        ({"draws": 10}, "at least 200"),
        ({"cluster": "asthma"}, "no weights, clusters"),
    ],
)
def test_bad_input_is_refused(options, says):
    with pytest.raises(DataError, match=says):
        fit(FORMULA, TABLE, TOLD, family="probit", method="bayes", **options)
