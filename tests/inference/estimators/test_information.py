"""Reliability and inflation against what the truth shows."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.inference.fit import fit

RNG = np.random.default_rng(11)
N = 20000
W = RNG.normal(size=N)
X = 0.6 * W + RNG.normal(size=N)
D = (0.5 * W + RNG.normal(size=N) > 0.4).astype(float)
Y = (0.2 + 0.4 * X - 0.5 * D + 0.3 * W + RNG.normal(size=N) > 0).astype(float)
TRUE = pl.DataFrame({"y": Y, "x": X, "d": D, "w": W})
FORMULA = "y ~ x + d + w + d:w"


NAMES = ("noise", "clipped", "exchanged")


def released(name):
    rng = np.random.default_rng(20 + NAMES.index(name))
    if name == "noise":
        z = TRUE.with_columns(pl.col("x") + rng.normal(0, 0.8, N), pl.col("d") + rng.normal(0, 0.5, N))
        return z, Disclosure([Additive(("x",), [[0.64]]), Additive(("d",), [[0.25]], values=(0, 1))])
    if name == "clipped":
        z = TRUE.with_columns((pl.col("d") + rng.normal(0, 0.5, N)).clip(0, 1))
        return z, Disclosure([Additive(("d",), [[0.25]], clipped=True)])
    z = TRUE.with_columns(pl.Series("d", np.where(rng.random(N) < 0.15, 1 - D, D)))
    return z, Disclosure([Misclassified("d", [[0.85, 0.15], [0.15, 0.85]], levels=(0, 1))])


@pytest.fixture(scope="module", params=NAMES)
def fitted(request):
    """What was released, and its fit."""
    z, told = released(request.param)
    return z, fit(FORMULA, z, told, family="probit", hidden="normal")


def test_reliability_is_the_squared_correlation_with_the_truth(fitted):
    """Computed without the truth, compared with it; 20,000 rows know a squared correlation to .01: three times that."""
    z, ours = fitted
    for j, column in enumerate(["x", "d", "w"], start=1):
        wanted = np.corrcoef(TRUE[column], z[column])[0, 1] ** 2
        assert ours.reliability[j] == pytest.approx(wanted, abs=0.03), column
    interaction = np.corrcoef(D * W, z["d"].to_numpy() * W)[0, 1] ** 2
    assert ours.reliability[4] == pytest.approx(interaction, abs=0.03)
    assert np.isnan(ours.reliability[0])


def test_inflation_is_over_the_errors_of_the_true_data(fitted):
    _, ours = fitted
    truth = fit(FORMULA, TRUE, family="probit")
    np.testing.assert_allclose(ours.inflation, ours.se / truth.se, rtol=0.05)


def test_noise_on_the_response_counts_too():
    flipped = np.where(np.random.default_rng(12).random(N) < 0.1, 1 - Y, Y)
    told = Disclosure([Misclassified("y", [[0.9, 0.1], [0.1, 0.9]], levels=(0, 1))])
    ours, truth = (
        fit("y ~ x + w", TRUE.with_columns(y=flipped), told, family="probit"),
        fit("y ~ x + w", TRUE, family="probit"),
    )
    np.testing.assert_allclose(ours.inflation, ours.se / truth.se, rtol=0.08)
    assert ours.inflation[1] > 1.2
    assert ours.reliability[1] == 1


def test_nothing_is_lost_without_noise():
    ours = fit("y ~ x + w", TRUE, family="probit")
    np.testing.assert_array_equal(ours.inflation, 1)
    np.testing.assert_array_equal(ours.reliability[1:], 1)
