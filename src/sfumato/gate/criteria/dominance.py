"""No cell of a sum tells too much of one contributor: `p(10)`, `pq(10,50)`, `nk(2,85)`."""

from __future__ import annotations

from sfumato.gate.case import Case
from sfumato.gate.criteria.interval import EFFORT
from sfumato.gate.criteria.shares import sensitive, upper_ends_stay_open
from sfumato.gate.criteria.sums import Summed, summed
from sfumato.gate.margin import base_of
from sfumato.gate.stages.verdict import HOLDS, Verdict
from sfumato.tables.rules import Rule

__all__ = ["check"]


def check(case: Case, rules: tuple[Rule, ...], beside: Case | None = None, effort: float = EFFORT) -> Verdict:
    """Show that every sensitive cell of a sum can be larger by what the rules ask: of tables, means and exact fits.

    First the attacker is given so much that upper ends have a closed form (`sums`): where no cell of that is sensitive,
    no cell inside it is known too closely. What this leaves open is decided by linear programs, against an attacker who
    knows every empty cell of the joint table; what they leave open is refused.

    Parameters
    ----------
    case
        What would be known.
    rules
        What must hold.
    beside
        What is known already, where it breaks the policy: then sums of which nothing more would be known are passed
        over.
    effort
        Units of work for programs.

    Notes
    -----
    Upper ends alone are promised: rules on shares bound what can be estimated from above. Sums of what may be negative
    are refused unless the codebook has a range: sizes tell nothing of what others can infer there.
    """
    found = HOLDS
    for one in summed(case, beside):
        told = _check(one, rules, effort)
        stage = told.stage if told.stage == "exact" or found is HOLDS else found.stage
        found = Verdict(told.holds, stage, found.work + told.work)
        if not told.holds:
            break
    return found


def _check(one: Summed, rules: tuple[Rule, ...], effort: float) -> Verdict:
    work = one.case.scope.rows
    if one.signed:
        few = all((margin.value, margin.weight) != one.names for margin in one.case.sums)
        return Verdict(few, "released", work)  # few values, each counted, have no shares where some are negative
    work += one.case.scope.rows * len(one.cliques)
    if not any(sensitive(one.case, clique, size, rules) for size in one.sizes for clique in one.cliques):
        return Verdict(True, "cover", work)
    work += one.case.scope.rows * len(one.margins)
    if any(sensitive(one.case, nodes, size, rules) for size in one.sizes for nodes in one.margins):
        return Verdict(False, "released", work)
    name, weight = one.names
    if weight or one.range is not None or base_of(name) != name:  # programs would have to know more than the sums
        return Verdict(False, "cover", work)
    holds, spent = upper_ends_stay_open(one, rules, effort)
    return Verdict(holds, "exact", work + spent)
