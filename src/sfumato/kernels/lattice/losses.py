"""What generalising and suppressing lose, and the least that any refinement of a choice of levels can lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, log, log1p
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns

__all__ = ["LOSSES", "Loss", "Node", "checked_weights", "loss_named"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Node:
    """What came of a choice of levels.

    Parameters
    ----------
    levels
        Level of each key.
    suppressed
        Records in classes that are suppressed.
    kept : ndarray of int
        Sizes of the other classes.
    gone : sequence of ndarray
        For each key the suppressed records in each group of its level; only where the loss `weighs_groups`.
    """

    levels: Sequence[int]
    suppressed: int
    kept: Ints
    gone: Sequence[Floats] = ()


class Loss:
    """A loss, for given data and hierarchies.

    Parameters
    ----------
    patterns, hierarchies
        The data, n records and m keys.
    weights : sequence of float, shape (m,)
        Importance of each key. They are scaled to a sum of m, so that equal weights give the formula without any; a
        mean over keys becomes a weighted mean, a sum a weighted sum. Losses of whole classes have no use for them.
    """

    weighs_groups: ClassVar[bool] = False
    """Whether `score` needs `Node.gone`."""

    bounds_groups: ClassVar[bool] = False
    """Whether `bound` has use for `gone`."""

    weighs_classes: ClassVar[bool] = False
    """Whether `bound` needs `squares` and `classes`; it then says nothing without them."""

    def __init__(self, patterns: Patterns, hierarchies: Sequence[Levels], weights: Sequence[float]) -> None:
        self.n = patterns.records
        self.hierarchies = hierarchies
        self.weights = [w * len(hierarchies) / sum(weights) for w in weights]
        self.margins = [
            _margin(h, column, patterns.counts) for h, column in zip(hierarchies, patterns.codes.T, strict=True)
        ]

    def bound(
        self, levels: Sequence[int], suppressed: int, squares: int, classes: int, gone: Sequence[Floats] = ()
    ) -> float:
        """Give what no node at these levels or above loses less than.

        Parameters
        ----------
        levels
            Lowest level of each key.
        suppressed
            Records that are suppressed at each of the nodes.
        squares
            The sum over all other records of the least size that their class has.
        classes
            Largest number of classes that can be kept.
        gone
            For the first few keys, whose levels are settled: the surely suppressed records in each group.
        """
        raise NotImplementedError

    def score(self, node: Node) -> float:
        """Give the loss of a node."""
        raise NotImplementedError


def _margin(hierarchy: Levels, column: Ints, counts: Ints) -> list[Floats]:
    """Records in each group of each level."""
    leaves = np.bincount(column, weights=counts, minlength=hierarchy.leaves)
    return [np.bincount(groups, weights=leaves).astype(np.float64) for groups in hierarchy.groups]


class GeometricLoss(Loss):
    """∏(1 + y)^(w/m) − 1: the geometric mean of how much of each key's hierarchy lies under a released value.

    x is the sum over kept records of (leaves under the released value)/D, and 1 for each suppressed one;
    y = max(0, (x − n/D)/(n − n/D)), D the rows of the hierarchy.
    """

    weighs_groups: ClassVar[bool] = True

    def __init__(self, patterns: Patterns, hierarchies: Sequence[Levels], weights: Sequence[float]) -> None:
        super().__init__(patterns, hierarchies, weights)
        self.shares = [[h.shares(level) for level in range(h.height + 1)] for h in hierarchies]
        pairs = zip(self.margins, self.shares, strict=True)
        self.whole = [[float(m @ s) for m, s in zip(margin, share, strict=True)] for margin, share in pairs]
        self.broadest = [[float(s.max()) for s in share] for share in self.shares]

    def scaled(self, j: int, x: float) -> float:
        """Give y of key j."""
        least = self.n / self.hierarchies[j].rows
        return max(0.0, (x - least) / (self.n - least)) if self.n > least else 0.0

    def bound(
        self, levels: Sequence[int], suppressed: int, squares: int, classes: int, gone: Sequence[Floats] = ()
    ) -> float:
        """Nothing is suppressed but what surely is, and that from the broadest groups."""
        least = (self.whole[j][v] + suppressed * (1 - self.broadest[j][v]) for j, v in enumerate(levels))
        return self.mean([self.scaled(j, x) for j, x in enumerate(least)])

    def score(self, node: Node) -> float:
        """The loss itself."""
        ys = []
        for j, level in enumerate(node.levels):
            share = self.shares[j][level]
            x = self.whole[j][level] - float(node.gone[j][: len(share)] @ share) + node.suppressed
            ys.append(self.scaled(j, x))
        return self.mean(ys)

    def mean(self, ys: Sequence[float]) -> float:
        """Put the keys together."""
        return expm1(sum(w * log1p(y) for w, y in zip(self.weights, ys, strict=True)) / len(ys))


class ArithmeticLoss(GeometricLoss):
    """The mean of the same y."""

    def mean(self, ys: Sequence[float]) -> float:
        """Put the keys together."""
        return sum(w * y for w, y in zip(self.weights, ys, strict=True)) / len(ys)


class MonotoneEntropy(Loss):
    """Bits that generalised values leave open about the true ones: Σ over keys of −Σ n(x) log₂(n(x)/n(g(x))).

    n(x) counts a value in the whole file, n(g(x)) its group. Suppression adds nothing.
    """

    def __init__(self, patterns: Patterns, hierarchies: Sequence[Levels], weights: Sequence[float]) -> None:
        super().__init__(patterns, hierarchies, weights)
        self.open = [[_spread(margin[0]) * -1 + _spread(groups) for groups in margin] for margin in self.margins]

    def bound(
        self, levels: Sequence[int], suppressed: int, squares: int, classes: int, gone: Sequence[Floats] = ()
    ) -> float:
        """What the levels leave open."""
        return sum(w * self.open[j][level] for (j, level), w in zip(enumerate(levels), self.weights, strict=True))

    def score(self, node: Node) -> float:
        """The same."""
        return self.bound(node.levels, 0, 0, 0)


class Entropy(MonotoneEntropy):
    """As `MonotoneEntropy`, and for suppressed records the bits of their generalised values among themselves."""

    weighs_groups: ClassVar[bool] = True
    bounds_groups: ClassVar[bool] = True

    def bound(
        self, levels: Sequence[int], suppressed: int, squares: int, classes: int, gone: Sequence[Floats] = ()
    ) -> float:
        """What the levels leave open, and what is lost of the surely suppressed: it only grows as others join them."""
        return super().bound(levels, 0, 0, 0) + self._lost(suppressed, gone)

    def score(self, node: Node) -> float:
        """Both together."""
        return super().bound(node.levels, 0, 0, 0) + self._lost(node.suppressed, node.gone)

    def _lost(self, suppressed: int, gone: Sequence[Floats]) -> float:
        """−Σ c log₂(c/suppressed) is suppressed · log₂(suppressed) less Σ c log₂ c."""
        whole = suppressed * _log2(suppressed)
        return sum(w * (whole - _spread(part)) for w, part in zip(self.weights, gone, strict=False))


def _log2(count: float) -> float:
    return log(count) / log(2) if count > 0 else 0.0


def _spread(counts: Floats) -> float:
    """Σ c log₂ c."""
    some = counts[counts > 0]
    return float(some @ np.log2(some))


class Precision(Loss):
    """The mean over keys of (kept · level/height + suppressed)/n."""

    def bound(
        self, levels: Sequence[int], suppressed: int, squares: int, classes: int, gone: Sequence[Floats] = ()
    ) -> float:
        """A level is never more than the height."""
        total = 0.0
        for level, hierarchy, w in zip(levels, self.hierarchies, self.weights, strict=True):
            total += w * ((self.n - suppressed) * level / max(hierarchy.height, 1) + suppressed) / self.n
        return total / len(self.hierarchies)

    def score(self, node: Node) -> float:
        """The same, with all that is suppressed."""
        return self.bound(node.levels, node.suppressed, 0, 0)


class Discernibility(Loss):
    """Σ size² over kept classes, and n for each suppressed record."""

    weighs_classes: ClassVar[bool] = True

    def bound(
        self, levels: Sequence[int], suppressed: int, squares: int, classes: int, gone: Sequence[Floats] = ()
    ) -> float:
        """A class only grows."""
        return float(squares + self.n * suppressed)

    def score(self, node: Node) -> float:
        """In whole numbers."""
        return float(int((node.kept.astype(np.int64) ** 2).sum()) + self.n * node.suppressed)


class AverageClassSize(Loss):
    """n / (kept classes, and one more where anything is suppressed)."""

    weighs_classes: ClassVar[bool] = True

    def bound(
        self, levels: Sequence[int], suppressed: int, squares: int, classes: int, gone: Sequence[Floats] = ()
    ) -> float:
        """One more class may be that of the suppressed."""
        return self.n / (classes + 1)

    def score(self, node: Node) -> float:
        """The figure itself."""
        return self.n / (len(node.kept) + (node.suppressed > 0))


LOSSES: dict[str, type[Loss]] = {
    "loss": GeometricLoss,
    "loss-arithmetic": ArithmeticLoss,
    "entropy": Entropy,
    "monotone-entropy": MonotoneEntropy,
    "precision": Precision,
    "discernibility": Discernibility,
    "average-class-size": AverageClassSize,
}
"""All losses by name; smaller is better."""


def loss_named(
    name: str, patterns: Patterns, hierarchies: Sequence[Levels], weights: Sequence[float] | None = None
) -> Loss:
    """Give the loss of that name for these data.

    Parameters
    ----------
    name
        One of `LOSSES`.
    patterns, hierarchies
        The data and a hierarchy for each key.
    weights : sequence of float, optional
        Importance of each key, above 0; equal by default.

    Raises
    ------
    ValueError
        For an unknown name, or weights that are not positive, one to a key.

    Examples
    --------
    >>> ages = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))
    >>> loss = loss_named("loss", Patterns(np.array([[0], [3]]), np.array([5, 5])), [ages])
    >>> round(loss.bound([1], 0, 0, 0), 6)  # (10 · 2/4 − 10/4)/(10 − 10/4)
    0.333333
    """
    if name not in LOSSES:
        raise ValueError(f"loss: one of {', '.join(LOSSES)}")
    return LOSSES[name](patterns, hierarchies, checked_weights(weights, len(hierarchies)))


def checked_weights(weights: Sequence[float] | None, keys: int) -> list[float]:
    """Give the weight of each key, 1 where none are given.

    Raises
    ------
    ValueError
        Where there is not one above 0 for each key.

    Examples
    --------
    >>> checked_weights(None, 2)
    [1.0, 1.0]
    """
    given = [1.0] * keys if weights is None else [float(w) for w in weights]
    if len(given) != keys or not all(0 < w < np.inf for w in given):
        raise ValueError("weights: one above 0 for each key")
    return given
