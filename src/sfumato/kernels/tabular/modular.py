"""Sparse vectors modulo a prime: reduction by pivots, in loops that numba compiles.

A pivot is a vector whose first entry is 1; it stands under the row of that entry. To reduce a vector is to take out,
from its first row on, every entry in a row that has a pivot. What is left is zero in all such rows, and is the same
whatever the order of the pivots: two vectors differ by known ones exactly if they reduce to the same. Vectors are kept
by ascending row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["PRIME", "SECOND_PRIME", "inverse", "put", "reduce_by_pivots"]

Ints = NDArray[np.int64]

PRIME = 2**31 - 1
"""The prime that suppression works with. Products of two residues fit into 63 bits."""
SECOND_PRIME = 2**31 - 19
"""The prime below it, that audits work with."""


@compiled
def inverse(a: int, prime: int) -> int:
    """Inverse of a residue that is not 0."""
    r0, r1, s0, s1 = prime, a, 0, 1
    while r1 > 1:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        s0, s1 = s1, s0 - q * s1
    return s1 % prime


@compiled
def _push(heap: Ints, size: int, row: int) -> int:
    i = size
    while i > 0:
        up = (i - 1) >> 1
        if heap[up] <= row:
            break
        heap[i] = heap[up]
        i = up
    heap[i] = row
    return size + 1


@compiled
def _pop(heap: Ints, size: int) -> int:
    """Take the smallest, `heap[0]`, out; give the new size."""
    size -= 1
    last = heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = last
    return size


@compiled
def reduce_by_pivots(
    rows: Ints,
    values: Ints,
    start: Ints,
    length: Ints,
    pool_rows: Ints,
    pool_values: Ints,
    work: Ints,
    seen: NDArray[np.bool_],
    heap: Ints,
    prime: int,
) -> int:
    """Reduce a vector, so that its first entry is 1; what is left stands in `heap`'s upper half and `work`.

    `start`, `length` tell where a row's pivot stands in the pool (-1: none). `work` is 0 and `seen` False
    everywhere, and so they are after `put`. The rows left are written to `heap[m:]`, m half its
    length; their number is given.
    """
    half = len(heap) // 2
    size = 0
    for i in range(len(rows)):
        work[rows[i]] = values[i]
        seen[rows[i]] = True
        heap[i] = rows[i]  # ascending: a heap already
    size = len(rows)
    left = 0
    while size > 0:
        row = heap[0]
        size = _pop(heap, size)
        seen[row] = False
        value = work[row]
        if value == 0:
            continue
        at = start[row]
        if at < 0:
            heap[half + left] = row
            left += 1
            continue
        for i in range(at, at + length[row]):
            r = pool_rows[i]
            work[r] = (work[r] + (prime - value) * pool_values[i]) % prime
            if not seen[r] and r > row:
                seen[r] = True
                size = _push(heap, size, r)
    if left:
        factor = inverse(work[heap[half]], prime)
        if factor != 1:
            for i in range(half, half + left):
                work[heap[i]] = work[heap[i]] * factor % prime
    return left


@compiled
def put(rows: Ints, values: Ints, used: int, left: int, work: Ints, heap: Ints) -> int:
    """Write what a reduction left to the end of a pool with room for it, and clear `work`; give the new end."""
    half = len(heap) // 2
    for i in range(left):
        row = heap[half + i]
        rows[used + i] = row
        values[used + i] = work[row]
        work[row] = 0
    return used + left
