"""Functions and impossible cells: what holds without exception, and would not by chance."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.relations.rising import rising
from sfumato.kernels.relations.settled import Function, functions_of, settled_by
from sfumato.kernels.tabular.pairs import Coded


def coded(values):
    used, code = np.unique(values, return_inverse=True)
    return Coded(code.astype(np.uint32), np.bincount(code, minlength=len(used)))


def test_of_a_chain_neighbours_are_told_and_a_label_is_no_function():
    ward = np.arange(400) % 16
    columns = [coded(ward), coded(ward // 4), coded(ward // 8), coded(15 - ward)]
    told = functions_of(columns, {0, 1, 2, 3})
    assert told == [Function(1, 0, 25), Function(2, 1, 100)]


def test_one_exception_makes_it_no_function():
    ward = np.arange(400) % 16
    district = ward // 4
    district[3] = 3 - district[3]
    assert functions_of([coded(ward), coded(district)], {0}) == []


def test_values_that_nobody_shares_tell_nothing():
    rng = np.random.default_rng(1)
    assert functions_of([coded(np.arange(500)), coded(rng.integers(0, 5, 500))], {0, 1}) == []


def test_columns_by_chance_settle_nothing():
    rng = np.random.default_rng(2)
    columns = [coded(rng.integers(0, k, 2_000)) for k in (2, 3, 5, 9, 20)]
    assert functions_of(columns, set(range(5))) == []
    assert settled_by(columns, set(range(5)), []) == []


def test_a_cell_needs_fifty_records_and_something_to_break():
    smokes, amount = np.resize([0, 1], 98), np.resize([0, 1, 0, 2], 98)
    assert settled_by([coded(smokes), coded(amount)], {0}, []) == []
    smokes, amount = np.resize([0, 1], 400), np.resize([0, 1, 0, 2], 400)
    (one,) = settled_by([coded(smokes), coded(amount)], {0}, [])
    assert (one.column, one.value, one.told, one.is_) == (0, 0, 1, 0)
    assert settled_by([coded(smokes), coded(amount)], {0}, [(0, 1)]) == []
    nearly = np.where(np.arange(400) % 40 == 1, 1, 0)  # 97 in 100 have 0 anyway
    assert settled_by([coded(smokes), coded(nearly)], {0}, []) == []


def test_what_rises_within_units_has_no_ties_and_no_gaps():
    unit = np.array([2, 1, 2, 1, 3])
    values = np.array([[1.0, 5, 1], [1, 4, 1], [2, 5, 2], [3, 4, np.nan], [0, 0, 0]])
    assert rising(unit, values) == [0]
    assert rising(np.arange(5), values) == []
