"""What is being tested: the tree's hash, and which files a change adds."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

__all__ = ["added_files", "commit", "commits_since", "tree_hash"]

UNKNOWN = "0" * 40
"""The hash of a tree that is in no repository."""


def _git(root: Path, *arguments: str, **environment: str) -> str | None:
    """What git answers; None where it does not."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, env={**os.environ, **environment}, capture_output=True, text=True
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def tree_hash(root: Path) -> str:
    """Git's hash of the working tree, with what is untracked and not ignored; the repository is left as it is."""
    kept = _git(root, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    if kept is None:
        return UNKNOWN
    with tempfile.TemporaryDirectory(prefix="sfumato-tree-") as folder:
        objects = Path(folder, "objects")
        objects.mkdir()
        aside = {
            "GIT_INDEX_FILE": str(Path(folder, "index")),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": kept,
        }
        _git(root, "read-tree", "HEAD", **aside)
        if _git(root, "add", "--all", **aside) is None:
            return UNKNOWN
        return _git(root, "write-tree", **aside) or UNKNOWN


def commit(root: Path) -> str:
    """The commit that the tree stands on."""
    return _git(root, "rev-parse", "HEAD") or UNKNOWN


def commits_since(root: Path, old: str) -> int | None:
    """How many commits ago one was; None where it is no ancestor."""
    if not old or _git(root, "merge-base", "--is-ancestor", old, "HEAD") is None:
        return None
    counted = _git(root, "rev-list", "--count", f"{old}..HEAD")
    return None if counted is None else int(counted)


def added_files(root: Path, base: str | None = None) -> frozenset[str]:
    """Files that the change adds against `base` (SFUMATO_BASE; by default where it left `origin/main`)."""
    base = base or os.environ.get("SFUMATO_BASE") or _git(root, "merge-base", "HEAD", "origin/main")
    added = _git(root, "diff", "--diff-filter=A", "--no-renames", "--name-only", base) if base else ""
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return frozenset(((added or "") + "\n" + (new or "")).split("\n")) - {""}
