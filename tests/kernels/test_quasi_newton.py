"""Steps mended by earlier ones, on a function whose maximum is known."""

import numpy as np

from sfumato.kernels.quasi_newton import mended


def test_a_quadratic_is_climbed_whose_curvature_was_thought_to_be_one():
    """With exact steps along each direction a quadratic of p columns ends after p + 1 steps."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6, 6))
    curvature, top = A @ A.T + np.eye(6), rng.normal(size=6)
    at, past = np.zeros(6), []
    for _ in range(7):
        gradient = curvature @ (top - at)
        step = mended(gradient, lambda g: g, past)
        step *= (gradient @ step) / (step @ curvature @ step)
        past.append((step, curvature @ step))
        at = at + step
    np.testing.assert_allclose(at, top, rtol=1e-8)
