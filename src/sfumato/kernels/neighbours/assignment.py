"""Assign releases to people one to one, with the smallest sum of distances; large tables by neighbourhoods.

The assignment of a whole table is that of each of its strata, where the strata are known. A stratum that is too large
for it is looked at through some of its people: each of them is assigned together with those who compete with him, who
are the people nearest to him and those whose releases are nearest to him. Others hardly matter, so that the chance to
be right is nearly that in the whole stratum. (To assign a random sample instead would thin the competitors out, and
find many more.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.rows import distinct, scatter, set_apart

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

__all__ = ["NEIGHBOURS", "PEOPLE", "Assigned", "assign", "assigned_chances", "chosen_people"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PEOPLE = 400
"""How many people of strata that are too large are looked for."""
NEIGHBOURS = 75
"""How many people nearest to each of them, and how many releases, are assigned together."""
_TIE = 1e-9  # relative difference below which two distances are equal
_WORK = 5e9  # sum of cubes of the strata that are assigned whole: a few seconds; one stratum always may be
_STEPS = 2.0**24  # of the largest distance, in which those of an assignment are counted


@dataclass(frozen=True)
class Assigned:
    """How often releases were assigned rightly.

    Parameters
    ----------
    right : float
        Expected number of right links among the people of strata that were assigned as a whole.
    chances : ndarray, shape (m,)
        Chance to be linked rightly of each of the others that was looked for.
    others : int
        How many others there are.
    """

    right: float
    chances: Floats
    others: int


def assign(x: Floats, z: Floats, stratum: Ints, most: int) -> Assigned:
    """Assign releases to people within each stratum.

    Of t releases in a stratum that are exactly equal nobody can say which is whose: an assignment to one of them counts
    1/t. People whose values are exactly equal share what was assigned to them.

    Parameters
    ----------
    x, z : ndarray, shape (n, p)
        Values of the people and their releases; row i of both is the same person. Who is looked for hangs on the order
        of the rows, which should hang on the records alone.
    stratum : ndarray, shape (n,)
        Stratum of each, 0 or more.
    most
        Most people in a stratum that is assigned as a whole.

    Returns
    -------
    Assigned

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> assign(x, x + 0.1, np.zeros(4, dtype=np.int64), 1_000).right
    4.0
    """
    label, size = np.unique(stratum, return_inverse=True, return_counts=True)[1:]
    copies = _copies(z, label)
    smallest_first = np.argsort(size, kind="stable")
    work = np.cumsum(size[smallest_first].astype(np.float64) ** 3)
    chosen = smallest_first[(work <= max(_WORK, float(most) ** 3)) & (size[smallest_first] <= most)]
    parts = np.split(np.argsort(label, kind="stable"), np.cumsum(size)[:-1])
    right = sum(float((assigned_chances(x[rows], z[rows]) / copies[rows]).sum()) for rows in (parts[j] for j in chosen))
    others = np.flatnonzero(~np.isin(label, chosen))
    chances = _in_neighbourhoods(x[others], z[others], label[others], copies[others])
    return Assigned(right, chances, len(others))


def _copies(z: Floats, label: Ints) -> Ints:
    """How many releases of the same stratum are equal to each, itself included."""
    found = distinct(np.column_stack([z, label]))
    return found.multiplicity[found.inverse]


def _in_neighbourhoods(x: Floats, z: Floats, label: Ints, copies: Ints) -> Floats:
    """Chances of people chosen by a fixed lot, each among those of his stratum who compete with him."""
    if not len(x):
        return np.zeros(0)
    from scipy.spatial import cKDTree

    people = chosen_people(len(x))
    tables = set_apart(x, z, label)
    # few questions are asked of them, so they should be quick to build
    trees = [cKDTree(table, balanced_tree=False, compact_nodes=False) for table in tables]
    out = np.empty(len(people))
    for i, person in enumerate(people):
        near = [_nearest(tree, tables[0][person]) for tree in trees]
        rows = np.union1d(np.concatenate(near), [person])
        rows = rows[label[rows] == label[person]]
        out[i] = assigned_chances(x[rows], z[rows])[np.searchsorted(rows, person)] / copies[person]
    return out


def chosen_people(n: int) -> Ints:
    """Which of n people are looked for where not all are: a fixed public lot.

    Examples
    --------
    >>> len(chosen_people(10_000)), sorted(chosen_people(3).tolist())
    (400, [0, 1, 2])
    """
    return np.argsort(scatter(np.arange(1, n + 1, dtype=np.uint64)))[:PEOPLE]


def _nearest(tree: cKDTree, point: Floats) -> Ints:
    """Rows of the nearest points; of those that tie as the farthest, the first."""
    count = min(NEIGHBOURS, tree.n)
    reached = float(np.max(tree.query(point, k=count)[0]))
    rows = np.sort(np.asarray(tree.query_ball_point(point, reached * (1 + _TIE)), dtype=np.int64))
    apart = tree.data[rows] - point
    inside = np.sqrt((apart**2).sum(axis=1)) < reached * (1 - _TIE)
    return np.concatenate([rows[inside], rows[~inside][: count - int(inside.sum())]])


def assigned_chances(x: Floats, z: Floats) -> Floats:
    """Chance of each person to be assigned his release, or one equal to it, where the sum of distances is least.

    Parameters
    ----------
    x, z : ndarray, shape (n, p)
        Values of the people and their releases; row i of both is the same person.

    Returns
    -------
    ndarray, shape (n,)
        Of t equal releases, wherever these are, 1/t of it is the chance to take the own one.

    Examples
    --------
    >>> assigned_chances(np.array([[0.0], [0.0], [5.0]]), np.array([[1.0], [2.0], [3.0]])).tolist()
    [0.5, 0.5, 1.0]
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    people, release = distinct(x), distinct(z)
    left, right = linear_sum_assignment(_in_steps(cdist(x, z)))
    # chance that i's release is the one assigned to a person just like i, and that it is then picked among its twins
    width = len(release.points)
    given = people.inverse[left] * width + release.inverse[right]
    own = people.inverse * width + release.inverse
    pairs, count = np.unique(given, return_counts=True)
    at = np.minimum(np.searchsorted(pairs, own), len(pairs) - 1)
    assigned = np.where(pairs[at] == own, count[at], 0)
    return np.asarray(assigned / people.multiplicity[people.inverse])


def _in_steps(distances: Floats) -> Floats:
    """Distances as whole numbers of small steps: sums are then exact, and the last bits choose among no equal ones.

    Rounded values (ages, years) make many assignments equally good.
    """
    largest = distances.max()
    return np.asarray(np.rint(distances * (_STEPS / largest))) if largest > 0 else distances
