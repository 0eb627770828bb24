"""Speed of the search for the best levels, and of local recoding, on Adult and on a million records made of it."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from tests.real_data import real_data

from benchmarks.measure import cost, report_cost
from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.local import local
from sfumato.kernels.lattice.patterns import Patterns, grouped
from sfumato.kernels.lattice.search import optimal

K5 = [KAnonymity(5)]
LIMIT = 0.05


def read(path: Path) -> list[list[str]]:
    """The rows of a file with semicolons."""
    with path.open(encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))


def adult() -> tuple[np.ndarray, list[Levels]]:
    """Codes of the nine keys, and their hierarchies."""
    names, *records = read(real_data() / "adult" / "adult.csv")
    codes, hierarchies = [], []
    for name, values in zip(names, zip(*records, strict=True), strict=True):
        rows = read(real_data() / "adult" / "hierarchies" / f"{name}.csv")
        place = {row[0]: i for i, row in enumerate(rows)}
        columns = list(zip(*rows, strict=True))[1:]
        hierarchies.append(Levels((np.arange(len(rows)), *(np.unique(c, return_inverse=True)[1] for c in columns))))
        codes.append([place[x] for x in values])
    return np.array(codes).T, hierarchies


def million(codes: np.ndarray, scattered: bool) -> np.ndarray:
    """Records drawn from Adult's, ages up to 3 years off; where `scattered`, 30% of educations and occupations anew."""
    rng = np.random.default_rng(1)
    n = 10**6
    drawn = codes[rng.integers(0, len(codes), n)].copy()
    drawn[:, 1] = np.clip(drawn[:, 1] + rng.integers(-3, 4, n), 0, 99)
    for j in (4, 7) if scattered else ():
        drawn[:, j] = np.where(rng.random(n) < 0.3, rng.integers(0, codes[:, j].max() + 1, n), drawn[:, j])
    return drawn


def main(case: str) -> None:
    """Run one case; what is compiled is compiled before."""
    what, _, label = case.partition("@")
    codes, hierarchies = adult()
    small = Patterns(codes[:20], np.full(20, 5))
    optimal(small, hierarchies, K5)
    if label == "adult":
        patterns, _ = grouped(codes)
        limit = 0.0 if what == "zero" else LIMIT
        work = local if what == "local" else optimal
        report_cost(lambda: work(patterns, hierarchies, K5, limit=limit))
        return
    records = million(codes, label == "scattered")
    work = local if what == "local" else optimal
    report_cost(lambda: work(grouped(records)[0], hierarchies, K5, limit=LIMIT))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds; nothing where the data are absent."""
    if not (real_data() / "adult").is_dir():
        return []
    found = []
    for what, case, bar in (
        ("best levels, Adult's 9 keys, k = 5, limit 5%", "optimal@adult", 0.3),
        ("  limit 0", "zero@adult", 0.3),
        ("  10^6 records with grouping, 9 × 10^4 patterns", "optimal@million", 1.5),
        ("  10^6 records with grouping, 3 × 10^5 patterns", "optimal@scattered", 1.5),
        ("local recoding, Adult", "local@adult", 3.0),
        ("  10^6 records with grouping, 9 × 10^4 patterns", "local@million", 15.0),
        ("  10^6 records with grouping, 3 × 10^5 patterns", "local@scattered", 15.0),
    ):
        used = cost("lattice", case)
        found.append((what, f"{used.cpu:.2f} CPU s, {used.memory:.0f} MB", f"≤ {bar:g} CPU s", used.cpu <= bar))
    return found


if __name__ == "__main__":
    main(sys.argv[1])
