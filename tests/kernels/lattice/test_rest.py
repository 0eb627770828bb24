import numpy as np

from sfumato.kernels.lattice.criteria.diversity import DistinctL
from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.judge import judge
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns
from sfumato.kernels.lattice.recoded import Cells
from sfumato.kernels.lattice.rest import with_rest

AGES = Cells.of(Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64))))
REST = np.array([True, False, False])
ZERO = np.zeros((3, 1), dtype=np.int64)


def test_the_smallest_class_nearby_takes_the_rest_in():
    """Leaf 1 meets leaf 0 at level 1; leaf 3 would at the top."""
    data = Patterns(np.array([[0], [1], [3]]), np.array([1, 30, 3]))
    assert with_rest(data, ZERO, REST, [AGES], judge([KAnonymity(3)], (), (), 0), [1.0])[:, 0].tolist() == [2, 0, 2]
    data = Patterns(np.array([[0], [1], [3]]), np.array([1, 3, 3]))
    assert with_rest(data, ZERO, REST, [AGES], judge([KAnonymity(3)], (), (), 0), [1.0])[:, 0].tolist() == [1, 1, 0]


def test_a_class_that_does_not_become_safe_is_passed_over():
    """The rest has value 0, as leaf 1 has; only with leaf 3 there are two values."""
    data = Patterns(np.array([[0], [1], [3]]), np.array([1, 3, 3]), np.array([[0], [0], [1]]))
    judging = judge([DistinctL(2)], data.histograms(), [True], 0)
    assert with_rest(data, ZERO, REST, [AGES], judging, [1.0])[:, 0].tolist() == [2, 0, 2]
    judging = judge([DistinctL(3)], data.histograms(), [True], 0)
    assert with_rest(data, ZERO, REST, [AGES], judging, [1.0]) is None
