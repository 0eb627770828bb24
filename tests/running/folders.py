"""Where a run leaves what it found: `<cache>/ci/<UTC time>-<tree>/`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["KEPT", "cache_folder", "new_folder", "passed_file"]

KEPT = 10
"""Runs whose folders are kept."""


def cache_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder that SFUMATO_CACHE names, else what `platformdirs.user_cache_dir("sfumato")` gives.

    Worked out here because a run starts before that library is there; a test compares the two.
    """
    if named := environ.get("SFUMATO_CACHE"):
        return Path(named)
    home = Path(environ.get("HOME") or Path.home())
    if platform == "darwin":
        return home / "Library" / "Caches" / "sfumato"
    if platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "sfumato" / "sfumato" / "Cache"
    return Path(environ.get("XDG_CACHE_HOME", "").strip() or home / ".cache") / "sfumato"


def new_folder(tree: str) -> Path:
    """Make the folder of a run of this tree; only the newest few stay."""
    runs = cache_folder() / "ci"
    folder = runs / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{tree[:12]}"
    folder.mkdir(parents=True)
    older = sorted(p for p in runs.iterdir() if p.is_dir() and p.name[:1].isdigit())[:-KEPT]
    for one in older:
        shutil.rmtree(one, ignore_errors=True)
    return folder


def passed_file(tree: str) -> Path:
    """What is there after a tree has passed: its summary."""
    return cache_folder() / "ci" / "passed" / tree
