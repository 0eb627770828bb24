"""Protected proportional hazards: score residuals that no record can make large, ties by Efron's method.

A score residual δ (x − x̄(t)) − ∫ e^η (x − x̄) dΛ has two ends: an event of an unusual record, and a long time at risk of
a record that ought to have had its event. For the second, a record is looked at only until its expected number of
events by a first fit reaches a limit; for the first, it is weighted by the largest residual that its covariates could
have come to until then. Neither hangs on what happened to it, so that the estimates stay where they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sfumato.kernels.cox import Hazards, Spans, hazards, look, lost, residuals, spans, without_constant
from sfumato.kernels.likelihood.maximisation import Value, careful, newton
from sfumato.kernels.protected.bounds import inverse, leverage, root, up, within
from sfumato.kernels.protected.fitted import SHARE, SUBSAMPLE, Noise, ProtectedFit, Unfit, drawn, tau_of

__all__ = ["cox"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_TOP = 0.99
_LEAST_EXPECTED, _MOST_EXPECTED = 1.0, 4.0
"""Between these, expected events of a record end its time: at their 99th percentile."""
_AT_RISK = 10
"""Times at which fewer records are at risk are not looked at."""
_GRID = 32
"""Times at which the largest residual is looked for, beside the end of each record's time."""
_TOLERANCE = 1e-9


def cox(
    X: Floats,
    time: Floats,
    event: Mask,
    *,
    keep: Mask,
    noise: Noise,
    tau: float | None = None,
    share: float = SHARE,
    share_kept: float = SUBSAMPLE,
) -> ProtectedFit:
    """Fit a protected proportional hazards model.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Covariates without a constant column.
    time : ndarray, shape (n,)
        When each record was last seen.
    event : ndarray, shape (n,)
        Whether that was an event.
    keep, noise, tau, share, share_kept
        As for `regression`.

    Raises
    ------
    Unfit
        `constant` for no events, `few` for no more than there are columns, and as for `regression`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(3000, 1))
    >>> time = rng.exponential(np.exp(-x[:, 0]))
    >>> fit = cox(x, time, time < 2, keep=rng.random(3000) < 0.95, noise=rng.normal(size=1), tau=1.0)
    >>> bool(abs(fit.estimate[0] - 1.0) < 4 * fit.se[0])
    True
    """
    rows = _look_at(X, time, event, keep)
    path = _path(rows)
    n, p = rows.E.shape
    strength = tau_of(n, share, path.b) if tau is None else tau
    target = strength * path.b * (path.L @ drawn(noise, strength))
    gamma, H = _top(path.E, path.w, path.order, path.start, target)
    scores = path.w[:, None] * residuals(path.E, path.order, gamma, hazards(path.E, path.w, path.order, gamma))
    own = scores.T @ scores * (n / (n - p))
    added = (strength * path.b) ** 2 * path.L @ path.L.T
    turn = rows.back @ inverse(H)
    se, se_added = (np.sqrt(np.einsum("ij,jk,ik->i", turn, B, turn)) for B in (own + added, added))
    return ProtectedFit("cox", rows.back @ gamma, se, se_added, n, strength, share_kept, path.b)


@dataclass(frozen=True)
class _Rows:
    """Records that count, in the order of their ends: orthogonal covariates, spans, and the way back."""

    E: Floats
    order: Spans
    back: Floats


def _look_at(X: Floats, time: Floats, event: Mask, keep: Mask) -> _Rows:
    X, time, event = X[keep], time[keep], event[keep]
    inside = within(X) if len(X) else np.zeros(0, dtype=bool)
    X, time, event = X[inside], time[inside], event[inside]
    if not event.any():
        raise Unfit("constant")
    if event.sum() <= X.shape[1]:
        raise Unfit("few")
    basis, kept = without_constant(X)
    if len(kept) < X.shape[1]:
        raise Unfit("singular")
    order = spans(time, event)
    E = basis.apply(np.column_stack([np.ones(len(X)), X]))[:, 1:]
    return _Rows(E[order.order], order, basis.back[1:, 1:])


