"""Compile a numerical loop with numba, and keep the result between runs wherever a folder can be written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])


def _use_writable_cache() -> None:
    """Point numba to a folder of this user's under the temporary folder where the package's own cannot be written.

    With nowhere to write, numba's `cache=True` raises when the module is imported.
    """
    here = Path(__file__).parent
    cache = here / "__pycache__"
    if "NUMBA_CACHE_DIR" in os.environ or os.access(cache if cache.exists() else here, os.W_OK):
        return
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="sfumato-numba-")


def compiled(f: F) -> F:
    """Compile `f` (numba, nopython, cached, releases the interpreter lock)."""
    _use_writable_cache()
    import numba

    return cast(F, numba.njit(cache=True, nogil=True)(f))
