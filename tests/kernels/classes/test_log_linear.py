from itertools import combinations, product

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.kernels.classes import log_linear as module
from sfumato.kernels.classes.log_linear import log_linear
from tests.late import late

sm = late("statsmodels.api")


def counted(rows):
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    return codes, counts


@pytest.fixture(scope="module")
def people():
    """Four keys of which two go together, and two others do."""
    rng = np.random.default_rng(8)
    a, c = rng.integers(0, 6, 600), rng.integers(0, 5, 600)
    b = (a + rng.integers(0, 3, 600)) % 6
    d = np.where(rng.uniform(size=600) < 0.6, c, rng.integers(0, 5, 600))
    return counted(np.column_stack([a, b, c, d]))


def of_means(means, counts, fraction):
    """Both figures from the means of the cells with one record."""
    u = (1 - fraction) * means[counts == 1] / fraction
    return np.exp(-u).sum(), (-np.expm1(-u) / u).sum()


def poisson(codes, counts, terms):
    """Means of a Poisson regression of the whole grid with statsmodels."""
    wide = codes.max(axis=0) + 1
    grid = np.array(list(product(*map(range, wide))))
    y = np.zeros(len(grid))
    y[np.ravel_multi_index(codes.T, wide)] = counts
    effects = [[(grid[:, k] == v).astype(float) for v in range(1, wide[k])] for k in range(len(wide))]
    columns = [np.ones(len(grid)), *(c for key in effects for c in key)]
    columns += [p * q for a, b in terms for p in effects[a] for q in effects[b]]
    fit = sm.GLM(y, np.column_stack(columns), family=sm.families.Poisson()).fit(tol=1e-12, maxiter=300)
    return fit.mu[np.ravel_multi_index(codes.T, wide)]


def test_main_effects_are_products_of_margins(people):
    codes, counts = people
    n = counts.sum()
    means = np.full(len(codes), float(n))
    for column in codes.T:
        means *= np.bincount(column, weights=counts)[column] / n
    found = log_linear(codes, counts, 0.2, "main")
    assert (found.uniques, found.matches) == pytest.approx(of_means(means, counts, 0.2), rel=1e-12)
    assert found.terms == ()


@pytest.mark.parametrize("model", ["two-way", "auto"])
def test_fits_are_those_of_a_regression(people, model):
    codes, counts = people
    found = log_linear(codes, counts, 0.2, model)
    assert found.converged
    wanted = of_means(poisson(codes, counts, found.terms), counts, 0.2)
    assert (found.uniques, found.matches) == pytest.approx(wanted, rel=1e-4)
    if model == "two-way":
        assert found.terms == tuple(combinations(range(4), 2))


def test_terms_are_added_until_none_is_missed(people):
    """Each is the one that brings the test nearest to 0, tried here one by one."""
    codes, counts = people
    found = log_linear(codes, counts, 0.2, "auto")
    assert found.z_matches <= module.ENOUGH
    assert set(found.terms[:2]) == {(0, 1), (2, 3)}
    whole = module._Grid(codes, counts, 0.2, tuple(codes.max(axis=0) + 1))
    for i in range(len(found.terms)):
        before = found.terms[:i]
        assert whole.result(before, whole.fitted(before)).z_matches > module.ENOUGH
        tried = {
            pair: abs(whole.result((*before, pair), whole.fitted((*before, pair))).z_matches)
            for pair in combinations(range(4), 2)
            if pair not in before
        }
        assert min(tried, key=tried.get) == found.terms[i]


@pytest.mark.slow
def test_the_truth_comes_back():
    """Samples of a population that the model holds for: the mean of 60 estimates within 4 of its standard errors."""
    rng = np.random.default_rng(9)
    size, fraction = 20000, 0.1
    columns = [rng.choice(12, size, p=(w := 0.6 ** np.arange(12)) / w.sum()) for _ in range(4)]
    population = np.column_stack(columns)
    cell = np.unique(population, axis=0, return_inverse=True)[1].reshape(-1)
    alike = np.bincount(cell)[cell]
    off, tests = [], []
    for _ in range(60):
        drawn = rng.uniform(size=size) < fraction
        alone = np.bincount(cell[drawn], minlength=cell.max() + 1)[cell] == 1
        there = drawn & alone
        found = log_linear(*counted(population[drawn]), fraction, "main")
        off.append((found.uniques - (alike[there] == 1).sum(), found.matches - (1 / alike[there]).sum()))
        tests.append(found.z_matches)
    error = np.std(off, axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(np.mean(off, axis=0)) < 4 * error).all()
    assert np.abs(np.mean(tests)) < 4 / np.sqrt(60)


def test_the_whole_population():
    codes, counts = np.array([[0, 0], [0, 1], [1, 0]]), np.array([1, 3, 1])
    found = log_linear(codes, counts, 1.0)
    assert (found.uniques, found.matches, found.z_uniques, found.z_matches) == (2, 2, None, None)


def test_little_there():
    assert log_linear(np.array([[0, 0]]), np.array([5]), 0.1).uniques == 0
    one = log_linear(np.array([[0], [1]]), np.array([1, 4]), 0.5)
    assert (one.uniques, one.terms) == (pytest.approx(np.exp(-1)), ())
    alone = log_linear(np.array([[0, 0]]), np.array([1]), 0.5)
    assert alone.uniques == pytest.approx(np.exp(-1))


def test_what_is_refused():
    codes, counts = np.array([[0, 0], [1, 1]]), np.array([1, 1])
    for fraction in (0.0, 1.5, float("nan")):
        with pytest.raises(DataError, match="fraction"):
            log_linear(codes, counts, fraction)
    with pytest.raises(DataError, match="10,000,000"):
        log_linear(np.array([[0, 0], [9999, 1001]]), counts, 0.1)


def test_a_fit_that_does_not_settle_says_so(people, monkeypatch):
    monkeypatch.setattr(module, "_CYCLES", 1)
    assert not log_linear(*people, 0.2, "two-way").converged
