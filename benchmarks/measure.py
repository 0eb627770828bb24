"""Time and memory of one piece of work, in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Cost", "cost", "machine", "report_cost"]

_MB = 1024.0  # ru_maxrss is in kilobytes


@dataclass(frozen=True)
class Cost:
    """CPU seconds, and megabytes of memory at the peak above what stood when the work began."""

    cpu: float
    memory: float


def report_cost(work: Callable[[], object]) -> None:
    """Do a piece of work and print what it cost, as JSON for `cost`."""
    before = _peak()
    start = time.process_time()
    work()
    print(json.dumps({"cpu": time.process_time() - start, "memory": _peak() - before}))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MB


def cost(module: str, case: str, repeats: int = 3) -> Cost:
    """Run one case of a benchmark module in fresh processes and give the median CPU time and the largest memory."""
    runs = []
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    for _ in range(repeats):
        command = [sys.executable, "-m", f"benchmarks.{module}", case]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    cpu = sorted(r["cpu"] for r in runs)[len(runs) // 2]
    return Cost(cpu, max(r["memory"] for r in runs))


def machine() -> str:
    """What these figures were taken on."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
