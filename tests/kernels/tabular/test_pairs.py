"""Dependences between columns of codes and numbers, at the edges of what is found."""

import numpy as np
import pytest

from sfumato.kernels.tabular import pairs
from sfumato.kernels.tabular.adding import adding_up
from sfumato.kernels.tabular.bands import banded
from sfumato.kernels.tabular.pairs import Coded, emptier_than_chance, least_expected, told_by


def coded(*codes):
    return Coded(np.array(codes, np.uint16), np.bincount(codes))


@pytest.mark.parametrize("dense", [pairs._DENSE, 0])
def test_empty_combinations_are_the_same_where_too_many_have_a_place(monkeypatch, dense):
    rng = np.random.default_rng(1)
    one, other = rng.integers(0, 6, 900), rng.integers(0, 5, 900)
    kept = ~((one == 2) & (other >= 3))
    first, second = coded(*one[kept]), coded(*other[kept])
    monkeypatch.setattr(pairs, "_DENSE", max(dense, 1))
    found, expected = emptier_than_chance(first, second, None, 13.0)
    assert found.tolist() == [[2, 3], [2, 4]]
    people = kept.sum()
    assert expected == pytest.approx(first.count[2] * second.count[3:].sum() / people)
    assert not len(emptier_than_chance(first, second, None, 60.0)[0])


def test_the_level_of_chance_is_that_of_the_notes():
    one, other = coded(*[0, 1] * 9), coded(*[0, 1, 2] * 6)
    assert least_expected(one, other, 20, 0.01) == pytest.approx(np.log(2 * 3 * 400 / 0.01))


def test_one_exception_ends_what_tells():
    wards = np.repeat(np.arange(50), 40)
    divisions = wards // 5
    assert told_by(coded(*wards), coded(*divisions)) is not None
    divisions[-1] = 0  # beyond the rows that are looked at first
    assert told_by(coded(*wards), coded(*divisions)) is None


@pytest.mark.parametrize(
    ("codes", "is_band"),
    [([0, 0, 1, 1], True), ([1, 1, 0, 0], True), ([0, 1, 0, 1], False), ([0, 0, 0, 0], False), ([0, 1, 1, 1], False)],
)
def test_bands_lie_apart(codes, is_band):
    assert banded(np.array([1.0, 1.0, 2.0, 3.0]), [np.array(codes, np.uint16)]) == [is_band]


def test_sums_are_found_with_signs_and_not_with_an_exception():
    rng = np.random.default_rng(2)
    a, b, c = rng.lognormal(8, 2, (3, 400))
    values = np.stack([a, b, c, a + b - c], axis=1)
    assert [(own.tolist(), rows) for own, rows in adding_up(values)] == [([1, 1, -1, -1], 400)]
    holed = values.copy()
    holed[rng.random(holed.shape) < 0.1] = np.nan
    ((own, rows),) = adding_up(holed)
    assert (own.tolist(), rows) == ([1, 1, -1, -1], int(np.isfinite(holed).all(axis=1).sum()))
    values[7, 3] *= 1.001
    assert adding_up(values) == []
    assert adding_up(np.stack([a, a + 1e-6 * b], axis=1)) == []
