"""What is told of hidden numbers' distribution."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.error_model import Additive
from sfumato.errors import DataError
from sfumato.inference.covariates.covariate import Covariate
from sfumato.inference.fit import fit
from sfumato.inference.hidden import released_histogram

RNG = np.random.default_rng(7)
N = 2000
W = RNG.integers(0, 2, N)
X = np.where(RNG.random(N) < 0.3, 2.5, 0.0) + 0.5 * RNG.normal(size=N) + W
TABLE = pl.DataFrame({"y": (0.5 * X - 0.6 + RNG.normal(size=N) > 0) * 1, "x": X + 0.6 * RNG.normal(size=N), "w": W})
TOLD = Additive(("x",), [[0.36]])


def test_two_clear_parts_are_told():
    """Weights within 0.05, means (at the mean of w, a half) and deviations within 0.2: three standard errors."""
    found = fit("y ~ x + w", TABLE, TOLD, family="probit")
    told = found.hidden["x"]
    assert told["components"] == 2
    np.testing.assert_allclose(told["weights"], [0.7, 0.3], atol=0.05)
    np.testing.assert_allclose(told["means"], [0.5, 3.0], atol=0.2)
    np.testing.assert_allclose(told["sds"], [0.5, 0.5], atol=0.2)
    assert "mixture of two normals" in found.hidden_sentences()[0]
    assert found.to_plain()["hidden"] == found.hidden
    shape = found.densities["x"]
    assert np.trapezoid(shape.density, shape.at) == pytest.approx(1, abs=0.05)  # what lies within the histogram
    assert found.estimate[1] == pytest.approx(0.5, abs=0.15)  # three standard errors


def test_what_is_asked_for_is_taken():
    assert fit("y ~ x", TABLE, TOLD, family="probit", hidden="normal").hidden["x"]["components"] == 1
    assert fit("y ~ x", TABLE, TOLD, family="probit", hidden=2).hidden["x"]["components"] == 2
    for wrong in (0, 6, "many", 2.0, True):
        with pytest.raises(DataError, match="hidden"):
            fit("y ~ x", TABLE, TOLD, hidden=wrong)


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing():
    """Ascents end within 1e-5 standard errors or so of their summits, wherever they come from."""
    a, b = (
        fit("y ~ x + w", table, TOLD, family="probit")
        for table in (TABLE, TABLE.sample(fraction=1.0, shuffle=True, seed=1))
    )
    np.testing.assert_allclose(a.estimate, b.estimate, atol=1e-4)
    assert a.hidden["x"]["components"] == b.hidden["x"]["components"]


def test_nothing_is_hidden_without_noise():
    assert fit("y ~ w", TABLE, family="probit").hidden == {}


def test_no_bar_stands_for_few_records():
    z = np.random.default_rng(8).standard_t(2, size=3000)
    edges, heights = released_histogram(Covariate("x", (), z))
    assert (np.histogram(z, edges)[0] >= 10).all()
    np.testing.assert_allclose(heights, np.histogram(z, edges)[0] / 3000 / np.diff(edges))
    assert released_histogram(Covariate("x", (), np.zeros(50))) is None
