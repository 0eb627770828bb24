"""Exchange values: within a window of ranks, or between any records.

Source: Moore (1996), Controlled data-swapping techniques for masking public use microdata sets, US Bureau of the
Census, Statistical Research Division Report 96/04; Nin, Herranz and Torra (2008), doi:10.1016/j.datak.2007.07.006.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["random_swap", "rank_swap"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def rank_swap(u: Floats, w: int) -> Ints:
    """Exchange values between ranks at most `w` apart.

    From the lowest rank up, each that is still free is paired with one of the free ranks among the next `w`, each as
    likely. One that finds nobody, such as the last of an odd number, goes between the two of a pair that both lie
    within its reach, each such pair as likely. It keeps its value only where there is none.

    Parameters
    ----------
    u
        Uniform draws in (0, 1) by rank, shape (n,).
    w
        Greatest distance in ranks, at least 1.

    Returns
    -------
    ndarray, shape (n,), int64
        The rank whose value each rank takes: a permutation of pairs and threes. Time grows as n log n.

    Examples
    --------
    >>> rank_swap(np.array([0.9, 0.1, 0.1, 0.1]), 2).tolist()
    [2, 3, 0, 1]
    """
    n = len(u)
    source = np.arange(n)
    # A Fenwick tree counts the free ranks: entry i holds those of the (i & -i) ranks that end at i, ranks from 1.
    free = np.empty(n + 1, dtype=np.int64)
    for i in range(n + 1):
        free[i] = i & -i
    top = 1
    while 2 * top <= n:
        top *= 2
    for i in range(n):
        if source[i] != i:
            continue
        behind = _free_up_to(free, i + 1)
        ahead = _free_up_to(free, min(i + w, n - 1) + 1) - behind
        if ahead > 0:
            j = _free_at(free, top, behind + 1 + min(int(u[i] * ahead), ahead - 1))
            source[i], source[j] = j, i
            at = j + 1
            while at <= n:
                free[at] -= 1
                at += at & -at
    for i in range(n):
        if source[i] == i:
            _join_a_pair(source, i, u[i], w)
    return source


@compiled
def _join_a_pair(source: Ints, i: int, u: float, w: int) -> None:
    """Put rank i between the two of a pair within its reach: i takes a's value, a takes b's, b takes i's."""
    low, high = max(0, i - w), min(i + w, len(source) - 1)
    pairs = np.empty(high - low + 1, dtype=np.int64)
    found = 0
    for a in range(low, high + 1):
        b = source[a]
        if a != b and source[b] == a and low <= b <= high:
            pairs[found] = a
            found += 1
    if found > 0:
        a = pairs[min(int(u * found), found - 1)]
        b = source[a]
        source[i], source[a], source[b] = a, b, i


@compiled
def _free_up_to(free: Ints, rank: int) -> int:
    """Free ranks among the first `rank`."""
    total = 0
    while rank > 0:
        total += free[rank]
        rank -= rank & -rank
    return total


@compiled
def _free_at(free: Ints, top: int, k: int) -> int:
    """The k-th free rank, from 0; `top` is the largest power of two within the tree."""
    at = 0
    step = top
    while step > 0:
        if at + step < len(free) and free[at + step] < k:
            at += step
            k -= free[at]
        step //= 2
    return at


def random_swap(order: NDArray[np.intp]) -> Ints:
    """Exchange values between records that stand side by side in a random order; of an odd number three at the end.

    Parameters
    ----------
    order
        A random permutation of 0 … n − 1, shape (n,).

    Returns
    -------
    ndarray, shape (n,), int64
        The record whose value each takes.

    Examples
    --------
    >>> random_swap(np.array([2, 0, 1, 3, 4])).tolist()
    [2, 3, 0, 4, 1]
    """
    source = np.arange(len(order))
    half = len(order) // 2 * 2
    first, second = order[0:half:2], order[1:half:2]
    source[first], source[second] = second, first
    if len(order) % 2 and len(order) > 1:
        a, b, i = order[-3:]
        source[i], source[a], source[b] = a, b, i
    return source
