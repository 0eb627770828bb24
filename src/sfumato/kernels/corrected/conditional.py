"""Logistic regression on noisy covariates, whatever their distribution: the conditional score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["Conditional", "conditional_logit"]

Floats = NDArray[np.float64]

_STEPS, _HALVINGS = 50, 30
_TOLERANCE = 1e-9
"""Newton's method ends where its next step is below this, in standard errors that the naive fit would have."""
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the noise that are taken out one after the other: from the naive fit, which has one root, to all of it."""


@dataclass(frozen=True)
class Conditional:
    """Where the conditional score is 0.

    Parameters
    ----------
    estimate : ndarray, shape (p,)
        The coefficients.
    scores : ndarray, shape (n, p)
        Of each record there, times its weight.
    derivative : ndarray, shape (p, p)
        Of the negative sum of the scores by the coefficients; not symmetric.
    found
        Whether there is a root that leads back to that of the naive fit.

    Examples
    --------
    >>> Conditional(np.zeros(1), np.zeros((2, 1)), np.eye(1), True).influence.tolist()
    [[0.0], [0.0]]
    """

    estimate: Floats
    scores: Floats
    derivative: Floats
    found: bool

    @property
    def influence(self) -> Floats:
        """What each record adds to the estimate, shape (n, p)."""
        return np.asarray(np.linalg.solve(self.derivative, self.scores.T).T)


@dataclass(frozen=True)
class _Noise:
    """Ω of each record: `groups`, shape (k, p, p), by `which`, and products with what is exact, shape (n, p)."""

    groups: Floats
    which: NDArray[np.int64] | None
    times: Floats | None

    def on(self, b: Floats, n: int) -> Floats:
        """Ωb of each record, shape (n, p)."""
        rows = np.broadcast_to(b, (n, len(b))) if self.times is None else self.times * b
        if self.which is None:
            out = rows @ self.groups[0]
        else:
            out = np.empty((n, len(b)))
            for part, omega in self._parts():
                out[part] = rows[part] @ omega
        return out if self.times is None else np.asarray(out * self.times)

    def total(self, c: Floats) -> Floats:
        """Σ c Ω, shape (p, p)."""
        p = self.groups.shape[1]
        out = np.zeros((p, p))
        for part, omega in self._parts():
            if self.times is None:
                out += omega * float(c[part].sum())
            else:
                E = self.times[part]
                out += omega * (E.T @ (E * c[part][:, None]))
        return out

    def _parts(self) -> list[tuple[NDArray[np.int64] | slice, Floats]]:
        if self.which is None:
            return [(slice(None), self.groups[0])]
        return [(np.flatnonzero(self.which == k), omega) for k, omega in enumerate(self.groups)]


def conditional_logit(
    Z: Floats,
    y: Floats,
    noise: Floats,
    weight: Floats | None = None,
    *,
    which: NDArray[np.int64] | None = None,
    times: Floats | None = None,
) -> Conditional:
    """Fit a logistic regression to covariates with normal noise, without a distribution of the true ones.

    Given Δ = z + yΩb, the response hangs on the true covariates no more: P(y = 1 | Δ) = logistic(b′Δ − b′Ωb/2). So the
    equations Σ (y − P)Δ = 0 are unbiased whatever the true covariates are.

    Parameters
    ----------
    Z : ndarray, shape (n, p)
        The released design.
    y : ndarray, shape (n,)
        0 or 1.
    noise : ndarray, shape (p, p) or (k, p, p)
        Covariance Ω of the noise on each row of the design, 0 for exact columns; or several of them.
    weight : ndarray, shape (n,), optional
        Sampling weights.
    which : ndarray, shape (n,), optional
        Which of several covariances is that of each record.
    times : ndarray, shape (n, p), optional
        What is exact in each column where a noisy number stands in a product with exact ones: Ω of record i is then
        `times[i]` · Ω · `times[i]`.

    Returns
    -------
    Conditional

    References
    ----------
    Stefanski and Carroll (1987), doi:10.1093/biomet/74.4.703.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.exponential(size=50_000)
    >>> y = (rng.random(50_000) < 1 / (1 + np.exp(1 - x))).astype(float)
    >>> Z = np.column_stack([np.ones(50_000), x + rng.normal(0, 0.7, 50_000)])
    >>> conditional_logit(Z, y, np.diag([0.0, 0.49])).estimate.round(1).tolist()
    [-1.0, 1.0]
    """
    n, p = Z.shape
    omega = noise.reshape(-1, p, p)
    w = np.ones(n) if weight is None else weight
    rows = None if len(omega) == 1 else which
    b, found = np.zeros(p), True
    for share in _SHARES:
        b, found = _root(Z, y, _Noise(share * omega, rows, times), w, b)
        if not found:
            break
    scores, derivative = _look(Z, y, _Noise(omega, rows, times), w, b)
    return Conditional(b, scores, derivative, found)


def _root(Z: Floats, y: Floats, noise: _Noise, w: Floats, b: Floats) -> tuple[Floats, bool]:
    """Newton's method with steps that are halved until the score is nearer to 0, in the metric of the naive fit."""
    scores, derivative = _look(Z, y, noise, w, b)
    for _ in range(_STEPS):
        if not _regular(derivative):
            return b, False
        step = np.linalg.solve(derivative, scores.sum(axis=0))
        metric = np.abs(np.diagonal(derivative))
        if float(metric @ step**2) <= _TOLERANCE**2:
            return b, True
        size = float(np.abs(step) @ np.sqrt(metric))
        for _ in range(_HALVINGS):
            nearer = b + step
            after, bent = _look(Z, y, noise, w, nearer)
            if np.isfinite(after).all() and _regular(bent):
                left = np.linalg.solve(derivative, after.sum(axis=0))
                if float(np.abs(left) @ np.sqrt(metric)) < size:
                    break
            step = step / 2
        else:
            return b, False
        b, scores, derivative = nearer, after, bent
    return b, False


def _regular(derivative: Floats) -> bool:
    """Whether the equations fall in every direction: the symmetric part of the derivative is positive definite."""
    diagonal = np.diagonal(derivative)
    if not np.isfinite(derivative).all() or (diagonal <= 0).any():
        return False
    scale = 1 / np.sqrt(diagonal)
    scaled = derivative * np.outer(scale, scale)
    return bool(np.linalg.eigvalsh((scaled + scaled.T) / 2).min() > _TOLERANCE)


def _look(Z: Floats, y: Floats, noise: _Noise, w: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Scores of the records, and the derivative of their negative sum."""
    moved = noise.on(b, len(y))
    delta = Z + y[:, None] * moved
    share = expit(delta @ b - 0.5 * (moved @ b))
    left = w * (y - share)
    bend = w * share * (1 - share)
    by_b = (delta * bend[:, None]).T @ (delta + (y - 1)[:, None] * moved)
    return delta * left[:, None], by_b - noise.total(left * y)
