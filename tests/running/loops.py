"""Compile the loops once, before workers would each do it: `python -m tests.running.loops`.

They are compiled at their first call, by the examples in the docstrings around them; numba keeps them beside the
sources, or under NUMBA_CACHE_DIR. Nothing is done where they are all there.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
from pathlib import Path

import sfumato
import sfumato.kernels

__all__ = ["missing"]

SOURCES = Path(sfumato.__file__).parent


def missing() -> list[Path]:
    """Modules of loops that have not been compiled since they were changed."""
    holding = [p for p in SOURCES.rglob("*.py") if "@compiled" in p.read_text(encoding="utf-8")]
    return [path for path in holding if not _kept(path)]


def _kept(path: Path) -> bool:
    elsewhere, name = os.environ.get("NUMBA_CACHE_DIR"), f"{path.stem}.*.nbi"
    index = Path(elsewhere).rglob(name) if elsewhere else (path.parent / "__pycache__").glob(name)
    return any(one.stat().st_mtime >= path.stat().st_mtime for one in index)


def main() -> None:
    """Run the examples of the kernels; whether they hold is for the tests to say."""
    if not missing():
        return
    for found in pkgutil.walk_packages(sfumato.kernels.__path__, "sfumato.kernels."):
        with contextlib.redirect_stdout(io.StringIO()):
            doctest.testmod(importlib.import_module(found.name))


if __name__ == "__main__":
    main()
