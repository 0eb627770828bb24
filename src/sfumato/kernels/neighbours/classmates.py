"""The record that is nearest to a person among those who share what is known of them exactly.

Numbers and categories together, with gaps, in many small classes: no tree serves both distances, and classes are small.
A person's search ends at the first record that is nearer than their own, so that it is long only where they are found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.rows import row_hash

__all__ = ["MOST_PAIRS", "Known", "chosen", "own_shares"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_PAIRS = 200_000_000
"""Pairs of records that are looked at for one distance: a second or two of computing."""
_TIE = 1e-9
_CAP = 3.0


@dataclass(frozen=True)
class Known:
    """What is known of n people, and what was released of them; row i of both is the same person.

    Parameters
    ----------
    x, z : ndarray, shape (n, p)
        True and released numbers, in standard deviations of the true ones; NaN for a gap.
    a, b : ndarray, shape (n, q)
        True and released categories, numbered alike; −1 for a gap.
    label : ndarray, shape (n,)
        The class of each, 0 or more.
    """

    x: Floats
    z: Floats
    a: Ints
    b: Ints
    label: Ints


def chosen(known: Known, most: int = MOST_PAIRS) -> Ints:
    """Who is looked for: everybody, or as many as `most` pairs of records allow, chosen by a fixed public rule.

    Parameters
    ----------
    known
        Of n people.
    most
        Pairs of a person and a record of their class.

    Returns
    -------
    ndarray, shape (m,)
        Rows. The rule looks at values alone, so that the order of rows chooses nobody.

    Examples
    --------
    >>> x = np.arange(6.0)[:, None]
    >>> none = np.zeros((6, 0), dtype=np.int64)
    >>> len(chosen(Known(x, x, none, none, np.zeros(6, dtype=np.int64)), most=18))
    3
    """
    sizes = np.bincount(known.label)[known.label]
    n, pairs = len(sizes), int(sizes.sum())
    if pairs <= most:
        return np.arange(n)
    everything = np.column_stack([known.x, known.z, known.a, known.b, known.label]).astype(np.float64)
    return np.argsort(row_hash(everything), kind="stable")[: max(1, n * most // pairs)]


def own_shares(known: Known, people: Ints, *, capped: bool) -> Floats:
    """Chance that whoever takes the nearest record of a person's class takes the person's own.

    Parameters
    ----------
    known
        Of n people.
    people : ndarray, shape (m,)
        Rows of those who are looked for.
    capped
        Distance: the sum of squared differences, with 1 for another category and for a gap against a value; or, capped,
        of min(|difference|, 3) / 3, with 1 for another category and one half for a gap against a value. The first is
        the sharper one where noise is small, the second where single values are far off.

    Returns
    -------
    ndarray, shape (m,)
        0 where another record is nearer, else 1 / number of records at the same distance, the own one among them.

    Examples
    --------
    >>> x, z = np.array([[0.0], [1.0], [1.0]]), np.array([[0.1], [1.2], [0.9]])
    >>> sex = np.array([[0], [1], [1]])
    >>> own_shares(Known(x, z, sex, sex, np.zeros(3, dtype=np.int64)), np.arange(3), capped=False).tolist()
    [1.0, 0.0, 1.0]
    """
    order = np.argsort(known.label, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ends = np.cumsum(np.bincount(known.label))
    starts = ends - np.bincount(known.label)
    sorted_z, sorted_b = np.ascontiguousarray(known.z[order]), np.ascontiguousarray(known.b[order])
    x, a = np.ascontiguousarray(known.x[people]), np.ascontiguousarray(known.a[people])
    label = known.label[people]
    return np.asarray(_search(x, a, sorted_z, sorted_b, starts[label], ends[label], place[people], capped))


@compiled
def _search(x: Floats, a: Ints, z: Floats, b: Ints, starts: Ints, ends: Ints, own: Ints, capped: bool) -> Floats:
    """For each person the distance to the own record, then to those of the class until one is nearer."""
    m, p, q = len(x), x.shape[1], a.shape[1]
    gap = 0.5 if capped else 1.0
    out = np.empty(m)
    for i in range(m):
        least, ties, nearer = -1.0, 0, False
        for step in range(ends[i] - starts[i] + 1):
            j = own[i] if step == 0 else starts[i] + step - 1
            d = 0.0
            for c in range(q):
                if a[i, c] != b[j, c]:
                    d += gap if a[i, c] < 0 or b[j, c] < 0 else 1.0
            for c in range(p):
                if np.isnan(x[i, c]) or np.isnan(z[j, c]):
                    d += 0.0 if np.isnan(x[i, c]) and np.isnan(z[j, c]) else gap
                else:
                    off = abs(x[i, c] - z[j, c])
                    d += min(off, _CAP) / _CAP if capped else off * off
                if step > 0 and d > least * (1 + _TIE):
                    break
            if step == 0:
                least = d
            elif d < least * (1 - _TIE):
                nearer = True
                break
            elif d <= least * (1 + _TIE):
                ties += 1
        out[i] = 0.0 if nearer else 1.0 / ties
    return out
