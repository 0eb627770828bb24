"""Grids of possible true values, for records of which a covariate cannot be integrated out in closed form.

A record whose true value x is hidden becomes several rows, in each of which x is known. So x may enter the model in any
way: as a power, or times another hidden covariate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.inference.columns import Columns
from sfumato.kernels.likelihood.quadrature import interval_nodes, normal_nodes

__all__ = ["MAX_NODES", "Expanded", "Grid", "expand", "interval_grids", "needs_grid", "normal_grids"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_NODES = 8_000_000
"""Most rows that the grids of all records may take together."""
MAX_CELLS = 100_000_000
"""Most numbers that these rows may hold."""


_TOO_MANY = (
    "The integrals over hidden covariates (powers, products, bands, rounding, or noise that is not plain normal) would "
    "take more nodes than memory is meant for. Fit a random sample of the rows, leave one of these covariates out, or "
    "use method `naive`."
)
_STEP, _SHORT_STEP = 0.5, 0.25
"""Steps between nodes for noisy and for missing values."""
_CLEAR, _ENOUGH = 0.1, 20
"""The share of the records with the least noise, which tells how strong a little noise is; and so many records do."""


@dataclass(frozen=True)
class Grid:
    """Possible true values of some records.

    Parameters
    ----------
    rows : ndarray, shape (m,)
        The records, in rising order.
    nodes, log_weights : ndarray, shape (m, q)
        Their possible values, and the logarithm of quadrature weight times density of what was released.
    """

    rows: Ints
    nodes: Floats
    log_weights: Floats

    @property
    def count(self) -> int:
        """Nodes of each record."""
        return int(self.nodes.shape[1])


def interval_grids(rows: Ints, low: Floats, high: Floats, centre: float, spread: float) -> list[Grid]:
    """Grids of records whose value is known to lie in an interval.

    Parameters
    ----------
    rows : ndarray, shape (m,)
        The records, in rising order.
    low, high : ndarray, shape (m,)
        Ends of each one's interval.
    centre, spread
        Mean and standard deviation of the column.

    Examples
    --------
    >>> interval_grids(np.array([4]), np.zeros(1), np.ones(1), 0.5, 1.0)[0].count
    6
    """
    return [Grid(rows[at], nodes, weights) for at, nodes, weights in interval_nodes(low, high, centre, spread)]


def normal_grids(values: Floats, variance: Floats, taken: Iterable[Grid], finer: int = 1) -> list[Grid]:
    """Grids of records with plain normal noise or a missing value, for a covariate that must be known in each row.

    Parameters
    ----------
    values, variance : ndarray, shape (n,)
        What was released, NaN where missing, and the variance of the noise on it.
    taken
        Grids of the records that have one already.
    finer
        How many times as many nodes as usual.

    Examples
    --------
    >>> [g.rows.tolist() for g in normal_grids(np.array([1.0, 2.0, np.nan]), np.array([0.0, 0.1, 0.0]), [])]
    [[1], [2]]
    """
    hidden = np.isnan(values) | (variance > 0)
    for grid in taken:
        hidden[grid.rows] = False
    known = ~np.isnan(values)
    if not hidden.any():
        return []
    centre, spread = _without_noise(values[known], variance[known])
    found = []
    for rows, step in ((np.flatnonzero(hidden & known), _STEP), (np.flatnonzero(hidden & ~known), _SHORT_STEP)):
        if len(rows):
            found.append(Grid(rows, *normal_nodes(values[rows], variance[rows], centre, spread, step / finer)))
    return found


def _without_noise(z: Floats, variance: Floats) -> tuple[float, float]:
    """Mean and standard deviation of the true values, from those with little noise where they are not few."""
    clear = variance <= 4 * np.quantile(variance, _CLEAR)
    if clear.sum() >= _ENOUGH:
        z, variance = z[clear], variance[clear]
    total = float(z.var())
    return float(z.mean()), math.sqrt(max(total - float(variance.mean()), 1e-3 * total))


def needs_grid(columns: Columns, hidden: Sequence[str]) -> list[str]:
    """Which hidden continuous covariates must be known for the predictor to be linear in the others.

    Those that stand in a power, and of every product of two at least one: those in most products first.

    Examples
    --------
    >>> columns = Columns(("x:v", "x:u", "w"), ((("x", None), ("v", None)), (("x", None), ("u", None)), (("w", None),)))
    >>> needs_grid(columns, ["u", "v", "w", "x"])
    ['x']
    """
    owners = columns.with_any(hidden)
    chosen = {n for found in owners for n in found if found.count(n) > 1}
    while True:
        left = [set(found) - chosen for found in owners]
        products = [found for found in left if len(found) > 1]
        if not products:
            return [n for n in hidden if n in chosen]
        chosen.add(max(hidden, key=lambda n: sum(n in found for found in products)))


@dataclass(frozen=True)
class Expanded:
    """Records as rows, one for each combination of nodes of their grids.

    Parameters
    ----------
    rows : ndarray, shape (N,)
        The record of each row; records of one kind stand together.
    values : ndarray, shape (N, c)
        What was released, with nodes in the place of gridded values.
    log_weights : ndarray, shape (N,), or None
        Logarithm of each row's weight; None where no record has a grid.
    kinds
        For each kind of records: how many rows, how many of them a record, which covariates are known or were released,
        and the covariance of the noise on these.
    """

    rows: Ints
    values: Floats
    log_weights: Floats | None
    kinds: list[tuple[int, int, Ints, Floats]]


def expand(
    values: Floats, grids: Sequence[Sequence[Grid]], noises: Mapping[int, tuple[Floats, Bools]], width: int = 1
) -> Expanded:
    """Write every record out as rows, sorted by what was released of it with what noise.

    Parameters
    ----------
    values : ndarray, shape (n, c)
        What was released of the continuous covariates, NaN where missing.
    grids
        The grids of each covariate, shape (c,).
    noises
        Covariances, shape (c, c), of independent noises, each with the records that it was added to.
    width
        How many numbers each row will hold.

    Raises
    ------
    DataError
        Where there would be more than `MAX_NODES` rows, or `MAX_CELLS` numbers in them.
    """
    n, c = values.shape
    which = np.full((n, c), -1)
    for j, own in enumerate(grids):
        for g, grid in enumerate(own):
            which[grid.rows, j] = g
    released = ~np.isnan(values)
    applies = [rows for _, rows in noises.values()]
    kinds, of = np.unique(np.column_stack([released, which, *applies]), axis=0, return_inverse=True)
    of = of.reshape(-1)
    sizes = np.bincount(of, minlength=len(kinds))
    chosen = [[own[g] if g >= 0 else None for own, g in zip(grids, kind[c : 2 * c], strict=True)] for kind in kinds]
    counts = [math.prod(grid.count for grid in some if grid) for some in chosen]
    rows_needed = sum(int(s) * q for s, q in zip(sizes, counts, strict=True))
    if max(counts) > 1 and (rows_needed > MAX_NODES or rows_needed * width > MAX_CELLS):
        raise DataError(_TOO_MANY)
    order = np.argsort(of, kind="stable")
    blocks, told = [], []
    for kind, some, count, records in zip(kinds, chosen, counts, np.split(order, np.cumsum(sizes)[:-1]), strict=True):
        added = [omega for (omega, _), on in zip(noises.values(), kind[2 * c :], strict=True) if on]
        noise = np.sum([np.zeros((c, c)), *added], axis=0)
        z, log_weights, left = _block(values[records], some, records, noise)
        seen = np.flatnonzero(kind[:c] | (kind[c : 2 * c] >= 0))
        blocks.append((np.repeat(records, count), z, log_weights))
        told.append((len(z), count, seen, left[np.ix_(seen, seen)]))
    rows, z, weights = (np.concatenate(part) for part in zip(*blocks, strict=True))
    return Expanded(rows, z, weights if max(counts) > 1 else None, told)


def _block(values: Floats, grids: Sequence[Grid | None], records: Ints, noise: Floats) -> tuple[Floats, Floats, Floats]:
    """Rows of records of one kind: values, logarithms of weights, and the noise that is left."""
    at = [(j, grid) for j, grid in enumerate(grids) if grid is not None]
    shape = (len(records), *(grid.count for _, grid in at))
    z = np.repeat(values, math.prod(shape[1:]), axis=0)
    log_weights = np.zeros(shape)
    for axis, (j, grid) in enumerate(at, 1):
        place = np.searchsorted(grid.rows, records)
        along = [1] * len(shape)
        along[0], along[axis] = len(records), grid.count
        z[:, j] = np.broadcast_to(grid.nodes[place].reshape(along), shape).ravel()
        log_weights += grid.log_weights[place].reshape(along)
    flat, left = log_weights.ravel(), noise.copy()
    if at:
        released = np.repeat(values, len(z) // len(records), axis=0)
        left = _given_nodes([j for j, _ in at], released, z, flat, noise)
    return z, flat, left


def _given_nodes(at: list[int], released: Floats, z: Floats, log_weights: Floats, noise: Floats) -> Floats:
    """What noise is left on the other covariates once that at the nodes is known; `z` and `log_weights` are changed."""
    left = noise.copy()
    left[at] = left[:, at] = 0.0
    own = [j for j in at if noise[j, j] > 0 and not np.isnan(released[0, j])]
    rest = [j for j in range(len(noise)) if j not in at]
    omega = noise[np.ix_(own, own)]
    if not noise[np.ix_(rest, own)].any() and not (omega - np.diag(np.diagonal(omega))).any():
        return left
    e = released[:, own] - z[:, own]
    inverse = np.linalg.pinv(omega, hermitian=True)
    correlation = omega / np.sqrt(np.outer(np.diagonal(omega), np.diagonal(omega)))
    log_weights += 0.5 * ((e**2 / np.diagonal(omega)).sum(axis=1) - np.einsum("ni,ij,nj->n", e, inverse, e))
    log_weights -= 0.5 * np.linalg.slogdet(correlation)[1]
    gain = noise[np.ix_(rest, own)] @ inverse
    z[:, rest] -= e @ gain.T
    left[np.ix_(rest, rest)] -= gain @ noise[np.ix_(own, rest)]
    return left
