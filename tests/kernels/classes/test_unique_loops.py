import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.classes import unique_loops

tables = st.integers(1, 4).flatmap(
    lambda m: st.lists(st.tuples(*[st.integers(-1, 4)] * m), min_size=1, max_size=30).map(np.array)
)


def same_tails(codes):
    columns = np.ascontiguousarray(codes.T, dtype=np.int32)
    wide = columns.max(axis=1).astype(np.int64) + 2
    number, many = unique_loops.number_tails(columns, wide)
    for j in range(codes.shape[1] + 1):
        tails = [tuple(row) for row in codes[:, j:].tolist()]
        assert many[j] == len(set(tails)) == number[j].max() + 1
        assert len(set(zip(number[j].tolist(), tails, strict=True))) == many[j]


@settings(deadline=None)
@given(codes=tables)
def test_equal_tails_have_equal_numbers(codes):
    same_tails(codes)


def test_tails_of_more_combinations_than_there_is_room_for():
    """These are looked up in a hash table."""
    codes = np.random.default_rng(7).integers(-1, 40, (200, 4))
    codes[100:] = codes[:100]
    same_tails(codes)
