"""Sums: planted ones are found, also among exceptions, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.kernels.relations.sums import sums_of


def amounts(rows=600, columns=6, seed=1):
    return np.random.default_rng(seed).gamma(1, 200, (rows, columns)).round()


def found(values, unit=1.0):
    return {one.total: one.parts for one in sums_of(values, np.full(values.shape[1], unit))}


def test_numbers_that_have_nothing_to_do_with_each_other_are_no_sums():
    assert found(amounts(columns=12)) == {}


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_a_sum_is_found_at_any_scale(scale):
    values = amounts()
    values[:, 2] = values[:, 0] + values[:, 4] + values[:, 5]
    assert found(values * scale, scale) == {2: (0, 4, 5)}


def test_exceptions_and_rounding_are_told_in_the_share():
    values = amounts(rows=1_000)
    values[:, 0] = values[:, 1:5].sum(axis=1) + np.resize([-1, 0, 1], 1_000)
    values[:15, 0] += np.geomspace(50, 1e7, 15)
    (one,) = sums_of(values, np.ones(6))
    assert (one.total, one.parts, one.share) == (0, (1, 2, 3, 4), 0.985)


def test_more_exceptions_make_it_no_sum():
    values = amounts(rows=1_000)
    values[:, 0] = values[:, 1] + values[:, 2]
    values[:25, 0] += 500
    assert found(values) == {}


def test_a_second_sum_adds_no_terms_to_the_first():
    values = amounts(rows=2_000, columns=10)
    values[:, 4] = values[:, :4].sum(axis=1)
    values[:, 9] = 7 * values[:, 4].round() + values[:, 5:9].sum(axis=1) - 7 * values[:, :4].sum(axis=1)
    rng = np.random.default_rng(2)
    values[rng.choice(2_000, 10, replace=False), 4] += 900
    values[rng.choice(2_000, 10, replace=False), 9] += 900
    assert found(values) == {4: (0, 1, 2, 3), 9: (5, 6, 7, 8)}


def test_sums_of_sums_name_the_nearest():
    values = amounts(columns=7)
    values[:, 4] = values[:, 0] + values[:, 1]
    values[:, 5] = values[:, 2] + values[:, 3]
    values[:, 6] = values[:, 4] + values[:, 5]
    assert found(values) == {4: (0, 1), 5: (2, 3), 6: (4, 5)}


def test_a_difference_is_written_as_the_sum_that_it_is():
    values = amounts(columns=3)
    values[:, 0] = values[:, 1] - values[:, 2]  # profit, sales, costs
    assert found(values) == {1: (0, 2)}


def test_columns_that_are_nearly_always_0_are_no_sum():
    values = np.zeros((2_000, 3))
    for j in range(3):
        values[j * 10 : j * 10 + 10, j] = 1
    assert found(values) == {}


def test_a_term_that_adds_nothing_but_rounding_is_left_out():
    values = amounts(columns=4) + 10
    values[:, 3] = values[:, 0] + values[:, 1] + values[:, 2] * 1e-9
    values[:, 2] *= 1e-9
    assert found(values) == {3: (0, 1)}


def test_constant_and_empty_columns_and_too_few_records_say_nothing():
    values = amounts(columns=6)
    values[:, 3] = 5
    values[:, 4] = np.nan
    values[:, 5] = values[:, 0] + values[:, 1]
    assert found(values) == {5: (0, 1)}
    assert found(values[:49]) == {}
    assert found(np.full((100, 3), np.nan)) == {}
    assert found(np.zeros((0, 4))) == {}


def test_gaps_are_no_exceptions():
    values = amounts(rows=1_000)
    values[:, 5] = values[:, 0] + values[:, 1]
    values[::3, 0] = np.nan
    values[1::3, 4] = np.nan
    assert found(values) == {5: (0, 1)}


def test_codes_must_add_up_exactly():
    rng = np.random.default_rng(3)
    items = rng.integers(0, 4, (800, 7)).astype(float)
    score = items.sum(axis=1)
    assert found(np.column_stack([items, score]), 0.0) == {7: (0, 1, 2, 3, 4, 5, 6)}
    assert found(np.column_stack([items, score + rng.integers(0, 2, 800)]), 0.0) == {}


def test_the_order_of_records_and_of_other_columns_is_no_matter():
    values = amounts()
    values[:, 2] = values[:, 0] + values[:, 4]
    assert found(values[::-1]) == {2: (0, 4)}
    assert found(values[:, ::-1]) == {3: (1, 5)}


def test_two_hundred_columns_are_searched():
    values = amounts(rows=1_500, columns=200)
    values[:, 150] = values[:, 20:26].sum(axis=1)
    assert found(values) == {150: tuple(range(20, 26))}
