"""Compiled loops of `hidden`: who is nearest, how many are closer, and the distribution of h that follows.

They walk k-d trees for one target at a time. A squared distance is summed column by column, for points and for boxes
alike, so that a bound never contradicts a distance in the last digit. They stand in one file because a compiled
function is kept until its own file changes, whatever becomes of those that it calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.neighbours.kdtree import Tree

__all__ = [
    "Nodes",
    "Pairs",
    "Room",
    "Tied",
    "choose",
    "closer_and_as_far",
    "find_nearest",
    "intervals",
    "mixtures",
    "nearest_others",
    "nodes_of",
    "own_is_tied",
    "room_for",
    "to_others",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Nodes(NamedTuple):
    """A tree as compiled loops read it: as in `Tree`, and some things twice.

    `columns` are the points again, shape (p, m); `records` the masses as whole numbers, `below` their sums over the
    points before each one, shape (m + 1,): the records below a node are `below[end] − below[start]`.
    """

    points: Floats
    columns: Floats
    records: Ints
    below: Ints
    start: Ints
    end: Ints
    left: Ints
    box: Floats


class Room(NamedTuple):
    """What a walk writes on: nodes to visit, their distances, and those of the points of one leaf."""

    stack: Ints
    gaps: Floats
    distance: Floats


class Pairs(NamedTuple):
    """True points of the records at each released point, with the number of records: a sparse table of counts."""

    start: Ints
    truth: Ints
    records: Ints


class Tied(NamedTuple):
    """Released points that are equally near in each question."""

    start: Ints
    places: Ints


def nodes_of(tree: Tree) -> Nodes:
    """Arrays of a tree for the loops here."""
    records = tree.mass.astype(np.int64)
    below, columns = np.append(0, np.cumsum(records)), np.ascontiguousarray(tree.points.T)
    return Nodes(tree.points, columns, records, below, tree.start, tree.end, tree.left, tree.box)


def room_for(tree: Tree) -> Room:
    """Room for one walk at a time."""
    widest = int((tree.end - tree.start)[tree.left < 0].max())
    return Room(np.empty(tree.depth + 2, np.int64), np.empty(tree.depth + 2), np.empty(widest))


@compiled
def _squared_distance(x: Floats, i: int, y: Floats, k: int) -> float:
    """Squared distance of row i of `x` and row k of `y`, summed as in the walks below."""
    d = 0.0
    for j in range(x.shape[1]):
        step = x[i, j] - y[k, j]
        d += step * step
    return d


@compiled
def _leaf_distances(columns: Floats, a: int, b: int, targets: Floats, t: int, distance: Floats) -> None:
    """Write the squared distances of points a … b − 1 from row t of `targets`; `columns` are the points, turned.

    Column by column, so that the processor takes several points at once; each sum is as in `_squared_distance`.
    """
    for i in range(b - a):
        distance[i] = 0.0
    for j in range(targets.shape[1]):
        value, column = targets[t, j], columns[j, a:b]
        for i in range(b - a):
            step = column[i] - value
            distance[i] += step * step


@compiled
def _gap_to(box: Floats, node: int, targets: Floats, t: int) -> float:
    """Squared distance from row t of `targets` to the box of a node, never above that of a point in it."""
    gap = 0.0
    for j in range(targets.shape[1]):
        value = targets[t, j]
        step = max(0.0, max(box[node, 0, j] - value, value - box[node, 1, j]))
        gap += step * step
    return gap


@compiled
def _nearest_point(
    tree: Nodes, targets: Floats, t: int, bound: float, tie: float, skip: int, room: Room
) -> tuple[float, float, int]:
    """Find the point nearest to row t of `targets`.

    `bound` is a squared distance within which there is a point, `skip` a point to leave out (−1 for none). Gives the
    squared distance, that of the next point (exact where it is within the relative difference `tie` of the first, else
    some larger number), and the point's place. One loop, so that nothing is called: that halves the time.
    """
    box, p = tree.box, targets.shape[1]
    stack, gaps, distance = room.stack, room.gaps, room.distance
    best, second, where, reach = np.inf, np.inf, -1, bound * (1 + tie)
    stack[0], gaps[0], top = 0, 0.0, 1
    while top > 0:
        top -= 1
        if gaps[top] > reach:
            continue
        near = tree.left[stack[top]]
        if near < 0:
            start, end = tree.start[stack[top]], tree.end[stack[top]]
            for i in range(end - start):
                distance[i] = 0.0
            for j in range(p):
                value, column = targets[t, j], tree.columns[j, start:end]
                for i in range(end - start):
                    step = column[i] - value
                    distance[i] += step * step
            for i in range(end - start):
                d = distance[i]
                if d < second and start + i != skip:
                    if d < best:
                        best, second, where = d, best, start + i
                        reach = min(reach, d * (1 + tie))
                    else:
                        second = d
            continue
        far, to_near, to_far = near + 1, 0.0, 0.0
        for j in range(p):
            value = targets[t, j]
            step = max(0.0, max(box[near, 0, j] - value, value - box[near, 1, j]))
            to_near += step * step
            step = max(0.0, max(box[far, 0, j] - value, value - box[far, 1, j]))
            to_far += step * step
        if to_far < to_near:
            near, far, to_near, to_far = far, near, to_far, to_near
        if to_far <= reach:
            stack[top], gaps[top] = far, to_far
            top += 1
        stack[top], gaps[top] = near, to_near
        top += 1
    return best, second, where


@compiled
def _mass_closer(
    tree: Nodes, targets: Floats, t: int, reach: float, tie: float, enough: int, room: Room
) -> tuple[int, int]:
    """Count the records closer to row t of `targets` than the squared distance `reach`, and those as far.

    Squared distances are equal within the relative difference `tie`. Counting stops once more than `enough` are
    closer. One loop, as above.
    """
    box, p = tree.box, targets.shape[1]
    stack, distance, top = room.stack, room.distance, 1
    inner, outer = reach * (1 - tie), reach * (1 + tie)
    closer, closed_ball, open_ball = 0, 0, 0  # records in whole parts, and point by point
    stack[0] = 0
    while top > 0 and closer + open_ball <= enough:
        top -= 1
        child = tree.left[stack[top]]
        if child < 0:
            start, end = tree.start[stack[top]], tree.end[stack[top]]
            records = tree.records[start:end]
            for i in range(end - start):
                distance[i] = 0.0
            for j in range(p):
                value, column = targets[t, j], tree.columns[j, start:end]
                for i in range(end - start):
                    step = column[i] - value
                    distance[i] += step * step
            for i in range(end - start):  # nothing depends on the last point here, so that several are taken at once
                open_ball += records[i] if distance[i] < inner else 0
                closed_ball += records[i] if distance[i] <= outer else 0
            continue
        first_gap = np.inf
        for c in range(child, child + 2):
            gap, span = 0.0, 0.0
            for j in range(p):
                value = targets[t, j]
                under, over = box[c, 0, j] - value, value - box[c, 1, j]
                near, far = max(0.0, max(under, over)), min(under, over)  # the far side is −far away
                gap += near * near
                span += far * far
            if span < inner:  # the whole part is closer
                closer += tree.below[tree.end[c]] - tree.below[tree.start[c]]
            elif gap <= outer:
                stack[top] = c
                if first_gap < gap:
                    stack[top - 1], stack[top] = c, child  # the nearer one is looked at first
                top += 1
                first_gap = gap
    return closer + open_ball, closed_ball - open_ball


@compiled
def _points_within(tree: Nodes, targets: Floats, t: int, reach: float, room: Room) -> Ints:
    """Give the places of all points within the squared distance `reach` of row t of `targets`, in leaf order."""
    found, count, stack, top = np.empty(16, np.int64), 0, room.stack, 1
    stack[0] = 0
    while top > 0:
        top -= 1
        node = stack[top]
        if _gap_to(tree.box, node, targets, t) > reach:
            continue
        if tree.left[node] >= 0:
            stack[top], stack[top + 1] = tree.left[node] + 1, tree.left[node]
            top += 2
            continue
        start, end = tree.start[node], tree.end[node]
        _leaf_distances(tree.columns, start, end, targets, t, room.distance)
        if count + end - start > len(found):
            found = np.concatenate((found, np.empty(count + end - start, np.int64)))
        for i in range(end - start):
            if room.distance[i] <= reach:
                found[count] = start + i
                count += 1
    return found[:count]


@compiled
def find_nearest(tree: Nodes, search: Floats, own: Ints, tie: float, room: Room) -> tuple[Floats, Ints, Ints]:
    """Squared distance, number and places of the points nearest to each row; `own` are places where to begin."""
    m = len(search)
    distance, count, places, at = np.empty(m), np.ones(m, np.int64), np.empty(m, np.int64), 0
    for t in range(m):
        bound = _squared_distance(search, t, tree.points, own[t])
        best, second, where = _nearest_point(tree, search, t, bound, tie, -1, room)
        distance[t] = best
        if second > best * (1 + tie):
            if at == len(places):
                places = np.concatenate((places, np.empty(m, np.int64)))
            places[at] = where
            at += 1
        else:
            several = _points_within(tree, search, t, best * (1 + tie), room)
            count[t] = len(several)
            while at + len(several) > len(places):
                places = np.concatenate((places, np.empty_like(places)))
            places[at : at + len(several)] = several
            at += len(several)
    return distance, count, places[:at]


@compiled
def own_is_tied(tree: Nodes, search: Floats, of: Ints, own: Ints, distance: Floats, tie: float) -> Bools:
    """Whether the released record of each target, at place `own`, is among the nearest of its question."""
    out = np.empty(len(of), np.bool_)
    for k in range(len(of)):
        out[k] = _squared_distance(search, of[k], tree.points, own[k]) <= distance[of[k]] * (1 + tie)
    return out


@compiled
def to_others(tree: Nodes, room: Room) -> Floats:
    """Distance from each point to the nearest other one, in leaf order."""
    out = np.empty(len(tree.points))
    for i in range(len(out)):
        out[i] = np.sqrt(_nearest_point(tree, tree.points, i, np.inf, 0.0, i, room)[0])
    return out


@compiled
def nearest_others(tree: Nodes, targets: Floats, room: Room) -> tuple[Floats, Ints]:
    """Squared distance from each row to the nearest point that is not equal to it, and the records that are."""
    distance, twins = np.empty(len(targets)), np.zeros(len(targets), np.int64)
    for t in range(len(targets)):
        distance[t], _, where = _nearest_point(tree, targets, t, np.inf, 0.0, -1, room)
        if distance[t] == 0.0:
            twins[t] = tree.records[where]
            distance[t] = _nearest_point(tree, targets, t, np.inf, 0.0, where, room)[0]
    return distance, twins


@compiled
def closer_and_as_far(tree: Nodes, targets: Floats, reach: Floats, enough: int, tie: float, room: Room) -> Ints:
    """Records closer to each row than the squared distance `reach`, and those as far, shape (m, 2)."""
    out = np.empty((len(targets), 2), np.int64)
    for t in range(len(targets)):
        out[t, 0], out[t, 1] = _mass_closer(tree, targets, t, reach[t], tie, enough, room)
    return out


@compiled
def choose(tied: Tied, of: Ints, below: Ints, u: Floats) -> Ints:
    """Place, in the order of the released points, of the record that each target's number picks among the tied."""
    out = np.empty(len(of), np.int64)
    for k in range(len(of)):
        total = 0
        for z in tied.places[tied.start[of[k]] : tied.start[of[k] + 1]]:
            total += below[z + 1] - below[z]
        pick = int(u[k] * total)
        for z in tied.places[tied.start[of[k]] : tied.start[of[k] + 1]]:
            if pick < below[z + 1] - below[z]:
                out[k] = below[z] + pick
                break
            pick -= below[z + 1] - below[z]
    return out


