"""The gate: what may be told to whom, decided with proofs and remembered.

::

    decision = sf.gate.decide(sf.read("ward.csv"), known=["A,B"], ask="A,C", interval=(4, 10))

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as in `typing`, whose import alone would take longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from sfumato.gate.decide import decide as decide
    from sfumato.gate.decision import Decision as Decision
    from sfumato.gate.policy import Policy as Policy

_HOMES = {
    "Decision": "sfumato.gate.decision",
    "Policy": "sfumato.gate.policy",
    "decide": "sfumato.gate.decide",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato.gate' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
