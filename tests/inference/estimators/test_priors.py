import numpy as np
import polars as pl
import pytest
from scipy import stats

import sfumato.inference.estimators.bayes as bayes
from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.errors import DataError
from sfumato.inference.estimators.priors import SLOPE, WIDE, build_prior
from sfumato.inference.fit import fit


@pytest.fixture
def built(monkeypatch):
    """Fit by `bayes`, and give the problem and the prior that it used."""

    def run(*args, priors=None, **options):
        seen = {}

        def spy(problem, found, terms, given):
            seen.update(problem=problem, found=found, terms=terms, prior=build_prior(problem, found, terms, given))
            return seen["prior"]

        monkeypatch.setattr(bayes, "build_prior", spy)
        fit(*args, method="bayes", draws=200, priors=priors, **options)
        return seen

    return run


RNG = np.random.default_rng(1)
X, D = RNG.normal(5, 2, 400), RNG.integers(0, 2, 400)
TABLE = pl.DataFrame({"y": 100 + 3 * X + RNG.normal(0, 4, 400), "x": X + RNG.normal(0, 1, 400), "d": D})
TOLD = Disclosure([Additive(("x",), [[1.0]]), Misclassified("d", [[0.9, 0.1], [0.1, 0.9]], levels=(0, 1))])


def test_the_log_density_is_that_of_its_normal_laws(built):
    """Of a linear model with a noisy number and a misclassified category, put together by hand."""
    seen = built("y ~ x + d", TABLE, TOLD)
    y, prior = TABLE["y"].to_numpy(), seen["prior"]
    b = np.array([90.0, 2.0, 1.0])
    means = np.array([4.0, 6.0])  # of x, within each category of d
    v = np.concatenate([b, [4.0], [0.7], means, [2.0]])  # coefficients, σ, coordinate of the share of d, means, sd of x
    middle = b @ [1, TABLE["x"].mean(), TABLE["d"].mean()]
    slopes = SLOPE * y.std() / seen["found"].spread[1:]
    wanted = (
        stats.norm(y.mean(), WIDE * y.std()).logpdf(middle)
        + stats.norm(0, slopes).logpdf(b[1:]).sum()
        + stats.norm.logpdf(0.7)
        + stats.norm(TABLE["x"].mean(), WIDE * TABLE["x"].std(ddof=0)).logpdf(means).sum()
    )
    zero = np.zeros_like(v)
    origin = (
        stats.norm(y.mean(), WIDE * y.std()).logpdf(0)
        + stats.norm(0, slopes).logpdf(0).sum()
        + stats.norm.logpdf(0)
        + 2 * stats.norm(TABLE["x"].mean(), WIDE * TABLE["x"].std(ddof=0)).logpdf(0)
    )
    found = prior.log_density(np.stack([v, zero]))
    assert found[0] - found[1] == pytest.approx(wanted - origin, rel=1e-9)
    step = 1e-6 * np.eye(len(v))
    numeric = (prior.log_density(v + step) - prior.log_density(v - step)) / 2e-6
    np.testing.assert_allclose(prior.gradient(v), numeric, atol=1e-6)


def test_a_prior_given_takes_the_place_of_the_wide_one(built):
    seen = built("y ~ x + d", TABLE, TOLD, priors={"d": (1.0, 0.5)})
    prior = seen["prior"]
    at = [j for j, row in enumerate(prior.combinations) if row[2] and not row[:2].any()]
    assert [(prior.centre[j], prior.sd[j]) for j in at] == [(1.0, 0.5)]
    assert prior.information[2, 2] == pytest.approx(1 / 0.25, rel=0.01)


@pytest.mark.parametrize("given", [(0.0, 0.0), (0.0, -1.0), (np.nan, 1.0), (0.0, np.inf)])
def test_priors_that_are_none_are_refused(built, given):
    with pytest.raises(DataError, match="must be"):
        built("y ~ x + d", TABLE, TOLD, priors={"x": given})
