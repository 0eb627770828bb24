"""The distinct patterns of keys in a table, with how many records have each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.levels import Levels

__all__ = ["Patterns", "check", "class_of_rows", "generalised", "grouped", "packed"]

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of a table, with their numbers of records.

    Parameters
    ----------
    codes : ndarray of int, shape (P, m)
        Leaf of each key, as numbered in the key's hierarchy.
    counts : ndarray of int, shape (P,)
        Records of each row, above 0.
    sensitive : ndarray of int, shape (P, s), optional
        Codes 0, 1, … of sensitive variables, −1 where there is no value. Rows are then distinct on keys and sensitive
        codes together.

    Examples
    --------
    >>> import numpy as np
    >>> Patterns(np.array([[0, 1], [1, 1]]), np.array([3, 4])).records
    7
    """

    codes: Ints
    counts: Ints
    sensitive: Ints | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.counts.shape != (len(self.codes),):
            raise ValueError("codes must have shape (P, m), and counts shape (P,)")
        if self.sensitive is not None and (self.sensitive.ndim != 2 or len(self.sensitive) != len(self.codes)):
            raise ValueError("sensitive must have shape (P, s)")

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())

    @property
    def values(self) -> Ints:
        """The sensitive codes, shape (P, s), with s = 0 where there are none."""
        return np.empty((len(self.codes), 0), dtype=np.int64) if self.sensitive is None else self.sensitive

    def histograms(self) -> tuple[Ints, ...]:
        """Records with each value of each sensitive variable."""
        return tuple(_histogram(column, self.counts) for column in self.values.T)

    def only(self, rows: NDArray[np.bool_] | Ints) -> Patterns:
        """Some of the rows, by mask or by number."""
        return Patterns(self.codes[rows], self.counts[rows], None if self.sensitive is None else self.sensitive[rows])


def check(patterns: Patterns, hierarchies: Sequence[Levels]) -> None:
    """See that there are records, and a hierarchy with all leaves for each key.

    Raises
    ------
    ValueError
        Where not.

    Examples
    --------
    >>> import numpy as np
    >>> check(Patterns(np.array([[2]]), np.array([1])), [Levels((np.arange(2), np.array([0, 0])))])
    Traceback (most recent call last):
    ...
    ValueError: codes: key number 0 has leaves that its hierarchy has not
    """
    if len(hierarchies) != patterns.codes.shape[1] or not hierarchies:
        raise ValueError("hierarchies: one for each key, and at least one key")
    if not len(patterns.codes) or patterns.counts.min() < 1:
        raise ValueError("counts: at least one record, and one of each pattern")
    for j, (column, hierarchy) in enumerate(zip(patterns.codes.T, hierarchies, strict=True)):
        if column.min() < 0 or column.max() >= hierarchy.leaves:
            raise ValueError(f"codes: key number {j} has leaves that its hierarchy has not")


def _histogram(column: Ints, counts: Ints) -> Ints:
    known = column >= 0
    return np.bincount(column[known], weights=counts[known], minlength=1).astype(np.int64)


def packed(columns: Sequence[Ints], sizes: Sequence[int]) -> list[Words]:
    """Pack columns of codes into as few 64-bit words as hold them, the first column the most significant.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (n,)
        Codes from 0 to below `sizes`.
    sizes
        Number of codes of each column.
    """
    words: list[Words] = []
    room = 1
    for column, size in zip(columns, sizes, strict=True):
        if not words or room * size >= 2**64:
            words.append(column.astype(np.uint64))
            room = size
        else:
            words[-1] = words[-1] * np.uint64(size) + column.astype(np.uint64)
            room *= size
    return words


def class_of_rows(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Number the distinct rows of columns of codes, in their order; and one row of each.

    Parameters
    ----------
    columns : sequence of ndarray, each of shape (n,)
        Codes, 0 or above.

    Returns
    -------
    tuple of ndarray
        Number of each row, shape (n,), and a row that has it, shape (classes,).

    Examples
    --------
    >>> import numpy as np
    >>> which, first = class_of_rows([np.array([1, 0, 1]), np.array([0, 0, 0])])
    >>> which.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    words = packed(columns, [int(column.max(initial=0)) + 1 for column in columns])
    if len(words) == 1:
        _, first, which = np.unique(words[0], return_index=True, return_inverse=True)
        return which.reshape(-1).astype(np.int64), first.astype(np.int64)
    order = np.lexsort(words[::-1])
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([word[order[1:]] != word[order[:-1]] for word in words], axis=0)
    which = np.empty(len(order), dtype=np.int64)
    which[order] = np.cumsum(new) - 1
    return which, order[new].astype(np.int64)


def grouped(codes: Ints, sensitive: Ints | None = None) -> tuple[Patterns, Ints]:
    """Group records into distinct patterns.

    Parameters
    ----------
    codes : ndarray of int, shape (n, m)
        Leaf of each key of each record.
    sensitive : ndarray of int, shape (n, s), optional
        Codes of sensitive variables, −1 where there is no value.

    Returns
    -------
    tuple
        The patterns, and which of them each record is, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> patterns, which = grouped(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> patterns.codes.tolist(), patterns.counts.tolist(), which.tolist()
    ([[0, 1], [1, 1]], [2, 1], [0, 1, 0])
    """
    columns = [*codes.T] if sensitive is None else [*codes.T, *(sensitive.T + 1)]
    which, first = class_of_rows(columns)
    counts = np.bincount(which, minlength=len(first))
    return Patterns(codes[first], counts, None if sensitive is None else sensitive[first]), which


def generalised(codes: Ints, hierarchies: Sequence[Levels], levels: Sequence[int]) -> list[Ints]:
    """Give the group of each row's key at its level, one array of shape (P,) to a key.

    Examples
    --------
    >>> import numpy as np
    >>> ages = Levels((np.arange(2), np.array([0, 0])))
    >>> generalised(np.array([[0], [1]]), [ages], [1])[0].tolist()
    [0, 0]
    """
    return [h.groups[level][column] for h, level, column in zip(hierarchies, levels, codes.T, strict=True)]
