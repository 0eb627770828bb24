import itertools

import numpy as np
import pytest

from sfumato.kernels.tabular.keys import further, sum_keys, written_keys
from sfumato.kernels.tabular.rollup import Upward


def test_keys_are_sums_modulo_one_of_plain_whole_numbers():
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, 500, dtype=np.uint64)
    a, b = rng.integers(1, 4, 500), rng.integers(1, 3, 500)
    up = [Upward.of([[0], [0, 1], [0, 2], [0, 3]]), Upward.of([[0], [0, 1], [0, 2]])]
    cells, keys = sum_keys(a * 3 + b, words, [4, 3], up)
    found = dict(zip(cells.tolist(), keys.tolist(), strict=True))
    assert len(found) == 12
    for one, other in itertools.product(range(4), range(3)):
        here = ((a == one) | (one == 0)) & ((b == other) | (other == 0))
        assert found[one * 3 + other] == sum(int(w) >> 11 for w in words[here]) % 2**53


def test_a_key_is_exact_as_text():
    keys = np.random.default_rng(2).integers(0, 2**53, 1000, dtype=np.uint64)
    written = written_keys(keys)
    assert [float(repr(x)) * 2**53 for x in written.tolist()] == keys.tolist()
    assert written.max() < 1


@pytest.mark.parametrize("number", [1, 2, 1000])
def test_further_keys_are_even_and_tell_nothing_of_the_first(number):
    key = written_keys(np.random.default_rng(3).integers(0, 2**53, 20000, dtype=np.uint64))
    other = further(key, number)
    # standard errors are 0.007 for a correlation of 20,000 pairs, and 0.002 for a mean
    assert abs(np.corrcoef(key, other)[0, 1]) < 0.035
    assert other.mean() == pytest.approx(0.5, abs=0.01)


def test_no_record_no_key():
    assert (
        sum_keys(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64), [2], [Upward.of([[0], [0, 1]])])[0].size
        == 0
    )
