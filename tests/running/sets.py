"""Sets of tests: run, tried again where they failed, and judged."""

from __future__ import annotations

import locale
import os
import random
from collections.abc import Mapping, Sequence
from typing import Any

from tests.running.limits import LONG
from tests.running.run import Run
from tests.running.tree import added_files
from tests.running.verdict import Failure, judge, worth_trying_again

__all__ = ["run_set", "surroundings", "workers"]

_ZONES = ("UTC", "Pacific/Kiritimati", "America/St_Johns", "Asia/Kathmandu", "Europe/London")
_LOCALES = ("C.UTF-8", "C", "de_DE.UTF-8", "en_US.UTF-8")


def workers() -> int:
    """Processes at once: one for each core that this one may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def surroundings(seed: int) -> dict[str, str]:
    """What no test may depend on, drawn from the seed: the order of sets of strings, the place, the language."""
    drawn = random.Random(seed)
    hashes, zone, language = str(drawn.randrange(2**32)), drawn.choice(_ZONES), drawn.choice(_LOCALES)
    return {
        "PYTHONHASHSEED": hashes,
        "TZ": zone,
        "LC_ALL": language if _spoken(language) else "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "",  # as if it were not set: what is read again by every worker is compiled once
    }


def _spoken(language: str) -> bool:
    """Whether this machine has a locale; programs that are told of one that it lacks do not start."""
    kept = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, language)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_ALL, kept)
    return True


def run_set(
    run: Run,
    name: str,
    marks: str,
    paths: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    *,
    processes: int | None = None,
    together: bool = False,
) -> None:
    """Run a set of tests; what failed is tried again alone, and told.

    Parameters
    ----------
    run
        Which it belongs to.
    name
        Of the set, in the names of the files that it leaves.
    marks
        pytest's expression of marks.
    paths
        Where the tests lie; by default where pytest looks.
    env
        Variables that they run under.
    processes
        How many workers; 0 for none; by default one a core.
    together
        Print when it has ended, where it failed.
    """
    run.results[name] = run.folder / f"results-{name}.jsonl"
    around = {**surroundings(run.seed), **(env or {})}
    examples = [] if name == "tests" and run.name not in ("test", "newest") else ["--hypothesis-profile=few"]
    command = [run.python, "-m", "pytest", *_seeded(run), *examples, "-m", marks, *paths]
    if "not nightly" not in marks:
        command += ["-o", f"faulthandler_timeout={LONG['nightly'] + 30}"]
    count = workers() if processes is None else processes
    if count > 1:
        command += ["-n", str(count), "--dist", "worksteal"]
    told = {"SFUMATO_RESULTS": str(run.folder), "SFUMATO_SET": name}
    ended = run.execute(command, {**around, **told}, together=together)
    lines = [line for line in run.lines() if line["set"] == name]
    failures = [_failure(line) for line in lines if line["outcome"] == "failed"]
    _look_at_skips(run, lines)
    if ended.status and not failures:
        run.failed.append((name, f"pytest: {ended.reason}"))
    added = added_files(run.root)
    alone = {
        f.test: [_passes_alone(run, f.test, around) for _ in range(2)] for f in worth_trying_again(failures, added)
    }
    verdict = judge(failures, alone, added)
    run.failed += _named(name, verdict.failed)
    run.unstable += _named(name, verdict.unstable)


def _seeded(run: Run) -> list[str]:
    return ["-p", "no:cacheprovider", f"--randomly-seed={run.seed}", f"--hypothesis-seed={run.seed}"]


def _named(name: str, told: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Node ids; those of a set that runs tests a second time, under another arithmetic, say so."""
    return [(test, reason if name == "tests" else f"[{name}] {reason}") for test, reason in told]


def _failure(line: Mapping[str, Any]) -> Failure:
    return Failure(line["test"], line["reason"], line["kind"], line["once"])


def _passes_alone(run: Run, test: str, env: Mapping[str, str]) -> bool:
    run.say(f"\nagain, alone: {test}")
    return run.execute([run.python, "-m", "pytest", *_seeded(run), "-m", "", test], env).status == 0


def _look_at_skips(run: Run, lines: Sequence[Mapping[str, Any]]) -> None:
    """A test that was skipped for want of a part that is here has not run, and nobody would know."""
    for line in lines:
        word, _, rest = line["reason"].partition(" ")
        if line["outcome"] == "skipped" and word == "without" and (part := rest.partition(":")[0]) not in run.without:
            run.failed.append((line["test"], f"skipped for want of {part}, which is here"))
