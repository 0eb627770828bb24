"""One run: its folder, its log, what failed, and the lines that it ends with."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

__all__ = ["Ended", "Run", "python_of"]

_KEPT = 200_000
"""Last characters of a command's output that are kept in memory."""


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its status, and the last of what it printed."""

    status: int
    printed: str

    @property
    def reason(self) -> str:
        """The line that says most of why it failed, or how it ended where none does."""
        lines = [line.strip() for line in self.printed.splitlines() if line.strip()]
        telling = [line for line in lines if re.search(r"\berror\b|^Would reformat|\bBROKEN$|^FAIL", line, re.I)]
        if self.status < 0:
            return f"ended by signal {-self.status}"
        return next(iter(telling or lines[-1:]), f"ended with status {self.status}")


def python_of(root: Path) -> Path:
    """The interpreter that the checkout's environment has, or will have."""
    return root / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _end_all(child: subprocess.Popen[bytes]) -> None:
    """End a command and whatever it left running, where the system knows them as a group."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()


@dataclass
class Run:
    """A run of some of the tests.

    Parameters
    ----------
    name
        What its last line begins with.
    root
        Of the checkout.
    folder
        Where everything is kept.
    tree, seed
        What is tested, and in which order.
    python
        The interpreter that tests run with.
    """

    name: str
    root: Path
    folder: Path
    tree: str
    seed: int
    python: Path
    failed: list[tuple[str, str]] = field(default_factory=list)
    unstable: list[tuple[str, str]] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    results: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._started = time.monotonic()
        self._log = (self.folder / "log.txt").open("ab")
        self._writing = threading.Lock()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._ended = threading.Event()
        self._stopping = False
        self._teller = threading.Thread(target=self._keep_telling, daemon=True)
        self._teller.start()
        self.say(f"seed {self.seed}")

    def say(self, text: str) -> None:
        """Print lines, and keep them in the log."""
        self._write(text.encode() + b"\n", show=True)

    def _write(self, text: bytes, show: bool) -> None:
        with self._writing:
            self._log.write(text)
            self._log.flush()
            if show:
                sys.stdout.buffer.write(text)
                sys.stdout.flush()

    def execute(
        self, command: Sequence[str | Path], env: Mapping[str, str] | None = None, *, together: bool = False
    ) -> Ended:
        """Run a command to its end.

        Parameters
        ----------
        command
            Without a shell.
        env
            What stands in its environment beside what stands in this one.
        together
            Print its output when it has ended, and only where it failed: it runs beside others.
        """
        if self._stopping:
            return Ended(-signal.SIGTERM, "")
        environment = {**os.environ, **(env or {})}
        child = subprocess.Popen(
            [str(part) for part in command],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._children.add(child)
        assert child.stdout is not None
        with child.stdout:
            printed = self._heard(child.stdout, show=not together)
        status = child.wait()
        self._children.discard(child)
        _end_all(child)
        if together:
            self._write(printed, show=status != 0)
        return Ended(status, printed.decode(errors="replace"))

    def _heard(self, stream: IO[bytes], show: bool) -> bytes:
        printed = b""
        while some := os.read(stream.fileno(), 1 << 16):
            if show:
                self._write(some, show=True)
            printed = (printed + some)[-_KEPT:]
        return printed

    def step(self, name: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None, **how: Any) -> bool:
        """Run a command that must succeed; whether it did."""
        ended = self.execute(command, env, **how)
        if ended.status and not self._stopping:
            self.failed.append((name, ended.reason))
        return ended.status == 0

    def lines(self) -> list[dict[str, Any]]:
        """What became of every test so far, of all sets."""
        told = []
        for name, path in self.results.items():
            if path.exists():
                whole = path.read_text(encoding="utf-8").splitlines(keepends=True)
                told += [{"set": name, **json.loads(line)} for line in whole if line.endswith("\n")]
        return told

    def summary(self) -> dict[str, Any]:
        """What `summary.json` holds."""
        lines = self.lines()
        unstable = {test for test, _ in self.unstable}
        outcomes = [line["outcome"] for line in lines]
        broken = {(line["set"], line["test"]) for line in lines if line["outcome"] == "failed"}
        return {
            "tree": self.tree,
            "ok": self._ended.is_set() and not self.failed,
            "seconds": round(time.monotonic() - self._started, 1),
            "seed": self.seed,
            "counts": {
                "passed": outcomes.count("passed"),
                "failed": len(broken) - len(unstable),
                "unstable": len(unstable),
                "skipped": outcomes.count("skipped"),
            },
            "failed": [{"test": test, "reason": reason} for test, reason in self.failed],
            "unstable": [{"test": test, "reason": reason} for test, reason in self.unstable],
            "without": self.without,
            "python": platform.python_version(),
            "platform": platform.platform(),
        }

    def _keep_telling(self) -> None:
        while not self._ended.wait(3):
            self._tell()

    def _tell(self) -> None:
        made = self.folder / "summary.json.new"
        made.write_text(json.dumps(self.summary(), indent=1) + "\n", encoding="utf-8")
        made.replace(self.folder / "summary.json")

    def stop(self) -> None:
        """End what is running, and begin nothing more."""
        self._stopping = True
        for child in list(self._children):
            _end_all(child)

    def end(self) -> bool:
        """Say what came of it in the last lines; whether all is well."""
        self._ended.set()
        self._teller.join()
        self._tell()
        told = self.summary()
        steps = [(name, reason) for name, reason in self.failed if "::" not in name]
        for what, reason in [*(one for one in self.failed if one not in steps), *steps]:
            self.say(f"FAILED {what}: {reason}")
        for what, reason in self.unstable:
            self.say(f"UNSTABLE {what}: {reason}")
        self.say(f"seed {self.seed}")
        self.say(f"log {self.folder}")
        counts = ", ".join(f"{number} {what}" for what, number in told["counts"].items())
        without = f", without {' '.join(self.without)}" if self.without else ""
        verdict = "passed" if told["ok"] else "failed"
        self.say(f"{self.name}: {verdict} ({counts}, {told['seconds'] / 60:.1f} minutes{without})")
        self._log.close()
        return bool(told["ok"])
