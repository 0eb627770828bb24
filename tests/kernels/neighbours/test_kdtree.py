import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sfumato.kernels.neighbours.kdtree import build_tree, crowded, own_share
from sfumato.kernels.rows import distinct


def clouds():
    rng = np.random.default_rng(3)
    yield "normal", rng.standard_normal((700, 3))
    yield "lattice", rng.integers(0, 6, (700, 3)).astype(float)
    yield "line", rng.standard_normal((300, 1))
    yield "two values in a wide column", np.column_stack([rng.integers(0, 2, 900) * 1e6, rng.standard_normal((900, 2))])
    yield "one value but for a few", np.column_stack([rng.random(900) < 0.01, rng.standard_normal((900, 2))])
    yield "far off", rng.standard_normal((200, 2)) + 1e9
    yield "alone", np.array([[1.0, 2.0]])


CLOUDS = dict(clouds())


def tree_of(z):
    found = distinct(z)
    return build_tree(found.points, found.multiplicity), found


@pytest.mark.parametrize("name", CLOUDS)
def test_leaves_hold_all_points_once_in_their_boxes(name):
    tree, found = tree_of(CLOUDS[name])
    assert np.array_equal(tree.points, found.points[tree.order])
    assert np.array_equal(np.sort(tree.order), np.arange(len(found.points)))
    assert np.array_equal(tree.order[tree.rank()], np.arange(len(found.points)))
    leaves = tree.left < 0
    assert (tree.end - tree.start)[leaves].sum() == len(tree.points)
    assert (tree.end - tree.start)[leaves].max() <= 16
    for a, b, (low, high) in zip(tree.start, tree.end, tree.box, strict=True):
        assert np.array_equal(tree.points[a:b].min(axis=0), low)
        assert np.array_equal(tree.points[a:b].max(axis=0), high)


@pytest.mark.parametrize("name", CLOUDS)
def test_own_share_equals_the_distance_matrix(name):
    z = CLOUDS[name]
    x = z + np.random.default_rng(4).choice([0.0, 0.5, 1.0], z.shape)
    own = np.sqrt(np.square(x - z).sum(axis=1))
    d = cdist(x, z)
    tied = (d <= own[:, None] * (1 + 1e-9)).sum(axis=1)
    closer = (d < own[:, None] * (1 - 1e-9)).any(axis=1)
    tree, _ = tree_of(z)
    assert own_share(tree, x, own, 1e-9) == pytest.approx(np.where(closer, 0.0, 1 / tied), rel=1e-12)


@pytest.mark.parametrize("need", [1, 2, 5])
@pytest.mark.parametrize("radius", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", CLOUDS)
def test_crowded_equals_the_distance_matrix(name, radius, need):
    z = CLOUDS[name]
    tree, _ = tree_of(z)
    assert np.array_equal(crowded(tree, z, radius, need), (cdist(z, z) <= radius).sum(axis=1) >= need)


def test_a_column_with_two_values_does_not_make_parts_overlap():
    """A cut through equal values would scatter one value's records over leaves that lie over each other."""
    z = CLOUDS["two values in a wide column"]
    tree, _ = tree_of(z)
    first = tree.left[0]
    assert sorted(tree.box[first : first + 2, :, 0].tolist()) == [[0.0, 0.0], [1e6, 1e6]]
