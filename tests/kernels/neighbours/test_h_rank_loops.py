import numpy as np
import pytest

from sfumato.kernels.neighbours.h_rank_loops import (
    Pairs,
    Tied,
    choose,
    find_nearest,
    intervals,
    mixtures,
    nodes_of,
    own_is_tied,
    room_for,
    to_others,
)
from sfumato.kernels.neighbours.kdtree import build_tree
from sfumato.kernels.rows import distinct

TIE = 1e-9


def clouds():
    rng = np.random.default_rng(3)
    yield "normal", rng.standard_normal((700, 3))
    yield "wide", rng.standard_normal((400, 12))
    yield "lattice", rng.integers(0, 6, (700, 3)).astype(float)
    yield "line", rng.integers(0, 400, (900, 1)) / 7
    yield "far off", rng.standard_normal((200, 2)) + 1e9
    yield "alone", np.array([[1.0, 2.0]])


CLOUDS = dict(clouds())


def squares(a, b):
    return np.square(a[:, None, :] - b[None, :, :]).sum(axis=2)


@pytest.fixture(params=[(name, leaf) for name in CLOUDS for leaf in (1, 16, 64)], ids=str)
def tree(request):
    name, leaf = request.param
    found = distinct(CLOUDS[name])
    return build_tree(found.points, found.multiplicity, leaf)


def targets_for(tree):
    """Rows near the points, some of them halfway between lattice points, so that there are ties."""
    rng = np.random.default_rng(4)
    return tree.points[rng.integers(0, len(tree.points), 150)] + rng.choice(
        [0.0, 0.5, 1.0], (150, tree.points.shape[1])
    )


def test_nearest_points_and_ties_equal_the_distance_matrix(tree):
    search = targets_for(tree)
    d = squares(search, tree.points)
    own = np.random.default_rng(5).integers(0, len(tree.points), len(search))
    distance, count, places = find_nearest(nodes_of(tree), search, own, TIE, room_for(tree))
    assert distance == pytest.approx(d.min(axis=1), rel=1e-12)
    tied = d <= d.min(axis=1, keepdims=True) * (1 + TIE)
    ends = np.cumsum(count)
    for k in range(len(search)):
        assert np.array_equal(np.sort(places[ends[k] - count[k] : ends[k]]), np.flatnonzero(tied[k]))
    of = np.arange(len(search))
    assert np.array_equal(own_is_tied(nodes_of(tree), search, of, own, distance, TIE), tied[of, own])


@pytest.mark.parametrize("enough", [0, 3, 50, 2**62])
def test_intervals_equal_the_distance_matrix(tree, enough):
    rng = np.random.default_rng(6)
    v, y = rng.integers(0, len(tree.points), (2, 300))
    v, y = v[v != y], y[v != y]
    d = squares(tree.points[v], tree.points)
    radius = d[np.arange(len(v)), y][:, None]
    closer = (tree.mass * (d < radius * (1 - TIE))).sum(axis=1)
    as_far = (tree.mass * (np.abs(d - radius) <= radius * TIE)).sum(axis=1)
    beyond = closer > enough
    found = intervals(nodes_of(tree), v, y, enough, TIE, room_for(tree))
    assert np.array_equal(found[:, 0], np.where(beyond, enough + 1, closer))
    assert np.array_equal(found[:, 1], np.where(beyond, 1, as_far))


def test_a_twin_shares_the_places_of_the_other_twins():
    tree = build_tree(np.array([[0.0], [1.0]]), np.array([4, 1]))
    at = int(np.flatnonzero(tree.points[:, 0] == 0.0)[0])
    found = intervals(nodes_of(tree), np.array([at]), np.array([at]), 100, TIE, room_for(tree))
    assert found.tolist() == [[1, 3]]


def test_others_equal_the_distance_matrix(tree):
    d = squares(tree.points, tree.points)
    np.fill_diagonal(d, np.inf)
    assert to_others(nodes_of(tree), room_for(tree)) == pytest.approx(np.sqrt(d.min(axis=1)), rel=1e-12)


@pytest.mark.parametrize("enough", [2, 30, 2**62])
def test_neighbours_and_pairs_give_the_same_mixtures(tree, enough):
    """All records released as one point go the way of many pairs; each as its own point, the way of few.

    The chance of an h must be the sum, over all records, of what each released alone would give.
    """
    m = len(tree.points)
    nodes, room = nodes_of(tree), room_for(tree)
    records = nodes.records
    together = Pairs(np.array([0, m]), np.arange(m), records)
    v = np.arange(0, m, max(1, m // 5))
    flags = np.tile([[False, True]], (len(v), 1))
    everyone = Tied(np.arange(len(v) + 1), np.zeros(len(v), dtype=np.int64))
    one_point = np.array([records.sum()])
    component, count, total = mixtures(nodes, one_point, together, everyone, v, flags, enough, TIE, room)
    assert np.array_equal(total, np.full(len(v), records.sum()))
    ends = np.cumsum(count)
    for k in range(len(v)):
        expected = {0: 1.0}
        low, length = intervals(nodes, np.full(m, v[k]), np.arange(m), enough, TIE, room).T
        for y in range(m):
            share = records[y] - (y == v[k])
            for h in range(low[y], low[y] + length[y]) if share else ():
                expected[min(h, enough + 1)] = expected.get(min(h, enough + 1), 0.0) + share / length[y]
        found = {}
        for first, number, weight in component[ends[k] - count[k] : ends[k]]:
            for h in range(first, first + number):
                found[min(h, enough + 1)] = found.get(min(h, enough + 1), 0.0) + weight / number
        assert found == pytest.approx(expected, rel=1e-9)


def test_a_number_picks_a_record_in_proportion_to_the_records_at_each_point():
    below = np.array([0, 2, 3, 6])  # 2, 1 and 3 records
    tied = Tied(np.array([0, 2, 3]), np.array([0, 2, 1]))
    of = np.array([0, 0, 0, 0, 0, 0, 1])
    picked = choose(tied, of, below, np.array([0.0, 0.39, 0.4, 0.6, 0.8, 0.999, 0.999]))
    assert picked.tolist() == [0, 1, 3, 4, 5, 5, 2]
