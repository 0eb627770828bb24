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

TYPE_CHECKING = False  # as in `typing`, whose import alone would take longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from sfumato import errors as errors
    from sfumato import examples as examples
    from sfumato import steps as steps
    from sfumato import tables as tables
    from sfumato.api.advise import advise as advise
    from sfumato.api.anonymise import anonymise as anonymise
    from sfumato.api.card import card as card
    from sfumato.api.check_links import check_links as check_links
    from sfumato.api.compare import compare as compare
    from sfumato.api.fit import fit as fit
    from sfumato.api.h_rank import h_rank as h_rank
    from sfumato.api.hand_out import hand_out as hand_out
    from sfumato.api.protect import protect as protect
    from sfumato.api.read import read as read
    from sfumato.api.read_table import read_table as read_table
    from sfumato.api.risk import risk as risk
    from sfumato.api.tabulate import tabulate as tabulate
    from sfumato.api.tune import tune as tune
    from sfumato.data.coarsened import Coarsened as Coarsened
    from sfumato.data.codebook import Codebook as Codebook
    from sfumato.data.codebook import Variable as Variable
    from sfumato.data.disclosure import Disclosure as Disclosure
    from sfumato.data.disclosure import Synthetic as Synthetic
    from sfumato.data.error_model import Additive as Additive
    from sfumato.data.error_model import Misclassified as Misclassified
    from sfumato.data.finding import Finding as Finding
    from sfumato.data.finding import Findings as Findings
    from sfumato.data.hierarchy import Hierarchy as Hierarchy
    from sfumato.data.links import Link as Link
    from sfumato.data.links import Links as Links
    from sfumato.data.roles import Kind as Kind
    from sfumato.data.roles import Role as Role
    from sfumato.inference.combine import combine as combine
    from sfumato.inference.result import Fit as Fit
    from sfumato.measures.risk.h_rank.h_rank import HRank as HRank
    from sfumato.plan.plan import Plan as Plan
    from sfumato.release.anonymising import Anonymisation as Anonymisation
    from sfumato.release.release import Release as Release
    from sfumato.release.several.release import TablesRelease as TablesRelease
    from sfumato.tuning.tune import Tuned as Tuned

_HOMES = {
    "HRank": "sfumato.measures.risk.h_rank.h_rank",
    "Fit": "sfumato.inference.result",
    "Anonymisation": "sfumato.release.anonymising",
    "Additive": "sfumato.data.error_model",
    "Coarsened": "sfumato.data.coarsened",
    "Codebook": "sfumato.data.codebook",
    "Disclosure": "sfumato.data.disclosure",
    "Finding": "sfumato.data.finding",
    "Findings": "sfumato.data.finding",
    "Hierarchy": "sfumato.data.hierarchy",
    "Kind": "sfumato.data.roles",
    "Link": "sfumato.data.links",
    "Links": "sfumato.data.links",
    "Misclassified": "sfumato.data.error_model",
    "Plan": "sfumato.plan.plan",
    "Release": "sfumato.release.release",
    "Synthetic": "sfumato.data.disclosure",
    "TablesRelease": "sfumato.release.several.release",
    "Role": "sfumato.data.roles",
    "Tuned": "sfumato.tuning.tune",
    "Variable": "sfumato.data.codebook",
    "advise": "sfumato.api.advise",
    "anonymise": "sfumato.api.anonymise",
    "card": "sfumato.api.card",
    "check_links": "sfumato.api.check_links",
    "combine": "sfumato.inference.combine",
    "compare": "sfumato.api.compare",
    "errors": "sfumato",
    "fit": "sfumato.api.fit",
    "gate": "sfumato",
    "hand_out": "sfumato.api.hand_out",
    "h_rank": "sfumato.api.h_rank",
    "examples": "sfumato",
    "protect": "sfumato.api.protect",
    "read": "sfumato.api.read",
    "read_table": "sfumato.api.read_table",
    "risk": "sfumato.api.risk",
    "steps": "sfumato",
    "tables": "sfumato",
    "tabulate": "sfumato.api.tabulate",
    "tune": "sfumato.api.tune",
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
