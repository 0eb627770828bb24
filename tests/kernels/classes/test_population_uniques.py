import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln
from scipy.stats import hypergeom

from sfumato.errors import DataError
from sfumato.kernels.classes.population_uniques import (
    pitman_uniques,
    slide_negative_binomial_uniques,
    zayatz_uniques,
)

ALL = [zayatz_uniques, pitman_uniques, slide_negative_binomial_uniques]


@pytest.mark.parametrize(
    ("fraction", "wanted"),
    [(0.2, (53946.2336, 50766.8712, 48177.6684)), (0.5, (26056.9185, 26295.4004, 25759.7544))],
)
def test_adult(shared_data, fraction, wanted):
    """All nine keys: Zayatz and Pitman as ARX has them; the slide by its equations, since ARX's own is wrong."""
    frame = pl.read_csv(shared_data / "adult" / "adult.csv", separator=";")
    sizes, frequencies = np.unique(frame.group_by(frame.columns).len()["len"].to_numpy(), return_counts=True)
    assert (frequencies.sum(), frequencies[0]) == (19502, 15512)
    for estimate, value in zip(ALL, wanted, strict=True):
        assert estimate(sizes, frequencies, fraction) == pytest.approx(value, abs=5.1e-5)


@pytest.mark.parametrize("estimate", ALL)
def test_everybody_sampled(estimate):
    assert estimate(np.array([1, 2, 5]), np.array([7, 3, 1]), 1.0) == 7
    assert estimate(np.array([2, 5]), np.array([3, 1]), 1.0) == 0


@pytest.mark.parametrize("estimate", ALL)
def test_everybody_unique(estimate):
    assert estimate(np.array([1]), np.array([30]), 0.1) == pytest.approx(300)


@pytest.mark.parametrize("estimate", ALL)
def test_nobody_there(estimate):
    assert estimate(np.array([], dtype=int), np.array([], dtype=int), 0.1) is None
    assert estimate(np.array([1, 2]), np.array([0, 0]), 0.1) is None


@pytest.mark.parametrize("estimate", ALL)
@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.01, float("nan")])
def test_a_fraction_is_a_share(estimate, fraction):
    with pytest.raises(DataError, match="fraction"):
        estimate(np.array([1]), np.array([2]), fraction)


def test_one_class():
    one = (np.array([8]), np.array([1]), 0.2)
    assert (zayatz_uniques(*one), pitman_uniques(*one), slide_negative_binomial_uniques(*one)) == (0, None, 0)


def test_no_uniques():
    table = (np.array([2, 3, 9]), np.array([12, 5, 2]), 0.2)
    assert zayatz_uniques(*table) == 0
    assert slide_negative_binomial_uniques(*table) == 0
    assert 0 <= pitman_uniques(*table) < 0.1 * 225


def test_no_pairs_leave_the_slide_without_a_second_equation():
    assert slide_negative_binomial_uniques(np.array([1, 3]), np.array([5, 2]), 0.2) is None


tables = st.dictionaries(st.integers(1, 60), st.integers(1, 200), min_size=1, max_size=8)


@given(table=tables, fraction=st.floats(0.001, 1.0))
def test_an_estimate_is_a_number_of_people_or_none(table, fraction):
    sizes, frequencies = np.array(list(table)), np.array(list(table.values()))
    for estimate in ALL:
        value = estimate(sizes, frequencies, fraction)
        assert value is None or 0 <= value <= (sizes * frequencies).sum() / fraction * (1 + 1e-9)


@given(table=tables, tenths=st.integers(1, 9))
def test_zayatz_by_the_hypergeometric_law(table, tenths):
    sizes, frequencies = np.array(list(table)), np.array(list(table.values()))
    n, fraction = int((sizes * frequencies).sum()) * 9, tenths / 10  # times 9, so that few classes exceed what is left
    N = round(n / fraction)
    chance = hypergeom.pmf(1, N, sizes, n)
    single = frequencies[sizes == 1].sum()
    wanted = 9 * single * (9 * single * n / N) / (9 * frequencies * chance).sum() * N / n if single else 0.0
    assert zayatz_uniques(sizes, frequencies * 9, n / N) == pytest.approx(wanted, rel=1e-6)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 100))
def test_pitman_is_where_no_search_finds_more(seed):
    """Pitman's sampling formula, written out term by term, climbed by Nelder and Mead."""
    rng = np.random.default_rng(seed)
    sizes, frequencies = np.arange(1, 6), np.array([1500, 300, 90, 30, 10]) + rng.integers(0, 60, 5)
    n, u = int((sizes * frequencies).sum()), int(frequencies.sum())

    def lost(at):
        alpha, theta = 1 / (1 + np.exp(-at[0])), np.exp(at[1])
        own = [np.log(np.arange(1, s) - alpha).sum() for s in sizes]
        return -(
            np.log(theta + alpha * np.arange(1, u)).sum()
            - np.log(theta + np.arange(1, n)).sum()
            + (frequencies * own).sum()
        )

    found = minimize(
        lost, [0.0, np.log(n)], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-9, "maxiter": 2000}
    )
    alpha, theta, N = 1 / (1 + np.exp(-found.x[0])), np.exp(found.x[1]), n / 0.2
    wanted = np.exp(gammaln(theta + 1) - gammaln(theta + alpha) + alpha * np.log(N))
    assert pitman_uniques(sizes, frequencies, 0.2) == pytest.approx(wanted, rel=1e-4)
