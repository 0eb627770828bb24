"""Classification and regression trees, grown until leaves are small, from whose leaves donors are drawn.

Columns are codes: bins of numbers in their order, or levels of a category. A category is split by a set of levels: in
the order of the mean response, or of the share of one of two classes, the best set is a cut (Fisher 1958); with more
classes levels are ordered by the first principal component of their class shares, which is linear in the levels where
a search of all sets is not (Coppersmith, Hong and Hosking 1999, doi:10.1023/A:1009869804967). Rows are gone through
in the order in which they stand, so that equal input gives equal trees.

References
----------
Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees, doi:10.1201/9781315139470.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Tree", "grow", "leaf_of"]

Floats = NDArray[np.float64]
Codes = NDArray[np.uint16]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Sides = NDArray[np.uint8]

_GAIN = 1e-8  # of the root's impurity, that a split must take away
_TIE = 1e-9  # a later split must be better by more than this share
_ROUNDS = 60  # of the search for a principal component


@dataclass(frozen=True)
class Tree:
    """A tree, and the training rows of each leaf. Confidential: it is made of donors.

    Parameters
    ----------
    column : ndarray of int64, shape (nodes,)
        The column that a node splits by; −1 in a leaf.
    cut : ndarray of int64, shape (nodes,)
        Codes up to it go left; for a category, where its sides begin in `sides`.
    left, right : ndarray of int64, shape (nodes,)
        The nodes below.
    first, last : ndarray of int64, shape (nodes,)
        The donors of a leaf are `rows[first:last]`.
    rows : ndarray of int64, shape (n,)
        Training rows; those of one leaf together and in rising order.
    sides : ndarray of uint8
        For each level of a category that splits: 0 left, 1 right. A level of which a node has no row goes where more
        rows are.
    categorical : ndarray of bool, shape (p,)
        Which columns are categories.
    """

    column: Ints
    cut: Ints
    left: Ints
    right: Ints
    first: Ints
    last: Ints
    rows: Ints
    sides: Sides
    categorical: Flags


def grow(
    codes: Codes,
    levels: Ints,
    categorical: Flags,
    y: Floats,
    classes: int = 0,
    *,
    min_leaf: int = 5,
    weights: Floats | None = None,
) -> Tree:
    """Grow a tree on all rows.

    Parameters
    ----------
    codes : ndarray of uint16, shape (p, n)
        Codes of the predictors, a line for each.
    levels : ndarray of int64, shape (p,)
        How many codes each predictor may have.
    categorical : ndarray of bool, shape (p,)
        Which predictors have no order.
    y : ndarray of float64, shape (n,)
        The response: numbers, or class numbers 0 … `classes` − 1.
    classes
        How many classes there are; 0 for numbers. Splits take away squared error, or Gini impurity.
    min_leaf
        Fewest rows of a leaf, at least 1.
    weights : ndarray of float64, shape (n,), optional
        Weights above 0, for a Bayesian bootstrap. Sizes of leaves count rows, not weights.

    Returns
    -------
    Tree
        With one leaf where nothing may be split.

    Notes
    -----
    Of splits that are as good, the first column's is taken, and of these the lowest cut. There is no pruning: what
    would be cut away are relations between columns.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1, 2, 2]], np.uint16)
    >>> tree = grow(codes, np.array([3]), np.array([True]), np.array([1.0, 1.0, 9.0, 9.0, 1.0, 1.0]), min_leaf=2)
    >>> leaf_of(tree, codes).tolist()
    [1, 1, 2, 2, 1, 1]
    """
    n = codes.shape[1]
    weight = np.ones(n) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    response = np.ascontiguousarray(y, dtype=np.float64)
    if not classes and n:
        response = response - float(np.average(response, weights=weight))
    column, cut, left, right, first, last, rows, sides = _grow(
        np.ascontiguousarray(codes), levels, categorical, response, classes, min_leaf, weight, weights is not None
    )
    return Tree(column, cut, left, right, first, last, rows, sides, categorical)


def leaf_of(tree: Tree, codes: Codes) -> Ints:
    """Let rows fall down a tree.

    Parameters
    ----------
    tree
        The tree.
    codes : ndarray of uint16, shape (p, k)
        Codes of the predictors.

    Returns
    -------
    ndarray of int64, shape (k,)
        The node that each row ends in.
    """
    given = np.ascontiguousarray(codes)
    return _fall(given, tree.column, tree.cut, tree.left, tree.right, tree.sides, tree.categorical)


@compiled
def _fall(codes: Codes, column: Ints, cut: Ints, left: Ints, right: Ints, sides: Sides, categorical: Flags) -> Ints:
    k = codes.shape[1]
    out = np.zeros(k, np.int64)
    for i in range(k):
        node = 0
        while column[node] >= 0:
            j = column[node]
            code = codes[j, i]
            goes_left = sides[cut[node] + code] == 0 if categorical[j] else code <= cut[node]
            node = left[node] if goes_left else right[node]
        out[i] = node
    return out


@compiled
def _principal(count: Floats, held: Ints, many: int, classes: int, size: Floats, score: Floats) -> None:
    """Score levels by the first principal component of their class shares, weighted by their sizes."""
    total = 0.0
    mean = np.zeros(classes)
    for t in range(many):
        for c in range(classes):
            mean[c] += count[held[t], c]
        total += size[held[t]]
    mean /= total
    away = np.empty((many, classes))
    widest, at = -1.0, 0
    for t in range(many):
        square = 0.0
        for c in range(classes):
            away[t, c] = count[held[t], c] / size[held[t]] - mean[c]
            square += away[t, c] ** 2
        if square * size[held[t]] > widest:
            widest, at = square * size[held[t]], t
    axis = away[at].copy()
    for _ in range(_ROUNDS):
        new = np.zeros(classes)
        for t in range(many):
            along = 0.0
            for c in range(classes):
                along += away[t, c] * axis[c]
            along *= size[held[t]]
            for c in range(classes):
                new[c] += along * away[t, c]
        norm = 0.0
        for c in range(classes):
            norm += new[c] ** 2
        norm = np.sqrt(norm)
        if norm <= 0.0:
            break
        moved = 0.0
        for c in range(classes):
            moved = max(moved, abs(new[c] / norm - axis[c]))
            axis[c] = new[c] / norm
        if moved < 1e-9:
            break
    for t in range(many):
        along = 0.0
        for c in range(classes):
            along += away[t, c] * axis[c]
        score[t] = along


@compiled
def _order(held: Ints, many: int, score: Floats, by_score: bool) -> Ints:
    """The held levels in rising order of their scores, or of their codes; equal scores by code."""
    codes = np.sort(held[:many])
    if not by_score:
        return codes
    place = np.argsort(held[:many], kind="mergesort")
    own = score[:many][place]
    return codes[np.argsort(own, kind="mergesort")]


@compiled
def _best_of_column(
    codes: Codes,
    rows: Ints,
    categorical: bool,
    y: Floats,
    classes: int,
    min_leaf: int,
    weight: Floats,
    weighted: bool,
    count: Floats,
    size: Floats,
    number: Ints,
    whole: Floats,
) -> tuple[float, int, Ints]:
    """The best split of a node by one column: gain, how many levels go left, and the levels in their order.

    `codes` are those of all rows, `y` and `weight` of the node's `rows` alone, in their order.
    `count`, `size`, `number` are zero when it begins and when it ends: sums of levels (weights by class, or of the
    response), their weights, and their rows. `whole` has the sums of the node, of the classes alone that it has: `y`
    numbers these, `classes` says how many the whole tree has.
    """
    m = len(rows)
    held = np.empty(min(m, len(number)), np.int64)
    many = 0
    for i in range(m):
        level = codes[rows[i]]
        if number[level] == 0:
            held[many] = level
            many += 1
        number[level] += 1
        if weighted:
            size[level] += weight[i]
            if classes:
                count[level, int(y[i])] += weight[i]
            else:
                count[level, 0] += weight[i] * y[i]
        elif classes:
            count[level, int(y[i])] += 1.0
        else:
            count[level, 0] += y[i]
    if not weighted:
        for t in range(many):
            size[held[t]] = number[held[t]]
    width = len(whole)
    best, taken = 0.0, 0
    order = held[:0]
    if many > 1:
        score = np.empty(many)
        if categorical:
            if classes > 2:
                _principal(count, held, many, width, size, score)
            else:
                at = width - 1
                for t in range(many):
                    score[t] = count[held[t], at] / size[held[t]]
        order = _order(held, many, score, categorical)
        total = 0.0
        for t in range(many):
            total += size[order[t]]
        base = 0.0
        for c in range(width):
            base += whole[c] ** 2
        base /= total
        left = np.zeros(width)
        seen, mass = 0, 0.0
        for t in range(many - 1):
            level = order[t]
            seen += number[level]
            mass += size[level]
            for c in range(width):
                left[c] += count[level, c]
            if seen < min_leaf:
                continue
            if m - seen < min_leaf:
                break
            low, high = 0.0, 0.0
            for c in range(width):
                low += left[c] ** 2
                high += (whole[c] - left[c]) ** 2
            gain = low / mass + high / (total - mass) - base
            if gain > best * (1 + _TIE):
                best, taken = gain, t + 1
    for t in range(many):
        level = held[t]
        number[level] = 0
        size[level] = 0.0
        for c in range(width):
            count[level, c] = 0.0
    return best, taken, order


@compiled
def _gathered(
    own: Ints, y: Floats, weight: Floats, classes: int, y_here: Floats, weight_here: Floats, whole: Floats
) -> tuple[float, float]:
    """Bring a node's responses and weights together, and add them up by class: weight, and squares of numbers."""
    mass, square = 0.0, 0.0
    for t in range(len(own)):
        i = own[t]
        y_here[t], weight_here[t] = y[i], weight[i]
        mass += weight[i]
        if classes:
            whole[int(y[i])] += weight[i]
        else:
            whole[0] += weight[i] * y[i]
            square += weight[i] * y[i] ** 2
    return mass, square