@compiled
def _interval(tree: Nodes, v: int, y: int, enough: int, tie: float, room: Room) -> tuple[int, int]:
    """First value and number of values of h where a record at the true point y is taken for another at v."""
    reach = _squared_distance(tree.points, v, tree.points, y)
    low, length = _mass_closer(tree, tree.points, v, reach, tie, enough, room)
    if low > enough:
        return enough + 1, 1
    if low == 0:  # no distance from the target, which itself has 0: a twin
        return 1, max(length - 1, 1)
    return low, length


@compiled
def intervals(tree: Nodes, v: Ints, y: Ints, enough: int, tie: float, room: Room) -> Ints:
    """First value and number of values, of h for each pair of true points; shape (pairs, 2)."""
    out = np.empty((len(v), 2), np.int64)
    for k in range(len(v)):
        out[k, 0], out[k, 1] = _interval(tree, v[k], y[k], enough, tie, room)
    return out


@compiled
def mixtures(
    tree: Nodes,
    mass: Ints,
    pairs: Pairs,
    tied: Tied,
    truth: Ints,
    flags: Bools,
    enough: int,
    tie: float,
    room: Room,
) -> tuple[Ints, Ints, Ints]:
    """Components, number of components and records to choose from, of each class that `flags` asks for."""
    out, at = np.empty((len(truth) + 16, 3), np.int64), 0
    classes = int(flags.sum())
    count, total = np.empty(classes, np.int64), np.empty(classes, np.int64)
    c = 0
    for b in range(len(truth)):
        v, places = truth[b], tied.places[tied.start[b] : tied.start[b + 1]]
        choice, several = 0, 0
        for z in places:
            choice += mass[z]
            several += pairs.start[z + 1] - pairs.start[z]
        if several > enough + 8 or 16 * several > len(tree.points) + 256:
            others, twins = _by_neighbours(tree, pairs, places, choice, v, enough, tie, room)
        else:
            others, twins = _by_pairs(tree, pairs, places, several, v, enough, tie, room)
        for own in range(2):
            if not flags[b, own]:
                continue
            if at + len(others) + 2 > len(out):
                out = np.concatenate((out, np.empty((len(out) + len(others), 3), np.int64)))
            first = at
            if own:
                at = _add(out, first, at, 0, 1, 1)
            if twins > own:
                at = _add(out, first, at, 1, tree.records[v] - 1, twins - own)
            for k in range(len(others)):
                at = _add(out, first, at, others[k, 0], others[k, 1], others[k, 2])
            count[c], total[c] = at - first, choice
            c += 1
    return out[:at], count, total


