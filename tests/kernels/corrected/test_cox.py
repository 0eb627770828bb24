"""Against statsmodels without noise, by small changes of weights, and by simulation with noise."""

import numpy as np
import pytest

from sfumato.kernels.corrected.cox import corrected_cox
from sfumato.kernels.corrected.design import Design
from sfumato.kernels.corrected.noise import Noise
from sfumato.kernels.corrected.tilted import Tilted
from tests.late import late

phreg = late("statsmodels.duration.hazard_regression")


def numbers(z, noise):
    """Numbers of which some have normal noise."""
    n, p = z.shape
    return Tilted(Design(np.ones((n, p)), np.eye(p, dtype=np.int64), z, [Noise(np.asarray(noise))], np.zeros(n, int)))


def coin(released, kept):
    """A column of 0 and 1 of which each value was kept with a probability, else drawn anew."""
    one = (released - (1 - kept) / 2) / kept
    n, none = len(released), np.zeros((1, 0), dtype=np.int64)
    told, plain = (np.column_stack([1 - of, of]) for of in (one, released))
    design = Design(
        np.ones((n, 1)),
        none,
        np.zeros((n, 0)),
        [Noise(np.zeros((0, 0)))],
        np.zeros(n, int),
        [np.array([[0.0, 1.0]])],
        [told],
    )
    return Tilted(design, (plain,))


def root(tilted, time, event, start, at_risk=20, w=None):
    return corrected_cox(tilted, np.ones(len(time)) if w is None else w, time, event, np.asarray(start), at_risk)


def draw(n, seed, X, b, rounded=None):
    rng = np.random.default_rng(seed)
    time = rng.exponential(np.exp(-X @ b))
    left = rng.exponential(2.0, size=n)
    event, seen = time <= left, np.minimum(time, left)
    return (seen if rounded is None else np.ceil(seen / rounded)), event


def three(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 3)) @ np.array([[1, 0.5, 0.2], [0, 1, 0.7], [0, 0, 1]])


B = np.array([0.5, -0.3, 0.2])


@pytest.mark.parametrize("rounded", [None, 0.1, 0.5])
def test_without_noise_it_is_the_partial_likelihood(rounded):
    X = three(400, 1)
    time, event = draw(400, 2, X, B, rounded)
    ours = root(numbers(X, np.zeros((3, 3))), time, event, np.zeros(3), at_risk=1)
    theirs = phreg.PHReg(time, X, status=event, ties="efron").fit(tol=1e-14)
    np.testing.assert_allclose(ours.estimate, theirs.params, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(ours.bread)), theirs.bse, rtol=1e-6)
    assert (ours.events, ours.left_out, ours.failure) == (event.sum(), 0, "")


@pytest.mark.parametrize("rounded", [None, 0.5])
def test_influence_is_what_a_records_weight_moves(rounded):
    X = three(80, 3)
    time, event = draw(80, 4, X, B, rounded)
    noise = 0.1 * np.eye(3)
    z = X + np.random.default_rng(5).normal(0, 0.1**0.5, size=X.shape)
    w = np.random.default_rng(6).uniform(0.5, 2, size=80)
    found = root(numbers(z, noise), time, event, np.zeros(3), 1, w)
    assert found.failure == ""
    np.testing.assert_allclose(w @ found.scores, 0, atol=1e-6)
    for i in range(0, 80, 7):
        step = np.zeros(80)
        step[i] = 1e-4
        up, down = (
            root(numbers(z, noise), time, event, found.estimate, 1, w + sign * step).estimate for sign in (1, -1)
        )
        moved = found.bread @ found.scores[i]
        np.testing.assert_allclose((up - down) / 2e-4, moved, rtol=1e-4, atol=1e-6)


def test_only_proportions_of_weights_matter():
    X = three(60, 7)
    time, event = draw(60, 8, X, B)
    noise = 0.1 * np.eye(3)
    w = np.tile([1.0, 2.0], 30)
    scaled = root(numbers(X, noise), time, event, np.zeros(3), 1, 3 * w)
    once = root(numbers(X, noise), time, event, np.zeros(3), 1, w)
    np.testing.assert_allclose(scaled.estimate, once.estimate, rtol=1e-8)
    np.testing.assert_allclose(3 * scaled.bread, once.bread, rtol=1e-6)


def test_numbers_far_from_zero_overflow_nothing():
    X = three(300, 13)
    time, event = draw(300, 14, X, B)
    near, far = (root(numbers(X + by, 0.1 * np.eye(3)), time, event, np.zeros(3)) for by in (0, 5e3))
    np.testing.assert_allclose(far.estimate, near.estimate, rtol=1e-5)
    np.testing.assert_allclose(far.scores, near.scores, atol=1e-6)


