"""Against statsmodels' `PHReg` (both solve the same equations), closed forms, and derivatives by differences."""

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.kernels.cox import fit, hazards, look, residuals, spans
from tests.late import late

cox = late("statsmodels.duration.hazard_regression")


def draw(n=400, seed=0, rounded=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) @ np.array([[1, 0.5, 0.2], [0, 1, 0.7], [0, 0, 1]])
    time = rng.exponential(np.exp(-X @ [0.5, -0.3, 0.2]))
    left = rng.exponential(1.5, size=n)
    event, seen = time <= left, np.minimum(time, left)
    return X, seen if rounded is None else np.ceil(seen / rounded), event


@pytest.mark.parametrize("rounded", [None, 0.1, 0.5])
def test_agrees_with_statsmodels(rounded):
    X, time, event = draw(rounded=rounded)
    ours, theirs = fit(X, time, event), cox.PHReg(time, X, status=event, ties="efron").fit(tol=1e-14)
    assert ours.converged
    assert not ours.separated
    np.testing.assert_allclose(ours.coefficients, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.covariance)), theirs.bse, rtol=1e-6)
    assert ours.log_likelihood == pytest.approx(theirs.llf, rel=1e-9)


def test_offsets_and_scales_cost_no_digits():
    X, time, event = draw(seed=1)
    ours, moved = fit(X, time, event), fit(X * [1e4, 1, 1e-5] + [3e6, 0, 7], time, event)
    np.testing.assert_allclose(moved.coefficients * [1e4, 1, 1e-5], ours.coefficients, rtol=1e-6)


def test_dependent_and_constant_columns_are_dropped():
    X, time, event = draw(seed=2)
    wide = np.column_stack([np.full(len(X), 2.0), X[:, 0], 1 - X[:, 0], X[:, 1:]])
    ours = fit(wide, time, event)
    assert ours.aliased == (0, 2)
    np.testing.assert_allclose(ours.coefficients[[1, 3, 4]], fit(X, time, event).coefficients, rtol=1e-8)


def test_four_records_by_hand():
    """Events in order 1, 0, 1, 0 of an indicator: with r = e^β, the score is zero where r solves a cubic."""
    X, time = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([4.0, 3.0, 2.0, 1.0])
    r = np.exp(fit(X, time, np.ones(4, dtype=bool)).coefficients[0])
    assert 2 - 2 * r / (2 * r + 2) - r / (r + 2) - r / (r + 1) == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("rounded", [None, 0.5])
def test_residuals_are_what_a_records_weight_adds_to_the_score(rounded):
    X, time, event = draw(60, seed=3, rounded=rounded)
    order = spans(time, event)
    E, gamma = X[order.order], np.array([0.3, 0.1, -0.2])
    w = np.random.default_rng(1).uniform(0.2, 1.0, size=len(E))
    found = residuals(E, order, gamma, hazards(E, w, order, gamma))
    np.testing.assert_allclose(w @ found, look(E, w, order, gamma).gradient, atol=1e-10)
    for i in range(0, 60, 7):
        step = np.zeros(60)
        step[i] = 1e-6
        up, down = (look(E, w + sign * step, order, gamma).gradient for sign in (1, -1))
        np.testing.assert_allclose((up - down) / 2e-6, found[i], atol=1e-6)


@pytest.mark.parametrize("rounded", [None, 0.5])
def test_score_and_information_are_derivatives(rounded):
    X, time, event = draw(80, seed=4, rounded=rounded)
    order = spans(time, event)
    E, gamma, w = X[order.order], np.array([0.3, 0.1, -0.2]), np.linspace(0.1, 1, 80)
    at = look(E, w, order, gamma)
    for j in range(3):
        step = 1e-5 * np.eye(3)[j]
        up, down = (look(E, w, order, gamma + sign * step) for sign in (1, -1))
        assert (up.log_likelihood - down.log_likelihood) / 2e-5 == pytest.approx(at.gradient[j], rel=1e-5)
        np.testing.assert_allclose((down.gradient - up.gradient) / 2e-5, at.information[j], rtol=1e-5, atol=1e-6)


def test_a_likelihood_without_a_top_is_reported():
    X, time = np.arange(40.0)[:, None] > 19, np.concatenate([np.arange(20.0) + 100, np.arange(20.0)])
    assert fit(X, time, np.ones(40, dtype=bool)).separated


def test_bad_input_is_refused():
    X, time, event = draw(20)
    with pytest.raises(DataError, match="event"):
        fit(X, time, np.zeros(20, dtype=bool))
    with pytest.raises(DataError, match="finite"):
        fit(X * np.nan, time, event)
    with pytest.raises(DataError, match="shape"):
        fit(X, time[1:], event)
