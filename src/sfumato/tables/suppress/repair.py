"""Suppression of large tables: exact elimination first, then flows for the cells that it leaves with too little room.

Elimination hides enough that no primary cell is determined by the equations; what bounds add, and levels, it does not
see. Attackers' linear programs find what is missing, and only for that flows are looked for in the whole table.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.goals import Goals
from sfumato.kernels.tabular.programs import Flows
from sfumato.progress import Progress, quiet
from sfumato.tables.suppress.flow import Witnesses, clean, cover, directed
from sfumato.tables.suppress.problem import Problem, unproved
from sfumato.tables.suppress.result import Suppression

__all__ = ["eliminated", "mended", "suppress_elimination_repair"]

Bools = NDArray[np.bool_]

CLEANED = 700
"""With more hidden cells than that nothing is published again: it would take long."""


def eliminated(problem: Problem) -> Bools:
    """The cells that exact elimination hides, the primary ones among them."""
    from sfumato.kernels.tabular.elimination import eliminate, inner_sums, publication_order

    inner = inner_sums(sp.csr_array(problem.matrix))
    order = publication_order(problem.cost, inner.sums)
    order = order[~problem.fixed[order]]
    found = eliminate(inner, problem.fixed, order, forbidden=~problem.open)
    return np.asarray(problem.fixed | found.secondary)


def mended(problem: Problem, hidden: Bools, publish: bool = True) -> Bools:
    """Hide more by cheapest flows, until every goal is reached; publish again what that makes useless, if asked to."""
    goals = directed(problem)
    state = Witnesses(Flows(problem.matrix), goals, problem.down, problem.up, problem.cost, hidden.copy())
    missing = missed(problem, goals, hidden)
    order = missing[np.argsort(-goals.amount[missing], kind="stable")]
    cover(state, order, problem.open, problem.until)
    if not publish or state.hidden.sum() > CLEANED or problem.late():
        return state.hidden
    proofs = Witnesses(state.flows, goals, problem.down, problem.up, problem.cost, state.hidden.copy())
    cover(proofs, np.argsort(-goals.amount, kind="stable"), state.hidden, problem.until)
    if not problem.late():
        clean(proofs, problem.fixed, problem.until)
    return proofs.hidden


def missed(problem: Problem, goals: Goals, hidden: Bools) -> NDArray[np.int64]:
    """Goals that a pattern does not reach, by programs of its hidden cells alone."""
    cells = np.flatnonzero(hidden)
    place = np.full(len(hidden) + 1, -1)
    place[cells] = np.arange(len(cells))
    matrix = sp.csr_array(problem.matrix[:, cells])
    matrix = sp.csr_array(matrix[np.flatnonzero(abs(matrix).sum(axis=1))])
    own = Goals(place[goals.cell], goals.sign, goals.amount, goals.cone, place[goals.known])
    return unproved(matrix, own, problem.down[cells], problem.up[cells])


def suppress_elimination_repair(problem: Problem, progress: Progress = quiet) -> Suppression:
    """Hide cells by elimination, and more by flows where levels ask for it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from sfumato.tables.suppress.problem import prepare
    >>> value = np.array([2.0, 5, 9, 16])
    >>> system = SimpleNamespace(matrix=sp.csr_array(np.array([[1, 1, 1, -1]])), value=value)
    >>> problem = prepare(system, value == 2, cost=value, lower=np.zeros(4), upper=np.full(4, np.inf))
    >>> suppress_elimination_repair(problem).secondary.tolist()
    [False, True, False, False]
    """
    progress("hiding cells by elimination", 0.0)
    hidden = eliminated(problem)
    progress("mending what elimination leaves open", 0.2)
    return problem.result(mended(problem, hidden), "elimination, mended by flows")
