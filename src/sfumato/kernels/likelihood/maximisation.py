"""Climb a log-likelihood: Newton's method where the information is at hand, BFGS where only gradients are.

Far from the top the information need not be positive definite; then its eigenvalues are taken by size, so that every
step goes uphill, and steps are halved until they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Summit", "Value", "bfgs", "differences", "flat", "inverse", "newton", "roots"]

_SHORTER = 30
_STEP = 1e-3  # standard errors
Floats = NDArray[np.float64]

FLAT = 1e-9
"""A direction with less information than this share of the most, after scaling, is taken to have none."""
_LEAST = 1e-6
_HALVINGS = 25
_LONGEST = 50.0  # standard errors


class Value(NamedTuple):
    """A log-likelihood with its gradient, shape (P,), and an information, shape (P, P)."""

    log_likelihood: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True)
class Summit:
    """Where an ascent ended.

    Parameters
    ----------
    theta
        The parameters, shape (P,).
    log_likelihood
        There.
    converged
        Whether the next step would be below the tolerance.
    steps
        Taken.
    """

    theta: Floats
    log_likelihood: float
    converged: bool
    steps: int


def _scaled(information: Floats) -> tuple[Floats, Floats, Floats]:
    """Eigenvalues and eigenvectors of an information scaled to a unit diagonal, and the scale."""
    size = np.sqrt(np.maximum(np.abs(np.diagonal(information)), 0.0))
    scale = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    return values, vectors, scale


def inverse(information: Floats) -> tuple[Floats, bool]:
    """Invert an information; directions without any get none of the inverse.

    Parameters
    ----------
    information : ndarray, shape (P, P)
        Symmetric.

    Returns
    -------
    ndarray, bool
        The inverse, shape (P, P), and whether it is complete: no direction was flat or went uphill.

    Examples
    --------
    >>> inverse(np.diag([4.0, 0.0]))
    (array([[0.25, 0.  ],
           [0.  , 0.  ]]), False)
    """
    values, vectors, scale = _scaled(information)
    known = values > FLAT * max(float(values.max(initial=0.0)), 1e-300)
    half = vectors[:, known] / np.sqrt(values[known]) / scale[:, None]
    return half @ half.T, bool(known.all())


def _step(value: Value) -> tuple[Floats, float]:
    """The next step, and its length in standard errors."""
    values, vectors, scale = _scaled(value.information)
    size = np.maximum(np.abs(values), FLAT * max(float(np.abs(values).max(initial=0.0)), 1e-300))
    turned = vectors.T @ (value.gradient / scale)
    length = math.sqrt(float((turned**2 / size).sum()))
    step = vectors @ (turned / size) / scale
    return (step if length <= _LONGEST else step * (_LONGEST / length)), length


def newton(
    look: Callable[[Floats], Value], start: Floats, tolerance: float = 1e-7, most: int = 100
) -> tuple[Summit, Value]:
    """Newton's method with step halving.

    Parameters
    ----------
    look
        Evaluates log-likelihood, gradient and information.
    start : ndarray, shape (P,)
        Where to begin.
    tolerance
        Stop where the next step is below this, in standard errors.
    most
        Most steps.

    Returns
    -------
    Summit, Value
        Where it ended, and what was found there.

    Examples
    --------
    >>> top, _ = newton(lambda t: Value(-float(t @ t), -2 * t, 2 * np.eye(1)), np.array([3.0]))
    >>> top.converged, top.theta.round(9).tolist()
    (True, [0.0])
    """
    theta, value = start, look(start)
    for steps in range(most):
        step, length = _step(value)
        if length <= tolerance:
            return Summit(theta, value.log_likelihood, True, steps), value
        slack = 1e-12 * abs(value.log_likelihood)
        for _ in range(_HALVINGS):
            new = look(theta + step)
            if new.log_likelihood >= value.log_likelihood - slack:
                break
            step = step / 2
        else:
            return Summit(theta, value.log_likelihood, length < math.sqrt(tolerance), steps), value
        theta, value = theta + step, new
    return Summit(theta, value.log_likelihood, False, most), value


def bfgs(look: Callable[[Floats], Value], start: Floats, tolerance: float = 1e-5, most: int = 300) -> Summit:
    """Climb by gradients; the information of `look` (for instance the scores' products) is used at the start only.

    Parameters
    ----------
    look, start, tolerance, most
        As for `newton`.

    Returns
    -------
    Summit

    Examples
    --------
    >>> bfgs(lambda t: Value(-float(t @ t), -2 * t, np.eye(1)), np.array([3.0])).theta.round(6).tolist()
    [0.0]
    """
    theta, value = start, look(start)
    H = _by_size(value.information)
    for steps in range(most):
        length = math.sqrt(max(float(value.gradient @ H @ value.gradient), 0.0))
        if length <= tolerance:
            return Summit(theta, value.log_likelihood, True, steps)
        step = H @ value.gradient * min(1.0, 3.0 / length)
        found = _search(look, theta, value, step)
        if found is None:
            fresh = _by_size(value.information)
            if np.array_equal(fresh, H):
                return Summit(theta, value.log_likelihood, length < 100 * tolerance, steps)
            H = fresh
            continue
        step, new = found
        H = _update(H, step, value.gradient - new.gradient)
        theta, value = theta + step, new
    return Summit(theta, value.log_likelihood, False, most)


def roots(information: Floats) -> Floats:
    """Directions one standard error long along which an information is the identity, as columns, shape (P, P).

    Directions that go uphill count by the size of their information; those with next to none are kept short.

    Examples
    --------
    >>> information = np.array([[4.0, 1.0], [1.0, 1.0]])
    >>> directions = roots(information)
    >>> bool(np.allclose(directions.T @ information @ directions, np.eye(2)))
    True
    """
    values, vectors, scale = _scaled(information)
    size = np.maximum(np.abs(values), _LEAST * max(float(np.abs(values).max(initial=0.0)), 1e-300))
    return np.asarray(vectors / np.sqrt(size) / scale[:, None])


def _by_size(information: Floats) -> Floats:
    """An inverse in which every direction counts by the size of its information, so that steps go uphill."""
    half = roots(information)
    return np.asarray(half @ half.T)


def _search(look: Callable[[Floats], Value], theta: Floats, value: Value, step: Floats) -> tuple[Floats, Value] | None:
    """The longest of step, step/2, … that climbs enough; None where none does."""
    slope = float(value.gradient @ step)
    for _ in range(_HALVINGS):
        new = look(theta + step)
        if new.log_likelihood >= value.log_likelihood + 1e-4 * slope - 1e-12 * abs(value.log_likelihood):
            return step, new
        step, slope = step / 2, slope / 2
    return None


def _update(H: Floats, s: Floats, y: Floats) -> Floats:
    """The inverse of the information after step s changed the gradient by −y."""
    sy = float(s @ y)
    if sy <= 1e-10 * math.sqrt(float(s @ s) * float(y @ y)):
        return H
    left = np.eye(len(s)) - np.outer(s, y) / sy
    return np.asarray(left @ H @ left.T + np.outer(s, s) / sy)


def differences(gradient: Callable[[Floats], Floats], theta: Floats, steps: Floats) -> Floats:
    """The observed information by central differences of the gradient, with steps of a small part of a standard error.

    Along directions in which the information is near the identity, no digits are lost where parameters are strongly
    correlated or of very different size.

    Parameters
    ----------
    gradient
        Of the log-likelihood.
    theta : ndarray, shape (P,)
        The parameters.
    steps : ndarray, shape (P, P) or (P,)
        Directions about one standard error long, as columns, see `roots`; or rough standard errors of the parameters.

    Returns
    -------
    ndarray, shape (P, P)

    Examples
    --------
    >>> differences(lambda t: -3 * t, np.zeros(1), np.ones(1)).round(6).tolist()
    [[3.0]]
    """
    root = steps if steps.ndim == 2 else np.diag(np.maximum(steps, 1e-150))
    turned = np.array([-_difference(gradient, theta, direction) for direction in root.T]) @ root
    back = np.linalg.inv(root)
    return np.asarray(back.T @ ((turned + turned.T) / 2) @ back)


def _difference(gradient: Callable[[Floats], Floats], theta: Floats, direction: Floats) -> Floats:
    """Slope of the gradient along a direction; where a flat likelihood makes the step too long, by shorter ones."""
    step = _STEP
    for _ in range(_SHORTER):
        h = step * direction
        try:
            with np.errstate(all="ignore"):
                slope = (gradient(theta + h) - gradient(theta - h)) / (2 * step)
        except OverflowError:
            slope = np.full(len(theta), np.nan)
        if np.isfinite(slope).all():
            return slope
        step /= 10
    return np.zeros(len(theta))


def flat(information: Floats) -> Floats:
    """Directions without information, as columns of unit length in the scaled parameters, shape (P, number).

    Examples
    --------
    >>> flat(np.diag([4.0, 0.0])).tolist()
    [[0.0], [1.0]]
    """
    values, vectors, _ = _scaled(information)
    return np.asarray(vectors[:, values <= FLAT * max(float(values.max(initial=0.0)), 1e-300)])
