"""Hidden cells that are told as whole numbers: against every table there is, and against programs of another solver."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from sfumato.kernels.tabular.attacker import Contradiction, intervals, inwards
from sfumato.kernels.tabular.told import Told, told
from sfumato.kernels.tabular.work import Work


def grouped(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Up to six cells from 1 to 3, and the published sums of a few groups of two or three of them."""
    many, sums = int(rng.integers(4, 7)), int(rng.integers(2, 5))
    cells = rng.integers(1, 4, many)
    groups = np.zeros((sums, many), dtype=int)
    for row in groups:
        row[rng.choice(many, int(rng.integers(2, 4)), replace=False)] = 1
    return groups, cells


def asked(groups: np.ndarray, cells: np.ndarray, *, known: bool, work: Work | None = None) -> Told:
    matrix = sp.csr_array(np.hstack([groups, -np.eye(len(groups), dtype=int)]))
    hidden = np.arange(matrix.shape[1]) < len(cells)
    value = np.append(cells, groups @ cells).astype(float)
    low, high = np.full(len(value), 1.0), np.full(len(value), 5.0)
    truth = value if known else None
    return told(matrix, np.where(hidden, np.nan, value), hidden, low, high, truth=truth, work=work)


def every(groups: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """All tables from 1 to 5 that have these sums."""
    tables = np.array(list(product(range(1, 6), repeat=len(cells))))
    return tables[(tables @ groups.T == groups @ cells).all(axis=1)]


def same_as_every_table(seed: int, *, known: bool) -> None:
    groups, cells = grouped(np.random.default_rng(seed))
    found, tables = asked(groups, cells, known=known), every(groups, cells)
    one = tables.min(0) == tables.max(0)
    assert found.told[: len(cells)].tolist() == one.tolist()
    assert found.free[: len(cells)].tolist() == (~one).tolist()
    assert found.value[: len(cells)][one].tolist() == cells[one].tolist()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("seed", [50, 251, *range(12)])
def test_every_table_that_fits(seed: int, known: bool) -> None:
    same_as_every_table(seed, known=known)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_table_that_fits_of_more(seed: int, known: bool) -> None:
    same_as_every_table(seed, known=known)


def test_rounding_intervals_inwards_is_not_enough() -> None:
    groups, cells = grouped(np.random.default_rng(50))
    matrix = sp.csr_array(np.hstack([groups, -np.eye(len(groups), dtype=int)]))
    hidden = np.arange(matrix.shape[1]) < len(cells)
    value = np.append(cells, groups @ cells).astype(float)
    ends = inwards(intervals(matrix, np.where(hidden, np.nan, value), hidden, 1.0, 5.0), hidden)
    by_rounding = (ends.low == ends.high)[hidden]
    assert (asked(groups, cells, known=True).told[hidden] & ~by_rounding).any()


def cube(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[sp.csr_array, np.ndarray]:
    """The equations and counts of a table with all its totals."""
    full = rng.integers(1, 5, shape)
    for axis in range(len(shape)):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    place, rows = np.arange(full.size).reshape(full.shape), []
    for axis in range(len(shape)):
        for line in np.moveaxis(place, axis, -1).reshape(-1, full.shape[axis]):
            row = np.zeros(full.size)
            row[line[:-1]], row[line[-1]] = 1, -1
            rows.append(row)
    return sp.csr_array(np.array(rows)), full.ravel().astype(float)


@pytest.mark.parametrize("letters", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_three_dimensions_against_programs_of_another_solver(seed: int, letters: bool) -> None:
    """With letters, cells below 3 are known to be 1 or 2, all others to be 3 or more."""
    rng = np.random.default_rng(seed)
    matrix, value = cube(rng, (2, 3, 3))
    hidden = rng.random(len(value)) < 0.55
    low = np.where(value >= 3, 3.0, 1.0) if letters else np.ones(len(value))
    high = np.where(value < 3, 2.0, np.inf) if letters else np.full(len(value), np.inf)
    found = told(matrix, np.where(hidden, np.nan, value), hidden, low, high)
    places = np.flatnonzero(hidden)
    right = -(matrix @ np.where(hidden, 0.0, value))
    sums = LinearConstraint(matrix[:, places].toarray(), right, right)
    for k, place in enumerate(places):
        cost = np.zeros(len(places))
        ends = []
        for cost[k] in (1.0, -1.0):
            best = milp(cost, constraints=sums, integrality=cost * 0 + 1, bounds=Bounds(low[places], high[places]))
            ends.append(round(best.x[k]) if best.status == 0 else cost[k] * -np.inf)
        assert (found.told[place], found.free[place]) == (ends[0] == ends[1], ends[0] != ends[1])


def test_what_the_work_does_not_decide_is_neither() -> None:
    groups, cells = grouped(np.random.default_rng(3))
    found, none = asked(groups, cells, known=True), asked(groups, cells, known=True, work=Work(0))
    assert found.free.any()
    assert not none.free.any()
    assert not (none.told & ~found.told).any()


def test_sums_that_no_table_has() -> None:
    with pytest.raises(Contradiction):
        told(sp.csr_array([[1, 1, -1]]), np.array([np.nan, np.nan, 1.0]), np.arange(3) < 2, np.ones(3), np.full(3, 9.0))
