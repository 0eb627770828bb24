"""Threads of linear algebra: where blocks are small they mostly wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, cast

__all__ = ["one_thread"]


def one_thread() -> AbstractContextManager[object]:
    """Keep linear algebra to one thread for a while.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     np.ones(3) @ np.ones(3)
    np.float64(3.0)
    """
    return cast(AbstractContextManager[object], _libraries().limit(limits=1, user_api="blas"))


@cache
def _libraries() -> Any:
    """The libraries that this process has loaded: to look for them takes longer than many a small regression."""
    import scipy.linalg  # noqa: F401 - it may bring a library of its own
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
