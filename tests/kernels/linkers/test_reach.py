"""Distances, kernel means and votes, against whole matrices."""

import numpy as np
import pytest

from sfumato.kernels.linkers.keys import keys_of
from sfumato.kernels.linkers.reach import DENSITY, VOTE, Apart, around, reaches, voted

RNG = np.random.default_rng(1)


def table(n, gaps=True):
    codes = np.stack([RNG.integers(-gaps, 4, n), RNG.integers(0, 3, n)]).astype(np.int32)
    numbers = np.stack([RNG.normal(0, 10, n), RNG.integers(0, 5, n).astype(float)])
    numbers[0, RNG.random(n) < 0.1 * gaps] = np.nan
    return codes, numbers


def matrix(one, two, reach, wildcard):
    (a, x), (b, y) = one, two
    d = np.zeros((a.shape[1], b.shape[1]))
    for p, q in zip(a, b, strict=True):
        part = (p[:, None] != q[None]).astype(float)
        d += np.where((p[:, None] < 0) | (q[None] < 0), 0.5, part) if wildcard else part
    for p, q, r in zip(x, y, reach, strict=True):
        gap = np.abs(p[:, None] - q[None])
        part = np.minimum(gap / r, 1) if r else (gap > 0).astype(float)
        no, either = np.isnan(p)[:, None] & np.isnan(q)[None], np.isnan(p)[:, None] | np.isnan(q)[None]
        d += np.where(either, 0.5 if wildcard else np.where(no, 0.0, 1.0), part)
    return d


@pytest.mark.parametrize("wildcard", [False, True])
def test_distances_and_kernel_means_are_those_of_the_definition(wildcard):
    """In more records than a block holds."""
    people, records = table(40), table(2500)
    reach = np.array([7.0, 0.0])
    a, b = keys_of(*people), keys_of(*records)
    near, means = around(a, b, Apart(reach, wildcard), DENSITY)
    d = matrix(people, records, reach, wildcard)
    assert near[a.member] == pytest.approx(d.min(axis=1), abs=1e-12)
    for k, w in enumerate((0.3, 0.6, 1.0)):
        assert means[k][a.member] == pytest.approx(np.log(np.exp(-d / w).mean(axis=1)), abs=1e-9)


@pytest.mark.parametrize("wildcard", [False, True])
def test_votes_are_those_of_the_definition(wildcard):
    people, records = table(60), table(300)
    told, truth = RNG.integers(0, 5, 300), RNG.integers(0, 5, 60)
    reach = np.array([7.0, 2.0])
    d = matrix(people, records, reach, wildcard)
    right = voted(keys_of(*people), keys_of(*records), Apart(reach, wildcard), VOTE, told, truth)
    for k, w in enumerate((0.15, 0.35)):
        votes = np.stack([(np.exp(-d / w) * (told == v)).sum(axis=1) for v in range(5)])
        assert right[k] == pytest.approx((votes.argmax(axis=0) == truth).astype(float))


def test_votes_that_tie_are_shared():
    people, records = (keys_of(np.zeros((1, n), dtype=np.int32), np.empty((0, n))) for n in (3, 4))
    right = voted(people, records, Apart(np.empty(0)), VOTE, np.array([0, 0, 1, 1]), np.array([0, 1, 2]))
    assert right.tolist() == [[0.5, 0.5, 0.0]] * 2


def test_many_keys_leave_means_finite():
    """600 keys that all differ: exp(−2000) is no number, its logarithm is."""
    far = keys_of(np.zeros((600, 1), dtype=np.int32), np.empty((0, 1)))
    near, means = around(far, keys_of(np.ones((600, 3), dtype=np.int32), np.empty((0, 3))), Apart(np.empty(0)), DENSITY)
    assert near.tolist() == [600.0]
    assert means[:, 0] == pytest.approx([-2000.0, -1000.0, -600.0])


def test_a_reach_is_a_quarter_of_the_middle_and_spikes_are_passed_over():
    spiky = np.concatenate([np.zeros(120), np.arange(1.0, 12.0)])
    missing = np.concatenate([np.arange(0.0, 101.0), np.full(30, np.nan)])
    found = reaches(np.stack([spiky, missing]))
    assert found == pytest.approx([0.25 * 8.0, 0.25 * 80.0])
    assert reaches(np.full((1, 5), np.nan)).tolist() == [0.0]
