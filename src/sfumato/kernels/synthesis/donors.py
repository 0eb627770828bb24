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

    def draw(self, leaf: Ints, u: Floats) -> Floats:
        """A donor's value.

        Parameters
        ----------
        leaf : ndarray of int64, shape (k,)
            The leaf that each row fell into.
        u : ndarray of float64, shape (k,)
            Uniform draws between 0 and 1.
        """
        if not len(self.mass):
            first, many = self.first[leaf], self.last[leaf] - self.first[leaf]
            place = first + np.minimum((u * many).astype(np.int64), many - 1)
        else:
            place = _weighted(self.first, self.last, self.mass, leaf, u)
        drawn: Floats = self.y[place]
        return drawn

    def between(self, leaf: Ints, u: Floats) -> Floats:
        """A value on the line through the sorted donors: at u (d − 1) of d donors; parameters as of `draw`.

        Donors are spaced evenly, whatever they weigh.
        """
        first, many = self.first[leaf], self.last[leaf] - self.first[leaf]
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
