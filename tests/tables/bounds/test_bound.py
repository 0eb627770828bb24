"""Bounds against all tables that have what was released, gone through one by one; and what is refused."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.bounds.bound import METHODS, bounds
from sfumato.tables.possible import Barnardised, Rounded
from sfumato.tables.table import Table
from tests.tables.bounds.every_table import ends, sums_of, table_of

SHAPES = [(2, 2), (3, 3), (2, 2, 2), (2, 3, 2), (2, 2, 2, 2)]
NAMES = "abcd"


def drawn(seed: int) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """A small table with many zeros, and margins of it that have all variables together."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[seed % len(SHAPES)]
    counts = rng.poisson(rng.choice([0.3, 0.8]), shape).astype(float)
    subsets = [m for k in range(1, len(shape)) for m in combinations(range(len(shape)), k)]
    chosen = [subsets[i] for i in rng.permutation(len(subsets))[: rng.integers(1, 5)]]
    lacking = [(i,) for i in range(len(shape)) if not any(i in m for m in chosen)]
    return counts, chosen + lacking


def seeds_of(test: str) -> list[object]:
    """Four tables of each shape, and more at night."""
    more = pytest.mark.nightly(of=f"tests/tables/bounds/test_bound.py::{test}[0]")
    return [*range(20), *(pytest.param(seed, marks=more) for seed in range(20, 60))]


def margin(counts: np.ndarray, keep: tuple[int, ...]) -> np.ndarray:
    return np.asarray(counts.sum(axis=tuple(i for i in range(counts.ndim) if i not in keep)))


def named(keep: tuple[int, ...]) -> str:
    return "".join(NAMES[i] for i in keep)


