"""What the linker learns and weighs, against whole matrices of pairs."""

import numpy as np
import pytest

from sfumato.kernels.linkers.fellegi_sunter import learn, learn_from_pairs, weights
from sfumato.kernels.linkers.keys import keys_of
from sfumato.kernels.linkers.patterns import count_patterns
from sfumato.kernels.linkers.scan import between
from tests.kernels.linkers import plainly

SIZES, SD = (3, 2, 4), np.array([3.0, 5.0])


@pytest.fixture(params=[(1, False), (2, False), (3, True)], ids=["one", "two", "wildcard"])
def case(request):
    seed, wildcard = request.param
    people, records = plainly.tables(seed, missing=0.15 if wildcard else 0.0)
    records[0][:, :25], records[1][:, :25] = people[0][:, :25], people[1][:, :25]  # so many are there as they are
    return people, records, wildcard


def test_what_is_learnt_is_what_all_pairs_teach(case):
    people, records, wildcard = case
    level = plainly.levels(people, records, SD, wildcard)
    m, u = plainly.learn(level, [2, 2, 2, 3, 3], 1 / 40, 0.01 * 30)
    found = learn(count_patterns(keys_of(*people), keys_of(*records), SD, wildcard), 1 / 40)
    for own, expected in zip(found.u, u, strict=True):
        assert own == pytest.approx(expected, abs=1e-12)
    for own, expected in zip(found.m, m, strict=True):
        assert own == pytest.approx(expected, abs=1e-6)


def test_weights_are_those_of_the_definition(case):
    people, records, wildcard = case
    one, two = keys_of(*people), keys_of(*records)
    learned = learn(count_patterns(one, two, SD, wildcard), 1 / 40)
    level = plainly.levels(people, records, SD, wildcard)
    expected = plainly.weights(people, records, level, learned.m, learned.u, SIZES)
    i, j = (part.ravel() for part in np.indices(expected.shape))
    scoring = weights(learned, two, SIZES, SD, wildcard)
    found = between(one, two, (one.member[i], two.member[j]), scoring)
    assert found == pytest.approx(expected.ravel(), abs=1e-9)


def test_from_true_pairs_agreement_is_counted(case):
    people, records, wildcard = case
    one, two = keys_of(*people), keys_of(*records)
    own = np.arange(30)
    learned = learn_from_pairs(one, two, (one.member[own], two.member[own]), SD, [], wildcard)
    for m, level in zip(learned.m, plainly.levels(people, records, SD, wildcard), strict=True):
        true = level[own, own]
        assert m == pytest.approx(np.bincount(true[true >= 0], minlength=len(m)) / (true >= 0).sum())


def test_a_share_that_is_one_gives_no_infinite_weight():
    keys = keys_of(np.array([[0, 0, 1]], dtype=np.int32), np.empty((0, 3)))
    learned = learn_from_pairs(keys, keys, (keys.member, keys.member), np.empty(0), [])
    scoring = weights(learned, keys, (2,), np.empty(0))
    assert np.isfinite(scoring.disagree).all()
    assert scoring.disagree[0] < -20
