"""What pytest does in every run here: limits and marks, results as they come, CPU seconds of each test.

With SFUMATO_RESULTS (a folder) and SFUMATO_SET (a name) each test's end is one line of `results-<set>.jsonl` and one
element of `junit-<set>.xml` as soon as it is known, so that a run that is killed leaves them too.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.running.junit import JUnit
from tests.running.limits import LONG
from tests.running.once import is_once, plants

COLLECTED: pytest.StashKey[dict[str, str | None]] = pytest.StashKey()
"""Of every test that was collected: the smaller case that stands in for it by day, where it is nightly."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What is collected stays until the end: memory is not searched meanwhile."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, Any, Any]:
    _leave_few(items)
    config.stash[COLLECTED] = {item.nodeid: _stands_in(item) for item in items}
    for item in items:
        if is_once(item.nodeid) or plants(_names(item)):
            item.add_marker(pytest.mark.once)
        if limits := [limit for mark, limit in LONG.items() if item.get_closest_marker(mark)]:
            item.add_marker(pytest.mark.timeout(max(limits)))
    done = yield
    items.sort(key=lambda item: item.get_closest_marker("first") is None)  # all others in the order that was drawn
    return done


def _leave_few(items: list[pytest.Item]) -> None:
    """Of the cases of a test marked `few(n)` that have no other mark so many keep none, spread evenly."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few") and not any(item.get_closest_marker(mark) for mark in LONG):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for group in cases.values():
        group.sort(key=lambda item: item.nodeid)  # they may stand in random order
        mark = group[0].get_closest_marker("few")
        many = mark.args[0] if mark else len(group)
        kept = {round((i + 0.5) * len(group) / many - 0.5) for i in range(many)}
        for i, item in enumerate(group):
            if i not in kept:
                item.add_marker(pytest.mark.slow)


def _stands_in(item: pytest.Item) -> str | None:
    """What `of` says of a nightly test: nothing where it says nothing, None where the test is not nightly."""
    mark = item.get_closest_marker("nightly")
    return None if mark is None else str(mark.kwargs.get("of", ""))


def _names(item: pytest.Item) -> list[str]:
    """What a test is called, and what it names."""
    code = getattr(getattr(item, "function", None), "__code__", None)
    named = (*code.co_names, *code.co_varnames) if code else ()
    return [item.name.partition("[")[0], *getattr(item, "fixturenames", ()), *named]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Workers keep every core busy already: threads of their own would wait for one another, spinning.

    Set here and inherited, because plug-ins import numpy before a worker reads any conftest; what was asked for stands.
    """
    for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(threads, "1")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """What a test makes of signals ends with it: its processes, and those of later tests, would inherit it."""
    before = {number: signal.getsignal(number) for number in _STOPPING}
    done = yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)
    return done


_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


_started: dict[str, float] = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    _started[item.nodeid] = _cpu()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    _started[item.nodeid] = _cpu()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    _started[item.nodeid] = _cpu()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    report.cpu = _cpu() - _started[item.nodeid]  # travels with the report to the process that records
    return report


class Recorder:
    """Writes what became of each test, in the process that hears of all."""

    def __init__(self, folder: Path, name: str) -> None:
        self.lines = (folder / f"results-{name}.jsonl").open("w", encoding="utf-8")
        self.junit = JUnit(folder / f"junit-{name}.xml", name)
        self.phases: dict[str, list[Any]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A phase of a test; at the last one the test is told."""
        phases = self.phases.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when not in ("setup", "call"):
            self._tell(report.nodeid, self.phases.pop(report.nodeid))

    def pytest_collectreport(self, report: Any) -> None:
        """A file that could not be collected."""
        if report.failed:
            self._write(report.nodeid, "failed", "collect", _reason(report), report.longreprtext, 0.0, 0.0)

    def _tell(self, test: str, phases: list[Any]) -> None:
        cpu, seconds = (sum(getattr(p, name, 0.0) for p in phases) for name in ("cpu", "duration"))
        worst = next((p for p in phases if p.failed), None) or next((p for p in phases if p.skipped), None)
        if worst is None or hasattr(worst, "wasxfail"):
            self._write(test, "passed", "", "", "", cpu, seconds)
        elif worst.skipped:
            self._write(test, "skipped", "", _skipped(worst), "", cpu, seconds)
        else:
            text = "\n".join(p.longreprtext for p in phases if p.failed)
            self._write(test, "failed", _kind(worst), _reason(worst), text, cpu, seconds, "once" in worst.keywords)

    def _write(
        self, test: str, outcome: str, kind: str, reason: str, text: str, cpu: float, seconds: float, once: bool = False
    ) -> None:
        line = {
            "test": test,
            "outcome": outcome,
            "kind": kind,
            "reason": reason,
            "once": once or is_once(test),
            "cpu": round(cpu, 3),
            "seconds": round(seconds, 3),
        }
        self.lines.write(json.dumps(line) + "\n")
        self.lines.flush()
        self.junit.add(test, seconds, outcome, reason, text)

    def pytest_unconfigure(self) -> None:
        """The end."""
        self.lines.close()
        self.junit.close()


def _kind(report: Any) -> str:
    """How a test failed: out of time, its process killed, or of itself."""
    if report.when == "???":  # what xdist reports of the test that a worker was at when it ended
        return "killed"
    return "timeout" if "from pytest-timeout" in report.longreprtext else "itself"


def _reason(report: Any) -> str:
    """The first line of what went wrong, and where."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        said = [line for line in report.longreprtext.splitlines() if line.strip()]
        return said[-1].strip() if said else "no reason was given"
    first = next((line for line in crash.message.splitlines() if line.strip()), "no reason was given")
    return f"{first.strip()} ({Path(crash.path).name}:{crash.lineno})"


def _skipped(report: Any) -> str:
    longrepr = report.longrepr
    said = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return said.removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what it runs beside itself
        signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = os.environ.pop("SFUMATO_RESULTS", None)  # not for what the tests themselves start
    if folder and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(folder), os.environ["SFUMATO_SET"]), "sfumato-recorder")
