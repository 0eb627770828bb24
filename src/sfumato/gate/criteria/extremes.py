"""No sum of a sensitive variable tells that everybody in a cell has its least or its largest value."""

from __future__ import annotations

import numpy as np

from sfumato.gate.case import Case
from sfumato.gate.criteria.sums import contributions
from sfumato.gate.margin import base_of
from sfumato.gate.stages.verdict import HOLDS, Verdict

__all__ = ["check"]

_NEAR = 1e-9


def check(case: Case, beside: Case | None = None) -> Verdict:
    """Look for a cell whose sum is the number of its people times the least or the largest value that there is.

    Beside knowledge that breaks the policy already, sums of which nothing more would be known are passed over.
    """
    work = 0
    for one in contributions(case, beside):
        if not any(base_of(name) in case.structure.sensitive for name in one.summed) or not len(one.value):
            continue
        work += len(one.value)
        count = np.bincount(one.cell, minlength=one.cells)
        total = np.bincount(one.cell, weights=one.value, minlength=one.cells)
        held = count > 0
        for end in (one.value.min(), one.value.max()):
            room = _NEAR * np.maximum(1.0, np.abs(total[held]))
            if (np.abs(total[held] - count[held] * end) <= room).any():
                return Verdict(False, "released", work)
    return Verdict(True, "released", work) if work else HOLDS
