"""Records written out over grids of possible true values."""

import numpy as np
import pytest
from scipy import stats

from sfumato.errors import DataError
from sfumato.inference.columns import Columns
from sfumato.inference.covariates import grids as module
from sfumato.inference.covariates.grids import Grid, expand, interval_grids, needs_grid, normal_grids
from sfumato.kernels.likelihood.quadrature import normal_nodes


def columns(*products):
    return Columns(tuple(map(":".join, products)), tuple(tuple((n, None) for n in names) for names in products))


@pytest.mark.parametrize(
    ("products", "wanted"),
    [
        ([("x",), ("v",), ("x", "sex")], []),
        ([("x", "x")], ["x"]),
        ([("x", "v")], ["v"]),
        ([("x", "v"), ("x", "u")], ["x"]),
        ([("u", "v", "x")], ["u", "v"]),
        ([("x", "x"), ("x", "v")], ["x"]),
    ],
)
def test_a_covariate_is_known_where_the_predictor_would_not_be_linear(products, wanted):
    """As few as make every product linear in the rest; which of two equals does not matter."""
    hidden = ["u", "v", "x"] if wanted != ["v"] else ["v", "x"]
    found = needs_grid(columns(*products), hidden)
    assert len(found) == len(wanted)
    if len(wanted) == 1 and wanted != ["v"]:
        assert found == wanted
    for product in products:
        left = [n for n in product if n in hidden and n not in found]
        assert len(left) <= 1


def test_rows_are_the_product_of_the_grids():
    values = np.array([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0]])
    a = Grid(np.array([0, 2]), np.array([[0.9, 1.1], [2.9, 3.1]]), np.log([[0.25, 0.75], [0.5, 0.5]]))
    b = Grid(np.array([2]), np.array([[29.0, 30.0, 31.0]]), np.log([[0.2, 0.3, 0.5]]))
    found = expand(values, [[a], [b]], {0: (np.diag([0.0, 4.0]), np.array([True, True, False]))})
    assert np.bincount(found.rows).tolist() == [2, 1, 6]
    third = found.rows == 2
    np.testing.assert_allclose(found.values[third], [[x, y] for x in (2.9, 3.1) for y in (29, 30, 31)])
    np.testing.assert_allclose(np.exp(found.log_weights[third]), [0.1, 0.15, 0.25] * 2)
    np.testing.assert_allclose(np.exp(found.log_weights[found.rows == 0]), [0.25, 0.75])
    kinds = {(rows, count, tuple(seen), tuple(noise.ravel())) for rows, count, seen, noise in found.kinds}
    assert kinds == {(2, 2, (0, 1), (0, 0, 0, 4)), (1, 1, (0,), (0,)), (6, 6, (0, 1), (0, 0, 0, 0))}


@pytest.mark.parametrize("both", [False, True])
def test_correlated_noise_counts_once_at_the_nodes(both):
    """∫ f(z | x) N(x; μ, S) dx is N(z; μ, S + Ω), whatever is integrated over nodes and whatever in closed form."""
    omega, S = np.array([[0.5, 0.3], [0.3, 0.6]]), np.array([[1.0, -0.4], [-0.4, 1.2]])
    z, mu = np.array([[0.7, -1.1]]), np.array([0.2, 0.1])
    own = [[Grid(np.array([0]), *normal_nodes(z[:, j], omega[j, [j]], 0.0, 1.1))] for j in range(2)]
    found = expand(z, [own[0], own[1] if both else []], {0: (omega, np.array([True]))})
    ((_, _, seen, noise),) = found.kinds
    assert seen.tolist() == [0, 1]
    density = [stats.multivariate_normal.pdf(row, mu, S + noise, allow_singular=True) for row in found.values]
    ours = np.exp(found.log_weights) @ np.array(density)
    assert ours == pytest.approx(stats.multivariate_normal.pdf(z[0], mu, S + omega), rel=1e-6)


def test_grids_that_memory_is_not_meant_for_are_refused_before_they_are_made(monkeypatch):
    grid = interval_grids(np.arange(2), np.zeros(2), np.ones(2), 0.5, 1.0)
    monkeypatch.setattr(module, "MAX_CELLS", 36)
    assert len(expand(np.zeros((2, 1)), [grid], {}, width=3).rows) == 12
    with pytest.raises(DataError, match="more nodes than memory"):
        expand(np.zeros((2, 1)), [grid], {}, width=4)
    monkeypatch.setattr(module, "MAX_NODES", 11)
    with pytest.raises(DataError, match="more nodes than memory"):
        expand(np.zeros((2, 1)), [grid], {})


def test_a_stratum_with_huge_noise_does_not_widen_the_nodes_of_the_others():
    rng = np.random.default_rng(4)
    variance = np.where(np.arange(2000) % 3 == 0, 1e4, 0.5)
    z = rng.normal(3.0, 1.5, 2000) + np.sqrt(variance) * rng.normal(size=2000)
    (grid,) = normal_grids(z, variance, [])
    loud = grid.nodes[0]
    assert loud.mean() == pytest.approx(3.0, abs=1.5)
    assert np.diff(loud)[0] == pytest.approx(0.5 * 1.5, rel=0.15)
