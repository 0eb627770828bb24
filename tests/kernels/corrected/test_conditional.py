"""The conditional score against its definition solved by scipy, statsmodels without noise, and the truth."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from sfumato.kernels.corrected.conditional import conditional_logit
from tests.late import late

sm = late("statsmodels.api")

OMEGA = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.1], [0.0, 0.1, 0.2]])


def drawn(n, omega, seed=1, times=None, which=None):
    """A design with skewed true values and correlated noise, and responses with coefficients −.3, .7, −.4."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(n), rng.lognormal(0, 0.6, n), rng.normal(size=n)])
    root = np.linalg.cholesky(omega.reshape(-1, 3, 3)[:, 1:, 1:])
    u = np.zeros((n, 3))
    u[:, 1:] = np.einsum(
        "nij,nj->ni", root[np.zeros(n, dtype=int) if which is None else which], rng.normal(size=(n, 2))
    )
    scale = 1.0 if times is None else times
    y = (rng.random(n) < expit(scale * x @ [-0.3, 0.7, -0.4])).astype(float)
    return scale * (x + u), y


def literal(Z, y, omegas, weight):
    """Σ w (y − P)Δ = 0 as the paper has it, with a matrix for each record, from where the fit without noise is."""

    def equations(b):
        total = np.zeros(len(b))
        for z, response, omega, w in zip(Z, y, omegas, weight, strict=True):
            delta = z + response * omega @ b
            total += w * (response - expit(b @ delta - b @ omega @ b / 2)) * delta
        return total

    return optimize.root(equations, np.array([-0.2, 0.4, -0.3]), tol=1e-11).x


def test_without_noise_it_is_logistic_regression():
    Z, y = drawn(400, OMEGA)
    ours, theirs = conditional_logit(Z, y, np.zeros((3, 3))), sm.Logit(y, Z).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-7)
    np.testing.assert_allclose(np.linalg.inv(ours.derivative), theirs.cov_params(), rtol=1e-6)


@pytest.mark.parametrize("kind", ["one", "groups", "products"])
def test_the_root_is_that_of_the_equations(kind):
    """Each record's own matrix, written out: one for all, one for each group, and products with exact numbers."""
    n = 300
    rng = np.random.default_rng(3)
    weight = rng.uniform(0.5, 2, n)
    which = rng.integers(0, 2, n) if kind == "groups" else None
    times = np.column_stack([np.ones(n), rng.uniform(0.5, 1.5, n), np.ones(n)]) if kind == "products" else None
    noise = np.stack([OMEGA, OMEGA / 3]) if kind == "groups" else OMEGA
    Z, y = drawn(n, noise, 4, times, which)
    omegas = np.broadcast_to(noise, (n, 3, 3)) if which is None else noise[which]
    if times is not None:
        omegas = np.einsum("ni,nij,nj->nij", times, omegas, times)
    ours = conditional_logit(Z, y, noise, weight, which=which, times=times)
    assert ours.found
    np.testing.assert_allclose(ours.estimate, literal(Z, y, omegas, weight), rtol=1e-6)
    np.testing.assert_allclose(ours.scores.sum(axis=0), 0, atol=1e-6)
    by_record = conditional_logit(Z, y, np.array(omegas), weight, which=np.arange(n))
    np.testing.assert_allclose(by_record.estimate, ours.estimate, rtol=1e-8)
    np.testing.assert_allclose(by_record.derivative, ours.derivative, rtol=1e-6)


def test_the_derivative_and_the_influence_are_those_of_the_equations():
    """One record given a little more weight moves the root by its influence; the error is of the square of that."""
    Z, y = drawn(300, OMEGA)
    found = conditional_logit(Z, y, OMEGA)
    for record in (0, 7):
        weight = np.ones(300)
        weight[record] += 1e-4
        moved = (conditional_logit(Z, y, OMEGA, weight).estimate - found.estimate) / 1e-4
        np.testing.assert_allclose(moved, found.influence[record], rtol=1e-2, atol=1e-6)


def test_skewed_covariates_do_not_bias_it():
    """20,000 records: within three standard errors of the truth; logistic regression on z is far off."""
    Z, y = drawn(20_000, OMEGA, 5)
    found = conditional_logit(Z, y, OMEGA)
    se = np.sqrt((found.influence**2).sum(axis=0))
    assert np.all(np.abs(found.estimate - [-0.3, 0.7, -0.4]) < 3 * se)
    naive = conditional_logit(Z, y, np.zeros((3, 3))).estimate
    assert abs(naive[1] - 0.7) > 3 * se[1]


def test_noise_beyond_all_that_varies_has_no_root():
    Z, y = drawn(300, OMEGA)
    assert not conditional_logit(Z, y, 20 * OMEGA).found
