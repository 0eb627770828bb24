"""Tables of counts and sums: built, judged, protected, audited, bounded.

::

    table = sf.tables.build(sf.read("firms.csv"), by=["industry", "region"], value="turnover")
    judged = sf.tables.judge(table, ["n(3)", "p(10)"])

Names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

TYPE_CHECKING = False  # as in `typing`, whose import alone would take longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from sfumato.tables.adjust import Adjusted as Adjusted
    from sfumato.tables.adjust import adjust as adjust
    from sfumato.tables.audit.attack import Audit as Audit
    from sfumato.tables.audit.attack import audit as audit
    from sfumato.tables.axis import Axis as Axis
    from sfumato.tables.bounds.bound import Bounds as Bounds
    from sfumato.tables.bounds.bound import bounds as bounds
    from sfumato.tables.build import build as build
    from sfumato.tables.equations import System as System
    from sfumato.tables.equations import equations as equations
    from sfumato.tables.judge import judge as judge
    from sfumato.tables.perturb.counts import transitions as transitions
    from sfumato.tables.perturb.magnitudes import Flex as Flex
    from sfumato.tables.perturb.perturb import Perturbed as Perturbed
    from sfumato.tables.perturb.perturb import perturb as perturb
    from sfumato.tables.possible import Barnardised as Barnardised
    from sfumato.tables.possible import Rounded as Rounded
    from sfumato.tables.protect import Protected as Protected
    from sfumato.tables.protect import protect as protect
    from sfumato.tables.recode import Recoded as Recoded
    from sfumato.tables.recode import recode as recode
    from sfumato.tables.releases import releases as releases
    from sfumato.tables.round.round import Rounding as Rounding
    from sfumato.tables.round.round import round as round
    from sfumato.tables.rules import Rule as Rule
    from sfumato.tables.sap import Attribution as Attribution
    from sfumato.tables.sap import attribution as attribution
    from sfumato.tables.sap import sap as sap
    from sfumato.tables.table import Table as Table

_HOMES = {
    "Adjusted": "sfumato.tables.adjust",
    "Audit": "sfumato.tables.audit.attack",
    "Attribution": "sfumato.tables.sap",
    "Axis": "sfumato.tables.axis",
    "Barnardised": "sfumato.tables.possible",
    "Bounds": "sfumato.tables.bounds.bound",
    "Flex": "sfumato.tables.perturb.magnitudes",
    "Perturbed": "sfumato.tables.perturb.perturb",
    "Protected": "sfumato.tables.protect",
    "Recoded": "sfumato.tables.recode",
    "Rounded": "sfumato.tables.possible",
    "Rounding": "sfumato.tables.round.round",
    "Rule": "sfumato.tables.rules",
    "System": "sfumato.tables.equations",
    "Table": "sfumato.tables.table",
    "adjust": "sfumato.tables.adjust",
    "attribution": "sfumato.tables.sap",
    "audit": "sfumato.tables.audit.attack",
    "bounds": "sfumato.tables.bounds.bound",
    "build": "sfumato.tables.build",
    "equations": "sfumato.tables.equations",
    "judge": "sfumato.tables.judge",
    "perturb": "sfumato.tables.perturb.perturb",
    "protect": "sfumato.tables.protect",
    "recode": "sfumato.tables.recode",
    "releases": "sfumato.tables.releases",
    "round": "sfumato.tables.round.round",
    "sap": "sfumato.tables.sap",
    "transitions": "sfumato.tables.perturb.counts",
}

__all__ = [name for name in _HOMES if name != "round"]  # `import *` leaves the builtin alone


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato.tables' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)


class _Facade(ModuleType):
    """The package; a module of it that bears the name of a function does not take the function's place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
