"""Bring the environment and the parts that a machine may lack, and say what could not be had."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.running.run import Ended, Run

__all__ = ["judged", "look", "provide"]

TRIES = 3
_AWAY = re.compile(
    r"temporary failure|could ?n.?t resolve|name resolution|connection (?:refused|reset|timed out)|unable to connect"
    r"|failed to establish|network is unreachable|newconnectionerror|proxyerror|out of reach|registry within reach",
    re.I,
)
"""What a client says that did not reach where it would have fetched from."""


def provide(run: Run) -> bool:
    """Set up the environment and bring the parts; whether there is an environment.

    What could not be brought though this machine could have is a failure of the run by name; what it could not bring is
    in `run.without`.
    """
    left_out, demanded = (os.environ.get(name, "").split() for name in ("SFUMATO_WITHOUT", "SFUMATO_WITH"))
    with ThreadPoolExecutor(1) as beside:  # apt waits for the network, pip for the processor
        packages = beside.submit(_from_apt, run, left_out)
        environment = _tried(run, ["make", ".venv/.ready", f"PYTHON={sys.executable}"])
        brought = packages.result()
    if environment.status:
        run.failed.append(("install", environment.reason))
        run.without[:] = left_out
        return False
    brought |= _into_environment(run, left_out)
    failed, run.without[:] = judged(look(run), left_out, demanded, brought)
    run.failed += failed
    return True


def look(run: Run) -> dict[str, str | None]:
    """Why each part is missing; None for those that are here."""
    ended = run.execute([run.python, "-m", "tests.parts"], together=True)
    return dict(json.loads(ended.printed.splitlines()[-1]))


def judged(
    missing: dict[str, str | None], left_out: Sequence[str], demanded: Sequence[str], brought: dict[str, str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Which missing parts fail the run, with reasons, and which it goes without.

    Parameters
    ----------
    missing
        Why each part is missing; None for those that are here.
    left_out, demanded
        What SFUMATO_WITHOUT and SFUMATO_WITH name.
    brought
        Parts that could have been brought here and were not, with reasons.
    """
    failed, without = [], []
    for part, why in missing.items():
        if why is None:
            continue
        if part in demanded:
            failed.append((part, f"SFUMATO_WITH demands it: {brought.get(part, why)}"))
        elif part in brought and part not in left_out:
            failed.append((part, brought[part]))
        without.append(part)
    failed += [(part, "no such part") for part in {*left_out, *demanded} - missing.keys()]
    return failed, without


def _tried(run: Run, command: Sequence[str | Path], fine: Callable[[Ended], bool] = lambda e: not e.status) -> Ended:
    """Run a command that downloads, up to three times."""
    for _ in range(TRIES):
        ended = run.execute(command, {"DEBIAN_FRONTEND": "noninteractive"}, together=True)
        if fine(ended):
            break
    return ended


def _from_apt(run: Run, left_out: Sequence[str]) -> dict[str, str]:
    """Bring a browser and Java where apt-get may; parts that failed though it reached its mirror."""
    wanted = {"browser": ("chromium", "chromium"), "java": ("java", "openjdk-17-jre-headless")}
    wanted = {p: w for p, w in wanted.items() if p not in left_out and not shutil.which(w[0])}
    may = shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0
    if not wanted or not may:
        return {}
    if _tried(run, ["apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any"]).status:
        return {}
    failed = {}
    for part, (_, package) in wanted.items():
        ended = _tried(run, ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package])
        if ended.status and not _AWAY.search(ended.printed):
            failed[part] = ended.reason
    return failed


def _into_environment(run: Run, left_out: Sequence[str]) -> dict[str, str]:
    """Bring Spark and the files of others that pages need."""
    python, failed = run.python, {}
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"]
    commands = {"spark": [*pip, "--require-hashes", "-r", "requirements/spark.txt"], "vendor": ["make", "vendor"]}
    for part, command in commands.items():
        if part not in left_out:
            ended = _tried(run, command)
            if ended.status and not _AWAY.search(ended.printed):
                failed[part] = ended.reason
    return failed
