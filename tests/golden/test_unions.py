"""Sums of hidden cells in random tables of firms: none that is told is unsafe, for readers or for contributors."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.files.tables import cells_text
from sfumato.engines.polars import PolarsDataset
from tests.golden.plain_reader import read
from tests.golden.plain_unions import insiders, unsafe_unions
from tests.golden.random_tables import firms
from tests.golden.test_readers import hierarchies

FIRST, BLOCKS, BLOCK = 10, 10, 20
METHODS = ("flow", "elimination")


def judged_by_others(seed, holdings):
    """How many cells a random table hides that is protected by default; its unsafe unions, and what insiders find."""
    rng = np.random.default_rng(seed)
    records, trees = firms(rng, holdings)
    table = sf.tables.build(
        PolarsDataset(records, Codebook()),
        [*trees],
        "value",
        contributors="firm",
        holdings="holding" if holdings else None,
        hierarchies=hierarchies(trees),
    )
    done = sf.tables.protect(table, ["n(3)", "p(10)"], method=METHODS[seed // 2 % len(METHODS)])
    assert done.ok
    published = read(cells_text(done.table.cells), "value")
    outside, inside = unsafe_unions(published, trees, records, "value", 3, 10)
    unsafe = done.judged.cells.filter(status="u").select(done.judged.variables).rows()
    return len(published.hidden), (outside, inside, insiders(published, trees, records, "value", unsafe))


@pytest.mark.parametrize("holdings", [False, True])
def test_of_some_random_tables_no_union_is_unsafe(holdings):
    found = [judged_by_others(seed, holdings) for seed in range(FIRST // 2)]
    assert sum(hidden > 0 for hidden, _ in found) >= FIRST // 4
    assert [unions for _, unions in found] == [([], [], [])] * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_of_200_random_tables_no_union_is_unsafe(block):
    found = [judged_by_others(seed, holdings=seed % 2 == 1) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
    assert [unions for _, unions in found] == [([], [], [])] * len(found)
