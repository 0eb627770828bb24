"""Orders: those that chance would break, and of chains the neighbours."""

from __future__ import annotations

import numpy as np

from sfumato.kernels.relations.orders import orders_of


def test_one_exception_makes_it_no_order():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 100, 500).astype(float)
    values = np.column_stack([first, first + rng.integers(0, 9, 500)])
    assert orders_of(values, [0, 0]) == [(0, 1)]
    values[7, 1] = first[7] - 1
    assert orders_of(values, [0, 0]) == []


def test_what_chance_would_not_break_is_no_order():
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.integers(0, 90, 800), rng.integers(90, 900, 800)]).astype(float)
    assert orders_of(values, [0, 0]) == []


def test_few_records_show_no_order():
    values = np.array([[1.0, 2], [3, 4], [5, 6], [2, 9]])
    assert orders_of(np.tile(values, (2, 1)), [0, 0]) == []


def test_of_a_chain_neighbours_and_of_equal_columns_the_first():
    first = np.arange(900.0) % 200
    values = np.column_stack([first + 30, first, first + 30, first + 8])
    assert orders_of(values, [0] * 4) == [(1, 3), (3, 0)]


def test_dates_are_not_compared_with_numbers_and_gaps_say_nothing():
    first = np.arange(900.0) % 200
    values = np.column_stack([first, first + 9])
    assert orders_of(values, [0, 1]) == []
    values[::2, 0] = np.nan
    values[1::9, 1] = np.nan
    assert orders_of(values, [0, 0]) == [(0, 1)]
    assert orders_of(np.full((90, 2), np.nan), [0, 0]) == []
