"""What is known of people and what is released of records, in one form for all linkers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.rows import distinct

__all__ = ["MISSING", "Keys", "keys_of"]

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MISSING = 1e300
"""What stands for a number that is missing: farther from every number than numbers are from each other."""


@dataclass(frozen=True, eq=False)
class Keys:
    """The combinations of keys that occur in a table, each once.

    Parameters
    ----------
    codes : ndarray, shape (c, m), int32
        Number of each category, the same in both tables; −1 where it is missing and may be anything.
    numbers : ndarray, shape (q, m)
        Numbers; `MISSING` where there is none.
    count : ndarray, shape (m,)
        Rows that have the combination.
    member : ndarray, shape (n,)
        Combination of each row.
    """

    codes: Codes
    numbers: Floats
    count: Ints
    member: Ints

    def __len__(self) -> int:
        """Number of combinations."""
        return len(self.count)

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.member)

    def only(self, rows: Ints) -> Keys:
        """The keys of some rows, shape (r,), in their order."""
        there, member = np.unique(self.member[rows], return_inverse=True)
        count = np.bincount(member, minlength=len(there)).astype(np.int64)
        return Keys(
            np.ascontiguousarray(self.codes[:, there]),
            np.ascontiguousarray(self.numbers[:, there]),
            count,
            member.reshape(-1).astype(np.int64),
        )


def keys_of(codes: Codes, numbers: Floats) -> Keys:
    """Find the combinations of keys that occur.

    Parameters
    ----------
    codes : ndarray, shape (c, n), int32
        Number of each row's category, −1 where it is missing and may be anything.
    numbers : ndarray, shape (q, n)
        Numbers, NaN where there is none.

    Returns
    -------
    Keys
        In an order that hangs on the combinations alone.

    Examples
    --------
    >>> found = keys_of(np.array([[0, 1, 0]], dtype=np.int32), np.array([[5.0, 5.0, 5.0]]))
    >>> sorted(found.count.tolist()), bool(found.member[0] == found.member[2])
    ([1, 2], True)
    """
    filled = np.where(np.isnan(numbers), MISSING, numbers + 0.0)
    found = distinct(np.concatenate([codes.T.astype(np.float64), filled.T], axis=1))
    first = found.first
    return Keys(
        np.ascontiguousarray(codes[:, first]), np.ascontiguousarray(filled[:, first]), found.multiplicity, found.inverse
    )
