import numpy as np

from sfumato.kernels.masking.survivors import Near, combined, move_survivors, survivors


def test_a_survivor_stands_once_before_and_once_after():
    before = combined(np.array([[1], [2], [2], [3]]))
    after = combined(np.array([[2], [1], [3], [3]]))
    assert survivors(before, after).tolist() == [1], "2 stood twice, 3 stands twice"


def exchanged(codes, group, seed=3):
    """What is left of survivors, and the source, after values were drawn within groups and survivors moved."""
    rng = np.random.default_rng(seed)
    n, p = codes.shape
    source = np.empty((n, p), dtype=np.int64)
    for g in np.unique(group):
        members = np.flatnonzero(group == g)
        source[members] = rng.choice(members, (len(members), p))
    near = Near(rng.normal(size=(n, 2)), group, np.zeros(n, dtype=np.int64), np.arange(n, dtype=np.uint64))

    def told(s, rows, donors):
        return codes[donors][:, [s]]

    new, moved = move_survivors(source, codes, told, [[j] for j in range(p)], [range(p)], near)
    out = [np.column_stack([codes[s[:, j], j] for j in range(p)]) for s in (source, new)]
    return [len(survivors(combined(codes), combined(each))) for each in out], source, new, moved


def test_none_survives_where_combinations_fill_their_cells():
    """600 records in 540 cells: a value that moves makes a new survivor about as often as it takes one away."""
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 60, 600), rng.integers(0, 3, 600), rng.integers(0, 3, 600)])
    (before, after), source, new, moved = exchanged(codes, rng.permutation(600) // 5)
    assert before > 30
    assert after == 0
    assert 0 < moved.sum() < 2 * before
    for j in range(3):
        assert (np.sort(source[:, j]) == np.sort(new[:, j])).all(), "values change places, none is lost"


def test_the_rarest_value_goes_outside_the_group():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (200, 3))
    codes[0] = [7, 7, 7]
    group = np.arange(200) // 5
    source = np.tile(np.arange(200)[:, None], (1, 3))
    near = Near(rng.normal(size=(200, 2)), group, np.zeros(200, dtype=np.int64), np.arange(200, dtype=np.uint64))

    def told(s, rows, donors):
        return codes[donors][:, [s]]

    new, moved = move_survivors(source, codes, told, [[0], [1], [2]], [range(3)], near)
    assert np.flatnonzero(moved).tolist() == [0]
    assert set(group[(new != source).any(axis=1)]) - {0}
