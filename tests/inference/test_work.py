"""How findings become a `Fit`, where there are none as well."""

import json

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Additive, Disclosure
from sfumato.data.formula import parse_formula
from sfumato.inference.columns import split_columns
from sfumato.inference.estimators.naive import naive_fit
from sfumato.inference.fit import fit
from sfumato.inference.outcome import read_outcome
from sfumato.inference.problem import Problem
from sfumato.inference.work import Work


def work(family="probit"):
    table = pl.DataFrame({"y": [1.0] * 6 + [0.0] * 4})
    outcome = read_outcome(table, Codebook(), "y", family, [])
    problem = Problem(split_columns((), True, {}, []), {}, outcome, np.ones(10))
    return Work(parse_formula("y ~ 1"), family, problem, naive_fit(problem, family), None, 0.95, ("First.",))


def test_no_estimate_leaves_the_naive_fit():
    found = work().nothing("ml", "The noise is too strong.")
    told = json.loads(json.dumps(found.to_plain(), allow_nan=False))
    assert [told["terms"][0][key] for key in ("estimate", "se", "low", "high", "p")] == [None] * 5
    assert np.isclose(told["terms"][0]["naive"], 0.2533, atol=1e-4)  # the normal quantile of .6
    assert (told["converged"], told["se_rule"]) == (False, None)
    assert told["notes"] == ["The noise is too strong.", "First."]
    assert "0.2533" in found.summary()


NOISE = 0.3 / 0.7
"""Variance of noise that is .3 of what is released of a number with variance 1."""
NOISY = Disclosure([Additive(("x",), [[NOISE]])])


def counts(seed, size, n=1000):
    """Counts with mean exp(.5 + .4x + .3w), Poisson's times a gamma variable; one x is missing: a likelihood is needed.

    Zeros in place of three in ten where there is no size.
    """
    rng = np.random.default_rng([11, seed])
    x, w = rng.normal(size=(2, n))
    mean = np.exp(0.5 + 0.4 * x + 0.3 * w)
    y = rng.poisson(mean * (rng.gamma(size, 1 / size, n) if size else 1))
    y = y if size else y * (rng.random(n) > 0.3)
    z = pl.Series(x + rng.normal(0, NOISE**0.5, n)).scatter(0, [None])
    return pl.DataFrame({"y": y, "x": z, "w": w})


def theta_of(fitted):
    note = next(n for n in fitted.notes if "theta is" in n)
    return float(note.rpartition("theta is ")[2].rstrip("."))


@pytest.mark.few(1)
@pytest.mark.parametrize("size", [1, 4, None])
def test_counts_of_any_spread_give_the_truth_where_a_likelihood_is_needed(size):
    """Five draws around .4, each of sd .06: Poisson's own likelihood says 1.0 for size 1 and .5 for 4.

    With 30% extra zeros the negative binomial is wrong too, and a few hundredths low.
    """
    fits = [fit("y ~ x + w", counts(seed, size), NOISY, family="poisson", hidden="normal") for seed in range(5)]
    assert np.mean([f.estimate[1] for f in fits]) == pytest.approx(0.4, abs=0.08)
    assert {(f.method, f.se_rule, f.converged) for f in fits} == {("ml", "model", True)}
    assert all("negative binomial" in " ".join(f.notes) for f in fits)
    if size:
        assert np.mean([theta_of(f) for f in fits]) == pytest.approx(size, rel=0.25)
        own = fit("y ~ x + w", counts(0, size), NOISY, family="poisson", method="ml", hidden="normal")
        assert own.estimate[1] > fits[0].estimate[1] + 0.06
        assert "negative binomial" not in " ".join(own.notes)


def test_counts_that_vary_no_more_than_poissons_have_its_likelihood():
    """Half of what is drawn from a binomial distribution: less spread than Poisson's, so that theta has no maximum."""
    rng = np.random.default_rng(12)
    x = rng.normal(size=600)
    y = rng.binomial(10, np.exp(0.5 + 0.3 * np.clip(x, -3, 3)) / 10)
    table = pl.DataFrame({"y": y, "x": pl.Series(x + rng.normal(0, 0.4, 600)).scatter(0, [None])})
    told = Disclosure([Additive(("x",), [[0.16]])])
    ours = fit("y ~ x", table, told, family="poisson", hidden="normal")
    poisson = fit("y ~ x", table, told, family="poisson", hidden="normal", method="ml")
    assert ours.converged
    assert any("grew without bound" in note for note in ours.notes)
    np.testing.assert_allclose(ours.estimate, poisson.estimate, rtol=1e-5)
    np.testing.assert_allclose(ours.se, poisson.se, rtol=1e-4)


def test_a_linear_model_that_needs_a_likelihood_has_robust_errors():
    table = counts(3, 1).with_columns(y=pl.col("y") + 0.5)
    ours = fit("y ~ x + w", table, NOISY, hidden="normal")
    assert (ours.method, ours.se_rule) == ("ml", "HC3")
    assert "robust" in ours.summary()
