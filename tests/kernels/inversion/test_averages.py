import numpy as np

from sfumato.kernels.inversion.averages import from_averages


def test_it_is_the_least_squares_solution():
    rng = np.random.default_rng(0)
    rows = np.array([rng.choice(12, 3, replace=False) for _ in range(12)])
    weight, target, hold, guess = rng.random(12) + 0.1, rng.normal(size=12), rng.random(12) + 0.1, rng.normal(size=12)
    averages = np.zeros((12, 12))
    for i, members in enumerate(rows):
        averages[i, members] = 1 / 3
    normal = averages.T @ (weight[:, None] * averages) + np.diag(hold)
    exact = np.linalg.solve(normal, averages.T @ (weight * target) + hold * guess)
    # conjugate gradients end after as many steps as there are unknowns, or at a squared residual of 1e-10 of the first
    np.testing.assert_allclose(from_averages(rows, weight, target, hold, guess), exact, atol=1e-4)


def test_a_solution_stays():
    rows = np.array([[0, 1], [1, 2], [1, 2]])
    x = np.array([1.0, 3.0, 7.0])
    target = x[rows].mean(axis=1)
    np.testing.assert_allclose(from_averages(rows, np.ones(3), target, np.full(3, 0.1), x), x, atol=1e-12)
