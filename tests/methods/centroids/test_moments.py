"""Restored moments, rounded at random: within the grid, right on average, and the same in every release of the data."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Averaged
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.base import StepDraws
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.centroids.moments import Kept, rounded
from sfumato.release.run import run_steps
from tests.methods.tables import NUMBER, PEOPLE_BOOK

BOOK = Codebook({"id": PEOPLE_BOOK["id"], "x": NUMBER, "y": NUMBER})


def incomes(n=500, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"id": np.arange(n), "x": rng.lognormal(10, 1, n), "y": rng.normal(size=n)})


def ran(frame, secret=bytes(16), **parameters):
    step = Centroids(**({"columns": ["x"], "k": 5, "round_to": None} | parameters))
    return run_steps([step], PolarsDataset(frame, BOOK), Draws(secret))


def draws(number):
    return StepDraws(Draws(number.to_bytes(16, "little")), "centroids", None)


def test_the_grid_is_a_tenth_of_the_standard_error():
    """Standard errors as textbooks have them: sd/√n, and sd √((κ − 1)/4n)."""
    x = incomes()["x"].to_numpy()
    z = (x - x.mean()) / x.std(ddof=1)
    kept = Kept(len(x), x.mean(), x.std(ddof=1), (z**2).var(ddof=1), (z**2).max())
    assert kept.error("mean") == pytest.approx(x.std(ddof=1) / np.sqrt(500))
    kurtosis = ((x - x.mean()) ** 4).mean() / x.var() ** 2
    assert kept.error("sd") == pytest.approx(x.std() * np.sqrt((kurtosis - 1) / 2000), rel=0.01)


@pytest.mark.parametrize("moment", ["mean", "sd"])
def test_rounding_is_unbiased_and_within_one_step(moment):
    kept = Kept(400, 31.4137, 2.0, 3.0)
    got = np.array([rounded(kept, moment, "x", draws(i)) for i in range(2000)])
    step = 0.1 * kept.error(moment)
    assert len(np.unique(got)) == 2
    assert np.abs(got - getattr(kept, moment)).max() < 1.05 * step  # two digits of it are taken
    assert got.mean() == pytest.approx(getattr(kept, moment), abs=4 * step / 2 / np.sqrt(2000))


def test_what_others_do_to_the_neighbours_repeats_the_rounding():
    """Else many releases would average it out."""
    frame = incomes()
    told = [
        ran(frame, **more).after.frame["x"]
        for more in ({}, {"k": 7}, {"grouping": "mdav"}, {"columns": ["x", "y"]}, {"min_stratum": 20})
    ]
    assert [s.mean() for s in told] == pytest.approx([told[0].mean()] * 5, rel=1e-12)
    assert [s.std() for s in told] == pytest.approx([told[0].std()] * 5, rel=1e-12)
    assert told[0].mean() != pytest.approx(frame["x"].mean(), rel=1e-9)
    assert ran(frame, moments="exact").after.frame["x"].mean() == pytest.approx(frame["x"].mean(), rel=1e-12)


@pytest.mark.slow
def test_the_difference_of_two_sums_errs_as_it_is_told():
    """0.058 √n sd, that is g √n/√3 with g = sd/10√n: 25 people withdrawn, each under a secret of its own."""
    frame = incomes()
    errors = []
    for i in range(25):
        secret = (i + 1).to_bytes(16, "little")
        sums = [ran(f, secret).after.frame["x"].sum() for f in (frame, frame.filter(pl.col("id") != i))]
        errors.append(sums[0] - sums[1] - frame["x"][i])
    told = 0.058 * np.sqrt(500) * frame["x"].std()
    assert 0.6 * told < np.std(errors) < 1.6 * told  # of 25: 4 standard errors are a factor of 1.6


def test_analysts_and_the_custodian_are_told():
    assert "each to a tenth of its standard error" in ran(incomes()).disclosure.sentences()[0]
    assert "spread was then restored to a tenth of" in ran(incomes(), recentre=False).disclosure.sentences()[0]
    assert "mean is kept to a tenth of its" in ran(incomes(), rescale=False).disclosure.sentences()[0]
    exact = ran(incomes(), moments="exact").disclosure
    assert "tenth" not in exact.sentences()[0]
    assert isinstance(exact.parts[0], Averaged)
    assert not ran(incomes().with_columns(x="y")).steps[0].warnings


def test_who_dominates_a_column_is_warned_of_by_the_column_alone():
    frame = incomes().with_columns(x=pl.when(pl.col("id") == 7).then(8_888_888.0).otherwise("x"))
    (warning,) = ran(frame).steps[0].warnings
    assert "10% of the sum of squares of x" in warning
    assert "do: top_code, columns: [x]" in warning
    assert "888" not in warning
    assert not ran(frame, rescale=False, recentre=False).steps[0].warnings


def test_little_data_and_constant_columns():
    two = incomes(40).with_columns(y=(pl.col("id") % 2).cast(pl.Float64), x=pl.lit(1.0))
    ran(two, columns=["x", "y"])
    assert set(ran(two).after.frame["x"]) == {1.0}
