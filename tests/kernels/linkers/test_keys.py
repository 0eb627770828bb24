import numpy as np
import pytest

from sfumato.kernels.linkers.keys import MISSING, keys_of

CODES = np.array([[0, 1, 0, 1], [2, 2, 2, -1]], dtype=np.int32)
NUMBERS = np.array([[1.5, np.nan, 1.5, -0.0]])


def test_each_combination_stands_once_and_rows_find_theirs():
    found = keys_of(CODES, NUMBERS)
    assert len(found) == 3
    assert found.height == 4
    assert (found.codes[:, found.member] == CODES).all()
    assert found.numbers[:, found.member] == pytest.approx(np.where(np.isnan(NUMBERS), MISSING, NUMBERS))
    assert found.count[found.member].tolist() == [2, 1, 2, 1]


def test_the_order_of_combinations_does_not_hang_on_that_of_rows():
    rng = np.random.default_rng(2)
    codes, numbers = rng.integers(-1, 3, (3, 50)).astype(np.int32), rng.integers(0, 3, (2, 50)).astype(float)
    mixed = rng.permutation(50)
    one, two = keys_of(codes, numbers), keys_of(codes[:, mixed], numbers[:, mixed])
    assert (one.codes == two.codes).all()
    assert (one.numbers == two.numbers).all()
    assert (one.member[mixed] == two.member).all()


def test_some_rows_alone():
    found = keys_of(CODES, NUMBERS).only(np.array([3, 0, 3]))
    assert sorted(found.count.tolist()) == [1, 2]
    assert found.codes[:, found.member].tolist() == [[1, 0, 1], [-1, 2, -1]]


def test_many_keys_do_not_overflow():
    codes = np.arange(40 * 3, dtype=np.int32).reshape(40, 3) * 10_000
    assert len(keys_of(codes, np.empty((0, 3)))) == 3


def test_tables_without_rows():
    assert len(keys_of(np.empty((2, 0), dtype=np.int32), np.empty((1, 0)))) == 0
