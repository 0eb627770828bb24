import numpy as np
import pytest

from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns, class_of_rows
from sfumato.kernels.lattice.recoded import Cells, cell_loss, released, tightened

AGES = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))


def test_groups_with_the_same_leaves_are_one_value():
    """A branch that is shorter repeats its group on the next level."""
    h = Levels((np.arange(3), np.array([0, 1, 1]), np.zeros(3, dtype=np.int64)))
    cells = Cells.of(h)
    codes = np.array([[0], [0], [1], [1]])
    values = released(codes, np.array([[0], [1], [1], [0]]), [cells])[0]
    assert values[0] == values[1]
    assert len(set(values.tolist())) == 3


def test_a_class_is_lowered_to_what_it_shares():
    codes = np.array([[0], [1], [3], [3]])
    levels = np.full((4, 1), 2)
    lowered = tightened(codes, levels, np.array([0, 0, 1, 1]), [Cells.of(AGES)])
    assert lowered[:, 0].tolist() == [1, 1, 0, 0]


def test_loss_is_summed_over_each_records_own_cells():
    """Two records at their leaf, three at level 1, one suppressed: x = 2/4 + 3/2 + 1, n/D = 6/4."""
    data = Patterns(np.array([[0], [2], [3]]), np.array([2, 3, 1]))
    loss = cell_loss(data, np.array([[0], [1], [0]]), np.array([False, False, True]), [Cells.of(AGES)])
    assert loss == pytest.approx((0.5 + 1.5 + 1 - 1.5) / (6 - 1.5), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_lowering_keeps_classes_together(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (30, 2))
    cells = [Cells.of(AGES)] * 2
    levels = np.full((30, 2), 2)
    levels[:, 0] = 1
    which, _ = class_of_rows(released(codes, levels, cells))
    after, _ = class_of_rows(released(codes, tightened(codes, levels, which, cells), cells))
    assert all(len(set(after[which == c])) == 1 for c in range(which.max() + 1))