def in_order(found, ndim: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds with axes in the order of the names."""
    order = np.argsort([axis.name for axis in found.axes])
    return np.transpose(found.low, order), np.transpose(found.high, order)


@pytest.mark.parametrize("seed", seeds_of("test_auto_and_integer_are_the_ends_of_all_tables"))
def test_auto_and_integer_are_the_ends_of_all_tables(seed: int) -> None:
    counts, margins = drawn(seed)
    released = [margin(counts, m) for m in margins]
    true = ends(
        counts.shape, [s for m, r in zip(margins, released, strict=True) for s in sums_of(counts.shape, m, r, r)]
    )
    tables = [table_of(r, named(m)) for m, r in zip(margins, released, strict=True)]
    for method in ("auto", "integer", "reducible"):
        found = bounds(tables, method)
        low, high = in_order(found, counts.ndim)
        assert found.sharp
        assert np.array_equal(low, true[0]), method
        assert np.array_equal(high, true[1]), method


@pytest.mark.parametrize("seed", seeds_of("test_the_other_methods_hold_and_are_sharp_where_they_say_so"))
def test_the_other_methods_hold_and_are_sharp_where_they_say_so(seed: int) -> None:
    counts, margins = drawn(seed)
    released = [margin(counts, m) for m in margins]
    tables = [table_of(r, named(m)) for m, r in zip(margins, released, strict=True)]
    low, high = in_order(bounds(tables), counts.ndim)
    for method in METHODS:
        try:
            found = bounds(tables, method)
        except DataError:
            assert method == "decomposable"
            continue
        least, most = in_order(found, counts.ndim)
        assert np.all(least <= low), method
        assert np.all(most >= high), method
        if found.sharp or method == "decomposable":
            assert np.array_equal(least, low), method
            assert np.array_equal(most, high), method


@pytest.mark.parametrize("seed", range(40))
def test_gaps_and_changed_counts(seed: int) -> None:
    """Hidden cells, with a range or without, rounded and Barnardised margins: whole numbers within their sets."""
    rng = np.random.default_rng(1000 + seed)
    counts, margins = drawn(seed)
    if counts.size > 9:
        pytest.skip("too many tables to go through")
    kind = ["hidden", "random", "conventional", "barnardised"][seed // 5 % 4]
    sums, tables, changes = [], [], []
    for m in margins:
        true = margin(counts, m)
        if kind == "hidden":
            gone = rng.random(true.shape) < 0.4
            upper = np.where(gone, true + rng.integers(0, 3, true.shape), np.nan)
            low, high = np.where(gone, 0, true), np.where(gone, upper, true)
            tables.append(table_of(np.where(gone, np.nan, true), named(m), upper=upper))
            changes.append(None)
        elif kind == "barnardised":
            step = np.where(true > 0, rng.integers(-1, 2, true.shape), 0)
            shown = true + step
            # a published 0 was 0 or 1; any other was not 0, for zeros are kept
            low, high = np.where(shown > 0, np.maximum(shown - 1, 1), 0), shown + 1
            tables.append(table_of(shown, named(m)))
            changes.append(Barnardised())
        else:
            rest = true % 3
            up = rest == 2 if kind == "conventional" else rng.random(true.shape) < rest / 3
            shown = true - rest + np.where(up & (rest > 0), 3, 0)
            reach = 1 if kind == "conventional" else 2
            low, high = np.maximum(shown - reach, 0), shown + reach
            tables.append(table_of(shown, named(m)))
            changes.append(Rounded(3, "conventional" if kind == "conventional" else "random"))
        sums += sums_of(counts.shape, m, low, high)
    true_ends = ends(counts.shape, sums)
    found = bounds(tables, changed=changes)
    low, high = in_order(found, counts.ndim)
    assert np.array_equal(low, true_ends[0])
    assert np.array_equal(high, true_ends[1])
    assert np.all(low <= counts)
    assert np.all(counts <= high)


def test_the_order_of_rows_changes_nothing() -> None:
    counts, margins = drawn(8)
    tables = [table_of(margin(counts, m), named(m)).cells for m in margins]
    shuffled = [cells.sample(fraction=1, shuffle=True, seed=4) for cells in tables]
    one, other = (bounds([Table.of(cells) for cells in some]).cells for some in (tables, shuffled))
    assert one.equals(other)


def test_totals_beside_the_cells_are_used() -> None:
    """One file with its totals and a hidden pair."""
    rows = pl.DataFrame(
        {
            "a": ["Total", "Total", "Total", "1", "1", "1", "2", "2", "2"],
            "b": ["Total", "x", "y"] * 3,
            "count": [10, 6, 4, 7, None, None, 3, None, None],
        }
    )
    assert bounds(Table.of(rows)).cells["lower"].to_list() == [3, 1, 0, 0]
    assert bounds(Table.of(rows)).cells["upper"].to_list() == [6, 4, 3, 3]


def test_broader_codes_of_a_hierarchy_are_used() -> None:
    tree = Hierarchy((("Leeds", "North"), ("York", "North"), ("Bath", "South")))
    towns = pl.DataFrame({"town": ["North", "South"], "sex": ["f", "f"], "count": [1.0, 4.0]})
    towns = Table.of(towns, hierarchies={"town": tree})
    plain = Table.of(pl.DataFrame({"town": ["Leeds", "York", "Bath"], "count": [3.0, 2.0, 6.0]}))
    sexes = Table.of(pl.DataFrame({"sex": ["f", "m"], "count": [5.0, 6.0]}))
    cells = bounds([towns, plain, sexes]).cells
    found = {row[:2]: row[2:] for row in cells.iter_rows()}
    assert found["Leeds", "f"] == (0, 1)
    assert found["York", "m"] == (1, 2)
    assert found["Bath", "f"] == (4, 4)


def test_sums_may_be_fractions() -> None:
    rows = Table.of(pl.DataFrame({"a": ["1", "2"], "t": [7.5, 3.0]}), "t")
    columns = Table.of(pl.DataFrame({"b": ["x", "y"], "t": [6.25, 4.25]}), "t")
    for method in ("auto", "linear", "shuttle"):
        assert bounds([rows, columns], method, whole=False).cells.row(0) == ("1", "x", 3.25, 6.25)


def test_a_tolerance_widens_what_was_rounded() -> None:
    rows = Table.of(pl.DataFrame({"a": ["1", "2"], "count": [7, 3]}))
    columns = Table.of(pl.DataFrame({"b": ["x", "y"], "count": [6, 5]}))
    with pytest.raises(DataError, match="grand totals differ"):
        bounds([rows, columns])
    found = bounds([rows, columns], tolerance=1)
    assert found.cells.row(0) == ("1", "x", 1, 7)


def test_summed_totals_tell_no_more_than_their_cells() -> None:
    """Seed, end of 2.5: a row of zeros and a one whose total was changed by itself to 0; summed, it could not be."""
    rows = pl.DataFrame({"a": ["Total", "1", "2"], "count": [0, 1, 0]})
    own = bounds(Table.of(rows), changed=Barnardised()).cells
    assert own.rows() == [("1", 1, 1), ("2", 0, 0)]
    summed = bounds(Table.of(rows), changed=Barnardised(totals="summed")).cells
    assert summed.rows() == [("1", 1, 2), ("2", 0, 1)]


def two(one: dict, other: dict) -> list[Table]:
    return [Table.of(pl.DataFrame(one)), Table.of(pl.DataFrame(other))]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (two({"a": ["1"], "b": ["x"], "count": [3]}, {"b": ["x"], "c": ["u"], "count": [4]}), "sums by 'b' differ"),
        (two({"a": ["1"], "count": [3]}, {"a": ["1"], "count": [4]}), "sums by 'a' differ"),
        (two({"a": ["1"], "count": [3]}, {"b": ["1"], "count": [4]}), "table 1 and table 2.* grand totals differ"),
        (two({"a": ["1"], "count": [3]}, {"b": ["1"], "count": [2.5]}), "whole number"),
        ([Table.of(pl.DataFrame({"a": ["1", "2", "Total"], "count": [1, 2, 4]}))], "table 1 contradicts itself"),
        ([Table.of(pl.DataFrame({"a": ["1"], "n": [-1]}), "n")], "negative"),
        ([], "no table"),
    ],
)
def test_what_is_refused(tables: list[Table], message: str) -> None:
    with pytest.raises(DataError, match=message):
        bounds(tables)


def test_margins_that_agree_in_pairs_and_not_together() -> None:
    """No table of yes and no has these three: each pair of variables always differs."""
    pairs = [("ab", [0, 1, 1, 0]), ("bc", [0, 1, 1, 0]), ("ac", [0, 1, 1, 0])]
    tables = [table_of(np.array(n, float).reshape(2, 2), names) for names, n in pairs]
    for method in ("auto", "integer", "linear"):
        with pytest.raises(DataError, match="no table has all these values at once"):
            bounds(tables, method)


def test_decomposable_says_what_is_not() -> None:
    tables = [table_of(np.ones((2, 2)), names) for names in ("ab", "bc", "ac")]
    with pytest.raises(DataError, match="not decomposable"):
        bounds(tables, "decomposable")
    with pytest.raises(DataError, match="gaps"):
        bounds(tables[0], "decomposable", changed=Barnardised())


def test_too_large_a_cross_product_is_refused_at_once() -> None:
    tables = [Table.of(pl.DataFrame({n: [f"{i:03d}" for i in range(200)], "count": [1] * 200})) for n in "abc"]
    with pytest.raises(DataError, match="'c' has most codes"):
        bounds(tables)


def test_bounds_of_many_cells_have_a_closed_form() -> None:
    """A chain of six variables with eight codes each: 262,144 cells."""
    rng = np.random.default_rng(5)
    joint = rng.poisson(3, (8,) * 6).astype(float)
    tables = []
    for i in range(5):
        gone = tuple(k for k in range(6) if k not in (i, i + 1))
        tables.append(table_of(joint.sum(axis=gone), "abcdef"[i : i + 2]))
    found = bounds(tables)
    assert found.ways == ("decomposable",)
    assert np.all(found.low <= joint)
    assert np.all(joint <= found.high)
