"""Where a likelihood has no maximum: the directions along which it rises for ever.

Likelihoods of 0/1 responses, ordered categories and counts are products of increasing functions of *arguments* a'θ:
for a response of 1 the linear predictor, for one of 0 and a count of 0 the same with the other sign, for an ordered
category its distances from its two thresholds. A direction along which no argument falls and some rise is one of
recession: the supremum is reached at infinity, where those arguments say no more; what is left is the likelihood of the
others.

Sources: Albert and Anderson (1984), Biometrika 71, 1-10, doi:10.1093/biomet/71.1.1; Konis (2007), Linear programming
algorithms for detecting separated data in binary logistic regression models, DPhil thesis, University of Oxford.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from sfumato.kernels.likelihood.maximisation import Value, inverse

__all__ = ["Recession", "Within", "find_recession"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FAR = 500.0
"""An argument this large stands for infinity: what is left of its part of the likelihood is below 1e-200."""
_RISES = 1e-6
"""An argument of unit length rises where a direction in the unit box moves it by more than this."""
_FALLS, _FEASIBLE = 1e-8, 1e-9
_NULL = 1e-9
"""Share of the whole information below which a direction has none of that of the remaining arguments."""
_MOVES = 1e-6
_STAYS = 2e-9
"""Remaining arguments move by no more than this where the least of the others moves by 1."""
_FEW, _MORE = 50, 200
"""Rows for each parameter that a linear programme begins with; how many are added where it breaks others."""


@dataclass(frozen=True)
class Within:
    """A flat through the space of the parameters: θ = offset + basis γ.

    Parameters
    ----------
    offset : ndarray, shape (P,)
        A point of it.
    basis : ndarray, shape (P, r)
        Directions in it.
    inward : ndarray, shape (r, P)
        Takes differences of parameters to those of γ, a left inverse of the basis.

    Examples
    --------
    >>> line = Within(np.array([0.0, 2.0]), np.array([[2.0], [0.0]]), np.array([[0.5, 0.0]]))
    >>> line.place(np.array([3.0])).tolist(), line.nearest(np.array([5.0, 7.0])).tolist()
    ([6.0, 2.0], [2.5])
    """

    offset: Floats
    basis: Floats
    inward: Floats

    def wider(self, size: int) -> Within:
        """The same in a space with further parameters, which are free."""
        (P, r), more = self.basis.shape, size - len(self.offset)
        basis, inward = np.zeros((size, r + more)), np.zeros((r + more, size))
        basis[:P, :r], basis[P:, r:] = self.basis, np.eye(more)
        inward[:r, :P], inward[r:, P:] = self.inward, np.eye(more)
        return Within(np.concatenate([self.offset, np.zeros(more)]), basis, inward)

    def place(self, gamma: Floats) -> Floats:
        """The parameters, shape (P,)."""
        return np.asarray(self.offset + self.basis @ gamma)

    def nearest(self, theta: Floats) -> Floats:
        """The point of the flat that is taken for some parameters, shape (r,)."""
        return np.asarray(self.inward @ (theta - self.offset))

    def look(self, look: Callable[[Floats], Value]) -> Callable[[Floats], Value]:
        """A likelihood as a function of γ."""

        def seen(gamma: Floats) -> Value:
            value = look(self.place(gamma))
            return Value(
                value.log_likelihood,
                np.asarray(self.basis.T @ value.gradient),
                np.asarray(self.basis.T @ value.information @ self.basis),
            )

        return seen

    def covariance(self, information: Floats) -> tuple[Floats, bool]:
        """Covariance of the parameters from the information on γ, and whether that is complete; see `inverse`."""
        middle, complete = inverse(information)
        return np.asarray(self.basis @ middle @ self.basis.T), complete


@dataclass(frozen=True)
class _Space:
    """Arguments in coordinates in which all of them together have equal information in every direction.

    Parameters
    ----------
    rows : ndarray, shape (m, P)
        Arguments that may rise for ever.
    fixed : ndarray, shape (f, P)
        Those that may not.
    group : ndarray, shape (P,)
        What the parameters are multiplied by that nobody knows; 0 for nothing.
    back : ndarray, shape (P, P)
        Takes coordinates to parameters.
    """

    rows: Floats
    fixed: Floats
    group: NDArray[np.int64]
    back: Floats

    @classmethod
    def of(cls, rows: Floats, fixed: Floats, group: NDArray[np.int64]) -> _Space | None:
        """The space of some arguments; None where they do not tell all parameters apart."""
        whole = np.concatenate([rows, fixed])
        back = np.zeros((whole.shape[1], whole.shape[1]))
        for g in np.unique(group):
            own = np.flatnonzero(group == g)
            size = np.sqrt((whole[:, own] ** 2).sum(axis=0))
            if len(whole) < len(own) or not (size > 0).all():
                return None
            R = np.linalg.qr(whole[:, own] / size, mode="r")
            if np.abs(np.diagonal(R)).min() < 1e-10:
                return None
            back[np.ix_(own, own)] = np.linalg.inv(R) / size[:, None] * len(whole) ** 0.5
        return cls(rows @ back, fixed @ back, group, back)

    def way(self, held: int | None) -> _Way:
        """How the likelihood recedes, while one parameter is held where there is one."""
        P = len(self.back)
        free, allowed = np.eye(P), np.eye(P)[:, self.group == 0]
        if held is not None:
            free = scipy.linalg.null_space(self.back[held][None])
            if self.group[held] == 0:
                allowed = allowed @ scipy.linalg.null_space(self.back[held][None] @ allowed)
        whole = len(self.rows) + len(self.fixed)
        stays = self.fixed @ allowed
        values, vectors = np.linalg.eigh(stays.T @ stays)
        allowed = allowed @ vectors[:, values <= _NULL * whole]
        rising, total = _separate(_units(self.rows @ allowed))
        left = self._gram(~rising)
        values, vectors = np.linalg.eigh(free.T @ left @ free)
        null = values <= _NULL * whole
        lost = free @ vectors[:, null]
        direction = lost @ (lost.T @ (allowed @ total))
        moved = self.rows @ direction
        if not rising.any() or not lost.size or moved[rising].min() <= 0:
            return _Way(np.zeros(P), np.zeros((P, 0)), free, allowed)
        direction = direction / moved[rising].min()
        if np.abs(self.rows[~rising] @ direction).max(initial=0.0) > _STAYS:
            return _Way(np.zeros(P), np.zeros((P, 0)), free, allowed)
        return _Way(direction, lost, free @ vectors[:, ~null], allowed)

    def within(self, offset: Floats, left: Floats) -> Within:
        """A flat, from coordinates of a point and of directions that are orthonormal and at right angles to it."""
        return Within(self.back @ offset, self.back @ left, left.T @ np.linalg.inv(self.back))

    def _gram(self, rows: Bools) -> Floats:
        """Information of the remaining arguments, nothing being known of what groups are multiplied by."""
        same = self.group[:, None] == self.group[None, :]
        left = self.rows[rows]
        return np.asarray((left.T @ left + self.fixed.T @ self.fixed) * same)


@dataclass(frozen=True)
class _Way:
    """A direction of recession, what it leaves undetermined, what it leaves, and where directions may lie."""

    direction: Floats
    lost: Floats
    left: Floats
    allowed: Floats


@dataclass(frozen=True)
class Recession:
    """Where a likelihood has no maximum.

    Parameters
    ----------
    lost : ndarray of bool, shape (P,)
        Parameters without a finite maximum.
    sides : ndarray, shape (P,)
        1 or −1 for those that rise or fall for ever wherever the likelihood does; 0 for those that may do either, and
        for those that are not lost.
    within
        Where the supremum is sought: the direction is gone to its end, and the lost parameters have no other part.
    space
        The arguments.
    """

    lost: Bools
    sides: NDArray[np.int64]
    within: Within
    space: _Space

    def held(self, j: int) -> Callable[[float], Within]:
        """Where the supremum is sought while parameter j has a value, as a function of that."""
        way = self.space.way(j)
        own = self.space.back[j]
        return lambda value: self.space.within(_FAR * way.direction + value * own / (own @ own), way.left)


def find_recession(rows: Floats, fixed: Floats, group: NDArray[np.int64] | None = None) -> Recession | None:
    """Find the directions in which a likelihood has no maximum; None where there are none.

    Parameters
    ----------
    rows : ndarray, shape (m, P)
        Arguments that the likelihood increases in.
    fixed : ndarray, shape (f, P)
        Those in which it falls on both sides.
    group : ndarray, shape (P,), optional
        Number of what each parameter is multiplied by that is hidden, 0 for nothing: arguments are then those parts of
        the linear predictor, and directions are sought among parameters with nothing hidden.

    References
    ----------
    Konis (2007), section 4; Albert and Anderson (1984), doi:10.1093/biomet/71.1.1.

    Examples
    --------
    >>> X, y = np.column_stack([np.ones(6), [0, 0, 0, 1, 1, 1]]), np.array([0, 1, 0, 1, 1, 1])
    >>> found = find_recession((2 * y - 1)[:, None] * X, np.zeros((0, 2)))
    >>> found.lost.tolist(), found.sides.tolist()
    ([False, True], [0, 1])
    >>> y = np.array([0, 1, 0, 1, 0, 1])
    >>> find_recession((2 * y - 1)[:, None] * X, np.zeros((0, 2))) is None
    True
    """
    P = rows.shape[1]
    space = _Space.of(rows, fixed, np.zeros(P, dtype=np.int64) if group is None else group)
    if space is None or not len(rows):
        return None
    way = space.way(None)
    if not way.lost.size:
        return None
    moves = np.abs(space.back @ way.lost).max(axis=1) / np.sqrt((space.back**2).sum(axis=1))
    lost = moves > _MOVES
    arguments = _units(space.rows @ way.allowed)
    sides = np.zeros(P, dtype=np.int64)
    for j in np.flatnonzero(lost):
        own = way.allowed.T @ space.back[j]
        size = float(np.linalg.norm(own))
        if size > 0:
            ends = [float(own @ _highest(sign * own / size, arguments)) / size for sign in (1.0, -1.0)]
            sides[j] = int(ends[0] > _RISES) - int(ends[1] < -_RISES)
    return Recession(lost, sides, space.within(_FAR * way.direction, way.left), space)


def _separate(arguments: Floats) -> tuple[Bools, Floats]:
    """Which arguments can rise while none falls, and a direction in which all of these do."""
    rising, total = np.zeros(len(arguments), dtype=bool), np.zeros(arguments.shape[1])
    for _ in range(arguments.shape[1]):
        direction = _highest(arguments[~rising].sum(axis=0), arguments)
        more = ~rising & (arguments @ direction > _RISES)
        if not more.any():
            break
        rising |= more
        total += direction
    return rising, total


def _highest(objective: Floats, arguments: Floats) -> Floats:
    """The direction in the unit box that goes furthest by a linear objective while no argument falls.

    Few arguments bind, so that the programme begins with some of them and takes in those that it breaks.
    """
    (m, k), size = arguments.shape, float(np.abs(objective).max(initial=0.0))
    if size == 0:
        return np.zeros(k)
    taken = np.zeros(m, dtype=bool)
    taken[np.linspace(0, m - 1, min(m, _FEW * k)).astype(np.int64)] = True
    while True:
        found = scipy.optimize.linprog(
            -objective / size,
            -arguments[taken],
            np.zeros(int(taken.sum())),
            bounds=(-1, 1),
            options={"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE},
        )
        if found.x is None:
            return np.zeros(k)
        height = np.where(taken, 0.0, arguments @ found.x)
        if height.min() >= -_FALLS:
            return np.asarray(found.x)
        worst = np.argsort(height)[:_MORE]
        taken[worst[height[worst] < -_FALLS]] = True


def _units(rows: Floats) -> Floats:
    """Rows of unit length; those of no length stay zero."""
    size = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return np.where(size > _FEASIBLE, rows / np.maximum(size, _FEASIBLE), 0.0)
