"""What may not happen even once, by folder: a value that leaked, two releases that differ, a double entry in a ledger.

However seldom such a test fails, it has told all; so it is never outvoted by the times that it passes. Wherever a test
plants a value in the data and looks for it (its name, or a name in it, says so) it counts too; single tests elsewhere
carry the mark `once` themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ONCE", "is_once", "plants"]

ONCE = (
    "tests/laws/",
    "tests/golden/",
    "tests/test_draws.py",
    "tests/gate/criteria/",
    "tests/gate/stages/",
    "tests/gate/store/",
    "tests/gate/test_attacks.py",
    "tests/gate/test_decision.py",
    "tests/gate/test_ledger.py",
    "tests/gate/test_soundness.py",
    "tests/release/package/",
    "tests/e2e/test_planted.py",
)


def is_once(test: str) -> bool:
    """Whether a test lies where a failure is never forgiven."""
    return test.startswith(ONCE)


def plants(names: Iterable[str]) -> bool:
    """Whether one of the names that a test has, or uses, says that it plants values."""
    return any("planted" in name.lower() for name in names)
