"""Integrals over the true value against scipy's adaptive integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from sfumato.data.error_model import Growth
from sfumato.kernels.quadrature import true_value_nodes
from sfumato.kernels.released import Law

GROWTH = Growth(centre=0.0, scale=1.0, beyond=1.5)
CASES = {
    "normal": (Law(), 0.7, None),
    "weak": (Law(), 0.05, None),
    "laplace": (Law("laplace"), 0.6, None),
    "uniform": (Law("uniform"), 0.6, None),
    "bounded": (Law(low=-1.0, high=1.0), 0.5, None),
    "top-coded": (Law(high=1.0), 0.0, None),
    "rounded": (Law(rounded=0.5), 0.3, None),
    "banded": (Law(rounded=0.5), 0.0, None),
    "growing": (Law(), 0.4, GROWTH.factor),
}


@pytest.mark.parametrize("name", CASES)
def test_integrals_are_scipys(name):
    """Of the density times a normal density with mean .2 and sd 1.1. Growth bends at its start: 1e-3; else 2e-4."""
    law, sd, growth = CASES[name]
    z = np.array([1.0]) if name == "top-coded" else np.array([-1.0, 0.0, 0.5, 1.0])
    nodes, log_weights = true_value_nodes(z, sd, law, 1.3, growth)
    prior = stats.norm(0.2, 1.1)
    for i, value in enumerate(z):

        def integrand(x, value=value):
            x = np.array([x])
            spread = np.full(1, sd) if growth is None else sd * growth(x)
            density = 1.0 if sd == 0 else np.exp(law.log_density(np.array([[value]]), x, spread))[0, 0]
            return density * prior.pdf(x[0])

        ends = (-7.0, 7.0)
        if sd == 0:
            ends = (1.0, 9.0) if name == "top-coded" else (value - 0.25, value + 0.25)
        corners = [value, value - 0.6 * 3**0.5, value + 0.6 * 3**0.5, -1.5, 1.5]
        inside = [c for c in corners if ends[0] < c < ends[1]]
        wanted, _ = integrate.quad(integrand, *ends, points=inside or None, limit=400)
        ours = np.exp(log_weights[i]) @ prior.pdf(nodes[i])
        assert ours == pytest.approx(wanted, rel=1e-3 if name == "growing" else 2e-4), value
