"""Empty cells that are listed: only those that every table which agrees with what is listed has as 0."""

import itertools

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables import zeros
from sfumato.tables.table import Table
from sfumato.tables.zeros import refuse_hidden, with_zeros
from tests.tables.round.test_round import build, grid

TREES = {"row": Hierarchy((("r0",), ("r1",))), "col": Hierarchy((("c0",), ("c1",), ("c2",)))}


def added(table):
    """The cells that are listed beside those that were."""
    full = with_zeros(table)
    names = list(table.variables)
    new = full.table.cells.join(table.cells, on=names, how="anti")
    assert (new[table.value] == 0).all()
    return full.left, {tuple(row) for row in new.select(names).rows()}


def partial(keep, counts=((3, 0, 2), (1, 4, 0))):
    cells = grid(counts).cells
    return Table.of(cells.filter([keep(row, col, n) for row, col, n in cells.rows()]), hierarchies=TREES)


def test_totals_prove_what_is_empty():
    assert added(partial(lambda r, c, n: n > 0)) == ("none", {("r0", "c1"), ("r1", "c2")})


def test_cells_that_were_not_asked_for_stay_so():
    # inner cells only: nothing says that the others are empty
    assert added(partial(lambda r, c, n: n > 0 and "Total" not in (r, c))) == ("unproved", set())
    # both parts of a row were not asked for, its total was
    assert added(partial(lambda r, c, n: c == "Total" or (r == "r0" and n > 0)))[1] == {("r0", "c1")}
    # a set of variables that is not listed at all is none that was asked for
    assert added(partial(lambda r, c, n: n > 0 and (r == "Total" or c == "Total"))) == ("none", set())


def test_a_total_that_is_zero_has_empty_parts():
    counts = ((0, 0, 0), (1, 4, 2))
    left, new = added(partial(lambda r, c, n: n > 0 or (r, c) == ("r0", "Total"), counts))
    assert (left, new) == ("none", {("r0", "c0"), ("r0", "c1"), ("r0", "c2")})


@pytest.mark.slow
def test_nothing_is_claimed_that_another_table_contradicts():
    rng = np.random.default_rng(7)
    every = [np.array(v).reshape(2, 3) for v in itertools.product(range(3), repeat=6)]
    sums = np.array([grid(unit.reshape(2, 3)).values for unit in np.eye(6, dtype=int)])
    listed = np.reshape(every, (-1, 6)) @ sums
    names = [row[:2] for row in grid(every[0]).cells.rows()]
    claimed = 0
    for _ in range(60):
        true = rng.integers(0, len(every))
        keep = rng.random(12) < rng.choice([0.5, 0.8, 0.95])
        keep &= (listed[true] > 0) | (rng.random(12) < 0.3)
        if not keep.any():
            continue
        table = Table.of(grid(every[true]).cells.filter(keep), hierarchies=TREES)
        agree = listed[(listed[:, keep] == listed[true, keep]).all(axis=1)]
        sure = {name for name, column in zip(names, agree.T, strict=True) if not column.any()}
        _, new = added(table)
        assert new <= sure
        claimed += len(new)
    assert claimed > 50


def test_zeros_are_proved_under_hierarchies():
    tree = {"town": Hierarchy((("Leeds", "North"), ("York", "North"), ("Bath", "South"), ("Hove", "South")))}
    rows = {"town": ["Total", "North", "Leeds", "Bath"], "count": [7, 4, 4, 3]}
    # the South was not listed, but is known: 3 at most beside the North, and 3 at least for Bath
    assert added(Table.of(pl.DataFrame(rows), hierarchies=tree)) == ("none", {("York",), ("Hove",)})


def test_a_table_of_records_without_totals_is_known():
    people = pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["y", "n", "n"]})
    assert added(build(people, ["sex", "ill"], margins=False)) == ("none", {("m", "y")})
    assert added(build(people, ["sex", "ill"])) == ("none", {("m", "y")})
    # coarser codes of a table that lists the finest only are no zeros, and known to be none
    tree = {"sex": Hierarchy((("f", "all"), ("m", "all")))}
    left, new = added(build(people, ["sex", "ill"], margins=False, hierarchies=tree))
    assert (left, new) == ("none", {("m", "y")})


def test_floating_point_noise_is_no_proof_against_emptiness():
    rows = {"town": ["Total", "a", "b", "c"], "pay": [0.1 + 0.2 + 0.3, 0.3, 0.2, 0.1]}
    tree = {"town": Hierarchy((("a",), ("b",), ("c",), ("d",)))}
    assert added(Table.of(pl.DataFrame(rows), "pay", tree)) == ("none", {("d",)})


def test_too_many_cells_are_not_listed(monkeypatch):
    monkeypatch.setattr(zeros, "MOST", 3)
    table = partial(lambda r, c, n: n > 0)
    assert with_zeros(table).left == "many"
    done = sf.tables.round(table, 3, "conventional")
    assert (done.complete, done.table.cells["count"].min() > 0) == (False, True)
    assert any("not listed" in note for note in done.notes)


def test_the_custodian_is_told_and_the_papers_are_true():
    from sfumato.report.tabular.rounded import papers_of_rounded

    for keep, complete in ((lambda r, c, n: n > 0, True), (lambda r, c, n: n > 0 and r != "Total", False)):
        table = partial(lambda r, c, n, keep=keep: keep(r, c, n) and c != "Total")
        done = sf.tables.round(table, 3, "conventional")
        assert done.complete is complete
        assert any("stay so" in note for note in done.notes) is not complete
        said = " ".join(papers_of_rounded(done).sentences)
        assert ("not asked for" in said) is not complete


def test_hidden_and_negative_values_are_refused():
    for value, said in ((None, "lacks"), (-1.0, "negative")):
        table = grid([[1, 2], [3, 4]]).with_columns(sums=[value] + [1.0] * 8)
        with pytest.raises(DataError, match=said):
            refuse_hidden(Table(table.axes, table.cells, "sums"), "rounded")