@compiled
def _add(out: Ints, first: int, at: int, low: int, length: int, records: int) -> int:
    """Append a component, or make the last one longer where both are of one density; gives the new end."""
    if at > first:
        last = out[at - 1]
        if last[0] + last[1] == low and last[2] * length == records * last[1]:
            last[1] += length
            last[2] += records
            return at
    out[at, 0], out[at, 1], out[at, 2] = low, length, records
    return at + 1


@compiled
def _by_pairs(
    tree: Nodes, pairs: Pairs, places: Ints, several: int, v: int, enough: int, tie: float, room: Room
) -> tuple[Ints, int]:
    """Components of records that are not twins, by counting for each true point in turn; and the number of twins."""
    found, k, twins = np.empty((several, 3), np.int64), 0, 0
    for z in places:
        for q in range(pairs.start[z], pairs.start[z + 1]):
            if pairs.truth[q] == v:
                twins += pairs.records[q]
                continue
            found[k, 0], found[k, 1] = _interval(tree, v, pairs.truth[q], enough, tie, room)
            found[k, 2] = pairs.records[q]
            k += 1
    return (_gathered(found[:k]) if k > 1 else found[:k]), twins


@compiled
def _gathered(found: Ints) -> Ints:
    """Components in order of their first values, equal ones together."""
    found = found[np.argsort(found[:, 0])]
    k = 0
    for i in range(1, len(found)):
        if found[i, 0] == found[k, 0] and found[i, 1] == found[k, 1]:
            found[k, 2] += found[i, 2]
        else:
            k += 1
            found[k] = found[i]
    return found[: k + 1]


