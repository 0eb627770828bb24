"""Perturbed tables: how much noise, of which budget, and that it hangs on who is in a cell."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.gate.margin import Margin, Node
from sfumato.gate.noise import allowed, largest_change, mu, perturbed, written
from sfumato.gate.policy import Policy

NOISY = {"perturbed": {"variance": 9}, "interval": {"count": 4, "width": 10}}


def noisy(*names, variance="9"):
    return Margin.of(map(Node, names), noise=variance)


def test_the_budget_adds_up_over_different_tables():
    assert mu([noisy("A"), noisy("A"), noisy("B"), Margin.of([Node("C")])]) == pytest.approx(math.sqrt(2 / 9))
    policy = Policy(**NOISY, noise={"mu_at_most": 0.5})  # 1/4 at most: two tables of 1/9, not three
    assert allowed([noisy("A"), noisy("B")], policy).holds
    assert allowed([noisy("A"), noisy("B"), noisy("C")], policy).reasons == ("noise",)
    assert allowed([Margin.of([Node("A")])], policy).holds


def test_less_noise_than_a_policy_asks_for_and_none_at_all():
    assert allowed([noisy("A", variance="8")], Policy(**NOISY)).reasons == ("perturbed",)
    assert allowed([noisy("A")], Policy(preset="public")).reasons == ("perturbed",)
    assert allowed([noisy("A")], Policy(preset="public"), given=True).holds  # it reached them by somebody else


def test_noise_is_as_wide_as_the_interval_asks_for():
    with pytest.raises(ValueError, match=r"6\.25"):
        Policy(interval={"count": 4, "width": 10}, perturbed={"variance": 6})


@pytest.mark.slow
@pytest.mark.parametrize("variance", [2.0, 6.25, 9.0])
def test_mean_variance_and_largest_change(variance):
    """Over 20,000 keys: mean 0 and the variance, to four standard errors; no change is larger than told."""
    rng, n = np.random.default_rng(5), 20_000
    key = rng.integers(0, 1 << 53, n).astype(np.uint64)
    for count in (1, 3, 200):
        change = perturbed(np.full(n, count), key, written(variance)) - count
        assert abs(change.mean()) < 4 * math.sqrt(variance / n)
        assert change.var() <= variance * 1.05
        if count == 200:
            assert change.var() >= variance * 0.95
        assert np.abs(change).max() <= largest_change(variance)
    assert not perturbed(np.zeros(n, dtype=np.int64), key, written(variance)).any()


def test_a_variance_is_written_as_a_fraction():
    assert [Fraction(written(v)) for v in (6.25, 3.0, 0.1)] == [Fraction(25, 4), 3, Fraction(1, 10)]
