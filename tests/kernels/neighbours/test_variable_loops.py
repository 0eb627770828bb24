import numpy as np
import pytest

from sfumato.kernels.neighbours.mdav import group_means
from sfumato.kernels.neighbours.variable_loops import begin, dissolve, exchange, nearest_path, recut


def squares(z, group):
    return ((z - group_means(z, group)) ** 2).sum()


def state(z, k, group):
    """A partition, and for each point all points from the nearest on."""
    z = np.asarray(z, dtype=float)
    near = np.argsort(((z[:, None] - z[None]) ** 2).sum(axis=2), axis=1, kind="stable").astype(np.int32)
    return begin(z, k, np.asarray(group)), near, np.arange(len(z))


def found(parts):
    """The groups, whatever their labels."""
    return {frozenset(np.flatnonzero(parts.group == g).tolist()) for g in set(parts.group.tolist())}


def sane(parts):
    """Members, places and sums of squares agree with the labels."""
    for g in range(len(parts.size)):
        rows = parts.members[g, : parts.size[g]]
        assert sorted(rows) == np.flatnonzero(parts.group == g).tolist()
        assert (parts.place[rows] == np.arange(len(rows))).all()
        if len(rows):
            around = ((parts.z[rows] - parts.z[rows].mean(axis=0)) ** 2).sum()
            assert parts.loss[g] == pytest.approx(around, abs=1e-12)


def test_the_path_is_greedy():
    z = np.random.default_rng(1).normal(size=(40, 2))
    path = nearest_path(np.ascontiguousarray(z.T))
    left = list(range(40))
    here = z.mean(axis=0)
    expected = [max(left, key=lambda i: ((z[i] - here) ** 2).sum())]
    left.remove(expected[0])
    while left:
        expected.append(min(left, key=lambda i: ((z[i] - z[expected[-1]]) ** 2).sum()))
        left.remove(expected[-1])
    assert path.tolist() == expected


def test_a_point_moves_where_its_group_can_spare_it():
    parts, near, which = state([[0, 0], [0, 1], [9, 9], [9, 8], [8, 9]], 2, [0, 0, 0, 1, 1])
    assert exchange(parts, near, which) == 1
    assert parts.group.tolist() == [0, 0, 1, 1, 1]
    sane(parts)


def test_two_change_places_where_neither_group_can_spare_one():
    parts, near, which = state([[0, 0], [9, 9], [0, 1], [9, 8]], 2, [0, 0, 1, 1])
    assert exchange(parts, near, which) == 1
    assert found(parts) == {frozenset({0, 2}), frozenset({1, 3})}
    sane(parts)


def test_a_group_dissolves_into_its_neighbours():
    """Two points far from each other, each near other groups, which then are large enough for two."""
    z = [[0, 0], [0, 1], [1, 0], [2, 0], [7, 0], [9, 0], [9, 1], [8, 0]]
    parts, near, which = state(z, 2, [0, 0, 0, 2, 2, 1, 1, 1])
    assert dissolve(parts, near, which) == 1
    assert found(parts) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 7}), frozenset({5, 6})}
    sane(parts)


def test_a_group_that_would_lose_stays():
    rng = np.random.default_rng(5)
    z = np.repeat(np.arange(6.0) * 10, 3)[:, None] + rng.normal(size=(18, 2)) * 0.1
    parts, near, which = state(z, 3, np.repeat(np.arange(6), 3))
    before = [parts.members.copy(), parts.group.copy(), parts.place.copy()]
    assert dissolve(parts, near, which) == 0
    assert recut(parts, near, which) == 0
    assert parts.group.tolist() == before[1].tolist()
    sane(parts)


def test_two_groups_are_divided_anew():
    z = [[0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]]
    parts, near, which = state(z, 3, [0, 1, 0, 1, 0, 1])
    assert recut(parts, near, which) == 1
    assert found(parts) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    sane(parts)


@pytest.mark.parametrize("seed", range(5))
def test_every_step_lowers_the_loss_and_keeps_the_books(seed):
    rng = np.random.default_rng(seed)
    k, z = 3, rng.normal(size=(60, 2))
    parts, near, which = state(z, k, rng.permutation(np.repeat(np.arange(15), 4)))
    now = squares(z, parts.group)
    for step in (exchange, dissolve, recut) * 2:
        taken = step(parts, near, which)
        after = parts.loss.sum()
        assert after < now or taken == 0
        sane(parts)
        size = parts.size[parts.size > 0]
        assert size.min() >= k
        assert size.max() < 2 * k
        now = after
