from fractions import Fraction

import numpy as np
import pytest

from sfumato.kernels.lattice import judge as module
from sfumato.kernels.lattice.criteria.diversity import DistinctL, EntropyL
from sfumato.kernels.lattice.criteria.likeness import Delta
from sfumato.kernels.lattice.criteria.overall import AverageRisk, PopulationUniques
from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.judge import allowed, judge

WHOLE = [np.array([3, 2])]


def test_the_limit_is_that_of_exact_arithmetic():
    """0.07 · 100 is below 7 in floats' neighbourhood, 0.29 · 100 below 29."""
    for percent in range(101):
        for n in (1, 7, 100, 101, 12345, 10**7):
            assert allowed(percent / 100, n) == int(Fraction(percent, 100) * n)


@pytest.mark.parametrize("limit", [-0.1, 1.1, float("nan")])
def test_a_limit_is_a_share(limit):
    with pytest.raises(ValueError, match="limit"):
        allowed(limit, 10)


def test_what_a_search_may_be_cut_by():
    criteria = [DistinctL(2), EntropyL(1.5), Delta(1.0), KAnonymity(2), AverageRisk(0.5)]
    assert {type(c) for c in judge(criteria, WHOLE, [True], 3).pruning} == {KAnonymity, DistinctL}
    assert {type(c) for c in judge(criteria, WHOLE, [False], 3).pruning} == {KAnonymity}
    assert {type(c) for c in judge(criteria, WHOLE, [False], 0).pruning} == {KAnonymity, DistinctL, EntropyL}
    assert judge(criteria, WHOLE, [True], 0).prunes_overall
    assert not judge(criteria, WHOLE, [True], 3).prunes_overall
    assert not judge([AverageRisk(0.5), PopulationUniques(0.1, len)], WHOLE, [True], 0).prunes_overall


def test_without_criteria_on_classes_nothing_is_suppressed():
    assert judge([AverageRisk(0.5)], WHOLE, [True], 3).limit == 0


def test_a_histogram_is_held_in_parts(monkeypatch):
    """Of two classes at a time the verdicts are those of all at once; classes that are too small are not looked at."""
    rng = np.random.default_rng(0)
    which, values, count = rng.integers(0, 50, 400), rng.integers(-1, 2, (400, 1)), rng.integers(1, 3, 400)
    sizes = np.bincount(which, weights=count, minlength=50).astype(np.int64)
    judging = judge([KAnonymity(9), EntropyL(1.8)], WHOLE, [False], 0)
    at_once = judging.failing(sizes, which, values, count)
    monkeypatch.setattr(module, "_CELLS", 4)
    assert judging.failing(sizes, which, values, count).tolist() == at_once.tolist()
    assert 0 < at_once.sum() < 50
