from math import log

import pytest

from sfumato.kernels.lattice.criteria.likeness import Alpha, Beta, Delta
from tests.kernels.lattice.criteria.classes import adult_classes, block, claims_hold


def test_figures_of_the_generalised_adult_file(shared_data):
    """alpha 0.8333333333 and basic beta 133.6106870229, ten decimals of which are printed."""
    classes = adult_classes(shared_data)
    assert not Alpha(0.8333333334).fails(classes).any()
    assert Alpha(0.8333333331).fails(classes).any()
    assert not Beta(133.6106870230).fails(classes).any()
    assert Beta(133.6106869).fails(classes).any()


def test_alpha_at_its_boundary_passes():
    """A third, three tenths: not representable."""
    assert not Alpha(1 / 3).fails(block([1, 1, 1, 0]))[0]
    assert not Alpha(0.3).fails(block([3, 3, 3, 1]))[0]
    assert Alpha(0.3).fails(block([4, 3, 3, 0]))[0]


def test_beta_judges_gains_alone():
    """Shares 0.6 for 0.4 is a gain of a half; the last value's loss does not count."""
    classes = block([6, 3, 1, 0])
    assert not Beta(0.5).fails(classes)[0]
    assert Beta(0.49).fails(classes)[0]


def test_enhanced_beta_is_bounded_by_the_logarithm():
    """Of a value with a share of 0.4 a gain of −ln 0.4 = 0.916 is allowed, whatever beta."""
    allowed, above = block([76, 24, 0, 0]), block([77, 23, 0, 0])
    assert 0.76 < 0.4 * (1 - log(0.4)) < 0.77
    assert not Beta(5.0, enhanced=True).fails(allowed)[0]
    assert Beta(5.0, enhanced=True).fails(above)[0]
    assert not Beta(5.0).fails(above)[0]


def test_delta_judges_gains_and_losses_of_what_occurs():
    """Shares 0.8 for 0.4, 0.15 for 0.3: both a factor of two; 0 for 0.2 is not judged."""
    classes = block([80, 15, 5, 0], reference=[40, 30, 10, 20])
    assert not Delta(log(2)).fails(classes)[0]
    assert Delta(0.69).fails(classes)[0]
    assert Delta(1.0).fails(block([1, 99, 0, 0], reference=[50, 50, 0, 0]))[0]


def test_safe_classes_together_may_fail_delta():
    """A value that one class alone has becomes too rare in both together."""
    criterion = Delta(0.8)
    a, b = [6, 4, 0, 0], [8, 0, 2, 0]
    safe = block(a, b, reference=[6, 2, 2, 0])
    assert not criterion.fails(safe).any()
    assert criterion.fails(block([14 * 3, 4, 2 * 3, 0], reference=[6, 2, 2, 0]))[0]
    assert not criterion.safe_union


@pytest.mark.parametrize("criterion", [Alpha(0.5), Beta(1.0), Delta(0.5)])
def test_a_class_without_any_value_passes(criterion):
    assert not criterion.fails(block([0, 0, 0, 0]))[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", [Alpha(0.5), Beta(1.0), Beta(1.5, enhanced=True), Delta(0.8)])
def test_what_it_claims_of_unions_holds(criterion, seed):
    assert claims_hold(criterion, seed)


@pytest.mark.parametrize("make", [lambda: Alpha(2), lambda: Beta(0), lambda: Delta(0)])
def test_parameters_are_checked(make):
    with pytest.raises(ValueError, match="must be"):
        make()
