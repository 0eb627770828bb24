"""Banded numbers that are not normal, with the ends of their bands known: the slope comes back."""

import itertools

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Coarsened, Disclosure
from sfumato.inference.fit import fit

LAWS = {
    "uniform": (lambda rng, n: rng.uniform(18, 90, n), [30, 45, 60, 75], (18, 90)),
    "beta": (lambda rng, n: 18 + 72 * rng.beta(1.5, 2, n), [30, 45, 60, 75], (18, 90)),
    "lognormal": (lambda rng, n: np.exp(rng.normal(3, 0.5, n)), [10, 20, 30, 50], (None, None)),
    "normal": (lambda rng, n: rng.normal(45, 12, n), [30, 40, 50, 60], (None, None)),
}


@pytest.mark.parametrize("name", [n if n == "lognormal" else pytest.param(n, marks=pytest.mark.slow) for n in LAWS])
def test_slopes_come_back(name):
    """Ten draws of 1,000: bias below 2% of the slope plus three standard errors. Taken for normal, lognormal lost 4%.

    With a standard deviation of .4 around the line the sum is below that 4%, which .8 and twenty draws did not reach.
    """
    draw, cuts, (low, high) = LAWS[name]
    ends = [low, *cuts, high]
    labels = [f"band {i}" for i in range(len(cuts) + 1)]
    told = Disclosure([Coarsened(("x",), bands=dict(zip(labels, itertools.pairwise(ends), strict=True)))])
    rng, slopes, inside = np.random.default_rng(5), [], []
    for _ in range(10):
        x = draw(rng, 1000)
        y = 0.05 * x + rng.normal(0, 0.4, 1000)
        found = fit("y ~ x", pl.DataFrame({"y": y, "x": np.array(labels)[np.digitize(x, cuts)]}), told)
        slopes.append(found.estimate[1])
        inside.append(found.interval[1, 0] <= 0.05 <= found.interval[1, 1])
    assert abs(np.mean(slopes) - 0.05) < 0.02 * 0.05 + 3 * np.std(slopes) / np.sqrt(10)
    assert np.mean(inside) >= 0.7  # .95 less three standard errors of a share of 10
