"""What parts of a table tell of targets adds up to what the whole table tells."""

from collections import Counter

import numpy as np
import pytest

from sfumato.kernels.neighbours.h_rank import hidden_ranks, isolation
from sfumato.kernels.neighbours.h_rank_parts import (
    Taken,
    closer_in,
    hidden_by,
    nearest_in,
    others_in,
    tree_of_parts,
)

CAP = 10


def tables(seed, kind):
    random = np.random.default_rng(seed)
    truth = random.normal(size=(300, 2))
    released = truth + 0.3 * random.normal(size=truth.shape)
    if kind == "both in whole numbers":
        return truth.round(), released.round(), random
    if kind == "releases in whole numbers":
        return truth.round(1), released.round(), random
    return truth, released, random


def added_up(released, truth, targets, parts, most):
    """The h-ranks of targets, of what each part by itself tells; and the distance to the nearest other record."""
    goal = truth[targets]
    found = [nearest_in(released[part], truth[part], goal, goal, most) for part in parts]
    best = np.min([near.distance for near in found], axis=0)
    mass, twins, candidates = np.zeros(len(goal), int), np.zeros(len(goal), int), Counter()
    for near in found:
        there = near.distance <= best * (1 + 1e-9)
        mass += np.where(there, near.mass, 0)
        twins += np.where(there, near.twins, 0)
        for of, value, records in zip(near.of, near.truth, near.records, strict=True):
            if there[of]:
                candidates[of, tuple(value)] += records
    those = sorted(candidates)
    of = np.array([each[0] for each in those], dtype=np.int64)
    values = np.array([each[1] for each in those]).reshape(-1, truth.shape[1])
    reach = np.square(goal[of] - values).sum(axis=1)
    counted = np.sum([closer_in(truth[part], goal[of], reach, CAP) for part in parts], axis=0)
    others = [others_in(truth[part], goal) for part in parts]
    alike = np.sum([twins for _, twins in others], axis=0)
    own = np.square(goal - released[targets]).sum(axis=1) <= best * (1 + 1e-9)
    records = np.array([candidates[each] for each in those], dtype=np.int64)
    ranks = hidden_by(Taken(own, mass, twins, alike, of, records, counted), CAP)
    return ranks, np.where(alike > 1, 0.0, np.min([distance for distance, _ in others], axis=0))


@pytest.mark.parametrize("kind", ["numbers", "both in whole numbers", "releases in whole numbers"])
@pytest.mark.parametrize("seed", [0, 1])
def test_parts_add_up_to_the_whole(seed, kind):
    truth, released, random = tables(seed, kind)
    targets = random.permutation(300)[:80]
    parts = np.array_split(random.permutation(300), 4)
    found, alone = added_up(released, truth, targets, [*parts, np.zeros(0, dtype=int)], most=300)
    expected = hidden_ranks(released, truth, targets=targets, cap=CAP)
    for t in range(CAP + 1):
        assert found.probability(t) == pytest.approx(expected.probability(t), abs=1e-12)
    assert found.h == pytest.approx(expected.h)
    assert alone == pytest.approx(isolation(truth)[targets])


def test_some_of_very_many_ties_stand_for_all():
    """Each tie is looked at with some chance; own releases and twins are always counted as they are."""
    truth, released, random = tables(3, "releases in whole numbers")
    targets = np.arange(300)
    parts = np.array_split(random.permutation(300), 3)
    found, _ = added_up(released, truth, targets, parts, most=8)
    expected = hidden_ranks(released, truth, targets=targets, cap=CAP)
    assert found.probability(0) == pytest.approx(expected.probability(0))
    # the mean over 300 people with at least 8 of their ties each; people who share a tie are not independent: 4 errors
    error = 4 * 0.5 / np.sqrt(300 * 8)
    assert found.probability(5).mean() == pytest.approx(expected.probability(5).mean(), abs=error + 0.02)


def test_a_tree_of_many_equal_records_holds_each_point_once():
    table = np.repeat([[0.0], [1.0]], 50, axis=0)
    assert sorted(tree_of_parts(table).mass) == [50.0, 50.0]
