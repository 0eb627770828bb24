"""Calibration and moments against closed forms; where each is right and where it is not."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.errors import DataError
from sfumato.inference.fit import fit


def straight(n=4000, seed=0, noise=0.6):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=n), rng.normal(size=n)
    y = 1 + 0.5 * x - 0.3 * w + rng.normal(size=n)
    z = x + rng.normal(0, noise**0.5, n)
    return pl.DataFrame({"y": y, "x": z, "w": w}), Disclosure([Additive(("x",), [[noise]])])


def test_moments_are_the_closed_form():
    table, told = straight()
    Z = np.column_stack([np.ones(4000), table["x"], table["w"]])
    y = table["y"].to_numpy()
    omega = np.diag([0, 0.6, 0])
    wanted = np.linalg.solve(Z.T @ Z / 4000 - omega, Z.T @ y / 4000)
    ours = fit("y ~ x + w", table, told, method="moments")
    np.testing.assert_allclose(ours.estimate, wanted, rtol=1e-9)
    ml = fit("y ~ x + w", table, told)
    np.testing.assert_allclose(ours.estimate, ml.estimate, atol=0.2 * ml.se.min())
    np.testing.assert_allclose(ours.se, ml.se, rtol=0.06)
    assert ours.sigma == pytest.approx(ml.sigma, rel=1e-3)


@pytest.mark.slow
def test_moments_errors_are_those_of_replications():
    """100 draws: a standard deviation is known to 7%; three of these. Without the noise's share, errors are 1.6 times
    smaller."""
    fits = [fit("y ~ x + w", *straight(400, seed), method="moments") for seed in range(100)]
    spread = np.std([f.estimate for f in fits], axis=0)
    np.testing.assert_allclose(np.mean([f.se for f in fits], axis=0), spread, rtol=0.21)


def test_calibration_of_a_linear_model_is_that_of_moments():
    """With one normal covariate, E[x | z, w] is linear, and both solve the same equations up to estimated variances."""
    table, told = straight()
    calibrated, by_moments = (fit("y ~ x + w", table, told, method=m) for m in ("calibration", "moments"))
    np.testing.assert_allclose(calibrated.estimate, by_moments.estimate, atol=5e-3)


def test_calibration_without_noise_is_the_plain_fit():
    table, _ = straight()
    one, other = fit("y ~ x + w", table, method="calibration"), fit("y ~ x + w", table)
    np.testing.assert_allclose(one.estimate, other.estimate, rtol=1e-7)


def probit(strength, n=6000, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = (strength * x + rng.normal(size=n) > 0).astype(float)
    return pl.DataFrame({"y": y, "x": x + rng.normal(size=n)}), Disclosure([Additive(("x",), [[1.0]])])


@pytest.mark.slow
def test_calibration_is_good_for_weak_effects_and_not_for_strong_ones():
    """b = .8 and noise as large as the variation: the calibrated slope is .8/√(1 + .8²/2) = .696 (notes: .695)."""
    weak = fit("y ~ x", *probit(0.1), family="probit", method="calibration")
    assert weak.estimate[1] == pytest.approx(0.1, abs=4 * weak.se[1])
    strong = fit("y ~ x", *probit(0.8), family="probit", method="calibration")
    assert strong.estimate[1] == pytest.approx(0.8 / np.sqrt(1 + 0.32), abs=4 * strong.se[1])
    assert strong.interval[1, 1] < 0.8
    assert any("biased" in note for note in strong.notes)
    ml = fit("y ~ x", *probit(0.8), family="probit", hidden="normal")
    assert ml.estimate[1] == pytest.approx(0.8, abs=4 * ml.se[1])


@pytest.mark.slow
def test_simex_corrects_weak_noise_whatever_the_order_of_rows():
    table, told = straight(1500, noise=0.05)
    ours = fit("y ~ x + w", table, told, method="simex")
    by_moments = fit("y ~ x + w", table, told, method="moments")
    np.testing.assert_allclose(ours.estimate, by_moments.estimate, atol=0.005)
    again = fit("y ~ x + w", table.sample(fraction=1, shuffle=True, seed=1), told, method="simex")
    np.testing.assert_allclose(again.estimate, ours.estimate, rtol=1e-9)
    other = fit("y ~ x + w", table, told, method="simex", seed=1)
    assert not np.array_equal(other.estimate, ours.estimate)
    assert any("biased where noise is strong" in note for note in ours.notes)


@pytest.mark.parametrize(
    ("part", "options", "says"),
    [
        (Additive(("x",), [[0.1]]), {"family": "probit", "method": "moments", "formula": "b ~ x"}, "linear models"),
        (Additive(("x",), [[0.1]]), {"family": "poisson", "method": "simex", "formula": "b ~ x"}, "linear, probit"),
        (Additive(("c",), [[0.1]], clipped=True), {"method": "moments", "formula": "y ~ c"}, "neither clipped"),
        (Misclassified("b", np.eye(2)), {"method": "simex", "formula": "y ~ b"}, "additive noise"),
        (Additive(("x",), [[0.1]]), {"method": "moments", "formula": "y ~ x*w"}, "interactions"),
    ],
)
def test_what_they_cannot_do_is_refused(part, options, says):
    table, _ = straight(100)
    table = table.with_columns(b=(pl.col("w") > 0).cast(pl.Int64), c=pl.col("w").clip(0, 1))
    with pytest.raises(DataError, match=says):
        fit(data=table, disclosure=Disclosure([part]), **options)
