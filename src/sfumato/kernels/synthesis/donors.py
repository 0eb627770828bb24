"""Draw values from the leaves of a tree: a donor's, or one between two donors'."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.synthesis.tree import Tree

__all__ = ["Donors"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Donors:
    """The responses of a tree's leaves, in rising order within each. Confidential.

    Parameters
    ----------
    tree
        The tree.
    y : ndarray of float64, shape (n,)
        The responses of its training rows: numbers, or class numbers.
    weights : ndarray of float64, shape (n,), optional
        As the tree was grown with: a donor is drawn as likely as it weighs.

    Examples
    --------
    >>> from sfumato.kernels.synthesis.tree import grow
    >>> nothing = np.zeros((0, 4), np.uint16), np.zeros(0, np.int64), np.zeros(0, bool)
    >>> y = np.array([4.0, 1.0, 3.0, 2.0])
    >>> donors = Donors(grow(*nothing, y), y)
    >>> donors.draw(np.zeros(3, np.int64), np.array([0.1, 0.5, 0.9])).tolist()
    [1.0, 3.0, 4.0]
    >>> donors.between(np.zeros(3, np.int64), np.array([0.1, 0.5, 0.9])).round(9).tolist()
    [1.3, 2.5, 3.7]
    """

    def __init__(self, tree: Tree, y: Floats, weights: Floats | None = None) -> None:
        self.first, self.last = tree.first, tree.last
        order = np.lexsort((y[tree.rows], _place(tree)))
        self.y: Floats = np.ascontiguousarray(y[tree.rows[order]])
        self.mass: Floats = np.zeros(0) if weights is None else np.cumsum(weights[tree.rows[order]])

    def draw(self, leaf: Ints, u: Floats, within: tuple[Floats, Floats] | None = None) -> Floats:
        """A donor's value.

        Parameters
        ----------
        leaf : ndarray of int64, shape (k,)
            The leaf that each row fell into.
        u : ndarray of float64, shape (k,)
            Uniform draws between 0 and 1.
        within : pair of ndarray of float64, shape (k,), optional
            Least and largest value that each row may get: other donors are left out of its draw, and where none is
            left the value is NaN.
        """
        if within is not None:
            return self._within(leaf, u, within, smooth=False)
        return self._drawn(self.first, self.last, leaf, u)

    def between(self, leaf: Ints, u: Floats, within: tuple[Floats, Floats] | None = None) -> Floats:
        """A value on the line through the sorted donors: at u (d − 1) of d donors; parameters as of `draw`.

        Donors are spaced evenly, whatever they weigh.
        """
        if within is not None:
            return self._within(leaf, u, within, smooth=True)
        return self._on_line(self.first, self.last, leaf, u)

    def _within(self, leaf: Ints, u: Floats, within: tuple[Floats, Floats], *, smooth: bool) -> Floats:
        first, last = _span(self.y, self.first, self.last, leaf, *within)
        none = first >= last
        first, last = np.where(none, 0, first), np.where(none, 1, last)
        draw = self._on_line if smooth else self._drawn
        return np.where(none, np.nan, draw(first, last, np.arange(len(leaf)), u))

    def _drawn(self, firsts: Ints, lasts: Ints, leaf: Ints, u: Floats) -> Floats:
        if not len(self.mass):
            first, many = firsts[leaf], lasts[leaf] - firsts[leaf]
            place = first + np.minimum((u * many).astype(np.int64), many - 1)
        else:
            place = _weighted(firsts, lasts, self.mass, leaf, u)
        drawn: Floats = self.y[place]
        return drawn

    def _on_line(self, firsts: Ints, lasts: Ints, leaf: Ints, u: Floats) -> Floats:
        first, many = firsts[leaf], lasts[leaf] - firsts[leaf]
        at = u * (many - 1)
        low = np.minimum(at.astype(np.int64), np.maximum(many - 2, 0))
        high = np.minimum(low + 1, many - 1)
        one, other = self.y[first + low], self.y[first + high]
        drawn: Floats = one + (at - low) * (other - one)
        return drawn


def _place(tree: Tree) -> Ints:
    """Of each of `tree.rows` which leaf it is of, counted in their order there."""
    leaves = np.flatnonzero(tree.column < 0)
    sizes = (tree.last - tree.first)[leaves[np.argsort(tree.first[leaves])]]
    return np.repeat(np.arange(len(sizes)), sizes)


@compiled
def _weighted(first: Ints, last: Ints, mass: Floats, leaf: Ints, u: Floats) -> Ints:
    out = np.empty(len(leaf), np.int64)
    for i in range(len(leaf)):
        low, high = first[leaf[i]], last[leaf[i]] - 1
        before = mass[low - 1] if low else 0.0
        wanted = before + u[i] * (mass[high] - before)
        while low < high:
            middle = (low + high) // 2
            if mass[middle] <= wanted:
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out


@compiled
def _span(y: Floats, first: Ints, last: Ints, leaf: Ints, least: Floats, most: Floats) -> tuple[Ints, Ints]:
    """Of each row the donors of its leaf that lie between two values; donors rise within a leaf."""
    start, end = np.empty(len(leaf), np.int64), np.empty(len(leaf), np.int64)
    for i in range(len(leaf)):
        low, high = first[leaf[i]], last[leaf[i]]
        while low < high:
            middle = (low + high) // 2
            if y[middle] < least[i]:
                low = middle + 1
            else:
                high = middle
        start[i] = low
        high = last[leaf[i]]
        while low < high:
            middle = (low + high) // 2
            if y[middle] <= most[i]:
                low = middle + 1
            else:
                high = middle
        end[i] = low
    return start, end
