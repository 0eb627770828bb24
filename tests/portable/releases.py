"""A few releases of invented data with their findings: `python -m tests.portable.releases FOLDER`.

Half of the plans run on a table of few whole values, in which distances tie wherever one looks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.data.finding import Finding
from sfumato.plan.plan import Plan
from sfumato.render.words import figure

__all__ = ["PLANS", "write_releases"]

_NUMBERS = ("height", "bmi", "income")
_SHARED = {"by": ["sex"], "on_small": "merge"}

_TIED = ["score", "height", "education"]

PLANS: dict[str, dict[str, Any]] = {
    "nearest": {"do": "centroids", "columns": [*_NUMBERS], "k": 5, **_SHARED},
    "mdav": {"do": "centroids", "columns": [*_NUMBERS], "k": 5, "grouping": "mdav", **_SHARED},
    "ties nearest": {"do": "centroids", "columns": _TIED, "k": 4, **_SHARED},
    "ties distinct": {"do": "centroids", "columns": ["score", "height"], "k": 3, "distinct": True},
    "ties blocks": {"do": "centroids", "columns": ["score", "height"], "k": 3, "block_size": 60},
    "ties mdav": {"do": "centroids", "columns": _TIED, "k": 4, "grouping": "mdav", **_SHARED},
    "variable": {"do": "centroids", "columns": [*_NUMBERS], "k": 5, "grouping": "variable", **_SHARED},
    "ties variable": {"do": "centroids", "columns": _TIED, "k": 4, "grouping": "variable", **_SHARED},
    "ties microaggregation": {"do": "centroids", "columns": _TIED, "k": 3, "grouping": "mdav", "rescale": False},
    "noise": {"do": "noise", "columns": [*_NUMBERS], "share": 0.2},
    "correlated noise": {"do": "noise", "columns": [*_NUMBERS], "share": 0.2, "correlated": True},
    "pram": {"do": "pram", "columns": ["region", "smoker"], "retention": 0.8},
    "invariant pram": {"do": "pram", "columns": ["sex", "smoker"], "retention": 0.8, "invariant": True},
    "swap": {"do": "swap", "columns": [*_NUMBERS], "window": 0.1, "by": ["sex"]},
    "ties swap": {"do": "swap", "columns": ["score", "height"], "window": 0.1},
    "shuffle": {"do": "shuffle", "columns": ["bmi", "income"], "given": ["height", "region"], "by": ["sex"]},
    "ties shuffle": {"do": "shuffle", "columns": ["score", "height"], "given": ["education"], "by": ["sex"]},
    "trees": {"do": "synthesise", "columns": "all", "copies": 2},
    "ties trees": {"do": "synthesise", "columns": ["score", "height", "smoker"], "smooth": True, "proper": True},
    "regressions": {"do": "synthesise", "columns": ["bmi", "smoker", "region"], "method": "parametric", "copies": 1},
}
"""One step each."""

_COLUMNS = ("sex", "education", "region", "smoker", "height", "bmi", "income", "score", "asthma")


def _table(ties: bool, n: int) -> pl.DataFrame:
    """The cohort; with ties, its numbers on a coarse grid and without its missing codes."""
    frame = sf.examples.cohort(n).select(pl.int_range(pl.len()).alias("id"), *_COLUMNS)
    if not ties:
        return frame
    coarse = frame.with_columns(
        score=(pl.col("score") // 6).clip(0), height=(pl.col("height").clip(150, 195) / 5).round() * 5
    )
    return coarse.select("id", "sex", "smoker", "education", "score", "height", "asthma")


def _plan(step: dict[str, Any], frame: pl.DataFrame) -> Plan:
    roles = {"id": {"role": "record"}, "asthma": {"role": "outcome", "kind": "categorical"}}
    kinds = {n: {"kind": "categorical"} for n in ("sex", "smoker", "region")}
    numbers = {n: {"kind": "continuous"} for n in ("education", "height", "bmi", "income", "score")}
    variables = {n: v for n, v in {**roles, **kinds, **numbers}.items() if n in frame.columns}
    return Plan(title="portable", variables=variables, steps=[step])


def _told(line: Finding) -> dict[str, Any]:
    """A finding with its figures as numbers and as they are printed."""
    plain = line.to_plain()
    return {**plain, "printed": [figure(line, plain[part], internal=True) for part in ("value", "baseline")]}


def _tables(folder: Path, n: int) -> None:
    """A table of sums, protected exactly, by flows and by elimination: what is hidden, and its intervals."""
    rng = np.random.default_rng(7)
    codes = {name: [str(i) for i in rng.integers(0, k, n)] for name, k in (("a", 8), ("b", 6))}
    rows = pl.DataFrame({**codes, "turnover": rng.integers(1, 40, n).astype(float)})  # few values: costs tie
    table = sf.tables.build(sf.read(rows), ["a", "b"], "turnover")
    for method in ("optimal", "flow", "elimination"):
        done = sf.tables.protect(table, ["n(5)", "p(10)"], method=method)
        done.table.cells.write_parquet(folder / f"table {method}.parquet")
        (folder / f"table {method}.json").write_text("[]", encoding="utf-8")


def write_releases(folder: Path, n: int = 300) -> None:
    """Write each release as `<name>.parquet` and its findings as `<name>.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, step in PLANS.items():
        frame = _table(name.startswith("ties"), n)
        done = sf.protect(_plan(step, frame), frame, secret=bytes(range(16)))
        done.data.frame.write_parquet(folder / f"{name}.parquet")
        lines = [_told(line) for line in done.report.findings]
        (folder / f"{name}.json").write_text(json.dumps(lines), encoding="utf-8")
    _tables(folder, n)


if __name__ == "__main__":
    write_releases(Path(sys.argv[1]))
