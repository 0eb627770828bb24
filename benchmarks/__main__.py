"""Run every benchmark, print the table, and write it into `benchmarks/README.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import (
    adjustment,
    analyses,
    basics,
    bounds,
    cells,
    centroids,
    copies,
    dependences,
    drafts,
    editing,
    exchange,
    fit,
    gate,
    grid,
    h_rank,
    hidden,
    households,
    lattice,
    leaver,
    ledger,
    linkers,
    noise,
    nuts,
    postgresql,
    primary,
    protect,
    relations,
    released,
    scale,
    spark,
    startup,
    studio,
    suppression,
    synthesis,
    tabular,
    uniques,
    units,
)
from benchmarks.measure import machine

README = Path(__file__).parent / "README.md"
MARK = "<!-- results -->"


def main() -> int:
    """Measure, write, and tell by the exit status whether every bar holds."""
    parts = (
        basics,
        startup,
        adjustment,
        protect,
        primary,
        lattice,
        leaver,
        cells,
        uniques,
        released,
        centroids,
        copies,
        drafts,
        editing,
        exchange,
        h_rank,
        households,
        units,
        noise,
        fit,
        grid,
        hidden,
        nuts,
        tabular,
        suppression,
        synthesis,
        relations,
        bounds,
        gate,
        dependences,
        ledger,
        postgresql,
        scale,
        spark,
        linkers,
        analyses,
        studio,
    )
    rows = [row for part in parts for row in part.rows()]
    lines = ["| what | measured | bar | holds |", "|---|---|---|---|"]
    lines += [f"| {what} | {figure} | {bar} | {'yes' if holds else 'NO'} |" for what, figure, bar, holds in rows]
    table = "\n".join([f"Measured on {machine()}:", "", *lines])
    print(table)
    head = README.read_text().partition(MARK)[0]
    README.write_text(f"{head}{MARK}\n\n{table}\n")
    return 0 if all(row[3] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
