import numpy as np

from sfumato.kernels.lattice.table_loops import roll_up, tally


def shorts(*values):
    return np.array(values, dtype=np.int32)


def test_neighbours_join_only_within_prefix_and_suffix():
    prefix, suffix, group = shorts(0, 0, 0, 1), shorts(0, 0, 1, 1), shorts(0, 1, 1, 1)
    count = np.array([1, 2, 4, 8])
    left = roll_up(prefix, suffix, group, count, 4, shorts(0, 0))
    assert (left, count[:left].tolist(), suffix[:left].tolist()) == (3, [3, 4, 8], [0, 1, 1])


def test_classes_stand_in_order_of_prefix_and_group():
    """Few groups in a prefix are sorted one by one, many are looked up: both ways, 3 and 40 of them."""
    for groups in (3, 40):
        order = np.random.default_rng(0).permutation(groups)
        prefix = np.repeat(shorts(0, 1), groups)
        group = np.concatenate([order, order]).astype(np.int32)
        which, parent, of_group = (np.empty(2 * groups, dtype=np.int32) for _ in range(3))
        total, height = (np.empty(2 * groups, dtype=np.int64) for _ in range(2))
        count = np.arange(1, 2 * groups + 1)
        found = tally(prefix, group, count, 2 * groups, groups, which, parent, of_group, total, height)
        assert found == 2 * groups
        assert of_group.tolist() == [*range(groups)] * 2
        assert parent.tolist() == [0] * groups + [1] * groups
        assert which.tolist() == [*order, *(order + groups)]
        assert (total[which] == count).all()