def _top(E: Floats, w: Floats, order: Spans, start: Floats, target: Floats | None = None) -> tuple[Floats, Floats]:
    """Where the weighted score is the target, and the information there."""
    pull = np.zeros(len(start)) if target is None else target

    def at(gamma: Floats) -> Value:
        found = look(E, w, order, gamma)
        return Value(found.log_likelihood - float(pull @ gamma), found.gradient - pull, found.information)

    try:
        with np.errstate(all="ignore"):
            top, value = newton(careful(at), start, _TOLERANCE)
        gone = not top.converged or lost(value.information, at(np.zeros(len(start))).information)
    except (ArithmeticError, np.linalg.LinAlgError):
        gone = True
    if gone:
        raise Unfit("separated" if target is None else "noise")
    return top.theta, value.information


@dataclass(frozen=True)
class _Path:
    """Records in the order of their shortened spans, with weights, bound, and a place to start."""

    E: Floats
    order: Spans
    w: Floats
    L: Floats
    b: float
    start: Floats


def _path(rows: _Rows) -> _Path:
    """Shorten spans, then weigh each record by the largest score residual that it could have."""
    w = leverage(rows.E).w
    gamma, _ = _top(rows.E, w, rows.order, np.zeros(rows.E.shape[1]))
    until = _until(rows, w, gamma)
    end = np.minimum(rows.order.end, 2 * until)
    again = np.argsort(end, kind="stable")
    order = Spans(rows.order.order[again], end[again], (rows.order.event & (end == rows.order.end))[again])
    E, w, until = rows.E[again], w[again], until[again]
    if order.event.sum() <= E.shape[1]:
        raise Unfit("few")
    gamma, _ = _top(E, w, order, gamma)
    L = root(look(E, np.ones(len(E)), order, gamma).information / len(E))
    size = _largest(E, L, gamma, hazards(E, w, order, gamma), np.minimum(until, order.times))
    b = up(float(np.quantile(size, _TOP)))
    return _Path(E, order, b / np.maximum(size, b), L, b, gamma)


def _until(rows: _Rows, w: Floats, gamma: Floats) -> Ints:
    """How many times with events each record is looked at, at most."""
    found = hazards(rows.E, w, rows.order, gamma)
    total, risk = np.cumsum(found.step), np.exp(rows.E @ gamma)
    expected = risk * np.append(0.0, total)[(rows.order.end + 1) // 2]
    limit = min(max(up(float(np.quantile(expected, _TOP))), _LEAST_EXPECTED), _MOST_EXPECTED)
    enough = int((found.at_risk >= _AT_RISK).sum())
    until = np.searchsorted(total, limit / risk, side="right")
    return np.minimum(until, enough).astype(np.int64)


def _largest(E: Floats, L: Floats, gamma: Floats, found: Hazards, until: Ints) -> Floats:
    """Largest |L⁻¹ residual| that each record could have at any time until its last."""
    turn = solve_triangular(L, np.eye(len(L)), lower=True).T
    Z, mean = E @ turn, found.mean @ turn
    zero = np.zeros((1, len(L)))
    total, drift = np.append(0.0, np.cumsum(found.step)), np.concatenate([zero, np.cumsum(found.drift, axis=0) @ turn])
    risk, T = np.exp(E @ gamma), len(found.step)
    most = np.zeros(len(Z))

    def take(left: Floats, event: Floats, where: Mask | slice) -> None:
        for ends in (left, event):
            most[where] = np.maximum(most[where], np.sqrt(np.einsum("ij,ij->i", ends, ends)))

    last = until
    left = risk[:, None] * (drift[last] - total[last, None] * Z)
    take(left, left + Z - mean[np.maximum(last - 1, 0)], slice(None))
    for t in np.unique(np.linspace(0, T - 1, _GRID).round().astype(np.int64)):
        there = until > t
        left = risk[there, None] * (drift[t + 1] - total[t + 1] * Z[there])
        take(left, left + Z[there] - mean[t], there)
    return most
