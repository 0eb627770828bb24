"""Coordinates in which a posterior is drawn: without edges, and with priors that are normal or flat.

Probabilities (π_0, …, π_{K−1}), uniform on their simplex, are broken off a stick: part s_j of what is left, which is
Beta(1, m_j) with m_j = K − 1 − j, so that 1 − (1 − s_j)^{m_j} is uniform and its normal quantile v_j standard normal.
A standard deviation is the size of a number of either sign: no edge at 0, where strong noise drives it. Likewise the
columns of a root S = R R' may have either sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from sfumato.kernels.likelihood.gaussian_mixture import GaussianMixture
from sfumato.kernels.likelihood.mixture import Mixture
from sfumato.kernels.likelihood.response import Linear

__all__ = ["Coordinates"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LOG_ROOT = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class Coordinates:
    """From coordinates v to the parameters θ of a likelihood, both of length P, and back.

    Parameters
    ----------
    patterns
        Where log(π_k / π_0), k ≥ 1, stand.
    scales
        Where logarithms of standard deviations stand.
    follow, lead
        Parameters that take the sign of a scale: where they stand, and where their scale stands.

    Examples
    --------
    >>> coordinates = Coordinates(slice(0, 2), np.array([2]), np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    >>> v = np.array([[0.0, 0.0, -2.0]])
    >>> theta = coordinates.theta(v)
    >>> theta.round(3).tolist()  # parts 1 − √½ and ½ of what is left, and log 2
    [[0.188, 0.188, 0.693]]
    >>> bool(np.allclose(coordinates.place(theta[0]), np.abs(v)))
    True
    """

    patterns: slice
    scales: Ints
    follow: Ints
    lead: Ints

    @classmethod
    def of(cls, model: Mixture | GaussianMixture) -> Coordinates:
        """Those of a likelihood."""
        p = model.E.shape[1]
        gamma = p + model.response.extra
        own = [p] if isinstance(model.response, Linear) else []
        follow: list[int] = []
        lead: list[int] = []
        if isinstance(model, GaussianMixture):
            i, j = np.tril_indices(model.components)
            for part in range(model.parts):
                at = model.size - (model.parts - part) * len(i) + np.arange(len(i))
                own += at[i == j].tolist()
                follow += at[i != j].tolist()
                lead += [int(at[(i == c) & (j == c)][0]) for c in j[i != j]]
        columns = (np.array(places, dtype=np.int64) for places in (own, follow, lead))
        return cls(slice(gamma, gamma + len(model.Q) - 1), *columns)

    def theta(self, v: Floats) -> Floats:
        """Parameters, shape (D, P) → (D, P)."""
        out = self.folded(v)
        out[:, self.scales] = np.log(np.maximum(out[:, self.scales], 1e-300))
        left, log_s = _sticks(v[:, self.patterns])
        if log_s.shape[1]:
            log_pi = np.cumsum(left, axis=1)
            log_pi[:, :-1] += log_s[:, 1:]
            out[:, self.patterns] = log_pi - log_s[:, :1]
        return out

    def folded(self, v: Floats) -> Floats:
        """The same point with positive standard deviations, shape (D, P) → (D, P)."""
        out = v.copy()
        out[:, self.follow] *= np.where(v[:, self.lead] < 0, -1.0, 1.0)
        out[:, self.scales] = np.abs(v[:, self.scales])
        return out

    def place(self, theta: Floats) -> Floats:
        """Coordinates of parameters, shape (P,) → (P,), with positive standard deviations."""
        v = theta.copy()
        v[self.scales] = np.exp(theta[self.scales])
        alpha = np.concatenate([[0.0], theta[self.patterns]])
        rest = np.cumsum(np.exp(alpha - alpha.max())[::-1])[::-1]
        m = np.arange(len(alpha) - 1, 0, -1)
        v[self.patterns] = -ndtri_exp(m * np.log(rest[1:] / rest[:-1]))
        return v

    def gradient(self, v: Floats, gradient: Floats) -> Floats:
        """Gradient by v of a function whose gradient by θ is given, shape (P,)."""
        return np.asarray(self.slopes(v).T @ gradient)

    def slopes(self, v: Floats) -> Floats:
        """∂θ/∂v, shape (P, P)."""
        J = np.eye(len(v))
        J[self.follow, self.follow] = np.where(v[self.lead] < 0, -1.0, 1.0)
        J[self.scales, self.scales] = 1 / _away(v[self.scales])
        first, own, _, _ = _bends(v[self.patterns])
        K = len(first)
        block = np.tril(np.broadcast_to(first, (K, K)))  # row k is π_{k + 1}: it is left over from parts 0 to k,
        block[np.arange(K - 1), np.arange(1, K)] = own[1:]  # and is part k + 1 of the rest, if not the last
        block[:, :1] -= own[:1]
        J[self.patterns, self.patterns] = block
        return J

    def information(self, v: Floats, gradient: Floats, information: Floats) -> Floats:
        """Minus the second derivatives by v, where gradient and information by θ are given, shape (P, P)."""
        J = self.slopes(v)
        bend = np.zeros(len(v))
        bend[self.scales] = -gradient[self.scales] / _away(v[self.scales]) ** 2
        g = gradient[self.patterns]
        _, _, first, own = _bends(v[self.patterns])
        whole = np.concatenate([[-g.sum()], g])  # gradient by log π
        bend[self.patterns] = first * np.cumsum(g[::-1])[::-1] + own * whole[:-1]
        return np.asarray(J.T @ information @ J - np.diag(bend))


def _away(scales: Floats) -> Floats:
    """Numbers kept away from 0 by what floats hold."""
    return np.where(scales < 0, np.minimum(scales, -1e-150), np.maximum(scales, 1e-150))


def _sticks(v: Floats) -> tuple[Floats, Floats]:
    """Logarithms of what each break leaves and takes, ℓ_j = log(1 − s_j) and log s_j."""
    m = np.arange(v.shape[-1], 0, -1)
    left = log_ndtr(-v) / m
    return left, np.log(np.maximum(-np.expm1(left), 1e-300))


def _bends(v: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """First derivatives of ℓ_j and log s_j by v_j, and the second ones."""
    m = np.arange(len(v), 0, -1)
    hazard = np.exp(-0.5 * v**2 - _LOG_ROOT - log_ndtr(-v))
    left, _ = _sticks(v)
    first, second = -hazard / m, -hazard * (hazard - v) / m
    q = 1 / np.maximum(np.expm1(-left), 1e-300)
    return first, -q * first, second, -q * (1 + q) * first**2 - q * second
