"""How much more, or less, likely a value is within a class: alpha, beta-likeness, delta-disclosure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.kernels.lattice.criteria.criterion import SLACK, Block, Bools, Criterion, above

__all__ = ["Alpha", "Beta", "Delta"]


@dataclass(frozen=True)
class Alpha(Criterion):
    """No value has a share above alpha of a class's records with a value: with k, (alpha, k)-anonymity.

    It protects against near-certain inference of whichever value is frequent. It is blind to how frequent the value is
    in the whole file. Shares of a union are averages, so safe classes together are safe; a safe class joined by any
    other need not stay so.

    Source: Wong et al. (2006), doi:10.1145/1150402.1150499.

    Parameters
    ----------
    alpha
        From 0 to 1.
    variable
        Number of the sensitive variable.

    Examples
    --------
    >>> import numpy as np
    >>> Alpha(0.5).fails(Block(np.array([2, 2]), {0: np.array([[2, 0], [1, 1]])}, [np.array([3, 1])])).tolist()
    [True, False]
    """

    alpha: float
    variable: int = 0
    safe_union: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise ValueError("alpha must be from 0 to 1")

    def fails(self, block: Block) -> Bools:
        """Tell in which classes a value's share is above alpha."""
        counts = block.histograms[self.variable]
        return above(counts.max(axis=1) / np.maximum(counts.sum(axis=1), 1), self.alpha)


@dataclass(frozen=True)
class Beta(Criterion):
    """beta-likeness: no value's share q in a class exceeds its share p in the whole file by more than beta · p.

    Enhanced: by no more than min(beta, −ln p) · p. It protects against what a class adds to belief in a value; that a
    value becomes less likely is allowed. The condition is linear in q, so safe classes together are safe; a safe class
    joined by any other need not stay so.

    Source: Cao & Karras (2012), doi:10.14778/2350229.2350255.

    Parameters
    ----------
    beta
        Above 0.
    variable
        Number of the sensitive variable.
    enhanced
        The stricter kind.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([2]), {0: np.array([[0, 2]])}, [np.array([1, 1])])
    >>> Beta(1.0).fails(block).tolist(), Beta(1.0, enhanced=True).fails(block).tolist()
    ([False], [True])
    """

    beta: float
    variable: int = 0
    enhanced: bool = False
    safe_union: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise ValueError("beta must be above 0")

    def fails(self, block: Block) -> Bools:
        """Tell in which classes a value gains too much."""
        counts, whole = block.histograms[self.variable], block.references[self.variable]
        q = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
        p = np.maximum(whole, 1) / max(whole.sum(), 1)
        most = np.minimum(self.beta, -np.log(p)) if self.enhanced else np.full(len(p), self.beta)
        return np.asarray(((q / p - 1 - most) > SLACK * np.maximum(1.0, most)).any(axis=1))


@dataclass(frozen=True)
class Delta(Criterion):
    """delta-disclosure: |ln(q/p)| ≤ delta for every value that occurs in a class.

    q is the value's share in the class, p in the whole file; the logarithm is natural. It protects against values
    becoming much more, or much less, likely. Values that do not occur in a class are not judged, as in other programs;
    for that reason safe classes together need not be safe (a value of one is rarer in both), and no search may be cut
    by this criterion.

    Source: Brickell & Shmatikov (2008), doi:10.1145/1401890.1401904.

    Parameters
    ----------
    delta
        Above 0.
    variable
        Number of the sensitive variable.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([2]), {0: np.array([[0, 2]])}, [np.array([1, 1])])
    >>> Delta(0.7).fails(block).tolist(), Delta(0.69).fails(block).tolist()
    ([False], [True])
    """

    delta: float
    variable: int = 0

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ValueError("delta must be above 0")

    def fails(self, block: Block) -> Bools:
        """Tell in which classes a value gains or loses too much."""
        counts, whole = block.histograms[self.variable], block.references[self.variable]
        q = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
        p = np.maximum(whole, 1) / max(whole.sum(), 1)
        return above(np.abs(np.log(np.where(counts > 0, q / p, 1.0))).max(axis=1), self.delta)
