"""Speed of exchange within groups: twice the records, twice the time."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.swap import Swap
from sfumato.release.run import run_steps

SECRET = bytes(range(32))
SIZES = (20_000, 40_000, 80_000)
MOST_TIMES = 2.4
"""Bar: CPU time of twice the records over that of once."""


def table(records: int) -> PolarsDataset:
    """Ten numbers and ten categories of people who are alike in part."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(records, 1))
    x = (0.5 * base + rng.normal(size=(records, 20))).round(2)
    columns = {f"x{j}": x[:, j] for j in range(10)}
    columns |= {f"c{j}": np.digitize(x[:, 10 + j], [-1.5, -0.5, 0.5, 1.5]) for j in range(10)}
    kinds = {n: Variable(kind="continuous" if n[0] == "x" else "categorical", role="key") for n in columns}
    book = Codebook({"id": Variable(role="record")} | kinds)
    return PolarsDataset(pl.DataFrame({"id": np.arange(records)} | columns), book)


def exchange(records: int) -> None:
    """Values of twenty columns exchanged within groups of five."""
    data = table(records)
    step = Swap(columns=tuple(n for n in data.frame.columns if n != "id"), group=5, perturb=0.02)
    run_steps([step], table(2_000), Draws(SECRET))  # compiles
    report_cost(lambda: run_steps([step], data, Draws(SECRET)))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    made = [(f"exchange in groups of 5, {n:,} × 20", cost("exchange", str(n))) for n in SIZES]
    what, least = made[0]
    told = [(what, f"{least.cpu:.2f} CPU s, {least.memory:.0f} MB", "baseline", True)]
    for (_, less), (what, more) in pairwise(made):
        times = more.cpu / less.cpu
        figure = f"{more.cpu:.2f} CPU s, {more.memory:.0f} MB, {times:.2f} × half as many"
        told.append((what, figure, f"≤ {MOST_TIMES} ×", times <= MOST_TIMES))
    return told


if __name__ == "__main__":
    exchange(int(sys.argv[1]))
