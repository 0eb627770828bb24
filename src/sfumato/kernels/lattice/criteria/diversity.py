"""l-diversity: enough different values of a sensitive variable in each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.kernels.lattice.criteria.criterion import SLACK, Block, Bools, Criterion

__all__ = ["DistinctL", "EntropyL", "RecursiveL"]


@dataclass(frozen=True)
class DistinctL(Criterion):
    """At least l different values in a class.

    It protects against learning a value for certain from the class alone. It does not see that one value may be much
    more frequent than the others. Monotone in full where every record has a value: a class only gains values.

    Source: Machanavajjhala et al. (2007), doi:10.1145/1217299.1217302.

    Parameters
    ----------
    l
        1 or more.
    variable
        Number of the sensitive variable.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([4, 4]), {0: np.array([[4, 0], [3, 1]])}, [np.array([7, 1])])
    >>> DistinctL(2).fails(block).tolist()
    [True, False]
    """

    l: int  # noqa: E741 - the field's name
    variable: int = 0
    any_union: ClassVar[bool] = True
    safe_union: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.l < 1:
            raise ValueError("l must be at least 1")

    def fails(self, block: Block) -> Bools:
        """Tell which classes have fewer than l different values, and any."""
        different = np.count_nonzero(block.histograms[self.variable], axis=1)
        return np.asarray((different > 0) & (different < self.l))


@dataclass(frozen=True)
class EntropyL(Criterion):
    """The exponential of the values' Shannon entropy in a class is at least l; at the boundary it passes.

    It protects against values that are almost certain, as in a class where all but a few records share one. It takes
    all values for equally telling. Entropy is concave, so safe classes together are safe; but a safe class that is
    joined by a large one with a single value need not stay so.

    Source: Machanavajjhala et al. (2007), doi:10.1145/1217299.1217302.

    Parameters
    ----------
    l
        1 or more.
    variable
        Number of the sensitive variable.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([4, 4]), {0: np.array([[2, 2], [3, 1]])}, [np.array([5, 3])])
    >>> EntropyL(2).fails(block).tolist()
    [False, True]
    """

    l: float  # noqa: E741 - the field's name
    variable: int = 0
    safe_union: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.l >= 1:
            raise ValueError("l must be at least 1")

    def fails(self, block: Block) -> Bools:
        """Tell which classes have an entropy below ln l."""
        counts = block.histograms[self.variable]
        known = counts.sum(axis=1)
        safe = np.maximum(known, 1)
        entropy = np.log(safe) - (counts * np.log(np.maximum(counts, 1))).sum(axis=1) / safe
        return np.asarray((known > 0) & (entropy < np.log(self.l) - SLACK))


@dataclass(frozen=True)
class RecursiveL(Criterion):
    """Recursive (c, l)-diversity: r₁ < c (r_l + … + r_m), r₁ the records with a class's most frequent value.

    It protects against one value being far more frequent than those left after the l − 1 most frequent are ruled out.
    Safe classes together are safe: r₁ of the whole is at most the sum of the parts' r₁, and the tail at least the sum
    of their tails. A safe class joined by any other need not stay so.

    Source: Machanavajjhala et al. (2007), doi:10.1145/1217299.1217302.

    Parameters
    ----------
    c
        Above 0.
    l
        1 or more.
    variable
        Number of the sensitive variable.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([6, 6]), {0: np.array([[3, 2, 1], [5, 1, 0]])}, [np.array([8, 3, 1])])
    >>> RecursiveL(c=2, l=2).fails(block).tolist()
    [False, True]
    """

    c: float
    l: int  # noqa: E741 - the field's name
    variable: int = 0
    safe_union: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.l < 1 or not self.c > 0:
            raise ValueError("l must be at least 1, and c above 0")

    def fails(self, block: Block) -> Bools:
        """Tell which classes have an r₁ that is not below c times their tail."""
        counts = -np.sort(-block.histograms[self.variable], axis=1)
        first, tail = counts[:, 0], counts[:, self.l - 1 :].sum(axis=1)
        return np.asarray((first > 0) & (first >= self.c * tail * (1 - SLACK)))
