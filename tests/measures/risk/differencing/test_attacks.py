"""Attacks on two releases, on cases whose answer is arithmetic."""

import numpy as np
import pytest

from sfumato.measures.risk.differencing.attacks import Two, local, multisets, sums

NOBODY = np.zeros(6, dtype=bool)
X = np.array([3.0, 8.0, 1.0, 5.0, 20.0, 13.0])


def without(x, *rows):
    return np.where(np.isin(np.arange(len(x)), rows), np.nan, x)


def test_one_who_left_is_the_difference_of_the_sums_and_the_value_that_has_gone():
    shuffled = X[[1, 0, 3, 2, 5, 4]]  # exchanged between records
    new = np.array([8.0, 3.0, 1.0, 5.0, np.nan, 13.0])  # the fifth record left; the truth of its value is 20
    for attack in (sums, multisets):
        assert attack(Two(shuffled, new, NOBODY), "left").tolist() == [20.0]
        assert attack(Two(new, shuffled, NOBODY), "joined").tolist() == [20.0]


def test_two_who_left_by_sum_and_squares():
    """Released values whose sum and squares are the true ones: 3 and 20 of 6."""
    old = np.array([4.0, 8.0, 1.0, 5.0, 19.0, 13.0])
    old[0] += 1e-9
    new = without(old, 0, 4)
    new[1:4] -= (X[0] + X[4] - old[0] - old[4]) / 3
    got = sums(Two(old, new, NOBODY), "left")
    assert got.sum() == pytest.approx(23.0)


def test_more_than_that_share_what_is_left_over():
    two = Two(X, without(X, 0, 1, 2) + 1.0, NOBODY)
    assert sums(two, "left").tolist() == [2.0, 7.0, 0.0]


def test_a_corrected_value_shows_its_change():
    corrected = NOBODY.copy()
    corrected[4] = True
    old, new = X[[4, 1, 2, 3, 0, 5]], X[[4, 1, 2, 3, 0, 5]].copy()
    new[0] = 27.0  # the value of the fifth person stands at the first record
    for attack in (sums, multisets):
        assert attack(Two(old, new, corrected), "corrected").tolist() == [7.0]


def test_where_everything_changed_the_own_value_is_all_there_is():
    two = Two(X, without(X, 4) + np.linspace(0.1, 0.6, 6), NOBODY)
    assert multisets(two, "left").tolist() == [20.0]


def test_nobody_left_and_nothing_changed():
    for attack in (sums, multisets, local):
        for group in ("left", "joined", "corrected"):
            assert len(attack(Two(X, X, NOBODY), group)) == 0


@pytest.mark.parametrize("place", [None, 1, 6])
def test_the_scale_is_undone_by_what_did_not_change(place):
    """Group means of three: those of one group change, and the release is stretched and shifted; rounded or not."""
    x = np.arange(90.0) ** 1.3
    groups = np.arange(90) // 3
    means = (np.bincount(groups, x) / 3)[groups]
    after = means.copy()
    after[[30, 31]] = (x[30] + x[31]) / 2  # the third of its group left
    after[32] = np.nan
    stretched = 4.0 + 1.1 * after
    old, new = (v if place is None else np.round(v, place) for v in (means, stretched))
    two = Two(old, new, np.zeros(90, dtype=bool), disjoint=True)
    rounding = 1e-9 if place is None else 3 * 10.0**-place
    assert local(two, "left")[0] == pytest.approx(x[32], abs=rounding)
    assert local(two.turned, "joined")[0] == pytest.approx(x[32], abs=rounding)
    assert abs(sums(two, "left")[0] - x[32]) > 100


def test_order_changes_nothing():
    rng = np.random.default_rng(1)
    old = rng.lognormal(size=300)
    new = without(np.where(np.arange(300) % 7 == 0, old * 1.01, 1 + 0.9 * old), 5, 9)
    corrected = np.arange(300) == 14
    place = old[:, None]
    for order in (np.arange(300)[::-1], rng.permutation(300)):
        for attack in (sums, multisets, local):
            one = attack(Two(old, new, corrected, place), "left")
            other = attack(Two(old[order], new[order], corrected[order], place[order]), "left")
            assert sorted(one) == pytest.approx(sorted(other), rel=1e-9)
