import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.kernels.neighbours.centroids import TIE, nearest_centroids


def by_definition(z, k, ties, distinct):
    """The rule written out for one point at a time, with a full distance matrix."""
    points, multiplicity = np.unique(z + 0.0, axis=0, return_counts=True)
    mass = np.ones(len(points)) if distinct else multiplicity.astype(float)
    k = min(k, int(mass.sum()))
    out = []
    for row in z:
        distance = np.sqrt(((points - row) ** 2).sum(axis=1))
        order = np.argsort(distance, kind="stable")
        reach = distance[order][np.argmax(np.cumsum(mass[order]) >= k)]
        inside = distance < reach * (1 - TIE)
        ring = ~inside & (distance <= reach * (1 + TIE))
        weight = np.where(inside, mass, 0)
        share = (k - weight.sum()) / mass[ring].sum() if ties == "share" else 1.0
        weight = weight + np.where(ring, mass * share, 0)
        out.append(weight @ points / weight.sum())
    return np.array(out)


lattice = arrays(np.float64, st.tuples(st.integers(6, 40), st.integers(1, 3)), elements=st.integers(-3, 3).map(float))
smooth = arrays(np.float64, st.tuples(st.integers(6, 40), st.integers(1, 3)), elements=st.floats(-5, 5, width=32))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.one_of(lattice, smooth), st.integers(2, 6), st.sampled_from(["share", "all"]), st.booleans())
def test_equals_the_definition(z, k, ties, distinct):
    found = nearest_centroids(z, k, ties=ties, distinct=distinct)
    # both compute in floats; 1e-9 is the law's tolerance, and far below any effect of a wrong neighbour on a lattice
    np.testing.assert_allclose(found, by_definition(z, k, ties, distinct), rtol=1e-9, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(lattice, st.randoms())
def test_row_order_changes_nothing_at_all(z, random):
    order = list(range(len(z)))
    random.shuffle(order)
    assert (nearest_centroids(z, 4)[order] == nearest_centroids(z[order], 4)).all()


def test_the_last_ring_is_shared():
    # neighbours of 0 for k = 2: itself, and −1 and 1 share the second place
    assert nearest_centroids(np.array([[-1.0], [0.0], [1.0]]), 2)[1, 0] == 0
    # neighbours of −1 for k = 2: itself and 0
    assert nearest_centroids(np.array([[-1.0], [0.0], [1.0]]), 2)[0, 0] == -0.5


def test_twins_map_to_themselves_unless_distinct():
    z = np.array([[0.0], [0.0], [0.0], [3.0], [9.0]])
    assert nearest_centroids(z, 3)[0, 0] == 0
    assert nearest_centroids(z, 3, distinct=True)[0, 0] == 4


def test_only_the_wanted_rows():
    z = np.random.default_rng(1).normal(size=(50, 2))
    wanted = np.arange(50) % 7 == 0
    assert nearest_centroids(z, 5, wanted=wanted) == pytest.approx(nearest_centroids(z, 5)[wanted])
