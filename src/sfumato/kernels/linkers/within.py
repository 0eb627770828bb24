"""Which records are nearer to people than a given Gower distance, and how many are as near, without scoring every pair.

What parts of a table tell adds up, see `sfumato.kernels.neighbours.kdtree.mass_within`, of which this is the same in
Gower's distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.linkers.keys import MISSING
from sfumato.kernels.neighbours.kdtree import Tree

__all__ = ["GowerSpace", "gower_apart", "gower_within"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FAR = MISSING / 10
_UNKNOWN = 0.5


@dataclass(frozen=True)
class GowerSpace:
    """How points are compared: the same distances as `sfumato.kernels.linkers.nearest.gower` scores.

    Points have a column for each key: numbers of categories first, then numbers in units of their range; `MISSING`
    where there is no value.

    Parameters
    ----------
    categories
        How many of the columns are categories.
    wildcard
        Whether a missing value may be anything. Else it is a value of its own.
    """

    categories: int
    wildcard: bool = False


def gower_apart(one: Floats, two: Floats, space: GowerSpace) -> Floats:
    """Gower's distance of each row from the same row of another table, shape (n,).

    Parameters
    ----------
    one, two : ndarray, shape (n, p)
    space
        How they are compared.

    Examples
    --------
    >>> one, two = np.array([[0.0, 0.5], [1.0, MISSING]]), np.array([[1.0, 0.75], [1.0, 0.5]])
    >>> gower_apart(one, two, GowerSpace(1)).tolist()
    [1.25, 1.0]
    """
    out = np.zeros(len(one))
    for j in range(one.shape[1]):
        a, b = one[:, j], two[:, j]
        gone, both = (a > _FAR) | (b > _FAR), (a > _FAR) & (b > _FAR)
        there = (a != b).astype(np.float64) if j < space.categories else np.abs(np.where(gone, 0.0, b - a))
        out += np.where(gone, _UNKNOWN if space.wildcard else np.where(both, 0.0, 1.0), there)
    return out


def gower_within(tree: Tree, targets: Floats, closer: Floats, reach: Floats, space: GowerSpace) -> Floats:
    """Mass of the points within a distance of each target, the border included; told apart from points nearer still.

    Parameters
    ----------
    tree
        Tree of the points.
    targets : ndarray, shape (n, p)
    closer, reach : ndarray, shape (n,)
        Distances.
    space
        How they are compared.

    Returns
    -------
    ndarray, shape (n,)
        −1 where some point is nearer than `closer`; 0 where none is within `reach`.

    Examples
    --------
    >>> from sfumato.kernels.neighbours.kdtree import build_tree
    >>> tree = build_tree(np.array([[0.0, 0.5], [1.0, 0.5]]), np.array([1, 3]))
    >>> at = np.array([[0.0, 0.75], [1.0, 0.75], [2.0, 0.5]])
    >>> gower_within(tree, at, np.array([0.2, 0.3, 0.9]), np.array([0.25, 0.5, 1.0]), GowerSpace(1)).tolist()
    [1.0, -1.0, 4.0]
    """
    nodes = tree.start, tree.end, tree.left, tree.box, tree.depth
    people = np.ascontiguousarray(targets)
    return np.asarray(
        _walk(tree.points, tree.mass, *nodes, people, closer, reach, space.categories, space.wildcard),
    )


@compiled
def _bound(low: Floats, high: Floats, at: Floats, categories: int, wildcard: bool) -> float:
    """The least distance that a point of a box can have."""
    blank, d = 0.5 if wildcard else 1.0, 0.0
    for j in range(len(at)):
        a = at[j]
        if a > _FAR:
            d += 0.5 if wildcard else (0.0 if high[j] > _FAR else 1.0)
        elif low[j] > _FAR:
            d += blank
        else:
            step = max(low[j] - a, a - high[j], 0.0)
            if j < categories and step > 0:
                step = 1.0
            d += min(step, blank) if high[j] > _FAR else step
    return d


@compiled
def _walk(
    points: Floats,
    mass: Floats,
    start: Ints,
    end: Ints,
    left: Ints,
    box: Floats,
    depth: int,
    targets: Floats,
    closer: Floats,
    reach: Floats,
    categories: int,
    wildcard: bool,
) -> Floats:
    """Walk the tree for each target, nearer child first."""
    n, p = targets.shape
    out = np.empty(n)
    stack = np.empty(depth + 2, np.int64)
    blank = 0.5 if wildcard else 1.0
    for t in range(n):
        found, top = 0.0, 1
        at, most = targets[t], reach[t]
        stack[0] = 0
        while top > 0 and found >= 0:
            top -= 1
            node = stack[top]
            child = left[node]
            if child < 0:
                for i in range(start[node], end[node]):
                    d = 0.0
                    for j in range(p):
                        a, b = at[j], points[i, j]
                        if a > _FAR or b > _FAR:
                            d += 0.0 if a > _FAR and b > _FAR and not wildcard else blank
                        elif j < categories:
                            d += 1.0 if a != b else 0.0
                        else:
                            d += abs(b - a)
                        if d > most:
                            break
                    if d < closer[t]:
                        found = -1.0
                        break
                    if d <= most:
                        found += mass[i]
                continue
            to_first = _bound(box[child, 0], box[child, 1], at, categories, wildcard)
            to_second = _bound(box[child + 1, 0], box[child + 1, 1], at, categories, wildcard)
            near, far = (child, child + 1) if to_first <= to_second else (child + 1, child)
            if max(to_first, to_second) <= most:
                stack[top] = far
                top += 1
            if min(to_first, to_second) <= most:
                stack[top] = near
                top += 1
        out[t] = found
    return out
