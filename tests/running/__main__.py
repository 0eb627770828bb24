"""`python -m tests.running test | ci | all | portable | nightly | newest | again | passed`; see CONTRIBUTING.md."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

from tests.running.folders import cache_folder, new_folder, passed_file
from tests.running.listed import (
    budget_lines,
    entries,
    last_night,
    unstable_entry,
    unstable_problems,
    write_night,
)
from tests.running.newest import differing
from tests.running.providing import look, provide
from tests.running.run import Run, python_of
from tests.running.sets import run_set, workers
from tests.running.tree import tree_hash

ROOT = Path(__file__).parents[2]
UNMARKED = "not slow and not browser and not nightly"
MARKS = {"test": UNMARKED, "ci": "not nightly", "all": "", "nightly": "nightly", "newest": UNMARKED}
PORTABLE = ("kernels", "methods", "measures", "inference", "golden", "release")
"""Folders of what depends on arithmetic."""
TESTED = {"old": PORTABLE, "haswell": ("kernels", "measures", "inference", "golden")}
"""Back ends and folders: linear algebra for `zen` is that of `haswell`, that for newer processors is that of all other
runs, and what methods release with `haswell` is compared."""


def _checks(run: Run) -> None:
    """Style, types and layers, one after the other beside the tests."""
    tools = run.python.parent
    for problem in unstable_problems(run.root):
        run.failed.append(("unstable", problem))
    code = ["src", "tests", "benchmarks"]
    run.step("style", [tools / "ruff", "check", *code], together=True)
    run.step("format", [tools / "ruff", "format", "--check", *code], together=True)
    run.step("layers", [tools / "lint-imports"], together=True)
    # a folder for each: with other options mypy begins anew, and would take a minute in every run
    types, pages = cache_folder() / "types", cache_folder() / "types-docs"
    run.step("types", [tools / "mypy", "--cache-dir", types], together=True)
    run.step("types of the documentation", [run.python, "-m", "tests.docs.typed", pages], together=True)


def _portable(run: Run) -> None:
    """Numeric tests under the arithmetic of other processors, and releases compared between all."""
    compare = [run.python, "-m", "tests.portable"]
    told = run.execute([*compare, "--environments"], together=True)
    if told.status:
        run.failed.append(("portable", told.reason))
        return
    environments = json.loads(told.printed.splitlines()[-1])

    def tested(name: str) -> None:
        paths = [f"tests/{folder}" for folder in TESTED[name]]
        run_set(run, f"portable-{name}", UNMARKED, paths, environments[name], processes=0, together=True)

    with ThreadPoolExecutor(workers()) as pool:
        jobs = [pool.submit(tested, name) for name in TESTED if name in environments]
        jobs.append(pool.submit(run.step, "portable", compare, together=True))
        for job in jobs:
            job.result()


def _end(run: Run) -> int:
    """Tell seconds and what is unstable, then the last lines; the exit status."""
    if lines := [line for line in run.lines() if line["set"] == "tests"]:
        run.say("\n" + "\n".join(budget_lines(lines, entries(run.root, run.name))))
    if run.unstable:
        run.say("\nFor tests/unstable.toml, in the next commit:\n")
        run.say("\n\n".join(unstable_entry(run.root, *one) for one in run.unstable) + "\n")
    return 0 if run.end() else 1


def _tests(name: str, run: Run) -> int:
    """A set of tests, with the static checks beside it."""
    if name == "ci":
        run.say(last_night(run.root))
    if name in ("ci", "nightly"):
        if not provide(run):
            return _end(run)
    else:
        run.without += [part for part, why in look(run).items() if why]
    with ThreadPoolExecutor(1) as beside:
        checks = beside.submit(_checks, run) if name in ("test", "ci") else None
        run.step("loops", [run.python, "-m", "tests.running.loops"], together=True)
        run_set(run, "tests", MARKS[name])
        if checks:
            checks.result()
    if name == "ci":
        _portable(run)
    if name == "newest":
        others = differing(run.root / "requirements" / "dev.txt")
        run.say("\n" + "\n".join(["Other than what is locked:", *others] if others else ["Nothing is newer."]))
    if name == "nightly":
        run.step("newest", ["make", "newest", f"PYTHON={sys.executable}"])
        write_night(run.root, run.summary()["seconds"] / 60, [test for test, _ in run.failed])
    status = _end(run)
    if name == "ci" and status == 0:
        _keep(run)
    return status


def _keep(run: Run) -> None:
    """Remember that this tree has passed, if it is still what was tested."""
    if tree_hash(run.root) == run.tree:
        file = passed_file(run.tree)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(run.summary(), indent=1) + "\n", encoding="utf-8")


def _again(run: Run, test: str) -> int:
    """One test 50 times alone, each time in a new process, and its file in ten orders."""
    file = test.partition("::")[0]
    base = [run.python, "-m", "pytest", "-p", "no:cacheprovider", "-m", ""]
    seeds = [run.seed + i for i in range(50)]
    commands = [(f"alone, seed {s}", [*base, f"--randomly-seed={s}", test]) for s in seeds]
    commands += [(f"among its file's, seed {s}", [*base, f"--randomly-seed={s}", file]) for s in seeds[:10]]
    with ThreadPoolExecutor(workers()) as pool:
        for job in [pool.submit(run.step, name, command, together=True) for name, command in commands]:
            job.result()
    return _end(run)


def _passed() -> int:
    """Whether the present tree has passed whole."""
    file = passed_file(tree_hash(ROOT))
    if not file.exists():
        print("this tree has not passed .ci/run")
        return 1
    without = json.loads(file.read_text(encoding="utf-8"))["without"]
    print(f"passed without {' '.join(without)}" if without else "passed whole")
    return 1 if without else 0


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.running", description=__doc__)
    parser.add_argument("what", choices=[*MARKS, "portable", "again", "passed"])
    parser.add_argument("test", nargs="?", help="the node id, for `again`")
    given = parser.parse_args()
    if given.what == "passed":
        return _passed()
    tree = tree_hash(ROOT)
    drawn = int(tree[:8], 16) if given.what == "ci" else random.SystemRandom().randrange(2**32)
    seed = int(os.environ.get("SFUMATO_SEED") or drawn)
    python = Path(sys.executable) if given.what == "newest" else python_of(ROOT)
    run = Run(given.what, ROOT, new_folder(tree), tree, seed, python)

    def stopped(number: int, frame: object) -> NoReturn:
        run.stop()
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stopped)
    try:
        if given.what == "again":
            if not given.test:
                parser.error("again needs a test: make again TEST=tests/...::test_...")
            return _again(run, given.test)
        if given.what == "portable":
            _portable(run)
            return _end(run)
        return _tests(given.what, run)
    except KeyboardInterrupt:
        run.failed.append((given.what, "stopped"))
        run.end()
        return 130


if __name__ == "__main__":
    sys.exit(main())
