import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.kernels.neighbours.blocks import blocks

points = arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 3)), elements=st.integers(0, 5).map(float))


@pytest.mark.slow
@given(points, st.integers(2, 10), st.randoms())
def test_blocks_depend_on_the_points_alone(z, size, random):
    order = list(range(len(z)))
    random.shuffle(order)

    def sets(rows_of_z, found):
        return sorted(sorted(map(tuple, rows_of_z[rows])) for rows in found)

    assert sets(z, blocks(z, size, 2)) == sets(z[order], blocks(z[order], size, 2))


@given(points, st.integers(2, 10))
def test_every_row_is_in_one_block_and_equal_points_stay_together(z, size):
    found = blocks(z, size, 2)
    assert sorted(np.concatenate(found)) == list(range(len(z)))
    assert all(len(rows) >= 2 for rows in found) or len(found) == 1
    home = {}
    for b, rows in enumerate(found):
        for row in rows:
            assert home.setdefault(tuple(z[row]), b) == b


def test_the_widest_axis_is_cut_at_its_median():
    z = np.array([[0.0, 0.0], [0.1, 9.0], [0.2, 1.0], [0.3, 8.0]])
    assert [sorted(rows.tolist()) for rows in blocks(z, 2, 1)] == [[0, 2], [1, 3]]
