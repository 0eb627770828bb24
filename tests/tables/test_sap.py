"""Attribution by subtraction against all sets of k people, gone through one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.tables.sap import attribution, entropy_risk, sap
from sfumato.tables.table import Table


def every_draw(counts: np.ndarray, k: int, emptied) -> tuple[float, float]:
    """Share of all sets of k people after which a cell is seen to be empty, and the mean number of such cells."""
    people = [cell for cell, n in np.ndenumerate(counts) for _ in range(n)]
    found = []
    for chosen in combinations(range(len(people)), k):
        left = counts.copy()
        for who in chosen:
            left[people[who]] -= 1
        found.append(int(emptied(left).sum()))
    return float(np.mean([n > 0 for n in found])), float(np.mean(found))


@pytest.mark.parametrize(("k", "expected"), [(0, 0), (1, 1 / 9), (2, 2 / 9), (3, 29 / 84), (4, 61 / 126)])
def test_one_three_five(k: int, expected: float) -> None:
    # the notes have .345 and .484 for the last two: here by hand, 29/84 and 61/126
    assert sap([1, 3, 5], k) == pytest.approx(expected, abs=1e-15)
    assert every_draw(np.array([1, 3, 5]), k, lambda left: left == 0)[0] == pytest.approx(expected)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("counts", [[2, 2, 3], [[1, 4], [2, 3]], [[0, 4], [2, 3]]])
def test_a_released_table(counts: list, k: int) -> None:
    true = np.array(counts)
    share, mean = every_draw(true, k, lambda left: left == 0)
    told = attribution(counts, k)
    assert told.before == told.after == pytest.approx(share)
    assert told.zeros_before == pytest.approx(mean)


def test_upper_bounds_stand_for_what_was_released() -> None:
    true, upper = np.array([1, 3, 2]), np.array([2, 3, 2])
    for k in range(5):
        share, mean = every_draw(true, k, lambda left: upper - (true - left) == 0)
        told = attribution(true, k, upper=upper)
        assert (told.after, told.zeros_after) == (pytest.approx(share), pytest.approx(mean))
        assert told.before >= told.after


@pytest.mark.parametrize("k", [1, 2, 3])
def test_margins(k: int) -> None:
    true = np.array([[0, 2, 1], [3, 1, 2]])

    def emptied(left: np.ndarray) -> np.ndarray:
        return (left.sum(axis=1, keepdims=True) == 0) | (left.sum(axis=0, keepdims=True) == 0)

    share, mean = every_draw(true, k, emptied)
    told = attribution(true, k, margins=[[0], [1]], seed=3)
    # four standard errors of shares and means of 20,000 draws; the number of cells that empty varies by less than one
    assert told.after == pytest.approx(share, abs=0.015)
    assert told.zeros_after == pytest.approx(mean, abs=0.03)
    assert 0 < told.error < 0.004 or share == 0
    alone = attribution(true, k, margins=[[0]])
    share, mean = every_draw(true, k, lambda left: np.repeat(left.sum(axis=1, keepdims=True) == 0, 3, axis=1))
    assert (alone.after, alone.zeros_after) == (pytest.approx(share), pytest.approx(mean))


def test_draws_repeat_themselves() -> None:
    counts = [[1, 2], [3, 4]]
    assert sap(counts, 2, margins=[[0], [1]]) == sap(counts, 2, margins=[[0], [1]])


def test_structural_zeros_tell_nothing() -> None:
    assert sap([[0, 4], [3, 5]], 1) == 1
    assert sap([[0, 4], [3, 5]], 1, structural=[[True, False], [False, False]]) == 0


def test_a_table_and_its_variables() -> None:
    rows = pl.DataFrame({"a": ["1", "1", "2", "Total"], "b": ["x", "y", "x", "Total"], "count": [2, 3, 4, 9]})
    assert sap(Table.of(rows), 1) == 1  # the cell that is not listed is empty
    assert sap(Table.of(rows), 3, margins=[["b"]]) == sap([6, 3], 3)


def test_many_people() -> None:
    """Whole numbers stay exact where floats would not: two counts, one of which k - 1 of 300 others leave."""
    assert sap([1, 299], 150) == pytest.approx(0.5, abs=1e-15)


def test_entropy_against_the_formula_in_base_two() -> None:
    """Shares of logarithms do not hang on the base; the last term takes natural ones, written out here."""
    counts = np.array([8, 4, 2, 2, 0])
    shares = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    bits = -np.sum(shares * np.log2(shares))  # 1.75
    expected = 0.1 * 1 / 5 + 0.8 * (1 - bits / np.log2(5)) - 0.1 * np.log(1 / (np.e * 4)) / 4
    assert entropy_risk(counts) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, -1], 1), "whole numbers from 0"),
        (([1, 1.5], 1), "whole numbers from 0"),
        (([], 1), "no count"),
        ((["a"], 1), "numbers"),
        (([1, 2], 4), "More people"),
        (([1, 2], -1), "whole number from 0"),
    ],
)
def test_what_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(DataError, match=message):
        sap(*arguments)


def test_options_that_do_not_fit_are_refused() -> None:
    for options, message in [
        ({"upper": [1, 1]}, "less than its count"),
        ({"upper": [1]}, "shape"),
        ({"margins": [[4]]}, "axis"),
        ({"margins": [["z"]]}, "no variable"),
        ({"margins": []}, "Name the released"),
        ({"margins": [[0]], "upper": [2, 3]}, "not both"),
    ]:
        with pytest.raises(DataError, match=message):
            sap([2, 3], 1, **options)


def test_the_label_is_everywhere() -> None:
    plain = attribution([2, 3], 1).to_plain()
    assert plain["label"] == "reconstructed"
    assert "reconstructed" in sap.__doc__
