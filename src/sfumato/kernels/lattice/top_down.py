"""Local recoding from above: all records in one class, which is split along the hierarchies while its parts are safe."""

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
    """Split classes by the key that gains most, as long as all parts of a class are safe; all classes at once.

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
        best = _best_key(mine, levels[active], which, cells, judging, weights)
        active, which, best = active[best >= 0], which[best >= 0], best[best >= 0]
        child = np.zeros(len(active), dtype=np.int64)
        for j, c in enumerate(cells):
            split = best == j
            rows = active[split]
            levels[rows, j] -= 1
            child[split] = c.group[c.at(levels[rows, j], codes[rows, j])]
        which, _ = class_of_rows([which, child]) if len(active) else (which, which)
    return levels, np.zeros(len(codes), dtype=bool)


def _best_key(
    patterns: Patterns, levels: Ints, which: Ints, cells: Sequence[Cells], judging: Judge, weights: Sequence[float]
) -> Ints:
    """Give of each row the key by which its class is to be split, −1 for none; of equal gains the first key."""
    classes = int(which.max()) + 1
    most = np.full(classes, -np.inf)
    best = np.full(classes, -1, dtype=np.int64)
    for j, c in enumerate(cells):
        rows = levels[:, j] > 0
        if not rows.any():
            continue
        gain, safe = _split(patterns.only(rows), levels[rows, j], which[rows], j, c, judging, classes)
        gain = np.where(safe, (gain * weights[j]).round(9), -np.inf)
        best[gain > most] = j
        most = np.maximum(most, gain)
    return best[which]


def _split(
    patterns: Patterns, level: Ints, which: Ints, j: int, cells: Cells, judging: Judge, classes: int
) -> tuple[Floats, Bools]:
    """What each class gains if key j goes one level down, and whether all parts are safe; shapes (classes,)."""
    leaf, counts = patterns.codes[:, j], patterns.counts
    here, below = cells.at(level, leaf), cells.at(level - 1, leaf)
    part, first = class_of_rows([which, cells.group[below]])
    sizes = np.bincount(part, weights=counts).astype(np.int64)
    failing = judging.failing(sizes, part, patterns.values, counts)
    safe = np.bincount(which[first], minlength=classes) > 0
    safe[which[first][failing]] = False
    saved = (cells.share[here] - cells.share[below]) * counts / max(1 - 1 / cells.rows, 1e-9)
    return np.bincount(which, weights=saved, minlength=classes), safe
