"""Against scipy's maximum of the censored likelihood."""

import numpy as np
import pytest
from scipy import optimize, stats

from sfumato.kernels.likelihood.censored import censored_moments


@pytest.mark.parametrize(("low", "high"), [(-np.inf, 0.5), (-0.4, 0.9), (-np.inf, -0.8)])
def test_moments_are_those_of_the_likelihood(low, high):
    """EM stops at steps of 1e-6 sd, of which some hundred may be left where most values are beyond a bound."""
    x = np.random.default_rng(1).normal(0.2, 1.1, 2000)
    z, below, above = np.clip(x, low, high), x <= low, x >= high

    def minus(theta):
        m, s = theta[0], np.exp(theta[1])
        parts = np.where(below, stats.norm.logcdf(z, m, s), stats.norm.logpdf(z, m, s))
        return -np.where(above, stats.norm.logsf(z, m, s), parts).sum()

    found = optimize.minimize(minus, [0.0, 0.0], method="BFGS")
    np.testing.assert_allclose(censored_moments(z, below, above), [found.x[0], np.exp(found.x[1])], atol=5e-4)
