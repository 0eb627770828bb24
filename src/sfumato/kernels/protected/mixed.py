"""Protected linear models with a random intercept: whole clusters are what is left out, weighted and bounded.

Rows are freed of what their cluster has in common (V^(−½)), and a cluster adds z = L⁻¹ Xᵀ r to the score. Its length is
clipped: errors that are as often below as above leave the estimates where they are. The limit comes from the cluster's
design alone: for one row it is that of a linear model, 4 robust standard deviations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sfumato.errors import DataError
from sfumato.kernels import random_intercept
from sfumato.kernels.compiled import compiled
from sfumato.kernels.orthogonal import Basis, basis_of
from sfumato.kernels.protected.bounds import inverse, root, thin, up, within
from sfumato.kernels.protected.fitted import SHARE, SUBSAMPLE, Noise, ProtectedFit, Unfit, drawn, tau_of
from sfumato.kernels.protected.residuals import CLIP, SD

__all__ = ["mixed"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_TOP = 0.99
_STEPS = 500
_CLOSE = 1e-11
_ROUNDS = 2


def mixed(
    X: Floats,
    y: Floats,
    cluster: Ints,
    *,
    keep: Mask,
    noise: Noise,
    tau: float | None = None,
    share: float = SHARE,
    share_kept: float = SUBSAMPLE,
) -> ProtectedFit:
    """Fit a protected linear model with a random intercept; its `n` counts clusters.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Design matrix with its constant column.
    y : ndarray, shape (n,)
        Response.
    cluster : ndarray, shape (n,)
        Which cluster each record belongs to, in any whole numbers.
    keep : ndarray, shape (n,)
        Which records the subsample holds: all or none of a cluster's.
    noise, tau, share, share_kept
        As for `regression`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> cluster = np.repeat(np.arange(2000), 3)
    >>> y = 2 + rng.normal(size=2000)[cluster] + rng.normal(size=6000)
    >>> keep, noise = (rng.random(2000) < 0.95)[cluster], rng.normal(size=1)
    >>> fit = mixed(np.ones((6000, 1)), y, cluster, keep=keep, noise=noise, tau=1.0)
    >>> bool(abs(fit.estimate[0] - 2.0) < 4 * fit.se[0])
    True
    """
    if np.intersect1d(cluster[keep], cluster[~keep]).size:
        raise DataError("A subsample holds whole clusters.")
    rows = _look_at(X, y, cluster, keep)
    units, p = len(rows.starts), rows.X.shape[1]
    bounds = _bounded(rows)
    strength = tau_of(units, share, bounds.m) if tau is None else tau
    b = bounds.m * bounds.sd
    with np.errstate(all="ignore"):
        gamma, f = _solve(rows, bounds, strength * b * (rows.L @ drawn(noise, strength)))
    scores = (bounds.w * f)[:, None] * rows.scores(gamma)
    own = scores.T @ scores * (units / (units - p))
    added = (strength * b) ** 2 * rows.L @ rows.L.T
    turn = rows.basis.back @ inverse(_slope(rows, bounds.w, f, scores))
    se, se_added = (np.sqrt(np.einsum("ij,jk,ik->i", turn, B, turn)) for B in (own + added, added))
    return ProtectedFit("mixed", rows.basis.back @ gamma, se, se_added, units, strength, share_kept, bounds.m)


@dataclass(frozen=True)
class _Rows:
    """Records that count, sorted by cluster and freed of what clusters share, with L Lᵀ = Σ X Xᵀ / clusters."""

    X: Floats
    y: Floats
    starts: Ints
    L: Floats
    basis: Basis

    def left(self, gamma: Floats) -> Floats:
        """Residuals."""
        return np.asarray(self.y - self.X @ gamma)

    def scores(self, gamma: Floats) -> Floats:
        """What each cluster adds to the score."""
        return np.asarray(np.add.reduceat(self.X * self.left(gamma)[:, None], self.starts, axis=0))

    def each(self, of_clusters: Floats) -> Floats:
        """What stands for a cluster, for each of its rows."""
        return np.repeat(of_clusters, np.diff(self.starts, append=len(self.y)))


def _look_at(X: Floats, y: Floats, cluster: Ints, keep: Mask) -> _Rows:
    X, y, cluster = X[keep], y[keep], cluster[keep]
    if len(y) <= X.shape[1]:
        raise Unfit("few")
    inside = within(X) & within(y[:, None], thin(len(y)))
    X, y, cluster = X[inside], y[inside], cluster[inside]
    order = np.argsort(cluster, kind="stable")
    X, y, cluster = X[order], y[order], cluster[order]
    starts = np.flatnonzero(np.diff(cluster, prepend=cluster[:1] - 1))
    if len(starts) <= X.shape[1]:
        raise Unfit("few")
    if y.min() == y.max():
        raise Unfit("constant")
    basis = basis_of(X)
    if len(basis.kept) < X.shape[1]:
        raise Unfit("singular")
    E = basis.apply(X)
    try:
        found = random_intercept.fit(E, y, cluster)
    except DataError:
        raise Unfit("exact") from None
    free = random_intercept.whitened(np.column_stack([E, y]), starts, found.between / found.within)
    E, y = np.ascontiguousarray(free[:, :-1]), free[:, -1]
    return _Rows(E, y, starts, root(E.T @ E / len(starts)), basis)


@dataclass(frozen=True)
class _Bounds:
    """Limits of clusters' scores in units of a residual's sd, weights that bring them to m, and a place to start."""

    limit: Floats
    m: float
    w: Floats
    sd: float
    start: Floats


def _bounded(rows: _Rows) -> _Bounds:
    turn = solve_triangular(rows.L, np.eye(len(rows.L)), lower=True).T
    trace, square = _sizes(np.ascontiguousarray(rows.X @ turn), np.append(rows.starts, len(rows.y)))
    limit = np.sqrt(trace) + (CLIP - 1) * np.sqrt(np.sqrt(square))  # a normal's length, and what is clipped beyond
    m = up(float(np.quantile(limit, _TOP)))
    if m == 0:
        raise Unfit("singular")
    w = m / np.maximum(limit, m)
    heavy = rows.each(w)[:, None] * rows.X
    gamma: Floats = np.asarray(np.linalg.solve(heavy.T @ rows.X, heavy.T @ rows.y))
    for _ in range(_ROUNDS):
        bounds = _Bounds(limit, m, w, _sd(rows, gamma), gamma)
        gamma, _f = _solve(rows, bounds, np.zeros(len(gamma)))
    return _Bounds(limit, m, w, _sd(rows, gamma), gamma)


def _sd(rows: _Rows, gamma: Floats) -> float:
    sd = SD * float(np.median(np.abs(rows.left(gamma))))
    if sd <= 1e-12 * float(np.abs(rows.y).max()):
        raise Unfit("exact")
    return sd


@compiled
def _sizes(Z: Floats, starts: Ints) -> tuple[Floats, Floats]:  # pragma: no cover - compiled
    """Trace of Σ z zᵀ over the rows of each cluster, and the sum of its squares."""
    p = Z.shape[1]
    trace, square, K = np.zeros(len(starts) - 1), np.zeros(len(starts) - 1), np.zeros((p, p))
    for g in range(len(starts) - 1):
        K[:] = 0.0
        for i in range(starts[g], starts[g + 1]):
            for a in range(p):
                for b in range(p):
                    K[a, b] += Z[i, a] * Z[i, b]
        for a in range(p):
            trace[g] += K[a, a]
            for b in range(p):
                square[g] += K[a, b] ** 2
    return trace, square


def _solve(rows: _Rows, bounds: _Bounds, target: Floats) -> tuple[Floats, Floats]:
    """Where the clipped score is the target, and what clipping leaves of each cluster's, by weighted least squares."""
    gamma, most = bounds.start, bounds.limit * bounds.sd
    for _ in range(_STEPS):
        length = np.linalg.norm(solve_triangular(rows.L, rows.scores(gamma).T, lower=True, check_finite=False), axis=0)
        f = most / np.maximum(length, most)
        heavy = rows.each(bounds.w * f)[:, None] * rows.X
        try:
            new: Floats = np.asarray(np.linalg.solve(heavy.T @ rows.X, heavy.T @ rows.y - target))
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(new).all():
            break
        moved, gamma = float(np.abs(rows.L.T @ (new - gamma)).max()), new
        if moved <= _CLOSE * max(bounds.sd, float(np.abs(gamma).max())):
            return gamma, f
    raise Unfit("noise")


def _slope(rows: _Rows, w: Floats, f: Floats, scores: Floats) -> Floats:
    """How fast the clipped score falls: a clipped cluster answers only across its score's direction."""
    heavy = rows.each(w * f)[:, None] * rows.X
    slope = heavy.T @ rows.X
    ends = np.append(rows.starts, len(rows.y))
    for g in np.flatnonzero(f < 1):
        own = rows.X[ends[g] : ends[g + 1]]
        z = solve_triangular(rows.L, scores[g], lower=True)
        z /= math.sqrt(float(z @ z))
        across = np.outer(rows.L @ z, z) @ solve_triangular(rows.L, own.T @ own, lower=True)
        slope -= w[g] * f[g] * across
    return np.asarray(slope)
