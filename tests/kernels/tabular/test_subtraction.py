"""Counts that are used up by people who are known: against every draw, one after the other."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from sfumato.kernels.tabular.subtraction import expected_used_up, used_up, used_up_by_draws


def every_draw(counts: list[int], k: int, can: list[bool]) -> tuple[Fraction, Fraction]:
    """Share of draws that use up a count, and the mean number of counts that are."""
    people = [i for i, f in enumerate(counts) for _ in range(f)]
    hit = gone = many = 0
    for draw in itertools.combinations(range(len(people)), k):
        lost = np.bincount([people[i] for i in draw], minlength=len(counts))
        empty = sum(c and f == n for f, n, c in zip(counts, lost.tolist(), can, strict=True))
        hit, gone, many = hit + (empty > 0), gone + empty, many + 1
    return Fraction(hit, many), Fraction(gone, many)


@pytest.mark.parametrize("counts", [[1, 3, 5], [2, 2, 2], [4, 1, 1, 2], [0, 3, 2]])
@pytest.mark.parametrize("k", range(5))
def test_against_every_draw(counts: list[int], k: int) -> None:
    for can in ([True] * len(counts), [i % 2 == 0 for i in range(len(counts))]):
        share, mean = every_draw(counts, k, can)
        assert used_up(counts, k, can) == share
        assert expected_used_up(counts, k, can) == mean


def test_draws_come_close_and_are_the_same_ones() -> None:
    counts = np.array([1, 2, 3, 4])
    rows, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    seen = [np.ones(2, dtype=bool)] * 2
    told = [used_up_by_draws(counts, [rows, columns], seen, 4, 20_000, 3) for _ in range(2)]
    assert told[0] == told[1]
    people = np.repeat(np.arange(4), counts)
    hits = 0
    draws = list(itertools.combinations(people.tolist(), 4))
    for draw in draws:
        lost = np.bincount(draw, minlength=4)
        hits += any(
            (lost[[0, 1]].sum() == 3, lost[[2, 3]].sum() == 7, lost[[0, 2]].sum() == 4, lost[[1, 3]].sum() == 6)
        )
    # five standard errors of a share of 20,000 draws
    assert told[0][0] == pytest.approx(hits / len(draws), abs=5 * 0.5 / np.sqrt(20_000))
