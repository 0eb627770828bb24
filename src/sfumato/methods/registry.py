"""The registry: every method, ours and anyone's, comes through the entry point group `sfumato.methods`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from sfumato.methods.base import Method

__all__ = ["methods"]


@cache
def methods() -> MappingProxyType[str, type[Method]]:
    """Every method by its name, sorted.

    Examples
    --------
    >>> "centroids" in methods()
    True
    """
    found = sorted(entry_points(group="sfumato.methods"), key=lambda e: e.name)
    return MappingProxyType({e.name: e.load() for e in found})
