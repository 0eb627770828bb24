"""One rule tells gaps that follow from another column, for warnings and for drafts."""

import numpy as np
import pytest

from sfumato.methods.gaps import told_by


@pytest.mark.parametrize(
    ("records", "gaps", "of_all", "follows"),
    [
        ([40, 60], [40, 3], 43, True),
        ([40, 60], [39, 3], 42, False),  # not nearly all of them
        ([40, 60], [40, 35], 75, False),  # most of the others too
        ([4, 60], [4, 3], 7, False),  # too few records: an accident
        ([7, 200], [7, 60], 67, False),  # few of the gaps lie there
        ([40, 60], [0, 0], 0, False),
    ],
)
def test_gaps_follow_where_nearly_all_of_a_value_have_them_and_few_of_another(records, gaps, of_all, follows):
    assert told_by(np.array(records), np.array(gaps)[:, None], np.array([of_all])).tolist() == [follows]
