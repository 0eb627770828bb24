import itertools

import numpy as np
import pytest

from sfumato.kernels.masking.household_swap import FEWEST, exchange_households


def country(m=3000, seed=0):
    """Areas on three levels within each other, some at risk, two profiles."""
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 3, m)
    district = region * 4 + rng.integers(0, 4, m)
    ward = district * 5 + rng.integers(0, 5, m)
    risk = np.vstack([rng.random(m) < p for p in (0.01, 0.02, 0.1)])
    risk = np.logical_or.accumulate(risk, axis=0)
    fine = rng.integers(0, 40, m)
    word = rng.integers(0, 2**63, m).astype(np.uint64)
    return np.vstack([region, district, ward]), risk, np.vstack([fine, fine % 4]), rng.permutation(m), word


def everybody(found):
    return np.arange(len(found.partner))


def test_pairs_change_places_once():
    found = exchange_households(*country(), 0.2)
    assert (found.partner[found.partner] == everybody(found)).all()
    assert (found.partner != everybody(found)).any()


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_who_is_at_risk_leaves_the_area_of_that_level(rate):
    area, risk, *rest = country()
    found = exchange_households(area, risk, *rest, rate)
    assert not found.left.any()
    gone = area != area[:, found.partner]
    assert gone[risk].all()


def test_partners_are_alike_in_some_profile():
    area, risk, profile, *rest = country()
    partner = exchange_households(area, risk, profile, *rest, 0.5).partner
    alike = profile == profile[:, partner]
    assert alike.any(axis=0).all()
    assert alike[0].mean() > 0.9  # the first has enough candidates nearly everywhere


def test_a_single_candidate_is_none():
    area = np.array([[0, 1, 0, 0]])
    risk = np.array([[True, False, False, False]])
    alone = exchange_households(area, risk, np.zeros((1, 4), dtype=int), np.arange(4), np.arange(4, dtype=np.uint64), 0)
    assert FEWEST == 2
    assert (alone.partner == np.arange(4)).all()
    assert alone.left.tolist() == [True, False, False, False]


def test_every_candidate_is_as_likely():
    """Chi-squared over 4,000 words: nine candidates, and one household of the same area that is none."""
    area = np.array([[0, 0, *[1] * 9]])
    risk = np.zeros((1, 11), dtype=bool)
    risk[0, 0] = True
    profile, race = np.zeros((1, 11), dtype=int), np.arange(11)
    words = np.random.default_rng(1).integers(0, 2**63, 4000).astype(np.uint64)
    taken = [
        exchange_households(area, risk, profile, race, np.full(11, word, dtype=np.uint64), 0.0).partner[0]
        for word in words
    ]
    count = np.bincount(taken, minlength=11)
    assert count[:2].sum() == 0
    assert ((count[2:] - 4000 / 9) ** 2 / (4000 / 9)).sum() < 26  # 0.999 quantile at 8 degrees of freedom


def test_candidates_that_are_rare_in_a_crowd_are_found():
    """Of 2,000 alike only three are elsewhere: too few to be hit by chance, so they are counted."""
    area = np.zeros((1, 2000), dtype=int)
    area[0, -3:] = 1
    risk = np.zeros((1, 2000), dtype=bool)
    risk[0, 0] = True
    args = area, risk, np.zeros((1, 2000), dtype=int), np.arange(2000), np.arange(2000, dtype=np.uint64)
    assert exchange_households(*args, 0.0).partner[0] >= 1997


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5, 1.0])
def test_no_area_gives_more_than_its_share(rate):
    area, risk, *rest = country()
    partner = exchange_households(area, np.zeros_like(risk), *rest, rate).partner
    size, gone = np.bincount(area[2]), np.bincount(area[2], weights=partner != np.arange(3000))
    assert (gone <= rate * size + 1e-9).all()
    assert gone.sum() >= 0.9 * np.floor(rate * size).sum()


def test_the_rate_changes_no_pair():
    area, risk, *rest = country()
    partners = [exchange_households(area, risk, *rest, rate).partner for rate in (0.2, 0.4, 0.8)]
    home = np.arange(3000)
    for one, other in itertools.pairwise(partners):
        both = (one != home) & (other != home)
        assert (one[both] == other[both]).all()
        assert (other != home).sum() > (one != home).sum()


def test_some_take_no_part():
    area, risk, profile, race, word = country()
    stays = np.random.default_rng(2).random(3000) < 0.3
    partner = exchange_households(area, risk & ~stays, profile, race, word, 1.0, stays).partner
    assert (partner[stays] == np.flatnonzero(stays)).all()
    assert (partner[~stays] != np.flatnonzero(~stays)).mean() > 0.9
