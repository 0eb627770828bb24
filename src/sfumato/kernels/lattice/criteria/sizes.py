"""Classes of at least k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.kernels.lattice.criteria.criterion import Block, Bools, Criterion

__all__ = ["KAnonymity"]


@dataclass(frozen=True)
class KAnonymity(Criterion):
    """At least k records in a class.

    It protects against singling a person out by the keys. It does not protect what all records of a class share.
    Monotone in full: a class only grows by whatever joins it.

    Source: Sweeney (2002), doi:10.1142/S0218488502001648.

    Parameters
    ----------
    k
        1 or more.

    Examples
    --------
    >>> import numpy as np
    >>> KAnonymity(3).fails(Block(np.array([2, 3]), {}, ())).tolist()
    [True, False]
    """

    k: int
    any_union: ClassVar[bool] = True
    safe_union: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError("k must be at least 1")

    @property
    def least_size(self) -> int:  # type: ignore[override]
        """k."""
        return self.k

    def fails(self, block: Block) -> Bools:
        """Tell which classes have fewer than k records."""
        return block.sizes < self.k
