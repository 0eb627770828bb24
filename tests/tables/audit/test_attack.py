"""The audit: published figures, several releases, levels, and a plain program written from the codes alone."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.audit import audit
from sfumato.tables.audit.attack import Levels
from sfumato.tables.table import Table

COUNTS = np.array([[0, 3, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]])
"""Figure 2 of the seed (Smith & Elliot's report on statistical disclosure control for CLEF)."""


def crossed(
    counts: np.ndarray, primary: set[tuple[str, str]], secondary: set[tuple[str, str]], names: str = "rc"
) -> Table:
    """Two-way table with totals, hidden cells without value."""
    rows, columns = "abcdefgh"[: len(counts)], "stuvwxyz"[-counts.shape[1] :]
    lines = []
    for r, c in product(["Total", *rows], ["Total", *columns]):
        part = counts if r == "Total" else counts[[rows.index(r)]]
        part = part if c == "Total" else part[:, [columns.index(c)]]
        status = "u" if (r, c) in primary else "x" if (r, c) in secondary else "s"
        lines.append((r, c, None if status in "ux" else float(part.sum()), status))
    return Table.of(pl.DataFrame(lines, schema=[*names, "count", "status"], orient="row"))


def test_figure_3_as_printed_gives_the_one_away() -> None:
    # 21 - 4 - 7 - 9 = 1 is the hidden total, and the one cell of its row that is not a published zero
    shown = crossed(COUNTS, {("b", "x")}, {("b", "Total"), ("Total", "x"), ("Total", "z")})
    assert audit(shown).exact == 1
    assert not audit(shown).passed


def test_figure_4_leaves_nought_or_one() -> None:
    table = crossed(COUNTS, {("b", "x")}, {("a", "x"), ("a", "z"), ("b", "z")})
    found = audit(table, lower=0)
    place = next(i for i, r in enumerate(table.cells.iter_rows()) if r[:2] == ("b", "x"))
    assert (found.lower[0][place], found.upper[0][place]) == (0, 1)
    assert found.summary() == {"exact": 0, "below_level": None, "useless": 0}
    assert any("whole" in note for note in found.notes)


def regions(grouping: dict[str, str], hidden: dict[str, str]) -> Table:
    """One of the linked tables of sdcTable's issue 136: regions under one of two groupings."""
    sizes = dict(zip("ABIJKLMN", (2, 2, 8, 8, 3, 3, 3, 7), strict=True))
    groups = {g: [c for c in sizes if grouping[c] == g] for g in sorted(set(grouping.values()))}
    values = (
        sizes | {g: sum(sizes[c] for c in members) for g, members in groups.items()} | {"Total": sum(sizes.values())}
    )
    lines = [(c, None if c in hidden else float(v), hidden.get(c, "s")) for c, v in values.items()]
    tree = Hierarchy(tuple((c, grouping[c]) for c in sizes))
    return Table.of(
        pl.DataFrame(lines, schema=["region", "count", "status"], orient="row"), hierarchies={"region": tree}
    )


def test_linked_tables_protected_one_by_one_are_not_safe_together() -> None:
    counties = regions(dict(zip("ABIJKLMN", ["c1"] * 4 + ["c2"] * 4, strict=True)), {"A": "u", "I": "x"})
    groups = regions(dict.fromkeys("ABIJKN", "small") | dict.fromkeys("LM", "big"), {"A": "u", "K": "x"})
    assert audit(counties).exact == 0
    assert audit(groups).exact == 0
    # each hides another partner of A, which the other one tells
    assert audit([counties, groups]).exact == 1


def test_what_a_later_release_tells_is_told() -> None:
    first = crossed(COUNTS, {("b", "x")}, {("a", "x"), ("a", "z"), ("b", "z")})
    later = Table.of(pl.DataFrame({"c": ["Total", "x"], "count": [21.0, 5.0]}))
    assert audit([first, later], lower=0).exact == 0
    told = Table.of(pl.DataFrame({"r": ["a"], "c": ["x"], "count": [3.0]}))
    assert audit([first, told], lower=0).exact == 1


def test_levels_come_from_the_judged_table() -> None:
    table = crossed(COUNTS, {("b", "x")}, {("a", "x"), ("a", "z"), ("b", "z")})
    true = crossed(COUNTS, set(), set())
    keep = pl.Series([r[:2] == ("b", "x") for r in true.cells.iter_rows()])

    def judged(level: float) -> Table:
        status = pl.Series(["u" if k else "s" for k in keep])
        levels = pl.Series([level if k else None for k in keep], dtype=pl.Float64)
        return true.with_columns(status=status, lower_level=levels, upper_level=levels)

    assert audit(table, against=judged(0.0), lower=0).below_level is None
    found = audit(table, against=judged(0.5), lower=0)
    assert found.below_level == 1  # [0, 1] does not reach 1.5
    assert not found.passed
    # down to 0.5, and not to be told, are two goals that are reached
    assert found.levels == Levels(asked=3, proved=2, short=1)


def test_a_secondary_cell_too_many_is_found() -> None:
    table = crossed(
        COUNTS, {("b", "x")}, {("a", "x"), ("a", "z"), ("b", "z"), ("c", "w"), ("c", "z"), ("d", "w"), ("d", "z")}
    )
    found = audit(table, lower=0)
    assert found.useless == 4
    assert audit(table, against=crossed(COUNTS, {("b", "x")}, set()), lower=0).exact == 0


def test_without_primary_cells_every_hidden_one_counts() -> None:
    table = crossed(COUNTS, set(), {("b", "x"), ("b", "Total")})
    assert audit(table).exact == 2


def test_insiders_find_their_neighbour() -> None:
    lines = [("Total", 9.0, "s", 9), ("a", None, "u", 1), ("b", None, "u", 2), ("c", 6.0, "s", 6)]
    table = Table.of(pl.DataFrame(lines, schema=["v", "turnover", "status", "contributors"], orient="row"), "turnover")
    found = audit(table)
    assert (found.exact, found.insider) == (0, 1)


def turnover(seed: int) -> tuple[Table, Table]:
    """A table of 8 by 8 with many hidden cells, and what was judged: each unsafe cell must reach a tenth either way."""
    rng = np.random.default_rng(seed)
    inner = rng.lognormal(3, 1, (8, 8)).round(1)
    full = np.vstack([np.column_stack([inner, inner.sum(1)]), [*inner.sum(0), inner.sum()]]).round(1)
    codes = [*"abcdefgh", "Total"]
    lines = {"r": np.repeat(codes, 9), "c": np.tile(codes, 9), "x": full.ravel()}
    status = np.where((rng.random((9, 9)) < 0.6) & (np.arange(9) < 8)[:, None] & (np.arange(9) < 8), "x", "s")
    status[status == "x"] = rng.choice(["u", "x"], (status == "x").sum())
    level = pl.Series(np.where(status == "u", full / 10, np.nan).ravel()).fill_nan(None)
    judged = pl.DataFrame(lines).with_columns(status=pl.Series(status.ravel()), lower_level=level, upper_level=level)
    hidden = judged.select("r", "c", pl.when(pl.col("status") == "s").then("x").alias("x"), "status")
    return Table.of(hidden, "x"), Table.of(judged, "x")


def test_what_is_not_decided_within_the_work_is_not_passed() -> None:
    table, judged = turnover(1)
    whole, none = audit(table, against=judged), audit(table, against=judged, work=0)
    unsafe = int((judged.cells["status"] == "u").sum())
    assert whole.levels is not None
    assert none.levels is not None
    assert (whole.levels.asked, whole.levels.unproved) == (2 * unsafe, 0)
    assert (whole.levels.proved, none.levels.proved) == (2 * unsafe - whole.levels.short, 0)
    assert none.levels.asked == none.levels.short + none.levels.unproved
    assert not none.passed
    assert "unproved" in none.problems[0].to_list()
    assert (none.useless, none.exact) == (None, whole.exact)


def test_intervals_that_are_not_worked_out_are_empty_and_never_wrong() -> None:
    table, judged = turnover(2)
    whole = audit(table)
    hidden = np.isnan(table.values)
    assert (~np.isnan(whole.lower[0]) == hidden).all()
    seen = set()
    for work in (0, 1e-4, 3e-4, 1e-3):
        some = audit(table, against=judged, work=work)
        told = ~np.isnan(some.lower[0])
        seen.add(int(told.sum()))
        np.testing.assert_allclose(some.lower[0][told], whole.lower[0][told], atol=1e-6)
        np.testing.assert_allclose(some.upper[0][told], whole.upper[0][told], atol=1e-6)
        if told.sum() < hidden.sum():
            assert any("--work" in note for note in some.notes)
    assert len(seen) > 1


def test_what_is_not_handed_out_changes_no_interval() -> None:
    table, judged = turnover(3)
    without, against = audit(table), audit(table, against=judged)
    assert np.array_equal(without.lower[0], against.lower[0], equal_nan=True)
    assert np.array_equal(without.upper[0], against.upper[0], equal_nan=True)


def test_determined_cells_are_found_whatever_the_work() -> None:
    shown = crossed(COUNTS, {("b", "x")}, {("b", "Total")})
    found = audit(shown, work=0)
    assert (found.exact, found.passed) == (1, False)
    assert found.levels == Levels(asked=1, short=1)


def test_sliding_levels_are_one_goal_a_cell() -> None:
    table, judged = turnover(4)
    unsafe = int((judged.cells["status"] == "u").sum())
    found = audit(table, against=judged, sliding=True)
    assert found.levels is not None
    assert found.levels.asked == unsafe


def test_ends_of_intervals_of_counts_are_whole() -> None:
    lines = [("Total", 4.0, "s"), ("a", None, "x"), ("b", None, "x"), ("c", None, "x")]
    table = Table.of(pl.DataFrame(lines, schema=["v", "count", "status"], orient="row"))
    found = audit(table)  # one of them is 2, and nobody knows which
    assert (found.exact, found.levels) == (0, Levels(asked=3, proved=3))
    assert found.lower[0][1:].tolist() == [1, 1, 1]
    assert found.upper[0][1:].tolist() == [2, 2, 2]


def test_tables_that_contradict_the_bounds_are_refused() -> None:
    lines = [("Total", 9.0, "s"), ("a", None, "u"), ("b", 12.0, "s")]
    table = Table.of(pl.DataFrame(lines, schema=["v", "turnover", "status"], orient="row"), "turnover")
    with pytest.raises(DataError, match="contradict"):
        audit(table)
    assert audit(table, lower=-np.inf).exact == 1
    with pytest.raises(DataError, match="no table"):
        audit([])


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=12)
def test_a_plain_program_written_from_the_codes_finds_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = {"a1": "a", "a2": "a", "a": "Total", "b": "Total"}
    codes, others = ["Total", "a", "a1", "a2", "b"], ["Total", "x", "y", "z"]
    inner = {(r, c): float(rng.integers(1, 9)) * 1.5 for r in ("a1", "a2", "b") for c in "xyz"}

    def under(code: str, top: str) -> bool:
        return code == top or (code in tree and under(tree[code], top))

    cells = list(product(codes, others))
    value = {k: sum(v for (r, c), v in inner.items() if under(r, k[0]) and k[1] in ("Total", c)) for k in cells}
    hidden = {k for k in cells if rng.random() < 0.45} - {("Total", "Total")}
    lines = [(*k, None if k in hidden else value[k], "u" if k in hidden else "s") for k in cells]
    frame = pl.DataFrame(
        lines, schema={"r": pl.String, "c": pl.String, "turnover": pl.Float64, "status": pl.String}, orient="row"
    )
    hierarchy = Hierarchy((("a1", "a"), ("a2", "a"), ("b",)))
    table = Table.of(frame.sample(fraction=1, shuffle=True, seed=seed % 1000), "turnover", {"r": hierarchy})
    found = audit(table)
    rows = [[float(under(r, k[0]) and k[1] in ("Total", c)) for r, c in inner] for k in cells]
    told = [i for i, k in enumerate(cells) if k not in hidden]
    exact = 0
    ends = {row[:2]: i for i, row in enumerate(table.cells.select("r", "c").iter_rows())}
    equal = {"A_eq": np.array(rows)[told], "b_eq": [value[cells[t]] for t in told]}
    for i, k in enumerate(cells):
        if k in hidden:
            low, high = (sign * linprog(sign * np.array(rows[i]), **equal).fun for sign in (1, -1))
            np.testing.assert_allclose([found.lower[0][ends[k]], found.upper[0][ends[k]]], [low, high], atol=1e-5)
            exact += high - low < 1e-5
    assert found.exact == exact


def test_levels_of_several_releases_come_from_the_judged_table_of_each() -> None:
    """Of a + b = 10 each is anything from 0 to 10: that is too near for a level of 8."""

    def release(name: str, status: str) -> tuple[Table, Table]:
        lines = {name: ["Total", "a", "b"], "x": [10.0, 4.0, 6.0], "status": ["s", status, "x"]}
        levels = {"lower_level": [None, 8.0, None], "upper_level": [None, 8.0, None]}
        judged = Table.of(pl.DataFrame(lines | levels), "x")
        hidden = pl.DataFrame(lines).with_columns(pl.when(pl.col("status") == "s").then("x").alias("x"))
        return Table.of(hidden, "x"), judged

    (first, judged), (second, other) = release("v", "u"), release("w", "u")
    one = audit([first, second], against=judged)
    assert one.below_level == 1
    assert any("--against again" in note for note in one.notes)
    both = audit([first, second], against=[judged, other])
    assert both.below_level == 2
    assert not any("--against again" in note for note in both.notes)
    with pytest.raises(DataError, match="no table that is audited"):
        audit(first, against=other)