@compiled
def _renumbered(whole: Floats, y_here: Floats) -> int:
    """Leave out the classes that a node has none of, and tell how many are left: of many, most nodes have few."""
    place, there = np.zeros(len(whole), np.int64), 0
    for c in range(len(whole)):
        if whole[c] > 0:
            place[c], whole[there] = there, whole[c]
            there += 1
    if there < len(whole):
        for t in range(len(y_here)):
            y_here[t] = place[int(y_here[t])]
    return there


@compiled
def _grow(
    codes: Codes,
    levels: Ints,
    categorical: Flags,
    y: Floats,
    classes: int,
    min_leaf: int,
    weight: Floats,
    weighted: bool,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Sides]:
    p, n = codes.shape
    width = classes if classes else 1
    most = max(1, 2 * (n // max(min_leaf, 1)) + 1)
    column, cut = np.full(most, -1, np.int64), np.zeros(most, np.int64)
    left, right = np.zeros(most, np.int64), np.zeros(most, np.int64)
    first, last = np.zeros(most, np.int64), np.zeros(most, np.int64)
    sides, used = np.zeros(1024, np.uint8), 0
    rows = np.arange(n)
    spare = np.empty(n, np.int64)
    y_here, weight_here = np.empty(n), np.empty(n)
    widest = 1
    for j in range(p):
        widest = max(widest, levels[j])
    count, size, number = np.zeros((widest, width)), np.zeros(widest), np.zeros(widest, np.int64)
    last[0] = n
    nodes, root = 1, -1.0
    node = 0
    while node < nodes:
        own = rows[first[node] : last[node]]
        m = len(own)
        whole = np.zeros(width)
        mass, square = _gathered(own, y, weight, classes, y_here, weight_here, whole)
        impurity = mass if classes else square
        for c in range(width):
            impurity -= whole[c] ** 2 / max(mass, 1e-300)
        if root < 0:
            root = impurity
        if m < 2 * min_leaf or impurity <= _GAIN * root:
            node += 1
            continue
        there = _renumbered(whole, y_here[:m]) if classes else 1
        best, taken, by, order = _GAIN * root, 0, -1, own[:0]
        for j in range(p):
            gain, many, levels_of = _best_of_column(
                codes[j],
                own,
                categorical[j],
                y_here[:m],
                classes,
                min_leaf,
                weight_here[:m],
                weighted,
                count,
                size,
                number,
                whole[:there],
            )
            if many and gain > best * (1 + _TIE):
                best, taken, by, order = gain, many, j, levels_of
        if by < 0:
            node += 1
            continue
        column[node] = by
        going = np.zeros(levels[by], np.uint8)
        if categorical[by]:
            for t in range(taken, len(order)):
                going[order[t]] = 1
        a, b = 0, 0
        for i in own:
            code = codes[by, i]
            stays = going[code] == 0 if categorical[by] else code <= order[taken - 1]
            if stays:
                own[a] = i
                a += 1
            else:
                spare[b] = i
                b += 1
        own[a:] = spare[:b]
        if categorical[by]:
            if used + levels[by] > len(sides):
                longer = np.zeros(2 * (used + levels[by]), np.uint8)
                longer[:used] = sides[:used]
                sides = longer
            if b > a:  # what no row here has goes with the most
                for code in range(levels[by]):
                    going[code] = 1
                for t in range(taken):
                    going[order[t]] = 0
            sides[used : used + levels[by]] = going
            cut[node] = used
            used += levels[by]
        else:
            cut[node] = order[taken - 1]
        left[node], right[node] = nodes, nodes + 1
        first[nodes], last[nodes] = first[node], first[node] + a
        first[nodes + 1], last[nodes + 1] = first[node] + a, last[node]
        nodes += 2
        node += 1
    return column[:nodes], cut[:nodes], left[:nodes], right[:nodes], first[:nodes], last[:nodes], rows, sides[:used]
