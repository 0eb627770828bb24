"""Trees read off the sums of a table file: those of real tables come back, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.api.read_table import read_table
from sfumato.data.files.tables import write_cells
from sfumato.errors import DataError
from sfumato.tables.axis import Axis
from sfumato.tables.build import build
from sfumato.tables.equations import NotAdditive, equations
from sfumato.tables.nested import nested
from sfumato.tables.settle import internal
from sfumato.tables.table import Table


def under(axis: Axis) -> dict[str, frozenset[str]]:
    """The finest codes that each code of a variable holds."""
    finest = set(axis.finest.tolist())
    return {
        code: frozenset(axis.codes[i] for i in finest if axis.place[code] in axis.above[i]) for code in axis.codes[1:]
    }


def as_file(table: Table, folder: Path, seed: int) -> Table:
    """The table as its file says it, lines in some order."""
    cells = internal(table)
    write_cells(cells.sample(fraction=1.0, shuffle=True, seed=seed), folder / "t.csv")
    return read_table(folder / "t.csv", table.value)


@pytest.mark.parametrize(
    ("name", "by", "options"),
    [
        ("synth_S", "act1>act,geo1>geo,size", {"value": "turnover"}),
        ("synth_S", "act1>act,geo1>geo,size", {}),
        ("ssb_d2", "county>region,main_income", {"count": "freq"}),
        pytest.param("ssb_d3", "county>region,main_income,months2>months", {"count": "freq"}, marks=pytest.mark.slow),
        ("ssb_magnitude1", "sector2>sector4,geo", {"value": "value", "contributors": "company"}),
    ],
)
def test_trees_of_built_tables_come_back(
    name: str, by: str, options: dict[str, str], tmp_path: Path, shared_data: Path
) -> None:
    records = sf.read(shared_data / "tables" / f"{name}.csv")
    table = build(records, by, **options)
    flat = as_file(table, tmp_path, 1)
    with pytest.raises(NotAdditive):
        equations(flat)
    read, again = nested(flat), nested(as_file(table, tmp_path, 2))
    for axis in table.axes:
        found = read.axes[read.variables.index(axis.name)]
        told = {frozenset(v) for v in under(axis).values() if len(v) > 1}
        assert {frozenset(v) for v in under(found).values() if len(v) > 1} == told
    assert read.axes == again.axes
    assert "read off the sums" in read.notes[-1]


def test_several_groupings_come_back(tmp_path: Path, shared_data: Path) -> None:
    records = sf.read(shared_data / "tables" / "ssb_d2.csv")
    by = [["county>region", "main_income"], ["k_group>region", "main_income"]]
    table = build(records, by, count="freq")
    read = nested(as_file(table, tmp_path, 1))
    here, there = under(read.axes[0]), under(table.axes[0])
    assert {frozenset(v) for v in here.values()} == {frozenset(v) for v in there.values()}
    assert len(read.axes[0].groupings) == 2


def test_a_table_that_adds_up_or_lacks_values_stays() -> None:
    flat = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5, 3, 2]}))
    assert nested(flat) is flat
    hidden = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5, None, 2]}))
    assert nested(hidden) is hidden


def test_given_trees_go_before() -> None:
    rows = pl.DataFrame({"town": ["Total", "N", "a", "b", "c"], "count": [15, 9, 8, 1, 6]})
    from sfumato.data.hierarchy import Hierarchy

    given = Table.of(rows, hierarchies={"town": Hierarchy((("a", "N"), ("b", "N"), ("c",)))})
    assert nested(given) is given
    wrong = Table.of(rows, hierarchies={"town": Hierarchy((("a", "N"), ("c", "N"), ("b",)))})
    with pytest.raises(NotAdditive, match="not additive"):
        nested(wrong)


def test_what_cannot_be_told_is_refused_with_what_helps() -> None:
    codes, counts = ["Total", "N", "a", "b", "S", "c", "d"], [20, 10, 4, 6, 10, 3, 7]
    with pytest.raises(DataError, match=r"several do.*folder") as caught:
        nested(Table.of(pl.DataFrame({"town": codes, "count": counts})))
    assert "'town'" in str(caught.value)
    assert not any(f" {n}" in str(caught.value) for n in counts)


def test_a_total_that_is_wrong_is_no_tree() -> None:
    rows = {"town": ["Total", "a", "b"] * 2, "sex": ["Total"] * 3 + ["f"] * 3, "count": [9, 4, 4, 5, 2, 3]}
    with pytest.raises(NotAdditive):
        nested(Table.of(pl.DataFrame(rows)))


def test_values_with_fractions_and_noise() -> None:
    rng = np.random.default_rng(3)
    fine = rng.lognormal(8, 2, 6)
    sums = {"x": fine[:3].sum(), "y": fine[3:].sum(), "Total": fine.sum()}
    rows = {"code": [*"abcdef", *sums], "turnover": [*fine, *sums.values()]}
    read = nested(Table.of(pl.DataFrame(rows), "turnover"))
    assert under(read.axes[0])["x"] == frozenset("abc")
