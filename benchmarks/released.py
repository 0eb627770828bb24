"""Speed of what is measured of somebody who knows all that leaves: sizes of wide classes, and the nearest in each."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook
from sfumato.engines.polars import PolarsDataset
from sfumato.kernels.neighbours.classmates import Known, chosen, own_shares
from sfumato.kernels.neighbours.kdtree import build_tree, own_share
from sfumato.measures.patterns import patterns

COLUMNS, RECORDS, PEOPLE = 20, 10**6, 20_000
CPU, TIMES = 2.0, 10.0


def wide() -> pl.DataFrame:
    """Categories, every second one as text."""
    rng = np.random.default_rng(1)
    columns = {f"c{j}": rng.integers(0, 5 + j, RECORDS) for j in range(COLUMNS)}
    return pl.DataFrame(columns).with_columns(pl.col(f"c{j}").cast(pl.String) for j in range(0, COLUMNS, 2))


def people(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers with and without noise, of one class."""
    x = np.random.default_rng(2).normal(size=(n, 2))
    return x, x + np.random.default_rng(3).normal(scale=0.3, size=x.shape)


def looked_for(n: int) -> None:
    """The nearest record of everybody, by both distances."""
    x, z = people(n)
    none = np.zeros((n, 0), dtype=np.int64)
    known = Known(x, z, none, none, np.zeros(n, dtype=np.int64))
    for capped in (False, True):
        own_shares(known, chosen(known), capped=capped)


def by_tree(n: int) -> None:
    """The same by a tree, which takes numbers and one distance alone."""
    x, z = people(n)
    own_share(build_tree(z, np.ones(n, dtype=np.int64)), x, np.sqrt(np.square(x - z).sum(axis=1)), 1e-9)


def run(case: str) -> None:
    """One case; what is compiled is compiled before."""
    if case == "classes":
        data = PolarsDataset(wide(), Codebook())
        report_cost(lambda: patterns(data, data.columns, "category"))
        return
    work = looked_for if case == "nearest" else by_tree
    work(50)
    report_cost(lambda: work(PEOPLE))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    classes, nearest, tree = (cost("released", case) for case in ("classes", "nearest", "tree"))
    ratio = nearest.cpu / tree.cpu
    name = f"nearest of {PEOPLE:,} in one class, two distances"
    return [
        (f"classes of {COLUMNS} columns × {RECORDS:,}", f"{classes.cpu:.2f} CPU s", f"≤ {CPU:g}", classes.cpu <= CPU),
        (name, f"{nearest.cpu:.2f} CPU s, {ratio:.1f} × a tree", f"≤ {TIMES:g} ×", ratio <= TIMES),
    ]


if __name__ == "__main__":
    run(sys.argv[1])
