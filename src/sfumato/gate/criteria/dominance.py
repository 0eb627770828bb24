"""No cell of a sum tells too much of one contributor: `p(10)`, `pq(10,50)`, `nk(2,85)`."""

from __future__ import annotations

import numpy as np

from sfumato.gate.case import Case
from sfumato.gate.criteria.sums import Contributions, contributions
from sfumato.gate.stages.verdict import Verdict
from sfumato.kernels.tabular.sensitivity import UNSAFE, Contributors, Sensitivity, dominance, prior_posterior
from sfumato.tables.rules import Rule

__all__ = ["check"]


def check(case: Case, rules: tuple[Rule, ...]) -> Verdict:
    """Show that no cell of any sum is sensitive, in every clique of the cover of that sum's margins.

    Sums of what may be negative are refused unless the codebook has a range: sizes tell nothing of what others can
    infer there.
    """
    work = 0
    for one in contributions(case):
        work += len(one.value)
        if any(name in case.structure.signed for name in one.summed):
            return Verdict(False, "released", work)
        ranks = max(int(rule.numbers[0]) if rule.name == "nk" else 2 for rule in rules)
        told = _told(one, ranks)
        for rule in rules:
            if (_said(rule, told).truth == UNSAFE).any():
                return Verdict(False, "released", work)
    return Verdict(True, "released", work)


def _told(one: Contributions, ranks: int) -> Contributors:
    """Totals, numbers and largest contributions of the cells that somebody contributes to."""
    size = np.abs(one.value)
    order = np.lexsort((-size, one.cell))
    cell, size = one.cell[order], size[order]
    held, first, count = np.unique(cell, return_index=True, return_counts=True)
    total = np.add.reduceat(size, first) if len(first) else np.zeros(0)
    largest = np.zeros((len(held), ranks))
    for rank in range(ranks):
        has = count > rank
        largest[has, rank] = size[first[has] + rank]
    return Contributors(total, count.astype(np.float64), largest)


def _said(rule: Rule, told: Contributors) -> Sensitivity:
    if rule.name == "p":
        return prior_posterior(told, rule.numbers[0] / 100)
    if rule.name == "pq":
        return prior_posterior(told, rule.numbers[0] / rule.numbers[1])
    return dominance(told, int(rule.numbers[0]), rule.numbers[1] / 100)
