"""What is simulated from a disclosure is what the disclosure says."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.disclosure import Additive, Misclassified
from sfumato.data.error_model import Growth
from sfumato.measures.risk.attackers.error_law import cumulative, laws, log_density, observed_law

N = 60_000
NONE = pl.DataFrame()


def only(parts, names, frame=NONE, by=()):
    ((rows, law),) = laws(parts, names, frame, by)
    assert rows == slice(None)
    return law


def simulated(law, x):
    return law.simulate(x, np.random.default_rng(23))


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(22).normal([5, -1], [2, 0.5], (N, 2))


# Noise. The tolerance is four standard errors: of a mean s/√N, of a variance s²√((kurtosis − 1)/N).


@pytest.mark.parametrize(("distribution", "kurtosis"), [("gaussian", 3), ("laplace", 6), ("uniform", 1.8)])
def test_moments_of_independent_noise(x, distribution, kurtosis):
    variance = np.array([0.3, 2.0])
    law = only([Additive(("a", "b"), np.diag(variance), distribution=distribution)], ("a", "b"))
    error = simulated(law, x) - x
    assert (np.abs(error.mean(axis=0)) < 4 * np.sqrt(variance / N)).all()
    assert error.var(axis=0) == pytest.approx(variance, rel=4 * np.sqrt((kurtosis - 1) / N))
    assert np.mean((error / np.sqrt(variance)) ** 4, axis=0) == pytest.approx(kurtosis, rel=0.1)
    assert abs(np.corrcoef(error.T)[0, 1]) < 4 / np.sqrt(N)
    assert np.abs(np.corrcoef(error.T, x.T)[:2, 2:]).max() < 4 / np.sqrt(N)
    scipys = {"gaussian": stats.norm, "laplace": stats.laplace, "uniform": stats.uniform}[distribution]
    scale = {"gaussian": 1, "laplace": 0.5**0.5, "uniform": 12**0.5}[distribution]
    at = {"loc": -(3**0.5)} if distribution == "uniform" else {}
    assert stats.kstest(error[:, 1] / 2**0.5, scipys(scale=scale, **at).cdf).pvalue > 1e-3


def test_correlated_noise(x):
    omega = np.array([[0.5, 0.3], [0.3, 0.4]])
    error = simulated(only([Additive(("a", "b"), omega)], ("a", "b")), x) - x
    assert np.cov(error.T) == pytest.approx(omega, rel=0.04)


def test_a_column_that_is_not_among_the_known_is_left_out(x):
    omega = np.array([[0.5, 0.3], [0.3, 0.4]])
    law = only([Additive(("a", "b"), omega)], ("b", "exact"))
    assert law.covariance.tolist() == [[0.4, 0], [0, 0]]
    assert law.noisy.tolist() == [True, False]
    assert (simulated(law, x)[:, 1] == x[:, 1]).all()


def test_noise_of_two_steps_adds_up():
    law = only([Additive(("a",), [[0.3]]), Additive(("a", "b"), np.diag([0.2, 0.1]))], ("a", "b"))
    assert law.covariance == pytest.approx(np.diag([0.5, 0.1]))


def test_clipped_values_lie_on_the_bounds_as_often_as_they_should():
    """Of a true 0 with noise of variance .2, half are 0 and Φ(−1/√.2) are 1."""
    law = only([Additive(("s",), [[0.2]], clipped=True)], ("s",))
    assert law.support[0].tolist() == [0, 1]
    z = simulated(law, np.zeros((N, 1)))[:, 0]
    assert (z.min(), z.max()) == (0, 1)
    for end, p in ((0, 0.5), (1, stats.norm.sf(1 / 0.2**0.5))):
        assert np.mean(z == end) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / N))


def test_one_open_side(x):
    law = only([Additive(("a",), [[4.0]], bounds={"a": (3.0, None)})], ("a",))
    z = simulated(law, x[:, :1])
    assert z.min() == 3
    assert z.max() > x[:, 0].max() - 2
    p = stats.norm.cdf(3, 5, np.sqrt(8))  # the true values have variance 4, the noise 4
    assert np.mean(z == 3) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / N))


def test_rounded_values():
    law = only([Additive(("a",), [[1.0]], rounded={"a": 0.5})], ("a",))
    z = simulated(law, np.full((N, 1), 2.0))[:, 0]
    assert (z * 2 == np.round(z * 2)).all()
    p = stats.norm.cdf(0.25) - stats.norm.cdf(-0.25)
    assert np.mean(z == 2) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / N))


def test_noise_that_grows():
    """Beyond two robust sds its sd grows in proportion: at 7 it is (7 − 1) / (1.5 · 2) = 2 times as large."""
    law = only([Additive(("a",), [[0.25]], grows={"a": Growth(centre=1, scale=1.5, beyond=2)})], ("a",))
    for value, sd in ((1.0, 0.5), (3.9, 0.5), (7.0, 1.0), (-11.0, 2.0)):
        error = simulated(law, np.full((N, 1), value)) - value
        assert error.std() == pytest.approx(sd, rel=4 / np.sqrt(2 * N)), value


def test_exchanged_categories():
    matrix = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]])
    law = only([Misclassified("k", matrix, levels=(1, 2, 5))], ("k",))
    assert law.noisy.tolist() == [True]
    for level, row in zip((1, 2, 5), matrix, strict=True):
        z = simulated(law, np.full((N, 1), float(level)))[:, 0]
        for other, p in zip((1, 2, 5), row, strict=True):
            assert np.mean(z == other) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / N) + 1e-12)


def test_categories_that_are_no_numbers_have_no_law():
    law = only([Misclassified("k", np.full((2, 2), 0.5), levels=("a", "b"))], ("k",))
    assert law.exchange == (None,)
    assert law.noisy.tolist() == [False]


def test_missing_values_stay_missing():
    parts = [Additive(("a",), [[1.0]], rounded={"a": 1}), Misclassified("k", np.full((2, 2), 0.5), levels=(0, 1))]
    z = simulated(only(parts, ("a", "k")), np.array([[np.nan, 0], [1, np.nan]]))
    assert np.isnan(z).tolist() == [[True, False], [False, True]]


def test_a_disclosure_without_noise_changes_nothing(x):
    law = only([], ("a", "b"))
    assert not law.noisy.any()
    assert (simulated(law, x) == x).all()


# Averaged releases


def test_the_mean_of_several_releases():
    """A fourth of the covariance; an exchange counts by the mean square that it moves a value by."""
    matrix = [[0.9, 0.1], [0.3, 0.7]]
    parts = [Additive(("a",), [[2.0]], bounds={"a": (0.0, None)}, rounded={"a": 1}), Misclassified("k", matrix, (0, 3))]
    law = only(parts, ("a", "k"))
    assert law.averaged(1) is law
    four = law.averaged(4)
    moved = (0.1 * 9 + 0.3 * 9) / 2
    assert four.covariance == pytest.approx(np.diag([0.5, moved / 4]))
    assert four.bounds == four.rounded == four.exchange == (None, None)


# Several steps on one column. Tolerances are four standard errors of the share of N simulated records in a band.


def test_noise_twice_keeps_the_true_values():
    twice = [Additive(("s",), [[0.3]], values=(0, 1)), Additive(("s",), [[0.2]])]
    law = only(twice, ("s",))
    assert law.covariance == pytest.approx(np.array([[0.5]]))
    assert law.support[0].tolist() == [0, 1]
    assert simulated(law, np.zeros((N, 1))).var() == pytest.approx(0.5, rel=4 * np.sqrt(2 / N))


def test_two_exchanges_multiply():
    one, two = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([[0.8, 0.2], [0.5, 0.5]])
    exchange = only([Misclassified("k", one, (0, 1)), Misclassified("k", two, (0, 1))], ("k",)).exchange[0]
    assert exchange.levels.tolist() == exchange.released.tolist() == [0, 1]
    assert exchange.matrix == pytest.approx(one @ two)


def test_a_later_exchange_with_other_levels():
    """2 is no level of the second one and stays; 1 may become 5."""
    first, second = Misclassified("k", [[0.5, 0.5], [0, 1]], (1, 2)), Misclassified("k", [[0.6, 0.4], [0, 1]], (1, 5))
    exchange = only([first, second], ("k",)).exchange[0]
    told = {float(v): exchange.matrix[:, i].tolist() for i, v in enumerate(exchange.released)}
    assert told == {1: pytest.approx([0.3, 0]), 5: pytest.approx([0.2, 0]), 2: pytest.approx([0.5, 1])}


CHAINS = {
    "exchanged, then noise": [Misclassified("k", [[0.8, 0.2], [0.3, 0.7]], (0, 1)), Additive(("k",), [[0.04]])],
    "rounded, then noise": [
        Additive(("k",), [[0.25]], values=(0, 1), rounded={"k": 1}),
        Additive(("k",), [[0.01]]),
    ],
    "clipped, then noise": [Additive(("k",), [[0.4]], clipped=True), Additive(("k",), [[0.02]])],
    "uniform and rounded, then exchanged": [
        Additive(("k",), [[0.3]], values=(0, 1), rounded={"k": 1}, distribution="uniform"),
        Misclassified("k", [[0.5, 0.5], [0.1, 0.9]], (0, 1)),
    ],
}


@pytest.mark.parametrize("parts", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("level", [0.0, 1.0])
def test_the_whole_of_several_steps_has_the_law_of_the_steps_in_turn(parts, level):
    """Each band of the exchange with its noise holds as many records as simulating one step after the other gives."""
    law = only(parts, ("k",))
    turn = np.full((N, 1), level)
    for seed, part in enumerate(parts):
        turn = only([part], ("k",)).simulate(turn, np.random.default_rng(seed))
    row = law.exchange[0].matrix[law.exchange[0].levels == level][0]
    assert row.sum() == pytest.approx(1)
    sd = max(np.sqrt(law.covariance[0, 0]), 1e-9)
    edges = [-np.inf, -0.505, -0.25, 0.05, 0.505, 0.75, 1.03, 1.505, np.inf]
    expected = np.diff([row @ stats.norm.cdf((e - law.exchange[0].released) / sd) for e in edges])
    got = np.histogram(turn[:, 0], edges)[0] / N
    assert got == pytest.approx(expected, abs=4 * np.sqrt(0.25 / N))
    again = np.histogram(simulated(law, np.full((N, 1), level))[:, 0], edges)[0] / N
    assert again == pytest.approx(expected, abs=4 * np.sqrt(0.25 / N))


def test_steps_by_unknown_strata_are_averaged_each_and_then_add_up():
    parts = [Additive(("a",), [[v]], where={"sex": g}) for v, g in ((1, "f"), (3, "m"), (10, "f"), (20, "m"))]
    assert only(parts, ("a",)).covariance.tolist() == [[17]]


def test_exchanges_by_unknown_strata_are_averaged():
    parts = [Misclassified("k", [[a, 1 - a], [1 - a, a]], (0, 1), where={"sex": g}) for a, g in ((0.6, "f"), (1, "m"))]
    assert only(parts, ("k",)).exchange[0].matrix == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]))


@pytest.mark.parametrize(
    ("name", "scipys"),
    [
        ("uniform", stats.uniform(-(3**0.5), 12**0.5)),
        ("laplace", stats.laplace(scale=0.5**0.5)),
        ("gaussian", stats.norm()),
    ],
)
def test_densities_of_standard_noise(name, scipys):
    u = np.array([-4, -1.7, -0.3, 0, 0.9, 1.74])
    assert cumulative(u, name) == pytest.approx(scipys.cdf(u))
    with np.errstate(divide="ignore"):
        assert log_density(u, name) == pytest.approx(scipys.logpdf(u))


# Strata

FRAME = pl.DataFrame({"sex": ["f", "m", "f", "m", "m"], "region": ["x", "x", "y", "y", "x"]})
BY_SEX = [
    Additive(("a",), [[1.0]], where={"sex": "f"}),
    Additive(("a",), [[3.0]], where={"sex": "m"}),
    Additive(("b",), [[0.5]]),
]


def test_each_stratum_that_is_known_has_its_law():
    found = {tuple(sorted(rows.tolist())): law for rows, law in laws(BY_SEX, ("a", "b"), FRAME, ("sex", "region"))}
    assert set(found) == {(0, 2), (1, 3, 4)}
    assert found[0, 2].covariance.tolist() == [[1, 0], [0, 0.5]]
    assert found[1, 3, 4].covariance.tolist() == [[3, 0], [0, 0.5]]


def test_strata_that_are_not_known_are_averaged():
    assert only(BY_SEX, ("a", "b"), FRAME, ("region",)).covariance.tolist() == [[2, 0], [0, 0.5]]


def test_a_null_stratum_is_one():
    frame = pl.DataFrame({"sex": ["f", None]})
    parts = [Additive(("a",), [[1.0]], where={"sex": "f"}), Additive(("a",), [[4.0]], where={"sex": None})]
    found = {rows.tolist()[0]: law.covariance[0, 0] for rows, law in laws(parts, ("a",), frame, ("sex",))}
    assert found == {0: 1, 1: 4}


# The law that errors suggest


def test_observed_law():
    true = np.array([[0.0, 1, 7], [1, 2, 7], [0, np.nan, 7], [1, 4, 7]])
    noisy = np.array([[0.5, 1, 8], [1, 4, 7], [9, 9, 9], [1.5, 4, 7]])
    law = observed_law(("s", "a", "c"), true, noisy)
    error = np.array([[0.5, 0, 1], [0, 2, 0], [0.5, 0, 0]])  # of whole records; not centred, as noise has mean zero
    assert law.covariance == pytest.approx(error.T @ error / 3)
    assert law.support[0].tolist() == [0, 1]
    assert law.support[1] is None
    assert law.support[2] is None
    assert law.bounds == law.rounded == law.exchange == (None, None, None)


def test_observed_law_without_a_whole_record():
    law = observed_law(("a",), np.array([[np.nan], [np.nan]]), np.array([[1.0], [2.0]]))
    assert law.covariance.tolist() == [[0]]
    assert law.support == (None,)


def test_fine_rounding_is_noise_in_the_law_and_multiples_when_simulated(x):
    """The variance is that of the noise and of what rounding adds, g²/12; four standard errors of the sd."""
    part = Additive(("a", "b"), [[1.0, 0.3], [0.3, 4.0]], rounded={"a": 0.2, "b": 2.0})
    law = only([part], ("a", "b"))
    assert law.rounded == (None, 2.0)  # half of its sd is no fine step
    assert law.fine == (0.2, None)
    np.testing.assert_allclose(law.covariance, [[1 + 0.04 / 12, 0.3], [0.3, 4.0]], rtol=1e-15)
    z = simulated(law, x)
    for j, step in enumerate((0.2, 2.0)):
        np.testing.assert_allclose(z[:, j] / step, np.round(z[:, j] / step), atol=1e-9)
        variance = part.matrix[j, j] + step**2 / 12
        assert np.std(z[:, j] - x[:, j]) == pytest.approx(variance**0.5, rel=4 / np.sqrt(2 * N))


def test_a_later_step_takes_the_place_of_an_earlier_ones_fine_rounding():
    one, two = (Additive(("a",), [[v]], rounded={"a": g}) for v, g in ((1.0, 0.1), (9.0, 0.5)))
    law = only([one, two], ("a",))
    assert (law.rounded, law.fine) == ((None,), (0.5,))
    assert law.covariance[0, 0] == pytest.approx(10 + 0.01 / 12 + 0.25 / 12)
