"""Against statsmodels without noise, the notes' equations with it, and by simulation."""

import numpy as np
import pytest

from sfumato.kernels.corrected import poisson
from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.noise import Noise
from sfumato.kernels.corrected.poisson import climbed, corrected_poisson
from sfumato.kernels.corrected.tilted import Tilted
from tests.late import late

sm = late("statsmodels.api")


def sample(n, seed, variance):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(2, n))
    y = rng.poisson(np.exp(0.5 + 0.4 * x + 0.2 * w) * rng.gamma(1, 1, n)).astype(float)
    return w, x + rng.normal(0, variance**0.5, n), y


def tilted(w, z, variance):
    n = len(z)
    columns, powers = np.column_stack([np.ones(n), w, np.ones(n)]), np.array([[0], [0], [1]])
    noise = [Noise(np.array([[variance]]))]
    return Tilted(Design(columns, powers, z[:, None], noise, np.zeros(n, dtype=np.int64)))


def test_without_noise_it_is_poisson_regression():
    w, z, y = sample(300, 1, 0.0)
    weight = np.random.default_rng(2).uniform(0.5, 2, 300)
    X = np.column_stack([np.ones(300), w, z])
    theirs = sm.GLM(y, X, family=sm.families.Poisson(), freq_weights=weight).fit(tol=1e-12)
    ours = corrected_poisson(tilted(w, z, 0.0), y, weight, np.array([0.3, 0.0, 0.0]))
    np.testing.assert_allclose(ours.estimate, theirs.params, atol=1e-8)
    np.testing.assert_allclose(ours.bread, theirs.cov_params(), rtol=1e-6)
    np.testing.assert_allclose(ours.scores, X * (y - np.exp(X @ theirs.params))[:, None], atol=1e-6)


def test_the_equations_of_normal_noise():
    """u = zy − (z − Ωb) m, J = Σ ((z − Ωb)(z − Ωb)' − Ω) m, m = exp(b'z − b'Ωb/2) (Nakamura 1990)."""
    w, z, y = sample(2_000, 3, 0.36)
    start = np.array([0.5, 0.2, 0.25])
    ours = corrected_poisson(tilted(w, z, 0.36), y, np.ones(2_000), start)
    Z, omega, b = np.column_stack([np.ones(2_000), w, z]), np.diag([0, 0, 0.36]), ours.estimate
    m, gap = np.exp(Z @ b - b @ omega @ b / 2), Z - omega @ b
    scores = Z * y[:, None] - gap * m[:, None]
    np.testing.assert_allclose(ours.scores, scores, atol=1e-8)
    np.testing.assert_allclose(scores.sum(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.linalg.inv(ours.bread), gap.T @ (gap * m[:, None]) - omega * m.sum(), rtol=1e-5)


def test_noise_on_counts_that_hangs_together_with_that_on_a_covariate():
    """The covariance times the factor of the column is taken off zy; without it the slope is off by Ω₁₂ at least."""
    w, z, y = sample(4_000, 4, 0.0)
    rng = np.random.default_rng(5)
    u, v = rng.multivariate_normal([0, 0], [[0.3, 0.5], [0.5, 1.2]], 4_000).T
    shared = np.zeros((4_000, 3))
    shared[:, 2] = 0.5
    start = np.array([0.5, 0.2, 0.3])
    told = tilted(w, z + u, 0.3)
    ours = corrected_poisson(told, y + v, np.ones(4_000), start, shared)
    exact = corrected_poisson(tilted(w, z, 0.0), y, np.ones(4_000), start)
    np.testing.assert_allclose(ours.estimate, exact.estimate, atol=0.12)
    wrong = corrected_poisson(told, y + v, np.ones(4_000), start)
    assert wrong.estimate[2] - exact.estimate[2] > 0.15


def test_no_root_where_noise_is_all_there_is():
    rng = np.random.default_rng(6)
    y, z = rng.poisson(2.0, 200).astype(float), rng.normal(size=200)
    assert corrected_poisson(tilted(rng.normal(size=200), z, 4.0), y, np.ones(200), np.array([0.7, 0, 0])) is None


def test_many_records_are_led_by_some_and_a_rare_one_by_all(monkeypatch):
    """The root is that of all records; where some do not determine a coefficient, all show the way."""
    w, z, y = sample(3_000, 7, 0.36)
    rare = np.zeros(3_000)
    rare[[1, 2]] = 1.0
    start = np.array([0.5, 0.2, 0.3])
    for told, begin in ((w, start), (rare, np.array([0.5, 0.0, 0.3]))):
        whole = corrected_poisson(tilted(told, z, 0.36), y, np.ones(3_000), begin)
        with monkeypatch.context() as m:
            m.setattr(poisson, "_ENOUGH", 300)
            some = corrected_poisson(tilted(told, z, 0.36), y, np.ones(3_000), begin)
        np.testing.assert_allclose(some.estimate, whole.estimate, atol=1e-6)


def test_climbing_stops_where_there_is_no_top():
    assert climbed(lambda b: (float(b @ b), 2 * b, -2 * np.eye(1)), np.array([1.0]), 1e-8) is None
    assert climbed(lambda b: (np.inf, b, np.eye(1)), np.array([1.0]), 1e-8) is None


def test_the_mean_alone_is_assumed():
    """20 draws of 1,000 with theta 1 and noise .36, where Poisson's likelihood gives .81 for .4: the mean estimate lies
    within four standard errors of its own."""
    found = []
    for seed in range(20):
        w, z, y = sample(1_000, 100 + seed, 0.36)
        found.append(corrected_poisson(tilted(w, z, 0.36), y, np.ones(1_000), np.array([0.5, 0.2, 0.3])).estimate[2])
    assert np.mean(found) == pytest.approx(0.4, abs=4 * np.std(found, ddof=1) / 20**0.5)
