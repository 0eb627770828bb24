"""The command line from file to release: a short file, and one of two hundred columns; and what an attack costs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Cost, cost, report_cost
from sfumato.kernels.inversion.invert import Kept, invert
from sfumato.kernels.neighbours.centroids import nearest_centroids

PLAN = """sfumato: 1
title: Wide
variables:
  id: {role: record}
  v0: {role: key, kind: continuous}
steps: []
"""


def table(rows: int, columns: int) -> pl.DataFrame:
    """Numbers of two decimals."""
    values = np.random.default_rng(1).normal(50, 10, (rows, columns)).round(2)
    return pl.DataFrame({"id": np.arange(rows)} | {f"v{j}": values[:, j] for j in range(columns)})


def items(rows: int, columns: int) -> pl.DataFrame:
    """Answers of five values, alike in part."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(rows, 1))
    answers = np.digitize(0.5 * base + rng.normal(size=(rows, columns)), [-1.5, -0.5, 0.5, 1.5])
    return pl.DataFrame({"id": np.arange(rows)} | {f"q{j}": answers[:, j] for j in range(columns)})


def command(*arguments: object) -> Cost:
    """What one run of the command line costs; its exit status may be 1, where a plan is refused."""
    program = str(Path(sys.executable).parent / "sfumato")
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, env=os.environ, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()[-300:]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{time.perf_counter() - start:.2f} s of wall time", file=sys.stderr)
    return Cost(cpu, after.ru_maxrss / 1024)


def files() -> dict[str, Cost]:
    """`init` and `protect` on the wide file, `protect` as `init` drafts it on the short one."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table(100_000, 200).write_csv(folder / "wide.csv")
        items(3_000, 300).write_csv(folder / "items.csv")
        table(891, 4).write_csv(folder / "short.csv")
        (folder / "wide.yaml").write_text(PLAN)
        found = {"init": command("init", folder / "wide.csv", "--out", folder / "drafted.yaml")}
        found["items"] = command("init", folder / "items.csv", "--out", folder / "items.yaml")
        command("init", folder / "short.csv", "--out", folder / "short.yaml")
        command("protect", folder / "short.yaml", folder / "short.csv", "--out", folder / "once")
        found["short"] = command("protect", folder / "short.yaml", folder / "short.csv", "--out", folder / "twice")
        wide = folder / "wide.yaml"
        found["wide"] = command("protect", wide, folder / "wide.csv", "--out", folder / "release", "--force")
    return found


def attack() -> None:
    """Computing 500 incomes back from their centroids."""
    x = np.random.default_rng(2).lognormal(10, 1.5, (500, 1))
    released, stratum = nearest_centroids(x, 3), np.zeros(500, dtype=np.int64)
    invert(released[:60], stratum[:60], 3, Kept())  # compiles
    report_cost(lambda: invert(released, stratum, 3, Kept()))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    found, solved = files(), cost("protect", "attack")
    init, wide, short = found["init"], found["wide"], found["short"]
    return [
        ("init, 10^5 × 200", f"{init.cpu:.1f} CPU s", "≤ 30 CPU s", init.cpu <= 30),
        ("init, 3,000 × 300", f"{found['items'].cpu:.1f} CPU s", "≤ 25 CPU s", found["items"].cpu <= 25),
        (
            "protect, the same, nothing masked",
            f"{wide.cpu:.1f} CPU s, {wide.memory:.0f} MB",
            "≤ 40 CPU s, ≤ 1,000 MB",
            wide.cpu <= 40 and wide.memory <= 1000,
        ),
        ("protect, 891 records as drafted", f"{short.cpu:.1f} CPU s", "≤ 8 CPU s", short.cpu <= 8),
        ("500 incomes computed back, k = 3", f"{solved.cpu:.2f} CPU s", "told", True),
    ]


if __name__ == "__main__":
    attack()
