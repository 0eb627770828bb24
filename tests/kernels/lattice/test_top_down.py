import numpy as np

from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.judge import judge
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns
from sfumato.kernels.lattice.top_down import top_down

AGES = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))
SEX = Levels((np.arange(2), np.zeros(2, dtype=np.int64)))
K3 = judge([KAnonymity(3)], (), (), 0)


def test_safe_parts_go_down_and_the_others_stay_together():
    """Below level 1 leaf 0 is safe, and what it leaves behind is not; leaves 2 and 3 both are."""
    data = Patterns(np.arange(4)[:, None], np.array([3, 1, 3, 3]))
    levels, rest = top_down(data, [AGES], K3, [1.0])
    assert levels[:, 0].tolist() == [1, 1, 0, 0]
    assert not rest.any()


def test_what_stays_behind_may_be_a_class_of_its_own():
    """Leaf 0 goes down; 1, 2 and 3 stay as one class of three."""
    flat = Levels((np.arange(4), np.zeros(4, dtype=np.int64)))
    levels, _ = top_down(Patterns(np.arange(4)[:, None], np.array([3, 1, 1, 1])), [flat], K3, [1.0])
    assert levels[:, 0].tolist() == [0, 1, 1, 1]


def test_the_key_that_gains_most_is_split_first():
    """Either key can be split, not both: a share of 1 to 1/4 gains more than 1 to 1/2, unless weights say otherwise."""
    four = Levels((np.arange(4), np.zeros(4, dtype=np.int64)))
    codes = np.array([[a, s] for a in (0, 1) for s in (0, 1)])
    data = Patterns(codes, np.array([2, 2, 2, 2]))
    assert top_down(data, [SEX, four], K3, [1.0, 1.5])[0].tolist() == [[1, 0]] * 4
    assert top_down(data, [SEX, four], K3, [1.5, 1.0])[0].tolist() == [[0, 1]] * 4


def test_too_few_records_in_all():
    assert top_down(Patterns(np.array([[0]]), np.array([2])), [AGES], K3, [1.0]) is None
