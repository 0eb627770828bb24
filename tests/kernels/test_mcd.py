"""The robust covariance against closed forms, exhaustive search, and the program it must equal."""

from importlib import import_module
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels import mcd
from sfumato.kernels.mcd import fast_mcd


def normal(n, p, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


@pytest.mark.parametrize(("n", "p"), [(15, 1), (12, 2), (14, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_finds_the_best_of_all_subsets(n, p, seed):
    """Exhaustive search over all subsets of h records."""
    x = np.exp(normal(n, p, seed))
    h = (n + p + 1) // 2
    every = np.array(list(combinations(range(n), h)))
    deviations = x[every] - x[every].mean(axis=1, keepdims=True)
    logdet = np.linalg.slogdet(np.swapaxes(deviations, 1, 2) @ deviations / (h - 1))[1]
    found = fast_mcd(x)
    assert found.h == h
    assert found.criterion == pytest.approx(logdet.min(), abs=1e-10)


def test_stackloss_as_published():
    """Figures printed by robustbase 0.4 (`tests/tmcd.Rout.save`): criterion to 6 decimals, the rest to 3 digits."""
    datasets = import_module("statsmodels.datasets")
    x = datasets.stackloss.load_pandas().data[["AIRFLOW", "WATERTEMP", "ACIDCONC"]].to_numpy()
    found = fast_mcd(x)
    assert found.criterion == pytest.approx(5.472581, abs=1e-6)
    assert found.center == pytest.approx([59.5, 20.8, 87.3], abs=0.05)
    assert found.covariance[np.triu_indices(3)] == pytest.approx([12.6, 11.7, 11.5, 18.5, 12.3, 46.6], abs=0.05)
    assert (np.flatnonzero(~found.kept) + 1).tolist() == [1, 2, 3, 15, 16, 17, 18, 19, 21]


def test_hawkins_bradu_kass_as_published():
    """Same source; the data come with statsmodels."""
    statsmodels = import_module("statsmodels")
    path = Path(statsmodels.__file__).parent / "robust" / "tests" / "results" / "hbk.csv"
    found = fast_mcd(np.genfromtxt(path, delimiter=",", skip_header=1)[:, :3])
    assert found.criterion == pytest.approx(-1.047858, abs=1e-6)
    assert found.center == pytest.approx([1.54, 1.78, 1.69], abs=0.005)
    six = [1.6528, 0.0741, 0.171, 1.6823, 0.205, 1.562]
    assert found.covariance[np.triu_indices(3)] == pytest.approx(six, abs=0.0006)
    assert (np.flatnonzero(~found.kept) + 1).tolist() == list(range(1, 15))


@pytest.mark.parametrize("share", [0.5, 0.7, 0.95])
def test_consistency_factor_closed_forms(share):
    """One column: 1 / variance of a truncated normal. Two: the chi-squared quantile is −2 ln(1 − a)."""
    cut = stats.norm.ppf((1 + share) / 2)
    assert mcd._consistency(1, share) == pytest.approx(1 / stats.truncnorm(-cut, cut).var(), rel=1e-10)
    left = 1 - share
    assert mcd._consistency(2, share) == pytest.approx(share / (1 - left * (1 - np.log(left))), rel=1e-12)


@pytest.mark.parametrize("p", [3, 8])
def test_small_sample_factors_pass_through_their_fitted_points(p):
    """Pison et al. fix the curve in n by two fitted values: 1 − a / p^b at n = 2 p² and n = 3 p²."""
    assert 1 / mcd._small_sample_raw(p, 2 * p * p) == pytest.approx(1 - 1.42764571687802 / p**1.26263336932151)
    assert 1 / mcd._small_sample_raw(p, 3 * p * p) == pytest.approx(1 - 1.06141115981725 / p**1.28907991440387)
    assert 1 / mcd._small_sample_reweighted(p, 2 * p * p) == pytest.approx(1 - 1.02842572724793 / p**1.67659883081926)
    assert 1 / mcd._small_sample_reweighted(p, 3 * p * p) == pytest.approx(1 - 0.26800273450853 / p**1.35968562893582)


UNBIASED = "tests/kernels/test_mcd.py::test_small_samples_are_unbiased_in_size"


@pytest.mark.parametrize(
    ("n", "p", "samples"),
    [
        pytest.param(n, p, samples, marks=pytest.mark.slow if samples == 100 else night)
        for n, p in ((30, 1), (30, 2), (40, 4))
        for night in [pytest.mark.nightly(of=f"{UNBIASED}[{n}-{p}-100]")]
        for samples in (100, 300)
    ],
)
def test_small_samples_are_unbiased_in_size(n, p, samples):
    """What the factors are for: the mean of det^(1/p) over normal samples is 1 (fitted curves: within 2%)."""
    size = [np.linalg.det(fast_mcd(normal(n, p, seed)).covariance) ** (1 / p) for seed in range(samples)]
    assert np.mean(size) == pytest.approx(1.0, abs=0.02 + 3 * np.std(size) / samples**0.5)


@pytest.mark.parametrize("n", [3_000, 40_000])
def test_consistent_for_a_normal_population(n):
    """Standard errors of a reweighted covariance are below 2 / √n here; 5 of them are allowed."""
    a = np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, -0.5, 0.3]])
    found = fast_mcd(normal(n, 3) @ a.T)
    root = np.linalg.inv(a)
    assert np.abs(root @ found.covariance @ root.T - np.eye(3)).max() < 10 / np.sqrt(n)
    assert np.abs(root @ found.center).max() < 5 / np.sqrt(n)


@pytest.mark.parametrize("n", [400, 20_000])
@pytest.mark.parametrize("p", [1, 3])
def test_two_fifths_of_outliers_have_no_say(n, p):
    x = normal(n, p)
    bad = np.arange(n) < 2 * n // 5
    x[bad] = 50 + 0.1 * x[bad]
    found = fast_mcd(x)
    assert not found.kept[bad].any()
    assert np.abs(found.center).max() < 10 / np.sqrt(n)


@pytest.mark.parametrize(("n", "p"), [(40, 1), (300, 2), (6_000, 3), (7_000, 1)])
@pytest.mark.parametrize("ties", [False, True])
def test_row_order_changes_nothing(n, p, ties):
    x = np.round(normal(n, p), 1) if ties else normal(n, p)
    order = np.random.default_rng(1).permutation(n)
    a, b = fast_mcd(x), fast_mcd(x[order])
    assert b.covariance == pytest.approx(a.covariance, rel=1e-12)
    assert b.center == pytest.approx(a.center, rel=1e-12)
    assert np.array_equal(b.kept, a.kept[order])


def test_units_and_offsets_change_nothing():
    x = normal(60, 2) ** 3
    unit, offset = np.array([1e-6, 1e5]), np.array([3.0, 1e7])
    a, b = fast_mcd(x), fast_mcd(x * unit + offset)
    assert b.covariance == pytest.approx(a.covariance * np.outer(unit, unit), rel=1e-6)
    assert b.criterion == pytest.approx(a.criterion + 2 * np.log(unit).sum(), abs=1e-6)


@pytest.mark.slow
def test_the_nested_search_finds_what_the_full_one_finds(monkeypatch):
    """Up to neighbouring local minima, which differ by some 1e-5 here; a miss of the bulk would cost more than 1."""
    x = np.exp(normal(12_000, 3) / 2)
    x[:2_000] += 9
    nested = fast_mcd(x)
    monkeypatch.setattr(mcd, "_NESTED", 10**9)
    monkeypatch.setattr(mcd, "_STARTS", 20)
    full = fast_mcd(x)
    assert nested.criterion == pytest.approx(full.criterion, abs=1e-3)
    assert nested.covariance == pytest.approx(full.covariance, rel=0.02, abs=0.001)


def with_constant(x):
    return np.column_stack([x[:, 0], np.full(len(x), 7.0), x[:, 1]])


def mostly_zero(x):
    x = x.copy()
    x[: 6 * len(x) // 10, 1] = 0
    return x


CASES = {
    "no rows": (normal(0, 2), (), "no column varies"),
    "no columns": (normal(9, 0), (), "no column varies"),
    "one row": (normal(1, 2), (), "no column varies"),
    "few rows": (normal(6, 2), (0, 1), "too few"),
    "constant column": (with_constant(normal(50, 2)), (0, 2), None),
    "all constant": (np.ones((9, 2)), (), "no column varies"),
    "aliased": (normal(90, 2) @ np.array([[1.0, 0, 1], [0, 1, 2]]), (0, 1), "follow from the others"),
    "twice the same": (normal(90, 1)[:, [0, 0]], (0,), "follow from the others"),
    "more than half equal": (mostly_zero(normal(90, 2)), (0, 1), "classical"),
    "more than half equal, many": (mostly_zero(normal(9_000, 2)), (0, 1), "classical"),
    "on two points": (np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0), (0,), "follow from the others"),
}


@pytest.mark.parametrize("name", CASES)
def test_falls_back_and_says_so(name):
    x, columns, said = CASES[name]
    found = fast_mcd(x)
    assert found.columns == columns
    assert found.covariance.shape == (len(columns), len(columns))
    assert (found.fallback is None) if said is None else (said in found.fallback)
    if found.fallback and "classical" in found.fallback:
        expected = np.atleast_2d(np.cov(x[:, columns], rowvar=False))
        assert found.covariance == pytest.approx(expected, rel=1e-9)
        assert found.kept.all()


def test_a_regular_column_is_left_after_an_aliased_one_is_dropped():
    """The robust covariance of the rest, not the classical one."""
    x = normal(200, 2)
    x[:60] += 30
    found, alone = fast_mcd(np.column_stack([x, x.sum(axis=1)])), fast_mcd(x)
    assert found.covariance == pytest.approx(alone.covariance, rel=1e-9)
