"""What the nearest records say, against whole matrices and by hand."""

import numpy as np
import pytest

from sfumato.kernels.neighbours.classmates import Known
from sfumato.kernels.neighbours.votes import nearest_of, right_votes


def known(seed, n=60, classes=3):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, (n, 2)) / 2.0
    z = x + rng.integers(-2, 3, (n, 2)) / 2.0
    x[rng.random((n, 2)) < 0.1] = np.nan
    z[rng.random((n, 2)) < 0.1] = np.nan
    a, b = rng.integers(-1, 3, (n, 2)), rng.integers(-1, 3, (n, 2))
    return Known(x, z, a, b, rng.integers(0, classes, n))


def matrix(field):
    """Distances of all people to all records, infinite beyond their class."""
    x, z = field.x[:, None], field.z[None]
    gaps = np.isnan(x).astype(int) + np.isnan(z)
    numbers = np.where(gaps == 1, 0.5, np.where(gaps == 2, 0.0, np.minimum(np.abs(x - z), 3) / 3))
    a, b = field.a[:, None], field.b[None]
    categories = np.where(a == b, 0.0, np.where((a < 0) | (b < 0), 0.5, 1.0))
    d = numbers.sum(axis=2) + categories.sum(axis=2)
    return np.where(field.label[:, None] == field.label[None], d, np.inf)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 7, 40])
def test_the_nearest_are_those_of_the_whole_matrix(seed, k):
    field = known(seed)
    d = matrix(field)
    people = np.arange(0, 60, 2)
    near = nearest_of(field, people, k)
    assert near.distance == pytest.approx(np.sort(d[people], axis=1)[:, :k])
    there = near.rows >= 0
    assert (there == np.isfinite(near.distance)).all()
    at = d[people[:, None], np.where(there, near.rows, 0)]
    assert at[there] == pytest.approx(near.distance[there])
    assert all(len(set(row[row >= 0].tolist())) == (row >= 0).sum() for row in near.rows)  # none stands twice


def test_where_a_class_has_fewer_the_rest_is_no_record():
    x = np.array([[0.0], [1.0], [0.0]])
    none = np.zeros((3, 0), dtype=np.int64)
    near = nearest_of(Known(x, x, none, none, np.array([0, 0, 1])), np.array([0, 2]), 3)
    assert near.rows.tolist() == [[0, 1, -1], [2, -1, -1]]
    assert np.isinf(near.distance[1, 1:]).all()


def test_of_records_as_near_the_first_rows_are_taken():
    x = np.zeros((5, 1))
    none = np.zeros((5, 0), dtype=np.int64)
    near = nearest_of(Known(x, x, none, none, np.zeros(5, dtype=np.int64)), np.array([4]), 2)
    assert near.rows.tolist() == [[0, 1]]


def test_a_near_record_outweighs_two_at_half_a_distance_and_not_three():
    """Weights 1 and e⁻¹ each: 0.74 of two, 1.10 of three."""
    near = np.array([[0.0, 0.5, 0.5, 0.5]])
    told = np.array([[0, 1, 1, 1]])
    two = np.array([[True, True, True, False]])
    assert right_votes(near, told, np.array([0]), 0, two).tolist() == [1.0]
    assert right_votes(near, told, np.array([0]), 0).tolist() == [0.0]
    assert right_votes(near, told, np.array([1]), 0).tolist() == [1.0]


def test_distances_count_from_the_nearest_on():
    told, truth = np.array([[0, 1, 1, 1]]), np.array([0])
    near = np.array([[0.0, 0.4, 0.4, 0.4]])
    assert right_votes(near, told, truth, 0).tolist() == right_votes(near + 7, told, truth, 0).tolist()


def test_a_tie_is_a_guess_between_those_that_tie():
    votes = right_votes(np.zeros((3, 2)), np.array([[0, 1]] * 3), np.array([0, 1, 2]), 2)
    assert votes.tolist() == [0.5, 0.5, 0.0]


def test_where_no_record_counts_the_usual_value_is_guessed():
    nobody = np.zeros((2, 2), dtype=bool)
    votes = right_votes(np.zeros((2, 2)), np.array([[0, 0]] * 2), np.array([0, 1]), 1, nobody)
    assert votes.tolist() == [0.0, 1.0]
    none = right_votes(np.full((1, 2), np.inf), np.array([[0, 0]]), np.array([1]), 1)
    assert none.tolist() == [1.0]
