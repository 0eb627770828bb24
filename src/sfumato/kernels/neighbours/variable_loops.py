"""The compiled loops of `variable`: a path, and what improves groups.

Every step is taken only where it gains by more than rounding, so that the loops end, and ties go to what is looked at
first, in the order of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["Parts", "begin", "dissolve", "exchange", "nearest_path", "recut"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]

_TIE, _ROUNDING = 1e-9, 1e-14
"""Share of what is compared that counts as nothing, and last bits of coordinates of size 1."""
_PASSES = 1000
"""A bound that is not met, since each step gains by more than rounding."""
_POWERS = 4
"""Steps towards the principal axis of two groups."""


class Parts(NamedTuple):
    """A partition as the loops change it.

    Parameters
    ----------
    z : ndarray, shape (n, p)
        The points.
    k : int
        Fewest in a group.
    last : float
        Last bits of the largest coordinates.
    group, place : ndarray, shape (n,)
        Group of each point, and where it stands among its members.
    members : ndarray, shape (groups, room)
        Rows of each group.
    size, loss : ndarray, shape (groups,)
        Its members, and their sum of squares around the centre; a group of none is free.
    centre : ndarray, shape (groups, p)
        Its mean.
    free : ndarray, shape (1 + groups,)
        How many labels no group has, and which.
    active : ndarray, shape (n,)
        Points for which something is to be tried.
    """

    z: Floats
    k: int
    last: float
    group: Ints
    place: Ints
    members: Ints
    size: Ints
    loss: Floats
    centre: Floats
    free: Ints
    active: Bools


def begin(z: Floats, k: int, group: Ints) -> Parts:
    """Lay out groups of k to 2k − 1 points for the loops; see `Parts`."""
    n, p = z.shape
    groups = n // k + 1
    room = np.empty((groups, 4 * k), dtype=np.int64)
    size, loss, centre = np.zeros(groups, dtype=np.int64), np.zeros(groups), np.zeros((groups, p))
    place, active = np.empty(n, dtype=np.int64), np.ones(n, dtype=np.bool_)
    free = np.zeros(1 + groups, dtype=np.int64)
    last = _ROUNDING * float(np.abs(z).max())
    parts = Parts(z, k, last, group.copy(), place, room, size, loss, centre, free, active)
    _lay_out(parts)
    return parts


@compiled
def _lay_out(parts: Parts) -> None:
    for i in range(len(parts.z)):
        _put(parts, i, parts.group[i])
    for g in range(len(parts.size)):
        _measure(parts, g)
        if parts.size[g] == 0:
            _set_free(parts, g)


@compiled
def _set_free(parts: Parts, g: int) -> None:
    """Keep the label of a group of none for the next that is split."""
    parts.size[g], parts.loss[g] = 0, 0.0
    parts.free[0] += 1
    parts.free[parts.free[0]] = g


@compiled
def nearest_path(columns: Floats) -> Ints:
    """Go from the point farthest from the centroid to the nearest point left, again and again.

    Parameters
    ----------
    columns
        Points, shape (p, n). Written over.

    Returns
    -------
    ndarray, shape (n,), int64
        Rows in the order of the path.

    Examples
    --------
    >>> nearest_path(np.array([[0.0, 1.0, 9.0, 3.0]])).tolist()
    [2, 3, 1, 0]
    """
    p, n = columns.shape
    row = np.arange(n)
    path = np.empty(n, dtype=np.int64)
    distance = np.empty(n)
    here = np.empty(p)
    for j in range(p):
        here[j] = columns[j].mean()
    _squares(columns, n, here, distance)
    at = 0
    for i in range(n):
        if distance[i] > distance[at]:
            at = i
    for step in range(n):
        left = n - step - 1
        path[step] = row[at]
        row[at] = row[left]
        for j in range(p):
            here[j] = columns[j, at]
            columns[j, at] = columns[j, left]
        _squares(columns, left, here, distance)
        at = 0
        for i in range(1, left):
            if distance[i] < distance[at] or (distance[i] == distance[at] and row[i] < row[at]):
                at = i
    return path


@compiled
def _squares(columns: Floats, left: int, here: Floats, out: Floats) -> None:
    """Squared distances of the first `left` points, column by column so that the loop vectorises."""
    out[:left] = 0.0
    for j in range(columns.shape[0]):
        column = columns[j]
        c = here[j]
        for i in range(left):
            d = column[i] - c
            out[i] += d * d


@compiled
def _apart(a: Floats, b: Floats) -> float:
    """Squared distance of two points."""
    total = 0.0
    for j in range(len(a)):
        d = a[j] - b[j]
        total += d * d
    return total


@compiled
def _gains(parts: Parts, squares: float, more: float) -> bool:
    """Whether one sum of squares is above another by more than rounding."""
    both = squares + more
    return bool(squares - more > _TIE * both + parts.last * np.sqrt(both))


@compiled
def _put(parts: Parts, i: int, g: int) -> None:
    """Put a point that is in no group into one."""
    parts.members[g, parts.size[g]] = i
    parts.place[i] = parts.size[g]
    parts.group[i] = g
    parts.size[g] += 1


@compiled
def _take(parts: Parts, i: int) -> None:
    """Take a point out of its group."""
    g = parts.group[i]
    parts.size[g] -= 1
    last = parts.members[g, parts.size[g]]
    parts.members[g, parts.place[i]] = last
    parts.place[last] = parts.place[i]


@compiled
def _measure(parts: Parts, g: int) -> None:
    """Centre and loss of a group, from its members."""
    size = parts.size[g]
    centre = parts.centre[g]
    centre[:] = 0.0
    for t in range(size):
        for j in range(len(centre)):
            centre[j] += parts.z[parts.members[g, t], j]
    for j in range(len(centre)):
        centre[j] /= max(size, 1)
    parts.loss[g] = 0.0
    for t in range(size):
        parts.loss[g] += _apart(parts.z[parts.members[g, t]], centre)


@compiled
def _changed(parts: Parts, g: int) -> None:
    """Measure a group again, split it while it is large enough for two, and mark its members to be tried."""
    todo = np.empty(4, dtype=np.int64)
    todo[0] = g
    left = 1
    while left > 0:
        a = todo[left - 1]
        if parts.size[a] >= 2 * parts.k:
            b = parts.free[parts.free[0]]
            parts.free[0] -= 1
            rows, cut, _ = _division(parts, a, a)
            _divide(parts, rows, cut, a, b)
            todo[left] = b
            left += 1
            continue
        left -= 1
        _measure(parts, a)
        for t in range(parts.size[a]):
            parts.active[parts.members[a, t]] = True


@compiled
def _divide(parts: Parts, rows: Ints, cut: int, a: int, b: int) -> None:
    """Give the first `cut` rows to one group and the others to the other."""
    parts.size[a], parts.size[b] = 0, 0
    for t in range(len(rows)):
        _put(parts, rows[t], a if t < cut else b)


@compiled
def _division(parts: Parts, a: int, b: int) -> tuple[Ints, int, float]:
    """Rows of two groups (or one) along their principal axis, where to cut them, and the squares between that gives."""
    z, k = parts.z, parts.k
    both = parts.size[a] + (parts.size[b] if a != b else 0)
    rows = np.empty(both, dtype=np.int64)
    rows[: parts.size[a]] = parts.members[a, : parts.size[a]]
    if a != b:
        rows[parts.size[a] :] = parts.members[b, : parts.size[b]]
    rows = np.sort(rows)
    points = np.empty((both, z.shape[1]))
    centre = np.zeros(z.shape[1])
    for t in range(both):
        points[t] = z[rows[t]]
        centre += points[t]
    centre /= both
    points -= centre
    along = _along(points)
    order = np.argsort(along, kind="mergesort")
    best, cut = -1.0, k
    left = np.zeros(z.shape[1])
    for t in range(both - k):
        left += points[order[t]]
        first = t + 1
        if first >= k:
            between = (left * left).sum() * (1.0 / first + 1.0 / (both - first))
            if between > best * (1 + _TIE):
                best, cut = between, first
    return rows[order], cut, best


@compiled
def _along(points: Floats) -> Floats:
    """Where centred points lie along their principal axis, nearly: a few powers, begun at the outermost point."""
    n, p = points.shape
    outermost, far = 0, -1.0
    for t in range(n):
        d = (points[t] * points[t]).sum()
        if d > far:
            outermost, far = t, d
    axis = points[outermost].copy()
    along = np.zeros(n)
    for _ in range(_POWERS):
        for t in range(n):
            along[t] = (points[t] * axis).sum()
        axis[:] = 0.0
        for t in range(n):
            for j in range(p):
                axis[j] += along[t] * points[t, j]
        length = np.sqrt((axis * axis).sum())
        if length == 0.0:
            break
        axis /= length
    return along


def exchange(parts: Parts, near: Small, which: Ints) -> int:
    """Move points to nearby groups, or let two change places, until nothing gains.

    Parameters
    ----------
    parts
        Changed in place.
    near
        Rows of the points nearest to each of the different points, shape (m, count).
    which
        Which of the different points each point is, shape (n,).

    Returns
    -------
    int
        How many steps were taken.
    """
    total = 0
    changed = True  # since every point was tried
    parts.active[:] = True
    for _ in range(_PASSES):
        taken = int(_exchange(parts, near, which))
        total += taken
        if taken:
            changed = True
        elif not changed:
            break
        else:
            changed = False
            parts.active[:] = True
    return total


@compiled
def _exchange(parts: Parts, near: Small, which: Ints) -> int:
    """One pass over the points that are to be tried."""
    taken = 0
    seen = np.full(len(parts.size), -1, dtype=np.int64)
    for i in range(len(parts.z)):
        if not parts.active[i]:
            continue
        parts.active[i] = False
        a = parts.group[i]
        b, y = _best_step(parts, i, near[which[i]], seen)
        if b < 0:
            continue
        taken += 1
        _take(parts, i)
        if y >= 0:
            _take(parts, y)
            _put(parts, y, a)
        _put(parts, i, b)
        _changed(parts, a)
        _changed(parts, b)
    return taken


@compiled
def _best_step(parts: Parts, i: int, near: Small, seen: Ints) -> tuple[int, int]:
    """The group that a point best goes to and the point that comes back for it; −1 for neither."""
    z, size, centre = parts.z, parts.size, parts.centre
    a = parts.group[i]
    here = _apart(z[i], centre[a])
    spare = size[a] > parts.k
    out = size[a] / (size[a] - 1) * here if spare else 0.0
    best, to, back = 0.0, -1, -1
    for near_row in near:
        b = parts.group[near_row]
        if b == a or seen[b] == i:
            continue
        seen[b] = i
        there = _apart(z[i], centre[b])
        if spare:
            into = size[b] / (size[b] + 1) * there
            if _gains(parts, out, into + best):
                best, to, back = out - into, b, -1
        inverse = 1.0 / size[a] + 1.0 / size[b]
        for t in range(size[b]):
            y = parts.members[b, t]
            from_a, from_b = _apart(z[y], centre[a]), _apart(z[y], centre[b])
            gained = here + from_b + _apart(z[y], z[i]) * inverse
            if _gains(parts, gained, from_a + there + best):
                best, to, back = gained - from_a - there, b, y
    return to, back


@compiled
def recut(parts: Parts, near: Small, which: Ints) -> int:
    """Divide two neighbouring groups anew along their principal axis, wherever that gains; how many were."""
    taken = 0
    seen = np.full(len(parts.size), -1, dtype=np.int64)
    for a in range(len(parts.size)):
        rows = parts.members[a, : parts.size[a]].copy()
        for i in rows:
            for near_row in near[which[i]]:
                b = parts.group[near_row]
                if b <= a or seen[b] == a:
                    continue
                seen[b] = a
                na, nb = parts.size[a], parts.size[b]
                now = _apart(parts.centre[a], parts.centre[b]) * na * nb / (na + nb)
                order, cut, between = _division(parts, a, b)
                if _gains(parts, between, now):
                    _divide(parts, order, cut, a, b)
                    _changed(parts, a)
                    _changed(parts, b)
                    taken += 1
    return taken


@compiled
def dissolve(parts: Parts, near: Small, which: Ints) -> int:
    """Give the members of a group to its neighbours, wherever that gains; how many groups were dissolved."""
    taken = 0
    for g in range(len(parts.size)):
        if parts.size[g] > 0 and _dissolve(parts, g, near, which):
            taken += 1
    return taken


@compiled
def _dissolve(parts: Parts, g: int, near: Small, which: Ints) -> bool:
    """Dissolve one group; put everything back where that does not gain."""
    size = parts.size[g]
    rows = parts.members[g, :size].copy()
    goes = np.empty(size, dtype=np.int64)
    gain, cost = parts.loss[g], 0.0
    for t in range(size):
        goes[t], more = _nearest_other(parts, rows[t], g, near[which[rows[t]]])
        if goes[t] < 0:
            _put_back(parts, g, rows[:t])
            return False
        cost += more
        _put(parts, rows[t], goes[t])
        _measure(parts, goes[t])
    for t in range(size):  # what grew large enough for two is split, which gains too
        b = goes[t]
        if parts.size[b] >= 2 * parts.k and not (goes[:t] == b).any():
            gain += _division(parts, b, b)[2]
    if not _gains(parts, gain, cost):
        _put_back(parts, g, rows)
        return False
    _set_free(parts, g)
    for t in range(size):
        if not (goes[:t] == goes[t]).any():
            _changed(parts, goes[t])
    return True


@compiled
def _nearest_other(parts: Parts, i: int, g: int, near: Small) -> tuple[int, float]:
    """The nearby group that a point adds least to, other than its own, and how much; −1 where there is none."""
    best, to = np.inf, -1
    for near_row in near:
        b = parts.group[near_row]
        if b != g:
            more = parts.size[b] / (parts.size[b] + 1) * _apart(parts.z[i], parts.centre[b])
            if more < best:
                best, to = more, b
    return to, best


@compiled
def _put_back(parts: Parts, g: int, rows: Ints) -> None:
    """Undo what a group gave away; it keeps its members list, since nobody has written over it."""
    for t in range(len(rows) - 1, -1, -1):
        b = parts.group[rows[t]]
        _take(parts, rows[t])
        parts.group[rows[t]] = g
        parts.place[rows[t]] = t
        _measure(parts, b)
