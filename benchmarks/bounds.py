"""Speed of bounds from released margins, and of going through all decomposable releases."""

from __future__ import annotations

import sys
from itertools import combinations

import polars as pl
from tests.real_data import real_data

from benchmarks.measure import cost, report_cost
from sfumato.tables.bounds.bound import bounds
from sfumato.tables.releases import releases
from sfumato.tables.table import Table


def main(case: str) -> None:
    """Run one case."""
    name, what = case.split("-")
    frame = pl.read_csv(real_data() / "tables" / f"{name}.csv").with_columns(pl.exclude("n").cast(pl.String))
    if what == "releases":
        table = Table.of(frame, "n")
        report_cost(lambda: sum(1 for _ in releases(table)))
        return
    order = int(what)
    names = [n for n in frame.columns if n != "n"]
    tables = [Table.of(frame.group_by(m).agg(pl.col("n").sum()), "n") for m in combinations(names, order)]
    report_cost(lambda: bounds(tables))


_CASES = (
    ("rochdale-3", "sharp bounds of a 2^8 table from all 3-way margins", 5.0),
    ("rochdale-2", "  from all 2-way margins", 5.0),
    ("czech_autoworkers-releases", "all 18,153 decomposable releases of a 2^6 table, with their bounds", 3.0),
)


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    out = []
    for case, what, bar in _CASES:
        spent = cost("bounds", case, repeats=1)
        out.append((what, f"{spent.cpu:.2f} CPU s, {spent.memory:.0f} MB", f"≤ {bar:g} CPU s", spent.cpu <= bar))
    return out


if __name__ == "__main__":
    main(sys.argv[1])
