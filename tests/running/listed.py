"""The files beside the tests that runs read and write: what is unstable, what ran at night, what CPU is expected."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.running.tree import commit, commits_since

__all__ = ["MOST_LISTED", "budget_lines", "entries", "last_night", "unstable_entry", "unstable_problems", "write_night"]

MOST_LISTED = 5
"""Unstable tests that may wait to be mended; one more fails the static checks."""


def unstable_problems(root: Path) -> list[str]:
    """What is wrong with `tests/unstable.toml`."""
    listed = tomllib.loads((root / "tests" / "unstable.toml").read_text(encoding="utf-8")).get("test", [])
    lacking = [str(one.get("id")) for one in listed if not {"id", "reason", "commit"} <= one.keys()]
    told = [f"tests/unstable.toml: {name}: an entry has id, reason and commit" for name in lacking]
    if len(listed) > MOST_LISTED:
        told.append(f"tests/unstable.toml: {len(listed)} tests are unstable, at most {MOST_LISTED} may wait")
    return told


def unstable_entry(root: Path, test: str, reason: str) -> str:
    """What the next commit holds of a test that failed beside others only."""
    fields = {"id": test, "reason": reason, "commit": commit(root)}
    return "\n".join(["[[test]]", *(f"{name} = {json.dumps(value)}" for name, value in fields.items())])


def last_night(root: Path) -> str:
    """How many commits ago the nightly tests ran, and how it went."""
    told = tomllib.loads((root / "tests" / "nightly.toml").read_text(encoding="utf-8"))
    if not told.get("commit"):
        return "nightly: never"
    ago = commits_since(root, str(told["commit"]))
    when = "at a commit that is not among this one's" if ago is None else f"{ago} commits ago"
    failures = told.get("failures", [])
    how = "all passed" if not failures else f"{len(failures)} failed"
    return f"nightly: {when}, {how} ({told.get('minutes')} minutes)"


def write_night(root: Path, minutes: float, failures: Sequence[str]) -> None:
    """Keep what a run of the nightly tests found, to be committed."""
    lines = [
        "# Written by `make nightly`: what the tests that are repetition alone found, and at which commit.",
        f'commit = "{commit(root)}"',
        f"minutes = {minutes:.1f}",
        f"failures = {json.dumps(list(failures), indent=2)}",
    ]
    (root / "tests" / "nightly.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def entries(root: Path, name: str) -> Mapping[str, float]:
    """CPU seconds by folder that `tests/budget.toml` expects of a set."""
    told = tomllib.loads((root / "tests" / "budget.toml").read_text(encoding="utf-8"))
    return {folder: float(seconds) for folder, seconds in told.get(name, {}).items()}


def budget_lines(lines: Sequence[Mapping[str, Any]], expected: Mapping[str, float]) -> list[str]:
    """CPU seconds by folder beside what is expected, and the ten dearest tests; seconds fail no run."""
    spent: Counter[str] = Counter()
    for line in lines:
        spent[_folder(line["test"])] += line["cpu"]
    told = ["CPU seconds by folder (expected)"]
    for folder, seconds in spent.most_common():
        told.append(f"{seconds:8.1f}  {f'({expected[folder]:.0f})' if folder in expected else '':>7}  {folder}")
    told.append(f"{sum(spent.values()):8.1f}  {f'({sum(expected.values()):.0f})' if expected else '':>7}  all")
    dearest = sorted(lines, key=lambda line: -line["cpu"])[:10]
    return [*told, "dearest", *(f"{line['cpu']:8.1f}  {line['test']}" for line in dearest)]


def _folder(test: str) -> str:
    parts = test.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else "."
