"""Keys of cells: the sums of the keys of the records in them, modulo 1, in whole numbers so that no order matters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.tabular.rollup import Upward

__all__ = ["BITS", "further", "sum_keys", "written_keys"]

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
BITS = 53
"""A key is a whole number of so many bits, which a float and its shortest decimal hold exactly."""


def sum_keys(cell: Ints, word: Words, sizes: Sequence[int], upward: Sequence[Upward]) -> tuple[Ints, Words]:
    """Sum record keys in all cells and margins.

    Parameters
    ----------
    cell
        Number of each record's finest cell, in mixed radix, the last variable fastest; shape (n,).
    word
        64 random bits of each record; the first 53 are its key. Shape (n,).
    sizes
        Number of codes of each variable.
    upward
        Of each variable, the codes that each code is counted in.

    Returns
    -------
    cell, key
        Numbers of cells, rising, and their keys, below 2^53.

    Examples
    --------
    >>> own = np.array([3 << 11, 5 << 11], dtype=np.uint64)
    >>> cells, keys = sum_keys(np.array([1, 2]), own, [3], [Upward.of([[0], [0, 1], [0, 2]])])
    >>> cells.tolist(), keys.tolist()
    ([0, 1, 2], [8, 3, 5])
    """
    cell, key = _grouped(cell, word >> np.uint64(64 - BITS))
    weight = 1
    for size, up in zip(reversed(sizes), reversed(upward), strict=True):
        place = (cell // weight) % size
        many = up.start[place + 1] - up.start[place]
        rows = np.repeat(np.arange(len(cell)), many)
        inner = np.arange(len(rows)) - np.repeat(np.cumsum(many) - many, many)
        target = up.target[up.start[place[rows]] + inner]
        cell, key = _grouped(cell[rows] + (target - place[rows]) * weight, key[rows])
        weight *= size
    return cell, key


def _grouped(cell: Ints, key: Words) -> tuple[Ints, Words]:
    order = np.argsort(cell, kind="stable")
    cell, key = cell[order], key[order]
    at = np.flatnonzero(np.concatenate([[True], np.diff(cell) != 0])) if len(cell) else cell
    if not len(at):
        return cell, key
    # sums of 64 bits wrap, which leaves their last 53 bits as they are
    return cell[at], np.add.reduceat(key, at) & np.uint64((1 << BITS) - 1)


def written_keys(key: Words) -> Floats:
    """Keys as parts of 1, exactly.

    Examples
    --------
    >>> written_keys(np.array([0, 1 << 52], dtype=np.uint64)).tolist()
    [0.0, 0.5]
    """
    return key.astype(np.float64) * 2.0**-BITS


def further(key: Floats, number: int) -> Floats:
    """Another key for each cell, as if drawn anew: the splitmix64 step `number` from the key's bits.

    Examples
    --------
    >>> bool(further(np.array([0.25]), 1)[0] == further(np.array([0.25]), 2)[0])
    False
    """
    state = np.floor(key * 2.0**BITS).astype(np.uint64) << np.uint64(64 - BITS)
    with np.errstate(over="ignore"):
        z = state + np.uint64((number * 0x9E3779B97F4A7C15) & (2**64 - 1))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return written_keys((z ^ (z >> np.uint64(31))) >> np.uint64(64 - BITS))
