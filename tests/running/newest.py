"""Which versions an environment has beside those that are locked."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["differing", "locked"]


def locked(file: Path) -> Iterator[tuple[str, str]]:
    """Names and versions of a file of requirements, of those that this machine's system and Python take."""
    from packaging.requirements import Requirement  # the Python that begins a run may have no packages at all

    for line in file.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#", "-")):
            one = Requirement(line.rstrip("\\ "))
            if one.marker is None or one.marker.evaluate():
                yield one.name, str(one.specifier).removeprefix("==")


def differing(file: Path) -> list[str]:
    """A line for each package of which this environment has another version than the file locks."""
    told = []
    for name, pinned in locked(file):
        try:
            here = version(name)
        except PackageNotFoundError:
            here = "not here"
        if here != pinned:
            told.append(f"{name} {pinned} -> {here}")
    return told
