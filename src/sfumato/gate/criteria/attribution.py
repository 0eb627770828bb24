"""What a group has stays uncertain: of every group, other levels of the sensitive variable remain possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique
from sfumato.gate.policy import Attribution
from sfumato.gate.stages.exact import LARGEST, Joint, price
from sfumato.gate.stages.verdict import HOLDS, Verdict
from sfumato.gate.structure import KNOWN
from sfumato.kernels.tabular.possible_levels import levels_told

__all__ = ["check"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def check(case: Case, criterion: Attribution, joint: Joint, effort: float = np.inf) -> Verdict:
    """Show for each sensitive variable that the criterion holds or that it does not.

    A group is a cell of the joint table of all other variables that is not empty. `positive`: at least two levels of
    the sensitive variable can hold one or more of it; `any`: all can. Within so many units of work of programs.
    """
    found = HOLDS
    for variable in criterion.variables:
        if any(node.level != KNOWN for node in case.variables.get(variable, ())):  # not only whether it is there
            one = _check(case, variable, criterion.rule == "any", joint, effort)
            found = Verdict(one.holds, one.stage, found.work + one.work)
            if not found.holds:
                break
    return found


def _check(case: Case, variable: str, every: bool, joint: Joint, effort: float) -> Verdict:
    own = case.variables[variable]
    level, many = case.structure.refinement(own)
    wanted = many if every else 2
    work = case.scope.rows * len(case.cover[0])
    if many < wanted or many < 2:
        return Verdict(False, "released", work)
    cliques, _, exact = case.cover
    few = np.flatnonzero(_possible(case, cliques, own, level).sum(axis=1) < wanted)
    if not len(few):
        return Verdict(True, "cover", work)
    if exact or (_possible(case, case.known, own, level, few).sum(axis=1) < wanted).any():
        return Verdict(False, "cover", work)
    if case.joint_cells > LARGEST:
        return Verdict(None, "cover", work)
    return _exactly(joint, variable, few, wanted, work, effort)


def _possible(case: Case, cliques: tuple[Clique, ...], own: Clique, level: Ints, rows: Ints | None = None) -> Bools:
    """Of each record's group, which levels every clique leaves possible; shape (records, levels)."""
    scope = case.scope
    many = int(level.max()) + 1
    out = np.ones((scope.rows if rows is None else len(rows), many), dtype=bool)
    for clique in cliques:
        mine = [node for node in clique if node in own]
        if not mine:
            continue
        others = scope.margin(tuple(node for node in clique if node not in own))
        group, size = case.structure.refinement(mine)
        told = levels_told(others.cell, group[scope.codes[mine[0].variable]], len(others.count), size)
        if told[others.count > 0].all():  # leaves all levels possible everywhere
            continue
        of_level = np.zeros(many, dtype=np.int64)
        of_level[level] = group  # several levels may share a group of this clique's nodes
        cell = others.cell if rows is None else others.cell[rows]
        out &= told[:, of_level][cell]
    return out


def _exactly(joint: Joint, variable: str, rows: Ints, wanted: int, work: int, effort: float) -> Verdict:
    """Look whether enough levels of each group can be reached, by programs."""
    reach, before = joint.reach, price(joint.reach, joint.cells)
    axis = list(joint.case.variables).index(variable)
    cells = np.arange(joint.cells).reshape(joint.shape)
    lines = np.moveaxis(cells, axis, -1).reshape(-1, joint.shape[axis])
    line_of = np.zeros(joint.cells, dtype=np.int64)
    line_of[lines] = np.arange(len(lines))[:, None]
    for line in np.unique(line_of[joint.of_records(rows)]).tolist():
        spent = price(reach, joint.cells) - before
        if spent > effort:
            return Verdict(None, "exact", work + spent)
        reached = sum(reach.reaches(int(cell)) for cell in lines[line])
        if reached < wanted:
            return Verdict(False, "exact", work + price(reach, joint.cells) - before)
    return Verdict(True, "exact", work + price(reach, joint.cells) - before)
