"""What a reader with the published file alone works out of protected counts: nothing of unsafe cells."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.files.tables import cells_text
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.polars import PolarsDataset
from tests.golden.plain_reader import Reader, read
from tests.golden.random_tables import people

FIRST, BLOCKS, BLOCK = 12, 10, 50
METHODS = ("flow", "elimination")


def hierarchies(trees):
    """The groupings as `build` takes them."""
    return {
        name: [Hierarchy.parents({c: None if p == "Total" else p for c, p in one.items()}) for one in own]
        for name, own in trees.items()
    }


def told(seed, letters):
    """Unsafe cells of a random table, and how many of them a reader works out; None where it was refused."""
    rng = np.random.default_rng(seed)
    records, trees = people(rng)
    threshold = int(rng.choice([3, 4]))
    table = sf.tables.build(PolarsDataset(records, Codebook()), [*trees], hierarchies=hierarchies(trees))
    done = sf.tables.protect(table, f"n({threshold})", tell_unsafe=letters, method=METHODS[seed % len(METHODS)])
    if not done.ok:
        assert letters, "one letter always protects"
        return None
    published = read(cells_text(done.table.cells))
    assert letters or "u" not in published.letter.values()
    unsafe = done.judged.cells.filter(status="u").select(done.judged.variables).rows()
    assert all(published.value[cell] is None for cell in unsafe)
    return len(unsafe), Reader(published, trees, threshold).told(unsafe)


def small(text):
    return Reader(read(text), {}, 3)


def test_a_reader_subtracts_and_knows_that_counts_are_whole_and_one_or_more():
    head = "a,count,status\n"
    assert small(head + "Total,9,s\ny,8,s\nz,,x\n").told([("z",)]) == [("z",)]
    assert small(head + "Total,2,s\ny,,x\nz,,x\n").told([("y",)]) == [("y",)]
    assert small(head + "Total,5,s\ny,,x\nz,,x\n").interval(("y",)) == (1, 4)
    assert small(head + "Total,,x\ny,,x\nz,7,s\n").interval(("y",)) == (1, np.inf)


def test_a_reader_knows_what_letters_tell():
    head = "a,count,status\n"
    assert small(head + "Total,9,s\ny,,u\nz,,x\n").interval(("y",)) == (1, 2)
    assert small(head + "Total,4,s\ny,,u\nz,,x\n").told([("y",)]) == [("y",)]


def test_a_reader_takes_all_hidden_cells_to_be_whole_together():
    """p + q = q + r = 3 and p + r + s = 4, so s = 4 - 2p: from 1 to 2 where p may be 1.5, and 2 where it may not."""
    top = {"p": "Total", "q": "Total", "r": "Total", "s": "Total"}
    groups = {"pq": "pq", "qr": "qr", "prs": "prs"}
    trees = {"a": [{**top, **dict.fromkeys(parts, name), name: "Total"} for name, parts in groups.items()]}
    lines = ["Total,,x", "pq,3,s", "qr,3,s", "prs,4,s", "p,,x", "q,,x", "r,,x", "s,,x"]
    reader = Reader(read("\n".join(["a,count,status", *lines])), trees)
    assert reader.interval(("s",)) == (2, 2)
    assert reader.interval(("p",)) == (1, 1)


@pytest.mark.parametrize("letters", [False, True])
def test_of_some_random_tables_nothing_unsafe_is_told(letters):
    found = [told(seed, letters) for seed in range(FIRST)]
    assert sum(one is not None and one[0] > 0 for one in found) >= FIRST // 3
    assert [one[1] for one in found if one] == [[] for one in found if one]


@pytest.mark.slow
@pytest.mark.parametrize("letters", [False, True])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_of_500_random_tables_nothing_unsafe_is_told(block, letters):
    found = [told(seed, letters) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
    assert [one[1] for one in found if one] == [[] for one in found if one]
