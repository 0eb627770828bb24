"""Folders that are dear to make, made once for a run: workers share them, and nobody writes to them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

__all__ = ["copied", "made_once"]


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of that name, which the first worker that asks makes while others wait; a test copies what it changes.

    Parameters
    ----------
    factory
        pytest's `tmp_path_factory`.
    name
        Of the folder, one for all workers of a run.
    make
        Fills an empty folder.
    """
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / f"once-{name}"
    with FileLock(shared / f"once-{name}.lock"):
        if not folder.exists():
            made = shared / f"once-{name}.being-made"
            shutil.rmtree(made, ignore_errors=True)  # of a worker that was killed
            made.mkdir()
            make(made)
            for path in made.rglob("*"):
                path.chmod(0o555 if path.is_dir() else 0o444)
            made.rename(folder)
    return folder


def copied(folder: Path, to: Path) -> Path:
    """A copy that may be written to."""
    shutil.copytree(folder, to, dirs_exist_ok=True)
    for path in to.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return to
