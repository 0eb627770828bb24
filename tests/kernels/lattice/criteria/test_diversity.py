from math import exp, log

import numpy as np
import pytest

from sfumato.kernels.lattice.criteria.diversity import DistinctL, EntropyL, RecursiveL
from tests.kernels.lattice.criteria.classes import adult_classes, block, claims_hold


def test_figures_of_the_generalised_adult_file(shared_data):
    """Distinct l 2 and entropy l 1.5691925832, ten decimals of which are printed."""
    classes = adult_classes(shared_data)
    assert not DistinctL(2).fails(classes).any()
    assert DistinctL(3).fails(classes).any()
    assert not EntropyL(1.5691925831).fails(classes).any()
    assert EntropyL(1.5691925833).fails(classes).any()


@pytest.mark.parametrize("l", range(1, 40))
def test_entropy_at_its_boundary_passes(l):  # noqa: E741
    """l values of equal shares have an entropy of exactly ln l, however it is rounded."""
    for each in (1, 3, 7, 1000):
        classes = block([each] * l, reference=[1] * l)
        assert not EntropyL(l).fails(classes)[0]
        assert EntropyL(l + 1e-6).fails(classes)[0]


def test_entropy_by_hand():
    entropy = -(0.75 * log(0.75) + 0.25 * log(0.25))
    assert not EntropyL(exp(entropy) - 1e-9).fails(block([3, 1, 0, 0]))[0]
    assert EntropyL(exp(entropy) + 1e-6).fails(block([3, 1, 0, 0]))[0]


def test_recursive_takes_the_most_frequent_value_first():
    """r = 5, 3, 2: 5 < c · 5 at l = 2, 5 < c · 2 at l = 3; equality fails."""
    classes = block([2, 5, 3, 0])
    assert RecursiveL(1.0, 2).fails(classes)[0]
    assert not RecursiveL(1.001, 2).fails(classes)[0]
    assert RecursiveL(2.5, 3).fails(classes)[0]
    assert not RecursiveL(2.501, 3).fails(classes)[0]


def test_recursive_at_its_boundary_fails_however_it_is_rounded():
    """r₁ = 1 and c · tail = 0.1 · 10 and the like."""
    for tenths in range(1, 60):
        classes = block([tenths] + [1] * 10, reference=[1] * 11) if tenths > 1 else block([1] * 11, reference=[1] * 11)
        assert RecursiveL(tenths / 10, 2).fails(classes)[0]


@pytest.mark.parametrize("criterion", [DistinctL(3), EntropyL(3.0), RecursiveL(2.0, 2)])
def test_a_class_without_any_value_passes(criterion):
    assert not criterion.fails(block([0, 0, 0, 0]))[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", [DistinctL(2), DistinctL(3), EntropyL(2.2), RecursiveL(1.5, 2), RecursiveL(3, 3)])
def test_what_it_claims_of_unions_holds(criterion, seed):
    assert claims_hold(criterion, seed)


def test_a_large_class_with_one_value_may_spoil_a_safe_one():
    """So these two may not cut a search where records are suppressed."""
    safe, union = block([2, 2, 0, 0]), block([22, 2, 0, 0])
    for criterion in (EntropyL(2), RecursiveL(2.0, 2)):
        assert not criterion.any_union
        assert np.array([criterion.fails(safe)[0], criterion.fails(union)[0]]).tolist() == [False, True]


@pytest.mark.parametrize("make", [lambda: DistinctL(0), lambda: EntropyL(0.5), lambda: RecursiveL(0, 2)])
def test_parameters_are_checked(make):
    with pytest.raises(ValueError, match="l must"):
        make()
