"""t-closeness: the values of a sensitive variable in a class are distributed much as in the whole file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.kernels.lattice.criteria.criterion import Block, Bools, Criterion, Floats, Ints, above
from sfumato.kernels.lattice.levels import Levels

__all__ = ["EqualT", "HierarchicalT", "OrderedT"]


def differences(block: Block, variable: int) -> tuple[Floats, Bools]:
    """Shares in each class less those in the whole file, shape (C, V); and which classes have a value at all."""
    counts, whole = block.histograms[variable], block.references[variable]
    known = counts.sum(axis=1)
    return counts / np.maximum(known, 1)[:, None] - whole / max(whole.sum(), 1), known > 0


@dataclass(frozen=True)
class EqualT(Criterion):
    """The earth mover's distance of a class from the whole file is at most t, all values equally far apart.

    It protects against learning much about a person from the class, beyond what the whole file tells. It does not see
    that some values are near each other. A distance is convex in the class's shares, so safe classes together are safe;
    a safe class joined by any other need not stay so.

    Source: Li, Li & Venkatasubramanian (2007), doi:10.1109/ICDE.2007.367856.

    Parameters
    ----------
    t
        From 0 to 1.
    variable
        Number of the sensitive variable.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([2, 2]), {0: np.array([[2, 0], [1, 1]])}, [np.array([3, 1])])
    >>> EqualT(0.25).fails(block).tolist(), EqualT(0.2).fails(block).tolist()
    ([False, False], [True, True])
    """

    t: float
    variable: int = 0
    safe_union: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise ValueError("t must be from 0 to 1")

    def fails(self, block: Block) -> Bools:
        """Tell which classes are farther than t from the whole file."""
        apart, known = differences(block, self.variable)
        return known & above(self._distance(apart), self.t)

    def _distance(self, apart: Floats) -> Floats:
        return np.asarray(np.abs(apart).sum(axis=1) / 2)


@dataclass(frozen=True)
class OrderedT(EqualT):
    """As `EqualT`, with values in an order: neighbours are 1/(V − 1) apart.

    Parameters
    ----------
    t
        From 0 to 1.
    variable
        Number of the sensitive variable.
    order : tuple of int, optional
        The codes of all V values in their order; by default 0, 1, ….

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([2]), {0: np.array([[2, 0, 0]])}, [np.array([1, 0, 1])])
    >>> OrderedT(0.5).fails(block).tolist(), OrderedT(0.49).fails(block).tolist()
    ([False], [True])
    """

    order: tuple[int, ...] | None = None

    def _distance(self, apart: Floats) -> Floats:
        ordered = apart if self.order is None else apart[:, list(self.order)]
        return np.asarray(np.abs(np.cumsum(ordered, axis=1)).sum(axis=1) / max(apart.shape[1] - 1, 1))


@dataclass(frozen=True, eq=False)
class HierarchicalT(EqualT):
    """As `EqualT`, with values as far apart as their hierarchy says: (level of the lowest common group) / height.

    Parameters
    ----------
    t
        From 0 to 1.
    variable
        Number of the sensitive variable.
    tree
        The hierarchy of the sensitive variable; its leaves are the variable's codes.

    Examples
    --------
    >>> import numpy as np
    >>> tree = Levels((np.arange(3), np.array([0, 0, 1]), np.zeros(3, dtype=np.int64)))
    >>> block = Block(np.array([2]), {0: np.array([[2, 0, 0]])}, [np.array([1, 1, 0])])
    >>> HierarchicalT(0.25, tree=tree).fails(block).tolist(), HierarchicalT(0.2, tree=tree).fails(block).tolist()
    ([False], [True])
    """

    tree: Levels | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tree is None:
            raise ValueError("tree: the hierarchy of the sensitive variable is needed")

    def _distance(self, apart: Floats) -> Floats:
        """Moving at a step of 1/height what goes out of each group of each level, in or out: half of it is each way."""
        assert self.tree is not None
        total = np.zeros(len(apart))
        for groups in self.tree.groups[:-1]:
            total += np.abs(_summed(apart, groups)).sum(axis=1)
        return np.asarray(total / (2 * max(self.tree.height, 1)))


def _summed(apart: Floats, groups: Ints) -> Floats:
    """Sums of columns within groups; codes of the tree beyond the data's have no share at all."""
    member = np.zeros((apart.shape[1], int(groups.max()) + 1))
    member[np.arange(apart.shape[1]), groups[: apart.shape[1]]] = 1.0
    return np.asarray(apart @ member)
