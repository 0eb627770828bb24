"""The registry: every method, ours and anyone's, comes through the entry point group `sfumato.methods`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.data.docstring import summary
from sfumato.methods.base import Method
from sfumato.plug_ins import Failed, entries, load

__all__ = ["failed_methods", "method", "methods", "methods_told"]


def methods() -> Mapping[str, type[Method]]:
    """Every method by its name, sorted.

    Raises
    ------
    PlugInError
        Two packages bring one of the same name.

    Examples
    --------
    >>> "centroids" in methods()
    True
    """
    return load("sfumato.methods", _fault).found


def method(name: str) -> type[Method] | None:
    """The method of a name, for which no other is loaded; None where there is none.

    Raises
    ------
    PlugInError
        Two packages bring one of the same name.

    Examples
    --------
    >>> method("drop").__name__, method("dorp")
    ('Drop', None)
    """
    found: type[Method] | None = entries("sfumato.methods", _fault).one(name)
    return found


def failed_methods() -> Mapping[str, Failed]:
    """Methods of other packages that could not be loaded, by name.

    Examples
    --------
    >>> "centroids" in failed_methods()
    False
    """
    return load("sfumato.methods", _fault).failed


def _fault(one: object) -> str | None:
    return None if isinstance(one, type) and issubclass(one, Method) else "it is no Method"


def methods_told() -> list[dict[str, Any]]:
    """Every method in plain values, as its class and docstring tell it.

    Returns
    -------
    list of dict
        With `name`, `purpose` in a sentence, whether it `masks`, whether it needs `whole_strata`, how many `passes` it
        makes at most, and the JSON Schema of its `parameters`.

    Examples
    --------
    >>> [method["name"] for method in methods_told() if method["masks"]]
    ['centroids', 'noise', 'pram', 'sample', 'shuffle', 'swap', 'swap_households', 'synthesise']
    """
    return [
        {
            "name": name,
            "purpose": summary(cls),
            "masks": bool(cls.masks),
            "whole_strata": bool(cls.whole_strata),
            "passes": cls.passes,
            "parameters": cls.json_schema(),
        }
        for name, cls in methods().items()
    ]
