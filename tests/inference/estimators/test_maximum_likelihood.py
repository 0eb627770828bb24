"""Both likelihoods of one problem must find the same; what cannot be determined must be said."""

import json

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Disclosure
from sfumato.inference.assemble import build_gaussian
from sfumato.inference.estimators.maximum_likelihood import maximum_likelihood, undetermined
from sfumato.inference.fit import fit
from sfumato.render.forest import forest_plot
from tests.inference.studies import FORMULA, dataset_a, noisy
from tests.inference.test_assemble import problem


def test_the_score_is_zero_and_errors_are_those_of_the_information():
    table, told = noisy(dataset_a(), 0.3, True, np.random.default_rng(3))
    work = problem(table, FORMULA, list(told))
    found = maximum_likelihood(work, np.zeros(4), np.zeros(0))
    look = found.model.look(found.theta)
    assert found.converged
    assert look.gradient @ np.linalg.solve(look.information, look.gradient) < 1e-10
    np.testing.assert_allclose(found.covariance, np.linalg.inv(look.information), rtol=1e-6, atol=1e-12)


def test_the_start_does_not_matter():
    table, told = noisy(dataset_a(), 0.3, False, np.random.default_rng(3))
    work = problem(table, FORMULA, list(told))
    one = maximum_likelihood(work, np.zeros(4), np.zeros(0))
    other = maximum_likelihood(work, np.array([-2.0, 1, 1, -1]), np.zeros(0))
    np.testing.assert_allclose(one.theta, other.theta, rtol=1e-5, atol=1e-6)


def test_a_penalty_draws_coefficients_in():
    table, told = noisy(dataset_a(), 0.3, False, np.random.default_rng(3))
    work = problem(table, FORMULA, list(told))
    free = maximum_likelihood(work, np.zeros(4), np.zeros(0))
    held = maximum_likelihood(work, np.zeros(4), np.zeros(0), penalty=np.array([0, 1e6, 1e6, 1e6]))
    assert np.abs(held.theta[1:4]).max() < 1e-3
    assert np.abs(free.theta[1:4]).min() > 1e-3


@pytest.mark.slow
def test_noise_beyond_measure_is_said():
    """Variance 400 on a 0/1 variable: hardly anything is left, and that must be said."""
    table, told = noisy(dataset_a(), 400.0, False, np.random.default_rng(6))
    ours = fit(FORMULA, table, told, family="probit")
    assert ours.notes[0].startswith("No estimate: what was released of")
    assert ours.evidence < 2
    assert np.isnan([ours.estimate, ours.se, *ours.interval.T, ours.p_values]).all()
    assert np.isfinite(ours.naive).all()


def test_equal_covariates_with_different_noise_are_collinear_in_truth():
    """a and b are the same variable released twice: only their sum is determined."""
    rng = np.random.default_rng(7)
    d = rng.integers(0, 2, 3000)
    z = d[:, None] + rng.normal(0, 0.3, (3000, 2))
    table = pl.DataFrame({"y": (d + rng.normal(size=3000) > 0.5).astype(int), "a": z[:, 0], "b": z[:, 1]})
    told = Disclosure([Additive(("a", "b"), 0.09 * np.eye(2), values=(0, 1))])
    ours = fit("y ~ a + b", table, told, family="probit")
    assert any("prior" in note for note in ours.notes) or not ours.converged or ours.se[1:].min() > 1


@pytest.mark.slow
def test_nodes_are_doubled_where_the_response_tells_more_than_what_was_released():
    """y = 1 + x + x²/2 to within .2; usual nodes are .29 apart, half an sd of x given z, and move slopes by an SE."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=250)
    table = pl.DataFrame({"y": 1 + x + 0.5 * x**2 + 0.2 * rng.normal(size=250), "x": x + 0.7 * rng.normal(size=250)})
    parts = [Additive(("x",), [[0.49]])]
    whole = problem(table, "y ~ x + I(x^2)", parts, "linear")
    found = maximum_likelihood(whole, np.array([1.0, 0.5, 0.25]), np.array([0.0]))
    assert whole.finer > 1
    finest = problem(table, "y ~ x + I(x^2)", parts, "linear")
    finest.finer = 8 * whole.finer
    log_l, gradient, _ = build_gaussian(finest)[0].evaluate(found.theta)
    assert log_l == pytest.approx(found.log_likelihood, abs=0.01)
    assert np.abs(gradient[:3] * np.sqrt(np.diagonal(found.covariance)[:3])).max() < 0.05


def test_what_is_not_determined_has_no_estimate():
    """a and b are the same variable released twice: the intercept and w are determined."""
    rng = np.random.default_rng(9)
    d, w = rng.integers(0, 2, 3000), rng.normal(size=3000)
    z = d[:, None] + rng.normal(0, 0.2, (3000, 2))
    table = pl.DataFrame({"y": 1 + d + 0.5 * w + rng.normal(size=3000), "a": z[:, 0], "b": z[:, 1], "w": w})
    ours = fit("y ~ a + b + w", table, Disclosure([Additive(("a", "b"), 0.04 * np.eye(2), values=(0, 1))]), method="ml")
    np.testing.assert_allclose(ours.estimate[[0, 3]], [1, 0.5], atol=0.15)  # four standard errors
    assert not ours.converged
    assert any("do not determine every coefficient" in note for note in ours.notes)
    np.testing.assert_array_equal(np.isnan(ours.se), [False, True, True, False])
    for figure in (ours.estimate, ours.p_values, *ours.interval.T, ours.inflation):
        assert np.isnan(figure[1:3]).all()
    told = ours.to_plain()["terms"]
    assert all(told[1][key] is None for key in ("estimate", "se", "low", "high", "p"))
    assert told[3]["se"] is not None
    assert json.loads(json.dumps(ours.to_plain(), allow_nan=False))["converged"] is False
    assert "NOT CONVERGED" in ours.summary()
    assert "NOT CONVERGED" in ours._repr_html_()
    assert "nan" not in ours.summary()
    assert forest_plot(ours, "svg").startswith(b"<?xml")


def test_undetermined_parameters_are_those_that_a_flat_direction_moves():
    information = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert undetermined(information, 3).tolist() == [0, 1]
    assert undetermined(information, 1).tolist() == [0]
    assert undetermined(np.eye(3), 3).tolist() == []
