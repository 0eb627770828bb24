import numpy as np
import pytest

from sfumato.kernels.lattice.criteria.criterion import Criterion, Overall, above
from tests.kernels.lattice.criteria.classes import block


def test_rounding_does_not_put_a_figure_above():
    assert above(np.array([0.1 + 0.2, 0.3 + 1e-6]), 0.3).tolist() == [False, True]
    assert above(np.array([1e6 * (1 + 1e-15)]), 1e6).tolist() == [False]


def test_a_criterion_claims_nothing_unless_it_says_so():
    assert not Criterion.any_union
    assert not Criterion.safe_union
    assert not Overall.falls
    with pytest.raises(NotImplementedError):
        Criterion().fails(block([1]))
    with pytest.raises(NotImplementedError):
        Overall().fails_all(np.array([1]))
