"""Units of several rows (people, households): which are alone by all their rows, and which is nearest to which.

Whoever knows all rows of a unit does not know which row is which in the release: of two units the rows are assigned to
each other so that the sum of distances is least.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.neighbours.classmates import Known
from sfumato.kernels.rows import row_hash, scatter

__all__ = ["MOST_UNITS", "chosen_units", "profiles", "unit_shares"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_UNITS = 400
"""How many units are looked for where there are more."""
_TIE = 1e-9
_CATEGORY, _GAP = 25.0, 1.0
"""What another category adds to a distance, and what a gap against a value does."""


def profiles(label: Ints, code: Ints) -> Ints:
    """Number the units by what their rows hold, whatever the order of the rows: equal units have equal numbers.

    Parameters
    ----------
    label : ndarray, shape (n,)
        The unit of each row, 0, 1, …, none left out.
    code : ndarray, shape (n,)
        What the row holds, as a number.

    Returns
    -------
    ndarray, shape (units,)

    Examples
    --------
    >>> found = profiles(np.array([0, 0, 1, 1, 2]), np.array([5, 7, 7, 5, 5]))
    >>> bool(found[0] == found[1]), bool(found[0] == found[2])
    (True, False)
    """
    sizes = np.bincount(label)
    rows = code[np.lexsort((code, label))]
    starts = np.cumsum(sizes) - sizes
    out, numbered = np.empty(len(sizes), dtype=np.int64), 0
    for size in np.unique(sizes):
        of_size = np.flatnonzero(sizes == size)
        table = rows[starts[of_size][:, None] + np.arange(size)]
        number = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
        out[of_size] = numbered + number
        numbered += int(number.max()) + 1
    return out


def chosen_units(known: Known, least: int = 2, most: int = MOST_UNITS) -> Ints:
    """Which units of at least so many rows are looked for: all, or `most` of them by a fixed public rule.

    Parameters
    ----------
    known
        Rows, with their units (0, 1, …, none left out) as labels.
    least, most
        Fewest rows of a unit, and most units.

    Returns
    -------
    ndarray, shape (m,)
        Units. The rule looks at what they hold, so that neither the order of rows nor an id chooses anybody.

    Examples
    --------
    >>> x, none = np.arange(5.0)[:, None], np.zeros((5, 0), dtype=np.int64)
    >>> chosen_units(Known(x, x, none, none, np.array([0, 0, 1, 2, 2]))).tolist()
    [0, 2]
    """
    units = np.flatnonzero(np.bincount(known.label) >= least).astype(np.int64)
    if len(units) <= most:
        return units
    words = scatter(row_hash(np.column_stack([known.x, known.z, known.a, known.b]).astype(np.float64)))
    held = np.zeros(int(known.label.max()) + 1, dtype=np.uint64)
    np.add.at(held, known.label, words)
    return units[np.argsort(scatter(held[units]), kind="stable")[:most]]


def unit_shares(known: Known, units: Ints) -> Floats:
    """Chance that whoever knows all rows of a unit, and takes the nearest unit of as many rows, takes the right one.

    Parameters
    ----------
    known
        Rows, with their units (0, 1, …, none left out) as labels: that of a row is the same before and after.
    units : ndarray, shape (m,)
        Units that are looked for.

    Returns
    -------
    ndarray, shape (m,)
        0 where another unit is nearer, else 1 / number of units at the same distance, the own one among them. The
        distance of two units is the least sum, over all assignments of the rows of one to those of the other, of
        squared differences, with 25 for another category and 1 for a gap against a value.

    Examples
    --------
    >>> x, z = np.array([[0.0], [5.0], [0.0], [9.0]]), np.array([[5.1], [0.2], [0.1], [8.8]])
    >>> none = np.zeros((4, 0), dtype=np.int64)
    >>> unit_shares(Known(x, z, none, none, np.array([0, 0, 1, 1])), np.array([0, 1])).tolist()
    [1.0, 1.0]
    """
    order = np.argsort(known.label, kind="stable")
    x, z = (np.ascontiguousarray(part[order]) for part in (known.x, known.z))
    a, b = (np.ascontiguousarray(part[order]) for part in (known.a, known.b))
    sizes = np.bincount(known.label)
    starts = np.cumsum(sizes) - sizes
    alike = {size: np.flatnonzero(sizes == size) for size in np.unique(sizes[units])}
    out = np.empty(len(units))
    for i, unit in enumerate(units):
        rows, others = slice(starts[unit], starts[unit] + sizes[unit]), alike[sizes[unit]]
        out[i] = _chance(x[rows], a[rows], z, b, starts[others], int(starts[unit]))
    return out


def _chance(x: Floats, a: Ints, z: Floats, b: Ints, starts: Ints, own: int) -> float:
    """Chance to take the own unit among those that begin at `starts`, the own one at `own`."""
    least = _assigned(_distances(x, a, z[own : own + len(x)], b[own : own + len(x)]))
    slack = _TIE * max(least, 1.0)
    bounds = _bounds(x, a, z, b, starts, least + slack)
    ties = 1
    for j in np.argsort(bounds, kind="stable"):
        if bounds[j] > least + slack:
            break
        begin = int(starts[j])
        if begin == own:
            continue
        cost = bounds[j]
        if len(x) > 1:
            cost = _assigned(_distances(x, a, z[begin : begin + len(x)], b[begin : begin + len(x)]))
        if cost < least - slack:
            return 0.0
        ties += cost <= least + slack
    return 1.0 / ties


def _assigned(distances: Floats) -> float:
    """The least sum of distances over all assignments of rows to columns."""
    if len(distances) == 1:
        return float(distances[0, 0])
    if len(distances) == 2:
        return float(min(distances[0, 0] + distances[1, 1], distances[0, 1] + distances[1, 0]))
    from scipy.optimize import linear_sum_assignment

    return float(distances[linear_sum_assignment(distances)].sum())


@compiled
def _distance(x: Floats, a: Ints, z: Floats, b: Ints, i: int, k: int, most: float) -> float:
    """The distance of a row to another; anything above `most` where it is more than that."""
    d = 0.0
    for c in range(a.shape[1]):
        if a[i, c] != b[k, c]:
            d += _GAP if a[i, c] < 0 or b[k, c] < 0 else _CATEGORY
        if d > most:
            return d
    for c in range(x.shape[1]):
        if np.isnan(x[i, c]) or np.isnan(z[k, c]):
            d += 0.0 if np.isnan(x[i, c]) and np.isnan(z[k, c]) else _GAP
        else:
            d += (x[i, c] - z[k, c]) ** 2
    return d


@compiled
def _distances(x: Floats, a: Ints, z: Floats, b: Ints) -> Floats:
    """The distance of each row to each other one."""
    out = np.empty((len(x), len(z)))
    for i in range(len(x)):
        for k in range(len(z)):
            out[i, k] = _distance(x, a, z, b, i, k, np.inf)
    return out


@compiled
def _bounds(x: Floats, a: Ints, z: Floats, b: Ints, starts: Ints, most: float) -> Floats:
    """No assignment to a unit costs less than the sum of each row's least distance; infinite where that is too much."""
    size = len(x)
    out = np.empty(len(starts))
    for j in range(len(starts)):
        total = 0.0
        for i in range(size):
            nearest = np.inf
            for k in range(starts[j], starts[j] + size):
                nearest = min(nearest, _distance(x, a, z, b, i, k, min(nearest, most)))
            total += nearest
            if total > most:
                total = np.inf
                break
        out[j] = total
    return out
