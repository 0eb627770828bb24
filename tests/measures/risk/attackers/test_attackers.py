"""The predicting attacker against likelihood ratios and posteriors that are worked out record by record."""

import itertools

import numpy as np
import pytest
from scipy import stats

from sfumato.data.disclosure import Additive, Misclassified
from sfumato.errors import DataError
from sfumato.measures.risk.attackers.attackers import Attack, joint_log_density, likelihood_space, posterior
from sfumato.measures.risk.attackers.error_law import laws

N = 120
TRANSITION_2 = np.array([[0.9, 0.1], [0.25, 0.75]])
TRANSITION_3 = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])


@pytest.fixture
def rng():
    return np.random.default_rng(17)


def law_of(parts, names):
    ((_, law),) = laws(parts, names, None, ())
    return law


def squares(targets, points):
    return np.square(targets[:, None, :] - points[None, :, :]).sum(axis=2)


def agree(true, released, law, log_ratio, rows=slice(None)):
    """Squared distances and −2 log ratio, shape (m, n), differ by a constant of the target."""
    distance = squares(*likelihood_space(true, released, law, true))[rows][:, rows]
    difference = distance + 2 * log_ratio
    difference -= difference[:, :1]
    assert np.abs(difference).max() < 1e-7 * max(1, np.abs(distance).max())
    assert (np.argsort(distance, axis=1)[:, 0] == np.argsort(-log_ratio, axis=1)[:, 0]).all()


# Names


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("nearest", "nearest", 0),
        (" predicted ", "predicted", 0),
        ("predicted:3", "predicted", 3),
        ("averaging:5", "averaging", 5),
        ("averaging:1000", "averaging", 1000),
        ("imprecise:0.1", "imprecise", 0.1),
        ("household", "household", 0),
    ],
)
def test_names_of_attacks(text, kind, number):
    attack = Attack.parse(text)
    assert (attack.kind, attack.number) == (kind, number)
    assert str(attack) == text.strip()
    assert Attack.parse(str(attack)) == attack


REFUSED = (
    "x averaging averaging:1 averaging:1001 averaging:2.5 averaging:x predicted:1 predicted:0 nearest:2 imprecise "
    "household:2 imprecise:0 imprecise:-1 imprecise:inf imprecise:nan Nearest"
)


@pytest.mark.parametrize("text", ["", *REFUSED.split()])
def test_other_names_are_refused(text):
    with pytest.raises(DataError, match="Attacks: nearest, predicted, averaging:M"):
        Attack.parse(text)


# Normal data: the formula with predicted true values


def y_hat_score(true, released, omega):
    """log N(y*; ŷ_j, V) with ŷ = mean + B(z − mean), B = (S_z − Ω)S_z⁻¹, V = S_y − B S_y; shape (n, n)."""
    mean, s_y = true.mean(axis=0), np.cov(true.T, ddof=0).reshape(true.shape[1], -1)
    s_z = s_y + omega
    b = (s_z - omega) @ np.linalg.inv(s_z)
    v = s_y - b @ s_y
    y_hat = mean + (released - mean) @ b.T
    return np.array([stats.multivariate_normal.logpdf(y_hat, y, v) for y in true])


OMEGAS = {
    "equal": 0.3 * np.eye(3),
    "unequal": np.diag([0.05, 0.4, 2.0]),
    "correlated": np.array([[0.4, 0.25, 0], [0.25, 0.3, -0.1], [0, -0.1, 0.6]]),
}


@pytest.mark.parametrize("omega", OMEGAS.values(), ids=OMEGAS)
def test_normal_noise_ranks_as_predicted_true_values_do(omega, rng):
    true = rng.multivariate_normal([3, -2, 10], np.array([[1, 0.5, 0.2], [0.5, 2, 0.3], [0.2, 0.3, 1.5]]), 60)
    released = true + rng.multivariate_normal(np.zeros(3), omega, 60)
    agree(
        true, released, law_of([Additive(("a", "b", "c"), omega)], ("a", "b", "c")), y_hat_score(true, released, omega)
    )


