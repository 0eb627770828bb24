"""The joint table of a case is that of the auditor."""

import numpy as np
import pytest

from sfumato.gate.case import Case
from sfumato.gate.stages.exact import Joint as Table
from tests.gate.dependence_auditor import Beside, ruled
from tests.gate.small_worlds import asked, coded, ruled_world, small_world, some_table


@pytest.mark.slow
@pytest.mark.parametrize("made", [small_world, ruled_world])
def test_counts_possible_cells_and_ends(made):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        world = made(rng)
        records = coded(world)
        told = [some_table(rng, world) for _ in range(2)]
        table, truth = Table(Case.of(records, [asked(records, one) for one in told])), Beside(world, told, ruled(world))
        assert table.cells == len(truth.true)
        assert sorted(table.true) == sorted(truth.true)
        assert table.possible.sum() == truth._possible().sum()
        assert (table.of_records(np.arange(table.case.scope.rows)) < table.cells).all()
        if table.cells <= 12:
            own = sorted((int(table.true[cell]), *table.reach.ends(cell)) for cell in range(table.cells))
            assert own == sorted((int(truth.true[cell]), *truth.ends(cell)) for cell in range(table.cells))
