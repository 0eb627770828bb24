"""A k-d tree for the two questions of risk measures, asked of every record of a large table.

"Is anybody closer than this record's own release?" and "are there m others within this distance?" can both stop at the
first answer, with a radius for each record. A general tree (scipy's cKDTree), which must find the nearest neighbours
themselves, took two to three times as long for the first one at 10^6 records and 4 columns.

The tree cuts the points near the median of the widest side of their bounding box until few are left
(Bentley 1975, doi:10.1145/361002.361007), and prunes by bounding boxes. Give it distinct points with their masses:
equal points are not told apart by any split.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Tree", "build_tree", "crowded", "mass_within", "own_share"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_LEAF = 16


@dataclass(frozen=True)
class Tree:
    """Points in the order of the leaves, and the nodes above them, parents first.

    Parameters
    ----------
    points
        Shape (m, p), leaf by leaf.
    mass
        Number of records at each of `points`, shape (m,).
    order
        Which of the points given each of `points` is, shape (m,).
    start, end
        The slice of `points` below each node.
    left
        The first child of each node, the second one follows it; −1 for a leaf.
    box
        Lower and upper corner of the points below each node, shape (nodes, 2, p).
    depth
        Number of levels.
    """

    points: Floats
    mass: Floats
    order: Ints
    start: Ints
    end: Ints
    left: Ints
    box: Floats
    depth: int

    def rank(self) -> Ints:
        """Place of each given point in leaf order, shape (m,): points near in rank are near in space."""
        rank = np.empty(len(self.order), dtype=np.int64)
        rank[self.order] = np.arange(len(self.order))
        return rank


def build_tree(points: Floats, mass: Ints, leaf: int = _LEAF) -> Tree:
    """Build the tree of some distinct points.

    Parameters
    ----------
    points : ndarray, shape (m, p)
        Finite, m ≥ 1.
    mass : ndarray, shape (m,)
        How many records each point stands for.
    leaf
        Most points in a leaf.

    Examples
    --------
    >>> build_tree(np.array([[1.0], [3.0]]), np.array([1, 2])).box[0].tolist()
    [[1.0], [3.0]]
    """
    own, order = np.array(points, dtype=np.float64, order="C"), np.arange(len(points))
    start, end, left, box, depth = _build(own, order, leaf)
    return Tree(own, mass[order].astype(np.float64), order, start, end, left, box, depth)


def own_share(tree: Tree, targets: Floats, own: Floats, tie: float) -> Floats:
    """Chance that whoever takes the point nearest to a target takes the target's own.

    Parameters
    ----------
    tree
        Tree of all points, each target's own among them.
    targets : ndarray, shape (n, p)
        Faster if targets that are near in space follow each other.
    own : ndarray, shape (n,)
        Distance from each target to its own point.
    tie
        Relative difference below which two distances are equal.

    Returns
    -------
    ndarray, shape (n,)
        0 where a point is closer than the own one, else 1 / mass of the points at that distance.

    Examples
    --------
    >>> tree = build_tree(np.array([[0.0], [2.0], [5.0]]), np.array([1, 1, 1]))
    >>> own_share(tree, np.array([[1.0], [4.0]]), np.array([1.0, 4.0]), 1e-9).tolist()
    [0.5, 0.0]
    """
    mass = mass_within(tree, targets, np.square(own * (1 - tie)), np.square(own * (1 + tie)), np.inf)
    return np.divide(1.0, mass, out=np.zeros(len(mass)), where=mass > 0)


def crowded(tree: Tree, targets: Floats, radius: float, need: int) -> Bools:
    """Tell whether a mass of at least `need` lies within `radius` of each target, the border included.

    Parameters
    ----------
    tree
        Tree of all points.
    targets : ndarray, shape (n, p)
        Faster if targets that are near in space follow each other.
    radius
        Distance, ≥ 0.
    need
        Number of records; a target that is itself among the points counts.

    Returns
    -------
    ndarray, shape (n,), bool

    Examples
    --------
    >>> tree = build_tree(np.array([[0.0], [2.0], [5.0]]), np.array([1, 1, 1]))
    >>> crowded(tree, np.array([[0.0], [5.0]]), 2.0, 2).tolist()
    [True, False]
    """
    none, reach = np.full(len(targets), -1.0), np.full(len(targets), radius * radius)
    return mass_within(tree, targets, none, reach, need) >= need


def mass_within(tree: Tree, targets: Floats, closer: Floats, reach: Floats, enough: float = np.inf) -> Floats:
    """Mass of the points within a distance of each target, the border included; told apart from points nearer still.

    What parts of a table tell adds up: a target has a point nearer where any part says so, else the sum of masses.

    Parameters
    ----------
    tree
        Tree of the points.
    targets : ndarray, shape (n, p)
        Faster if targets that are near in space follow each other.
    closer, reach : ndarray, shape (n,)
        Squared distances.
    enough
        Counting may stop at this mass.

    Returns
    -------
    ndarray, shape (n,)
        −1 where some point is nearer than `closer`; 0 where none is within `reach`.

    Examples
    --------
    >>> tree = build_tree(np.array([[0.0], [2.0]]), np.array([1, 3]))
    >>> at = np.array([[1.0], [2.0], [9.0]])
    >>> mass_within(tree, at, np.full(3, 0.5), np.full(3, 4.0)).tolist()
    [4.0, -1.0, 0.0]
    """
    nodes = tree.start, tree.end, tree.left, tree.box, tree.depth
    return np.asarray(_walk(tree.points, tree.mass, *nodes, np.ascontiguousarray(targets), closer, reach, enough))


@compiled
def _build(points: Floats, order: Ints, leaf: int) -> tuple[Ints, Ints, Ints, Floats, int]:
    """Reorder `points` and `order` in place, and give start, end, left, box and depth of the nodes."""
    m, p = points.shape
    room, count, node = 4 * (m // leaf) + 3, 1, 0
    start, end, left = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64)
    level, box = np.zeros(room, np.int64), np.zeros((room, 2, p))
    end[0] = m
    while node < count:
        a, b = start[node], end[node]
        widest, width = 0, -1.0
        for j in range(p):
            low, high = points[a, j], points[a, j]
            for i in range(a + 1, b):
                low, high = min(low, points[i, j]), max(high, points[i, j])
            box[node, 0, j], box[node, 1, j] = low, high
            if high - low > width:
                widest, width = j, high - low
        left[node] = -1
        if b - a > leaf and width > 0:
            if count + 2 > room:
                start, end = np.concatenate((start, start)), np.concatenate((end, end))
                left, level = np.concatenate((left, left)), np.concatenate((level, level))
                box, room = np.concatenate((box, box)), 2 * room
            cut = _split(points, order, a, b, widest)
            left[node] = count
            start[count], end[count], level[count] = a, cut, level[node] + 1
            start[count + 1], end[count + 1], level[count + 1] = cut, b, level[node] + 1
            count += 2
        node += 1
    return start[:count], end[:count], left[:count], box[:count], int(level[:count].max()) + 1


@compiled
def _split(points: Floats, order: Ints, a: int, b: int, j: int) -> int:
    """Sort rows a … b − 1 by column j into two parts at a place near the middle where the value changes.

    A cut between equal values would leave two parts that overlap in space, which a column with few values makes common.
    """
    middle = (a + b) // 2
    low, high = a, b - 1
    while low < high:  # Hoare's selection of the row that belongs in the middle
        pivot = points[(low + high) // 2, j]
        i, k = low, high
        while i <= k:
            while points[i, j] < pivot:
                i += 1
            while points[k, j] > pivot:
                k -= 1
            if i <= k:
                _swap(points, order, i, k)
                i, k = i + 1, k - 1
        if middle <= k:
            high = k
        elif middle >= i:
            low = i
        else:
            break
    value = points[middle, j]
    first, last = a, b - 1  # bring the rows equal to the middle one together: they will be first … last
    for i in range(a, middle):
        if points[i, j] < value:
            _swap(points, order, i, first)
            first += 1
    for i in range(b - 1, middle, -1):
        if points[i, j] > value:
            _swap(points, order, i, last)
            last -= 1
    if first == a or (last + 1 < b and last + 1 - middle < middle - first):
        return last + 1
    return first


@compiled
def _swap(points: Floats, order: Ints, i: int, k: int) -> None:
    if i != k:
        for c in range(points.shape[1]):
            points[i, c], points[k, c] = points[k, c], points[i, c]
        order[i], order[k] = order[k], order[i]


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
    enough: float,
) -> Floats:
    """Walk the tree for each target, nearer child first; see `mass_within`. One loop, so that nothing is called."""
    n, p = targets.shape
    out = np.empty(n)
    stack = np.empty(depth + 2, np.int64)
    for t in range(n):
        found, top = 0.0, 1
        stack[0] = 0
        while top > 0 and 0 <= found < enough:
            top -= 1
            node = stack[top]
            child = left[node]
            if child < 0:
                for i in range(start[node], end[node]):
                    d = 0.0
                    for j in range(p):
                        step = points[i, j] - targets[t, j]
                        d += step * step
                    if d < closer[t]:
                        found = -1.0
                        break
                    if d <= reach[t]:
                        found += mass[i]
                continue
            to_first, to_second = 0.0, 0.0
            for j in range(p):
                value = targets[t, j]
                step = max(box[child, 0, j] - value, value - box[child, 1, j])
                if step > 0:
                    to_first += step * step
                step = max(box[child + 1, 0, j] - value, value - box[child + 1, 1, j])
                if step > 0:
                    to_second += step * step
            if to_first <= to_second:
                if to_second <= reach[t]:
                    stack[top] = child + 1
                    top += 1
                if to_first <= reach[t]:
                    stack[top] = child
                    top += 1
            else:
                if to_first <= reach[t]:
                    stack[top] = child
                    top += 1
                if to_second <= reach[t]:
                    stack[top] = child + 1
                    top += 1
        out[t] = found
    return out