def test_noise_added_twice_adds_up(rng):
    true = rng.standard_normal((60, 1))
    released = true + rng.standard_normal((60, 1))
    law = law_of([Additive(("a",), [[0.3]]), Additive(("a",), [[0.7]])], ("a",))
    agree(true, released, law, y_hat_score(true, released, np.eye(1)))


# Mixed data: the ratio p(z | y) / p(z), column by column


def normal(z, x, variance):
    return np.exp(-((z - x) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def clipped(z, x, variance):
    """Density of a 0/1 value with noise that was clipped; masses at 0 and 1."""
    at_0, at_1 = stats.norm.cdf([0 - x, x - 1], scale=variance**0.5)
    return np.where(z <= 0, at_0, np.where(z >= 1, at_1, normal(z, x, variance)))


def exchanged(matrix):
    return lambda z, x, _: matrix[int(x), z.astype(int)]


def brute_ratio(true, released, discrete, continuous, omega):
    """log p(z_j | y_i) − log p(z_j), shape (n, n), and log p(z_j).

    `discrete` gives, by column, f(z, x) and its variance; true values are a mixture over their patterns, with normal
    continuous columns about each pattern's mean, of one covariance.
    """
    patterns, member = np.unique(true[:, list(discrete)], axis=0, return_inverse=True)
    x, z = true[:, continuous], released[:, continuous]
    means = np.array([x[member == k].mean(axis=0) for k in range(len(patterns))])
    spread = sum(np.outer(v, v) for v in x - means[member]) / len(x)
    marginal, likelihood = 0, np.empty((len(true), len(released)))
    for k, pattern in enumerate(patterns):
        columns = zip(discrete.items(), pattern, strict=True)
        factor = np.prod([f(released[:, j], v, w) for (j, (f, w)), v in columns], axis=0)
        own = member == k
        marginal = marginal + own.mean() * factor * stats.multivariate_normal.pdf(z, means[k], spread + omega)
        likelihood[own] = [factor * stats.multivariate_normal.pdf(z, mean, omega) for mean in x[own]]
    return np.log(likelihood) - np.log(marginal), np.log(marginal)


def mixed(rng):
    s = (rng.random(N) < 0.6).astype(float)
    m = (rng.random(N) < 0.3 + 0.3 * s).astype(float)
    x = 20 + 1.5 * s - m + rng.standard_normal(N)
    return np.column_stack([s, x, m])


@pytest.mark.parametrize("clip", [True, False])
def test_mixed_data_with_binary_columns(clip, rng):
    true = mixed(rng)
    parts = [Additive(("x",), [[0.5]]), Additive(("s", "m"), np.diag([0.2, 0.4]), clipped=clip, values=(0, 1))]
    law = law_of(parts, ("s", "x", "m"))
    released = law.simulate(true, rng)
    f = clipped if clip else normal
    ratio, _ = brute_ratio(true, released, {0: (f, 0.2), 2: (f, 0.4)}, [1], np.array([[0.5]]))
    agree(true, released, law, ratio)


def test_correlated_noise_beside_a_clipped_column(rng):
    s = (rng.random(N) < 0.5).astype(float)
    true = np.column_stack([rng.standard_normal((N, 2)) + s[:, None], s])
    omega = np.array([[0.4, 0.2], [0.2, 0.3]])
    law = law_of([Additive(("a", "b"), omega), Additive(("s",), [[0.3]], clipped=True)], ("a", "b", "s"))
    released = law.simulate(true, rng)
    ratio, _ = brute_ratio(true, released, {2: (clipped, 0.3)}, [0, 1], omega)
    agree(true, released, law, ratio)


@pytest.mark.parametrize("matrix", [TRANSITION_2, TRANSITION_3], ids=["two levels", "three levels"])
def test_exchanged_categories(matrix, rng):
    k = rng.choice(len(matrix), N, p=np.arange(1, len(matrix) + 1) / np.arange(1, len(matrix) + 1).sum())
    true = np.column_stack([k, 0.5 * k + rng.standard_normal(N)])
    levels = tuple(range(len(matrix)))
    law = law_of([Misclassified("k", matrix, levels=levels), Additive(("x",), [[0.2]])], ("k", "x"))
    released = law.simulate(true, rng)
    ratio, _ = brute_ratio(true, released, {0: (exchanged(matrix), None)}, [1], np.array([[0.2]]))
    agree(true, released, law, ratio)


def test_codes_with_noise_are_a_mixture(rng):
    """Three codes, not clipped: the likelihood is a plain square, the marginal a mixture of three."""
    true = np.column_stack([rng.choice(3, N, p=[0.5, 0.3, 0.2]).astype(float), rng.standard_normal(N)])
    law = law_of([Additive(("k", "x"), np.diag([0.6, 0.3]), values={"k": (0, 1, 2)})], ("k", "x"))
    released = law.simulate(true, rng)
    ratio, _ = brute_ratio(true, released, {0: (normal, 0.6)}, [1], np.array([[0.3]]))
    agree(true, released, law, ratio)


def test_an_exact_column_decides_first(rng):
    """The chosen record has the target's exact value; among these it has the highest p(z | y) / p(z, exact)."""
    exact = rng.choice(4, N).astype(float)
    true = np.column_stack([rng.standard_normal(N) + 0.4 * exact, exact])
    law = law_of([Additive(("a",), [[0.5]])], ("a", "k"))
    released = law.simulate(true, rng)
    distance = squares(*likelihood_space(true, released, law, true))
    covariance = np.cov(true.T, ddof=0) + np.diag([0.5, 0])
    marginal = stats.multivariate_normal.logpdf(released, true.mean(axis=0), covariance)
    for i in range(N):
        same = np.flatnonzero(exact == exact[i])
        assert exact[distance[i].argmin()] == exact[i]
        score = stats.norm.logpdf(released[same, 0], true[i, 0], 0.5**0.5) - marginal[same]
        difference = distance[i, same] + 2 * score
        assert np.ptp(difference) < 1e-6


def test_missing_values_take_no_part(rng):
    """Among records without a column, the ratio is that of the other columns; whole records set the population."""
    true = mixed(rng)
    parts = [Additive(("x",), [[0.5]]), Additive(("s", "m"), np.diag([0.2, 0.4]), clipped=True)]
    law = law_of(parts, ("s", "x", "m"))
    released = law.simulate(true, rng)
    known, population = true.copy(), true[30:]
    known[:30, 1] = released[:30, 1] = np.nan
    distance = squares(*likelihood_space(known, released, law, known))[:30, :30]
    marginal, z = 0, released[:30]
    f = {k: clipped(z[:, 0], k[0], 0.2) * clipped(z[:, 2], k[1], 0.4) for k in itertools.product((0, 1), (0, 1))}
    for k, factor in f.items():
        marginal = marginal + (population[:, [0, 2]] == k).all(axis=1).mean() * factor
    ratio = np.log([f[tuple(k)] / marginal for k in true[:30, [0, 2]]])
    difference = distance + 2 * ratio
    assert np.abs(difference - difference[:, :1]).max() < 1e-7


def test_a_population_without_a_whole_record(rng):
    """Each column is then taken by itself, by the values it has."""
    true = rng.standard_normal((40, 2)) * [1, 3] + [0, 5]
    true[:20, 0], true[20:, 1] = np.nan, np.nan
    law = law_of([Additive(("a", "b"), np.diag([0.2, 0.5]))], ("a", "b"))
    released = law.simulate(true, rng)
    got = joint_log_density(released, law, true) - 0.5 * np.log(2 * np.pi)
    a, b = true[20:, 0], true[:20, 1]
    assert got[20:] == pytest.approx(stats.norm.logpdf(released[20:, 0], a.mean(), (a.var() + 0.2) ** 0.5))
    assert got[:20] == pytest.approx(stats.norm.logpdf(released[:20, 1], b.mean(), (b.var() + 0.5) ** 0.5))


def test_a_value_that_is_no_level_stays_itself():
    true = np.array([[0.0], [1.0], [2.0], [1.0]])
    law = law_of([Misclassified("k", TRANSITION_2, levels=(0, 1))], ("k",))
    density = joint_log_density(true, law, true)
    assert density[2] == pytest.approx(np.log(1 / 4))
    assert density[0] == pytest.approx(np.log(0.25 * 0.9 + 0.5 * 0.25))


# Densities and posteriors


def test_joint_density_of_normal_data_is_scipys(rng):
    true = rng.multivariate_normal([1, 2], [[1, 0.6], [0.6, 2]], 200)
    omega = np.array([[0.5, 0.1], [0.1, 0.2]])
    law = law_of([Additive(("a", "b"), omega)], ("a", "b"))
    released = law.simulate(true, rng)
    expected = stats.multivariate_normal.logpdf(released, true.mean(axis=0), np.cov(true.T, ddof=0) + omega)
    constant = -0.5 * 2 * np.log(2 * np.pi)  # the same for all records, and left out
    assert joint_log_density(released, law, true) + constant == pytest.approx(expected, abs=1e-9)


def test_joint_density_of_mixed_data(rng):
    true = mixed(rng)
    parts = [Additive(("x",), [[0.5]]), Additive(("s", "m"), np.diag([0.2, 0.4]), clipped=True)]
    law = law_of(parts, ("s", "x", "m"))
    released = law.simulate(true, rng)
    _, log = brute_ratio(true, released, {0: (clipped, 0.2), 2: (clipped, 0.4)}, [1], np.array([[0.5]]))
    assert joint_log_density(released, law, true) - 0.5 * np.log(2 * np.pi) == pytest.approx(log, abs=1e-9)


def test_posterior_of_one_column_is_bayes_by_hand():
    """A quarter of all are 1: P(1 | z) = .25 f(z | 1) / (.25 f(z | 1) + .75 f(z | 0)) with variance .2."""
    true = np.repeat([0.0, 1.0], [30, 10])[:, None]
    law = law_of([Additive(("s",), [[0.2]], clipped=True)], ("s",))
    released = np.array([[0.0], [0.3], [0.8], [1.0]])
    # f(z | x) = exp(−(z − x)² / .4) / √(.4 π) between 0 and 1; at the ends Φ(0) = .5 and Φ(−1/√.2) = .0126737
    ratio = [0.0126737 / 0.5, np.exp(-(0.49 - 0.09) / 0.4), np.exp(-(0.04 - 0.64) / 0.4), 0.5 / 0.0126737]
    levels, probability = posterior(released, law, true, 0)
    assert levels.tolist() == [0, 1]
    assert probability[:, 1] == pytest.approx([r / (r + 3) for r in ratio], rel=1e-5)
    assert probability.sum(axis=1) == pytest.approx(1)


def test_posterior_of_exchanged_categories_is_bayes_by_hand():
    """Shares .5, .3, .2; column z of the transition matrix times the shares, made to sum to 1."""
    true = np.repeat([0.0, 1.0, 2.0], [50, 30, 20])[:, None]
    law = law_of([Misclassified("k", TRANSITION_3, levels=(0, 1, 2))], ("k",))
    _, probability = posterior(np.array([[0.0], [1.0], [2.0]]), law, true, 0)
    by_hand = [
        [0.35 / 0.39, 0.03 / 0.39, 0.01 / 0.39],
        [0.10 / 0.37, 0.24 / 0.37, 0.03 / 0.37],
        [0.05 / 0.24, 0.03 / 0.24, 0.16 / 0.24],
    ]
    assert probability == pytest.approx(np.array(by_hand), rel=1e-9)


def test_posterior_with_uniform_noise_knows_where_it_ends():
    """Noise of variance .12 reaches .6: between .4 and .6 both values are possible, elsewhere one is."""
    true = np.repeat([0.0, 1.0], [30, 10])[:, None]
    law = law_of([Additive(("s",), [[0.12]], values=(0, 1), distribution="uniform")], ("s",))
    _, probability = posterior(np.array([[0.39], [0.5], [0.61]]), law, true, 0)
    assert probability[:, 1] == pytest.approx([0, 0.25, 1], abs=1e-9)


def test_posterior_of_rounded_values_weighs_what_rounds_to_them():
    true = np.repeat([0.0, 1.0], 20)[:, None]
    law = law_of([Additive(("s",), [[0.3]], values=(0, 1), rounded={"s": 1})], ("s",))
    _, probability = posterior(np.array([[0.0], [2.0]]), law, true, 0)
    sd = 0.3**0.5
    mass = np.array([[stats.norm.cdf(z + 0.5, x, sd) - stats.norm.cdf(z - 0.5, x, sd) for x in (0, 1)] for z in (0, 2)])
    assert probability == pytest.approx(mass / mass.sum(axis=1, keepdims=True))


def test_posterior_after_an_exchange_and_noise():
    """Noise too weak to hide the exchanged value leaves the exchange alone: .9 · .75 against .25 · .25."""
    true = np.repeat([0.0, 1.0], [30, 10])[:, None]
    law = law_of([Misclassified("s", TRANSITION_2, (0, 1)), Additive(("s",), [[0.0001]])], ("s",))
    _, probability = posterior(np.array([[0.01], [0.99]]), law, true, 0)
    assert probability[:, 0] == pytest.approx([0.675 / (0.675 + 0.0625), 0.075 / (0.075 + 0.1875)], rel=1e-6)


def test_rounded_codes_rank_by_their_masses(rng):
    true = np.column_stack([rng.choice(2, N).astype(float), rng.standard_normal(N)])
    law = law_of([Additive(("k",), [[0.3]], values=(0, 1), rounded={"k": 1}), Additive(("x",), [[0.3]])], ("k", "x"))
    released = law.simulate(true, rng)

    def mass(z, x, variance):
        return stats.norm.cdf(z + 0.5, x, variance**0.5) - stats.norm.cdf(z - 0.5, x, variance**0.5)

    ratio, _ = brute_ratio(true, released, {0: (mass, 0.3)}, [1], np.array([[0.3]]))
    agree(true, released, law, ratio)


def test_posterior_uses_the_other_columns():
    """Two 0/1 columns that are equal: the other's z counts as a second observation of the same value."""
    true = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    law = law_of([Additive(("s", "t"), 0.5 * np.eye(2), values=(0, 1))], ("s", "t"))
    released = np.array([[0.6, 0.1], [0.6, np.nan]])
    _, probability = posterior(released, law, true, 0)
    odds = [np.exp((2 * 0.6 - 1) + (2 * 0.1 - 1)), np.exp(2 * 0.6 - 1)]  # exp((2z − 1) / 2v) for each
    assert probability[:, 1] == pytest.approx([o / (1 + o) for o in odds], rel=1e-9)


def test_posterior_of_a_column_without_noise_or_levels_is_refused():
    true = np.arange(6.0)[:, None]
    with pytest.raises(DataError, match="too many combinations"):
        posterior(true, law_of([Additive(("a",), [[1.0]])], ("a",)), true, 0)


def test_many_combinations_are_taken_as_normal(rng):
    """Seven 0/1 columns have more patterns than are kept apart: p(z) is then normal, and every step still finite."""
    true = (rng.random((300, 7)) < 0.5).astype(float)
    names = tuple("abcdefg")
    law = law_of([Additive(names, 0.2 * np.eye(7), values=(0, 1))], names)
    released = law.simulate(true, rng)
    expected = stats.multivariate_normal.logpdf(released, true.mean(axis=0), np.cov(true.T, ddof=0) + 0.2 * np.eye(7))
    assert joint_log_density(released, law, true) - 3.5 * np.log(2 * np.pi) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(DataError, match="too many combinations"):
        posterior(released, law, true, 0)
