import re

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.tables.perturb.counts import count_noise, transitions


def test_rows_have_mean_nothing_and_the_variance_at_most():
    rows = transitions(5, 3.0, 2)
    assert len(rows) == 9
    for i, row in enumerate(rows):
        assert row.probability.sum() == pytest.approx(1)
        assert row.probability @ row.change == pytest.approx(0, abs=1e-9)
        assert row.variance <= 3 + 1e-9
        assert not np.isin(row.change + i, [1, 2]).any()
        assert (row.change + i).min() >= 0
    assert rows[-1].probability == pytest.approx(rows[-1].probability[::-1])


def test_rows_that_cannot_be_are_named_with_what_they_could_have():
    with pytest.raises(DataError, match=re.escape("row 1 can have variances from 2 to 4; row 2 can have")):
        transitions(4, 1.9, 2)
    with pytest.raises(DataError, match="row 3 has no distribution with mean 0"):
        transitions(2, 3.0, 4)
    with pytest.raises(DataError, match="row 1 can have variances from 0 to 3"):
        transitions(3, 4.0, 0, exact=True)


@pytest.mark.parametrize("wrong", [{"largest": 0}, {"forbidden": -1}, {"variance": 0.0}, {"stay": 1.5}])
def test_numbers_outside_their_range(wrong):
    with pytest.raises(DataError, match="between"):
        transitions(**wrong)


@pytest.mark.parametrize("count", [1, 2, 4, 8, 300])
def test_even_keys_give_noise_of_mean_nothing_and_the_rows_variance(count):
    key = (np.arange(100_000) + 0.5) / 100_000
    rows = transitions(5, 3.0, 2)
    noise = count_noise(np.full(len(key), float(count)), key, rows)
    # a grid of keys is off by one key for each of some ten changes of 5 at most: 5e-4 of the mean, 2.5e-3 of squares
    assert noise.mean() == pytest.approx(0, abs=5e-4)
    assert (noise**2).mean() == pytest.approx(rows[min(count, 8)].variance, abs=2.5e-3)
