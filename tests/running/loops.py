"""Compile the loops once, before workers would each do it: `python -m tests.running.loops`.

They are compiled at their first call, by the examples in the docstrings around them, and kept where the package keeps
them. Nothing is done where that was done for the same sources, by the same processor's name.
"""

from __future__ import annotations

import contextlib
import doctest
import hashlib
import importlib
import io
import os
import pkgutil
from pathlib import Path

import sfumato
import sfumato.kernels
from sfumato.kernels.compiled import folder

__all__ = ["mark"]

SOURCES = Path(sfumato.__file__).parent


def mark() -> Path | None:
    """A file that is there once all loops have been compiled as they are now; None where nothing can be kept."""
    where = folder()
    if where is None:
        return None
    holding = sorted(p for p in SOURCES.rglob("*.py") if "@compiled" in p.read_text(encoding="utf-8"))
    told = hashlib.sha256(os.environ.get("NUMBA_CPU_NAME", "").encode())
    for path in holding:
        told.update(path.read_bytes())
    return where / f"all-{told.hexdigest()[:16]}"


def main() -> None:
    """Run the examples of the kernels; whether they hold is for the tests to say."""
    made = mark()
    if made is None or made.exists():
        return
    for found in pkgutil.walk_packages(sfumato.kernels.__path__, "sfumato.kernels."):
        with contextlib.redirect_stdout(io.StringIO()):
            doctest.testmod(importlib.import_module(found.name))
    made.touch()


if __name__ == "__main__":
    main()
