"""Guesses from the nearest records against whole matrices."""

import numpy as np
import pytest

from sfumato.kernels.linkers.keys import keys_of
from sfumato.kernels.linkers.nearest import gower, ranges, right_guesses
from tests.kernels.linkers import plainly


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_vote_of_all_that_tie(seed):
    people, records = plainly.tables(seed, categories=(3, 2), numbers=1)
    told = np.random.default_rng(seed).integers(0, 3, 30)
    spread = np.array([8.0])
    d = plainly.gower(people, records, spread, False)
    one, two = keys_of(*people), keys_of(*records)
    truth = np.random.default_rng(seed + 9).integers(0, 4, 40)  # one value that no record tells
    right = right_guesses(one, two, gower((3, 2), spread), told, truth)
    for i, row in enumerate(d):
        votes = np.bincount(told[row <= row.min() + 1e-9], minlength=4)
        most = votes == votes.max()
        assert right[i] == pytest.approx(most[truth[i]] / most.sum())


def test_ranges_of_what_is_there():
    assert ranges(np.array([[1.0, np.nan, 4.0], [np.nan] * 3, [2.0, 2.0, 2.0]])).tolist() == [3.0, 0.0, 0.0]
    assert ranges(np.empty((1, 0))).tolist() == [0.0]
