import itertools

import numpy as np

from sfumato.kernels.inversion.neighbourhoods import NO, UNKNOWN, YES, nearest, windows


def by_definition(x, start, k):
    """Sets of the k nearest within each stratum, by sorting all distances."""
    sets = []
    for low, high in itertools.pairwise(start):
        for i in range(low, high):
            apart = ((x[low:high] - x[i]) ** 2).sum(axis=1)
            sets.append(set((low + np.argsort(apart, kind="stable")[:k]).tolist()))
    return sets


def test_nearest_in_several_columns():
    x = np.random.default_rng(0).normal(size=(60, 3))
    start, out = np.array([0, 25, 60]), np.empty((60, 4), dtype=np.int64)
    nearest(x, start, 4, out)
    assert [set(row.tolist()) for row in out] == by_definition(x, start, 4)
    assert (out[:, 0] == np.arange(60)).all()


def test_windows_are_the_nearest_where_nothing_else_is_known():
    x = np.random.default_rng(1).normal(size=40)
    x[:15].sort()
    x[15:].sort()
    start, out = np.array([0, 15, 40]), np.empty((40, 3), dtype=np.int64)
    off = windows(x, start, np.full(40, UNKNOWN), np.ones(40), 3, out)
    assert off == 0
    assert [set(row.tolist()) for row in out] == by_definition(x[:, None], start, 3)


def test_equal_releases_share_their_window_and_others_do_not():
    x = np.array([0.0, 1.0, 2.1, 3.3, 4.6])
    start, out = np.array([0, 5]), np.empty((5, 3), dtype=np.int64)
    windows(x, start, np.array([UNKNOWN, YES, YES, NO, YES]), np.ones(5), 3, out)
    members = [set(row.tolist()) for row in out]
    assert members[0] == members[1] == members[2] == {0, 1, 2}
    assert members[3] == members[4] == {2, 3, 4}