def test_follow_up_ends_where_few_are_at_risk():
    X = three(200, 9)
    time, event = draw(200, 10, X, B)
    noise = 0.1 * np.eye(3)
    found = root(numbers(X, noise), time, event, np.zeros(3))
    end = np.sort(time)[-20]  # the last time at which 20 are at risk
    early = np.minimum(time, end)
    cut = root(numbers(X, noise), early, event & (time <= end), np.zeros(3), at_risk=1)
    assert found.left_out == (event & (time > end)).sum() > 0
    assert found.events == event.sum() - found.left_out
    np.testing.assert_allclose(found.estimate, cut.estimate, rtol=1e-8)
    np.testing.assert_allclose(found.scores, cut.scores, atol=1e-8)


def test_no_estimate_where_most_events_come_late():
    time, event = np.arange(30.0) + 1, np.arange(30) > 9
    found = root(numbers(three(30, 1), np.eye(3)), time, event, np.zeros(3))
    assert found.failure == "few"
    assert (found.events, found.left_out) == (1, 19)


def test_no_estimate_where_the_noise_is_all_there_is():
    z = np.random.default_rng(1).normal(size=(300, 1))
    time, event = draw(300, 2, z, np.array([0.8]))
    assert root(numbers(z, 1.3 * np.eye(1)), time, event, np.array([0.5])).failure == "root"


def test_no_estimate_where_a_risk_is_not_above_nothing():
    """Nobody has a 1 at the end, and a 0 counts negatively for one where little was kept."""
    released = np.repeat([1.0, 0.0], 100)
    time, event = np.arange(200.0) + 1, np.ones(200, dtype=bool)
    assert root(coin(released, 0.4), time, event, np.array([4.0])).failure == "risk"


def covered(draws, truth, one):
    """Share of intervals that hold the truth, and the mean estimate, of simulated fits."""
    found = [one(seed) for seed in range(draws)]
    held = [f for f in found if f.failure == ""]
    assert len(held) >= 0.95 * draws
    estimate = np.array([f.estimate[0] for f in held])
    se = []
    for f in held:
        moved = f.scores @ f.bread
        se.append(np.sqrt((moved[:, 0] ** 2).sum()))
    return np.mean(np.abs(estimate - truth) < 1.96 * np.array(se)), np.median(estimate)


def with_noise(n, share, skewed, rounded=None, slope=0.7):
    """One noisy number beside an exact one; `share` of the variance is noise."""

    def one(seed):
        rng = np.random.default_rng(1000 + seed)
        x = rng.normal(size=(n, 2))
        if skewed:
            x[:, 0] = np.exp(0.6 * x[:, 0])
        x[:, 1] += 0.5 * x[:, 0]
        variance = share / (1 - share) * x[:, 0].var()
        time, event = draw(n, seed, x - x.mean(axis=0), np.array([slope, -0.4]), rounded)
        z = x.copy()
        z[:, 0] += rng.normal(0, variance**0.5, n)
        return root(numbers(z, np.diag([variance, 0.0])), time, event, np.array([slope / 2, -0.4]))

    return one


def with_codes(n, kept, rounded=None):
    def one(seed):
        rng = np.random.default_rng(2000 + seed)
        x = (rng.random(n) < 0.4).astype(float)
        time, event = draw(n, seed, x[:, None], np.array([0.7]), rounded)
        z = np.where(rng.random(n) < kept, x, rng.integers(0, 2, n))
        return root(coin(z, kept), time, event, np.array([0.3]))

    return one


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("one", "truth", "draws"),
    [
        (with_noise(600, 0.3, False), 0.7, 200),
        pytest.param(with_noise(600, 0.3, False, rounded=0.1), 0.7, 200, marks=SLOW),
        (with_codes(600, 0.7), 0.7, 200),
        pytest.param(with_noise(1500, 0.3, True), 0.7, 500, marks=SLOW),
        pytest.param(with_noise(1500, 0.5, False, slope=0.5), 0.5, 500, marks=SLOW),
        pytest.param(with_codes(1000, 0.7, rounded=0.1), 0.7, 500, marks=SLOW),
    ],
)
def test_the_truth_is_found_and_covered(one, truth, draws):
    share, middle = covered(draws, truth, one)
    assert share > 0.94 - 3 * (0.05 * 0.95 / draws) ** 0.5
    assert middle == pytest.approx(truth, rel=0.1)


def test_on_average_it_is_the_fit_to_the_true_data():
    """With a square left out no model holds, and what is found is what it would be without noise."""
    n, rng = 800, np.random.default_rng(11)
    x = np.exp(0.5 * rng.normal(size=(n, 1)))
    time, event = draw(n, 12, np.column_stack([x, x**2]), np.array([0.8, -0.15]))
    exact = root(numbers(x, np.zeros((1, 1))), time, event, np.zeros(1)).estimate[0]
    noise = 0.3 * x.var()
    found = [
        root(numbers(x + rng.normal(0, noise**0.5, (n, 1)), noise * np.eye(1)), time, event, np.zeros(1))
        for _ in range(60)
    ]
    values = np.array([f.estimate[0] for f in found])
    assert values.mean() == pytest.approx(exact, abs=4 * values.std() / 60**0.5)
