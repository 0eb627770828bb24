"""Exact elimination: figures of the literature, brute force over the fractions, order."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.tabular.determined import motions
from sfumato.kernels.tabular.elimination import (
    Inner,
    eliminate,
    inner_sums,
    publication_order,
    rounded,
)
from tests.kernels.tabular.small_tables import Built, build, insee, synth
from tests.kernels.tabular.test_attacker import tables
from tests.parts import needs

real = needs("data")


def hidden_by(built: Built, primary: np.ndarray) -> np.ndarray:
    inner = inner_sums(built.matrix)
    return eliminate(inner, primary, publication_order(built.value, inner.sums)).secondary


def determined(built: Built, hidden: np.ndarray) -> np.ndarray:
    """Hidden cells that the equations determine, by ranks of dense matrices over the reals."""
    dense = built.matrix.toarray()[:, hidden].astype(float)
    rank = np.linalg.matrix_rank(dense) if dense.size else 0
    cells = np.flatnonzero(hidden)
    out = np.zeros(len(hidden), bool)
    for k, cell in enumerate(cells):
        out[cell] = np.linalg.matrix_rank(np.vstack([dense, np.eye(len(cells))[k]])) == rank
    return out


@real
@pytest.mark.parametrize(
    ("built", "cells", "value"),
    # the R package GaussSuppression with singletonMethod "none"; every row its own contributor, n < 3 or p% = 10
    [
        (lambda: insee(("A10", "A21", "A88"), ("NUTS1", "NUTS2"), merge=False), 42, 1_288_480),
        (lambda: synth("S", merge=False), 181, 193_037),
    ],
)
def test_patterns_are_those_of_gauss_suppression(built: object, cells: int, value: float) -> None:
    table = built()  # type: ignore[operator]
    secondary = hidden_by(table, table.primary(3, 10))
    assert secondary.sum() == cells
    assert table.value[secondary].sum() == pytest.approx(value, abs=0.5)


@given(tables())
@settings(max_examples=20)
def test_no_primary_is_determined_and_every_hidden_cell_was_needed_in_its_turn(case: tuple[Built, np.ndarray]) -> None:
    built, primary = case
    inner = inner_sums(built.matrix)
    order = publication_order(built.value, inner.sums)
    secondary = eliminate(inner, primary, order).secondary
    # what is published determines no primary cell; by ranks, cell after cell
    published: list[int] = []
    sums = inner.sums.toarray().astype(float)

    def gives(cells: list[int]) -> bool:
        rank = np.linalg.matrix_rank(sums[cells]) if cells else 0
        return any(np.linalg.matrix_rank(sums[[*cells, p]]) == rank for p in np.flatnonzero(primary))

    for cell in order[~primary[order]]:
        assert secondary[cell] == gives([*published, cell])
        if not secondary[cell]:
            published.append(int(cell))


@given(tables())
@settings(max_examples=20)
def test_motions_find_what_ranks_find(case: tuple[Built, np.ndarray]) -> None:
    built, hidden = case
    found = motions(built.matrix, hidden)
    expected = determined(built, hidden)
    np.testing.assert_array_equal(found.determined, expected)
    for cell in np.flatnonzero(hidden & ~expected)[:4]:  # who knows it, knows those of its group
        knows = hidden.copy()
        knows[cell] = False
        with_it = determined(built, knows) & ~expected
        np.testing.assert_array_equal(
            np.flatnonzero(with_it), np.setdiff1d(np.flatnonzero(found.group == found.group[cell]), cell)
        )


@given(tables(), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_the_order_of_equations_changes_nothing(case: tuple[Built, np.ndarray], seed: int) -> None:
    built, primary = case
    rows = np.random.default_rng(seed).permutation(built.matrix.shape[0])
    inner, other = inner_sums(built.matrix), inner_sums(sp.csr_array(built.matrix[rows]))
    order = publication_order(built.value, inner.sums)
    one, two = eliminate(inner, primary, order), eliminate(other, primary, order)
    np.testing.assert_array_equal(one.secondary, two.secondary)


def test_forbidden_cells_are_published_and_what_they_give_away_is_told() -> None:
    built = build([["a", "b"]], [3.0, 5.0])
    inner = inner_sums(built.matrix)
    primary = np.array([c == ("a",) for c in built.codes])
    pattern = eliminate(inner, primary, np.arange(3), forbidden=~primary)
    assert not pattern.secondary.any()
    np.testing.assert_array_equal(pattern.undone, primary)


def test_linked_tables_without_their_cells_share_a_margin() -> None:
    # t = a + b in one table, t = c + d in another: a and c hidden gives nothing away, b and d published would
    matrix = sp.csr_array([[-1, 1, 1, 0, 0], [-1, 0, 0, 1, 1]])
    inner = inner_sums(matrix)
    assert isinstance(inner, Inner)
    assert inner.known.shape[0] == 1
    primary = np.array([False, True, False, False, False])
    value = np.array([10.0, 2, 8, 4, 6])
    pattern = eliminate(inner, primary, publication_order(value, inner.sums))
    # t (10), then b (8) would give a: hidden; d (6) and c (4) add up to t, which is published anyway
    assert pattern.secondary.tolist() == [False, False, True, False, False]


def test_ties_fall_by_breadth_then_place_not_by_last_bits() -> None:
    cost = np.array([0.1 + 0.2, 0.3, 1.0])
    assert rounded(cost)[0] == rounded(cost)[1]
    sums = sp.csr_array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    assert publication_order(cost, sums).tolist() == [2, 1, 0]
