"""Against least squares without noise, the notes' formulas, and Fieller's interval in closed form."""

import math

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.linear import corrected_linear, definite_inverse, inverted
from sfumato.kernels.corrected.noise import Noise


def design(z, y, noise, exact=None):
    """A constant, exact columns, and hidden numbers; the response last."""
    n, c = z.shape
    exact = np.zeros((n, 0)) if exact is None else exact
    q = exact.shape[1]
    columns = np.column_stack([np.ones(n), exact, np.ones((n, c)), y])
    powers = np.zeros((q + c + 2, c), dtype=np.int64)
    powers[1 + q : 1 + q + c] = np.eye(c)
    return Design(columns, powers, z, [noise], np.zeros(n, dtype=np.int64))


def sample(n, seed, variance):
    rng = np.random.default_rng(seed)
    w, x = rng.normal(size=n), rng.exponential(size=n)
    y = 1 + 2 * x - w + rng.normal(size=n) * (1 + x)
    return w[:, None], (x + rng.normal(0, variance**0.5, n))[:, None], y


def test_without_noise_it_is_least_squares():
    w, z, y = sample(80, 1, 0.0)
    weight = np.random.default_rng(2).uniform(0.5, 2, 80)
    found = corrected_linear(design(z, y, Noise(np.zeros((1, 1))), w), weight)
    X = np.column_stack([np.ones(80), w, z])
    root = np.sqrt(weight)
    expected, rss = np.linalg.lstsq(X * root[:, None], y * root, rcond=None)[:2]
    np.testing.assert_allclose(found.estimate, expected)
    assert found.residual == pytest.approx(rss.item())
    np.testing.assert_allclose(found.scores, X * (y - X @ expected)[:, None], atol=1e-10)


def test_the_formulas_of_normal_noise():
    """b = (Σ zz' − Ω)⁻¹ Σ zy, scores zy − (zz' − Ω) b (Fuller 1987)."""
    w, z, y = sample(300, 3, 0.5)
    found = corrected_linear(design(z, y, Noise(np.array([[0.5]])), w), np.ones(300))
    X, omega = np.column_stack([np.ones(300), w, z]), np.diag([0, 0, 0.5])
    b = np.linalg.solve(X.T @ X - 300 * omega, X.T @ y)
    np.testing.assert_allclose(found.estimate, b)
    np.testing.assert_allclose(found.scores, X * (y - X @ b)[:, None] + omega @ b, atol=1e-10)
    np.testing.assert_allclose(found.scores.sum(axis=0), 0, atol=1e-9)


def test_noise_on_the_response_that_hangs_together_with_that_on_a_covariate():
    rng = np.random.default_rng(4)
    covariance = np.array([[0.5, 0.4], [0.4, 1.0]])
    x = rng.normal(size=500)
    released = np.column_stack([x, 1 + x]) + rng.multivariate_normal(np.zeros(2), covariance, 500)
    powers = np.array([[0, 0], [1, 0], [0, 1]])
    told = Design(np.ones((500, 3)), powers, released, [Noise(covariance)], np.zeros(500, dtype=np.int64))
    z, y = released.T
    Z = np.column_stack([np.ones(500), z])
    expected = np.linalg.solve(Z.T @ Z - 500 * np.diag([0, 0.5]), Z.T @ y - 500 * np.array([0, 0.4]))
    np.testing.assert_allclose(corrected_linear(told, np.ones(500)).estimate, expected)


def test_moments_that_no_numbers_have():
    w, z, y = sample(100, 5, 0.0)
    assert corrected_linear(design(z, y, Noise(np.array([[9.0]])), w), np.ones(100)) is None
    assert definite_inverse(np.array([[1.0, np.nan], [np.nan, 1.0]])) is None
    assert definite_inverse(np.ones((2, 2))) is None


def hc0(rows):
    gap = rows - rows.mean(axis=0)
    return gap.T @ gap


def fieller(z, y, variance, t):
    """All β with (P − βQ)² ≤ t² Σ (p_i − β q_i)², p and q centred, by the quadratic formula."""
    zc = z - z.mean()
    p, q = zc * (y - y.mean()), zc * zc - variance
    P, Q = p.sum(), q.sum()
    p, q = p - p.mean(), q - q.mean()
    a, b, c = Q**2 - t**2 * q @ q, P * Q - t**2 * p @ q, P**2 - t**2 * p @ p
    return a, b, c


