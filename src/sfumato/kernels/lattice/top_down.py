"""Local recoding from above: one class of all records is split along the hierarchies while its parts are safe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.judge import Judge
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns, class_of_rows
from sfumato.kernels.lattice.recoded import Cells

__all__ = ["top_down"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def top_down(
    patterns: Patterns, hierarchies: Sequence[Levels], judging: Judge, weights: Sequence[float]
) -> tuple[Ints, Bools] | None:
    """Split classes by the key that gains most; all classes at once, level by level.

    The safe parts of a class go one level down in that key. What is in none stays together at the level where it was,
    if it is safe as a class of its own; else the class is not split by that key.

    Source: the top-down specialisation of Fung, Wang & Yu (2005), doi:10.1109/ICDE.2005.143, in each class on its own.

    Parameters
    ----------
    patterns, hierarchies, judging
        Data and criteria. Criteria on all that is kept are not looked at.
    weights
        Importance of each key.

    Returns
    -------
    tuple of ndarray or None
        Levels, shape (P, m), and which patterns are left, none. None where even all records together are not safe.
    """
    codes, counts, values = patterns.codes, patterns.counts, patterns.values
    cells = [Cells.of(h) for h in hierarchies]
    which = np.zeros(len(codes), dtype=np.int64)
    if judging.failing(np.array([patterns.records]), which, values, counts).any():
        return None
    levels = np.tile(np.array([h.height for h in hierarchies]), (len(codes), 1))
    active = np.arange(len(codes))
    while len(active):
        mine = Patterns(codes[active], counts[active], values[active])
        best, moves = _best_key(mine, levels[active], which, cells, judging, weights)
        going = best >= 0
        active, which, best, moves = active[going], which[going], best[going], moves[going]
        part = np.zeros(len(active), dtype=np.int64)  # what stays behind stays together
        for j, c in enumerate(cells):
            split = moves & (best == j)
            rows = active[split]
            levels[rows, j] -= 1
            part[split] = c.group[c.at(levels[rows, j], codes[rows, j])] + 1
        which = class_of_rows([which, part])[0] if len(active) else which
    return levels, np.zeros(len(codes), dtype=bool)


def _best_key(
    patterns: Patterns, levels: Ints, which: Ints, cells: Sequence[Cells], judging: Judge, weights: Sequence[float]
) -> tuple[Ints, Bools]:
    """Give of each row the key by which its class is to be split, −1 for none, and whether the row goes down.

    Of equal gains the first key is taken.
    """
    most = np.zeros(int(which.max()) + 1)
    best = np.full(len(most), -1, dtype=np.int64)
    moves = np.zeros(len(which), dtype=bool)
    for j, c in enumerate(cells):
        rows = np.flatnonzero(levels[:, j] > 0)
        if not len(rows):
            continue
        down, safe = _parts(patterns.only(rows), levels[rows, j], which[rows], j, c, judging, len(most))
        here = c.at(levels[rows, j], patterns.codes[rows, j])
        saved = (c.share[here] - c.share[here - c.leaves]) * patterns.counts[rows] * down
        # rows in groups that are the same one level down gain nothing, and yet must get there
        gain = np.bincount(which[rows], weights=saved / max(1 - 1 / c.rows, 1e-9) + 1e-6 * down, minlength=len(most))
        gain = np.where(safe, gain * weights[j], 0.0).round(9)
        better = gain > most
        best[better], most[better] = j, gain[better]
        mine = better[which]
        moves[mine] = False
        moves[rows[mine[rows]]] = down[mine[rows]]
    return best[which], moves


def _parts(
    patterns: Patterns, level: Ints, which: Ints, j: int, cells: Cells, judging: Judge, classes: int
) -> tuple[Bools, Bools]:
    """Which rows go down with key j, their part being safe, and in which classes what stays behind, if any, is safe."""
    part, first = class_of_rows([which, cells.group[cells.at(level - 1, patterns.codes[:, j])]])
    down = ~_failing(patterns, part, len(first), judging)[part]
    safe = np.ones(classes, dtype=bool)
    behind, at = class_of_rows([which[~down]])
    stays = which[~down][at]
    safe[stays] = ~_failing(patterns.only(~down), behind, len(at), judging)
    return down, safe


def _failing(patterns: Patterns, part: Ints, parts: int, judging: Judge) -> Bools:
    sizes = np.bincount(part, weights=patterns.counts, minlength=parts).astype(np.int64)
    return judging.failing(sizes, part, patterns.values, patterns.counts)
