"""The maximum of a multinomial logit's likelihood, by steps whose curvature is that of some rows.

What a step costs is its curvature, a product of all columns for each two classes. The gradient, which says where the
maximum is, costs next to nothing and is always that of all rows. So curvature is looked at on some thousand rows,
those that bear most of it likelier and weighed down for that, and mended by the gradients of the steps before (a
limited-memory quasi-Newton method: Liu and Nocedal 1989). The maximum that is reached is that of all rows.

References
----------
Liu and Nocedal (1989), doi:10.1007/BF01589116; Byrd, Chin, Neveitt and Nocedal (2011), doi:10.1137/10079923X, for
curvature of some rows; Xu, Yang, Roosta, Re and Mahoney (2016), arXiv:1607.00559, for which ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.linalg.blas import dsyrk

from sfumato.kernels.quasi_newton import mended
from sfumato.kernels.synthesis.design import root_of

__all__ = ["climbed", "information_of", "shares_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SOME = 8_000
"""Rows whose curvature is looked at; of no more than three times as many all are."""
_STEPS = 100
_HALVINGS = 30
_DONE = 1e-5
"""Of a step's square, in standard errors: the last one that is taken."""
_NEAR = 1.0
"""Of it: so near, the curvature is the same after the step …"""
_SLOW = 0.2
"""… unless a step's square is more than that of the one before."""
_FLAT = 4.0
"""A curvature whose step promises so many times the one before is that of rows that are told apart with certainty, far
off the maximum: it is not taken."""
_GAIN = 0.25
_MEMORY = 12
_ROWS = 4096  # of a block: what is worked on stays in the cache


@dataclass(frozen=True)
class _Place:
    """Where a climb is: log-likelihood, its gradient (c − 1, p), and the share of each class in each row (n, c)."""

    slopes: Floats
    level: float
    gradient: Floats
    share: Floats


def climbed(X: Floats, held: Floats, slopes: Floats) -> Floats:
    """Climb to the maximum of the likelihood.

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        Columns, a constant one among them.
    held : ndarray of float64, shape (n, c)
        How much each row weighs in each class.
    slopes : ndarray of float64, shape (c − 1, p)
        Where to start: of each class but the first, all 0 but the constant.

    Returns
    -------
    ndarray of float64, shape (c − 1, p)
    """
    weight = held.sum(axis=1)
    here = _looked(X, held, weight, slopes)
    curvature: _Start | _Some = _Start(X, weight, here.share[0])
    past: list[tuple[Floats, Floats]] = []
    before, slow, some = np.inf, False, SOME
    for _ in range(_STEPS):
        if slow:
            new = _Some(X, weight, here.share, some)
            if float(np.vdot(here.gradient, new.solved(here.gradient))) <= _FLAT * before:
                curvature, past = new, []
        step = mended(here.gradient, curvature.solved, past)
        size = float(np.vdot(here.gradient, step))
        there = _higher(X, held, weight, here, step)
        if there is None and (some == len(X) or size <= _DONE):
            break
        if there is None:  # those rows misled: look at all of them
            slow, some, before = True, len(X), np.inf
            continue
        moved, fell = there.slopes - here.slopes, here.gradient - there.gradient
        past = [*past[-_MEMORY:], (moved, fell)] if float(np.vdot(moved, fell)) > 0 else past
        slow = size > _NEAR or size > _SLOW * before
        here, before = there, size
        if size <= _DONE:
            break
    return here.slopes


class _Start:
    """Curvature where all rows have the same shares: that of the classes times that of the columns."""

    def __init__(self, X: Floats, weight: Floats, share: Floats) -> None:
        self._root = root_of(X.T @ (X * weight[:, None]))
        self._share = share

    def solved(self, gradient: Floats) -> Floats:
        of_classes = gradient / self._share[1:, None] + gradient.sum(axis=0) / self._share[0]
        return np.asarray(cho_solve((self._root, True), of_classes.T).T)


