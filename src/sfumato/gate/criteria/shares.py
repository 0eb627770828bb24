"""What rules on shares say of cells, and programs for those that closed forms leave open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.gate.case import Case, Clique
from sfumato.gate.criteria.sums import Summed
from sfumato.gate.records import Scope
from sfumato.gate.structure import by_variable
from sfumato.kernels.tabular.contributors import contributors
from sfumato.kernels.tabular.sensitivity import (
    UNSAFE,
    Contributors,
    Sensitivity,
    any_of,
    dominance,
    prior_posterior,
)
from sfumato.kernels.tabular.upper_ends import can_reach
from sfumato.kernels.tabular.work import Work
from sfumato.tables.rules import Rule

__all__ = ["sensitive", "upper_ends_stay_open"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ITERATION = 500
"""Units of work of a step of a program, beside two for each of its entries."""


def sensitive(case: Case, nodes: Clique, size: Floats, rules: Sequence[Rule]) -> bool:
    """Whether a cell of a margin is sensitive."""
    held = np.isfinite(size)
    told = case.scope.margin(nodes)
    times = None if case.scope.counts is None else case.scope.counts[held]
    found, _ = contributors(told.cell[held], size[held], times, len(told.count), _ranks(rules))
    return bool((_said(found, rules).truth == UNSAFE).any())


def _ranks(rules: Sequence[Rule]) -> int:
    return max(int(rule.numbers[0]) if rule.name == "nk" else 2 for rule in rules)


def _said(told: Contributors, rules: Sequence[Rule]) -> Sensitivity:
    return any_of([_rule(told, rule) for rule in rules])


def _rule(told: Contributors, rule: Rule) -> Sensitivity:
    if rule.name == "p":
        return prior_posterior(told, rule.numbers[0] / 100)
    if rule.name == "pq":
        return prior_posterior(told, rule.numbers[0] / rule.numbers[1])
    return dominance(told, int(rule.numbers[0]), rule.numbers[1] / 100)


def upper_ends_stay_open(one: Summed, rules: Sequence[Rule], effort: float) -> tuple[bool, int]:
    """Whether programs show that each sensitive cell of each sub-margin can be larger by what the rules ask; the work.

    The attacker knows the sums, and every cell of the joint table of what hangs together with them in which nobody has
    a value: more than counts tell. Beyond the work, nothing is shown.
    """
    size = one.sizes[0]
    rows = np.flatnonzero(np.isfinite(size))
    scope, size = one.case.scope.some(rows), size[rows]
    parts = list(_sub_margins(one, scope))
    work = len(rows) * len(parts)
    if work > effort:
        return False, 0
    joint = scope.joint(one.nodes)
    held, cell = np.unique(joint.cell, return_inverse=True)
    first = np.zeros(len(held), dtype=np.int64)
    first[cell] = np.arange(len(rows))
    times = np.ones(len(rows)) if scope.counts is None else scope.counts.astype(np.float64)
    true: Floats = np.bincount(cell, weights=size * times, minlength=len(held)).astype(np.float64)
    lines: list[Ints] = []
    columns: list[Ints] = []
    wanted: list[Floats] = []
    for nodes in parts:
        told = scope.joint(nodes)
        found, cells = contributors(told.cell, size, scope.counts, len(told.count), _ranks(rules))
        said = _said(found, rules)
        unsafe = said.truth == UNSAFE
        place = np.full(len(told.count), -1, dtype=np.int64)
        place[cells[unsafe]] = np.arange(np.count_nonzero(unsafe)) + sum(map(len, wanted))
        of_open = place[told.cell[first]]
        inside = np.flatnonzero(of_open >= 0)
        lines.append(of_open[inside])
        columns.append(inside)
        wanted.append((found.total + said.level)[unsafe])
    asked = np.concatenate(wanted)
    places = np.concatenate(lines), np.concatenate(columns)
    unions = sp.csr_array((np.ones(len(places[0])), places), shape=(len(asked), len(held)))
    margins = [np.unique(scope.joint(nodes).cell[first], return_inverse=True)[1].ravel() for nodes in one.margins]
    unit = _ITERATION + 2 * len(held) * len(margins)
    programs = Work(max(effort - work, 0) // unit)
    shown = can_reach(true, margins, unions, asked, programs)
    return bool(shown), work + programs.spent * unit


def _sub_margins(one: Summed, scope: Scope) -> Iterator[Clique]:
    """All margins of the joint table: of each variable nothing, all its nodes, or one of them."""
    choices: list[list[Clique]] = []
    for own in by_variable(one.nodes).values():
        nodes = [node for node in own if len(np.unique(scope.column(node))) > 1]
        if nodes:
            choices.append([(), tuple(nodes), *((node,) for node in nodes if len(nodes) > 1)])
    for chosen in product(*choices):
        yield tuple(sorted(node for nodes in chosen for node in nodes))
