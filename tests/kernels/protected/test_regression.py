"""Protected regressions: the notes' standard errors beside the plain fit's, and what the standardisation does.

The table is of `methods/gate.md` section 8: x₁ normal, x₂, x₄ Bernoulli .3, .1, x₃ = .7 z + .5 x₁, x₅ t₅,
b = −1, .5, .4, −.3, .6, .2. Ratios of single fits vary by about .03 at n = 500; their mean's error is below .01.
"""

import numpy as np
import pytest

from sfumato.kernels import glm
from sfumato.kernels.protected.regression import regression
from tests.kernels.protected.designs import TRUTH, design, draws, response

TABLE = [
    ("logistic", 500, 1.0, 1.13),
    ("logistic", 2_000, 1.0, 1.05),
    ("logistic", 10_000, 1.0, 1.03),
    ("logistic", 500, 2.0, 1.41),
    ("logistic", 2_000, 2.0, 1.13),
    ("logistic", 10_000, 2.0, 1.05),
    ("linear", 500, 1.0, 1.33),
    ("linear", 2_000, 1.0, 1.11),
    ("linear", 10_000, 1.0, 1.04),
]


@pytest.mark.parametrize(("family", "n", "tau", "ratio"), TABLE)
def test_standard_errors_beside_the_plain_fit(family, n, tau, ratio):
    """And `widening`, which knows what is told alone, comes near."""
    rng, found, told = np.random.default_rng(n), [], []
    for _ in range(max(4, 12_000 // n)):
        X = design(n, rng)
        y = response(X, family, rng)
        plain = np.sqrt(np.diag(glm.fit(X, y, family).covariance))
        fit = regression(family, X, y, **draws(n, 6, rng), tau=tau)
        found.append(fit.se / plain)
        told.append(fit.rounded().widening)
    assert np.median(found) == pytest.approx(ratio, abs=0.03)
    assert np.mean(told) == pytest.approx(ratio, abs=0.06)


@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_intervals_hold_the_truth(family):
    """60 samples of six coefficients: a share's standard error is below .014; the long studies have closer bars."""
    rng, inside = np.random.default_rng(7), []
    for _ in range(60):
        X = design(1000, rng)
        fit = regression(family, X, response(X, family, rng), **draws(1000, 6, rng), tau=1.0)
        inside.append((fit.low < TRUTH) & (fit.high > TRUTH))
    assert 0.91 < np.mean(inside) < 0.985


def test_the_bound_is_four_times_the_99th_percentile_of_leverage():
    """A constant alone: every |L⁻¹x| is 1, and a standardised score never above 4."""
    rng = np.random.default_rng(1)
    fit = regression("linear", np.ones((4000, 1)), rng.normal(size=4000), **draws(4000, 1, rng), tau=1.0)
    assert fit.bound == pytest.approx(4.0, rel=0.05)
    binary = (rng.random(4000) < 0.5).astype(float)
    fit = regression("logistic", np.ones((4000, 1)), binary, **draws(4000, 1, rng), tau=1.0)
    assert fit.bound == pytest.approx(2.0, rel=0.06)  # information of one response is 1/4


def test_a_share_is_not_clipped():
    """Four robust standard deviations of a rare 0 or 1 would leave nothing of its mean."""
    rng = np.random.default_rng(2)
    y = (rng.random(20_000) < 0.03).astype(float)
    fit = regression("linear", np.ones((20_000, 1)), y, **draws(20_000, 1, rng), tau=1.0)
    assert abs(fit.estimate[0] - y.mean()) < 3 * fit.se[0]
    assert fit.se[0] > 0.001


def test_without_a_constant_column():
    rng = np.random.default_rng(3)
    x = rng.normal(3, 1, size=(2000, 1))
    fit = regression("linear", x, 2 * x[:, 0] + rng.normal(size=2000), **draws(2000, 1, rng), tau=1.0)
    assert abs(fit.estimate[0] - 2) < 4 * fit.se[0]


def test_overdispersed_counts_keep_their_mean():
    """Negative binomial, variance twice the mean: what is clipped would take a tenth off at four Poisson deviations."""
    rng = np.random.default_rng(4)
    y = rng.negative_binomial(0.4, 0.5, size=40_000).astype(float)  # mean .4, variance .8
    fit = regression("poisson", np.ones((40_000, 1)), y, **draws(40_000, 1, rng), tau=1.0)
    assert fit.estimate[0] == pytest.approx(np.log(0.4), abs=0.03)


def test_strength_is_chosen_where_none_is_given():
    rng = np.random.default_rng(5)
    X = np.column_stack([np.ones(20_000), rng.normal(size=20_000)])
    y = X @ [1.0, 1.0] + rng.normal(size=20_000)
    fit = regression("linear", X, y, **draws(20_000, 2, rng))
    assert fit.tau == round(np.sqrt(fit.n / 9) / fit.bound)
    assert np.all(fit.se_added**2 / fit.se**2 < 0.15)
