"""Cumulants of what was released, less those of the noise, are those of the true values."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.error_model import Additive
from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.covariates.moments import noise_of, shape_moments
from sfumato.inference.fit import fit

N = 40_000


class Told:
    """As much of a problem as is looked at."""

    def __init__(self, covariate):
        self.continuous = [covariate]


@pytest.mark.parametrize("law", ["gaussian", "laplace", "uniform"])
def test_skewness_and_kurtosis_without_the_noise(law):
    """An exponential has 2 and 6; standard errors at this number are about 0.07 and 0.8, three of them are allowed."""
    rng = np.random.default_rng(5)
    draw = {
        "gaussian": lambda: rng.normal(size=N),
        "laplace": lambda: rng.laplace(size=N) / np.sqrt(2),
        "uniform": lambda: rng.uniform(-1, 1, N) * np.sqrt(3),
    }[law]
    z = rng.exponential(size=N) + 0.7 * draw()
    part = Additive(("x",), [[0.49]], distribution=law)
    covariate = Covariate("x", (), z, variance=np.full(N, 0.49), parts=[(part, np.ones(N, dtype=bool))])
    found = shape_moments(Told(covariate), z[:, None], np.ones(N))["x"]
    assert found.skewness == pytest.approx(2, abs=0.2)
    assert found.kurtosis == pytest.approx(6, abs=2.4)
    assert found.clear > 20


def test_noise_that_hangs_on_the_value_is_told_apart():
    part = Additive(("x",), [[1.0]], bounds={"x": (0, None)})
    covariate = Covariate("x", (), np.zeros(3), parts=[(part, np.ones(3, dtype=bool))])
    assert not noise_of(covariate).free
    assert noise_of(covariate).variance.tolist() == [1, 1, 1]


@pytest.mark.slow
def test_a_normal_law_for_a_skewed_number_is_warned_of():
    rng = np.random.default_rng(6)
    x = rng.exponential(size=1500)
    table = pl.DataFrame({"y": x + rng.normal(size=1500), "x": x + 0.5 * rng.normal(size=1500)})
    told = Additive(("x",), [[0.25]])
    assert any(
        "taken for normal, but is not" in note for note in fit("y ~ x", table, told, hidden="normal", method="ml").notes
    )
    assert not any("taken for normal" in note for note in fit("y ~ x", table, told, method="ml").notes)


def two_points(seed, n=100):
    """Of ±1 excess kurtosis is −2, the least there is: in samples under noise it comes out above that and below."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], n)
    table = pl.DataFrame({"y": x + rng.normal(size=n), "x": x + rng.normal(size=n)})
    gap = table["x"].to_numpy() - table["x"].mean()
    m2, m3, m4 = ((gap**k).mean() for k in (2, 3, 4))
    return table, m3 / (m2 - 1) ** 1.5, (m4 - 3 * m2**2) / (m2 - 1) ** 2


def test_moments_that_no_distribution_has_are_not_told():
    """Excess kurtosis is at least squared skewness − 2 (Pearson): below it nothing is printed, and it is said why."""
    seen = set()
    for seed in range(8):
        table, skewness, kurtosis = two_points(seed)
        ours = fit("y ~ x", table, Additive(("x",), [[1.0]]), hidden="normal", method="ml")
        possible = bool(kurtosis >= skewness**2 - 2)
        seen.add(possible)
        assert any("excess kurtosis" in text for text in (*ours.shape, *ours.notes)) == possible
        assert any("none that a distribution has" in note for note in ours.notes) == (not possible)
        assert ("excess kurtosis" in str(ours.to_plain()) + ours.summary()) == possible
    assert seen == {True, False}
