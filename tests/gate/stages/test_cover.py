"""Closed bounds are those of the auditor where the attacker has every clique."""

import numpy as np
import pytest

from sfumato.gate.case import Case
from sfumato.gate.stages.cover import ends, narrow_cells
from tests.gate.auditor import Joint
from tests.gate.small_worlds import asked, coded, small_world, some_table


@pytest.mark.slow
def test_closed_bounds_are_reached_where_every_clique_is_known():
    seen = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        world = small_world(rng)
        records = coded(world)
        told = [some_table(rng, world) for _ in range(2)]
        case = Case.of(records, [asked(records, one) for one in told])
        cliques, between, sharp = case.cover
        if not cliques or not sharp or len(cliques) < 2:
            continue
        joint = case.scope.joint(case.nodes)
        held = np.flatnonzero(joint.count)
        first = np.zeros(len(joint.count), dtype=np.int64)
        first[joint.cell] = np.arange(case.scope.rows)
        low, high = ends(case, cliques, between, first[held])
        truth = Joint(world, told)
        full = np.flatnonzero(truth.true).tolist()
        expected = sorted((int(truth.true[cell]), *truth.ends(cell)) for cell in full)
        assert sorted(zip(joint.count[held].tolist(), low.tolist(), high.tolist(), strict=True)) == expected
        seen += 1
    assert seen > 5


def test_only_cells_that_can_fail_are_looked_at():
    rng = np.random.default_rng(1)
    world = small_world(rng)
    records = coded(world)
    case = Case.of(records, [asked(records, some_table(rng, world))])
    looked = [narrow_cells(case, count, width).looked for count, width in ((1, 2), (5, 50), (500, 1000))]
    assert looked == sorted(looked)
    assert looked[-1] == case.scope.rows
