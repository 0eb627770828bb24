"""Published bounds: Czech autoworkers, Rochdale, the Handbook's example, the seed's figures.

Czech autoworkers: Edwards & Havranek (1985), Biometrika 72; its tightest decomposable releases in Dobra & Fienberg's
slides (31 with upper bounds (3, 3, 6), 30 next). Rochdale: Whittaker (1990). Mean widths of linear-program bounds,
rounded inwards or not, were computed elsewhere and are given to the digits that are written here.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from sfumato.tables import bounds, releases, sap
from sfumato.tables.possible import Barnardised
from sfumato.tables.sap import table_of_counts
from sfumato.tables.table import Table

FIGURE_2 = np.array([[0, 3, 0, 1], [0, 1, 0, 0], [4, 1, 0, 2], [1, 0, 7, 1]])
"""Counts of the seed's Figure 2 (report on statistical disclosure control for CLEF)."""


@pytest.fixture(scope="module")
def published(shared_data):
    def read(name: str) -> pl.DataFrame:
        frame = pl.read_csv(shared_data / "tables" / f"{name}.csv")
        return frame.with_columns(pl.exclude("n").cast(pl.String))

    return read


@pytest.fixture(scope="module")
def sharpest(published):
    """The bounds that all margins of an order give, found once."""
    return cache(lambda name, order: bounds(all_margins(published(name), order)))


def all_margins(frame: pl.DataFrame, order: int) -> list[Table]:
    names = [n for n in frame.columns if n != "n"]
    return [Table.of(frame.group_by(m).agg(pl.col("n").sum()), "n") for m in combinations(names, order)]


CZECH = {1: (527, 0.5), 2: (166, 0.5), 3: (72.1, 0.05), 4: (24.5, 0.05), 5: (1.0, 0)}
ROCHDALE = {1: (91.7, 0.05), 2: (16.4, 0.1), 3: (4.04, 0.005), 4: (0.0, 0)}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("name", "order"),
    [
        *(("czech_autoworkers", k) for k in CZECH),
        *(pytest.param("rochdale", k, marks=pytest.mark.slow if k == 2 else ()) for k in ROCHDALE),
    ],
)
def test_mean_widths_of_all_margins_of_an_order(published, sharpest, name, order):
    width, digits = (CZECH if name[0] == "c" else ROCHDALE)[order]
    linear = bounds(all_margins(published(name), order), "linear")
    assert linear.summary()["mean_width"] == pytest.approx(width, abs=digits)
    found = sharpest(name, order)
    assert found.sharp
    assert found.summary()["mean_width"] <= width + digits


@pytest.mark.parametrize(
    ("name", "order", "width"),
    [("czech_autoworkers", 3, 72.26), ("czech_autoworkers", 4, 24.58), ("rochdale", 3, 4.07)],
)
def test_mean_widths_that_are_not_rounded(published, name, order, width):
    tables = all_margins(published(name), order)
    found = bounds(tables, "linear", whole=False).summary()
    assert found["mean_width"] == pytest.approx(width, abs=0.005)


@pytest.mark.slow
def test_the_three_way_margins_of_rochdale_tell_ninety_zeros(sharpest):
    assert sharpest("rochdale", 3).summary()["zeros"] == 90


@pytest.mark.slow
def test_the_31_decomposable_releases_of_the_czech_table_that_tell_most(published):
    table = Table.of(published("czech_autoworkers"), "n")
    counts = table_of_counts(table)[0].ravel()
    cells = [*np.flatnonzero(counts == 1), *np.flatnonzero(counts == 2)]
    uppers: dict[tuple[float, ...], list] = {}
    number = 0
    for release in releases(table):
        number += 1
        uppers.setdefault(tuple(release.high[cells]), []).append(release.margins)
    assert number == 18_153
    ranked = sorted(uppers, key=sum)
    assert sorted(ranked[0]) == [3, 3, 6]
    assert len(uppers[ranked[0]]) == 31
    assert all(("A", "B", "C", "D", "F") in margins for margins in uppers[ranked[0]])
    following = [margins for margin in ranked[1:3] for margins in uppers[margin]]
    assert len(following) == 30
    assert all(("B", "C", "D", "E", "F") in margins for margins in following)


