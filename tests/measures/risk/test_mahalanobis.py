"""Robust Mahalanobis risk against its definition, written out with a distance matrix."""

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import cdist

from sfumato.data.codebook import Codebook
from sfumato.data.pair import Pair
from sfumato.kernels.mcd import fast_mcd
from sfumato.measures.risk.mahalanobis import boxes, findings, robust_grid, robust_risk

RNG = np.random.default_rng(11)
X = RNG.standard_normal((400, 3)) @ np.array([[1.0, 0.5, 0], [0, 1, 0.2], [0, 0, 2]]) + [5, 0, 100]
X[:40] *= 4
Z = X + 0.05 * RNG.standard_normal(X.shape) * X.std(axis=0)


def scaled(table):
    return (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)


def by_definition(x, z, w1, w2, m, scale, inside):
    x, z = scaled(x), scaled(z)
    inverse = np.linalg.inv(fast_mcd(x).covariance)
    rmd = np.sqrt(np.array([row @ inverse @ row for row in x]))
    within = np.abs(z - x) <= (w1 * scale * rmd)[:, None]
    risky1 = within.any(axis=1) if inside == "any" else within.all(axis=1)
    others = cdist(z, z)
    np.fill_diagonal(others, np.inf)
    return risky1, risky1 & (np.sort(others, axis=1)[:, m - 1] > w2)


@pytest.mark.parametrize("inside", ["any", "all"])
@pytest.mark.parametrize(("w1", "w2", "m", "scale"), [(0.01, 0.05, 1, 0.05), (0.1, 0.3, 1, 0.05), (0.02, 0.5, 3, 0.2)])
def test_equals_the_definition(w1, w2, m, scale, inside):
    risky1, risky2 = by_definition(X, Z, w1, w2, m, scale, inside)
    found = robust_risk(X, Z, w1=w1, w2=w2, m=m, scale=scale, inside=inside)
    assert np.array_equal(found.risky1, risky1)
    assert np.array_equal(found.risky2, risky2)
    assert (found.risk1, found.risk2) == (risky1.mean(), risky2.mean())
    assert found.note is None


def test_cases_above_are_not_trivial():
    found = robust_risk(X, Z, w1=0.1, w2=0.3)
    assert 0 < found.risk2 < found.risk1 < 1


def test_each_table_is_scaled_by_its_own_moments():
    """A release that is moved and stretched as a whole is as risky as before: an intruder can undo that."""
    a, b = robust_risk(X, Z, w1=0.1), robust_risk(X, 3 * Z + 7, w1=0.1)
    assert np.array_equal(a.risky1, b.risky1)


@pytest.mark.parametrize("m", [1, 2])
def test_twins_hide_each_other(m):
    """Records that share a release have each other for company, at distance 0."""
    z = Z.copy()
    z[1] = z[2] = z[0]
    risky1, risky2 = by_definition(X, z, 0.5, 0.01, m, 0.05, "any")
    found = robust_risk(X, z, w1=0.5, w2=0.01, m=m)
    assert np.array_equal(found.risky2, risky2)
    assert not found.risky2[:3].any()
    assert risky1.sum() > risky2.sum() > 0


@pytest.mark.slow
def test_grid_equals_single_calls():
    w1s, w2s = [0.3, 0.01, 0.1], [0.4, 0.0, 0.2]
    grid = robust_grid(X, Z, w1s, w2s, w1=0.2, w2=0.3)
    assert grid.risk1.tolist() == [robust_risk(X, Z, w1=w).risk1 for w in w1s]
    assert grid.risk2.tolist() == [robust_risk(X, Z, w1=0.2, w2=w).risk2 for w in w2s]
    assert grid.risk2_by_w1.tolist() == [robust_risk(X, Z, w1=w, w2=0.3).risk2 for w in w1s]
    assert len(set(grid.risk1)) == len(set(grid.risk2)) == 3


def test_row_order_changes_nothing():
    order = RNG.permutation(len(X))
    a, b = robust_risk(X, Z, w1=0.1, w2=0.3), robust_risk(X[order], Z[order], w1=0.1, w2=0.3)
    assert np.array_equal(b.risky1, a.risky1[order])
    assert np.array_equal(b.risky2, a.risky2[order])


