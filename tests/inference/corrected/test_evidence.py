"""Evidence by hand: what is released of a hidden column beside what noise alone would show."""

import math

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.inference.fit import fit


def evidence(frame, parts, formula="y ~ x", **options):
    return fit(formula, frame, Disclosure(parts), **options).evidence


def frame(n=2_000, seed=1):
    rng = np.random.default_rng(seed)
    w, x = rng.normal(size=(2, n))
    z = x + 0.8 * w + rng.normal(0, 0.7, n)
    return pl.DataFrame({"y": x + rng.normal(size=n), "x": z, "w": w, "v": rng.normal(size=n), "h": rng.random(n) + 1})


@pytest.mark.parametrize(("law", "kurtosis"), [("gaussian", 0.0), ("laplace", 3.0), ("uniform", -1.2)])
def test_a_number_alone(law, kurtosis):
    table = frame()
    found = evidence(table, [Additive(("x",), [[0.49]], distribution=law)])
    assert found == pytest.approx((table["x"].var(ddof=0) - 0.49) / 0.49 * math.sqrt(2_000 / (2 + kurtosis)))


def test_given_exact_columns_and_weights():
    table = frame()
    X, z = np.column_stack([np.ones(2_000), table["w"]]), table["x"].to_numpy()
    gap = z - X @ np.linalg.lstsq(X, z, rcond=None)[0]
    found = evidence(table, [Additive(("x",), [[0.49]])], "y ~ x + w")
    assert found == pytest.approx((gap @ gap / 2_000 - 0.49) / 0.49 * math.sqrt(2_000 / 2))
    h = table["h"].to_numpy()
    n = h.sum() ** 2 / (h @ h)
    variance = np.cov(z, aweights=h, ddof=0)
    found = evidence(table, [Additive(("x",), [[0.49]])], weight="h")
    assert found == pytest.approx((variance - 0.49) / 0.49 * math.sqrt(n / 2))


def test_the_least_combination_of_several():
    """λ_min of Ω^{-1/2} (S − Ω) Ω^{-1/2} √(n/2)."""
    table = frame().with_columns(v=pl.col("v") + 0.9 * pl.col("x"))
    omega = np.array([[0.49, 0.2], [0.2, 0.6]])
    S = np.cov(table["x"], table["v"], ddof=0)
    values = np.linalg.eigvals(np.linalg.solve(omega, S - omega)).real
    found = evidence(table, [Additive(("x", "v"), omega)], "y ~ x + v")
    assert found == pytest.approx(values.min() * math.sqrt(2_000 / 2))


def test_noise_alone_seldom_passes():
    """Of 60 samples of noise alone 2 or more is the upper 2.3% of a normal law: more than 6 has probability .001."""
    rng, passed = np.random.default_rng(2), 0
    for _ in range(60):
        table = pl.DataFrame({"y": rng.normal(size=500), "x": rng.normal(0, 0.7, 500)})
        passed += evidence(table, [Additive(("x",), [[0.49]])]) >= 2
    assert passed <= 6


def test_an_exchanged_category():
    """The share of a level is (released share − (1 − p)/2)/p with p = .6 kept, its error that of the released share."""
    rng = np.random.default_rng(3)
    true = rng.random(3_000) < 0.2
    told = np.where(rng.random(3_000) < 0.2, ~true, true).astype(int)
    table = pl.DataFrame({"y": true + rng.normal(size=3_000), "x": told})
    share = told.mean()
    mean, se = (share - 0.2) / 0.6, math.sqrt(share * (1 - share) / 3_000) / 0.6
    found = evidence(table, [Misclassified("x", [[0.8, 0.2], [0.2, 0.8]], levels=(0, 1))])
    assert found == pytest.approx(mean / se, rel=1e-6)


def test_nothing_hidden_and_what_corrected_cannot_take_have_none():
    table = frame()
    assert evidence(table, []) is None
    bounded = table.with_columns(pl.col("x").clip(-2, 2))
    assert evidence(bounded, [Additive(("x",), [[0.49]], bounds={"x": (-2, 2)})]) is None