@compiled
def _by_neighbours(
    tree: Nodes, pairs: Pairs, places: Ints, choice: int, v: int, enough: int, tie: float, room: Room
) -> tuple[Ints, int]:
    """As `_by_pairs`, by going through the true neighbours of v and asking which of them are among the tied."""
    order, distance = _neighbours(tree, v, enough, 4 * tie, room)
    found, k, twins, left = np.empty((len(order) + 1, 3), np.int64), 0, 0, choice
    closer, a, upto, e = 0, 0, 0, 0  # records of the first a, and of the first e, neighbours
    for f in range(len(order)):
        d, y = distance[f], order[f]
        while distance[a] < d * (1 - tie):
            closer += tree.records[order[a]]
            a += 1
        while e < len(order) and distance[e] <= d * (1 + tie):
            upto += tree.records[order[e]]
            e += 1
        if closer > enough:
            break
        records = 0
        for z in places:
            q = pairs.start[z] + np.searchsorted(pairs.truth[pairs.start[z] : pairs.start[z + 1]], y)
            if q < pairs.start[z + 1] and pairs.truth[q] == y:
                records += pairs.records[q]
        left -= records
        if y == v:
            twins = records
        elif records:
            found[k, 0], found[k, 1], found[k, 2] = closer, upto - closer, records
            if closer == 0:  # no distance from the target: a twin, too
                found[k, 0], found[k, 1] = 1, upto - 1
            k += 1
    if left:
        found[k, 0], found[k, 1], found[k, 2] = enough + 1, 1, left
        k += 1
    return (_gathered(found[:k]) if k > 1 else found[:k]), twins


