"""Protected linear, logistic, probit and Poisson regression.

Designs are weighted, residuals bounded, so that one record adds at most b to the score L⁻¹ Σ w r x, where
L Lᵀ = Σ v x xᵀ / n. The estimate is where that score is τ b e, e ~ N(0, I): what an attacker who knows all other
records learns of one is never more than from a normal number whose mean it moves by 1 / τ standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sfumato.errors import DataError
from sfumato.kernels import glm
from sfumato.kernels.orthogonal import Basis, basis_of
from sfumato.kernels.protected.bounds import Leverage, blocks, ends, inverse, leverage, thin, up, within
from sfumato.kernels.protected.fitted import SHARE, SUBSAMPLE, Noise, ProtectedFit, Unfit, drawn, tau_of
from sfumato.kernels.protected.residuals import CLIP, SD, Count, Logit, Number, Probit, Residual

__all__ = ["Family", "regression"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Family = Literal["linear", "logistic", "probit", "poisson"]

_STEPS = 60
_HALVINGS = 30
_CLOSE, _FLOOR = 1e-10, 1e-6
_TAIL = 0.005
_ROUNDS = 2
_FLAT = 1e-12
_ROOM = 0.5


def regression(
    family: Family,
    X: Floats,
    y: Floats,
    *,
    keep: Mask,
    noise: Noise,
    tau: float | None = None,
    share: float = SHARE,
    share_kept: float = SUBSAMPLE,
    outside: bool = False,
) -> ProtectedFit:
    """Fit a protected regression.

    Parameters
    ----------
    family
        `linear`, `logistic`, `probit` or `poisson`.
    X : ndarray, shape (n, p)
        Design matrix with its constant column, if any.
    y : ndarray, shape (n,)
        Response.
    keep : ndarray, shape (n,)
        Which records the subsample holds.
    noise : ndarray, shape (p,)
        Standard normal.
    tau
        Strength of the noise; None: as `tau_of` finds for `share`.
    share
        Share of an estimate's variance that noise may have.
    share_kept
        Share of records that subsamples hold.
    outside
        Whether records with numbers far out count too. For studies: their standard errors tell who is there.

    Returns
    -------
    ProtectedFit
        One estimate a column.

    Raises
    ------
    Unfit
        Where there is nothing to estimate, or nothing that protection leaves.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X = np.column_stack([np.ones(4000), rng.normal(size=4000)])
    >>> y = X @ [1.0, 2.0] + rng.normal(size=4000)
    >>> fit = regression("linear", X, y, keep=rng.random(4000) < 0.95, noise=rng.normal(size=2), tau=1.0)
    >>> bool(np.all(np.abs(fit.estimate - [1.0, 2.0]) < 4 * fit.se))
    True
    """
    rows = _look_at(family, X, y, keep, outside)
    with glm.one_thread(len(rows.y)):
        bounded = _BOUNDED[family](rows)
        n, p = rows.E.shape
        strength = tau_of(n, share, bounded.relative) if tau is None else tau
        target = strength * bounded.b * (bounded.leverage.L @ drawn(noise, strength))
        with np.errstate(all="ignore"):
            top = _solve(rows, bounded.leverage.w, bounded.residual, target, bounded.start)
        own = top.squares * (n / (n - p))
        added = (strength * bounded.b) ** 2 * bounded.leverage.L @ bounded.leverage.L.T
        turn = rows.basis.back @ inverse(top.slope)
    se, se_added = (np.sqrt(np.einsum("ij,jk,ik->i", turn, B, turn)) for B in (own + added, added))
    estimate = rows.basis.back @ top.gamma
    if not (np.isfinite(estimate).all() and np.isfinite(se).all()):
        raise Unfit("noise")
    return ProtectedFit(family, estimate, se, se_added, n, strength, share_kept, bounded.relative)


@dataclass(frozen=True)
class _Rows:
    """Records that count: orthogonal designs, responses, and the way back to the columns."""

    E: Floats
    y: Floats
    basis: Basis


def _look_at(family: Family, X: Floats, y: Floats, keep: Mask, outside: bool) -> _Rows:
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1] or keep.shape != y.shape:
        raise DataError("A design matrix of shape (n, p) needs a response and a subsample of shape (n,).")
    if family == "poisson" and not ((y >= 0) & (y == np.round(y))).all():
        raise DataError("The response of a Poisson model must be a whole number, not below 0, in every row.")
    X, y = X[keep], y[keep]
    if len(y) <= X.shape[1]:
        raise Unfit("few")
    if not outside:
        inside = within(X)
        if family == "linear":
            inside &= within(y[:, None], thin(len(y)))
        if not inside.all():
            X, y = X[inside], y[inside]
    if len(y) <= X.shape[1]:
        raise Unfit("few")
    if not len(y) or y.min() == y.max():
        raise Unfit("constant")
    basis = basis_of(X)
    if len(basis.kept) < X.shape[1]:
        raise Unfit("singular")
    return _Rows(basis.apply(X), y, basis)


@dataclass(frozen=True)
class _Bounded:
    """How records are bounded: weights, residuals, bound b of a score, the same per √information, a place to start."""

    leverage: Leverage
    residual: Residual
    b: float
    relative: float
    start: Floats


def _plain(rows: _Rows, y: Floats, family: Family, w: Floats) -> Floats:
    """Estimates without noise, with weights on designs."""
    found = glm.fit(rows.E, y, family, w)
    if found.separated or not np.isfinite(found.coefficients).all():
        raise Unfit("separated")
    return found.coefficients


def _binary(rows: _Rows, family: Literal["logistic", "probit"]) -> _Bounded:
    residual = Logit() if family == "logistic" else Probit()
    start = _plain(rows, rows.y, family, leverage(rows.E).w)
    found = leverage(rows.E, residual.information(rows.E @ start))
    b = found.m * residual.bound
    return _Bounded(found, residual, b, b, start)


def _logistic(rows: _Rows) -> _Bounded:
    return _binary(rows, "logistic")


def _probit(rows: _Rows) -> _Bounded:
    return _binary(rows, "probit")


def _linear(rows: _Rows) -> _Bounded:
    found = leverage(rows.E)
    gamma = _plain(rows, rows.y, "linear", found.w)
    clip, sd = _clip(rows, gamma)
    for _ in range(_ROUNDS):
        gamma = _solve(rows, found.w, Number(clip), np.zeros(len(gamma)), gamma).gamma
        clip, sd = _clip(rows, gamma)
    return _Bounded(found, Number(clip), found.m * clip, found.m * clip / sd, gamma)


def _clip(rows: _Rows, gamma: Floats) -> tuple[float, float]:
    """Largest residual, and the standard deviation of those that it leaves.

    4 robust standard deviations; more where many residuals lie beyond (costs), and all where the response is one of
    two numbers: there the mean would go with what is clipped.
    """
    r = np.abs(rows.y - rows.E @ gamma)
    robust = SD * float(np.median(r))
    clip = max(CLIP * robust, up(float(np.quantile(r, 1 - thin(len(r), _TAIL)))))
    low, high = float(rows.y.min()), float(rows.y.max())
    if bool(((rows.y == low) | (rows.y == high)).all()):
        clip = max(clip, high - low)
    sd = math.sqrt(float((np.minimum(r, clip) ** 2).mean()))
    if sd <= _FLAT * max(abs(low), abs(high)):
        raise Unfit("exact")
    return clip, sd


def _poisson(rows: _Rows) -> _Bounded:
    y = np.floor(np.minimum(rows.y, ends(rows.y)[1]))  # one wild count must not lead the first fit astray
    start = _plain(rows, y, "poisson", leverage(rows.E).w)
    for _ in range(_ROUNDS):
        residual, found, _ = _counts(rows.E, y, start)
        start = _solve(rows, found.w, residual, np.zeros(len(start)), start).gamma
    residual, found, spread = _counts(rows.E, y, start)
    most = max(float(residual.most(rows.E[block] @ start, block).max()) for block in blocks(len(y)))
    b = found.m * most
    return _Bounded(found, residual, b, b / math.sqrt(spread), start)


def _counts(E: Floats, y: Floats, gamma: Floats) -> tuple[Count, Leverage, float]:
    """Residuals of counts that vary φ times as much as Poisson ones, weights that fit them, and φ.

    Rare counts have half a count more room: a clipped residual's expectation is that of a Poisson count, and where
    counts vary more the estimates would be too low.
    """
    mu = np.exp(np.minimum(E @ gamma, 345.0))
    spread = max(1.0, float(((y - mu) ** 2).sum() / mu.sum()))
    root = np.sqrt(spread * (mu + _ROOM))
    return Count(root), leverage(E, mu, root), spread


_BOUNDED: dict[str, Callable[[_Rows], _Bounded]] = {
    "linear": _linear,
    "logistic": _logistic,
    "probit": _probit,
    "poisson": _poisson,
}


@dataclass(frozen=True)
class _Look:
    """Σ w r x, how fast it falls, and Σ w² r² x xᵀ at some estimates."""

    gamma: Floats
    score: Floats
    slope: Floats
    squares: Floats


def _look(rows: _Rows, w: Floats, residual: Residual, gamma: Floats) -> _Look:
    p = len(gamma)
    look = _Look(gamma, np.zeros(p), np.zeros((p, p)), np.zeros((p, p)))
    for block in blocks(len(rows.y)):
        E = rows.E[block]
        r, slope = residual.at(rows.y[block], E @ gamma, block)
        wr = w[block] * r
        look.score[:] += E.T @ wr
        look.slope[:] += E.T @ (E * (w[block] * slope)[:, None])
        Z = E * wr[:, None]
        look.squares[:] += Z.T @ Z
    return look


def _solve(rows: _Rows, w: Floats, residual: Residual, target: Floats, start: Floats) -> _Look:
    """Find where Σ w r x = target by Newton's method, with steps halved until they lead nearer."""
    look = _look(rows, w, residual, start)
    for _ in range(_STEPS):
        try:
            L: Floats = np.asarray(np.linalg.cholesky(look.slope))
        except np.linalg.LinAlgError:
            break
        gap = solve_triangular(L, look.score - target, lower=True, check_finite=False)
        size = float(np.linalg.norm(gap))
        if not math.isfinite(size):
            break
        if size <= _CLOSE:
            return look
        step = np.asarray(solve_triangular(L, gap, lower=True, trans="T"))
        found = _nearer(rows, w, residual, target, look, step, L, size)
        if found is None:
            if size <= _FLOOR:
                return look
            break
        look = found
    raise Unfit("noise")


def _nearer(
    rows: _Rows, w: Floats, residual: Residual, target: Floats, look: _Look, step: Floats, L: Floats, size: float
) -> _Look | None:
    for _ in range(_HALVINGS):
        new = _look(rows, w, residual, look.gamma + step)
        if float(np.linalg.norm(solve_triangular(L, new.score - target, lower=True, check_finite=False))) < size:
            return new
        step = step / 2
    return None
