"""Speed of special uniques and of log-linear models of population uniques."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import polars as pl
from tests.real_data import real_data

import sfumato as sf
from benchmarks.measure import cost, report_cost
from sfumato.kernels.classes.special_uniques import special_uniques
from sfumato.measures.risk.log_linear import log_linear
from sfumato.measures.risk.special_uniques import special

VALUES = (2, 5, 7, 12, 60, 8, 14, 40)
"""Values of the eight keys."""
SIX = ["sex", "age5", "race", "marital-status", "education", "workclass"]


def adult() -> pl.DataFrame:
    """Adult, with ages in fives."""
    frame = pl.read_csv(real_data() / "adult" / "adult.csv", separator=";")
    return frame.with_columns(age5=pl.col("age") // 5)


def people(records: int, falling: float) -> np.ndarray:
    """Codes of independent keys, a value the rarer the higher; the more even, the more records are alone."""
    rng = np.random.default_rng(1)
    columns = []
    for values in VALUES:
        share = 1 / np.arange(1, values + 1) ** falling
        columns.append(rng.choice(values, records, p=share / share.sum()))
    return np.column_stack(columns)


def every_set(codes: np.ndarray) -> None:
    """Count the combinations of every set of keys with `np.unique`, packed into one number beforehand."""
    wide = codes.max(axis=0) + 1
    for size in range(1, codes.shape[1] + 1):
        for keys in combinations(range(codes.shape[1]), size):
            np.unique(np.ravel_multi_index(tuple(codes[:, keys].T), wide[list(keys)]), return_counts=True)


def main(case: str) -> None:
    """Run one case; what is compiled is compiled before."""
    what, _, falling = case.partition("@")
    special_uniques(people(50, 1.0))
    if what in ("adult", "auto", "two-way"):
        data = sf.read(adult())
        nine = [name for name in data.columns if name != "age5"]
        log_linear(data, ["sex", "race"], 0.1, model="two-way")
        work = (lambda: special(data, nine)) if what == "adult" else (lambda: log_linear(data, SIX, 0.1, model=what))
        report_cost(work)
    elif what == "table":
        data = sf.read(pl.DataFrame(people(10**6, float(falling)), schema=[f"k{j}" for j in range(len(VALUES))]))
        report_cost(lambda: special(data, data.columns))
    else:
        codes = people(10**5 if what != "million" else 10**6, float(falling))
        report_cost(lambda: every_set(codes) if what == "every" else special_uniques(codes))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds; of Adult nothing where the data are absent."""
    found = []
    if (real_data() / "adult").is_dir():
        for what, case, bar in (
            ("special uniques, Adult's 9 keys", "adult", 0.5),
            ("log-linear model of 107,520 combinations, chosen", "auto", 2.0),
            ("  with all two-way terms", "two-way", 5.0),
        ):
            used = cost("uniques", case)
            found.append((what, f"{used.cpu:.2f} CPU s, {used.memory:.0f} MB", f"≤ {bar:g} CPU s", used.cpu <= bar))
    for what, case in (
        ("special uniques, 10^6 × 8, few records alone", "million@2"),
        ("  many", "million@1"),
        ("  the same from a table, with its counting", "table@1"),
    ):
        used = cost("uniques", case)
        found.append((what, f"{used.cpu:.2f} CPU s, {used.memory:.0f} MB", "≤ 4 CPU s", used.cpu <= 4))
    for alone, falling in (("few", 2), ("many", 1), ("nearly all", 0)):
        ours, peer = (cost("uniques", f"{case}@{falling}").cpu for case in ("walk", "every"))
        told = f"{ours:.2f} CPU s, np.unique of each of 255 sets {peer:.2f}"
        found.append((f"special uniques, 10^5 × 8, {alone} alone", told, "≥ 5 times as fast", peer >= 5 * ours))
    return found


if __name__ == "__main__":
    main(sys.argv[1])
