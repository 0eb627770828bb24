"""sfumato: statistical disclosure control. Protect every person in the data, keep what the data say.

::

    import sfumato as sf

    data = sf.read("cohort.csv")
    plan = sf.Plan.load("plan.yaml")
    release = sf.protect(plan, data, secret=b"at least sixteen bytes")
    release.report.findings.tidy()
    release.write("release")

Names are loaded when they are first used, so that `import sfumato` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato import errors as errors
    from sfumato import examples as examples
    from sfumato import steps as steps
    from sfumato.api import card as card
    from sfumato.api import compare as compare
    from sfumato.api import fit as fit
    from sfumato.api import h_rank as h_rank
    from sfumato.api import protect as protect
    from sfumato.api import read as read
    from sfumato.api import risk as risk
    from sfumato.api import tune as tune
    from sfumato.data.coarsened import Coarsened as Coarsened
    from sfumato.data.codebook import Codebook as Codebook
    from sfumato.data.codebook import Variable as Variable
    from sfumato.data.disclosure import Disclosure as Disclosure
    from sfumato.data.error_model import Additive as Additive
    from sfumato.data.error_model import Misclassified as Misclassified
    from sfumato.data.finding import Finding as Finding
    from sfumato.data.finding import Findings as Findings
    from sfumato.data.roles import Kind as Kind
    from sfumato.data.roles import Role as Role
    from sfumato.inference.result import Fit as Fit
    from sfumato.measures.risk.h_rank import HRank as HRank
    from sfumato.release.plan import Plan as Plan
    from sfumato.release.protect import Release as Release
    from sfumato.release.tune import Tuned as Tuned

_HOMES = {
    "HRank": "sfumato.measures.risk.h_rank",
    "Fit": "sfumato.inference.result",
    "Additive": "sfumato.data.error_model",
    "Coarsened": "sfumato.data.coarsened",
    "Codebook": "sfumato.data.codebook",
    "Disclosure": "sfumato.data.disclosure",
    "Finding": "sfumato.data.finding",
    "Findings": "sfumato.data.finding",
    "Kind": "sfumato.data.roles",
    "Misclassified": "sfumato.data.error_model",
    "Plan": "sfumato.release.plan",
    "Release": "sfumato.release.protect",
    "Role": "sfumato.data.roles",
    "Tuned": "sfumato.release.tune",
    "Variable": "sfumato.data.codebook",
    "card": "sfumato.api",
    "compare": "sfumato.api",
    "errors": "sfumato",
    "fit": "sfumato.api",
    "h_rank": "sfumato.api",
    "examples": "sfumato",
    "protect": "sfumato.api",
    "read": "sfumato.api",
    "risk": "sfumato.api",
    "steps": "sfumato",
    "tune": "sfumato.api",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("sfumato")
    if name not in _HOMES:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    home = _HOMES[name]
    if home == "sfumato":
        return importlib.import_module(f"sfumato.{name}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
