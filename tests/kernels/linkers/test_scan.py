"""Scores of all pairs against whole matrices."""

import numpy as np
import pytest

from sfumato.kernels.linkers.keys import keys_of
from sfumato.kernels.linkers.nearest import gower
from sfumato.kernels.linkers.scan import TIE, Scoring, between, scan
from tests.kernels.linkers import plainly

SPREAD = np.array([8.0, 0.0])


def random_scoring(seed, sizes, numbers, wildcard):
    rng = np.random.default_rng(seed)
    cuts = np.column_stack([np.full(numbers, 1.0), np.full(numbers, 3.0)])
    level = rng.normal(size=(numbers, 3))
    agree = tuple(rng.normal(size=n) for n in sizes)
    unknown = rng.normal(size=len(sizes) + numbers)
    return Scoring(
        agree, rng.normal(size=len(sizes)), np.zeros(numbers), cuts, level, level[:, 2].copy(), unknown, wildcard
    )


@pytest.mark.parametrize("wildcard", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nearest_is_gowers_distance_of_all_pairs(seed, wildcard):
    people, records = plainly.tables(seed, missing=0.2 if wildcard else 0.0)
    people[1][0, :3] = records[1][0, :5:2] = np.nan
    d = plainly.gower(people, records, SPREAD, wildcard)
    one, two = keys_of(*people), keys_of(*records)
    found = scan(one, two, gower((3, 2, 4), SPREAD, wildcard), sums=False)
    assert -found.score[one.member] == pytest.approx(d.min(axis=1), abs=1e-12)
    ties = (d <= d.min(axis=1, keepdims=True) + TIE).sum(axis=1)
    assert found.ties[one.member].tolist() == ties.tolist()
    nearest = two.member[np.argmin(d, axis=1)]
    alone = ties == 1
    assert (found.first[one.member][alone] == nearest[alone]).all()


def test_sums_are_over_all_records():
    people, records = plainly.tables(5)
    one, two = keys_of(*people), keys_of(*records)
    scoring = random_scoring(4, (3, 2, 4), 2, wildcard=False)
    score = np.array([[_pair(scoring, people, records, i, j) for j in range(30)] for i in range(40)])
    found = scan(one, two, scoring)
    assert found.total[one.member] == pytest.approx(np.log2((2.0**score).sum(axis=1)), abs=1e-9)
    assert found.score[one.member] == pytest.approx(score.max(axis=1), abs=1e-12)


def _pair(scoring, people, records, i, j):
    """The score of one pair, by the definition of `Scoring`, without missing values."""
    (a, x), (b, z) = people, records
    total = sum(
        scoring.agree[k][a[k, i]] if a[k, i] == b[k, j] else scoring.disagree[k] for k in range(len(scoring.agree))
    )
    for k in range(len(x)):
        d = abs(x[k, i] - z[k, j])
        total += scoring.slope[k] * d + scoring.level[k][0 if d <= scoring.cuts[k, 0] else 1 + (d > scoring.cuts[k, 1])]
    return total


def test_more_records_than_a_block_holds():
    people, records = plainly.tables(6, people=20, records=5000, categories=(40, 30), numbers=1)
    d = plainly.gower(people, records, np.array([8.0]), False)
    one, two = keys_of(*people), keys_of(*records)
    scoring = gower((40, 30), np.array([8.0]))
    found = scan(one, two, scoring)
    assert -found.score[one.member] == pytest.approx(d.min(axis=1), abs=1e-12)
    assert found.total[one.member] == pytest.approx(np.log2((2.0**-d).sum(axis=1)), abs=1e-9)
    assert found.ties[one.member].tolist() == (d <= d.min(axis=1, keepdims=True) + TIE).sum(axis=1).tolist()


@pytest.mark.parametrize("wildcard", [False, True])
def test_single_pairs_have_the_scores_of_the_scan(wildcard):
    people, records = plainly.tables(7, missing=0.2 if wildcard else 0.0)
    people[1][0, :3] = records[1][1, :3] = np.nan
    one, two = keys_of(*people), keys_of(*records)
    scoring = random_scoring(8, (3, 2, 4), 2, wildcard)
    i, j = (part.ravel() for part in np.indices((len(one), len(two))))
    score = between(one, two, (i, j), scoring).reshape(len(one), len(two))
    found = scan(one, two, scoring)
    assert found.score == pytest.approx(score.max(axis=1), abs=1e-12)
    assert found.total == pytest.approx(np.log2((two.count * 2.0**score).sum(axis=1)), abs=1e-9)


def test_scores_may_begin_with_something():
    people, records = plainly.tables(9)
    one, two = keys_of(*people), keys_of(*records)
    start = np.where(np.arange(len(two)) == 4, 100.0, 0.0)
    assert (scan(one, two, gower((3, 2, 4), SPREAD), start).first == 4).all()