def test_the_unprotected_table_is_its_own_baseline():
    ready = boxes(X, Z)
    same = robust_risk(X, X, w2=0.3)
    assert ready.unprotected(w2=0.3) == (same.risk1, same.risk2)
    assert same.risk1 == 1.0


def test_records_with_a_missing_value_are_left_out():
    x, z = X.copy(), Z.copy()
    x[0, 0], z[5, 2] = np.nan, np.nan
    whole = ~np.isin(np.arange(len(X)), [0, 5])
    found, rest = robust_risk(x, z, w1=0.1), robust_risk(X[whole], Z[whole], w1=0.1)
    assert (found.risk1, found.risk2) == (rest.risk1, rest.risk2)
    assert np.array_equal(found.risky1[whole], rest.risky1)
    assert not found.risky1[~whole].any()


def test_one_column():
    risky1, risky2 = by_definition(X[:, :1], Z[:, :1], 0.1, 0.001, 1, 0.05, "any")
    found = robust_risk(X[:, :1], Z[:, :1], w1=0.1, w2=0.001)
    assert np.array_equal(found.risky1, risky1)
    assert np.array_equal(found.risky2, risky2)


def test_aliased_columns_leave_the_distance_but_stay_in_the_boxes():
    """Where all variables must lie inside, a copy of a column changes nothing."""
    twice = [0, 1, 2, 2]
    found = robust_risk(X[:, twice], Z[:, twice], w1=0.3, inside="all")
    assert np.array_equal(found.risky1, robust_risk(X, Z, w1=0.3, inside="all").risky1)
    assert "follow from the others" in found.note


NOTHING = {
    "no rows": (X[:0], Z[:0]),
    "no columns": (X[:, :0], Z[:, :0]),
    "one row": (X[:1], Z[:1]),
    "all missing": (np.full((4, 2), np.nan), np.ones((4, 2))),
    "constant before": (np.ones((5, 1)), Z[:5, :1]),
    "constant after": (X[:5, :1], np.ones((5, 1))),
}


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_to_measure(name):
    x, z = NOTHING[name]
    found = robust_risk(x, z)
    assert (found.risk1, found.risk2) == (None, None)
    assert found.note
    assert found.risky1.shape == (len(x),)
    grid = robust_grid(x, z, [0.1], [0.1, 0.2])
    assert np.isnan(grid.risk1).tolist() == [True]
    assert np.isnan(grid.risk2).tolist() == [True, True]
    assert boxes(x, z).unprotected() == (None, None)


def frame(table):
    return pl.DataFrame(table, schema=[f"v{j}" for j in range(table.shape[1])], orient="row")


def pair(x, z, **how):
    return Pair(frame(x), frame(z), Codebook(), tuple(frame(x).columns), **how)


def test_findings():
    found = findings(pair(X, Z, aligned=True), w1=0.1, w2=0.3)
    single, same = robust_risk(X, Z, w1=0.1, w2=0.3), robust_risk(X, X, w1=0.1, w2=0.3)
    assert [(f.measure, f.at, f.value, f.baseline) for f in found] == [
        ("risk1", 0.1, single.risk1, 1.0),
        ("risk2", 0.3, single.risk2, same.risk2),
    ]
    assert found.notes == ()


def test_findings_name_what_was_left_out():
    x, z = np.column_stack([X, np.ones(len(X))]), np.column_stack([Z, np.ones(len(X))])
    z[0, 0] = np.nan
    found = findings(pair(x, z, aligned=True))
    assert any("'v3'" in note for note in found.notes)
    assert any("missing value" in note for note in found.notes)


def test_findings_where_there_is_nothing_to_measure():
    found = findings(pair(X[:0], Z[:0], aligned=True))
    assert [f.value for f in found] == [None, None]
    assert found.notes
    assert not len(findings(pair(X, Z)))
    assert "not joined" in findings(pair(X, Z)).notes[0]
