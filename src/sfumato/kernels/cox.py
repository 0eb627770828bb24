"""Cox's proportional hazards model by Newton's method, ties by Efron's method, with weights.

References
----------
Efron (1977), The efficiency of Cox's likelihood function for censored data, doi:10.1080/01621459.1977.10480613.
Lin and Wei (1989), The robust inference for the Cox proportional hazards model, doi:10.1080/01621459.1989.10478874.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from sfumato.errors import DataError
from sfumato.kernels.compiled import compiled
from sfumato.kernels.glm import Fit
from sfumato.kernels.likelihood.maximisation import Value, careful, newton
from sfumato.kernels.orthogonal import Basis, basis_of

__all__ = ["Hazards", "Spans", "fit", "hazards", "look", "lost", "residuals", "spans", "without_constant"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

LOST = 1e-6
"""Of the information without any effects: a direction that has less left is one that goes on without end."""


@dataclass(frozen=True)
class Spans:
    """How long each record was looked at, in steps: all that the model asks of time.

    Parameters
    ----------
    order
        Records by their end, shape (n,).
    end
        2 j + 1 for an event at the j-th of the times with events, 2 j for one that leaves after j of them; in order.
    event
        Whether it ended with an event, in order.
    """

    order: Ints
    end: Ints
    event: Mask

    @property
    def times(self) -> int:
        """How many times have events."""
        return int(self.end[-1] + 1) // 2 if len(self.end) else 0


def spans(time: Floats, event: Mask) -> Spans:
    """Bring times into steps.

    Parameters
    ----------
    time : ndarray, shape (n,)
        When each record was last seen.
    event : ndarray, shape (n,)
        Whether that was an event. At equal times, events come before the others' leaving.

    Examples
    --------
    >>> found = spans(np.array([3.0, 1.0, 2.0]), np.array([True, True, False]))
    >>> found.order.tolist(), found.end.tolist()
    ([1, 2, 0], [1, 2, 3])
    """
    moments = np.unique(time[event])
    end = np.where(event, 2 * np.searchsorted(moments, time) + 1, 2 * np.searchsorted(moments, time, side="right"))
    order = np.argsort(end, kind="stable")
    return Spans(order, end[order].astype(np.int64), event[order])


def fit(X: Floats, time: Floats, event: Mask, tolerance: float = 1e-9, weight: Floats | None = None) -> Fit:
    """Fit by the largest partial likelihood.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Covariates; a constant column is left out as aliased.
    time : ndarray, shape (n,)
        When each record was last seen.
    event : ndarray, shape (n,)
        Whether that was an event.
    tolerance
        Newton's method stops where its next step is below this, in standard errors.
    weight : ndarray, shape (n,), optional
        Of each record.

    Returns
    -------
    Fit
        `separated` where some linear predictor grows without bound; `log_likelihood` is the partial one.

    Raises
    ------
    DataError
        For no events, shapes that do not fit, and values that are missing or infinite.

    Examples
    --------
    >>> X, time = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([4.0, 3.0, 2.0, 1.0])
    >>> fit(X, time, np.ones(4, dtype=bool)).coefficients.round(4).tolist()
    [0.9406]
    """
    X, time, event = np.asarray(X, dtype=np.float64), np.asarray(time, dtype=np.float64), np.asarray(event)
    if X.ndim != 2 or time.shape != X.shape[:1] or event.shape != time.shape:
        raise DataError("Covariates of shape (n, p) need times and events of shape (n,).")
    if not (np.isfinite(X).all() and np.isfinite(time).all()):
        raise DataError("The columns of a model must hold finite numbers only.")
    event = event.astype(bool)
    if not event.any():
        raise DataError("A model of times needs at least one event.")
    basis, kept = without_constant(X)
    order = spans(time, event)
    E = basis.apply(np.column_stack([np.ones(len(X)), X]))[order.order][:, 1:]
    w = np.ones(len(X)) if weight is None else weight[order.order]

    def at(gamma: Floats) -> Value:
        return look(E, w, order, gamma)

    with np.errstate(all="ignore"):
        top, value = newton(careful(at), np.zeros(E.shape[1]), tolerance)
    p = X.shape[1]
    coefficients, covariance = np.full(p, np.nan), np.full((p, p), np.nan)
    back = basis.back[1:, 1:]
    coefficients[kept] = back @ top.theta
    covariance[np.ix_(kept, kept)] = back @ np.linalg.pinv(value.information) @ back.T
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(p), kept))
    separated = not top.converged or lost(value.information, at(np.zeros(E.shape[1])).information)
    return Fit(coefficients, covariance, top.log_likelihood, top.converged, top.steps, aliased, separated, len(X))


def lost(information: Floats, before: Floats) -> bool:
    """Tell whether some direction has next to no information left of what there was.

    Examples
    --------
    >>> lost(np.diag([1.0, 1e-9]), np.eye(2))
    True
    """
    try:
        return bool(len(before)) and float(eigh(information, before, eigvals_only=True)[0]) < LOST
    except (np.linalg.LinAlgError, ValueError):
        return True


def without_constant(X: Floats) -> tuple[Basis, Ints]:
    """Centred orthogonal columns beside a constant one, and which columns of X are kept.

    Examples
    --------
    >>> without_constant(np.column_stack([np.ones(3), [1.0, 2.0, 3.0]]))[1].tolist()
    [1]
    """
    basis = basis_of(np.column_stack([np.ones(len(X)), X]))
    return basis, basis.kept[1:] - 1


def look(E: Floats, w: Floats, order: Spans, gamma: Floats) -> Value:
    """Partial log-likelihood, score and information.

    Parameters
    ----------
    E : ndarray, shape (n, p)
        Covariates, in the spans' order.
    w : ndarray, shape (n,)
        Weights, in their order.
    order
        Spans.
    gamma : ndarray, shape (p,)
        Coefficients.
    """
    eta = E @ gamma
    top = float(eta.max()) if len(eta) else 0.0
    with np.errstate(over="ignore"):
        risk = w * np.exp(eta - top)
    log_likelihood, weight, score, information = _sums(E, eta, risk, w, order.end, order.event)
    return Value(log_likelihood - weight * top if math.isfinite(top) else -math.inf, score, information)


@compiled
def _sums(
    E: Floats, eta: Floats, risk: Floats, w: Floats, end: Ints, event: Mask
) -> tuple[float, float, Floats, Floats]:  # pragma: no cover - compiled
    """Log-likelihood, weight of all events, score and information, from the last span to the first."""
    n, p = E.shape
    S0, S1, S2 = 0.0, np.zeros(p), np.zeros((p, p))
    D1, D2, mean = np.zeros(p), np.zeros((p, p)), np.zeros(p)
    total, weight, score, information = 0.0, 0.0, np.zeros(p), np.zeros((p, p))
    i = n - 1
    while i >= 0:
        j, count, D0, heavy = i, 0, 0.0, 0.0
        D1[:] = 0.0
        D2[:] = 0.0
        while j >= 0 and end[j] == end[i]:
            S0 += risk[j]
            for a in range(p):
                ra = risk[j] * E[j, a]
                S1[a] += ra
                for b in range(a + 1):
                    S2[a, b] += ra * E[j, b]
            if event[j]:
                count += 1
                heavy += w[j]
                D0 += risk[j]
                total += w[j] * eta[j]
                for a in range(p):
                    ra = risk[j] * E[j, a]
                    score[a] += w[j] * E[j, a]
                    D1[a] += ra
                    for b in range(a + 1):
                        D2[a, b] += ra * E[j, b]
            j -= 1
        if heavy > 0:
            weight += heavy
            each = heavy / count
            for k in range(count):
                part = k / count
                under = max(S0 - part * D0, 1e-300)
                total -= each * np.log(under)
                for a in range(p):
                    mean[a] = (S1[a] - part * D1[a]) / under
                    score[a] -= each * mean[a]
                    for b in range(a + 1):
                        information[a, b] += each * ((S2[a, b] - part * D2[a, b]) / under - mean[a] * mean[b])
        i = j
    for a in range(p):
        for b in range(a):
            information[b, a] = information[a, b]
    return total, weight, score, information


@dataclass(frozen=True)
class Hazards:
    """The baseline hazard and the means of those at risk, at each time with events.

    Parameters
    ----------
    step
        How much the cumulative hazard grows, shape (T,).
    mean
        Mean covariates of those at risk, as events there are compared with, shape (T, p).
    drift
        Σ hazard × mean over the parts of a tie, shape (T, p).
    own, own_drift
        The same two for those who have an event there, shapes (T,) and (T, p).
    at_risk
        Records at risk, shape (T,).
    """

    step: Floats
    mean: Floats
    drift: Floats
    own: Floats
    own_drift: Floats
    at_risk: Ints


def hazards(E: Floats, w: Floats, order: Spans, gamma: Floats) -> Hazards:
    """Hazards at some coefficients, see `look`.

    Examples
    --------
    >>> order = spans(np.array([1.0, 2.0]), np.array([True, True]))
    >>> hazards(np.zeros((2, 1)), np.ones(2), order, np.zeros(1)).step.tolist()
    [0.5, 1.0]
    """
    return Hazards(*_hazards(E, w * np.exp(E @ gamma), w, order.end, order.event, order.times))


@compiled
def _hazards(
    E: Floats, risk: Floats, w: Floats, end: Ints, event: Mask, times: int
) -> tuple[Floats, Floats, Floats, Floats, Floats, Ints]:  # pragma: no cover - compiled
    n, p = E.shape
    step, mean, drift = np.zeros(times), np.zeros((times, p)), np.zeros((times, p))
    own, own_drift, at_risk = np.zeros(times), np.zeros((times, p)), np.zeros(times, dtype=np.int64)
    S0, S1, D1 = 0.0, np.zeros(p), np.zeros(p)
    i = n - 1
    while i >= 0:
        j, count, D0, heavy = i, 0, 0.0, 0.0
        D1[:] = 0.0
        while j >= 0 and end[j] == end[i]:
            S0 += risk[j]
            for a in range(p):
                S1[a] += risk[j] * E[j, a]
            if event[j]:
                count += 1
                heavy += w[j]
                D0 += risk[j]
                for a in range(p):
                    D1[a] += risk[j] * E[j, a]
            j -= 1
        if count > 0:
            t = (end[i] - 1) // 2
            at_risk[t] = n - 1 - j
            for k in range(count if heavy > 0 else 0):
                part = k / count
                under = max(S0 - part * D0, 1e-300)
                h = heavy / count / under
                step[t] += h
                own[t] += (1 - part) * h
                for a in range(p):
                    m = (S1[a] - part * D1[a]) / under
                    mean[t, a] += m / count
                    drift[t, a] += h * m
                    own_drift[t, a] += (1 - part) * h * m
        i = j
    return step, mean, drift, own, own_drift, at_risk


def residuals(E: Floats, order: Spans, gamma: Floats, found: Hazards) -> Floats:
    """What each record adds to the score, per unit of its weight: score residuals, shape (n, p), in the spans' order.

    Parameters
    ----------
    E, order, gamma
        As for `look`.
    found
        Hazards at `gamma`.

    Examples
    --------
    >>> order = spans(np.array([1.0, 2.0]), np.array([True, True]))
    >>> E, none = np.array([[1.0], [-1.0]]), np.zeros(1)
    >>> residuals(E, order, none, hazards(E, np.ones(2), order, none)).tolist()
    [[0.5], [0.5]]
    """
    zero = np.zeros((1, E.shape[1]))
    total = np.append(0.0, np.cumsum(found.step))
    drift = np.concatenate([zero, np.cumsum(found.drift, axis=0)])
    before = order.end // 2  # times with events that lie wholly behind
    hazard, pull = total[before], drift[before]
    at = before[order.event]
    hazard[order.event] += found.own[at]
    pull[order.event] += found.own_drift[at]
    out = np.exp(E @ gamma)[:, None] * (pull - hazard[:, None] * E)
    out[order.event] += E[order.event] - found.mean[at]
    return np.asarray(out)
