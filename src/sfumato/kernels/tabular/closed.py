"""Bounds of cells that have a closed form: from decomposable margins, and where one number is free.

Margins are arrays with an axis for each of their variables in rising order; the joint table has one for each variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.margins import bits
from sfumato.kernels.tabular.programme import Contradiction

__all__ = ["Ends", "collapsed", "one_free", "placed", "tree_bounds"]

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]
"""The least and the most that each cell can be."""


def placed(array: Floats, mask: int, dimensions: int) -> Floats:
    """A margin with an axis of length one for each variable that it does not have.

    Examples
    --------
    >>> placed(np.zeros((2, 3)), 0b101, 3).shape
    (2, 1, 3)
    """
    sizes = iter(array.shape)
    return array.reshape([next(sizes) if mask >> i & 1 else 1 for i in range(dimensions)])


def collapsed(array: Floats, mask: int, wanted: int) -> Floats:
    """A margin of a margin.

    Examples
    --------
    >>> collapsed(np.array([[1.0, 2.0], [3.0, 4.0]]), 0b11, 0b10).tolist()
    [4.0, 6.0]
    """
    gone = tuple(k for k, i in enumerate(bits(mask)) if not wanted >> i & 1)
    return np.asarray(array.sum(axis=gone)) if gone else array


def tree_bounds(parts: Sequence[tuple[int, Ends]], between: Sequence[tuple[int, Ends]], shape: Sequence[int]) -> Ends:
    """Bound the cells of a joint table from those of margins that a tree joins.

    A cell is at most each of its margins. All margins together count a record once more than what they share, if it is
    of the cell, and at most as often if it is not: so the cell is at least their sum less the shared ones. Sharp where
    the margins are decomposable and each is known, or its ends are sharp; it holds for any tree.

    Parameters
    ----------
    parts, between
        Margins, and what neighbours in the tree share: the variables, and the least and most of each cell.
    shape
        Of the joint table.

    Examples
    --------
    >>> rows, columns, all_ = np.array([7.0, 3.0]), np.array([6.0, 4.0]), np.array(10.0)
    >>> low, high = tree_bounds([(1, (rows, rows)), (2, (columns, columns))], [(0, (all_, all_))], (2, 2))
    >>> low.tolist(), high.tolist()
    ([[3.0, 1.0], [0.0, 0.0]], [[6.0, 4.0], [3.0, 3.0]])
    """
    n = len(shape)
    low, high = np.zeros(tuple(shape)), np.full(tuple(shape), np.inf)
    for mask, (least, most) in parts:
        low += placed(least, mask, n)
        np.minimum(high, placed(most, mask, n), out=high)
    for mask, (_, most) in between:
        low -= placed(most, mask, n)
    return np.maximum(low, 0.0), high


def one_free(margins: Mapping[int, Floats], dimensions: int) -> Ends:
    """Bound the cells of a table of yes and no whose margins without one variable are all known.

    All tables with these margins differ by one number, that cells with an even number of ones have more of and all
    others less: the width of every cell is the least cell of the one kind and the least of the other together.

    Parameters
    ----------
    margins
        By its variables, each margin that lacks one.

    Raises
    ------
    Contradiction
        Where there is no such table.

    Examples
    --------
    >>> low, high = one_free({1: np.array([3.0, 1.0]), 2: np.array([2.0, 2.0])}, 2)
    >>> low.tolist(), high.tolist()
    ([[1.0, 1.0], [0.0, 0.0]], [[2.0, 2.0], [1.0, 1.0]])
    """
    whole = (1 << dimensions) - 1
    base = np.zeros((2,) * dimensions)
    odd = np.zeros((2,) * dimensions, dtype=bool)
    for cell in range(1, whole + 1):
        place = tuple(cell >> i & 1 for i in range(dimensions))
        last = dimensions - 1 - place[::-1].index(1)
        before = (*place[:last], 0, *place[last + 1 :])
        rest = (*place[:last], *place[last + 1 :])
        base[place] = margins[whole & ~(1 << last)][rest] - base[before]
        odd[place] = cell.bit_count() % 2 == 1
    least, most = np.max(-base[~odd]), np.min(base[odd])
    if least > most:
        raise Contradiction
    return base + np.where(odd, -most, least), base + np.where(odd, -least, most)