def test_bf_abce_ade_of_the_czech_table(published):
    """A release of the slides that is decomposable: its 64 bounds by the formula of cliques and separators."""
    frame = published("czech_autoworkers")
    tables = [Table.of(frame.group_by(list(m)).agg(pl.col("n").sum()), "n") for m in ("BF", "ABCE", "ADE")]
    found = bounds(tables, "decomposable").cells
    sums = {
        m: dict(zip(map(tuple, f.select(list(m)).rows()), f["n"], strict=True))
        for m in ("BF", "ABCE", "ADE", "B", "AE")
        for f in [frame.group_by(list(m)).agg(pl.col("n").sum())]
    }
    for row in found.iter_rows(named=True):
        parts = [sums[m][tuple(row[v] for v in m)] for m in ("BF", "ABCE", "ADE")]
        shared = [sums[m][tuple(row[v] for v in m)] for m in ("B", "AE")]
        assert row["upper"] == min(parts)
        assert row["lower"] == max(0, sum(parts) - sum(shared))


def test_example_3_of_the_handbook():
    """Hidden cells with row sums 7 and 3, column sums 6 and 4: the first lies between 3 and 6."""
    rows = Table.of(pl.DataFrame({"r": ["1", "2"], "count": [7, 3]}))
    columns = Table.of(pl.DataFrame({"c": ["1", "2"], "count": [6, 4]}))
    assert bounds([rows, columns]).cells.row(0) == ("1", "1", 3, 6)


def with_totals(counts: np.ndarray) -> dict[tuple[str, str], int]:
    rows = {(f"r{i}", f"c{j}"): int(n) for (i, j), n in np.ndenumerate(counts)}
    rows |= {(f"r{i}", "Total"): int(n) for i, n in enumerate(counts.sum(axis=1))}
    rows |= {("Total", f"c{j}"): int(n) for j, n in enumerate(counts.sum(axis=0))}
    return {**rows, ("Total", "Total"): int(counts.sum())}


def as_table(cells: dict[tuple[str, str], int]) -> Table:
    return Table.of(pl.DataFrame([(*at, n) for at, n in cells.items()], schema=["r", "c", "count"], orient="row"))


def test_barnardised_figure_2_comes_back_in_its_second_row():
    """The one is published as it is and its row's total as 0: the row, and its total, come back exactly."""
    shown = with_totals(FIGURE_2) | {("r1", "Total"): 0}
    found = {row[:2]: row[2:] for row in bounds(as_table(shown), changed=Barnardised()).cells.iter_rows()}
    assert [found["r1", f"c{j}"] for j in range(4)] == [(0, 0), (1, 1), (0, 0), (0, 0)]
    assert found["r0", "c1"] != (3, 3)  # no other row does


def test_figure_5_tells_all_but_the_rows_that_were_merged():
    """The recoded release of the seed, alone and with the row margin of Figure 2 beside it."""
    merged = np.array([FIGURE_2[0] + FIGURE_2[1], FIGURE_2[2], FIGURE_2[3]])
    cells = {(("r01", "r2", "r3")[i], f"c{j}"): int(n) for (i, j), n in np.ndenumerate(merged)}
    from sfumato.data.hierarchy import Hierarchy

    tree = Hierarchy((("r0", "r01"), ("r1", "r01"), ("r2",), ("r3",)))
    coarse = pl.DataFrame([(*at, n) for at, n in cells.items()], schema=["r", "c", "count"], orient="row")
    alone = Table.of(coarse, hierarchies={"r": tree})
    found = {row[:2]: row[2:] for row in bounds(alone).cells.iter_rows()}
    assert found["r1", "c1"] == (0, 4)
    assert found["r1", "c0"] == (0, 0)
    sums = Table.of(pl.DataFrame({"r": ["r0", "r1", "r2", "r3"], "count": [4, 1, 7, 9]}), hierarchies={"r": tree})
    found = {row[:2]: row[2:] for row in bounds([alone, sums]).cells.iter_rows()}
    assert found["r1", "c1"] == (0, 1)
    assert found["r0", "c1"] == (3, 4)


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0476), (2, 0.0952), (3, 0.1429)])
def test_sap_of_figure_2(k, expected):
    assert sap(FIGURE_2, k) == 1
    assert sap(FIGURE_2, k, margins=[[0]]) == pytest.approx(expected, abs=5e-5)
    assert sap(FIGURE_2, k, margins=[[1]]) == 0
    # by draws, 20,000 of them: four standard errors; the column margin adds nothing to what the row margin gives away
    assert sap(FIGURE_2, k, margins=[[0], [1]]) == pytest.approx(expected, abs=0.01)
