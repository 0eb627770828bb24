"""Integrals over the true value against scipy's adaptive integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from sfumato.data.error_model import Growth
from sfumato.kernels.likelihood.quadrature import interval_nodes, normal_nodes, true_value_nodes
from sfumato.kernels.likelihood.released import Law

GROWTH = Growth(centre=0.0, scale=1.0, beyond=1.5)
CASES = {
    "normal": (Law(), 0.7, None),
    "weak": (Law(), 0.05, None),
    "laplace": (Law("laplace"), 0.6, None),
    "uniform": (Law("uniform"), 0.6, None),
    "bounded": (Law(low=-1.0, high=1.0), 0.5, None),
    "rounded": (Law(rounded=0.5), 0.3, None),
    "growing": (Law(), 0.4, GROWTH.factor),
}


@pytest.mark.parametrize("name", CASES)
def test_integrals_are_scipys(name):
    """Of the density times a normal density with mean .2 and sd 1.1. Growth bends at its start: 1e-3; else 2e-4."""
    law, sd, growth = CASES[name]
    z = np.array([-1.0, 0.0, 0.5, 1.0])
    nodes, log_weights = true_value_nodes(z, sd, law, 1.3, growth)
    prior = stats.norm(0.2, 1.1)
    for i, value in enumerate(z):

        def integrand(x, value=value):
            x = np.array([x])
            spread = np.full(1, sd) if growth is None else sd * growth(x)
            density = np.exp(law.log_density(np.array([[value]]), x, spread))[0, 0]
            return density * prior.pdf(x[0])

        ends = (-7.0, 7.0)
        corners = [value, value - 0.6 * 3**0.5, value + 0.6 * 3**0.5, -1.5, 1.5]
        inside = [c for c in corners if ends[0] < c < ends[1]]
        wanted, _ = integrate.quad(integrand, *ends, points=inside or None, limit=400)
        ours = np.exp(log_weights[i]) @ prior.pdf(nodes[i])
        assert ours == pytest.approx(wanted, rel=1e-3 if name == "growing" else 2e-4), value


INTERVALS = [
    (-np.inf, -1.5),
    (-1.5, -0.6),
    (0.2, 0.8),
    (-0.5, 0.2),
    (0.2, 2.6),
    (1.0, np.inf),
    (-1.0, 7.0),
    (4.0, np.inf),
]


@pytest.mark.parametrize("within", [1.3, 0.6])
def test_intervals_hold_the_mass_of_a_normal_density(within):
    """Nodes know the column's spread, 1.3; within cells of other covariates it may be less than half."""
    low, high = np.array(INTERVALS).T
    found = interval_nodes(low, high, 0.1, 1.3)
    assert sorted(np.concatenate([rows for rows, _, _ in found]).tolist()) == list(range(len(low)))
    density = stats.norm(0.4, within)
    for rows, nodes, log_weights in found:
        ours = (np.exp(log_weights) * density.pdf(nodes)).sum(axis=1)
        wanted = density.cdf(high[rows]) - density.cdf(low[rows])
        np.testing.assert_allclose(ours, wanted, rtol=2e-4, atol=1e-9)


@pytest.mark.parametrize("sd", [0.05, 0.7, 4.0])
@pytest.mark.parametrize("within", [1.3, 0.7])
def test_normal_nodes_give_the_normal_convolution(sd, within):
    """∫ φ(z − x; s²) φ(x − μ; S) dx = φ(z − μ; s² + S), with x² beside it; also where S and μ are not the column's."""
    z = np.array([-3.0, 0.2, 2.5])
    nodes, log_weights = normal_nodes(z, np.full(3, sd**2), 0.1, 1.3)
    part = np.exp(log_weights) * stats.norm.pdf(nodes, 0.4, within)
    total = np.sqrt(sd**2 + within**2)
    mean = 0.4 + within**2 / total**2 * (z - 0.4)
    variance = within**2 * sd**2 / total**2
    density = stats.norm.pdf(z, 0.4, total)
    np.testing.assert_allclose(part.sum(axis=1), density, rtol=1e-7)
    np.testing.assert_allclose((part * nodes**2).sum(axis=1), density * (mean**2 + variance), rtol=1e-6)


def test_a_missing_value_has_nodes_over_the_whole_column():
    nodes, log_weights = normal_nodes(np.array([np.nan]), np.zeros(1), 5.0, 2.0)
    part = np.exp(log_weights) * stats.norm.pdf(nodes, 5.5, 1.7)
    assert part.sum() == pytest.approx(1.0, rel=1e-7)
    assert (part * nodes).sum() == pytest.approx(5.5, rel=1e-7)
