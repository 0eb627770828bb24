"""The stand-in population: sizes, moments and reproducibility."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.errors import DataError
from sfumato.examples import ncds_like
from sfumato.examples.ncds import COLUMNS, STRATA, stratum_sizes

# Table of the notes on seed 001, section 5, by stratum: mean, sd, skewness, excess kurtosis, correlations.
NOTES = {
    ("male", "no"): """4.669 1.43 176.4 86.0 | .710 .34 6.6 13.2 | 2.0 .70 .02 .60 | 8.0 .90 .05 .90
        | -.173 -.045 .171 .02 -.33 .42""",
    ("male", "yes"): """4.779 1.37 175.2 83.0 | .712 .36 6.6 13.8 | 2.0 .70 .02 .60 | 8.0 .90 .05 .90
        | -.182 -.041 .181 .02 -.33 .42""",
    ("female", "no"): """4.536 1.71 162.8 71.2 | .717 .40 6.2 14.2 | 2.2 .60 .05 1.00 | 10.0 .70 .10 1.60
        | -.206 -.061 .210 .06 -.36 .30""",
    ("female", "yes"): """4.660 1.60 162.1 69.2 | .717 .42 6.2 13.6 | 2.2 .60 .05 1.00 | 10.0 .70 .10 1.60
        | -.209 -.064 .204 .06 -.36 .30""",
}


def notes(key):
    return [np.array([float(v) for v in part.split()]) for part in NOTES[key].split("|")]


@pytest.mark.parametrize(
    ("n", "sizes"),
    [
        # floor(n × share + .5): 203.5, 46.5, 193.5, 58.5 for 500
        (500, (203, 46, 193, 58)),
        # 20.3, 4.6, 19.3, 5.8 round to 20, 5, 19, 6
        (50, (20, 5, 19, 6)),
        # 4.06, .92, 3.86, 1.16 round to 4, 1, 4, 1
        (10, (4, 1, 4, 1)),
        # 49.938, 11.316, 47.478, 14.268 round to 122; the first gets the one left over
        (123, (51, 11, 47, 14)),
        # 1.218 … round to 1, 0, 1, 0; again
        (3, (2, 0, 1, 0)),
        (1, (1, 0, 0, 0)),
    ],
)
def test_sizes_of_the_strata(n, sizes):
    assert stratum_sizes(n) == sizes
    frame = ncds_like(n)
    counts = {(s, k): c for s, k, c in frame.group_by("sex", "smoker").len().iter_rows()}
    assert tuple(counts.get((s.sex, s.smoker), 0) for s in STRATA) == sizes
    assert frame["id"].to_list() == list(range(1, n + 1))


def test_columns_and_types():
    assert ncds_like(8).schema == pl.Schema(
        {"id": pl.Int64, "sex": pl.String, "smoker": pl.String, **dict.fromkeys(COLUMNS, pl.Float64)}
    )


def test_same_seed_same_table():
    assert ncds_like(200, seed=7).equals(ncds_like(200, seed=7))
    assert not ncds_like(200, seed=7).equals(ncds_like(200, seed=8))


def test_refuses_no_records():
    with pytest.raises(DataError, match="`n` is 0"):
        ncds_like(0)


@pytest.mark.parametrize("stratum", STRATA, ids=lambda s: f"{s.sex}-{s.smoker}")
def test_population_is_that_of_the_notes(stratum):
    mean, sd, skewness, kurtosis, correlation = notes((stratum.sex, stratum.smoker))
    assert stratum.mean == tuple(mean)
    assert stratum.sd == tuple(sd)
    assert stratum.skewness == tuple(skewness)
    assert stratum.kurtosis == tuple(kurtosis)
    assert stratum.correlation == tuple(correlation)
    assert sum(s.share for s in STRATA) == pytest.approx(1)


def check_moments(frame, key):
    """The tolerance of the notes for 10⁶ draws."""
    mean, sd, skewness, kurtosis, correlation = notes(key)
    x = frame.filter(sex=key[0], smoker=key[1]).select(COLUMNS).to_numpy()
    assert (np.abs(x.mean(0) - mean) < 0.02 * sd).all()
    assert (np.abs(x.std(0, ddof=1) / sd - 1) < 0.03).all()
    assert (np.abs(stats.skew(x) - skewness) < 0.2).all()
    allowed = np.maximum(0.3 * kurtosis, 0.1)
    allowed[0] = 3  # glucose
    assert (np.abs(stats.kurtosis(x) - kurtosis) < allowed).all()
    r = np.corrcoef(x.T)[np.triu_indices(4, 1)]
    assert (np.abs(r - correlation) < 0.02).all()


@pytest.mark.slow
def test_moments_on_a_million_draws():
    frame = ncds_like(10**6)
    for key in NOTES:
        check_moments(frame, key)
