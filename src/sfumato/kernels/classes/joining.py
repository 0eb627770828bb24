"""Join patterns of keys that agree on what both know: for every two known sets, one pass over the patterns of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Blocks", "join_compatible"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 2**62
"""Packed numbers stay below it."""


@dataclass(frozen=True)
class Blocks:
    """Patterns in blocks, each with the keys that its patterns show.

    Parameters
    ----------
    codes : ndarray, shape (R, m)
        Patterns block by block, −1 where a key is missing; a block may ignore more keys.
    start : ndarray, shape (b + 1,)
        Where each block begins, and the end of the last.
    known : ndarray, shape (b, m)
        Keys that the patterns of each block show.
    """

    codes: Ints
    start: Ints
    known: Bools


def join_compatible(to: Blocks, given: Blocks, values: Floats, weight: Floats) -> Floats:
    """Sum the values of the given patterns that agree with each pattern on all keys that both show.

    Parameters
    ----------
    to, given
        Patterns of as many keys.
    values : ndarray, shape (rows given, v)
        What each given pattern brings.
    weight : ndarray, shape (blocks to, blocks given)
        What a given block counts for another; 0 is passed over.

    Returns
    -------
    ndarray, shape (rows to, v)

    Examples
    --------
    >>> whole = Blocks(np.array([[0, 1], [0, 2]]), np.array([0, 2]), np.array([[True, True]]))
    >>> part = Blocks(np.array([[0, -1]]), np.array([0, 1]), np.array([[True, False]]))
    >>> join_compatible(part, whole, np.array([[2.0], [3.0]]), np.array([[1.0]])).tolist()
    [[5.0]]
    """
    m = to.codes.shape[1]
    widths = [int(max(to.codes[:, j].max(initial=-1), given.codes[:, j].max(initial=-1))) + 2 for j in range(m)]
    word, stride = _places(widths)
    longest = max(np.diff(to.start).max(initial=0), np.diff(given.start).max(initial=0))
    slots = 1 << int(2 * longest + 1).bit_length()
    words = int(word.max(initial=0)) + 1
    out = np.zeros((len(to.codes), values.shape[1]))
    _join(
        np.ascontiguousarray(to.codes + 1),
        to.start.astype(np.int64),
        to.known,
        np.ascontiguousarray(given.codes + 1),
        given.start.astype(np.int64),
        given.known,
        np.ascontiguousarray(values, dtype=np.float64),
        np.ascontiguousarray(weight, dtype=np.float64),
        word,
        stride,
        np.zeros((slots, words), dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.zeros((slots, values.shape[1])),
        out,
    )
    return out


def _places(widths: list[int]) -> tuple[Ints, Ints]:
    """In which word of a packed row each column goes, and by what it is multiplied there."""
    word, stride = np.zeros(len(widths), dtype=np.int64), np.ones(len(widths), dtype=np.int64)
    at, room = 0, 1
    for j, wide in enumerate(widths):
        if room * wide >= _LARGEST:
            at, room = at + 1, 1
        word[j], stride[j] = at, room
        room *= wide
    return word, stride


@compiled
def _join(
    to: Ints,
    to_start: Ints,
    to_known: Bools,
    given: Ints,
    given_start: Ints,
    given_known: Bools,
    values: Floats,
    weight: Floats,
    word: Ints,
    stride: Ints,
    keys: Ints,
    stamp: Ints,
    sums: Floats,
    out: Floats,
) -> None:
    """For each two blocks a hash table of the smaller one's rows, which the other's are looked up in."""
    packed = np.zeros(keys.shape[1], dtype=np.int64)
    now = 0
    for g in range(len(given_known)):
        for t in range(len(to_known)):
            if weight[t, g] == 0 or to_start[t] == to_start[t + 1] or given_start[g] == given_start[g + 1]:
                continue
            now += 1
            both = to_known[t] & given_known[g]
            few = to_start[t + 1] - to_start[t] < given_start[g + 1] - given_start[g]
            if few:
                for i in range(to_start[t], to_start[t + 1]):
                    _find(_pack(to[i], both, word, stride, packed), keys, stamp, sums, now, True)
            for i in range(given_start[g], given_start[g + 1]):
                at = _find(_pack(given[i], both, word, stride, packed), keys, stamp, sums, now, not few)
                if at >= 0:
                    for v in range(values.shape[1]):
                        sums[at, v] += values[i, v]
            for i in range(to_start[t], to_start[t + 1]):
                at = _find(_pack(to[i], both, word, stride, packed), keys, stamp, sums, now, False)
                if at >= 0:
                    for v in range(values.shape[1]):
                        out[i, v] += weight[t, g] * sums[at, v]


@compiled
def _pack(row: Ints, both: Bools, word: Ints, stride: Ints, packed: Ints) -> Ints:
    packed[:] = 0
    for j in range(len(row)):
        if both[j]:
            packed[word[j]] += row[j] * stride[j]
    return packed


@compiled
def _find(packed: Ints, keys: Ints, stamp: Ints, sums: Floats, now: int, add: bool) -> np.int64:
    """Slot of a packed row among those of this round; −1 where it is not there and shall not be."""
    last = np.uint64(len(keys) - 1)
    x = np.uint64(0)
    for w in range(len(packed)):
        x = (x ^ np.uint64(packed[w])) * np.uint64(0x9E3779B97F4A7C15)
        x = x ^ (x >> np.uint64(29))
    at = x & last
    while stamp[at] == now:
        same = True
        for w in range(len(packed)):
            same = same and keys[at, w] == packed[w]
        if same:
            return np.int64(at)
        at = (at + np.uint64(1)) & last
    if not add:
        return np.int64(-1)
    stamp[at] = now
    for w in range(len(packed)):
        keys[at, w] = packed[w]
    sums[at, :] = 0.0
    return np.int64(at)
