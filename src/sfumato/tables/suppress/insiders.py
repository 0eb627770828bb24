"""What insiders work out over several equations, after a pattern was found that holds in each single one.

Goals against insiders are set for pairs of cells that stand in one equation. Whoever is alone in a cell may find
another one over several: that shows in the pattern as two cells that move in proportion. Such pairs get goals too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.determined import motions
from sfumato.kernels.tabular.goals import with_insiders
from sfumato.tables.suppress.problem import Problem
from sfumato.tables.suppress.repair import INSIDERS, mended
from sfumato.tables.suppress.result import Suppression

__all__ = ["closed", "tied"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

ROUNDS = 10


def tied(problem: Problem, hidden: Bools) -> list[tuple[int, int]]:
    """Pairs (primary cell, cell of one contributor) that move in proportion."""
    if problem.alone is None:
        return []
    group = motions(problem.matrix, hidden).group
    inside: dict[int, list[int]] = {}
    for cell in np.flatnonzero(problem.alone & (group >= 0)).tolist():
        inside.setdefault(int(group[cell]), []).append(cell)
    cells = np.flatnonzero(problem.primary & (group >= 0)).tolist()
    return [(cell, other) for cell in cells for other in inside.get(int(group[cell]), []) if other != cell]


def closed(problem: Problem, found: Suppression) -> Suppression:
    """Hide more, until nobody who is alone in a hidden cell works another one out; what cannot be helped is told."""
    hidden = problem.fixed | found.secondary
    done = {(int(c), int(k)) for c, k in zip(problem.goals.cell, problem.goals.known, strict=True)}
    more = False
    for _ in range(ROUNDS):
        pairs = [pair for pair in tied(problem, hidden) if pair not in done]
        if not pairs or len(done) + len(pairs) > INSIDERS:
            break
        done |= set(pairs)
        cells, known = (np.array(part, dtype=np.int64) for part in zip(*pairs, strict=True))
        outside = problem.goals[problem.goals.known < 0]
        new = with_insiders(outside, (cells, known))
        problem = replace(problem, goals=problem.goals.joined(new[new.known >= 0]))
        problem, hidden = mended(problem, hidden)
        more = True
    if not more:
        return found
    bound = None if found.bound is None else found.bound / problem.scale
    return problem.result(hidden, found.method, bound)