@pytest.mark.parametrize(("variance", "bounded"), [(1.0, True), (4.0, True), (60.0, False)])
def test_the_interval_of_one_number_is_fiellers(variance, bounded):
    """With a constant beside, products of gaps from means take the place of products."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=300)
    y, z = x + rng.normal(size=300), x + rng.normal(0, variance**0.5, 300)
    found = inverted(design(z[:, None], y, Noise(np.array([[variance]]))), np.ones(300), 1, 1.96, hc0)
    a, b, c = fieller(z, y, variance, 1.96)
    assert (a > 0) == bounded
    if bounded:
        root = math.sqrt(b**2 - a * c)
        assert found.low[1] == pytest.approx((b - root) / a, rel=1e-6)
        assert found.high[1] == pytest.approx((b + root) / a, rel=1e-6)
    else:
        assert found.low.tolist() == [-math.inf] * 2
        assert found.high.tolist() == [math.inf] * 2


def test_where_little_is_hidden_it_comes_to_walds_and_the_others_follow():
    """n = 20,000 and little noise: inverted and Wald's interval differ by terms of 1/√n in width, for all terms."""
    w, z, y = sample(20_000, 7, 0.2)
    told = design(z, y, Noise(np.array([[0.2]])), w)
    found = corrected_linear(told, np.ones(20_000))
    influence = found.scores @ found.bread
    se = np.sqrt((influence**2).sum(axis=0))
    ours = inverted(told, np.ones(20_000), 2, 1.96, hc0)
    assert (ours.low[2] + ours.high[2]) / 2 == pytest.approx(found.estimate[2], abs=0.1 * se[2])
    assert ours.high[2] - ours.low[2] == pytest.approx(2 * 1.96 * se[2], rel=0.05)
    for j in (0, 1):  # the hull of intervals at both ends holds Wald's, and little more than both ways can add
        assert ours.low[j] < found.estimate[j] - 1.8 * se[j]
        assert ours.high[j] > found.estimate[j] + 1.8 * se[j]
        assert ours.high[j] - ours.low[j] < 2 * 1.96 * se[j] * 2.1


def test_the_distance_is_that_of_a_test_that_the_coefficient_is_zero():
    """At β = 0 the score is that of a regression without the number: P / √Σp² of centred p."""
    w, z, y = sample(400, 8, 0.5)
    y = y - 1.9 * z[:, 0]
    ours = inverted(design(z, y, Noise(np.array([[0.5]])), w), np.ones(400), 2, 1.96, hc0)
    W = np.column_stack([np.ones(400), w])
    without = lambda v: v - W @ np.linalg.lstsq(W, v, rcond=None)[0]  # noqa: E731
    p = without(z[:, 0]) * without(y)
    assert ours.distance[2] == pytest.approx(abs(p.sum()) / np.sqrt(((p - p.mean()) ** 2).sum()), rel=1e-6)
    # another way to say it: 0 lies outside exactly those intervals whose quantile is smaller
    for quantile in (ours.distance[2] * 0.99, ours.distance[2] * 1.01):
        found = inverted(design(z, y, Noise(np.array([[0.5]])), w), np.ones(400), 2, quantile, hc0)
        assert (found.low[2] <= 0 <= found.high[2]) == (quantile > ours.distance[2])


def test_a_half_line():
    """P = Q = 1, Σp² and Σpq at will: where Q² = t²Σq² exactly, the quadratic is a line."""
    from sfumato.kernels.corrected.linear import _between

    assert _between(0.0, 2.0, 3.0) == (0.75, math.inf)
    assert _between(0.0, -2.0, 3.0) == (-math.inf, -0.75)


def test_it_covers_where_walds_does_not():
    """Evidence in truth 2.5: of 200 draws the 95% interval holds at least 182 (binomial: less has probability .001)."""
    rng, held, t = np.random.default_rng(9), 0, stats.norm.ppf(0.975)
    variance = math.sqrt(300 / 2) / 2.5
    for _ in range(200):
        x = rng.normal(size=300)
        y, z = 2 * x + rng.normal(size=300), x + rng.normal(0, variance**0.5, 300)
        ours = inverted(design(z[:, None], y, Noise(np.array([[variance]]))), np.ones(300), 1, t, hc0)
        held += ours.low[1] <= 2 <= ours.high[1]
    assert held >= stats.binom.ppf(0.001, 200, 0.95)


@pytest.mark.parametrize("far", [3.0, 1e6])
def test_where_zero_lies_moves_the_intercept_alone(far):
    """Influences of the slopes are those of the columns as they are, also a million standard deviations from zero."""
    rng = np.random.default_rng(8)
    x, w = rng.normal(size=(2, 500))
    y, z = x - w + rng.normal(size=500), x + rng.normal(0, 0.5, 500)
    powers, weight = np.array([[0], [1], [0], [0]]), rng.uniform(1, 2, 500)

    def design(by):
        columns, noise = np.column_stack([np.ones(500), np.ones(500), w + by, y + by]), Noise(np.full((1, 1), 0.25))
        return Design(columns, powers, (z + by)[:, None], [noise], np.zeros(500, dtype=np.int64))

    def fitted(by):
        return corrected_linear(design(by), weight)

    near, moved = fitted(0.0), fitted(far)
    np.testing.assert_allclose(moved.estimate[1:], near.estimate[1:], rtol=1e-6)
    wanted = near.estimate[0] + far * (1 - near.estimate[1:].sum())
    assert moved.estimate[0] == pytest.approx(wanted, rel=1e-6)
    one, other = (found.scores @ found.bread for found in (near, moved))
    np.testing.assert_allclose(other[:, 1:], one[:, 1:], rtol=1e-4, atol=1e-7)
    direct = design(0.0)
    moments = direct.total(weight)
    np.testing.assert_allclose(near.estimate, np.linalg.solve(moments[:-1, :-1], moments[:-1, -1]), rtol=1e-10)
    np.testing.assert_allclose(near.bread, np.linalg.inv(moments[:-1, :-1]), rtol=1e-10)
    np.testing.assert_allclose(near.scores, direct.times(np.append(-near.estimate, 1.0))[:, :-1], atol=1e-9)
