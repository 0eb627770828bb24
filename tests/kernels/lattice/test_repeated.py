import numpy as np

from sfumato.kernels.lattice import repeated as module
from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.judge import judge
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns
from sfumato.kernels.lattice.repeated import repeated
from tests.kernels.lattice import small

AGES = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))
K3 = judge([KAnonymity(3)], (), (), 0)


def test_each_class_is_taken_out_at_the_lowest_level():
    """Leaf 0 alone has three; 2 and 3 have them together; 1 is left."""
    data = Patterns(np.arange(4)[:, None], np.array([3, 1, 1, 2]))
    levels, rest = repeated(data, [AGES], K3, [1.0])
    assert levels[:, 0].tolist()[:1] + levels[:, 0].tolist()[2:] == [0, 1, 1]
    assert rest.tolist() == [False, True, False, False]


def test_what_is_left_has_no_safe_class_at_all():
    for seed in range(5):
        patterns, hierarchies = small.table(seed)
        _, rest = repeated(patterns, hierarchies, K3, [1.0] * 3)
        assert patterns.counts[rest].sum() < 3


def test_with_less_room_choices_are_passed_over_and_the_top_never_is(monkeypatch):
    patterns, hierarchies = small.table(9)
    monkeypatch.setattr(module, "_ROWS", 50)
    _, rest = repeated(patterns, hierarchies, K3, [1.0] * 3)
    assert patterns.counts[rest].sum() < 3
