import numpy as np
import pytest

from sfumato.kernels import rows
from sfumato.kernels.rows import complete_rows, distinct, row_hash, scatter


def reference(z):
    points, inverse, count = np.unique(z + 0.0, axis=0, return_inverse=True, return_counts=True)
    return points, inverse.ravel(), count


@pytest.mark.parametrize("shape", [(0, 2), (1, 3), (500, 1), (500, 3)])
@pytest.mark.parametrize("values", [2, 10**9])
def test_distinct_equals_a_sort(shape, values):
    z = np.random.default_rng(1).integers(0, values, shape) / 7
    points, inverse, count = reference(z)
    found = distinct(z)
    assert np.array_equal(found.points[found.inverse], z)
    assert np.array_equal(z[found.first], found.points)
    assert np.array_equal(found.multiplicity[found.inverse], count[inverse])
    assert len(found.points) == len(points)


def test_negative_zero_is_zero():
    z = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert distinct(z).multiplicity.tolist() == [2]
    assert row_hash(z)[0] == row_hash(z)[1]


def test_a_collision_of_hashes_changes_nothing(monkeypatch):
    z = np.random.default_rng(2).integers(0, 4, (200, 2)).astype(float)
    monkeypatch.setattr(rows, "row_hash", lambda z: np.zeros(len(z), dtype=np.uint64))
    found = distinct(z)
    assert np.array_equal(found.points[found.inverse], z)
    assert sorted(found.multiplicity) == sorted(reference(z)[2])


def test_scatter_is_splitmix64():
    """First outputs of SplitMix64 from the seed 0, as published with the generator."""
    step = np.uint64(0x9E3779B97F4A7C15)
    state = np.arange(1, 4, dtype=np.uint64) * step
    assert [hex(int(x)) for x in scatter(state)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4", "0x6c45d188009454f"]


def test_a_hash_tells_columns_apart():
    assert row_hash(np.array([[1.0, 2.0]]))[0] != row_hash(np.array([[2.0, 1.0]]))[0]


def test_complete_rows():
    a, b = np.array([[1.0, np.nan], [1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [np.nan], [2.0]])
    assert complete_rows(a, b).tolist() == [False, False, True]
