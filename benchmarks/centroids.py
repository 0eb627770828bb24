"""Speed of `centroids`, disjoint groups and `protect` against a bare nearest-neighbour query and a distance matrix."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from scipy.spatial import cKDTree

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.centroids.method import Centroids
from sfumato.release.run import run_steps

K = 5
NUMBER = Variable(kind="continuous", role="key")


def points(n: int, p: int, strata: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated normal points in strata of about equal size."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(n, 1))
    return 0.5 * base + rng.normal(size=(n, p)), rng.integers(0, strata, n)


def data(x: np.ndarray, stratum: np.ndarray) -> PolarsDataset:
    """The same points as a data set."""
    columns = {f"x{j}": x[:, j] for j in range(x.shape[1])}
    frame = pl.DataFrame({"id": np.arange(len(x)), **columns, "s": stratum})
    book = {"id": Variable(role="record"), **dict.fromkeys(columns, NUMBER), "s": Variable(kind="categorical")}
    return PolarsDataset(frame, Codebook(book))


def step(p: int, **parameters: object) -> Centroids:
    """The method at its defaults."""
    return Centroids.model_validate({"columns": [f"x{j}" for j in range(p)], "by": ["s"], "k": K} | parameters)


def bare_query(x: np.ndarray, stratum: np.ndarray) -> None:
    """What any k-nearest-neighbour method must do: build a tree for each stratum and ask it."""
    for s in np.unique(stratum):
        z = x[stratum == s]
        tree = cKDTree(z, leafsize=16, balanced_tree=False, compact_nodes=False)
        for start in range(0, len(z), 200_000):
            tree.query(z[start : start + 200_000], k=K)


def matrix(x: np.ndarray, stratum: np.ndarray) -> None:
    """The way without a tree: all distances of a stratum, sorted row by row."""
    for s in np.unique(stratum):
        z = x[stratum == s]
        distance = np.sqrt(((z[:, None, :] - z[None, :, :]) ** 2).sum(axis=2))
        z[np.argsort(distance, axis=1)[:, :K]].mean(axis=1)


def loss(grouping: str) -> float:
    """Share of the spread that is lost within groups of 10^5 × 4 points in 4 strata."""
    from sfumato.kernels.neighbours.mdav import group_means, mdav
    from sfumato.kernels.neighbours.variable import variable

    x, stratum = points(10**5, 4, 4)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    parts = [z[stratum == s] for s in np.unique(stratum)]
    group = variable if grouping == "variable" else mdav
    within = sum(float(((part - group_means(part, group(part, K))) ** 2).sum()) for part in parts)
    return within / float((z**2).sum())


def run(p: int, table: PolarsDataset, **parameters: object) -> None:
    """The step alone."""
    run_steps([step(p, **parameters)], table, Draws(bytes(16)))


def protect(table: PolarsDataset) -> None:
    """The whole of `protect`: the step, every measure, the pictures."""
    from sfumato.api.protect import protect as whole
    from sfumato.plan.plan import Plan

    whole(Plan(variables=dict(table.codebook), steps=[step(4)]), table, secret=bytes(16))


def main(case: str) -> None:
    """Run one case."""
    size = {"1e4": (10**4, 4, 4), "1e5": (10**5, 4, 4), "1e6": (10**6, 4, 4), "1e7": (10**7, 2, 100)}
    what, _, label = case.partition("@")
    n, p, strata = size[label]
    x, stratum = points(n, p, strata)
    if what in ("query", "matrix"):
        work = bare_query if what == "query" else matrix
        report_cost(lambda: work(x, stratum))
        return
    table = data(x, stratum)
    if what == "protect":
        report_cost(lambda: protect(table))
    else:
        how = {} if what == "step" else {"grouping": what}
        run(p, PolarsDataset(table.frame.head(200), table.codebook), min_stratum=K, on_small="merge", **how)  # compile
        report_cost(lambda: run(p, table, **how))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    query = cost("centroids", "query@1e6")
    ours = cost("centroids", "step@1e6")
    whole = cost("centroids", "protect@1e6", repeats=2)
    small, dense = cost("centroids", "step@1e4", 5), cost("centroids", "matrix@1e4")
    large = cost("centroids", "step@1e7", repeats=1)
    mdav = cost("centroids", "mdav@1e5")
    variable, less = cost("centroids", "variable@1e5"), 1 - loss("variable") / loss("mdav")
    ratio, total, faster = ours.cpu / query.cpu, whole.cpu / query.cpu, dense.cpu / small.cpu
    return [
        ("bare cKDTree query, 10^6 × 4, 4 strata", f"{query.cpu:.2f} CPU s", "baseline", True),
        ("centroids, the same points", f"{ours.cpu:.2f} CPU s, {ratio:.2f} × query", "≤ 1.4 ×", ratio <= 1.4),
        ("  its memory above the data", f"{ours.memory:.0f} MB", "≤ 500 MB", ours.memory <= 500),
        ("protect with all measures", f"{whole.cpu:.1f} CPU s, {total:.2f} × query", "≤ 6 ×", total <= 6),
        ("distance matrix with sort, 10^4 × 4", f"{dense.cpu:.2f} CPU s", "baseline", True),
        ("centroids, the same points", f"{small.cpu:.3f} CPU s, {faster:.0f} × faster", "≥ 15 ×", faster >= 15),
        (
            "centroids, 10^7 × 2, 100 strata",
            f"{large.cpu:.1f} CPU s, {large.memory:.0f} MB",
            "< 1,500 MB",
            large.memory < 1500,
        ),
        ("MDAV, 10^5 × 4, 4 strata", f"{mdav.cpu:.2f} CPU s", "≤ 3 CPU s", mdav.cpu <= 3),
        ("variable groups, the same points", f"{variable.cpu:.2f} CPU s", "≤ 25 CPU s", variable.cpu <= 25),
        ("  their loss below MDAV's", f"{less:.1%}", "≥ 8%", less >= 0.08),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
