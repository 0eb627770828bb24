"""What was computed once, for whoever asks again; who asks meanwhile waits for the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["Remembered"]

T = TypeVar("T")


class Remembered(Generic[T]):
    """The newest results by what was asked. What raises is raised to all who wait, and not remembered.

    Parameters
    ----------
    most
        How many results are kept; the one that was asked for longest ago goes first.

    Examples
    --------
    >>> squares = Remembered[int](8)
    >>> squares.get(3, lambda: 9), squares.get(3, lambda: 0)
    (9, 9)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result for a key, computed if nobody asked for it yet."""
        with self._lock:
            found = self._kept.get(key)
            if mine := found is None:
                found = self._kept[key] = Future()
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        assert found is not None
        if mine:
            try:
                found.set_result(compute())
            except BaseException as error:
                with self._lock:
                    if self._kept.get(key) is found:
                        del self._kept[key]
                found.set_exception(error)
        return found.result()
