"""The registry: every method, ours and anyone's, comes through the entry point group `sfumato.methods`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from sfumato.data.docstring import summary
from sfumato.methods.base import Method

__all__ = ["methods", "methods_told"]


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


def methods_told() -> list[dict[str, Any]]:
    """Every method in plain values, as its class and docstring tell it.

    Returns
    -------
    list of dict
        With `name`, `purpose` in a sentence, whether it `masks`, and the JSON Schema of its `parameters`.

    Examples
    --------
    >>> [method["name"] for method in methods_told() if method["masks"]]
    ['centroids', 'noise', 'pram', 'sample', 'shuffle', 'swap', 'swap_households', 'synthesise']
    """
    return [
        {"name": name, "purpose": summary(cls), "masks": bool(cls.masks), "parameters": cls.json_schema()}
        for name, cls in methods().items()
    ]
