import pytest

from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from tests.kernels.lattice.criteria.classes import adult_classes, block, claims_hold


def test_k_of_the_generalised_adult_file(shared_data):
    classes = adult_classes(shared_data)
    assert len(classes.sizes) == 296
    assert not KAnonymity(5).fails(classes).any()
    assert KAnonymity(6).fails(classes).any()


def test_fewer_than_k_fail():
    assert KAnonymity(3).fails(block([2, 0, 0, 0], [1, 1, 1, 0])).tolist() == [True, False]
    assert KAnonymity(3).least_size == 3


@pytest.mark.parametrize("seed", range(3))
def test_what_it_claims_of_unions_holds(seed):
    assert claims_hold(KAnonymity(5), seed)


def test_k_is_checked():
    with pytest.raises(ValueError, match="k"):
        KAnonymity(0)
