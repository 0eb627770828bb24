"""Counting narrow cells afterwards, against the auditor."""

import numpy as np
import pytest

from sfumato.gate.audit import narrow
from sfumato.gate.policy import Interval
from tests.gate.auditor import Joint
from tests.gate.small_worlds import asked, coded, small_world, some_table


@pytest.mark.slow
@pytest.mark.parametrize("block", range(3))
def test_narrow_cells_are_counted_exactly(block):
    seen = 0
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        world = small_world(rng)
        records = coded(world)
        told = [some_table(rng, world) for _ in range(int(rng.integers(1, 4)))]
        count = int(rng.integers(1, 5))
        width = count + int(rng.integers(1, 6))
        found = narrow(records, [asked(records, one) for one in told], Interval(count=count, width=width))
        assert found == len(Joint(world, told).narrow(count, width)), seed
        seen += found
    assert seen > 10


def test_who_knows_nothing_has_no_narrow_cell():
    records = coded(small_world(np.random.default_rng(0)))
    assert narrow(records, [], Interval(count=4, width=10)) == 0
