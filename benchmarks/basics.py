"""Speed of draws and of starting the command line."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.measure import cost, report_cost


def normals() -> None:
    """Ten million keyed normal draws."""
    from sfumato.draws import Draws, Purpose, units

    Draws(bytes(16)).normal(units(np.arange(10**7)), Purpose("noise", "bmi", "0.1"))


def version() -> float:
    """CPU seconds of `sfumato --version`, median of five."""
    command = [str(Path(sys.executable).parent / "sfumato"), "--version"]
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return sorted(seconds)[2]


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    draws, start = cost("basics", "normals"), version()
    return [
        ("10^7 keyed normal draws", f"{draws.cpu:.2f} CPU s", "≤ 2 CPU s", draws.cpu <= 2),
        ("sfumato --version", f"{start:.2f} CPU s", "< 0.5 CPU s", start < 0.5),
    ]


if __name__ == "__main__":
    from scipy.special import ndtri

    ndtri(0.5)
    report_cost(normals)
