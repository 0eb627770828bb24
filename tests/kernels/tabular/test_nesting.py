"""Sums of rows, found again: against trees drawn at random, and cases that cannot be told."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.kernels.tabular import nesting as module
from sfumato.kernels.tabular.nesting import nesting


def drawn(seed: int, finest: int = 9, figures: int = 6) -> tuple[np.ndarray, np.ndarray, list[frozenset[int]]]:
    """Rows of finest codes and of sums of them, in some order, and what each is the sum of."""
    rng = np.random.default_rng(seed)
    fine = np.round(rng.lognormal(3, 1, (finest, figures)), 1) * (rng.random((finest, figures)) < 0.8)
    fine[:, 0] += 1.0
    groups = np.array_split(np.arange(finest), 3)
    sets = [frozenset({i}) for i in range(finest)]
    sets += [frozenset(g.tolist()) for g in groups] + [sets[0] | {1}, frozenset(range(6))]
    order = rng.permutation(len(sets))
    rows = np.array([fine[sorted(sets[i])].sum(axis=0) for i in order])
    place = {int(i): k for k, i in enumerate(order)}
    told = [frozenset(place[j] for j in sets[i]) for i in order]
    return rows, fine.sum(axis=0), told


@pytest.mark.parametrize("seed", range(12))
def test_sums_are_found_in_any_order(seed: int) -> None:
    rows, whole, told = drawn(seed)
    assert nesting(rows, whole) == told


@pytest.mark.parametrize("seed", range(4))
def test_whole_number_programs_find_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, whole, told = drawn(seed)
    monkeypatch.setattr(module, "_STEPS", 0)
    assert nesting(rows, whole) == told


@pytest.mark.parametrize("steps", [0, 5_000])
def test_two_ways_are_none(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STEPS", steps)
    # 10 is 4 + 6 or 3 + 7
    assert nesting(np.array([[3.0], [4.0], [6.0], [7.0], [10.0]]), np.array([20.0])) is None


def test_what_does_not_add_up_is_none() -> None:
    assert nesting(np.array([[3.0], [4.0]]), np.array([8.0])) is None
    assert nesting(np.array([[3.0], [0.0]]), np.array([3.0])) is None  # nothing says what a 0 is part of


def test_equal_rows_stand_beside_or_for_each_other() -> None:
    beside = np.array([[2.0, 1.0], [2.0, 1.0], [4.0, 2.0]])
    assert nesting(beside, np.array([4.0, 2.0])) == [frozenset({0}), frozenset({1}), frozenset({0, 1})]
    for_each_other = np.array([[2.0, 1.0], [2.0, 1.0], [3.0, 0.0]])
    assert nesting(for_each_other, np.array([5.0, 1.0])) == [frozenset({0}), frozenset({0}), frozenset({2})]
    # each of two sums has one of two equal rows: nothing says which
    either = np.array([[1.0, 1.0], [1.0, 1.0], [5.0, 0.0], [0.0, 7.0], [6.0, 1.0], [1.0, 8.0]])
    assert nesting(either, np.array([7.0, 9.0])) is None
