"""Insiders against a plain program that knows what they know, one of them after the other."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.tables.audit.insiders import found_by_insiders, sets_alone
from sfumato.tables.equations import equations
from sfumato.tables.protect import Protected, protect
from tests.tables.suppress.auditing import attack


def made(seed: int, method: str, reader: str) -> Protected:
    """A small table of firms, protected by p%."""
    rng = np.random.default_rng(seed)
    n = 26
    rows = pl.DataFrame(
        {"a": rng.integers(0, 4, n), "b": rng.integers(0, 3, n), "x": rng.lognormal(2, 1.3, n).round(1)}
    )
    table = sf.tables.build(sf.read(rows.with_columns(pl.col("a", "b").cast(pl.String))), ["a", "b"], "x")
    return protect(table, ["n(2)", "p(15)"], method=method, reader=reader)  # type: ignore[arg-type]


def brute(done: Protected) -> tuple[set[int], set[int]]:
    """Cells that some insider finds exactly, and more closely than their level: a program for each pair of cells."""
    merged = equations(done.judged)
    matrix, value = merged.system.matrix, merged.system.value
    cells = done.judged.cells
    hidden = merged.gather([cells["status"].is_in(["u", "x"]).to_numpy()], "any") > 0
    primary = np.flatnonzero(merged.gather([(cells["status"] == "u").to_numpy()], "any") > 0)
    level = [merged.gather([done.judged.column(n)], "max") for n in ("lower_level", "upper_level")]  # type: ignore[list-item]
    count, largest = (merged.gather([done.judged.column(n)], "max") for n in ("contributors", "largest"))  # type: ignore[list-item]
    exact, close = set(), set()
    for other in np.flatnonzero(hidden).tolist():
        low, high, seen = np.zeros(len(value)), np.full(len(value), np.inf), hidden.copy()
        low[other] = largest[other]
        seen[other] = count[other] > 1
        interval = attack(matrix, value, seen, low, high)
        for cell in primary.tolist():
            if other == cell or (count[other] > 1 and largest[other] == largest[cell]):
                continue
            ends = interval(cell)
            slack = 1e-5 * max(1.0, float(value[cell]))
            if ends[1] - ends[0] < slack:
                exact.add(cell)
            elif value[cell] - ends[0] < level[0][cell] - slack or ends[1] - value[cell] < level[1][cell] - slack:
                close.add(cell)
    return exact, close - exact


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["contributor", "outsider"]))
@settings(max_examples=12, deadline=None)
def test_a_plain_program_for_each_insider_finds_the_same(seed: int, reader: str) -> None:
    done = made(seed, "flow", reader)
    exact, close = brute(done)
    lines = done.audit.problems[0].to_list()
    place = equations(done.judged).cell[0].tolist()
    unsafe = (done.judged.cells["status"] == "u").to_list()
    said = {name: {c for c, line in zip(place, lines, strict=True) if line == name} for name in set(lines) if name}
    wholly, nearly = said.get("insider", set()), said.get("insider below level", set())
    assert wholly <= exact  # where bounds add to the equations, a cell may be told exactly and is called too close
    assert wholly | nearly == exact | close
    counted = [sum(u and c in cells for c, u in zip(place, unsafe, strict=True)) for cells in (wholly, nearly)]
    assert list(done.audit.insiders().values()) == counted


@pytest.mark.parametrize("method", ["optimal", "flow", "elimination"])
def test_a_table_holds_against_each_contributor_over_several_equations(method: str) -> None:
    holds(method, range(2))


@pytest.mark.nightly(
    of="tests/tables/audit/test_insiders.py::test_a_table_holds_against_each_contributor_over_several_equations"
)
@pytest.mark.parametrize("method", ["optimal", "flow", "elimination"])
def test_more_tables_hold_against_each_contributor(method: str) -> None:
    holds(method, range(2, 20))


def holds(method: str, seeds: range) -> None:
    for seed in seeds:
        done = made(seed, method, "contributor")
        unhelped = "insider" in done.suppression.reason or "bounds" in done.suppression.reason
        assert (done.audit.insider == 0 and done.ok) or unhelped


def grid(contributors: list[list[int]]) -> sf.tables.Table:
    """A table of 3 by 3 with published totals, all inner cells hidden; who is alone in which, 0 where several are."""
    lines = []
    for r, c in np.ndindex(4, 4):
        inner = r < 3 and c < 3
        alone = contributors[r][c] if inner else 0
        value = None if inner else 9.0 * (3 if r == 3 else 1) * (3 if c == 3 else 1)
        name = ("abc" + "T")[r].replace("T", "Total"), ("xyz" + "T")[c].replace("T", "Total")
        lines.append((*name, value, "u" if inner else "s", 1 if alone else 4, alone or None))
    columns = ["r", "c", "v", "status", "contributors", "sfumato:single"]
    return sf.tables.Table.of(pl.DataFrame(lines, schema=columns, orient="row"), "v")


def test_one_who_is_alone_in_several_cells_knows_them_all_at_once() -> None:
    """Two cells of a row tell the third; one of them alone tells nothing of a table of 3 by 3."""
    table = grid([[7, 7, 0], [0, 0, 0], [0, 0, 0]])
    one = sf.tables.audit(table)
    two = sf.tables.audit(grid([[7, 8, 0], [0, 0, 0], [0, 0, 0]]))
    assert (one.insider, two.insider) == (1, 0)
    assert table.cells.filter(one.problems[0] == "insider").select("r", "c").rows() == [("a", "z")]


def test_several_equations_are_taken_together() -> None:
    """Who knows two by two inner cells works out the other five."""
    found = sf.tables.audit(grid([[7, 7, 0], [7, 7, 0], [0, 0, 0]]))
    assert found.insider == 5


def test_of_counts_nobody_knows_more() -> None:
    table = grid([[7, 7, 0], [0, 0, 0], [0, 0, 0]])
    counts = sf.tables.Table.of(table.cells.rename({"v": "count"}))
    assert sf.tables.audit(counts).insiders() == {"exact": None, "below_level": None}


@pytest.mark.parametrize("seed", range(4))
def test_sets_against_elimination_with_what_is_known_published(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = rng.integers(1, 5, (3, 3)) * (rng.random((3, 3)) < 0.7)
    table = grid(names.tolist())
    merged = equations(table)
    hidden = np.isnan(merged.system.value)
    found = found_by_insiders(merged.system.matrix, hidden, hidden, sets_alone(table, merged, hidden))
    pairs = {(int(k[0]), c) for k, cells in found for c in cells.tolist()}
    full, expected = merged.system.matrix.toarray(), set()
    for known in sets_alone(table, merged, hidden):
        left = hidden.copy()
        left[known] = False
        part = full[:, left]
        rank = np.linalg.matrix_rank(part)
        for k, cell in enumerate(np.flatnonzero(left).tolist()):
            unit = np.zeros((1, left.sum()))
            unit[0, k] = 1  # it is determined if its own equation follows from the others
            if np.linalg.matrix_rank(np.vstack([part, unit])) == rank:
                expected.add((int(known[0]), cell))
    assert pairs == expected


def test_whoever_has_the_largest_part_bounds_the_others() -> None:
    """141 - 30 - 90 = 21 is the most the first can be for the firm of 90; its level asks for 22."""
    lines = [
        ("Total", 141.0, "s", 9, 90.0),
        ("a", 20.0, "u", 3, 15.0),
        ("b", 30.0, "s", 5, 9.0),
        ("c", 91.0, "x", 2, 90.0),
    ]
    judged = sf.tables.Table.of(
        pl.DataFrame(lines, schema=["v", "x", "status", "contributors", "largest"], orient="row").with_columns(
            lower_level=pl.when(pl.col("status") == "u").then(2.0),
            upper_level=pl.when(pl.col("status") == "u").then(2.0),
        ),
        "x",
    )
    found = sf.tables.audit(sf.tables.Table.of(_handed(judged), "x"), against=judged)
    assert (found.below_level, found.insiders()) == (0, {"exact": 0, "below_level": 1})


def _handed(judged: sf.tables.Table) -> pl.DataFrame:
    hidden = pl.col("status").is_in(["u", "x"])
    return judged.cells.select("v", pl.when(~hidden).then("x").alias("x"), "status")
