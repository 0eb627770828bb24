"""Speed of controlled tabular adjustment: random tables of two and three dimensions."""

from __future__ import annotations

import sys
from itertools import product
from typing import Literal

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.tables.adjust import adjust
from sfumato.tables.table import Table


def random_table(shape: tuple[int, ...], primaries: int, seed: int = 1) -> Table:
    """Sums with all totals, of which some finest cells are unsafe by 10% either way."""
    rng = np.random.default_rng(seed)
    full = np.round(rng.lognormal(4, 1, shape), 1)
    unsafe = rng.choice(full.size, primaries, replace=False)
    letters = np.full(full.size, "s")
    letters[unsafe] = "u"
    letters = np.pad(letters.reshape(shape), [(1, 0)] * len(shape), constant_values="s")
    for axis in range(len(shape)):
        full = np.concatenate([full.sum(axis, keepdims=True), full], axis)
    codes = [["Total", *(f"{i:02}" for i in range(n))] for n in shape]
    frame = pl.DataFrame(list(product(*codes)), schema=[f"v{i}" for i in range(len(shape))], orient="row")
    value, status = full.ravel(), pl.Series("status", letters.ravel().astype(str))
    level = np.where(letters.ravel() == "u", 0.1 * value, 0.0)
    return Table.of(frame.with_columns(status, value=value, lower_level=level, upper_level=level), "value")


_CASES = {
    "grid-exact": ("adjustment, 50 × 50, 250 unsafe, gap 2%", (50, 50), 250, 2.0),
    "grid-fixed": ("  with fixed directions", (50, 50), 250, 2.0),
    "cube-fixed": ("adjustment, 10 × 10 × 10, 105 unsafe, with fixed directions", (10, 10, 10), 105, 10.0),
}


def main(case: str) -> None:
    """Run one case: its table and the method."""
    _, shape, primaries, _ = _CASES[case]
    table = random_table(shape, primaries)
    way: Literal["exact", "fixed"] = "exact" if case.endswith("exact") else "fixed"
    report_cost(lambda: adjust(table, gap=0.02, method=way, seconds=60))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    out = []
    for case, (what, _, _, bar) in _CASES.items():
        used = cost("adjustment", case, repeats=1)
        out.append((what, f"{used.cpu:.2f} CPU s, {used.memory:.0f} MB", f"≤ {bar:g} CPU s", used.cpu <= bar))
    return out


if __name__ == "__main__":
    main(sys.argv[1])