class _Some:
    """Curvature of some rows, which stands for that of all."""

    def __init__(self, X: Floats, weight: Floats, share: Floats, some: int) -> None:
        if len(X) > 3 * some:
            rows, many = _chosen(X, weight, share, some)
            X, weight, share = X[rows], weight[rows] * many, share[rows]
        self._root = root_of(information_of(X, weight, share))

    def solved(self, gradient: Floats) -> Floats:
        return np.asarray(cho_solve((self._root, True), gradient.ravel()).reshape(gradient.shape))


def _chosen(X: Floats, weight: Floats, share: Floats, some: int) -> tuple[Ints, Floats]:
    """Some rows, in equal steps along what each bears of the curvature of every class, and for how many each stands."""
    bent = weight[:, None] * share * (1 - share)
    bears = (bent / bent.sum(axis=0)).sum(axis=1) * (1 + np.einsum("ij,ij->i", X, X))
    bears += bears.mean() / 4  # so that no row stands for too many
    upto = np.cumsum(bears)
    at = np.searchsorted(upto, (np.arange(some) + 0.5) * (upto[-1] / some))
    rows, times = np.unique(at, return_counts=True)
    return rows, times * (upto[-1] / some) / bears[rows]


def information_of(X: Floats, weight: Floats, share: Floats) -> Floats:
    """The information of the slopes, class after class, shape ((c − 1) p, (c − 1) p).

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        Columns.
    weight : ndarray of float64, shape (n,)
        How much each row weighs.
    share : ndarray of float64, shape (n, c)
        The share of each class in each row.
    """
    p, many = X.shape[1], share.shape[1] - 1
    information = np.empty((many * p, many * p))
    rows = np.ascontiguousarray(X).T  # what BLAS calls a matrix of columns, without a copy
    for c in range(many):
        for d in range(c + 1):
            own = weight * share[:, c + 1] * ((1 - share[:, d + 1]) if c == d else share[:, d + 1])
            block = dsyrk(1.0 if c == d else -1.0, rows * np.sqrt(own), lower=1)
            block += np.tril(block, -1).T
            information[c * p : (c + 1) * p, d * p : (d + 1) * p] = block
            information[d * p : (d + 1) * p, c * p : (c + 1) * p] = block
    return information


def _higher(X: Floats, held: Floats, weight: Floats, here: _Place, step: Floats) -> _Place | None:
    """The longest of step, step/2, step/4, … that gains half of what curvature makes of it; None where none does."""
    size = float(np.vdot(here.gradient, step))
    for k in range(_HALVINGS):
        there = _looked(X, held, weight, here.slopes + step)
        if there.level >= here.level + _GAIN * size / 2**k - 1e-12 * abs(here.level):
            return there
        step = step / 2
    return None


def _looked(X: Floats, held: Floats, weight: Floats, slopes: Floats) -> _Place:
    """Everything at some slopes, block by block."""
    share = np.empty((len(X), len(slopes) + 1))
    gradient, level = np.zeros_like(slopes), 0.0
    for start in range(0, len(X), _ROWS):
        rows = slice(start, start + _ROWS)
        own = shares_of(X[rows], slopes, share[rows])
        level += float(np.vdot(held[rows], np.log(np.maximum(own, 1e-300))))
        gradient += (held[rows] - own * weight[rows, None])[:, 1:].T @ X[rows]
    return _Place(slopes, level, gradient, share)


def shares_of(X: Floats, slopes: Floats, out: Floats | None = None) -> Floats:
    """The share of each class, shape (n, c); into `out` where it is given."""
    share = np.empty((len(X), len(slopes) + 1)) if out is None else out
    share[:, 0] = 0.0
    share[:, 1:] = X @ slopes.T
    share -= share.max(axis=1, keepdims=True)
    np.exp(share, out=share)
    share /= share.sum(axis=1, keepdims=True)
    return share
