"""The gate: what may be told to whom, decided with proofs and remembered.

::

    decision = sf.gate.decide(sf.read("ward.csv"), known=["A,B"], ask="A,C", interval=(4, 10))

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

TYPE_CHECKING = False  # as in `typing`, whose import alone would take longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from sfumato.gate.decide import decide as decide
    from sfumato.gate.decision import Decision as Decision
    from sfumato.gate.dependences.door import dependences as dependences
    from sfumato.gate.maximal import Maximal as Maximal
    from sfumato.gate.maximal import maximal as maximal
    from sfumato.gate.policy import Policy as Policy
    from sfumato.gate.replay import Replayed as Replayed
    from sfumato.gate.replay import replay as replay

_HOMES = {
    "Decision": "sfumato.gate.decision",
    "Maximal": "sfumato.gate.maximal",
    "Policy": "sfumato.gate.policy",
    "Replayed": "sfumato.gate.replay",
    "decide": "sfumato.gate.decide",
    "dependences": "sfumato.gate.dependences.door",
    "maximal": "sfumato.gate.maximal",
    "replay": "sfumato.gate.replay",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato.gate' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Facade(ModuleType):
    """The package; a module of it that bears the name of a function does not take the function's place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
