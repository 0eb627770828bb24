"""Attribution by subtraction stays rare (reconstructed): who knows k people seldom finds a zero by subtracting them."""

from __future__ import annotations

import numpy as np

from sfumato.gate.case import Case
from sfumato.gate.policy import Sap
from sfumato.gate.stages.verdict import Verdict
from sfumato.kernels.tabular.subtraction import used_up, used_up_by_draws

__all__ = ["check"]

_DRAWS = 20_000
_CELLS = 200_000


def check(case: Case, criterion: Sap) -> Verdict:
    """Compare the probability with what is allowed: exactly for one margin, else by draws over the cover's cliques.

    Reconstructed from what others say of Smith & Elliot (2008), Transactions on Data Privacy 1, 34-52.
    """
    scope = case.scope
    if criterion.known > scope.total:
        return Verdict(False, "released", scope.rows)
    cliques = case.cover[0]
    if len(cliques) == 1:
        counts = scope.margin(cliques[0]).count
        if len(counts) < case.structure.joint_cells(cliques[0]):  # empty cells that are not listed
            return Verdict(False, "cover", scope.rows)
        found = float(used_up(counts.tolist(), criterion.known))
        return Verdict(found <= criterion.at_most, "cover", scope.rows)
    joint = scope.joint(case.nodes)
    held = np.flatnonzero(joint.count)
    if len(held) > _CELLS:
        return Verdict(None, "cover", scope.rows)
    first = np.zeros(len(joint.count), dtype=np.int64)
    first[joint.cell] = np.arange(scope.rows)
    margins = [scope.margin(clique) for clique in cliques]
    if any((margin.count == 0).any() for margin in margins):
        return Verdict(False, "cover", scope.rows)
    cells = [margin.cell[first[held]].astype(np.int64) for margin in margins]
    can = [np.ones(len(margin.count), dtype=bool) for margin in margins]
    found, _ = used_up_by_draws(joint.count[held], cells, can, criterion.known, _DRAWS, seed=0)
    return Verdict(found <= criterion.at_most, "cover", scope.rows + _DRAWS * len(cells))
