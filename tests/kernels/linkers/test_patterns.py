"""Comparison patterns against whole matrices."""

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.kernels.linkers import patterns as module
from sfumato.kernels.linkers.keys import keys_of
from sfumato.kernels.linkers.patterns import MOST_KEYS, count_patterns, levels_of
from tests.kernels.linkers import plainly

SD = np.array([3.0, 5.0])


def by_hand(people, records, wildcard):
    level = np.stack([x.ravel() for x in plainly.levels(people, records, SD, wildcard)], axis=1)
    found, count = np.unique(level, axis=0, return_counts=True)
    return {tuple(row): int(n) for row, n in zip(found, count, strict=True)}


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("wildcard", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_counts_are_those_of_all_pairs(monkeypatch, seed, wildcard, hashed):
    if hashed:
        monkeypatch.setattr(module, "_DENSE", 1)
    people, records = plainly.tables(seed, missing=0.2 if wildcard else 0.0)
    people[1][0, :4] = records[1][0, :6] = np.nan
    found = count_patterns(keys_of(*people), keys_of(*records), SD, wildcard)
    counted = {tuple(row): int(n) for row, n in zip(found.levels.tolist(), found.count, strict=True)}
    assert counted == by_hand(people, records, wildcard)
    assert found.people == 40


def test_very_many_patterns_stop_the_counting(monkeypatch):
    monkeypatch.setattr(module, "_DENSE", 1)
    monkeypatch.setattr(module, "_MOST", 20)
    people, records = plainly.tables(3)
    found = count_patterns(keys_of(*people), keys_of(*records), SD)
    assert 0 < found.people < 40
    assert found.count.sum() == found.people * 30


@pytest.mark.slow
def test_so_many_patterns_that_the_table_grows():
    people, records = plainly.tables(4, people=300, records=300, categories=(2,) * 20, numbers=0)
    found = count_patterns(keys_of(*people), keys_of(*records), np.empty(0))
    level = np.stack([x.ravel() for x in plainly.levels(people, records, [], False)], axis=1)
    assert len(found.count) == len(np.unique(level, axis=0)) > 4096
    assert found.count.sum() == 90_000


def test_too_many_keys_are_refused():
    keys = keys_of(np.zeros((MOST_KEYS + 1, 2), dtype=np.int32), np.empty((0, 2)))
    with pytest.raises(DataError, match="at most 30 keys"):
        count_patterns(keys, keys, np.empty(0))


def test_levels_stand_at_a_tenth_and_four_tenths_of_the_sd():
    assert levels_of(np.array([0.0, 0.1, 0.11, 0.4, 0.41, np.inf]), 1.0).tolist() == [0, 0, 1, 1, 2, 2]
    assert levels_of(np.array([0.0, 0.1]), 0.0).tolist() == [0, 2]
