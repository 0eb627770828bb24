from importlib import import_module

import numpy as np
import pytest

from sfumato.kernels.sampling.convergence import bulk_effective, split_r_hat

RNG = np.random.default_rng(1)


def autoregressive(C, D, rho, shift=0.0):
    """Chains whose draws have correlation rho^lag, and which stand `shift` apart."""
    x = np.empty((C, D))
    x[:, 0] = RNG.normal(size=C)
    for t in range(1, D):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * RNG.normal(size=C)
    return x + shift * np.arange(C)[:, None]


CASES = {
    "independent": RNG.normal(size=(4, 1000)),
    "odd length": RNG.normal(size=(4, 251)),
    "slow": autoregressive(4, 1000, 0.9),
    "antithetic": autoregressive(4, 1000, -0.5),
    "apart": autoregressive(4, 500, 0.3, 0.2),
    "Cauchy": RNG.standard_cauchy((4, 400)),
    "one wider": RNG.normal(size=(4, 500)) * np.array([[1], [1], [1], [2]]),
    "with ties": np.round(RNG.normal(size=(4, 300)), 1),
    "stuck": np.repeat(RNG.normal(size=(2, 50)), 10, axis=1),
}


@pytest.mark.parametrize("name", CASES)
def test_both_are_those_of_arviz(name):
    """The same definitions (Vehtari et al. 2021) in another program, so to rounding."""
    arviz = import_module("arviz")
    draws = CASES[name]
    assert split_r_hat(draws) == pytest.approx(float(arviz.rhat(draws, method="rank")), rel=1e-9)
    assert bulk_effective(draws) == pytest.approx(float(arviz.ess(draws, method="bulk")), rel=1e-9)


def test_the_effective_number_of_an_autoregression():
    """(1 − ρ)/(1 + ρ) of the draws; with 40,000 draws of correlation .9, some 2,100, to a tenth."""
    assert bulk_effective(autoregressive(4, 10_000, 0.9)) == pytest.approx(40_000 * 0.1 / 1.9, rel=0.1)


def test_chains_that_differ_in_width_alone_are_told():
    assert split_r_hat(CASES["one wider"]) > 1.01


def test_equal_draws_have_neither():
    assert np.isnan(split_r_hat(np.ones((4, 100))))
    assert np.isnan(bulk_effective(np.ones((4, 100))))
