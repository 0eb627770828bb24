"""What a process costs before and around its work: CPU time over that of importing numpy, polars and pydantic alone."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.real_data import real_data

from sfumato.examples import cohort

RUNS = 4
"""Of each command; they take turns, so that what else the machine does meets all of them."""
BASELINE = "import numpy, polars, pydantic"
BARS = {"import sfumato as sf; sf.protect": 4.5, "init": 5.0, "risk": 6.0, "protect": 13.0}
"""By what is run, how many times the baseline it may take."""


def table(folder: Path) -> tuple[Path, str]:
    """The file that is worked on, and three keys of it: the Titanic's passengers, or as many invented people."""
    titanic = real_data() / "titanic.csv"
    if titanic.is_file():
        return titanic, "Pclass,Sex,Age"
    invented = folder / "cohort.csv"
    cohort(891).write_csv(invented)
    return invented, "region,sex,education"


def commands(folder: Path) -> dict[str, list[str]]:
    """The baseline and what is held against it, by name."""
    data, keys = table(folder)
    plan = str(folder / "plan.yaml")
    python, program = [sys.executable, "-c"], [sys.executable, "-m", "sfumato"]
    facade, init, risk, protect = BARS
    return {
        BASELINE: [*python, BASELINE],
        facade: [*python, facade],
        init: [*program, "init", str(data), "--out", plan, "--overwrite"],
        risk: [*program, "risk", str(data), "--keys", keys],
        protect: [*program, "protect", plan, str(data), "--out", str(folder / "release"), "--overwrite", "--force"],
    }


def seconds(command: list[str]) -> float:
    """CPU seconds of one run; its exit status may be 1, where a limit does not hold."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, env=os.environ, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()[-300:]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(runs: int = RUNS) -> dict[str, float]:
    """The least CPU seconds of each command, of runs that take turns after one that fills caches."""
    with tempfile.TemporaryDirectory() as place:
        every = commands(Path(place))
        for command in every.values():
            seconds(command)
        taken: dict[str, list[float]] = {name: [] for name in every}
        for _ in range(runs):
            for name, command in every.items():
                taken[name].append(seconds(command))
    return {name: min(each) for name, each in taken.items()}


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    taken = least()
    once = taken[BASELINE]
    return [
        (f"start: {name}", f"{taken[name] / once:.1f} × {once:.2f} CPU s", f"≤ {bar:g} ×", taken[name] / once <= bar)
        for name, bar in BARS.items()
    ]


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
