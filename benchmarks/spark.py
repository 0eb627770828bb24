"""CPU time of all processes of a Spark session on this machine, beside the memory engine's for the same work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress

from benchmarks.scale import KEY, table
from sfumato.methods.base import Method

ROWS, MANY = 6 * 10**6, 3 * 10**7
EXECUTORS = 6.5
"""CPU seconds of executors per 10^6 rows, of noise on many."""
BARS = {"noise": 3.5, "centroids": 4.5}
"""Of Spark's CPU time, beside that of memory."""


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds; nothing where Spark or Java is not there."""
    from tests.parts import missing

    if missing("java") or missing("spark"):
        return []
    table(ROWS)
    found = []
    for case, bar in BARS.items():
        memory, spark = (_told(f"{case}@{ROWS}", engine) for engine in ("memory", "local[2]"))
        ratio = spark["cpu"] / memory["cpu"]
        each = spark["executors"] / ROWS * 10**6
        figure = f"{ratio:.1f} × memory, executors {each:.1f} CPU s per 10^6"
        found.append((f"{case} on Spark, 6·10^6 rows, Parquet to Parquet", figure, f"≤ {bar} × memory", ratio <= bar))
    table(MANY)
    each = _told(f"noise@{MANY}", "local[2]")["executors"] / MANY * 10**6
    figure, bar = f"executors {each:.1f} CPU s per 10^6", f"≤ {EXECUTORS} s"
    return [*found, ("noise on Spark, 3·10^7 rows, Parquet to Parquet", figure, bar, each <= EXECUTORS)]


def _told(case: str, engine: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.spark", case, engine]
    threads = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=threads)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def step(case: str) -> Method:
    """What is measured."""
    from sfumato.methods.centroids.method import Centroids
    from sfumato.methods.noise.method import Noise

    if case == "centroids":
        return Centroids(columns=("bmi", "height", "income"), by=("region", "sex"), k=5)
    return Noise(columns=("bmi", "height", "weight", "income"), share=0.1, by=("region",))


def main(case: str, n: int, engine: str) -> None:
    """Do one case and print its cost as JSON: of all processes, and of those beside this one."""
    import psutil

    from sfumato.data.codebook import Codebook, Variable
    from sfumato.data.dataset import with_codebook
    from sfumato.draws import Draws
    from sfumato.engines.opening import open_parted
    from sfumato.release.run import run_steps

    def others() -> float:
        """CPU seconds of processes that this one began, those that have ended too."""
        spent = 0.0
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                spent += sum(process.cpu_times()[:4])  # own and children's, user's and system's
        return spent

    amounts = {
        name: Variable(kind="continuous", missing=(-9,) if name == "weight" else ())
        for name in ("bmi", "height", "weight", "income")
    }
    known = amounts | {"id": Variable(role="record", kind="integer")}
    with tempfile.TemporaryDirectory() as out:
        if engine == "memory":
            import polars as pl

            from sfumato.engines.polars import PolarsDataset

            start = time.process_time()
            frame = pl.read_parquet(table(n) / "*.parquet")
            run_steps([step(case)], PolarsDataset(frame, Codebook(known)), Draws(KEY)).after.frame.write_parquet(
                f"{out}/data.parquet"
            )
            print(json.dumps({"cpu": time.process_time() - start, "executors": 0.0}))
            return
        start = time.process_time()
        with open_parted(str(table(n)), engine, memory="1GB") as opened:
            data = with_codebook(opened, Codebook({**opened.codebook, **known}))
            before = others()  # that a session begins is no part of the work
            run_steps([step(case)], data, Draws(KEY)).after.write_parts(out)
            spent = others() - before
            print(json.dumps({"cpu": time.process_time() - start + spent, "executors": spent}))


if __name__ == "__main__":
    CASE, _, NUMBER = sys.argv[1].partition("@")
    main(CASE, int(NUMBER), sys.argv[2])
