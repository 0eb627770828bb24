"""Grids of a protected table: every cell is where it belongs, and large tables are cut."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.api.protect_table import Making, TableAsked
from sfumato.api.table_grid import table_grid
from sfumato.release.secret import Secret

TREE = "Leeds,North\nYork,North\nBath,South\n"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    pick = {"town": ["Leeds", "York", "Bath"], "sex": ["f", "m"], "ill": ["no", "yes"], "age": ["old", "young"]}
    return pl.DataFrame({name: rng.choice(codes, 70) for name, codes in pick.items()})


@pytest.fixture(scope="module")
def made(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    (folder / "town.csv").write_text(TREE)
    asked = TableAsked(("town", "sex", "ill", "age"), hierarchies=(("town", str(folder / "town.csv")),))
    return Making(sf.read(frame), asked, folder, Secret(bytes(16))).made("suppress", "auto", "t.csv")


def counted(frame, **codes):
    """Records with these codes, counted anew."""
    held = pl.Series([True] * len(frame))
    for name, code in codes.items():
        if code != "Total":
            below = {"North": ["Leeds", "York"], "South": ["Bath"]}.get(code, [code])
            held &= frame[name].is_in(below)
    return int(held.sum())


def test_every_cell_is_that_of_its_codes(made, frame):
    grid = table_grid(made)
    assert (grid["shown"], grid["cells"]) == (6 * 3 * 3 * 3, 6 * 3 * 3 * 3)
    assert [(one["code"], one["total"]) for one in grid["columns"]] == [("Total", True), ("f", False), ("m", False)]
    marks = set()
    for one in grid["grids"]:
        codes = dict(one["of"])
        assert [(row["code"], row["depth"], row["total"]) for row in one["rows"]] == [
            ("Total", 0, True), ("North", 1, True), ("Leeds", 2, False), ("York", 2, False), ("South", 1, True),
            ("Bath", 2, False),
        ]  # fmt: skip
        for row in one["rows"]:
            for column, cell in zip(grid["columns"], row["cells"], strict=True):
                true = counted(frame, town=row["code"], sex=column["code"], **codes)
                if cell is None:
                    assert true == 0
                    continue
                marks.add(cell["mark"])
                assert cell["true"] == true
                assert cell["value"] == (None if cell["mark"] in ("primary", "secondary") else true)
                if cell["mark"] == "primary":
                    assert true < 3
                if cell["value"] is None:
                    assert cell["lower"] <= true
                    assert cell["upper"] == "INF" or cell["upper"] >= true
    assert marks == {"", "primary", "secondary"}


@pytest.mark.parametrize(("most", "grids", "rows"), [(18, 1, 6), (20, 1, 6), (21, 2, 1), (10, 1, 3), (2, 0, 0)])
def test_large_tables_are_cut_at_whole_rows(made, most, grids, rows):
    grid = table_grid(made, most)
    assert grid["shown"] <= most
    assert grid["cells"] == 162
    assert len(grid["grids"]) == grids
    assert not grids or len(grid["grids"][-1]["rows"]) == rows


def test_one_variable_is_one_column(frame, tmp_path):
    asked = TableAsked(("sex",), rules=("n(2)",))
    grid = table_grid(Making(sf.read(frame), asked, tmp_path, Secret(bytes(16))).made("suppress", "auto", "t.csv"))
    assert grid["columns"] == []
    assert [row["cells"][0]["value"] for row in grid["grids"][0]["rows"]] == [
        70,
        counted(frame, sex="f"),
        counted(frame, sex="m"),
    ]
