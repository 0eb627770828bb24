"""Simulate, protect, estimate: powers and products of noisy numbers; banded, top-coded and rounded ones."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Coarsened, Disclosure
from sfumato.inference.fit import fit

NOISE = np.array([[0.4, 0.1], [0.1, 0.3]])
CUTS = [30, 40, 50, 60, 70]
ENDS = list(zip([None, *CUTS], [*CUTS, None], strict=True))
BANDS = {f"{low}-{high}": (low, high) for low, high in ENDS}


def curved(rng, n):
    """A square, of a noisy number, whose noise and value are correlated with those of another."""
    x, w, table = _two(rng, n)
    eta = 0.2 + 0.5 * x - 0.3 * x**2 + 0.3 * w
    return table.with_columns(y=eta + 0.7 * rng.normal(size=n)), [0.2, 0.5, 0.3, -0.3]


def crossed(rng, n):
    """The product of two noisy numbers."""
    x, w, table = _two(rng, n)
    eta = 0.2 + 0.5 * x - 0.3 * w + 0.4 * x * w
    return table.with_columns(y=(eta + rng.normal(size=n) > 0) * 1), [0.2, 0.5, -0.3, 0.4]


def _two(rng, n):
    w = rng.normal(size=n)
    x = 0.4 * w + 0.9 * rng.normal(size=n)
    e = rng.multivariate_normal([0, 0], NOISE, size=n)
    return x, w, pl.DataFrame({"x": x + e[:, 0], "w": w + e[:, 1]})


def coarse(rng, n):
    """Age in bands of ten years, income top-coded and rounded to fives, sex with noise."""
    sex = rng.integers(0, 2, n)
    age = 50 + 4 * sex + rng.normal(0, 15, n)
    income = 30 + 0.3 * age - 3 * sex + rng.normal(0, 10, n)
    y = (-1 + 0.03 * (age - 50) - sex + 0.02 * (income - 45) + rng.normal(size=n) > 0) * 1
    table = pl.DataFrame(
        {
            "y": y,
            "age": np.array(list(BANDS))[np.digitize(age, CUTS)],
            "sex": sex + rng.normal(0, 0.5, n),
            "income": np.round(np.minimum(income, 60) / 5) * 5,
        }
    )
    return table, [-1 - 1.5 - 0.9, 0.03, -1, 0.02]


TWO = Disclosure([Additive(("x", "w"), NOISE)])
SEVERAL = Disclosure(
    [
        Coarsened(("age",), bands=BANDS),
        Coarsened(("income",), bounds={"income": (None, 60)}, rounded={"income": 5}),
        Additive(("sex",), [[0.25]], values=(0, 1)),
    ]
)
CASES = {
    "square": (curved, "y ~ x + w + I(x^2)", "linear", TWO),
    "product": (crossed, "y ~ x*w", "probit", TWO),
    "coarse": (coarse, "y ~ age + sex + income", "probit", SEVERAL),
}


FEW = {"square": (5, 400, 1), "product": (5, 400, 1), "coarse": (4, 800, 1)}
"""Draws, records of each, and the seed."""


def study(name, times, n, seed):
    draw, formula, family, told = CASES[name]
    rng, fits, truths = np.random.default_rng(seed), [], []
    for _ in range(times):
        table, truth = draw(rng, n)
        fits.append(fit(formula, table, told, family=family))
        truths.append(truth)
    assert all(f.converged for f in fits)
    truth, estimates = np.array(truths[0]), np.array([f.estimate for f in fits])
    inside = [(f.interval[:, 0] <= truth) & (truth <= f.interval[:, 1]) for f in fits]
    naive = np.mean([f.naive for f in fits], axis=0)
    return truth, estimates, np.mean(inside, axis=0), naive


@pytest.mark.parametrize("name", ["square", *(pytest.param(n, marks=pytest.mark.slow) for n in ("product", "coarse"))])
def test_the_truth_comes_back(name):
    """A few draws: where the naive mean is more than four standard errors off, ours is nearer."""
    truth, estimates, naive, error = comes_back(name, *FEW[name])
    gap = np.abs(estimates.mean(axis=0) - truth)
    far = np.abs(naive - truth) > 4 * error
    assert far.any()
    assert np.all(gap[far] < np.abs(naive - truth)[far])


@pytest.mark.nightly(of="tests/recovery/test_hidden_numbers.py::test_the_truth_comes_back")
@pytest.mark.parametrize("name", CASES)
def test_the_truth_comes_back_over_many_draws(name):
    comes_back(name, 40, 1000, 2)


def comes_back(name, times, n, seed):
    """Bias below 3% of the truth plus three standard errors; coverage above .95 less three of a share."""
    truth, estimates, coverage, naive = study(name, times, n, seed)
    error = estimates.std(axis=0, ddof=1) / np.sqrt(times)
    assert np.all(np.abs(estimates.mean(axis=0) - truth) < 0.03 * np.abs(truth) + 3 * error)
    assert np.all(coverage >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / times))
    return truth, estimates, naive, error
