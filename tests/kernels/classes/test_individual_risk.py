from decimal import Decimal, localcontext

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.kernels.classes.individual_risk import household_risk, individual_risk, risk_threshold


def series(f, p):
    """The sum as it is printed, in 40 digits."""
    with localcontext() as context:
        context.prec = 40
        f, p = Decimal(f), Decimal(p)
        q, term, total, j = 1 - p, Decimal(1), Decimal(0), 0
        while term > Decimal(10) ** -25:
            total += term
            j += 1
            term *= j * q / (f + j)
        return float(p / f * total)


def approximation(f, p):
    """The field's formulas: exact for f = 1 and 2, and near above."""
    odds = p / (1 - p)
    if f == 1:
        return odds * np.log(1 / p)
    return odds - odds**2 * np.log(1 / p) if f == 2 else p / (f - (1 - p))


@pytest.mark.parametrize("p", ["0.99999", "0.9", "0.5", "0.1", "0.01"])
@pytest.mark.parametrize("f", ["0.3", "1", "1.5", "2", "2.75", "7", "64", "65", "200", "250.5", "10000"])
def test_it_is_the_sum(f, p):
    ours = individual_risk(np.array([float(f)]), np.array([float(f) / float(p)]))[0]
    assert ours == pytest.approx(min(1.0, series(f, p)), rel=1e-10)


@pytest.mark.parametrize("p", [1e-3, 1e-5, 1e-8, 1e-12])
def test_small_shares_by_their_closed_forms(p):
    """Whole f: logarithms; halves: an arc tangent. The next f from the last: r(f + 1) = p/q (1/f − r(f))."""
    q = 1 - p
    at_half, at_one = 2 * np.sqrt(p / q) * np.arctan(np.sqrt(q / p)), p / q * np.log(1 / p)
    f = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    wanted = [at_half, at_one, p / q * (2 - at_half), p / q * (1 - at_one)]
    wanted += [p / q * (1 / 1.5 - wanted[2]), p / q * (1 / 2 - wanted[3])]
    np.testing.assert_allclose(individual_risk(f, f / p), wanted, rtol=1e-9)


def test_the_printed_value():
    assert individual_risk(np.array([1.5]), np.array([150.0]))[0] == pytest.approx(0.0172161, abs=5e-8)


def test_with_everybody_in_the_file_or_without_weights_it_is_one_over_f():
    f = np.array([0.4, 1.0, 3.0, 8.5])
    wanted = [1.0, 1.0, 1 / 3, 1 / 8.5]
    for population in (None, f, f * 0.9):
        np.testing.assert_allclose(individual_risk(f, population), wanted, rtol=1e-14)


@given(f=st.floats(0.05, 1e7), p=st.floats(1e-12, 1.0))
def test_it_is_a_risk_between_the_file_and_the_population(f, p):
    """1/E(F) ≤ E(1/F) ≤ 1/f, where F ≥ f."""
    risk = individual_risk(np.array([f]), np.array([f / p]))[0]
    assert min(1.0, p / f) * (1 - 1e-9) <= risk <= min(1.0, 1 / f) * (1 + 1e-9)


def test_the_approximation_is_exact_below_three_and_near_above():
    for p in (0.02, 0.3, 0.8):
        for f in (1, 2):
            assert individual_risk(np.array([f]), np.array([f / p]))[0] == pytest.approx(approximation(f, p), rel=1e-9)
        for f in (20, 150):
            assert individual_risk(np.array([f]), np.array([f / p]))[0] == pytest.approx(approximation(f, p), rel=3e-3)


@pytest.mark.parametrize("f", [[0.0], [-1.0], [float("nan")]])
def test_a_count_is_above_zero(f):
    with pytest.raises(DataError, match="f:"):
        individual_risk(np.array(f))


@pytest.mark.parametrize("population", [[0.0], [-2.0], [float("nan")], [float("inf")]])
def test_a_sum_of_weights_is_above_zero(population):
    with pytest.raises(DataError, match="population"):
        individual_risk(np.array([1.0]), np.array(population))


CASES = [
    ("testdata", ["urbrur", "roof", "walls", "water", "sex"], "sampling_weight", 1.526397, 1.52720448852391),
    ("free1", ["SEX", "MARSTAT", "EDUC1", "ETNI"], "WEIGHT", 3.391950, 3.39229768651821),
]


@pytest.mark.parametrize(("file", "keys", "weight", "exact", "near"), CASES)
def test_expected_reidentifications(shared_data, file, keys, weight, exact, near):
    """Of the approximation: sdcMicro 5.8.1. Of the posterior mean: computed apart from the formula, six decimals."""
    frame = pl.read_csv(shared_data / "sdcmicro" / f"{file}.csv", infer_schema_length=None)
    table = frame.group_by(keys).agg(pl.len().alias("f"), pl.col(weight).sum().alias("F"))
    f, F = table["f"].to_numpy().astype(float), table["F"].to_numpy().astype(float)
    assert (f * individual_risk(f, F)).sum() == pytest.approx(exact, abs=5.1e-7)
    assert sum(a * approximation(a, a / b) for a, b in zip(f, F, strict=True)) == pytest.approx(near, rel=1e-10)


def test_households_by_the_product(shared_data):
    """testdata, ori_hid: 7.17702857125284 with the approximation (sdcMicro 5.8.1)."""
    keys = CASES[0][1]
    frame = pl.read_csv(shared_data / "sdcmicro" / "testdata.csv")
    frame = frame.with_columns(pl.len().over(keys).alias("f"), pl.col("sampling_weight").sum().over(keys).alias("F"))
    risk = np.array([approximation(a, a / b) for a, b in frame.select("f", "F").iter_rows()])
    household = np.unique(frame["ori_hid"].to_numpy(), return_inverse=True)[1]
    assert household_risk(risk, household).sum() == pytest.approx(7.17702857125284, rel=1e-10)


def test_a_household_goes_with_its_surest_member():
    assert household_risk(np.array([1.0, 0.2, 0.0]), np.array([0, 0, 1])).tolist() == [1.0, 1.0, 0.0]


@given(
    risk=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    wanted=st.floats(0.0, 1.0),
)
def test_at_the_threshold_the_mean_is_the_wanted_one(risk, wanted):
    r, counts = np.array(risk), np.arange(1, len(risk) + 1)
    threshold = risk_threshold(r, counts, wanted)
    mean = np.average(np.minimum(r, threshold), weights=counts)
    assert mean <= wanted + 1e-12
    assert threshold == pytest.approx(r.max()) if np.average(r, weights=counts) <= wanted else mean >= wanted - 1e-12


def test_a_wanted_risk_is_a_share():
    with pytest.raises(DataError, match="wanted"):
        risk_threshold(np.array([0.5]), np.array([1]), 1.5)
