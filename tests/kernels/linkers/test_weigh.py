"""Weights by pattern against those of single pairs."""

import numpy as np
import pytest

from sfumato.kernels.linkers import patterns
from sfumato.kernels.linkers import weigh as module
from sfumato.kernels.linkers.fellegi_sunter import learn, weights
from sfumato.kernels.linkers.keys import keys_of
from sfumato.kernels.linkers.patterns import count_patterns
from sfumato.kernels.linkers.scan import TIE, between
from sfumato.kernels.linkers.weigh import weigh
from tests.kernels.linkers import plainly

SD = np.array([3.0, 5.0])


def held_against_pairs(people, records, wildcard, sizes, sd):
    one, two = keys_of(*people), keys_of(*records)
    learned = learn(count_patterns(one, two, sd, wildcard), 1 / one.height)
    scorings = [weights(learned, two, sizes, sd, wildcard)]
    learned.m[0][:] = learned.m[0][::-1]  # another linker
    scorings.append(weights(learned, two, sizes, sd, wildcard))
    i, j = (part.ravel() for part in np.indices((len(one), len(two))))
    for scoring, found in zip(scorings, weigh(one, two, scorings, sd), strict=True):
        score = between(one, two, (i, j), scoring).reshape(len(one), len(two))
        assert found.score == pytest.approx(score.max(axis=1), abs=1e-9)
        assert found.total == pytest.approx(np.log2((two.count * 2.0**score).sum(axis=1)), abs=1e-9)
        ring = score >= score.max(axis=1, keepdims=True) - TIE
        assert found.ties.tolist() == (ring * two.count).sum(axis=1).tolist()


@pytest.mark.parametrize("wildcard", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_best_the_ties_and_the_sums_of_all_pairs(seed, wildcard):
    people, records = plainly.tables(seed, missing=0.2 if wildcard else 0.0)
    people[1][0, :3] = records[1][0, :5] = np.nan
    held_against_pairs(people, records, wildcard, (3, 2, 4), SD)


def test_one_key_alone():
    held_against_pairs(*plainly.tables(4, categories=(3,), numbers=0), False, (3,), np.empty(0))
    held_against_pairs(*plainly.tables(5, categories=(2,), numbers=1), True, (2,), np.array([2.0]))


def test_more_records_than_a_block_and_more_people_than_are_taken_together():
    people, records = plainly.tables(6, people=200, records=9000, categories=(60, 50), numbers=1)
    held_against_pairs(people, records, False, (60, 50), np.array([3.0]))


def test_so_many_patterns_that_none_has_a_cell(monkeypatch):
    monkeypatch.setattr(patterns, "_DENSE", 1)
    assert not module.dense(patterns.ranked(keys_of(*plainly.tables(7)[0]), keys_of(*plainly.tables(7)[1]), SD))
    held_against_pairs(*plainly.tables(7), False, (3, 2, 4), SD)
