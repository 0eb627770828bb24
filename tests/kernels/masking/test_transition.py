import numpy as np
import pytest
from scipy.stats import chisquare

from sfumato.kernels.masking.transition import equal_spread, invariant, move

MARGINS = [[0.5, 0.5], [0.75, 0.25], [0.4, 0.3, 0.2, 0.1], [0.9, 0.09, 0.01], np.arange(1, 31) / np.arange(1, 31).sum()]


def expected_share(R, p):
    """Share of cells that keep their category."""
    return float(p @ np.diagonal(R))


@pytest.mark.parametrize("p", MARGINS)
@pytest.mark.parametrize("retention", [0.83, 0.9, 0.99, 1.0])
def test_invariant_keeps_margin_and_share_to_the_precision_that_is_told(p, retention):
    p = np.array(p)
    R = invariant(p, retention)
    assert R.min() >= 0
    assert np.allclose(R.sum(axis=1), 1, atol=1e-12)
    # each entry off the diagonal is within half a unit of its third digit: 0.5% of itself, and so are their sums
    moved = 1 - retention
    assert np.all(np.abs(R.T @ p - p) <= 2 * 0.005 * moved + 1e-12)
    assert abs(expected_share(R, p) - retention) <= 0.005 * moved + 1e-12
    assert all(v == float(f"{v:.3g}") for v in R[~np.eye(len(p), dtype=bool)])


def test_invariant_by_hand():
    # λ = 0.2 / (1 − 0.5) = 0.4, so R = 0.6 I + 0.4 · 1p′ with p = ½, ½
    assert invariant(np.array([0.5, 0.5]), 0.8).tolist() == [[0.8, 0.2], [0.2, 0.8]]


def test_the_peers_invariant_matrix_keeps_fewer_than_it_says():
    """P with the wanted diagonal, Q[k, j] = P[j, k] p_j / (pP)_k, R = PQ: invariant, but a double draw."""
    p = np.array([0.4, 0.3, 0.2, 0.1])
    P = equal_spread(4, 0.8)
    Q = (P * p[:, None]).T / (p @ P)[:, None]
    peer = P @ Q
    assert np.allclose(p @ peer, p)
    assert expected_share(peer, p) < 0.7
    assert expected_share(invariant(p, 0.8), p) == pytest.approx(0.8, abs=0.001)


def test_an_uneven_margin_cannot_be_kept_at_a_low_retention():
    p = np.array([0.9, 0.1])  # Σp² = 0.82: drawn anew from p, 82% stay by chance
    assert invariant(p, 0.81) is None
    assert invariant(p, 0.83) is not None
    assert np.allclose(invariant(p, 0.82), [[0.9, 0.1], [0.9, 0.1]])


def test_no_entry_is_negative_where_everything_is_drawn_anew():
    rng = np.random.default_rng(3)
    for _ in range(200):
        p = rng.dirichlet(np.full(8, 0.3))
        R = invariant(p, float(p @ p))
        assert R.min() >= 0
        assert np.allclose(R.sum(axis=1), 1)
        assert np.all(np.abs(R.T @ p - p) <= 0.02 * (1 - p @ p))  # down to 1% off where rounded down, twice


def test_a_single_category_stays():
    assert equal_spread(1, 0.5).tolist() == [[1.0]]
    assert np.array_equal(invariant(np.array([0.0, 1.0]), 0.5), np.eye(2))


def test_move_follows_the_matrix():
    rng = np.random.default_rng(1)
    R = np.array([[0.7, 0.0, 0.3], [0.25, 0.25, 0.5], [0.0, 0.1, 0.9]])
    state = rng.integers(0, 3, 300_000)
    released = move(state, rng.random(len(state)), R)
    for i in range(3):
        seen = np.bincount(released[state == i], minlength=3)
        assert np.all(seen[R[i] == 0] == 0)
        some = R[i] > 0
        assert chisquare(seen[some], R[i][some] * seen.sum()).pvalue > 1e-4


def test_the_ends_of_the_draws_stay_in_the_matrix():
    R = np.array([[1 / 3, 1 / 3, 1 / 3, 0.0], [0.0, 0.1, 0.2, 0.7], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    low, high = 2.0**-53, 1 - 2.0**-53
    assert move(np.arange(4), np.full(4, low), R).tolist() == [0, 1, 3, 0]
    assert move(np.arange(4), np.full(4, high), R).tolist() == [2, 3, 3, 0]