@compiled
def _neighbours(tree: Nodes, v: int, enough: int, tie: float, room: Room) -> tuple[Ints, Floats]:
    """Places and squared distances of all points to which no more than `enough` records are closer, in order.

    Some that are further away may follow them.
    """
    places, distance, count = np.empty(256, np.int64), np.empty(256), 0
    stack, gaps, reach, limit, top = room.stack, room.gaps, np.inf, 128, 1
    stack[0], gaps[0] = 0, 0.0
    while top > 0:
        top -= 1
        if gaps[top] >= reach:
            continue
        child = tree.left[stack[top]]
        if child >= 0:
            near, far = child, child + 1
            to_near, to_far = _gap_to(tree.box, near, tree.points, v), _gap_to(tree.box, far, tree.points, v)
            if to_far < to_near:
                near, far, to_near, to_far = far, near, to_far, to_near
            stack[top], gaps[top], stack[top + 1], gaps[top + 1] = far, to_far, near, to_near
            top += 2
            continue
        start, end = tree.start[stack[top]], tree.end[stack[top]]
        _leaf_distances(tree.columns, start, end, tree.points, v, room.distance)
        if count + end - start > len(places):
            places = np.concatenate((places, np.empty(count + end - start, np.int64)))
            distance = np.concatenate((distance, np.empty(count + end - start)))
        for i in range(end - start):
            if room.distance[i] < reach:
                places[count], distance[count] = start + i, room.distance[i]
                count += 1
        if count >= limit:
            order = np.argsort(distance[:count])
            places[:count], distance[:count] = places[order], distance[order]
            reach, count = _cut(tree, places, distance, count, reach, enough, tie)
            limit = 2 * count + 64
    order = np.argsort(distance[:count])
    return places[order], distance[order]


@compiled
def _cut(
    tree: Nodes, places: Ints, distance: Floats, count: int, reach: float, enough: int, tie: float
) -> tuple[float, int]:
    """Distance of the first point in order to which more than `enough` records are closer, and its number."""
    closer, a = 0, 0
    for f in range(count):
        while distance[a] < distance[f] * (1 - tie):
            closer += tree.records[places[a]]
            a += 1
        if closer > enough:
            return distance[f], f
    return reach, count
