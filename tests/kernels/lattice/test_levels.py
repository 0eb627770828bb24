import numpy as np
import pytest

from sfumato.kernels.lattice.levels import Levels

TOP = np.zeros(4, dtype=np.int64)


def test_shares_count_all_rows_of_the_hierarchy():
    h = Levels((np.arange(4), np.array([0, 1, 1, 1]), TOP))
    assert h.shares(1).tolist() == [0.25, 0.75]
    assert h.shares(2).tolist() == [1.0]


def test_leaves_that_no_hierarchy_lists():
    """Four rows, and a leaf for missing values beside them: no share is above 1."""
    h = Levels((np.arange(5), np.zeros(5, dtype=np.int64)), rows=4)
    assert h.shares(0).tolist() == [0.25] * 5
    assert h.shares(1).tolist() == [1.0]


@pytest.mark.parametrize(
    "groups",
    [
        (),
        (np.arange(0),),
        (np.arange(4), TOP[:3]),
        (np.array([1, 0, 2, 3]), TOP),
        (np.arange(4), np.array([0, 0, 1, 1])),
        (np.arange(4), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), TOP),
        (np.arange(4), np.array([0, 0, -1, 1]), TOP),
    ],
)
def test_what_is_no_hierarchy_is_refused(groups):
    with pytest.raises(ValueError, match="levels"):
        Levels(groups)
