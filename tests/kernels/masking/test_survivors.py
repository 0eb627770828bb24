import numpy as np

from sfumato.kernels.masking.survivors import combined, move_survivors, survivors


def test_a_survivor_stands_once_before_and_once_after():
    before = combined(np.array([[1], [2], [2], [3]]))
    after = combined(np.array([[2], [1], [3], [3]]))
    assert survivors(before, after).tolist() == [1], "2 stood twice, 3 stands twice"


def test_the_rarest_value_changes_places_outside_the_group():
    rng = np.random.default_rng(3)
    n = 200
    codes = np.column_stack([rng.integers(0, 2, n), rng.integers(0, 2, n), rng.integers(0, 2, n)])
    codes[0] = [7, 7, 7]
    source = np.tile(np.arange(n)[:, None], (1, 3))
    group, block = np.arange(n) // 5, np.zeros(n, dtype=np.int64)
    told = lambda s: np.column_stack([codes[s[:, j], j] for j in range(3)])  # noqa: E731
    z = rng.normal(size=(n, 2))
    new, moved = move_survivors(
        source, codes, told, np.arange(3), [range(3)], z, group, block, np.arange(n, dtype=np.uint64)
    )
    assert moved[0]
    assert moved.sum() == 1
    assert len(survivors(combined(codes), combined(told(new)))) == 0
    for j in range(3):
        assert sorted(told(new)[:, j]) == sorted(codes[:, j]), "values change places, none is lost"
    changed = np.flatnonzero((new != source).any(axis=1))
    assert set(group[changed]) - {0}, "another group takes it"
