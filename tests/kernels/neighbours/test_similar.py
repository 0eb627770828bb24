import numpy as np
import pytest

from sfumato.kernels.neighbours.similar import leading, on_lattice, similar_groups


@pytest.mark.parametrize("n", [15, 800, 1700, 5000])
def test_groups_have_at_least_k_and_fewer_than_two_k(n):
    z = np.random.default_rng(n).normal(size=(n, 3))
    group, block = similar_groups(z, 5)
    sizes = np.bincount(group)
    assert sizes.min() >= 5
    assert sizes.max() < 10
    assert all(len(set(block[group == g])) == 1 for g in range(0, len(sizes), 50)), "a group lies in one block"
    assert np.bincount(block).max() <= 800


def test_points_that_are_all_equal_are_grouped_in_pieces():
    group, block = similar_groups(np.zeros((5000, 2)), 5)
    assert np.bincount(group).min() >= 5
    assert np.bincount(block).max() < 1700


def test_near_points_share_a_group():
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(40, 4)) * 50
    z = np.repeat(centres, 6, axis=0) + rng.normal(size=(240, 4)) * 0.01
    group, _ = similar_groups(z[np.argsort(rng.random(240))], 6)
    assert len(set(group)) == 40


def test_principal_components_keep_distances_that_matter():
    rng = np.random.default_rng(2)
    hidden = rng.normal(size=(500, 3))
    z = hidden @ rng.normal(size=(3, 40))
    few = leading(z)
    assert few.shape == (500, 12)
    apart = lambda x: np.linalg.norm(x[:50, None] - x[None, :50], axis=2)  # noqa: E731
    assert np.allclose(apart(few), apart(z), rtol=1e-6, atol=1e-6)


def test_distances_on_the_lattice_are_exact():
    z = on_lattice(np.random.default_rng(4).normal(size=(100, 12)))
    forward, backward = ((z[0] - z) ** 2).sum(axis=1), ((z[0] - z)[:, ::-1] ** 2).sum(axis=1)
    assert (forward == backward).all()


@pytest.mark.parametrize("n", [5, 39, 40])
def test_components_of_few_points_are_those_of_the_singular_values(n):
    """Of n points in 40 dimensions, n − 1 directions differ at most; the others are nothing."""
    z = np.random.default_rng(6).normal(size=(n, 40)) * np.arange(1, 41)
    few = leading(z)
    assert few.shape == (n, 12)
    left, lengths, _ = np.linalg.svd(z - z.mean(axis=0), full_matrices=False)
    wanted = (left * lengths)[:, : min(12, n - 1)]
    assert np.allclose(np.abs(few[:, : wanted.shape[1]]), np.abs(wanted), atol=1e-6)
    assert np.allclose(few[:, n - 1 :], 0.0, atol=1e-6)


def test_equal_points_in_many_dimensions_stay_equal():
    assert not leading(np.ones((5, 40))).any()
